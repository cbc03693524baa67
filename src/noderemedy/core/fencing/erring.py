"""The state error: power comes back, then the flow begins anew, or waits for the node, a person's word, or a person.

Whatever was switched off is switched on again within the retries of a step, so that an error never leaves a node dark
that the configuration would light. What does not come on is told.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing import automaton, devices, hostpower, isolation, runs
from noderemedy.core.fencing.automaton import Event
from noderemedy.core.fencing.emptying import is_terminated
from noderemedy.core.fencing.gates import BEFORE_ANEW, USABLE, Gate, budget_allows, one_repair_per_node
from noderemedy.core.fencing.moves import confirm, move, moved, publish, saying
from noderemedy.core.fencing.needs import asking
from noderemedy.core.fencing.patience import pause
from noderemedy.core.fencing.planless import is_mended, spend, unusable
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.fencing.wellness import is_well, may_be_well, well_at
from noderemedy.core.fencing.words import revives, word_of
from noderemedy.core.gates import first
from noderemedy.model.checkstatus import SUCCEEDED
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Step
from noderemedy.model.reasons import (
    DeviceAstray,
    FenceDelayed,
    FencedNodeMissing,
    FencedNodeReplaced,
    FenceGivenUp,
    LeftCutOff,
    PowerLeftOff,
    Reason,
    StorageStaysFenced,
)
from noderemedy.model.run import Deed, RunState
from noderemedy.model.time import Mono, Now

MENDED, NEXT_START, AWAY = "its plan can be used", "the next start of the flow", "its Node did not come back"


def error(view: FenceView, now: Now) -> Decision:
    if on := lit(view, now):
        return on
    if is_well(view, now) and not has_recovery_failed(view):
        return move(view, Event.NODE_READY, now)
    if revives(view):
        return attested(view, now)
    if view.fence.is_given_up and not is_mended(view, now):
        return given_up(view, now)
    if not view.fence.is_begun:
        return anew(view, now)
    if not view.is_same_node and view.status.evidence.backup is None and not is_well(view, now):
        told = (FencedNodeReplaced(view.name), *kept_from_storage(view), *dark(view))
        return Decision((), told, back_at(view, now))
    return restart(view, now)


def attested(view: FenceView, now: Now) -> Decision:
    """A person solved what devices could not: back to freeing, with the boot that the word is about."""
    word = word_of(view)
    assert word is not None
    fresh = structs.replace(view.status.evidence, on_since=None, freeing_since=None, heard_since=None)
    status = automaton.after(structs.replace(view.status, evidence=fresh), Event.ATTESTED, now)
    why = f"{word.by} attests that the node is off"
    return publish(view, saying(status, Event.ATTESTED, why, now), moved(view, status, Event.ATTESTED, why))


def anew(view: FenceView, now: Now) -> Decision:
    """It was given up before it had begun, for want of a plan, and has one now: as if it had just been made."""
    status = structs.replace(automaton.after(view.status, Event.RESTART, now), restarts=0)
    return publish(view, saying(status, Event.RESTART, MENDED, now), moved(view, status, Event.RESTART, MENDED))


def restart(view: FenceView, now: Now) -> Decision:
    """Whatever keeps a fence from beginning is asked again."""
    if waits := rests(view, now):
        moments = [at for at in (waits.wake_at, back_at(view, now)) if at is not None]
        told = () if is_terminated(view) else dark(view)  # off is what it shall be; the next start goes on with it
        return structs.replace(waits, because=(*waits.because, *told), wake_at=min(moments))
    if blocked := first(BEFORE_ANEW, view, now):
        return away(view, now) if isinstance(blocked.reason, FencedNodeMissing) else blocked.decision(now)
    if waits := unusable(view, now):
        return waits
    if is_well(view, now):
        return begins_anew(view, now, (one_repair_per_node,), Event.NODE_READY)
    return asking(begins_anew(view, now, (budget_allows, one_repair_per_node)), view, now)


def begins_anew(view: FenceView, now: Now, gates: tuple[Gate, ...], also: Event | None = None) -> Decision:
    """Budget and claim, then the next start is recorded. Of a node that is well only the recovery begins anew: nothing
    goes off by that, so the budget is not asked, whose answer may wait for this very repair to end.
    """
    if blocked := first(gates, view, now):
        return blocked.decision(now)
    if devices.is_behind_storage_fence(view) and (asked := confirm(now, (view.node_at, view.node_entry))):
        return asked  # whether it is the boot that was cut off is known by this Node from now on
    status = automaton.after(isolation.begun(view, now), Event.RESTART, now)
    status = structs.replace(status, restarts=min(status.restarts, view.fence.spec.max_restarts))
    why = f"start {status.restarts + 1}"
    event = also or Event.RESTART
    status = automaton.after(status, also, now) if also else status
    return publish(view, saying(status, event, why, now), moved(view, status, event, why))


def away(view: FenceView, now: Now) -> Decision:
    """The Node was deleted and has not come back: there is nothing to begin with, and whoever asked is told so."""
    return spend(view, AWAY, FencedNodeMissing(view.name), now)


def rests(view: FenceView, now: Now) -> Decision | None:
    """The pause before the next start. One whose plan was mended may just have been lit: it is given time to boot."""
    span = automaton.next_restart(view.status, view.fence.spec)
    if span is not None:
        return pause(view, view.status.since or now.wall, span, NEXT_START, now)
    due = view.entry.changed_at + view.fence.spec.node_ready_timeout
    return Decision((), (FenceDelayed(NEXT_START, now.wall + due.since(now.mono)),), due) if now.mono < due else None


def given_up(view: FenceView, now: Now) -> Decision:
    told = view.status.told(SUCCEEDED)
    reason = FenceGivenUp(view.name, view.status.step.value, told.message if told else "")
    return Decision((), (reason, *dark(view)), back_at(view, now))


def back_at(view: FenceView, now: Now) -> Mono | None:
    """When a node that has just come back by itself counts as back; None if it has not, or if that helps nobody."""
    return well_at(view, now) if may_be_well(view, now) and not has_recovery_failed(view) else None


def has_recovery_failed(view: FenceView) -> bool:
    """Whether it was recovery itself that failed: a node that is well does not make it succeed."""
    return any(job.step is Step.RECOVERY and job.state is RunState.FAILED for job in view.status.jobs)


# --- power -------------------------------------------------------------------------------------------------------


def lit(view: FenceView, now: Now) -> Decision | None:
    """Power comes back. By a plan that cannot be used it does not, and that is not waited for without an end."""
    on = power_comes_back(view, now)
    is_held = on is not None and not on.actions and first(USABLE, view, now) is not None
    return (unusable(view, now) or on) if is_held else on


def power_comes_back(view: FenceView, now: Now) -> Decision | None:
    """Order what switches on what we switched off; None if all is on, or does not come on."""
    if released := hostpower.release(view):
        return released
    if devices.unlit(view) and (blocked := first(USABLE, view, now)):
        return blocked.decision(now)  # only its plan says how; by a broken one it may be another node's device
    for method in devices.left_off(view):
        failed = len(failures(view, method))
        if failed <= view.fence.spec.step_retries:
            return rest(view, failed, now) or runs.order(view, Step.POWER_MANAGEMENT, method, Deed.ON, now)
    return None


def rest(view: FenceView, failed: int, now: Now) -> Decision | None:
    """A device that has just failed is given a moment, longer with every time; None where it was, or has not."""
    due = view.entry.changed_at + automaton.rest(failed)  # the last that was written is how it failed
    if not failed or now.mono >= due:
        return None
    return Decision((), (FenceDelayed("the next try to switch on", now.wall + due.since(now.mono)),), due)


def failures(view: FenceView, method: AgentMethod) -> list[object]:
    jobs = devices.jobs_of(view, method)
    return [job for job in jobs if job.deed is Deed.ON and job.state is RunState.FAILED]


def dark(view: FenceView, *, is_over: bool = False) -> tuple[Reason, ...]:
    """What stays off, for a person: by what was done, whatever the plan has. What recovery, or a release, would let in
    again is left only when that is over, too.
    """
    left = devices.stays_off(view, is_over=is_over)
    power = ", ".join(job.method for job in left if devices.is_power(job))
    cut = ", ".join(job.method for job in left if not devices.is_power(job))
    return (
        *((PowerLeftOff(view.name, power),) if power else ()),
        *((LeftCutOff(view.name, cut),) if cut else ()),
        *strayed(view),
    )


def kept_from_storage(view: FenceView) -> tuple[Reason, ...]:
    """What only another boot opens, for a person."""
    is_kept = devices.is_behind_storage_fence(view) and not view.has_booted
    return (StorageStaysFenced(view.name),) if is_kept else ()


def strayed(view: FenceView) -> tuple[Reason, ...]:
    """What stays off because the configuration was pointed at another device."""
    lost = devices.astray(view)
    return (DeviceAstray(view.name, ", ".join(job.method for job in lost)),) if lost else ()
