"""What is known of the devices that power a node, from the runs that its NodeFence recorded. No memory of its own.

A device is an agent with its parameters: `eaton-off` and `eaton-on` of the seed are two methods and one plug.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing.results import NOT_BEGUN
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.fenceplan import AgentMethod, Scope, Step
from noderemedy.model.nodefence import FenceJob, FenceStatus
from noderemedy.model.run import Deed, Power, RunState
from noderemedy.model.time import Now, Span


def key(method: AgentMethod) -> tuple[str, tuple[tuple[str, str], ...]]:
    return method.agent, method.parameters


def jobs_of(view: FenceView, method: AgentMethod) -> list[FenceJob]:
    """The runs of this flow that were about the same device, in order."""
    found = [(job, view.agent(job.method)) for job in view.status.jobs]
    return [job for job, other in found if other is not None and key(other) == key(method)]


def power_of(view: FenceView, method: AgentMethod) -> Power | None:
    """What the device was left at; None: it was not touched in this flow."""
    power: Power | None = None
    for job in jobs_of(view, method):
        is_news = job.deed is not Deed.STATUS or job.power is not Power.UNKNOWN  # a question that failed tells nothing
        if job.state is RunState.DONE or (is_sent(job) and is_news):
            power = job.power
    return power


def is_sent(job: FenceJob) -> bool:
    """Whether a device may have been told something."""
    return job.is_open or not job.said.startswith(NOT_BEGUN)


def is_lost(view: FenceView, method: AgentMethod) -> bool:
    """Whether the last that is known of a device is a power-off that nobody saw the end of."""
    jobs = jobs_of(view, method)
    return bool(jobs) and jobs[-1].is_lost and jobs[-1].deed is Deed.OFF


def is_unsure(view: FenceView, now: Now, within: Span) -> bool:
    """Whether a power-off may have gone through just now without our knowing."""
    offs = [job for job in view.status.jobs if job.deed is Deed.OFF and job.step is Step.POWER_MANAGEMENT]
    return any(job.is_open or (is_sent(job) and now.wall < job.since + job.patience + within) for job in offs)


def with_deed(view: FenceView, step: Step, deed: Deed) -> tuple[AgentMethod, ...]:
    """The agents of a step that are asked for this, in the order of the configuration."""
    return tuple(one for one in view.methods(step) if isinstance(one, AgentMethod) and deed in one.deeds)


def powering(view: FenceView) -> tuple[AgentMethod, ...]:
    """All that can switch the node off: each must be off before the node is."""
    return tuple(one for one in with_deed(view, Step.POWER_MANAGEMENT, Deed.OFF) if one.scope is Scope.POWER)


def is_touched(view: FenceView) -> bool:
    """Whether anything of power management was sent in this flow."""
    return any(job.step is Step.POWER_MANAGEMENT and is_sent(job) for job in of_this_flow(view.status))


def of_this_flow(status: FenceStatus) -> tuple[FenceJob, ...]:
    """Without what an earlier one left off."""
    return tuple(job for job in status.jobs if job.restart == status.restarts)


def left_off(view: FenceView) -> tuple[AgentMethod, ...]:
    """What we switched off, or may have, and the configuration would switch on again; each device once."""
    return not_on(view, Step.POWER_MANAGEMENT)


def cut_off(view: FenceView) -> tuple[AgentMethod, ...]:
    """The same for what keeps the node from storage and network, and recovery would let in again."""
    return not_on(view, Step.RECOVERY)


def not_on(view: FenceView, step: Step) -> tuple[AgentMethod, ...]:
    comes_on = {key(one): one for one in with_deed(view, step, Deed.ON)}
    return tuple(one for one in comes_on.values() if power_of(view, one) in (Power.OFF, Power.UNKNOWN))


def remembered(view: FenceView) -> tuple[FenceJob, ...]:
    """The last run of each device that is not on: a flow that begins anew must not forget it."""
    last = [jobs_of(view, method)[-1].id for method in (*left_off(view), *cut_off(view))]
    return tuple(job for job in view.status.jobs if job.id in last)


def are_off(view: FenceView, jobs: tuple[FenceJob, ...]) -> bool:
    """Whether by these runs all that powers the node by agents is off."""
    status = structs.replace(view.status, jobs=jobs)
    told = structs.replace(view, fence=structs.replace(view.fence, status=status))
    return all(power_of(told, method) is Power.OFF for method in powering(told))
