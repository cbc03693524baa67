"""What is known of the devices that power a node, from the runs that its NodeFence recorded. No memory of its own.

A device is an agent and what says which plug, port or machine is meant: `eaton-off` and `eaton-on` of the seed are two
methods and one plug. Every run records its device as a digest. A document may be pointed at another device in the
middle of a flow: what was switched off is the old one, and nothing that the new one says or does is about it.
"""

from __future__ import annotations

import re

from msgspec import structs

from noderemedy.core.fencing.results import NOT_BEGUN
from noderemedy.core.fencing.scopes import SLEEPERS
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.drill import is_found_wrong
from noderemedy.model.fenceplan import AgentMethod, Builtin, Scope, Step
from noderemedy.model.nodefence import FenceJob, FenceStatus, digest
from noderemedy.model.run import Deed, Power, RunState
from noderemedy.model.time import Now, Span

# These parameters say how to talk to a device. All others may say which one is meant, and count so.
HOW = re.compile(
    r"username|lanplus|cipher|privlvl|auth|method|notls|secure|quiet|separator|retry_on|community|use_sudo"
    r"|command_prompt|inet[46]_only|(verbose|snmp_|ssl|tls|ssh).*|.*_?(timeout|wait|delay|sleep)",
    re.ASCII,
)


def identity(method: AgentMethod) -> str:
    """Of the device, after templates and overrides; without any secret: those are not in the parameters."""
    return digest("\n".join((method.agent, *(f"{name}={value}" for name, value in meant(method)))))


def meant(method: AgentMethod) -> tuple[tuple[str, str], ...]:
    """The parameters that say, or may say, which device it is."""
    return tuple(pair for pair in method.parameters if not HOW.fullmatch(pair[0]))


def device_of(view: FenceView, job: FenceJob) -> str:
    """Which device a run was about; "" if it was no agent's."""
    if job.device or job.method == Builtin.HOST_POWER.value:
        return job.device
    method = view.agent(job.method)  # recorded by a manager that knew no devices
    return identity(method) if method is not None else job.method


def jobs_of(view: FenceView, method: AgentMethod) -> list[FenceJob]:
    """The runs of this flow that were about the same device, in order."""
    device = identity(method)
    return [job for job in view.status.jobs if device_of(view, job) == device]


def power_of(view: FenceView, method: AgentMethod) -> Power | None:
    """What the device was left at; None: it was not touched in this flow."""
    told = [job for job in jobs_of(view, method) if is_telling(job)]
    return left_at(told) if told else None


def left_at(told: list[FenceJob]) -> Power:
    """What these runs say in the end. What was ordered off is on when it was switched on, not when it is called on:
    the answers of some devices change, and nothing is left dark for a wrong one.
    """
    last = told[-1]
    switched = [job.deed for job in told if job.deed is not Deed.STATUS]
    if last.power is Power.ON and switched and switched[-1] is Deed.OFF:
        return Power.UNKNOWN
    return last.power


def is_telling(job: FenceJob) -> bool:
    """Whether a run says what its device was left at."""
    is_news = job.deed is not Deed.STATUS or job.power is not Power.UNKNOWN  # a question that failed tells nothing
    return job.state is RunState.DONE or (is_sent(job) and is_news)


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
    return view.plan.doing(step, deed) if view.plan is not None else ()


def powering(view: FenceView) -> tuple[AgentMethod, ...]:
    """All that can switch the node off: each must be off before the node is."""
    return tuple(one for one in with_deed(view, Step.POWER_MANAGEMENT, Deed.OFF) if one.scope is Scope.POWER)


def is_mistaken(view: FenceView, method: AgentMethod) -> bool:
    """Whether a drill found that it is another machine's: neither switched nor believed, until the mapping is
    corrected or a later drill takes the word back.
    """
    return view.node is not None and is_found_wrong(view.node, identity(method))


def mistaken(view: FenceView, step: Step) -> tuple[str, ...]:
    return tuple(one.name for one in with_deed(view, step, Deed.OFF) if is_mistaken(view, one))


def is_seen_on(view: FenceView, device: str, but: FenceJob | None = None) -> bool:
    """Whether this flow saw it on, and has not switched it on since: what is off now went off by us.

    `but`: the one whose result is being judged.
    """
    for job in reversed([one for one in view.status.jobs if one != but and device_of(view, one) == device]):
        if job.was_on:
            return True
        if job.deed is Deed.ON and is_sent(job):
            return False
    return False


def may_sleep(view: FenceView, method: AgentMethod) -> bool:
    """Whether "off" may mean that its machine is suspended: nobody of this flow saw it on."""
    return method.agent in SLEEPERS and not is_seen_on(view, identity(method))


def is_touched(view: FenceView) -> bool:
    """Whether anything of power management was sent in this flow. Who was found on, or not at all, was not touched."""
    jobs = [job for job in of_this_flow(view.status) if job.step is Step.POWER_MANAGEMENT and is_sent(job)]
    return any(job.deed is not Deed.STATUS or job.power is Power.OFF for job in jobs)


def is_any_off(view: FenceView) -> bool:
    """Whether a device of power management is off, or may be: nobody has called it on since it was told."""
    last = {device_of(view, job): job for job in of_this_flow(view.status) if is_sent(job) and is_power(job)}
    return any(job.power is not Power.ON for job in last.values())


def is_power(job: FenceJob) -> bool:
    return job.step is Step.POWER_MANAGEMENT


def of_this_flow(status: FenceStatus) -> tuple[FenceJob, ...]:
    """Without what an earlier one left off: it may have had the same number, if it was given up and lives again."""
    return tuple(job for job in status.jobs if job.restart == status.restarts and not job.is_remembered)


# --- what is off -------------------------------------------------------------------------------------------------


def unlit(view: FenceView) -> tuple[FenceJob, ...]:
    """Of each device that we switched off, or may have, and not on again, the last run that tells.

    Known from the runs alone: a plan that is broken or gone by now does not light anything.
    """
    told: dict[str, list[FenceJob]] = {}
    for job in view.status.jobs:
        if is_telling(job) and (device := device_of(view, job)):
            told.setdefault(device, []).append(job)
    return tuple(last_word(jobs) for jobs in told.values() if left_at(jobs) is not Power.ON)


def last_word(told: list[FenceJob]) -> FenceJob:
    """The run that is kept of these: one that says "on" of what was ordered off would, alone, pass for the truth."""
    last = told[-1]
    return last if last.power is not Power.ON else next(job for job in reversed(told) if job.deed is Deed.OFF)


def astray(view: FenceView) -> tuple[FenceJob, ...]:
    """Those of them that a sound plan does not name any more: it was pointed at other devices meanwhile."""
    if view.plan is None or view.plan.problems:
        return ()
    named = {identity(one) for one in view.plan.agent_methods}
    return tuple(job for job in unlit(view) if device_of(view, job) not in named)


def stays_off(view: FenceView, *, is_over: bool) -> tuple[FenceJob, ...]:
    """Those of them that are in the plan, or have none; until it is over, without those that are to be let in again."""
    lost, let_in = astray(view), () if is_over else cut_off(view)
    awaited = {identity(one) for one in let_in}
    return tuple(job for job in unlit(view) if job not in lost and device_of(view, job) not in awaited)


def is_not_ours(view: FenceView, method: AgentMethod) -> bool:
    """Whether we never touched a device that is another machine's, or took the place of one that we did touch: it is
    not ours to switch on.
    """
    had_another = any(job.method == method.name and job.device for job in view.status.jobs)
    is_another = had_another or bool(astray(view)) or is_mistaken(view, method)
    return power_of(view, method) is None and is_another


def left_off(view: FenceView) -> tuple[AgentMethod, ...]:
    """What we switched off, or may have, and the configuration would switch on again; each device once."""
    return not_on(view, Step.POWER_MANAGEMENT)


def cut_off(view: FenceView) -> tuple[AgentMethod, ...]:
    """The same for what keeps the node from storage and network, and recovery would let in again."""
    return not_on(view, Step.RECOVERY)


def not_on(view: FenceView, step: Step) -> tuple[AgentMethod, ...]:
    comes_on = {identity(one): one for one in with_deed(view, step, Deed.ON)}
    return tuple(one for one in comes_on.values() if power_of(view, one) in (Power.OFF, Power.UNKNOWN))


def is_behind_storage_fence(view: FenceView) -> bool:
    """Whether pods were freed behind a storage fence that was not lifted since, by the runs alone."""
    was_freed = view.status.evidence.storage_freed_at is not None
    return was_freed and any(not is_power(job) for job in unlit(view))


def remembered(view: FenceView, *, is_same_boot: bool) -> tuple[FenceJob, ...]:
    """The last word of each device that is off, or may be: a flow that begins anew must not forget it. That it was on
    before says nothing of a machine that has booted since.
    """
    return tuple(structs.replace(job, is_remembered=True, was_on=job.was_on and is_same_boot) for job in unlit(view))


def are_off(view: FenceView, jobs: tuple[FenceJob, ...]) -> bool:
    """Whether by these runs all that powers the node by agents is off."""
    status = structs.replace(view.status, jobs=jobs)
    told = structs.replace(view, fence=structs.replace(view.fence, status=status))
    return all(power_of(told, method) is Power.OFF for method in powering(told))
