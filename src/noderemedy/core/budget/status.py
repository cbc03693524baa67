"""The budget-status room: writes what the budget room counted into the status of the RemediationBudget.

A room of its own, because a key with a write in flight is not looked at meanwhile, and no grant must wait for a status.
Written only when something differs. What a condition says is told at once. How many repairs run, and which clusters are
blocked besides the first one, waits until some seconds after the last write, so that those of many are one write. The
other figures change with every sick node, and an hour after every repair: they go along with the next write, or are
written for their own sake a few times an hour.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from noderemedy.core.budget.facts import STATE, STATE_AT, Standstill, State
from noderemedy.core.conditions import states
from noderemedy.model.actions import Guard, PublishBudgetStatus
from noderemedy.model.budgetstatus import BLOCKED, VALID, BudgetStatus
from noderemedy.model.checkstatus import Foreign, Told
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import BUDGET, Ref
from noderemedy.model.reasons import BudgetInvalid, BudgetStatusBehind
from noderemedy.model.remediationbudget import BUDGET_AT, RemediationBudget
from noderemedy.model.room import Present, Reader, Room
from noderemedy.model.time import MINUTE, SECOND, Mono, Now

APART = SECOND * 10  # two writes of figures
LAZILY = MINUTE * 10  # what is no news in itself
NAMED = 10  # clusters that a message names
HOME = "this cluster"


class StatusView(Struct, frozen=True):
    """The object as it was read, and what was counted."""

    at: Ref
    budget: RemediationBudget
    version: str
    state: State
    written: Mono | None = None  # when it changed last while we looked


def decide(view: StatusView, now: Now) -> Decision:
    wanted = wanted_status(view.budget, view.state, now)
    if wanted == view.budget.status:
        return NOTHING
    due = due_at(view, wanted)
    if due is not None and now.mono < due:
        return Decision(wake_at=due)
    return Decision(
        actions=(PublishBudgetStatus(view.at, Guard(view.budget.uid, view.version), wanted),),
        because=(BudgetStatusBehind(wanted.in_flight),),
    )


def due_at(view: StatusView, wanted: BudgetStatus) -> Mono | None:
    """When this may be written; None: at once."""
    known = view.budget.status
    if view.written is None or not is_figures_only(wanted, known):
        return None
    is_news = wanted.in_flight != known.in_flight or named(wanted) != named(known)
    return view.written + (APART if is_news else LAZILY)


def is_figures_only(wanted: BudgetStatus, known: BudgetStatus) -> bool:
    """Also where a message only tells other figures."""
    return wanted.generation == known.generation and states(wanted.conditions) == states(known.conditions)


def wanted_status(budget: RemediationBudget, state: State, now: Now) -> BudgetStatus:
    return BudgetStatus(
        in_flight=state.in_flight,
        unhealthy=state.unhealthy,
        total=state.total,
        started=state.started,
        generation=budget.generation,
        conditions=merged(budget.status.conditions, (valid(budget), blocked(state)), str(now.wall)),
    )


def valid(budget: RemediationBudget) -> Told:
    if budget.problems:
        return Told(VALID, "False", BudgetInvalid.__name__, budget.trouble)
    return Told(VALID, "True", VALID)


def blocked(state: State) -> Told:
    """In which clusters a new repair of an ordinary node could not begin now: one line for each, of the first ones."""
    if not state.blocked:
        return Told(BLOCKED, "False", "NotBlocked")
    more = len(state.blocked) - NAMED
    lines = [*map(line, state.blocked[:NAMED]), *((f"and {more} more",) if more > 0 else ())]
    return Told(BLOCKED, "True", type(state.blocked[0].reason).__name__, "\n".join(lines))


def line(one: Standstill) -> str:
    """What stops all clusters names none."""
    note = one.reason.note()
    return note if one.cluster is None else f"{one.cluster or HOME}: {note}"


def named(status: BudgetStatus) -> list[str]:
    """The clusters that a message names: what each line of it begins with."""
    told = [one.message for one in status.conditions if isinstance(one, Told) and one.type == BLOCKED]
    return [one.partition(": ")[0] for message in told for one in message.splitlines()]


def merged(known: tuple[Told | Foreign, ...], wanted: tuple[Told, ...], now: str) -> tuple[Told | Foreign, ...]:
    """Ours first, with a time that changes with its status only; those of others as they are."""
    before = {one.type: one for one in known if isinstance(one, Told)}
    ours = [structs.replace(one, since=since(before.get(one.type), one, now)) for one in wanted]
    return (*ours, *(one for one in known if isinstance(one, Foreign)))


def since(old: Told | None, new: Told, now: str) -> str:
    return old.since if old is not None and old.status == new.status and old.since else now


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> StatusView | None:
    entry, state = reader.read(key), reader.read(STATE_AT)
    if not isinstance(entry, Present) or not isinstance(state, Present) or entry.obj.deleting:
        return None
    written = entry.changed_at if entry.changed_at != entry.first_seen else None
    return StatusView(key, entry.obj, entry.resource_version, state.obj, written)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (BUDGET_AT,) if ref.kind == STATE or ref == BUDGET_AT else ()


ROOM = Room(
    name="budget-status",
    watches=(BUDGET, STATE),
    indexes=(),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({PublishBudgetStatus}),
)
