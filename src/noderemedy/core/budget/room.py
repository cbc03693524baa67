"""The budget room: one key, the ledger. Answers every need, and reserves what it grants in one guarded write.

Its stage is the last one: a single write answers all who asked in the meantime. It writes only when it grants something
new or a storm has ended; what has ended goes with the next write. It works without our CRD: then the defaults hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from noderemedy.core.budget.facts import MEMORY_AT, NODE_HEALTH, SPEC, STATE_AT, State
from noderemedy.core.budget.grants import Reckoning, reckon
from noderemedy.core.budget.pods import pace
from noderemedy.core.budget.view import INDEXES, BudgetView, sees
from noderemedy.model.actions import Guard, WriteLedger
from noderemedy.model.budget import NEED, Granted, answer, answer_ref
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.ids import CONFIG_MAP, Ref
from noderemedy.model.ledger import LEDGER_AT
from noderemedy.model.meta import Malformed
from noderemedy.model.pace import WISH, leave_ref
from noderemedy.model.reasons import LedgerUnreadable, Reason, Reserving
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Present, Reader, Room, Stage
from noderemedy.model.time import Now


def decide(view: BudgetView, now: Now) -> Decision:
    found = reckon(view, now)
    paced = pace(view.wishes, view.budget.pods_per_minute, view.memory.freed, now)
    answers = tuple(Fact(answer_ref(one.target), one) for one in found.answers)
    leaves = tuple(Fact(leave_ref(one.room, one.asker), one) for one in paced.leaves)
    own = (Fact(MEMORY_AT, structs.replace(found.memory, freed=paced.freed)), Fact(STATE_AT, state(view, found)))
    moments = [now.until(found.until)] if found.until is not None else []
    return Decision(
        actions=write(view, found),
        because=reasons(view, found),
        wake_at=min((*moments, *((paced.until,) if paced.until is not None else ())), default=None),
        facts=(*answers, *leaves, *own),
    )


def write(view: BudgetView, found: Reckoning) -> tuple[WriteLedger, ...]:
    """One write for all. A ledger that cannot be read is never overwritten."""
    if found.ledger is None or not isinstance(view.entry, Present | Absent) or isinstance(view.ledger, Malformed):
        return ()
    guard = Guard(view.entry.obj.uid, view.entry.resource_version) if isinstance(view.entry, Present) else None
    return (WriteLedger(LEDGER_AT, guard, found.ledger),)


def reasons(view: BudgetView, found: Reckoning) -> tuple[Reason, ...]:
    if isinstance(view.ledger, Malformed):
        return (LedgerUnreadable(view.ledger.problem),)
    return (Reserving(len(found.books.in_flight)),) if found.ledger is not None else ()


def state(view: BudgetView, found: Reckoning) -> State:
    """The figures of all clusters together."""
    return State(
        in_flight=len(found.books.in_flight),
        started=len(found.books.starts),
        unhealthy=sum(one.sick for one in view.fleets),
        total=sum(one.total for one in view.fleets),
        blocked=found.blocked,
    )


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """The ledger, by all that changes what may be granted."""
    if ref.kind == CONFIG_MAP:
        return (LEDGER_AT,) if ref == LEDGER_AT else ()
    return () if ref.kind == NEED and has_begun(ref, reader) else (LEDGER_AT,)


def has_begun(need: Ref, reader: Reader) -> bool:
    """Whether a need is that of a granted repair that runs, not stuck: it counted before, and counts the same now.

    Hundreds begin in a storm one after the other; to reckon anew with all of them each time would take seconds.
    What was granted a beginning in the middle is looked at: should it wait again, that answer must be gone by then.
    """
    entry = reader.read(need)
    if not isinstance(entry, Present) or not entry.obj.is_running or entry.obj.is_stuck:
        return False
    told = answer(entry.obj.target, reader)
    return isinstance(told, Granted) and not told.begins


ROOM = Room(
    name="budget",
    watches=(CONFIG_MAP, NEED, NODE_HEALTH, SPEC, WISH, REMOTE),
    indexes=INDEXES,
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({WriteLedger}),
    stage=Stage.GRANT,
)
