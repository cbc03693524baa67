"""The automaton of seed 002 as a table: every state with every event, counters that end, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import NOW, ago, later
from tests.core.fencing.fences import a_status

from noderemedy.core.fencing.automaton import (
    PAUSE_MAX,
    STEPS,
    TABLE,
    Event,
    after,
    has_failed,
    next_restart,
    next_try,
)
from noderemedy.model.fenceplan import Step
from noderemedy.model.nodefence import FenceSpec, State
from noderemedy.model.time import Span

ROWS = {
    (State.NEW, Event.STEP_DONE): State.RUNNING,
    (State.NEW, Event.NODE_READY): State.DONE,
    (State.NEW, Event.STEP_FAILED): State.ERROR,
    (State.RUNNING, Event.NODE_READY): State.DONE,
    (State.RUNNING, Event.STEP_DONE): State.DONE,
    (State.RUNNING, Event.STEP_FAILED): State.ERROR,
    (State.DONE, Event.STEP_DONE): State.FINAL,
    (State.DONE, Event.STEP_FAILED): State.ERROR,
    (State.DONE, Event.NOT_READY_IN_TIME): State.ERROR,
    (State.ERROR, Event.RESTART): State.NEW,
    (State.ERROR, Event.NODE_READY): State.DONE,
    (State.ERROR, Event.ATTESTED): State.RUNNING,
}


TOLD = {
    State.NEW: ("Unknown", "InProgress"),
    State.RUNNING: ("Unknown", "InProgress"),
    State.DONE: ("Unknown", "InProgress"),
    State.ERROR: ("False", "Error"),
    State.FINAL: ("True", "Recovered"),
}


def test_each_state_has_its_words_in_the_condition() -> None:
    """Succeeded says whether it goes on, has failed or is over, whichever way the state was reached."""
    assert {row: TOLD[state] for row, state in ROWS.items()} == {
        row: (found.status, found.reason) for row, found in TABLE.items()
    }


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_state_with_every_event(state: State, event: Event) -> None:
    """The table has the rows of the decision, and no others."""
    found = TABLE.get((state, event))

    assert ROWS.get((state, event)) == (found.state if found else None)


def test_what_is_not_in_the_table_does_not_happen() -> None:
    """An event that does not fit is our own mistake, never a move."""
    with pytest.raises(KeyError):
        after(a_status(State.FINAL), Event.RESTART, NOW)


def test_each_state_has_its_step_and_an_error_keeps_its_own() -> None:
    """So that a person sees in which step it happened."""
    status = after(a_status(State.DONE), Event.STEP_FAILED, NOW)

    assert (State.ERROR, Step.RECOVERY) == (status.state, status.step)
    assert {state: after(a_status(was), event, NOW).step for (was, event), state in ROWS.items() if state in STEPS} == {
        State.NEW: Step.ISOLATION,
        State.RUNNING: Step.POWER_MANAGEMENT,
        State.DONE: Step.RECOVERY,
        State.FINAL: Step.RECOVERY,
    }


def test_a_step_is_tried_again_before_it_is_an_error() -> None:
    """stepRetries tries after the first, each later than the one before."""
    spec, status = FenceSpec("n", step_retries=2), a_status(State.RUNNING)
    pauses = []
    for _ in range(2):
        status = has_failed(status, spec, NOW)
        due = next_try(status)
        assert due is not None
        pauses.append(due)
        assert State.RUNNING is status.state
    ended = has_failed(status, spec, NOW)

    assert (State.ERROR, 0, [Span.seconds(10), Span.seconds(20)]) == (ended.state, ended.retries, pauses)


def test_restarts_end() -> None:
    """maxRestarts times the flow begins anew, then it stays in error."""
    spec, status = FenceSpec("n", max_restarts=2), a_status(State.ERROR)
    starts = 0
    while next_restart(status, spec) is not None:
        status = after(after(status, Event.RESTART, NOW), Event.STEP_FAILED, NOW)
        starts += 1

    assert (2, 2) == (starts, status.restarts)


def test_nothing_is_waited_for_where_nothing_failed() -> None:
    """The first try comes at once."""
    assert None is next_try(a_status(State.NEW))


@settings(max_examples=100)
@given(st.lists(st.sampled_from(Event), max_size=40), st.integers(0, 3), st.integers(0, 3))
def test_whatever_happens_the_counters_stay_within_their_limits(
    events: list[Event], retries: int, restarts: int
) -> None:
    """S14: no order of events makes a step run more often than it may, and no pause is longer than its limit."""
    spec = FenceSpec("n", step_retries=retries, max_restarts=restarts)
    status, now = a_status(State.NEW, since=ago(0)), NOW
    for event in events:
        now = later(1, now)
        if event is Event.STEP_FAILED and (status.state, event) in TABLE:
            status = has_failed(status, spec, now)
        elif event is Event.RESTART and next_restart(status, spec) is None:
            continue
        elif (status.state, event) in TABLE:
            status = after(status, event, now)
        for due in (next_try(status), next_restart(status, spec)):
            assert due is None or due <= PAUSE_MAX

    assert status.retries <= retries
    assert status.restarts <= restarts
