"""The method host-power: the node's BareMetalHost is held off through the baremetal operator, with a hold of our own.

Called by the steps of power management beside the devices of agents. A power-off is recorded in `status.jobs` like any
run; powering on is the release of the hold. The proof is that of a Metal3Remediation: held by us on a version that said
on, and seen off in a live read after that.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing import runs
from noderemedy.core.fencing.attempts import failed_too_often
from noderemedy.core.fencing.moves import confirm, publish
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.actions import Guard, HoldHost, ReleaseHost
from noderemedy.model.decision import Decision
from noderemedy.model.drill import host_identity, is_found_wrong
from noderemedy.model.fenceplan import Builtin, BuiltinMethod, Step
from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.nodefence import FenceJob
from noderemedy.model.reasons import (
    ClaimedByOther,
    HoldingHost,
    ReleasingHost,
    RunOrdered,
    SoftShutdownAsked,
    WaitingForPowerOff,
)
from noderemedy.model.room import Present
from noderemedy.model.run import Deed, RunState
from noderemedy.model.run import Power as PlugPower
from noderemedy.model.time import MINUTE, Now

STEP = Step.POWER_MANAGEMENT
OFF_WITHIN = MINUTE * 3  # the baremetal operator polls once a minute


def method(view: FenceView) -> BuiltinMethod | None:
    found = (one for one in view.methods(STEP) if isinstance(one, BuiltinMethod))
    return next((one for one in found if one.builtin is Builtin.HOST_POWER), None)


def mistaken(view: FenceView) -> tuple[str, ...]:
    """The method, if a drill found that the host is another machine's."""
    found = method(view)
    if found is None or view.node is None:
        return ()
    return (found.name,) if is_found_wrong(view.node, host_identity(view.host.at)) else ()


def is_held(view: FenceView) -> bool:
    """Also one that cannot be read any more, as it was then."""
    host = view.host.last_known
    return host is not None and bool(host.holds_of(view.fence.uid))


def may_be_held(view: FenceView) -> bool:
    """The same where nobody has read the host yet: by what was ordered of it."""
    is_ordered = any(job.step is STEP and job.deed is Deed.OFF and not job.device for job in view.status.jobs)
    return is_held(view) or (view.host.last_known is None and is_ordered)


def is_off(view: FenceView) -> bool:
    """Whether it was seen off in this flow, and is held so."""
    found = method(view)
    jobs = runs.tries(view.status, STEP, found.name, Deed.OFF) if found else []
    is_done = bool(jobs) and jobs[-1].state is RunState.DONE
    return is_done and is_held(view) and view.host.host is not None and view.host.host.power is Power.OFF


def switch_off(view: FenceView, now: Now) -> Decision | None:
    """Order the power-off; None where there is no such method, or the host is off, or another machine's."""
    found = method(view)
    if found is None or is_off(view) or mistaken(view):
        return None
    if decided := failed_too_often(view, STEP, now):
        return decided
    before = runs.tries(view.status, STEP, found.name, Deed.OFF)
    attempt = before[-1].attempt + 1 if before else 0
    id = runs.name_of(view, STEP, found.name, Deed.OFF, attempt, now)
    job = FenceJob(id, STEP, found.name, Deed.OFF, now.wall, OFF_WITHIN, view.status.restarts, attempt)
    wanted = structs.replace(view.status, jobs=(*view.status.jobs, job))
    return publish(view, wanted, RunOrdered(view.name, found.name, Deed.OFF.value))


def is_its(view: FenceView, job: FenceJob) -> bool:
    found = method(view)
    return found is not None and job.method == found.name and view.agent(job.method) is None


def go_on(view: FenceView, job: FenceJob, now: Now) -> Decision:
    """Hold the host, and wait until it is off."""
    if now.mono >= runs.all_time(view, job):
        return runs.record(view, structs.replace(job, state=RunState.FAILED, said="the host did not go off"), now)
    host = view.host.host
    why = runs.unwanted(view) or trouble(view, host)
    if why or host is None:
        return runs.never(view, job, why or "there is no host", now)
    assert view.host.at is not None
    name = f"{view.host.at.namespace}/{view.host.at.name}"
    if not is_held(view) and host.is_held_besides(view.fence.uid):
        other = ClaimedByOther(view.name, f"whoever else holds host {name}")  # until that is over, or was released
        return Decision((), (other,), runs.all_time(view, job))
    if not is_held(view) and host.soft_reboot:
        return Decision((), (SoftShutdownAsked(name, host.soft_reboot),), runs.all_time(view, job))
    if not is_held(view):
        return hold(view, host, now)
    if host.power is not Power.OFF:
        return Decision((), (WaitingForPowerOff(name),), runs.all_time(view, job))
    if asked := confirm(now, (view.host.at, view.host.entry)):
        return asked
    return runs.record(view, structs.replace(job, state=RunState.DONE, power=PlugPower.OFF), now)


def trouble(view: FenceView, host: Host | None) -> str:
    """Why the host cannot be powered off through its operator; "" if it can."""
    if view.host.is_of_another:
        return "the Machine that names the node is another server's by its providerID"
    if mistaken(view):
        return runs.MISTAKEN
    if host is None or not view.host.is_own:
        return "the node's Machine names no BareMetalHost that names it back"
    if host.paused or host.detached:
        return "the host is paused or detached"
    if host.power_off_disabled or not host.online:
        return "the host may not be powered off, or is off on purpose"
    if host.unsettled:
        return f"the host {host.unsettled}"
    return ""


def hold(view: FenceView, host: Host, now: Now) -> Decision:
    assert view.host.at is not None
    assert view.machine is not None
    host_entry = (view.host.at, view.host.entry)
    if asked := confirm(now, (view.ref, view.entry), (view.node_at, view.node_entry), host_entry):
        return asked
    record = Hold(
        machine_uid=view.machine.uid,
        since=now.wall,
        node_uid=view.status.node_uid,
        boot_id=view.status.boot_id,
        owner=f"/{view.ref.name}",
        was_on=host.power is Power.ON,
    )
    assert isinstance(view.host.entry, Present)
    guard = Guard(host.uid, view.host.entry.resource_version)
    action = HoldHost(view.host.at, guard, view.fence.uid, record, is_fence=True)
    return Decision((action,), (HoldingHost(f"{view.host.at.namespace}/{view.host.at.name}"),))


def release(view: FenceView) -> Decision | None:
    """Let the host come on; None if nothing of ours holds it. One that cannot be read is waited for (`gates.py`)."""
    if not is_held(view):
        return None
    assert view.host.at is not None
    assert isinstance(view.host.entry, Present)
    guard = Guard(view.host.entry.obj.uid, view.host.entry.resource_version)
    action = ReleaseHost(view.host.at, guard, view.fence.uid, is_fence=True)
    return Decision((action,), (ReleasingHost(f"{view.host.at.namespace}/{view.host.at.name}"),))
