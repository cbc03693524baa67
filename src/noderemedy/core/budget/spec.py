"""The budget-spec room: the one RemediationBudget, stated without its status, so that our own writes wake nobody.

An object of another name, or one that cannot be understood, is told on itself. Without an object nothing is stated, and
the defaults hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from noderemedy.core.budget.facts import SPEC_AT, TOPOLOGY_AT, SpecFact, Topology
from noderemedy.model.budgetstatus import BudgetStatus
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.ids import BUDGET, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.pace import PODS_LIMIT_AT, PodsLimit
from noderemedy.model.reasons import BudgetInvalid, BudgetPauseUnreadable, Reason
from noderemedy.model.remediationbudget import BUDGET_AT, RemediationBudget
from noderemedy.model.room import Present, Reader, Room, Stage, Unreadable
from noderemedy.model.time import Now


class SpecView(Struct, frozen=True):
    """A RemediationBudget."""

    at: Ref
    budget: RemediationBudget


def decide(view: SpecView, now: Now) -> Decision:
    budget = view.budget
    because: list[Reason] = [BudgetInvalid(budget.trouble)] if budget.problems else []
    if isinstance(budget.paused, Malformed):
        because.append(BudgetPauseUnreadable(budget.paused.problem))
    if view.at != BUDGET_AT:
        return Decision(because=tuple(because))
    bare = structs.replace(budget, status=BudgetStatus())
    facts = (Fact(SPEC_AT, SpecFact(bare)), Fact(TOPOLOGY_AT, Topology(budget.topology_key)))
    limit = budget.pods_per_minute
    paced = (Fact(PODS_LIMIT_AT, PodsLimit(limit)),) if limit is not None else ()
    return Decision(because=tuple(because), facts=(*facts, *paced))


def sees(key: Ref, reader: Reader) -> SpecView | None:
    """One that does not even decode is there, and means something: nothing new begins until it is mended, and what
    runs keeps to its last limits; where nobody has read those, pods go one by one.
    """
    entry = reader.read(key)
    if isinstance(entry, Unreadable):
        last = entry.last or RemediationBudget(uid=entry.uid, pods_per_minute=1)
        return SpecView(key, structs.replace(last, problems=(entry.problem,)))
    return SpecView(key, entry.obj) if isinstance(entry, Present) else None


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (ref,)


ROOM = Room(
    name="budget-spec",
    watches=(BUDGET,),
    indexes=(),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.SPEC,
)
