"""Faults: each does to a server what its sentence says, and nothing else exists."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from noderemedy.lab.faults import FAULTS, strike
from noderemedy.model.errors import Permanent
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.server import Kernel, Server

# fault -> (faults before it, what must be true of the server then)
TRUTH: dict[str, tuple[tuple[str, ...], Callable[[Server], bool]]] = {
    "crash": ((), lambda server: server.has_power and server.kernel is Kernel.PANICKED and not server.running),
    "hang": ((), lambda server: server.can_write and not server.is_heard and bool(server.running)),
    "partition": ((), lambda server: server.can_write and not server.is_linked and bool(server.running)),
    "bmc-down": ((), lambda server: not server.bmc.answers and server.is_heard),
    "bmc-up": (("bmc-down", "power-on-fails"), lambda server: server.bmc.answers and server.bmc.obeys_on),
    "power-off-fails": ((), lambda server: not server.bmc.obeys_off and server.bmc.answers),
    "power-on-fails": ((), lambda server: not server.bmc.obeys_on and server.bmc.answers),
    "no-return": ((), lambda server: server.is_broken and not server.is_heard),
    "heal": (("partition", "bmc-down"), lambda server: server.is_heard and server.bmc.answers),
}


@pytest.fixture
def cluster() -> Cluster:
    """Three nodes with running pods."""
    found = Cluster(nodes=3, replicas=3)
    found.agenda.run_until(60_000)
    return found


def test_every_fault_has_a_truth() -> None:
    """The table below lists them all."""
    assert list(FAULTS) == list(TRUTH)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_do_what_they_say(cluster: Cluster, fault: str) -> None:
    """The server is as the fault's sentence says, and was not before; its neighbours are as they were."""
    before, is_true = TRUTH[fault]
    for name in before:
        strike(cluster, name, "worker-2")
    assert not is_true(cluster.servers["worker-2"])

    strike(cluster, fault, "worker-2")

    assert is_true(cluster.servers["worker-2"])
    assert [True, True] == [cluster.servers[name].is_heard for name in ("worker-1", "worker-3")]


@pytest.mark.parametrize(
    ("fault", "node"), [("flood", "worker-1"), ("hang", "worker-9"), ("", ""), ("HANG", "worker-1")]
)
def test_what_does_not_exist_is_refused_and_changes_nothing(cluster: Cluster, fault: str, node: str) -> None:
    """The message lists what does exist, and every server goes on."""
    with pytest.raises(Permanent, match=r"use one of: .*(crash, hang|worker-1, worker-2)"):
        strike(cluster, fault, node)

    assert [True] * 3 == [server.is_heard and server.bmc.answers for server in cluster.servers.values()]
