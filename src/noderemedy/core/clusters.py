"""The cluster room: one key per Cluster. Says aloud, once per cluster, that its Nodes are out of sight for a while.

Each of its machines has the same reason, quietly: a cluster of a thousand machines must not make a thousand events.
It asks for nothing: programs keep trying. What they conclude where there is no kubeconfig is decided here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import machines
from noderemedy.model.cluster import Cluster
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import CLUSTER, NODE, Ref
from noderemedy.model.reasons import CannotSeeCluster, ClusterOutOfSight
from noderemedy.model.remote import REMOTE, Remote, Sight, cluster_name, remote_ref
from noderemedy.model.room import Absent, Present, Reader, Room
from noderemedy.model.time import MINUTE, Now

A_WHILE = MINUTE * 5
IN_ORDER = (Sight.HOME, Sight.SEEN)
ENOUGH = 2  # machines without their Node that make a cluster the wrong one; a single node may well be gone


class ClusterView(Struct, frozen=True):
    """A cluster, and what is known of its Nodes."""

    at: Ref
    remote: Remote


def decide(view: ClusterView, now: Now) -> Decision:
    remote, name = view.remote, cluster_name(view.at.namespace, view.at.name)
    if remote.sight in IN_ORDER:
        return NOTHING
    quietly = Decision(because=(CannotSeeCluster(name, remote.why),))
    if remote.sight is not Sight.LOST:
        return quietly
    overdue = remote.since + A_WHILE
    if now.mono < overdue:
        return Decision(because=quietly.because, wake_at=overdue)
    return Decision(because=(ClusterOutOfSight(name, remote.why),))


def sees(key: Ref, reader: Reader) -> ClusterView | None:
    if isinstance(reader.read(key), Absent):
        return None  # its machines say it, and their checks
    remote = reader.read(remote_ref(key.namespace, key.name))
    return ClusterView(key, remote.obj) if isinstance(remote, Present) else None


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (Ref("", CLUSTER, ref.namespace, ref.name),)


# --- for programs: what is known of a cluster without a connection ---------------------------------------------------


def is_young(cluster: Cluster | None) -> bool:
    """Whether its control plane is not up yet; where nobody says anything about that, it is taken to be."""
    conditions = cluster.conditions if cluster else ()
    return any(one.type == "ControlPlaneInitialized" and one.status != "True" for one in conditions)


def young() -> Remote:
    return Remote(Sight.YOUNG, "its condition ControlPlaneInitialized is not True")


def without_secret(at: Ref, secret: str, reader: Reader) -> Remote:
    """There is no kubeconfig: the cluster manages itself, if its Nodes are here.

    Where some should be and none is, the secret was lost, and all its nodes would look missing. That we deleted one of
    them does not say where; only where we deleted all there is nobody else to ask.
    """
    found = list(machines.with_nodes(at, "", reader))
    is_here = any(node is not None and machines.is_own(node, machine) for machine, node in found)
    if is_here or (found and all(machine.node_deleted_at is not None for machine, _ in found)):
        return Remote(Sight.HOME)
    if found:
        why = (
            f"there is no secret {at.namespace}/{secret}, and none of its Nodes is in this cluster; restore the secret"
        )
        return Remote(Sight.LOST, why)
    return Remote(Sight.YOUNG, f"there is no secret {at.namespace}/{secret}, and no machine of it has a node yet")


def unknown_secret(at: Ref, why: str, reader: Reader) -> Remote:
    """We may not know whether there is a kubeconfig: only a Node here with a machine's own providerID is an answer."""
    is_here = any(
        node is not None and node.provider_id == machine.provider_id != ""
        for machine, node in machines.with_nodes(at, "", reader)
    )
    return Remote(Sight.HOME) if is_here else Remote(Sight.LOST, why)


def at_home(found: Iterable[tuple[str, str]], reader: Reader) -> Remote | None:
    """A kubeconfig leads to Nodes with these names and uids: one that is a Node of this API tells that it is this one.

    A cluster that manages itself has such a secret, too. As a workload cluster each of its nodes would be two to us:
    with two claims, in two budgets, and the node of the manager itself would be a stranger's.
    """
    for name, uid in found:
        node = reader.read(Ref("", NODE, "", name))
        if isinstance(node, Present) and node.obj.uid == uid:
            return Remote(Sight.HOME, "its kubeconfig leads to this very cluster")
    return None


def connected(at: Ref, server: str, reader: Reader) -> Remote:
    """All Nodes of the API that its kubeconfig leads to are known: are they the cluster's?

    Where several machines should have one and none has, somebody stored the kubeconfig of another cluster.
    """
    name = cluster_name(at.namespace, at.name)
    found = list(_nodes_in(name, at, reader))
    if len(found) < ENOUGH or any(found):
        return Remote(Sight.SEEN)
    why = (
        f"the API server {server} of its kubeconfig has none of the nodes that its {len(found)} machines name; check it"
    )
    return Remote(Sight.LOST, why)


def left_behind(at: Ref, reader: Reader) -> Remote | None:
    """A Cluster is gone: what is known of the Nodes of machines that still name it; None if there are none.

    Said aloud, and not left to the machines: should the definition of Clusters go next, they would be looked for here.
    """
    return Remote(Sight.UNKNOWN, machines.NOT_THERE) if machines.of_cluster(at, reader) else None


def _nodes_in(where: str, at: Ref, reader: Reader) -> Iterable[bool]:
    """For each machine that should have a Node: is it in that API? One that we deleted ourselves was."""
    for machine, node in machines.with_nodes(at, where, reader):
        yield machines.is_own(node, machine) if node is not None else machine.node_deleted_at is not None


ROOM = Room(
    name="cluster",
    watches=(CLUSTER, REMOTE),
    indexes=(),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
)
