"""FenceRemediation: has the node of a health check's machine fenced, and tells what becomes of it (seed 004).

Called by the engine for every FenceRemediation. The work is the NodeFence's; here it is asked for, watched, and called
off when the request goes. When fencing did not help, the owner of the machine is asked to replace it
(`escalation.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from noderemedy.core.fencing.escalation import deleting_machine, helpless, still_asking, taken_back
from noderemedy.core.fencing.requestgates import BEFORE_THE_FENCE, GATES, cluster_is_not_paused, explain
from noderemedy.core.fencing.requeststeps import enter, publish
from noderemedy.core.fencing.requestview import INDEXES, NAME, WATCHES, RequestView, concerned, sees
from noderemedy.core.gates import first
from noderemedy.core.safety import is_confirmed
from noderemedy.core.slots import settled
from noderemedy.core.takingback import before_it_goes, memory
from noderemedy.model.actions import (
    ClaimRepair,
    Confirm,
    CreateNodeFence,
    DeleteMachine,
    DeleteNodeFence,
    Guard,
    PublishRequestStatus,
    WriteFinalizers,
    WriteMachineConditions,
)
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.fenceremediation import FINALIZER, FencePhase
from noderemedy.model.ids import NODE
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.reasons import (
    ConfirmFirst,
    FenceAsked,
    FenceCalledOff,
    FenceTaken,
    OwnerAskedNoMore,
    RemediationFailed,
    RemediationSucceeded,
    WaitingForFence,
)
from noderemedy.model.room import Absent, Present, Room, Unreadable
from noderemedy.model.time import Now


def decide(view: RequestView, now: Now) -> Decision:
    return settled(told(view, now), view.need, now)


def told(view: RequestView, now: Now) -> Decision:
    """What is to be done, gate after gate; then what the phase says."""
    if view.request.deleting:
        paused = cluster_is_not_paused(view, now)
        return still_asking(paused.decision(now), view, now) if paused else leave(view, now)
    if blocked := first(GATES, view, now):
        return still_asking(blocked.decision(now), view, now)
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
    known = (fence.uid, fence.status.state.value, fence.status.step.value)
    if (status.fence_uid, status.state, status.step) != known:
        seen = structs.replace(status, fence_uid=fence.uid, state=known[1], step=known[2])
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


PHASES: dict[FencePhase, Callable[[RequestView, Now], Decision]] = {
    FencePhase.NEW: new,
    FencePhase.FENCING: fencing,
    FencePhase.RECOVERED: recovered,
    FencePhase.DELETING_MACHINE: deleting_machine,
    FencePhase.FAILED: failed,
}


def leave(view: RequestView, now: Now) -> Decision:
    """The request is deleted: its fence is released, its word goes, and when that is over, our finalizer goes."""
    if not view.request.is_finalized_by_us:
        return NOTHING
    word = taken_back(view, now)
    machine = view.machine_at.name if view.machine_at is not None else ""
    wanted = called_off(view)
    decision = before_it_goes(wanted, word, view.taking_back, now, OwnerAskedNoMore(machine))
    return structs.replace(decision, facts=memory(view.ref, word, wanted))


def called_off(view: RequestView) -> Decision:
    """A fence that is over stays for whoever wants to read it; somebody else's is none of ours.

    One that cannot be read may be in the middle of its work: nobody would call it off when this request has gone.
    """
    fence = view.fence
    name = view.node_at.name if view.node_at is not None else view.ref.name
    if isinstance(view.fence_entry, Unreadable):
        return Decision((), (WaitingForFence(name, "unreadable"),))
    if fence is not None and view.is_ours and not fence.is_final:
        reason = FenceCalledOff(fence.spec.node)
        if fence.deleting:
            return Decision((), (reason,))
        assert isinstance(view.fence_entry, Present)
        guard = Guard(fence.uid, view.fence_entry.resource_version)
        return Decision((DeleteNodeFence(view.fence_at, guard),), (reason,))
    kept = tuple(one for one in view.request.finalizers if one != FINALIZER)
    return Decision((WriteFinalizers(view.ref, view.guard, kept),), (FenceCalledOff(name),))


ROOM = Room(
    name=NAME,
    watches=WATCHES,
    indexes=INDEXES,
    wakes=concerned,
    secondary=(NODE,),
    sees=sees,
    decide=decide,
    may=frozenset(
        {
            ClaimRepair,
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
