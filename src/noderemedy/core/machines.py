"""The shared shelf: machines of both groups, where their nodes are, and which machines an event of a node concerns.

`node_at` is the only way from a Machine to its Node. In a management cluster the Node lives in another API, and two
workload clusters may have nodes of one name. What cannot be seen just now reads as `Unseen`: neither there nor gone.
A Machine that names a cluster whose Cluster is not there is out of sight, too: its Nodes were never looked for here.
A room that reads nodes watches NODE and REMOTE, and asks `at_node` and `of_cluster` whom their events concern.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from noderemedy.model.cluster import Cluster
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.ids import CLUSTER, MACHINE, NODE, OPENSHIFT_MACHINE, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.reasons import CannotSeeCluster
from noderemedy.model.remediation import Metal3Remediation
from noderemedy.model.remote import Remote, Sight, cluster_name, remote_ref
from noderemedy.model.room import Index, Present, Reader, Unreadable, known
from noderemedy.model.serving import is_served

MACHINE_KINDS: tuple[Kind, ...] = (MACHINE, OPENSHIFT_MACHINE)
CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
ROLE_LABEL = "machine.openshift.io/cluster-api-machine-role"
BY_NODE = "machines by node"
BY_REMOTE_NODE = "machines by node of a cluster"
BY_CLUSTER = "machines by cluster"
NOT_THERE = "its Cluster is not there, so nobody knows where they are; restore it, or delete its Machines"
UNDECIDED = (Sight.UNKNOWN, Sight.YOUNG)
NOT_READ = "its Cluster cannot be read, so nobody knows where they are; correct it"


def is_control_plane(machine: Machine) -> bool:
    """By the labels that those who make machines put on them, whatever became of its Node."""
    return any(key == CONTROL_PLANE_LABEL or (key, value) == (ROLE_LABEL, "master") for key, value in machine.labels)


def _node(ref: Ref, machine: Machine) -> tuple[str, ...]:
    return (machine.node_name,) if machine.node_name else ()


def _remote_node(ref: Ref, machine: Machine) -> tuple[str, ...]:
    named = machine.node_name and machine.cluster_name
    return (f"{cluster_name(ref.namespace, machine.cluster_name)} {machine.node_name}",) if named else ()


def _cluster(ref: Ref, machine: Machine) -> tuple[str, ...]:
    return (cluster_name(ref.namespace, machine.cluster_name),) if machine.cluster_name else ()


INDEXES: tuple[Index, ...] = (
    *(Index(BY_NODE, kind, _node) for kind in MACHINE_KINDS),
    Index(BY_REMOTE_NODE, MACHINE, _remote_node),
    Index(BY_CLUSTER, MACHINE, _cluster),
)


def node_at(key: Ref, machine: Machine, reader: Reader) -> Ref | None:
    """Where the Node of a machine is; None while the machine names none."""
    return Ref(cluster_of(key, machine, reader), NODE, "", machine.node_name) if machine.node_name else None


def cluster_of(key: Ref, machine: Machine, reader: Reader) -> str:
    """The cluster that has this machine's node, or will have it, as `Ref.cluster` names it."""
    remote = remote_of(key, machine, reader)
    is_home = remote is None or remote.sight is Sight.HOME
    return key.cluster if is_home else cluster_name(key.namespace, machine.cluster_name)


def remote_of(key: Ref, machine: Machine, reader: Reader) -> Remote | None:
    """What is known of the cluster that has this machine's node; None: it is this one."""
    if key.kind != MACHINE or not machine.cluster_name:
        return None
    entry = reader.read(remote_ref(key.namespace, machine.cluster_name))
    if isinstance(entry, Present):
        found: Remote = entry.obj
        return found
    return unfollowed(_cluster_ref(key.cluster, key.namespace, machine.cluster_name), reader)


def owning_cluster(key: Ref, machine: Machine, reader: Reader) -> Cluster | None:
    """The Cluster that a machine belongs to, where there is one; as it was, if it cannot be read: a pause holds on."""
    if key.kind != MACHINE or not machine.cluster_name:
        return None
    found: Cluster | None = known(reader.read(_cluster_ref(key.cluster, key.namespace, machine.cluster_name)))
    return found


@lru_cache(maxsize=1_000)
def _cluster_ref(cluster: str, namespace: str, name: str) -> Ref:
    """Its name, made once: thousands of machines share it."""
    return Ref(cluster, CLUSTER, namespace, name)


def unfollowed(cluster: Ref, reader: Reader) -> Remote | None:
    """What is known of a Cluster that nobody follows. All its nodes would look missing here if they are elsewhere.

    Where there is no such kind, a cluster's name is a mere word; where its Cluster is there, we were told all of it in
    files, and they are one cluster.
    """
    entry = reader.read(cluster)
    if isinstance(entry, Present) or not is_served(CLUSTER, reader, cluster.cluster):
        return None
    return Remote(Sight.UNKNOWN, NOT_READ if isinstance(entry, Unreadable) else NOT_THERE)


def at_node(node: Ref, reader: Reader) -> tuple[Ref, ...]:
    """The machines of a node, in its own cluster only: names repeat from one cluster to the next."""
    if node.cluster:
        return reader.find(BY_REMOTE_NODE, f"{node.cluster} {node.name}")
    return tuple(ref for ref in reader.find(BY_NODE, node.name) if _is_at(ref, node, reader))


def _is_at(machine: Ref, node: Ref, reader: Reader) -> bool:
    found = known(reader.read(machine))
    return found is not None and node_at(machine, found, reader) == node


def unplaced(node: Ref, reader: Reader) -> CannotSeeCluster | None:
    """A machine names such a node, and nobody knows yet in which cluster that is: it may be this one.

    For moments after a start. Where its Cluster is gone for good, nobody waits for an answer.
    """
    for ref in () if node.cluster else reader.find(BY_NODE, node.name):
        machine = known(reader.read(ref))
        remote = remote_of(ref, machine, reader) if machine is not None else None
        if remote is not None and remote.sight in UNDECIDED and remote.why != NOT_THERE:
            return CannotSeeCluster(cluster_name(ref.namespace, machine.cluster_name), remote.why)
    return None


def of_cluster(cluster: Ref, reader: Reader) -> tuple[Ref, ...]:
    """The machines of a Cluster, or of what is known of it: both have its name."""
    return reader.find(BY_CLUSTER, cluster_name(cluster.namespace, cluster.name))


def named_here(cluster: Ref, reader: Reader) -> Iterator[Ref]:
    """The Nodes of this cluster that machines of a Cluster name, wherever those machines have theirs."""
    for ref in of_cluster(cluster, reader):
        machine = known(reader.read(ref))
        at = Ref(ref.cluster, NODE, "", machine.node_name) if machine is not None and machine.node_name else None
        if at is not None and isinstance(reader.read(at), Present):
            yield at


def with_nodes(cluster: Ref, where: str, reader: Reader) -> Iterator[tuple[Machine, Node | None]]:
    """The machines of a Cluster that name a node, each with the Node of that name in the API of this cluster."""
    for ref in of_cluster(cluster, reader):
        entry = reader.read(ref)
        if isinstance(entry, Present) and entry.obj.node_name:
            node = reader.read(Ref(where, NODE, "", entry.obj.node_name))
            yield entry.obj, node.obj if isinstance(node, Present) else None


def in_index(machine: Ref) -> str:
    """How indexes of requests and fences name it: with its kind, for Machines of both groups may share a name."""
    return f"{machine.kind} {machine}"


def machine_refs(ref: Ref, request: Metal3Remediation | FenceRemediation) -> tuple[Ref, ...]:
    """The Machines that a request may be for: its owner, or whoever bears its name."""
    owner = request.owner
    group = owner.api_version.partition("/")[0] if owner else ""
    kinds = [kind for kind in MACHINE_KINDS if group in ("", kind.group)]
    return tuple(Ref(ref.cluster, kind, ref.namespace, owner.name if owner else ref.name) for kind in kinds)


def is_own(node: Node, machine: Machine) -> bool:
    """A node of that name with another providerID is another machine's (invariant S7)."""
    return not machine.provider_id or node.provider_id in ("", machine.provider_id)
