"""The out-of-service room: one key per Node that carries our mark. Takes off a taint whose request is gone.

A request takes its own taint off before it goes. But somebody may remove its finalizer by hand, or its Node may be out
of sight for too long; then only the mark on the Node, written together with the taint, says that it is ours (invariant
S13). It stays until the node is back: ready, after another boot. Frees nothing. A taint without our mark is a person's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import freeing, leftalone, machines, safety
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.actions import Confirm, Guard, UntaintOutOfService
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import CLUSTER, NODE, NODE_FENCE, REMEDIATION, Kind, Ref
from noderemedy.model.node import Node, OutOfService
from noderemedy.model.reasons import CannotSeeCluster, ConfirmFirst, TaintOrphaned, UntaintingNode
from noderemedy.model.remediation import Metal3Remediation
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, Room, Unreadable, known
from noderemedy.model.time import Now

# By room: what it taints Nodes for.
OWNERS: dict[str, Kind] = {"metal3-remediation": REMEDIATION, "node-fence": NODE_FENCE}
BY_OWNER = "nodes out of service by request"
MARKED = "nodes with our mark"


class TaintView(Struct, frozen=True):
    """A Node with our mark, and the request that the mark names."""

    at: Ref
    entry: Present
    node: Node
    mark: OutOfService
    owner_at: Ref
    owner: Entry
    unplaced: CannotSeeCluster | None = None  # a machine may be that of the node
    left_alone: leftalone.Pause | None = None  # its machine or Cluster: not a single write
    is_abandoned: bool = False  # its request was begun for a Machine that is gone, and does nothing any more


def decide(view: TaintView, now: Now) -> Decision:
    if not is_orphan(view):
        return NOTHING
    if view.unplaced:
        return Decision(because=(view.unplaced,))
    if view.left_alone:
        return Decision(because=(view.left_alone,))
    if freeing.is_tainted(view.node) and not is_back(view):
        return Decision(because=(TaintOrphaned(view.at.name, view.mark.owner),))
    if isinstance(view.owner, Absent) and not safety.is_confirmed(view.owner, now):
        return Decision((Confirm(view.owner_at),), (ConfirmFirst(str(view.owner_at)),))
    guard = Guard(view.node.uid, view.entry.resource_version)
    action = UntaintOutOfService(view.at, guard, freeing.without_taint(view.node))
    return Decision((action,), (UntaintingNode(view.at.name),))


def is_orphan(view: TaintView) -> bool:
    """Whether its request is gone or abandoned, or another one has its name. What cannot be read may still be there."""
    if isinstance(view.owner, Present):
        return bool(view.owner.obj.uid != view.mark.uid) or view.is_abandoned
    return isinstance(view.owner, Absent)


def is_back(view: TaintView) -> bool:
    """Ready after another boot than the one that had ended; where nobody tells boots apart, ready."""
    is_another = view.node.boot_id != view.mark.boot_id or not view.mark.boot_id
    return is_another and not view.node.deleting and view.node.is_ready


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> TaintView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    node: Node = entry.obj
    mark = freeing.mark_of(node)
    if mark is None or mark.room not in OWNERS:
        return None
    owner_at = owner_ref(mark)
    owner = reader.read(owner_at)
    return TaintView(
        key,
        entry,
        node,
        mark,
        owner_at,
        owner,
        unplaced=machines.unplaced(key, reader),
        left_alone=leftalone.pause_of_node(key, None, reader),
        is_abandoned=is_abandoned(owner_at, owner, key, reader),
    )


def is_abandoned(owner_at: Ref, owner: Entry, node: Ref, reader: Reader) -> bool:
    """Whether a Metal3Remediation was begun for a Machine that this Node has no more; an unreadable one is there."""
    if not isinstance(owner, Present) or not isinstance(owner.obj, Metal3Remediation):
        return False
    begun_for = owner.obj.progress.evidence.machine_uid
    there = [entry.obj.uid for at in machines.at_node(node, reader) if isinstance(entry := reader.read(at), Present)]
    its_own = [reader.read(at) for at in machines.machine_refs(owner_at, owner.obj)]
    unread = [entry.uid for entry in its_own if isinstance(entry, Unreadable)]
    return bool(begun_for) and begun_for not in (*there, *unread)


def owner_ref(mark: OutOfService) -> Ref:
    namespace, _, name = mark.owner.partition("/")
    return Ref("", OWNERS[mark.room], namespace, name)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """Nodes without our mark are many, and concern nobody here."""
    if ref.kind == NODE:
        return (ref,) if isinstance(obj, Node) and obj.out_of_service is not None else ()
    if ref.kind in OWNERS.values():
        return reader.find(BY_OWNER, str(ref))
    if not reader.has(MARKED):
        return ()
    of_cluster = ref.kind in (CLUSTER, REMOTE)
    found = ((at, known(reader.read(at))) for at in (machines.of_cluster(ref, reader) if of_cluster else (ref,)))
    nodes = [machines.node_at(at, machine, reader) for at, machine in found if machine is not None]
    here = machines.named_here(ref, reader) if of_cluster else ()  # nobody knew whose they are
    return [at for at in dict.fromkeys((*nodes, *here)) if at is not None and is_marked(at, reader)]


def is_marked(node: Ref, reader: Reader) -> bool:
    entry = reader.read(node)
    return isinstance(entry, Present) and entry.obj.out_of_service is not None


def _mark(ref: Ref, node: Node) -> tuple[str, ...]:
    return (MARKED,) if node.out_of_service is not None else ()


def _owner(ref: Ref, node: Node) -> tuple[str, ...]:
    mark = freeing.mark_of(node)
    return (str(owner_ref(mark)),) if mark is not None and mark.room in OWNERS else ()


ROOM = Room(
    name="out-of-service",
    watches=(NODE, REMOTE, *OWNERS.values(), *MACHINE_KINDS, CLUSTER),
    indexes=(*machines.INDEXES, Index(BY_OWNER, NODE, _owner), Index(MARKED, NODE, _mark)),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({Confirm, UntaintOutOfService}),
)
