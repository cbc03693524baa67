"""One try after the other: a method of a step is run until it is done, within the retries of its step (S14)."""

from __future__ import annotations

from noderemedy.core.fencing import automaton, devices, runs
from noderemedy.core.fencing.moves import fail
from noderemedy.core.fencing.patience import pause
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Step
from noderemedy.model.nodefence import FenceJob
from noderemedy.model.run import Deed, RunState
from noderemedy.model.time import Now


def failures(view: FenceView, step: Step) -> list[FenceJob]:
    """The runs of this step that failed in this flow."""
    return [job for job in devices.of_this_flow(view.status) if job.step is step and is_failed(job)]


def is_failed(job: FenceJob) -> bool:
    return job.state is RunState.FAILED


def attempt(view: FenceView, step: Step, method: AgentMethod, deed: Deed, now: Now) -> Decision:
    """Run this method now, after a pause, or not any more."""
    if decided := failed_too_often(view, step, now):
        return decided
    looks_first = deed is Deed.OFF and devices.is_lost(view, method)  # race R33: it may be off already
    return runs.order(view, step, method, Deed.STATUS if looks_first else deed, now)


def failed_too_often(view: FenceView, step: Step, now: Now) -> Decision | None:
    """A try that failed is counted, and the next one waits; None if it may begin."""
    failed = failures(view, step)
    if len(failed) > view.status.retries:
        last = failed[-1]
        return fail(view, f"{last.method}: {last.deed.value}: {last.said or 'failed'}", now)
    span = automaton.next_try(view.status)
    if span is None or view.status.since is None:
        return None
    return pause(view, view.status.since, span, f"the next try of {step.value}", now)


def is_done(view: FenceView, step: Step, method: AgentMethod, deed: Deed) -> bool:
    """Whether this method has done this in this flow."""
    return any(job.state is RunState.DONE for job in runs.tries_of(view, step, method, deed))
