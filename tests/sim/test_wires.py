"""Fault 55: two hosts on one BMC address. The wrong server goes off, and a node that still reports is never freed."""

from __future__ import annotations

import random

import pytest

from noderemedy.core import safety
from noderemedy.core.metal3 import offsight
from noderemedy.core.metal3.offsight import Sight
from noderemedy.model.ids import HOST, NODE
from noderemedy.model.node import Node
from noderemedy.sim.cluster import host_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.run import calm
from noderemedy.sim.server import Server
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.wires import Wires, wires_of


class Crossed(random.Random):
    """Chooses these two, and this way to have the first one power cycled."""

    way = 1  # a mark

    def sample(self, population, k, **more):  # type: ignore[no-untyped-def]
        return ["worker-1", "worker-2"]

    def choice(self, seq):  # type: ignore[no-untyped-def]
        return seq[self.way] if len(seq) == 3 and callable(seq[0]) else "taint"

    def randint(self, a, b):  # type: ignore[no-untyped-def]
        return b

    def random(self) -> float:
        return 0.0  # both are mixed up


class Scene:
    """Six quiet nodes; the hosts of two have each other's BMC, and one of them is power cycled."""

    def __init__(self, way: int = 1) -> None:
        self.cluster, self.checkers, self.process = calm(seed=3, nodes=6)
        chance = Crossed(1)
        chance.way = way
        self.wires = Wires(self.cluster, chance)
        self.wires.bmc_shared()

    def wait(self, minutes: int) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + minutes * MINUTE_MS)

    @property
    def told(self) -> set[str]:
        return {type(notice.reason).__name__ for notice in self.process.notices}

    @property
    def broken(self) -> set[str]:
        return {line.split(": ")[1] for line in self.checkers.violations}


@pytest.mark.parametrize("way", [1, 2], ids=["marked", "remediated"])
def test_a_node_that_reports_while_its_host_is_off_is_not_freed(way: int) -> None:
    """The other server goes off; a person is told, the node runs on, and all is well once the address is right."""
    scene = Scene(way)
    uid = scene.cluster.api.get(NODE, "worker-1")["metadata"]["uid"]
    scene.wait(15)

    assert (set(), {}) == (scene.broken, dict(scene.process.freed_by))
    assert "HostContradicted" in scene.told
    assert (1, uid) == (
        scene.cluster.servers["worker-1"].boots,
        scene.cluster.api.get(NODE, "worker-1")["metadata"]["uid"],
    )
    scene.wires.heal()
    scene.wait(40)
    scene.checkers.at_rest(scene.process.engine)
    assert set() == scene.broken
    assert all(server.is_heard for server in scene.cluster.servers.values())


def test_the_wrong_server_goes_off() -> None:
    """Or there would be nothing to see: what the host is told is done to the other one."""
    scene, was_off = Scene(), set[str]()

    def note(server: Server) -> None:
        if not server.has_power:
            was_off.add(server.name)

    for server in scene.cluster.servers.values():
        server.on_change.append(note)
    scene.wait(10)
    host = scene.cluster.api.get(HOST, host_of("worker-1"), NAMESPACE)

    assert {"worker-2"} == was_off
    assert f"ipmi://{host_of('worker-2')}.bmc.example" == host["spec"]["bmc"]["address"]


def test_who_goes_by_the_host_alone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S1: a node that reports is freed because its host says off."""
    proven = safety.powered_off
    monkeypatch.setattr(offsight, "sight", lambda view, node, now: Sight.SILENT)
    monkeypatch.setattr(Node, "is_heard", property(lambda node: False))
    monkeypatch.setattr(safety, "powered_off", lambda node, host, now, *_, **more: proven(node, host, now))
    scene = Scene()
    scene.wait(15)

    assert "S1" in scene.broken


def test_a_share_of_the_worlds_has_it() -> None:
    """About one of seven."""
    cluster, _, _ = calm(seed=1, nodes=2)

    assert 60 < sum(wires_of(seed, cluster) is not None for seed in range(600)) < 120
