"""The shared shelf: what belongs to a paused Machine is left alone, even where only a relic of ours would go.

`cluster.x-k8s.io/paused` on a Machine, or a paused Cluster: both may be on their way to another place, and whoever has
paused them wants nothing written meanwhile. A host belongs to the Machine that it serves, and to the one that it is
held for as long as that one names it.
"""

from __future__ import annotations

from noderemedy.core import consumers, hostnames, machines
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Host
from noderemedy.model.ids import Ref
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.reasons import ClusterPaused
from noderemedy.model.room import Reader, known
from noderemedy.model.time import MINUTE, Now


def is_paused(at: Ref, machine: Machine, reader: Reader) -> bool:
    cluster = machines.owning_cluster(at, machine, reader)
    return machine.cluster_paused or (cluster is not None and cluster.paused)


def is_node_of_a_paused(node_at: Ref, node: Node | None, reader: Reader) -> bool:
    """Whether a Machine that names a node, and may be its own, is paused: where two do, nobody knows whose it is."""
    found = ((at, known(reader.read(at))) for at in machines.at_node(node_at, reader))
    its_own = ((at, machine) for at, machine in found if machine and (node is None or machines.is_own(node, machine)))
    return any(is_paused(at, machine, reader) for at, machine in its_own)


def is_of_a_paused(host_at: Ref, host: Host, reader: Reader) -> bool:
    """Whether a host belongs to a paused Machine."""
    holds = (host.hold, *(record for _, record in (*host.held_for, *host.fenced_for)))
    held_for = [hold.machine_uid for hold in holds if isinstance(hold, Hold)]
    serves = consumers.last_known(host_at, host.consumer, reader) if host.consumer else ()
    for at in (*serves, *hostnames.naming(host_at, reader)):
        machine = known(reader.read(at))
        if machine is None or (at not in serves and machine.uid not in held_for):
            continue
        if is_paused(at, machine, reader):
            return True
    return False


def until_unpaused(now: Now) -> Decision:
    """Look again in a minute: whoever ends the pause may say nothing of this host."""
    return Decision(because=(ClusterPaused(),), wake_at=now.mono + MINUTE)
