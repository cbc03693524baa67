"""A run whose order nobody answered: it is asked for again, and never called one that was not begun."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_node, ago, later
from tests.core.fencing.fences import a_job
from tests.core.fencing.test_told import known_for, running

from noderemedy.core.fencing.fence import decide
from noderemedy.model.actions import PublishFenceStatus, StartRun
from noderemedy.model.run import Run, RunState

ORDERED = a_job(state=RunState.RUNNING)
UNSURE = Run(ORDERED.id, RunState.RUNNING, is_sure=False)
BOOTED = a_node(ready="True", boot_id="boot-2")
UNWANTED: dict[str, dict[str, Any]] = {
    "its node has booted": {"node": BOOTED},
    "it was stopped": {"stopped": True},
    "it was called off": {"deleting": True},
}


@pytest.mark.parametrize("case", UNWANTED)
def test_what_may_run_is_waited_for(case: str) -> None:
    """Its device may be off by now: to call it not begun would leave that so, with nobody who brings power back."""
    view = running(ORDERED, runs=(UNSURE,), **UNWANTED[case])
    waits = decide(view, NOW)

    assert ((), ["RunUnderWay"]) == (waits.actions, [type(one).__name__ for one in waits.because])
    assert waits.wake_at is not None
    assert waits.wake_at > NOW.mono


@pytest.mark.parametrize("case", UNWANTED)
def test_what_was_never_asked_for_is_not_begun(case: str) -> None:
    """Nothing was sent, and nobody has to wait for it."""
    [write] = decide(running(ORDERED, **UNWANTED[case]), NOW).actions

    assert isinstance(write, PublishFenceStatus)
    [job] = write.status.jobs
    assert (RunState.FAILED, False, True) == (job.state, job.is_lost, job.said.startswith("not begun: "))


def test_what_is_still_wanted_is_asked_for_again() -> None:
    """A Job of that name is the same order: at most one of them is there."""
    [start] = decide(running(ORDERED, runs=(UNSURE,)), NOW).actions

    assert isinstance(start, StartRun)
    assert ORDERED.id == start.order.id


def test_it_is_lost_when_all_its_time_is_over() -> None:
    """Then it counts as one that may have switched its device off: power comes back."""
    late = replace(ORDERED, since=ago(900))
    view = known_for(running(late, runs=(UNSURE,), node=BOOTED), 900)
    [write] = decide(view, later(0)).actions

    assert isinstance(write, PublishFenceStatus)
    assert [(RunState.FAILED, True)] == [(job.state, job.is_lost) for job in write.status.jobs]
