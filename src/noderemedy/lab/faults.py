"""Faults that a person can cause in a running lab: a table of names, what they mean and what they do to the world.

Used by scenarios, by the lab's control path and by `node-remedy lab fault`. They change servers and BMCs only: what the
API says about that is found out by the simulated kubelets and controllers, as on a real cluster.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from noderemedy.model.errors import Permanent
from noderemedy.sim.cluster import Cluster, host_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.server import Kernel, Server


class Fault(Struct, frozen=True):
    """What a fault is called in help and view, and what it does."""

    means: str
    strike: Callable[[Cluster, Server], None]


def crash(cluster: Cluster, server: Server) -> None:
    server.panic()


def hang(cluster: Cluster, server: Server) -> None:
    server.hang()


def partition(cluster: Cluster, server: Server) -> None:
    server.link(False)


def bmc_down(cluster: Cluster, server: Server) -> None:
    server.bmc.answers = False


def bmc_up(cluster: Cluster, server: Server) -> None:
    """The management controller does again what it is told, and the baremetal operator notices."""
    server.bmc.answers = server.bmc.obeys_off = server.bmc.obeys_on = True
    cluster.baremetal.poke(NAMESPACE, host_of(server.name))


def power_off_fails(cluster: Cluster, server: Server) -> None:
    server.bmc.obeys_off = False


def power_on_fails(cluster: Cluster, server: Server) -> None:
    server.bmc.obeys_on = False


def no_return(cluster: Cluster, server: Server) -> None:
    server.is_broken = True
    server.panic()


def heal(cluster: Cluster, server: Server) -> None:
    """Undo what is wrong with network, hardware and BMC; a kernel that died comes back by a boot only."""
    server.is_broken = False
    server.link(True)
    if server.has_power and server.kernel is Kernel.DOWN:
        server.booted()
    bmc_up(cluster, server)


FAULTS: dict[str, Fault] = {
    "crash": Fault("the kernel panics: nothing runs, the power stays on", crash),
    "hang": Fault("the kubelet is stuck, the pods still write to their volumes", hang),
    "partition": Fault("the server is cut off from the API, the pods still write", partition),
    "bmc-down": Fault("the BMC does not answer: nobody can switch the power", bmc_down),
    "bmc-up": Fault("the BMC answers and obeys again", bmc_up),
    "power-off-fails": Fault("the BMC answers and does not switch off", power_off_fails),
    "power-on-fails": Fault("the BMC answers and does not switch on", power_on_fails),
    "no-return": Fault("the kernel panics and no boot succeeds any more", no_return),
    "heal": Fault("network, hardware and BMC are repaired; a dead kernel needs a boot", heal),
}


def strike(cluster: Cluster, fault: str, node: str) -> None:
    """Let a fault happen to the server of a node; refuses names that do not exist and then changes nothing."""
    if fault not in FAULTS:
        raise Permanent(f"there is no fault {fault!r}; use one of: {', '.join(FAULTS)}")
    server = cluster.server_of(node)
    if server is None:
        raise Permanent(f"there is no node {node!r} in this lab; use one of: {', '.join(cluster.servers)}")
    FAULTS[fault].strike(cluster, server)
