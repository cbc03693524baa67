"""A Metal3Remediation that somebody deleted: how it ends, and when its finalizer goes.

Before the power-off was asked for it is called off. Afterwards nothing more is freed: the hold goes, the host comes on,
our taint goes, then the finalizer. A host that does not come on holds nobody up for longer than its
`powerOnTimeoutSeconds`: an alert is raised, and the request goes all the same (invariant L7). Our word to the owner
goes before it, where the machine is well again (`core/takingback.py`).
"""

from __future__ import annotations

from noderemedy.core import conditions, takingback
from noderemedy.core.gates import first
from noderemedy.core.metal3 import patience, phases
from noderemedy.core.metal3.remediationgates import ASKED, BEFORE_ANYTHING
from noderemedy.core.metal3.remediationview import RemediationView
from noderemedy.core.metal3.steps import confirm_first, publish, release, untaint, wait
from noderemedy.model.actions import WriteFinalizers, WriteMachineConditions
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.host import Power
from noderemedy.model.reasons import (
    NodeOutOfSight,
    OwnerAskedNoMore,
    PowerOnOverdue,
    Reason,
    RemediationCancelled,
    RemediationLeaves,
    TaintMayStay,
    WaitingForPowerOn,
)
from noderemedy.model.remediation import FINALIZER, Phase
from noderemedy.model.room import Unreadable, Unseen
from noderemedy.model.time import Now

BEFORE_POWER_ON = (Phase.POWER_OFF, Phase.FREEING)


def decide(view: RemediationView, now: Now) -> Decision:
    remediation = view.remediation
    if not remediation.is_finalized_by_us:
        return release(view) or NOTHING
    machine = view.machine.ref.name if view.machine is not None else ""
    word = taken_back(view, now)
    return takingback.before_it_goes(ended(view, now), word, view.taking_back, now, OwnerAskedNoMore(machine))


def ended(view: RemediationView, now: Now) -> Decision:
    """How it ends, whatever was said to whom."""
    remediation = view.remediation
    phase = remediation.progress.phase
    if phase is Phase.NEW or (phase is Phase.POWER_OFF and not view.held):
        return cancelled(view, now)
    if phase in BEFORE_POWER_ON:
        return publish(view, phases.enter(remediation, Phase.POWER_ON, now))
    return release(view) or stated(view, now)


def taken_back(view: RemediationView, now: Now) -> WriteMachineConditions | None:
    """Our own word to the owner of a machine that is well; what an owner or a check says there is theirs."""
    of = view.machine
    return conditions.taken_back(of.ref, of.entry, view.node, ASKED, now) if of is not None else None


def memory(view: RemediationView, now: Now) -> tuple[Fact, ...]:
    """Since when it tries to take its word back; where nothing may be written it does not try."""
    remediation = view.remediation
    is_leaving = remediation.deleting and remediation.is_finalized_by_us and not first(BEFORE_ANYTHING, view, now)
    return takingback.memory(view.ref, taken_back(view, now), ended(view, now)) if is_leaving else ()


def cancelled(view: RemediationView, now: Now) -> Decision:
    """Nothing was done, as far as we see; the host is read live, for another leader may have held it."""
    has_host = view.machine is not None and view.machine.host is not None
    if has_host and (asked := confirm_first(view, now, host=True)):
        return asked
    return untaint(view) or unseen(view, now) or drop(view, RemediationCancelled())


def stated(view: RemediationView, now: Now) -> Decision:
    """Released. The request goes when the host is on, when it cannot come on, or when that is not ours to know."""
    remediation = view.remediation
    machine = view.machine
    host = machine.host if machine is not None and machine.is_consumer else None
    is_waited_for = host is not None and host.online and host.power is not Power.ON
    if remediation.progress.phase is not Phase.POWER_ON or not is_waited_for:
        power = host.power.value if host is not None else "not ours"
        return untaint(view) or unseen(view, now) or drop(view, *left(view), RemediationLeaves(power))
    assert host is not None
    if not patience.is_overdue(view, now):
        return wait(view, now, WaitingForPowerOn(view.host_name))
    assert remediation.progress.since is not None
    overdue = PowerOnOverdue(view.host_name, remediation.progress.since, host.error)
    return untaint(view) or unseen(view, now) or drop(view, overdue, *left(view), RemediationLeaves(host.power.value))


def unseen(view: RemediationView, now: Now) -> Decision | None:
    """Our taint may be on a Node that cannot be seen now: that is waited for, as long as for a host to come on."""
    due = view.entry.changed_at + view.remediation.on_within
    reasons = left(view)
    return Decision(because=(NodeOutOfSight(view.node_name),), wake_at=due) if reasons and now.mono < due else None


def left(view: RemediationView) -> tuple[Reason, ...]:
    """What is told when we leave without having seen the Node that we have tainted."""
    is_hidden = view.machine is not None and isinstance(view.machine.node_entry, Unreadable | Unseen)
    is_tainted = view.remediation.progress.evidence.tainted_at is not None
    return (TaintMayStay(view.node_name),) if is_hidden and is_tainted else ()


def drop(view: RemediationView, *reasons: Reason) -> Decision:
    kept = tuple(one for one in view.remediation.finalizers if one != FINALIZER)
    return Decision((WriteFinalizers(view.ref, view.guard, kept),), reasons)
