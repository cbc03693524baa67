"""The shared shelf: what belongs to a paused Machine is left alone, even where only a relic of ours would go.

`cluster.x-k8s.io/paused` on a Machine, or a paused Cluster: both may be on their way to another place, and whoever has
paused them wants nothing written meanwhile. A host belongs to the Machine that it serves, and to the one that it is
held for as long as that one names it.
"""

from __future__ import annotations

from noderemedy.core import consumers, hostnames, machines
from noderemedy.model.cluster import Cluster
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Host
from noderemedy.model.ids import Ref
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.reasons import ClusterObjectPaused, ClusterPaused
from noderemedy.model.room import Reader, known
from noderemedy.model.time import MINUTE, Now

Pause = ClusterPaused | ClusterObjectPaused  # which object has to be changed to end it


def pause(at: Ref, machine: Machine, cluster: Cluster | None) -> Pause | None:
    """What leaves a Machine alone: its Cluster, all of whose machines it concerns, or the mark that it carries."""
    if cluster is not None and cluster.paused:
        return ClusterObjectPaused(f"{at.namespace}/{machine.cluster_name}")
    return marked(at, machine.cluster_paused)


def marked(at: Ref, is_marked: bool) -> ClusterPaused | None:
    """`cluster.x-k8s.io/paused` on an object."""
    return ClusterPaused(at.in_words) if is_marked else None


def pause_of(at: Ref, machine: Machine, reader: Reader) -> Pause | None:
    return pause(at, machine, machines.owning_cluster(at, machine, reader))


def pause_of_node(node_at: Ref, node: Node | None, reader: Reader) -> Pause | None:
    """The pause of a Machine that names a node, and may be its own: where two do, nobody knows whose it is."""
    found = ((at, known(reader.read(at))) for at in machines.at_node(node_at, reader))
    its_own = ((at, machine) for at, machine in found if machine and (node is None or machines.is_own(node, machine)))
    pauses = (pause_of(at, machine, reader) for at, machine in its_own)
    return next((one for one in pauses if one is not None), None)


def pause_of_host(host_at: Ref, host: Host, reader: Reader) -> Pause | None:
    """The pause of a Machine that a host belongs to."""
    holds = (host.hold, *(record for _, record in (*host.held_for, *host.fenced_for)))
    held_for = [hold.machine_uid for hold in holds if isinstance(hold, Hold)]
    serves = consumers.last_known(host_at, host.consumer, reader) if host.consumer else ()
    for at in (*serves, *hostnames.naming(host_at, reader)):
        machine = known(reader.read(at))
        if machine is None or (at not in serves and machine.uid not in held_for):
            continue
        if (found := pause_of(at, machine, reader)) is not None:
            return found
    return None


def until_unpaused(found: Pause, now: Now) -> Decision:
    """Look again in a minute: whoever ends the pause may say nothing of this host."""
    return Decision(because=(found,), wake_at=now.mono + MINUTE)
