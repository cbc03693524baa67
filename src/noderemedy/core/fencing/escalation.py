"""Fencing cannot help, so the owner of the machine is asked to replace it: the phase `deleting-machine`.

That is the beginning of a repair, whoever made the request and whether or not anything was fenced: one mistake in a
configuration makes all fences give up at once, before any of them has asked the budget. So budget and claim are asked
here, too, and nobody may have paused it. Until all gates are open the request stays where it is: should the fence live
again, or the machine get a node, fencing goes on.

The owner's request is OwnerRemediated=False, as of a Metal3Remediation, with HealthCheckSucceeded=False where nobody
says how the machine is. An owner of ours claims the node itself, and
could not if we held it: the claim is only ours where we delete the Machine with our own hands (OpenShift). The owner
has half an hour from when it was asked. Our word goes with the request where the machine is well again: nobody shall
replace it then, neither now nor at its next sickness.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import conditions
from noderemedy.core.fencing.moves import confirm
from noderemedy.core.fencing.requestgates import (
    ASKED,
    BEFORE_THE_BUDGET,
    BEFORE_THE_OWNER,
    budget_allows,
    is_deleted_by_us,
    is_owner_asked,
)
from noderemedy.core.fencing.requeststeps import enter
from noderemedy.core.fencing.requestview import NAME, RequestView, what_is_waited_for
from noderemedy.core.gates import Blocked, first
from noderemedy.core.resting import Turn, begin
from noderemedy.model.actions import DeleteMachine, Guard, WriteFinalizers, WriteMachineConditions
from noderemedy.model.budget import need
from noderemedy.model.decision import Decision
from noderemedy.model.fenceremediation import FINALIZER, FencePhase, FenceStrategy
from noderemedy.model.ids import Ref
from noderemedy.model.reasons import (
    Escalating,
    HostExternallyProvisioned,
    Reason,
    RemediationFailed,
    WaitingForBudget,
    WaitingForOwner,
)
from noderemedy.model.room import Entry, Present
from noderemedy.model.time import MINUTE, Now, Wall

OWNER_WITHIN = MINUTE * 30
ASKS = Turn()


def helpless(view: RequestView, why: str, now: Now) -> Decision:
    """Fencing cannot help: the owner's turn, once all gates are open, or a person's."""
    if view.request.strategy is not FenceStrategy.ESCALATE:
        return enter(view, FencePhase.FAILED, now, RemediationFailed(why), why=why)
    assert view.machine_at is not None
    escalated = enter(view, FencePhase.DELETING_MACHINE, now, Escalating(view.machine_at.name), why=why)
    wanted = blocked.decision(now) if (blocked := closed(view, now)) else escalated
    return asking(wanted, view, now) if is_owner_asked(view, now) else resting(wanted, view, now)


def resting(wanted: Decision, view: RequestView, now: Now) -> Decision:
    """The record of the owner's turn, or the claim, may be refused for good: then it keeps no place for ever."""
    assert view.machine_at is not None
    is_granted, name = budget_allows(view, now) is None, view.machine_at.name
    found, stands = begin(wanted, view.need, asked_since(view, now), now, name, is_granted=is_granted)
    return asking(found, view, now, stands)


def deleting_machine(view: RequestView, now: Now) -> Decision:
    """Ask the owner, and wait for the machine to go; that takes this request with it."""
    at = view.machine_at
    assert at is not None
    if reason := irreplaceable(view):
        return enter(view, FencePhase.FAILED, now, reason)
    due = owner_within(view)
    is_over = due is not None and now.wall >= due
    if is_owner_asked(view, now):
        late = failed(view, f"the owner of machine {at.name} did not replace it", now) if is_over else None
        return late or asking(wait_for_owner(view, due, now), view, now)
    blocked = closed(view, now)
    if is_over and (blocked or view.need is None):  # nobody has tried to ask until now: its time begins anew
        return asking(enter(view, FencePhase.DELETING_MACHINE, now, Escalating(at.name)), view, now)
    if is_over:
        return failed(view, f"the owner of machine {at.name} could not be asked to replace it", now)
    decision = (step_back(view, blocked, now) or blocked.decision(now)) if blocked else ask(view, now)
    return asking(decision, view, now)


def failed(view: RequestView, why: str, now: Now) -> Decision:
    return enter(view, FencePhase.FAILED, now, RemediationFailed(why))


def owner_within(view: RequestView) -> Wall | None:
    """Until when its owner has time: half an hour from when it was asked, as the Machine tells; a record asks nobody.

    Until it is asked, that is how long we try to.
    """
    machine, since = view.machine, view.request.status.since
    assert machine is not None
    told = (*machine.conditions, *machine.older_conditions)
    asked = [one.since for one in told if (one.type, one.status) == (ASKED.type, ASKED.status) and one.since]
    moments = [since, machine.deleted_at, min(asked, default=None)]
    latest = max((one for one in moments if one is not None), default=None)
    return latest + OWNER_WITHIN if latest is not None else None


def closed(view: RequestView, now: Now) -> Blocked | None:
    """The gate that keeps us from asking the owner; None where all are open, or where nobody is to be asked."""
    is_settled = irreplaceable(view) is not None or is_owner_asked(view, now)
    return None if is_settled else first(BEFORE_THE_OWNER, view, now)


def irreplaceable(view: RequestView) -> Reason | None:
    """Why a Machine that we would have to delete ourselves is not deleted: nothing would take its place."""
    machine, at = view.machine, view.machine_at
    if machine is None or at is None or machine.deleting or not is_deleted_by_us(view):
        return None
    if machine.controller is None:
        return RemediationFailed(f"machine {at.name} has no owner that would replace it")
    is_lost = isinstance(view.host, Present) and view.host.obj.externally_provisioned
    return HostExternallyProvisioned(at.name) if is_lost else None


def step_back(view: RequestView, blocked: Blocked, now: Now) -> Decision | None:
    """A gate closed after the phase was recorded: nothing was asked, so it waits where its time does not run out.

    None where it opens by itself: a successor has no answer and maybe no claim yet, and begins nothing anew.
    """
    if blocked.actions or isinstance(blocked.reason, WaitingForBudget):
        return None
    phase = FencePhase.FENCING if view.request.status.fence else FencePhase.NEW
    return enter(view, phase, now, blocked.reason)


def ask(view: RequestView, now: Now) -> Decision:
    """By a condition where owners read one, by deletion where they do not."""
    machine, at, entry = view.machine, view.machine_at, view.machine_entry
    assert machine is not None
    assert at is not None
    assert isinstance(entry, Present)
    reason = Escalating(at.name)
    if not is_deleted_by_us(view) and not view.request.is_finalized_by_us:  # who leaves a word takes it back
        return Decision((WriteFinalizers(view.ref, view.guard, (*view.request.finalizers, FINALIZER)),), (reason,))
    if not is_deleted_by_us(view):
        told = conditions.ask_owner(at, entry, ASKED, now)
        assert told is not None
        return Decision((told,), (reason,))
    if unread := confirm(now, *live(view, at)):
        return unread
    return Decision((DeleteMachine(at, Guard(machine.uid, entry.resource_version)),), (reason,))


def live(view: RequestView, at: Ref) -> list[tuple[Ref, Entry]]:
    """What is read live before a Machine is deleted: it, and its Node, if it has one."""
    node = [(view.node_at, view.node_entry)] if view.node_at is not None else []
    return [(at, view.machine_entry), *node]


def wait_for_owner(view: RequestView, due: Wall | None, now: Now) -> Decision:
    assert view.machine_at is not None
    return Decision((), (WaitingForOwner(view.machine_at.name),), now.until(due) if due is not None else None)


def taken_back(view: RequestView, now: Now) -> WriteMachineConditions | None:
    """Our own word to the owner, on a machine that is well again; what an owner or a check says there is theirs."""
    at, entry = view.machine_at, view.machine_entry
    if at is None or view.machine is None or not isinstance(entry, Present):
        return None
    return conditions.taken_back(at, entry, view.node, ASKED, now)


def asked_since(view: RequestView, now: Now) -> Wall:
    return view.need.since if view.need else view.request.created or now.wall


def asking(decision: Decision, view: RequestView, now: Now, stands: Turn = ASKS) -> Decision:
    """With the need of a repair: it waits until the owner was asked, and runs until the request is over.

    A health check's need for the same machine is the same ask: its place is ours. What is held back by more than the
    budget keeps nobody else waiting.
    """
    assert view.machine_at is not None
    is_running = is_owner_asked(view, now)
    if view.rival or irreplaceable(view) or (not is_running and first(BEFORE_THE_BUDGET, view, now)):
        return decision
    begins, since = "" if is_running else what_is_waited_for(view.request), asked_since(view, now)
    wanted = need(view.machine_at, NAME, since, is_running=is_running, node=view.node_at, begins=begins)
    return structs.replace(decision, facts=(stands.upon(wanted), *decision.facts))


def still_asking(decision: Decision, view: RequestView, now: Now) -> Decision:
    """The same for one that may not do anything just now: an owner that was asked has been asked."""
    is_asked = view.request.status.phase is FencePhase.DELETING_MACHINE and is_owner_asked(view, now)
    return asking(decision, view, now) if is_asked else decision
