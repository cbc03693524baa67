"""FenceRemediation: has the node of a health check's machine fenced, and tells what becomes of it (seed 004).

Called by the engine for every FenceRemediation. The work is the NodeFence's; here it is asked for, watched, and called
off when the request goes. When fencing did not help, the owner of the machine is asked to replace it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from noderemedy.core import conditions
from noderemedy.core.fencing.requestview import INDEXES, NAME, WATCHES, RequestView, concerned, sees
from noderemedy.core.gates import Blocked, first, passages, unpaused
from noderemedy.core.safety import is_confirmed
from noderemedy.model.actions import (
    Confirm,
    CreateNodeFence,
    DeleteMachine,
    DeleteNodeFence,
    Guard,
    PublishRequestStatus,
    WriteFinalizers,
    WriteMachineConditions,
)
from noderemedy.model.checkstatus import SUCCEEDED, Told
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.fenceremediation import FINALIZER, FencePhase, FenceStrategy, RequestStatus
from noderemedy.model.ids import OPENSHIFT_MACHINE
from noderemedy.model.machineconditions import OWNER_REMEDIATED, WARNING, Graded
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.reasons import (
    ClusterPaused,
    ConfirmFirst,
    Escalating,
    FenceAsked,
    FenceCalledOff,
    FenceInvalid,
    FenceTaken,
    Reason,
    RemediatedMachineMissing,
    RemediationFailed,
    RemediationSucceeded,
    WaitingForFence,
    WaitingForOwner,
)
from noderemedy.model.room import Absent, Passage, Present, Room
from noderemedy.model.time import MINUTE, Now

OWNER_WITHIN = MINUTE * 30
ASKED = Graded(
    OWNER_REMEDIATED, "False", "WaitingForRemediation", "fencing by a FenceRemediation did not help", severity=WARNING
)
# What the condition Succeeded says in each phase.
WORDS: dict[FencePhase, tuple[str, str]] = {
    FencePhase.NEW: ("Unknown", "Waiting"),
    FencePhase.FENCING: ("Unknown", "InProgress"),
    FencePhase.RECOVERED: ("True", "NodeReady"),
    FencePhase.DELETING_MACHINE: ("False", "Escalated"),
    FencePhase.FAILED: ("False", "Failed"),
}


# --- gates -------------------------------------------------------------------------------------------------------


def request_is_valid(view: RequestView, now: Now) -> Blocked | None:
    problems = view.request.problems
    return Blocked(FenceInvalid(str(view.ref), "; ".join(problems))) if problems else None


def machine_is_there(view: RequestView, now: Now) -> Blocked | None:
    return None if view.machine is not None else Blocked(RemediatedMachineMissing(str(view.machine_at)))


def cluster_is_not_paused(view: RequestView, now: Now) -> Blocked | None:
    """`cluster.x-k8s.io/paused` on the request or its machine, or a paused Cluster: not a single write."""
    of_machine = view.machine is not None and view.machine.cluster_paused
    return Blocked(ClusterPaused()) if view.request.cluster_paused or of_machine or view.is_cluster_paused else None


def nobody_paused_it(view: RequestView, now: Now) -> Blocked | None:
    return unpaused(now, view.request.paused, view.machine.paused if view.machine else None)


GATES = (request_is_valid, machine_is_there, cluster_is_not_paused)
BEFORE_THE_FENCE = (nobody_paused_it,)


def explain(view: RequestView, now: Now) -> tuple[Passage, ...]:
    return () if view.request.is_ended or view.request.deleting else passages((*GATES, *BEFORE_THE_FENCE), view, now)


# --- decisions ---------------------------------------------------------------------------------------------------


def decide(view: RequestView, now: Now) -> Decision:
    if view.request.deleting:
        return leave(view)
    if blocked := first(GATES, view, now):
        return blocked.decision(now)
    return PHASES[view.request.status.phase](view, now)


def new(view: RequestView, now: Now) -> Decision:
    """Nothing has begun: the finalizer comes first, then what shall be made is recorded."""
    if blocked := first(BEFORE_THE_FENCE, view, now):
        return blocked.decision(now)
    if view.node_at is None:
        return helpless(view, "its machine has no node that could be fenced", now)
    if not view.request.is_finalized_by_us:
        write = WriteFinalizers(view.ref, view.guard, (*view.request.finalizers, FINALIZER))
        return Decision((write,), (FenceAsked(view.node_at.name),))
    return enter(view, FencePhase.FENCING, now, FenceAsked(view.node_at.name), fence=view.fence_at.name)


def fencing(view: RequestView, now: Now) -> Decision:
    status, fence = view.request.status, view.fence
    if fence is None:
        return absent(view, now)
    if not view.is_ours:
        return taken(view, fence)
    if status.fence_uid not in ("", fence.uid):
        return enter(view, FencePhase.FAILED, now, RemediationFailed("another NodeFence has taken its place"))
    told = (fence.uid, fence.status.state.value, fence.status.step.value)
    if (status.fence_uid, status.state, status.step) != told:
        seen = structs.replace(status, fence_uid=fence.uid, state=told[1], step=told[2])
        return publish(view, seen, now, WaitingForFence(fence.spec.node, fence.status.state.value))
    if fence.is_final:
        return enter(view, FencePhase.RECOVERED, now, RemediationSucceeded(fence.spec.node))
    if fence.is_given_up:
        return helpless(view, "the node could not be fenced, or did not come back", now)
    return Decision((), (WaitingForFence(fence.spec.node, fence.status.state.value),))


def absent(view: RequestView, now: Now) -> Decision:
    """Make it; one that was there and is gone was released by a person."""
    assert view.node_at is not None
    if view.request.status.fence_uid:
        return enter(view, FencePhase.FAILED, now, RemediationFailed("its NodeFence was released by somebody"))
    if not isinstance(view.fence_entry, Absent):
        return Decision((), (WaitingForFence(view.node_at.name, "unseen"),))
    if not is_confirmed(view.fence_entry, now):
        return Decision((Confirm(view.fence_at),), (ConfirmFirst(str(view.fence_at)),))
    if blocked := first(BEFORE_THE_FENCE, view, now):
        return blocked.decision(now)
    spec = structs.replace(view.request.spec, node=view.node_at.name, cluster=view.node_at.cluster, even_if_ready=True)
    return Decision((CreateNodeFence(view.fence_at, spec, view.signature),), (FenceAsked(view.node_at.name),))


def taken(view: RequestView, fence: NodeFence) -> Decision:
    """Somebody else's fence of this node: one that is over makes room for a new episode, any other is awaited."""
    is_over = fence.is_final or (fence.is_given_up and view.is_of_a_predecessor)
    if is_over and not fence.deleting:
        assert isinstance(view.fence_entry, Present)
        guard = Guard(fence.uid, view.fence_entry.resource_version)
        return Decision((DeleteNodeFence(view.fence_at, guard),), (FenceTaken(fence.spec.node, fence.requested_by),))
    return Decision((), (FenceTaken(fence.spec.node, fence.requested_by),))


def recovered(view: RequestView, now: Now) -> Decision:
    return Decision((), (RemediationSucceeded(view.node_at.name if view.node_at else ""),))


def failed(view: RequestView, now: Now) -> Decision:
    return Decision((), (RemediationFailed("fencing did not help"),))


def helpless(view: RequestView, why: str, now: Now) -> Decision:
    """Fencing cannot help: the owner's turn, or a person's."""
    is_escalated = view.request.strategy is FenceStrategy.ESCALATE
    phase = FencePhase.DELETING_MACHINE if is_escalated else FencePhase.FAILED
    assert view.machine_at is not None
    reason: Reason = Escalating(view.machine_at.name) if is_escalated else RemediationFailed(why)
    return enter(view, phase, now, reason, why=why)


def deleting_machine(view: RequestView, now: Now) -> Decision:
    """Ask the owner, and wait for the machine to go; that takes this request with it."""
    machine, at, entry = view.machine, view.machine_at, view.machine_entry
    assert machine is not None
    assert at is not None
    assert isinstance(entry, Present)
    since = view.request.status.since
    if since is not None and now.wall >= since + OWNER_WITHIN:
        why = f"the owner of machine {at.name} did not replace it"
        return enter(view, FencePhase.FAILED, now, RemediationFailed(why))
    if machine.deleting:
        return wait_for_owner(view, now)
    if at.kind != OPENSHIFT_MACHINE:
        told = conditions.write(at, entry, (ASKED,), now)
        return Decision((told,), (Escalating(at.name),)) if told else wait_for_owner(view, now)
    if machine.controller is None:
        why = f"machine {at.name} has no owner that would replace it"
        return enter(view, FencePhase.FAILED, now, RemediationFailed(why))
    if not is_confirmed(entry, now):
        return Decision((Confirm(at),), (ConfirmFirst(str(at)),))
    return Decision((DeleteMachine(at, Guard(machine.uid, entry.resource_version)),), (Escalating(at.name),))


def wait_for_owner(view: RequestView, now: Now) -> Decision:
    since = view.request.status.since
    assert view.machine_at is not None
    return Decision((), (WaitingForOwner(view.machine_at.name),), now.until(since + OWNER_WITHIN) if since else None)


PHASES: dict[FencePhase, Callable[[RequestView, Now], Decision]] = {
    FencePhase.NEW: new,
    FencePhase.FENCING: fencing,
    FencePhase.RECOVERED: recovered,
    FencePhase.DELETING_MACHINE: deleting_machine,
    FencePhase.FAILED: failed,
}


def leave(view: RequestView) -> Decision:
    """The request is deleted: its fence is released, and when that is over, our finalizer goes.

    A fence that is over stays for whoever wants to read it; somebody else's is none of ours.
    """
    fence = view.fence
    if not view.request.is_finalized_by_us:
        return NOTHING
    if fence is not None and view.is_ours and not fence.is_final:
        reason = FenceCalledOff(fence.spec.node)
        if fence.deleting:
            return Decision((), (reason,))
        assert isinstance(view.fence_entry, Present)
        guard = Guard(fence.uid, view.fence_entry.resource_version)
        return Decision((DeleteNodeFence(view.fence_at, guard),), (reason,))
    kept = tuple(one for one in view.request.finalizers if one != FINALIZER)
    name = view.node_at.name if view.node_at is not None else view.ref.name
    return Decision((WriteFinalizers(view.ref, view.guard, kept),), (FenceCalledOff(name),))


# --- telling -----------------------------------------------------------------------------------------------------


def enter(
    view: RequestView, phase: FencePhase, now: Now, reason: Reason, *, fence: str | None = None, why: str = ""
) -> Decision:
    old = view.request.status
    status = structs.replace(
        old,
        phase=phase,
        since=now.wall,
        machine_uid=view.machine.uid if view.machine else old.machine_uid,
        fence=old.fence if fence is None else fence,
    )
    return publish(view, status, now, reason, why=why)


def publish(view: RequestView, status: RequestStatus, now: Now, reason: Reason, *, why: str = "") -> Decision:
    said, word = WORDS[status.phase]
    told = Told(SUCCEEDED, said, word, why or f"{status.phase.value} {status.state}".strip())
    written = structs.replace(
        status,
        generation=view.request.generation,
        conditions=conditions.merged(status.conditions, (told,), str(now.wall)),
    )
    return Decision((PublishRequestStatus(view.ref, view.guard, written),), (reason,))


ROOM = Room(
    name=NAME,
    watches=WATCHES,
    indexes=INDEXES,
    wakes=concerned,
    sees=sees,
    decide=decide,
    may=frozenset(
        {
            Confirm,
            CreateNodeFence,
            DeleteMachine,
            DeleteNodeFence,
            PublishRequestStatus,
            WriteFinalizers,
            WriteMachineConditions,
        }
    ),
    explains=explain,
)
