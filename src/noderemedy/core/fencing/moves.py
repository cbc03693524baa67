"""Small steps that all parts of a fence share: record what comes next, confirm; and what is told about it."""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import safety
from noderemedy.core.conditions import merged
from noderemedy.core.fencing import automaton
from noderemedy.core.fencing.automaton import TABLE, Event
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.actions import Confirm, PublishFenceStatus
from noderemedy.model.checkstatus import SUCCEEDED, Told
from noderemedy.model.decision import Decision
from noderemedy.model.ids import Ref
from noderemedy.model.nodefence import FenceEvidence, FenceStatus, State
from noderemedy.model.reasons import ConfirmFirst, FenceMoves, FenceStepEnded, FenceStepFailed, Reason
from noderemedy.model.room import Absent, Entry, Present
from noderemedy.model.time import Now

# How a step ends, for figures. A node that is Ready needs no more of it.
OUTCOMES = {
    Event.STEP_DONE: "done",
    Event.NODE_READY: "not needed",
    Event.STEP_FAILED: "failed",
    Event.NOT_READY_IN_TIME: "failed",
}


def publish(view: FenceView, status: FenceStatus, *reasons: Reason) -> Decision:
    """Record how far it has come."""
    wanted = structs.replace(status, generation=view.fence.generation)
    return Decision((PublishFenceStatus(view.ref, view.guard, wanted),), reasons)


def noted(view: FenceView, evidence: FenceEvidence, *reasons: Reason) -> Decision:
    """The same status with more evidence."""
    return publish(view, structs.replace(view.status, evidence=evidence), *reasons)


def move(view: FenceView, event: Event, now: Now, *reasons: Reason, why: str = "") -> Decision:
    """Follow the table."""
    status = automaton.after(view.status, event, now)
    told = (*reasons, *ended(view, event), moved(view, status, event, why))
    return publish(view, saying(status, event, why or event.value, now), *told)


def ended(view: FenceView, event: Event) -> tuple[Reason, ...]:
    """What there is to count of the step that an event ends."""
    before, outcome = view.status, OUTCOMES.get(event)
    return (FenceStepEnded(view.name, before.step.value, outcome, before.since),) if outcome else ()


def moved(view: FenceView, status: FenceStatus, event: Event, why: str) -> Reason:
    if status.state is State.ERROR:
        return FenceStepFailed(view.name, status.step.value, why or event.value)
    return FenceMoves(view.name, status.state.value, why or event.value)


def saying(status: FenceStatus, event: Event, why: str, now: Now, word: str = "") -> FenceStatus:
    """The same with the condition that a row of the table tells; `word`: for a reason that is not the row's."""
    row = next(one for (_, of), one in TABLE.items() if of is event and one.state is status.state)
    told = Told(SUCCEEDED, row.status, word or row.reason, f"{status.state.value}: {why}"[:1000])
    return structs.replace(status, conditions=merged(status.conditions, (told,), str(now.wall)))


def fail(view: FenceView, why: str, now: Now, *reasons: Reason) -> Decision:
    """One try of the present step failed."""
    status = automaton.has_failed(view.status, view.fence.spec, now)
    if status.state is State.ERROR:
        status = saying(status, Event.STEP_FAILED, why, now)
    step_failed = FenceStepFailed(view.name, view.status.step.value, why)
    return publish(view, status, *reasons, *ended(view, Event.STEP_FAILED), step_failed)


def confirm(now: Now, *entries: tuple[Ref, Entry]) -> Decision | None:
    """Ask for a live read of what was not read live just now; None if all was."""
    stale = [at for at, entry in entries if not is_confirmed(entry, now)]
    if not stale:
        return None
    return Decision(tuple(Confirm(at) for at in stale), tuple(ConfirmFirst(str(at)) for at in stale))


def is_confirmed(entry: Entry, now: Now) -> bool:
    return isinstance(entry, Present | Absent) and safety.is_confirmed(entry, now)
