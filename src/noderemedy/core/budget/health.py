"""The node-health room: one key per Node. States whether the budget counts it as sick, since when, and where it is.

A node is sick if it is not Ready, if its machine's health check or a threshold of its document says so, or if it is
gone and somebody waits for it: its machine names it, or its NodeFence has deleted it and keeps what it carried.
One that cannot be read is there, and nobody knows that it is well: it is sick, or a storm would end where its Nodes do
not decode any more.
Labels that a backup holds count as the node's own: a node that has just come back lacks them, and is still in its rack.
A Node that somebody else has deleted is where it was known to be last, or where its machine says. It is sick since it
was known to be: who tidies a dead rack up ends no burst. One that was gone before we came is sick since its Machine
says so; our own first look is no sign, or Nodes that went on different days would be a burst after a change of leaders.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import machines
from noderemedy.core.budget.facts import ALL, BY_HEALTH, INDEXES, TOPOLOGY, TOPOLOGY_AT, NodeHealth, health_ref
from noderemedy.core.healthcheck.facts import VERDICTS, verdict_ref
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.remedy.facts import TROUBLE, node_of, trouble_ref
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.healthcheck import Unhealthy
from noderemedy.model.ids import NODE, NODE_FENCE, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.machineconditions import HEALTH_CHECK_SUCCEEDED
from noderemedy.model.node import Node, NodeBackup
from noderemedy.model.nodefence import NodeFence, fence_ref
from noderemedy.model.reasons import NodeMissing
from noderemedy.model.remediationbudget import ZONE
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Entry, Present, Reader, Room, Stage, Unseen, known
from noderemedy.model.time import Now, Wall

TOLD_OF_NODE = frozenset({"NodeHealthy", "NodeReady", HEALTH_CHECK_SUCCEEDED})
CONTROL_PLANE = frozenset({"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})
MACHINE_OF: dict[Kind, Kind] = {fact: machine for machine, fact in VERDICTS.items()}


class NodeView(Struct, frozen=True):
    """A Node, or the gap that it left; its machine, and what a health check says of that."""

    at: Ref
    entry: Entry
    machine: Machine | None
    fence: NodeFence | None  # that has deleted the Node, and waits for it
    verdict_since: Wall | None  # unhealthy since then; None: not unhealthy
    topology: str
    known: NodeHealth | None = None  # what was stated of it last, where it is gone or cannot be read


def decide(view: NodeView, now: Now) -> Decision:
    labels = labels_of(view)
    health = NodeHealth(is_sick(view), sick_since(view, now), domain_of(view, labels), rules(view, labels))
    return Decision(facts=(Fact(health_ref(view.at), health),))


def domain_of(view: NodeView, labels: dict[str, str]) -> str:
    if isinstance(view.entry, Present) or view.topology in labels:
        return labels.get(view.topology, "")
    told = view.machine.failure_domain if view.machine is not None and view.topology == ZONE else ""
    return (view.known.domain if view.known is not None else "") or told


def rules(view: NodeView, labels: dict[str, str]) -> bool:
    """Whether it is of the control plane: nobody takes that from it by deleting its Node."""
    is_known = view.known is not None and view.known.is_control_plane
    is_made_so = view.machine is not None and machines.is_control_plane(view.machine)
    return not CONTROL_PLANE.isdisjoint(labels) or is_made_so or is_known


def is_sick(view: NodeView) -> bool:
    if not isinstance(view.entry, Present) or view.verdict_since is not None:
        return True
    node: Node = view.entry.obj
    return not node.is_ready


def sick_since(view: NodeView, now: Now) -> Wall | None:
    """The first sign of sickness, as far as anybody has written it down or has seen it; None: nobody knows."""
    if isinstance(view.entry, Present):
        node: Node = view.entry.obj
        signs = [one.since for one in node.conditions if one.type == "Ready" and one.status != "True"]
    else:
        signs = signs_of_gap(view, now)
    return min((sign for sign in (view.verdict_since, *signs) if sign is not None), default=None)


def signs_of_gap(view: NodeView, now: Now) -> list[Wall | None]:
    """Since when a Node that is gone may have been sick: by who deleted it, and by what was known of it.

    One that was well went before our eyes, just now. Of one that was gone before, only what its Machine said when we
    came counts: what is written later is written of all such at once, and would make a burst of them.
    """
    deleted_at = view.machine.node_deleted_at if view.machine is not None else None
    signs = [deleted_at if isinstance(deleted_at, Wall) else None, view.fence.status.started if view.fence else None]
    if view.known is None:
        return [*signs, *told_of_node(view.machine)]
    return [*signs, view.known.since if view.known.is_sick else now.wall]


def told_of_node(machine: Machine | None) -> list[Wall | None]:
    """Since when its Machine says that the node is not well, in either generation."""
    told = (*machine.conditions, *machine.older_conditions) if machine is not None else ()
    return [one.since for one in told if one.type in TOLD_OF_NODE and one.status != "True"]


def labels_of(view: NodeView) -> dict[str, str]:
    own = dict(view.entry.obj.labels) if isinstance(view.entry, Present) else {}
    found = (view.machine and view.machine.backup, view.fence and view.fence.status.evidence.backup)
    kept = [dict(backup.labels) for backup in found if isinstance(backup, NodeBackup)]
    return {**kept[0], **own} if kept else own


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> NodeView | None:
    """A node that is out of sight is neither healthy nor sick: it is not counted."""
    entry = reader.read(key)
    named_by, fence = machines.at_node(key, reader), waiting_fence(key, reader)
    if isinstance(entry, Unseen) or (isinstance(entry, Absent) and not (named_by or fence)):
        return None
    found = reader.read(named_by[0]) if named_by else Absent()
    topology = reader.read(TOPOLOGY_AT)
    stated = reader.read(health_ref(key)) if not isinstance(entry, Present) else Absent()
    return NodeView(
        at=key,
        entry=entry,
        machine=known(found),
        fence=fence,
        verdict_since=unhealthy_since(key, entry, named_by, reader),
        topology=topology.obj.label if isinstance(topology, Present) else ZONE,
        known=stated.obj if isinstance(stated, Present) else None,
    )


def waiting_fence(key: Ref, reader: Reader) -> NodeFence | None:
    """The NodeFence that has the only copy of what the Node carried, and is not over: an instance that was terminated
    is not sick, it is gone."""
    entry = reader.read(fence_ref(key))
    fence: NodeFence | None = entry.obj if isinstance(entry, Present) else None
    return fence if fence is not None and is_out(fence) and not fence.is_final else None


def is_out(fence: NodeFence) -> bool:
    """Whether it has deleted its Node."""
    return fence.status.evidence.backup is not None


def unhealthy_since(key: Ref, node: Entry, named_by: tuple[Ref, ...], reader: Reader) -> Wall | None:
    """By the check of its machine, or by a threshold of its document, whichever said so first.

    That a Node is missing is dated by who looks: of a gap such a verdict tells no time.
    """
    entries = [reader.read(verdict_ref(machine)) for machine in named_by]
    verdicts = [entry.obj.verdict for entry in entries if isinstance(entry, Present)]
    is_gap = not isinstance(node, Present)
    told = [one.since for one in verdicts if isinstance(one, Unhealthy) and not (is_gap and is_missing(one))]
    trouble = reader.read(trouble_ref(key)) if not key.cluster else Absent()
    if isinstance(trouble, Present) and trouble.obj.is_over:
        told.append(trouble.obj.since)
    return min(told, default=None)


def is_missing(verdict: Unhealthy) -> bool:
    return any(isinstance(reason, NodeMissing) for reason in verdict.because)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == NODE:
        return (ref,)
    if isinstance(obj, Machine):
        at = machines.node_at(ref, obj, reader)
        return (at,) if at else ()
    if isinstance(obj, NodeFence):
        return (obj.spec.node_at,) if is_out(obj) else ()
    if ref.kind in MACHINE_OF:
        return nodes_of((Ref(ref.cluster, MACHINE_OF[ref.kind], ref.namespace, ref.name),), reader)
    if ref.kind == TROUBLE:
        return (node_of(ref),)
    if ref.kind == REMOTE:
        return nodes_of(machines.of_cluster(ref, reader), reader)
    if ref.kind == TOPOLOGY:  # somebody changed the label: rare, and it concerns all
        return [Ref(one.cluster, NODE, "", one.name) for one in reader.find(BY_HEALTH, ALL)]
    return ()


def nodes_of(named: Iterable[Ref], reader: Reader) -> list[Ref]:
    entries = [(ref, reader.read(ref)) for ref in named]
    found = [machines.node_at(ref, entry.obj, reader) for ref, entry in entries if isinstance(entry, Present)]
    return [at for at in found if at is not None]


ROOM = Room(
    name="node-health",
    watches=(NODE, NODE_FENCE, REMOTE, *MACHINE_KINDS, *VERDICTS.values(), TOPOLOGY, TROUBLE),
    indexes=(*machines.INDEXES, *INDEXES),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.NOTE,
)
