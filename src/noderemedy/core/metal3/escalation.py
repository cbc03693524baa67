"""The phase `deleting-machine`: power cycling did not help, so the owner is asked to replace the machine.

The request is OwnerRemediated=False in both generations of conditions: current owners look at the newer one only, and
act where HealthCheckSucceeded is False, too, so that is said along where no health check says anything. The host is
marked, or the next machine would get it. On OpenShift nobody reads conditions: there the Machine itself is deleted, if
it has an owner that replaces it, and a host that its provider would choose again. Nothing of this is done while
request, Machine or Node is paused, while the Node is out of sight, or while the budget lets nothing begin: that may
have come after the phase was recorded.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import conditions
from noderemedy.core.gates import Blocked, first
from noderemedy.core.metal3 import patience, phases
from noderemedy.core.metal3.remediationgates import ASKED, UNHINDERED, is_asked, owner_may_be_asked
from noderemedy.core.metal3.remediationview import MARK, RemediationView
from noderemedy.core.metal3.steps import confirm_first, host_guard, is_back, publish, release, wait
from noderemedy.core.metal3.view import MachineView
from noderemedy.core.slots import soonest
from noderemedy.model.actions import DeleteMachine, Guard, MarkHostUnhealthy
from noderemedy.model.decision import Decision
from noderemedy.model.host import MarkName
from noderemedy.model.ids import MACHINE, OPENSHIFT_MACHINE
from noderemedy.model.reasons import (
    Escalating,
    HostExternallyProvisioned,
    HostMarkedUnhealthy,
    Reason,
    RemediationFailed,
    WaitingForBudget,
    WaitingForOwner,
)
from noderemedy.model.remediation import Phase
from noderemedy.model.time import Now


def deleting_machine(view: RemediationView, now: Now) -> Decision:
    """Ask the owner, mark the host, and wait for the machine to go; that takes this request with it."""
    of = view.machine
    assert of is not None
    assert of.host_at is not None
    if released := release(view):
        return released
    if patience.is_overdue(view, now):
        why = f"the owner of machine {of.ref.name} did not replace it"
        return publish(view, phases.enter(view.remediation, Phase.FAILED, now), RemediationFailed(why))
    if reason := irreplaceable(view):
        return publish(view, phases.enter(view.remediation, Phase.FAILED, now), reason)
    if not is_asked(of, now) and (blocked := first(UNHINDERED, view, now)):
        return held_back(view, blocked, now)
    if blocked := owner_may_be_asked(view, now):
        return step_back(view, blocked, now) or held_back(view, blocked, now)
    if not of.machine.deleting and (asked := ask(view, of, now)):
        return asked
    if (free := free_names(view)) and not is_back(view):
        mark = MarkHostUnhealthy(of.host_at, host_guard(view), free, f"{MARK}/{view.ref.name}")
        return Decision((mark,), (HostMarkedUnhealthy(view.host_name),))
    return wait(view, now, WaitingForOwner(of.ref.name))


def irreplaceable(view: RemediationView) -> Reason | None:
    """Why a Machine that we would have to delete ourselves is not deleted: nothing would take its place."""
    of = view.machine
    assert of is not None
    if of.ref.kind != OPENSHIFT_MACHINE:
        return None
    if of.machine.controller is None:
        return RemediationFailed(f"machine {of.ref.name} has no owner that would replace it")
    return HostExternallyProvisioned(of.ref.name) if view.host.externally_provisioned else None


def free_names(view: RemediationView) -> tuple[MarkName, ...]:
    """By which names nobody has marked the host yet: a provider reads one, and which one it is we cannot know."""
    taken = {name for name, _ in view.host.unhealthy}
    return tuple(name for name in MarkName if name not in taken)


def held_back(view: RemediationView, blocked: Blocked, now: Now) -> Decision:
    """Paused, or out of sight, between the record and the act. Should that last, it is a person's business anyway."""
    waits, opens = wait(view, now, blocked.reason), blocked.decision(now).wake_at
    return structs.replace(waits, wake_at=soonest(waits.wake_at, opens))


def step_back(view: RemediationView, blocked: Blocked, now: Now) -> Decision | None:
    """A storm came after the record: nobody was asked, so it waits where its time does not run out.

    None where the budget has not answered yet: so it is for a successor.
    """
    if isinstance(blocked.reason, WaitingForBudget):
        return None
    return publish(view, phases.enter(view.remediation, Phase.WAITING, now), blocked.reason)


def ask(view: RemediationView, of: MachineView, now: Now) -> Decision | None:
    """By a condition where owners read one, by deletion where they do not; None if that is done.

    The host is marked before a Machine is deleted: afterwards nobody would know which one it was.
    """
    if of.ref.kind == MACHINE:
        told = conditions.ask_owner(of.ref, of.entry, ASKED, now) if not is_asked(of, now) else None
        return Decision((told,), (Escalating(of.ref.name),)) if told else None
    if free_names(view) and not is_back(view):
        return None
    if asked := confirm_first(view, now, machine=True):
        return asked
    guard = Guard(of.machine.uid, of.entry.resource_version)
    return Decision((DeleteMachine(of.ref, guard),), (Escalating(of.ref.name),))
