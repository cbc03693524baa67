"""After a Machine was deleted: wait for the provider, free the Node on proof, make the successor, let the Machine go.

The old Machine is still there, kept by our finalizer. Nothing here is called off any more: only whether there is a
successor depends on what the Machine says now.
"""

from __future__ import annotations

from noderemedy.core import freeing, safety, traces
from noderemedy.core.owner import gates
from noderemedy.core.owner.drain import node_guard
from noderemedy.core.owner.overdue import told, told_if_refused
from noderemedy.core.owner.reading import confirm_first
from noderemedy.core.owner.view import FINALIZER, NAME, View
from noderemedy.model.actions import CreateMachine, DeleteNode, ForgetReplacement, Guard
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.reasons import (
    CannotSeeNode,
    InstanceOverdue,
    InstanceUnproven,
    NodeFinalizing,
    NodeUnreadable,
    NotReplaced,
    ProvenGone,
    Reason,
    Replaced,
    Replacing,
    SuccessorTaken,
    WaitingForInstance,
)
from noderemedy.model.room import Absent, Present, Unreadable, Unseen
from noderemedy.model.time import Now


def after_deletion(view: View, now: Now) -> Decision:
    """The first of these that is not over: the provider's part, the Node, the successor, the end."""
    if FINALIZER not in view.machine.finalizers:
        return NOTHING  # let go already; the watch has yet to tell
    if blocked := gates.cluster_paused(view, now):
        return blocked.decision(now)
    if view.keepers:
        return waits(view, WaitingForInstance(", ".join(view.keepers)), now)
    return free_node(view, now) or make_successor(view, now)


def waits(view: View, reason: Reason, now: Now) -> Decision:
    """Somebody else's turn; after a while that is told."""
    overdue = InstanceOverdue(view.machine.deleted_at or now.wall, "; ".join((reason.note(), *provider_says(view))))
    return told(view, Decision((), (reason,)), overdue, now)


def provider_says(view: View) -> tuple[str, ...]:
    """The word of the provider on the Machine, in the generation of its own conditions."""
    conditions = (*view.machine.conditions, *view.machine.older_conditions)
    found = next((one for one in conditions if one.type == safety.INFRASTRUCTURE and one.reason), None)
    return (f"it says {found.type}={found.status}, reason {found.reason}",) if found else ()


def free_node(view: View, now: Now) -> Decision | None:
    """See the Node go; None when it is gone, or is not this machine's. Without a proof it is left alone."""
    node_at, entry = view.node_at, view.node_entry
    if node_at is None:
        return None
    if isinstance(entry, Unreadable):
        return Decision(because=(NodeUnreadable(node_at.name, entry.problem),))
    if isinstance(entry, Unseen):
        return Decision(because=(CannotSeeNode(node_at.name),))
    if asked := confirm_first(now, (node_at, entry), (view.ref, view.entry)):
        return asked
    node = view.node
    if node is None:
        return None
    if node.deleting:
        return waits(view, NodeFinalizing(node_at.name), now)
    proof = safety.instance_gone(node, view.entry, FINALIZER, now)
    if proof is None:
        return unproven(view, now)
    work = freeing.Workload(node_at, node, view.entry.resource_version, view.pods_entry, Absent(), view.pace)
    if paced := freeing.held_back(work, now):
        return Decision(paced.actions, paced.because, facts=paced.facts)
    delete = DeleteNode(node_at, node_guard(view), node.boot_id, proof)
    return told_if_refused(view, Decision((delete,), (ProvenGone(proof.provider_id),)), now)


def unproven(view: View, now: Now) -> Decision:
    """Say what is missing: a statement of the provider, or the silence of the node."""
    assert view.node is not None
    assert view.node_at is not None
    if not safety.is_stated_gone(view.machine):
        return Decision(because=(InstanceUnproven(view.node_at.name, "its provider has not said that it is deleted"),))
    if view.node.provider_id != view.machine.provider_id:
        return Decision(because=(InstanceUnproven(view.node_at.name, "its providerID is not the Machine's"),))
    return waits(view, WaitingForInstance(f"node {view.node_at.name}, which still reports"), now)


def make_successor(view: View, now: Now) -> Decision:
    """Exactly one, by the name that was recorded; then the old Machine is let go."""
    if not view.is_ours:
        return let_go(view, NotReplaced(), now)
    entry = view.successor
    if isinstance(entry, Present) and entry.obj.replaces == view.machine.uid:
        return let_go(view, Replaced(view.successor_at.name), now)
    if not isinstance(entry, Absent):
        return Decision(because=(SuccessorTaken(view.successor_at.name),))
    if asked := confirm_first(now, (view.ref, view.entry)):
        return asked
    create = CreateMachine(view.successor_at, view.machine.uid, view.machine.template)
    return told_if_refused(view, Decision((create,), (Replacing(view.successor_at.name),)), now)


def let_go(view: View, reason: Reason, now: Now) -> Decision:
    return forget(view, (), reason, now)


def forget(view: View, keepers: tuple[str, ...], reason: Reason, now: Now) -> Decision:
    """What we wrote on the Machine goes when the record tells of it; often the Machine goes with it."""
    step = (traces.trace(traces.REPLACEMENT, view.record.step.value),) if view.record else ()
    guard = Guard(view.machine.uid, view.entry.resource_version)
    waits = traces.recorded(view.told, traces.Erasing(view.ref, NAME), now, step)
    return waits or Decision((ForgetReplacement(view.ref, guard, keepers),), (reason,))
