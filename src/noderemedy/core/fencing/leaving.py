"""A NodeFence that a person stops or deletes: how it ends, and when its finalizer goes.

Stopped: no new step, the run that is under way ends, power comes back, nothing more is freed, isolation stays.
Deleted, which is *release*: the same, and then isolation is undone and the object goes. A storage fence behind which
pods were freed stays until that boot is over: whoever lifted it earlier would let two nodes write (race R38). Another
boot shows that, a proof, or a person's word; that nothing is seen of the Node does not. What a Node carried that was
deleted is in the object, and in no other place: the object stays until the Node is back. A plan is not waited for that
went with the Node of a Machine which was replaced: a person is told what may be off.
"""

from __future__ import annotations

from noderemedy.core.fencing import devices, emptying, erring, recovery, runs
from noderemedy.core.fencing.automaton import Event
from noderemedy.core.fencing.moves import confirm, move
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.fencing.words import word_of
from noderemedy.model.actions import WriteFinalizers
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.fenceplan import Step
from noderemedy.model.ids import FENCE_REMEDIATION
from noderemedy.model.nodefence import FINALIZER, State
from noderemedy.model.reasons import (
    BackupKept,
    FenceReleased,
    FenceStopped,
    NodeUnreadable,
    StorageStaysFenced,
    WaitingForReady,
)
from noderemedy.model.room import Absent, Present, Unreadable
from noderemedy.model.run import Deed
from noderemedy.model.time import Now


def stopped(view: FenceView, now: Now) -> Decision:
    """In a flow that has begun, the error: when it is started again, it begins anew."""
    if on := erring.power_comes_back(view, now):
        return on
    state, reason = view.status.state, FenceStopped(view.name)
    if state in (State.NEW, State.RUNNING) and view.status.jobs:
        return move(view, Event.STEP_FAILED, now, reason, why="stopped by a person")
    return Decision((), (reason, *erring.dark(view)))


def released(view: FenceView, now: Now) -> Decision:
    if not view.fence.is_finalized_by_us:
        return NOTHING
    on = None if view.fence.is_final else erring.power_comes_back(view, now)
    if on is not None and (on.actions or not is_out_of_reach(view)):
        return on  # what is over was told: it goes, also where its configuration went with its node
    if devices.is_behind_storage_fence(view) and (stays := stays_fenced(view, now)):
        return stays
    return unfenced(view, now) or kept(view, now) or recovery.undo(view) or nothing_left(view, now) or drop(view)


def kept(view: FenceView, now: Now) -> Decision | None:
    """The only copy of what its Node carried waits for the Node; None where it is there, or never comes back.

    The very Node that was stored was never deleted, or a server that lags shows what we deleted: a live read tells.
    """
    backup, node = view.status.evidence.backup, view.node
    if backup is None or is_gone_for_good(view):
        return None
    if node is not None and not node.deleting:
        return confirm(now, (view.node_at, view.node_entry)) if node.uid == backup.node_uid else None
    due = view.entry.changed_at + view.fence.spec.node_ready_timeout
    return (
        Decision((), (WaitingForReady(view.name),), due) if now.mono < due else Decision((), (BackupKept(view.name),))
    )


def nothing_left(view: FenceView, now: Now) -> Decision | None:
    """A live read of the Node, before the last who knows of our cordon goes: a server that lags shows it without.

    On a Node that cannot be read the cordon may be, and nobody could undo it afterwards.
    """
    entry = view.node_entry
    if not view.fence.is_begun or view.fence.is_final or not view.is_in_sight:
        return None
    if isinstance(entry, Unreadable):
        return Decision((), (NodeUnreadable(view.name, entry.problem),))
    return confirm(now, (view.node_at, entry)) if isinstance(entry, Present) else None


def is_gone_for_good(view: FenceView) -> bool:
    """Its instance was ended with it, or its Machine goes; whoever asked for the fence of a Machine had one, and may
    have it still, where nobody here has ever read it.
    """
    is_terminated = view.fence.is_final or emptying.is_terminated(view)
    had_machine = view.fence.requested_by.startswith(FENCE_REMEDIATION.kind) and not view.has_unread_machine
    return is_terminated or (view.machine.deleting if view.machine is not None else had_machine)


def is_out_of_reach(view: FenceView) -> bool:
    """Whether nobody will say how to light its devices: the plan went with the Node, and that with its Machine."""
    is_missing = view.plan is None and isinstance(view.node_entry, Absent)
    return is_missing and not view.fence.is_final and is_gone_for_good(view)


def stays_fenced(view: FenceView, now: Now) -> Decision | None:
    """What keeps a storage fence behind which pods were freed; None if a live read shows that it may be lifted."""
    is_seen = isinstance(view.node_entry, Present | Absent)
    if not is_seen or not (view.has_booted or is_over(view)):
        return Decision((), (StorageStaysFenced(view.name),))
    return confirm(now, (view.node_at, view.node_entry))


def is_over(view: FenceView) -> bool:
    """Whether a person says that the boot behind a storage fence is over; or whether it was proven off, since the whole
    node was freed, and nobody has heard it since. That its plugs said off is no proof: they may be another machine's.
    """
    evidence, node = view.status.evidence, view.node
    proven_at = evidence.freed_at or evidence.freeing_since
    if word_of(view) is not None:
        return True
    if evidence.free_by is None or proven_at is None:
        return False
    return node is None or (node.silent_since is not None and node.silent_since <= proven_at)


def unfenced(view: FenceView, now: Now) -> Decision | None:
    """Let the node back to its storage, within the retries of a step; None if that is done or was not needed.

    Recovery may have used up its own retries before: whoever releases gets as many again.
    """
    for method in devices.cut_off(view):
        tried = runs.tries_of(view, Step.RECOVERY, method, Deed.ON)
        if len(tried) <= view.fence.spec.step_retries * 2 + 1:
            return erring.rest(view, len(tried), now) or runs.order(view, Step.RECOVERY, method, Deed.ON, now)
    return None


def drop(view: FenceView) -> Decision:
    kept = tuple(one for one in view.fence.finalizers if one != FINALIZER)
    write = WriteFinalizers(view.ref, view.guard, kept)
    left = () if view.fence.is_final else erring.dark(view, is_over=True)  # of what is over it was told
    return Decision((write,), (*left, FenceReleased(view.name)))
