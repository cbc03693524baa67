"""The state done: wait for the node, then undo what was done to it, and only that (invariant S13).

A storage fence is lifted only here, behind the question whether it is another boot (race R38).
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import freeing
from noderemedy.core.backup import restore
from noderemedy.core.fencing import attempts, devices, erring, patience
from noderemedy.core.fencing.automaton import Event
from noderemedy.core.fencing.emptying import is_terminated
from noderemedy.core.fencing.gates import USABLE, nobody_paused_it, plan_is_sound
from noderemedy.core.fencing.moves import confirm, move, noted
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.fencing.wellness import is_well, may_be_well, well_at
from noderemedy.core.gates import first
from noderemedy.model.actions import DeleteMachine, Guard, UncordonNode, UntaintOutOfService
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Step
from noderemedy.model.node import Node
from noderemedy.model.reasons import (
    FenceSucceeded,
    InstanceLeft,
    NodeTerminated,
    NodeWhole,
    Reason,
    RemovingInstance,
    RestoringNode,
    UncordoningNode,
    UntaintingNode,
    WaitingForReady,
)
from noderemedy.model.room import Present
from noderemedy.model.run import Deed
from noderemedy.model.time import Now

STEP = Step.RECOVERY
CORDONED, OURS = "node-remedy.dev/cordoned", "node-remedy"


def done(view: FenceView, now: Now) -> Decision:
    is_ended = is_terminated(view) and view.status.evidence.freed_at is not None
    if is_ended and (view.node is None or is_successor(view)):
        return ended(view, now)
    if on := erring.power_comes_back(view, now) if is_well(view, now) else erring.lit(view, now):
        return on  # of a node that came back by itself some plugs may be off
    if not is_well(view, now):
        return wait(view, now)
    if left := restored(view) or untaint(view) or recover(view, now) or uncordon(view):
        return left  # storage comes back before pods may
    return move(view, Event.STEP_DONE, now, *erring.dark(view, is_over=True), FenceSucceeded(view.name))


def ended(view: FenceView, now: Now) -> Decision:
    """The instance is off for good and its Node went. Only its provider can remove it: its Machine is deleted."""
    if asked := confirm(now, (view.node_at, view.node_entry)):
        return asked
    assert view.status.since is not None
    machine, entry = view.machine, view.machine_entry
    known = view.status.evidence.provider_id
    is_gone = machine is None or machine.deleting or machine.provider_id not in ("", known)  # another one has its name
    if machine is None or not isinstance(entry, Present) or is_gone:
        return move(view, Event.STEP_DONE, now, NodeTerminated(view.name), *unremoved(view))
    due = patience.due(view, view.status.since, view.fence.spec.node_ready_timeout, now)
    if now.mono >= due or not machine.provider_id:
        return move(view, Event.STEP_DONE, now, NodeTerminated(view.name), InstanceLeft(view.name, view.target.name))
    if blocked := nobody_paused_it(view, now):
        return structs.replace(blocked.decision(now), wake_at=due)
    if asked := confirm(now, (view.target, entry)):
        return asked
    delete = DeleteMachine(view.target, Guard(machine.uid, entry.resource_version))
    return Decision((delete,), (RemovingInstance(view.name, view.target.name),), due)


def unremoved(view: FenceView) -> tuple[Reason, ...]:
    """An instance behind which no Machine stood, when it began or now: it is stopped, and nobody removes it."""
    is_going = view.machine is not None and view.machine.deleting
    return () if view.status.evidence.machine or is_going else (InstanceLeft(view.name, ""),)


def wait(view: FenceView, now: Now) -> Decision:
    assert view.status.since is not None
    due = patience.due(view, view.status.since, view.fence.spec.node_ready_timeout, now)
    if now.mono >= due:
        return move(view, Event.NOT_READY_IN_TIME, now)
    moments = [due, *([well_at(view, now)] if may_be_well(view, now) else [])]
    return Decision((), (WaitingForReady(view.name), *erring.strayed(view)), min(moments))


def recover(view: FenceView, now: Now) -> Decision | None:
    """The methods of the configuration that switch something on; None if all did."""
    was_freed = view.status.evidence.storage_freed_at is not None
    if was_freed and (blocked := first(USABLE, view, now)):
        return blocked.decision(now)  # what was cut off must come back: without a plan nobody knows how
    for method in view.methods(STEP):
        if not isinstance(method, AgentMethod) or Deed.ON not in method.deeds:
            continue
        if not attempts.is_done(view, STEP, method, Deed.ON) and not devices.is_not_ours(view, method):
            if blocked := plan_is_sound(view, now):
                return blocked.decision(now)
            if was_freed and (asked := confirm(now, (view.node_at, view.node_entry))):
                return asked  # a server that lags may show a boot from before the one that was cut off
            return attempts.attempt(view, STEP, method, Deed.ON, now)
    lost = erring.strayed(view)
    return Decision((), lost) if lost else None  # it may keep the node from its storage: it is not over


# --- what of ours is still on the node ---------------------------------------------------------------------------


def undo(view: FenceView) -> Decision | None:
    """Our taint, our cordon, and what a Node that we deleted carried; None if nothing of it is left."""
    return restored(view) or untaint(view) or uncordon(view)


def restored(view: FenceView) -> Decision | None:
    if not is_back(view):
        return None
    whole = structs.replace(view.status.evidence, backup=None)
    return given_back(view) or noted(view, whole, NodeWhole(view.name))


def is_back(view: FenceView) -> bool:
    """Whether a Node that we deleted is there again, and its backup is still kept."""
    backup, node = view.status.evidence.backup, view.node
    is_there = backup is not None and node is not None and not node.deleting and backup.node_uid != node.uid
    return is_there and not is_successor(view)


def is_successor(view: FenceView) -> bool:
    """Whether another instance has the name by now: what the former one carried is not its own.

    Two ids say so. Of an instance that was ended for good nobody comes back, so whoever registers without an id, and
    gets one soon, is another one; a flow that is over and still keeps a backup is of such a one, whatever has become
    of its plan.
    """
    node, before = view.node, view.status.evidence.provider_id
    if node is None or node.uid == view.status.node_uid or node.provider_id == before:
        return False
    return is_terminated(view) or view.fence.is_final or bool(node.provider_id and before)


def given_back(view: FenceView) -> Decision | None:
    """What the Node carried; None if it has that. Before all else: a plan for a set of nodes knows them by labels."""
    evidence, node = view.status.evidence, view.node
    if not is_back(view) or evidence.backup is None or node is None:
        return None
    kept = structs.replace(evidence.backup, annotations=without_cordon(evidence.backup.annotations))
    if CORDONED in dict(evidence.backup.annotations):
        kept = structs.replace(kept, unschedulable=False)  # it was ours, and the node is well
    write = restore(view.node_at, view.node_guard.resource_version, node, kept)
    return Decision((write,), (RestoringNode(view.name),)) if write else None


def without_cordon(annotations: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in annotations if pair[0] != CORDONED)


def untaint(view: FenceView) -> Decision | None:
    node = view.node
    if node is None or freeing.mark_of(node, view.fence.uid) is None:
        return None
    action = UntaintOutOfService(view.node_at, view.node_guard, freeing.without_taint(node))
    return Decision((action,), (UntaintingNode(view.name),))


def uncordon(view: FenceView) -> Decision | None:
    """Only a cordon that says that it was ours: a person's survives."""
    if view.node is None or not is_cordoned_by_us(view.node):
        return None
    return Decision((UncordonNode(view.node_at, view.node_guard),), (UncordoningNode(view.name),))


def is_cordoned_by_us(node: Node) -> bool:
    return node.unschedulable and dict(node.annotations).get(CORDONED) == OURS
