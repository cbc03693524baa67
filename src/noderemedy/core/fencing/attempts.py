"""One try after the other: a method of a step is run until it is done, within the retries of its step (S14)."""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import safety
from noderemedy.core.fencing import automaton, devices, runs
from noderemedy.core.fencing.moves import fail
from noderemedy.core.fencing.patience import pause
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Step
from noderemedy.model.nodefence import FenceJob
from noderemedy.model.run import Deed, Run, RunState
from noderemedy.model.time import Now

ASKED_MAX = 3  # answers in a row that were too old; as many questions are one try of the step


def failures(view: FenceView, step: Step) -> list[FenceJob]:
    """The runs of this step that failed in this flow."""
    return [job for job in devices.of_this_flow(view.status) if job.step is step and is_failed(job)]


def is_failed(job: FenceJob) -> bool:
    return job.state is RunState.FAILED


def attempt(view: FenceView, step: Step, method: AgentMethod, deed: Deed, now: Now) -> Decision:
    """Run this method now, after a pause, or not any more."""
    if decided := failed_too_often(view, step, now):
        return decided
    is_unknown = devices.is_lost(view, method) or devices.may_sleep(view, method)
    looks_first = deed is Deed.OFF and is_unknown  # race R33: it may be off already
    return runs.order(view, step, method, Deed.STATUS if looks_first else deed, now)


def ask(view: FenceView, step: Step, methods: tuple[AgentMethod, ...], now: Now) -> Decision | None:
    """Ask these devices whether they are off, one after the other; None if what they said is young enough."""
    wanted = safety.to_ask(runs.last_answers(view, step, methods), now)
    method = next((one for one in methods if one.name == wanted), None)
    if method is None:
        return None
    return asked_in_vain(view, step, method, now) or attempt(view, step, method, Deed.STATUS, now)


def asked_in_vain(view: FenceView, step: Step, method: AgentMethod, now: Now) -> Decision | None:
    """Answers that were too old again and again are a failed try; None if the device may be asked once more.

    Without it the node would stay off in silence. Freeing that has begun asks again by right, and has its own deadline.
    """
    tried = runs.tries_of(view, step, method, Deed.STATUS)
    if not tried or tried[-1].state is not RunState.DONE or view.status.evidence.freeing_since is not None:
        return None
    last = tried[-1]
    others = [job.attempt for job in tried if is_failed(job) or runs.is_sight(job)]
    times = last.attempt - max(others, default=-1)
    if times < ASKED_MAX:
        return None
    said = f"asked {times} times, and every answer was too old to prove anything{how_late(view.run(last), now)}"
    return runs.record(view, structs.replace(last, state=RunState.FAILED, said=said), now)


def how_late(run: Run | None, now: Now) -> str:
    """What is known of the time that an answer took; nothing of one that another manager asked for."""
    if run is None or run.begun.ms <= 0:
        return "; nobody here knows when it was asked"
    asked = f"{now.mono.since(run.begun).ms // 1000} s ago, and the device itself took {run.took.ms // 1000} s"
    return f": the last was asked for {asked}; look at what keeps runs waiting (Jobs, their image, many fences at once)"


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
