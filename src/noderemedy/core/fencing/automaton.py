"""The automaton of seed 002 as data: which event leads from which state to which. Drawn in docs/guide/node-fence.md.

Called by `moves.py`. Pure and bounded: a step is tried again `stepRetries` times, the flow begins anew `maxRestarts`
times, and whatever is not in the table does not happen.

    new ──isolated──► running ──powered off, freed, on──► done ──Ready, recovered──► final
     └── Ready ──► done   └── Ready ──► done                └── not Ready in time ──► error
    any step failed after its retries ──► error ──restarts left──► new
    error ──Ready──► done        error ──a person attests that it is off──► running
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, structs

from noderemedy.model.fenceplan import Step
from noderemedy.model.nodefence import FenceSpec, FenceStatus, State
from noderemedy.model.time import MINUTE, Now, Span

RETRY_PAUSE, RESTART_PAUSE, PAUSE_MAX = Span.seconds(10), MINUTE, MINUTE * 10


class Event(Enum):
    """What can happen to a flow."""

    STEP_DONE = "the step is completed"
    STEP_FAILED = "the step failed after its retries"
    NODE_READY = "the node is Ready"
    NOT_READY_IN_TIME = "the node is not Ready in time"
    RESTART = "the flow begins anew"
    ATTESTED = "a person attests that the node is off"


class Move(Struct, frozen=True):
    """Where an event leads, and what the condition Succeeded says then."""

    state: State
    status: str = "Unknown"
    reason: str = "InProgress"


GOES_ON, FAILED = Move(State.DONE), Move(State.ERROR, "False", "Error")
TABLE: dict[tuple[State, Event], Move] = {
    (State.NEW, Event.STEP_DONE): Move(State.RUNNING),
    (State.NEW, Event.NODE_READY): GOES_ON,
    (State.NEW, Event.STEP_FAILED): FAILED,
    (State.RUNNING, Event.NODE_READY): GOES_ON,
    (State.RUNNING, Event.STEP_DONE): GOES_ON,
    (State.RUNNING, Event.STEP_FAILED): FAILED,
    (State.DONE, Event.STEP_DONE): Move(State.FINAL, "True", "Recovered"),
    (State.DONE, Event.STEP_FAILED): FAILED,
    (State.DONE, Event.NOT_READY_IN_TIME): FAILED,
    (State.ERROR, Event.RESTART): Move(State.NEW),
    (State.ERROR, Event.NODE_READY): GOES_ON,
    (State.ERROR, Event.ATTESTED): Move(State.RUNNING),
}
# The step whose methods run in a state; an error keeps the step in which it happened.
STEPS: dict[State, Step] = {
    State.NEW: Step.ISOLATION,
    State.RUNNING: Step.POWER_MANAGEMENT,
    State.DONE: Step.RECOVERY,
    State.FINAL: Step.RECOVERY,
}


def after(status: FenceStatus, event: Event, now: Now) -> FenceStatus:
    """The status behind an event. Counters and clocks only: what is told about it is added by `moves.py`."""
    move = TABLE[status.state, event]
    begins_anew = event is Event.RESTART
    return structs.replace(
        status,
        state=move.state,
        step=STEPS.get(move.state, status.step),
        since=now.wall,
        retries=0,
        restarts=status.restarts + begins_anew,
    )


def has_failed(status: FenceStatus, spec: FenceSpec, now: Now) -> FenceStatus:
    """One try of the step failed: the next one, if there is one left, else the error."""
    if status.retries < spec.step_retries:
        return structs.replace(status, retries=status.retries + 1, since=now.wall)
    return after(status, Event.STEP_FAILED, now)


def next_try(status: FenceStatus) -> Span | None:
    """How long after the last failure the step is tried again; None where nothing failed."""
    return _doubled(RETRY_PAUSE, status.retries) if status.retries else None


def next_restart(status: FenceStatus, spec: FenceSpec) -> Span | None:
    """How long after the error the flow begins anew; None where no restart is left."""
    return _doubled(RESTART_PAUSE, status.restarts + 1) if status.restarts < spec.max_restarts else None


def rest(failed: int) -> Span:
    """How long a device that failed so often is left alone."""
    return _doubled(RETRY_PAUSE, max(failed, 1))


def _doubled(first: Span, times: int) -> Span:
    """Pauses double with every time, so that a device that is slow or down is not hammered."""
    return Span(min(PAUSE_MAX.ms, first.ms << min(times - 1, 10)))
