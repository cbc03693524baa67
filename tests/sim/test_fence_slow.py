"""Fault 54 in virtual time: devices that need two minutes for whatever they are asked, with all checkers on."""

from __future__ import annotations

import pytest

from noderemedy.core import safety
from noderemedy.model.ids import CONFIG_MAP
from noderemedy.model.run import Deed
from noderemedy.sim import outlets
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.fencecrash import stage
from noderemedy.sim.fenced import TEMPLATES
from noderemedy.sim.objects import SYSTEM
from noderemedy.sim.outlets import Fault, Sent
from noderemedy.sim.troubles import MINUTE_MS

TWO_MINUTES_MS = (120_000, 125_000)
WITH_ONE, WITH_TWO, BEHIND_A_SWITCH = "worker-1", "worker-2", "worker-3"  # a BMC; two PDUs; the same and its storage


class World:
    """Five nodes, one of each sort; the devices of one are slow, and its methods have the time for it."""

    def __init__(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(outlets, "SLOW_MS", TWO_MINUTES_MS)
        self.cluster, self.checkers, self.process = stage("check", 1, 5)
        self.server = self.cluster.servers[name]
        self.asked: list[str] = []
        self.cluster.outlets.on_sent.append(self._sent)
        for template in ("ipmi", "apc", "brocade"):
            give_time(self.cluster, template)
        for outlet in self.cluster.outlets.by_node[name]:
            outlet.faults.add(Fault.SLOW)

    def _sent(self, sent: Sent) -> None:
        if sent.outlet.server is self.server and sent.order.deed is Deed.STATUS:
            self.asked.append(sent.order.method)

    def wait(self, minutes: int) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + minutes * MINUTE_MS)


def give_time(cluster: Cluster, template: str) -> None:
    text = f"{TEMPLATES[template]}timeout=600\n"
    body = {"data": {"template.properties": text}}
    cluster.api.patch(CONFIG_MAP, f"fence-method-template-{template}", SYSTEM, body, "merge")


@pytest.mark.parametrize("name", [WITH_ONE, WITH_TWO, BEHIND_A_SWITCH])
def test_devices_that_are_slow_by_two_minutes_are_survived(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is asked once, what ran on the node runs elsewhere, the node is back, and no rule was broken."""
    world = World(name, monkeypatch)
    world.server.hang()
    world.wait(60)
    world.checkers.at_rest(None)

    assert [] == world.checkers.violations
    assert (2, True) == (world.server.boots, world.server.is_heard)
    assert len(world.cluster.outlets.by_node[name]) == len(world.asked)
    assert sum(world.process.freed_by.values())


def test_who_asks_slow_devices_for_ever_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotaged: what a device takes makes its word old. No node of slow devices comes back within the hour."""
    monkeypatch.setattr(safety, "idle", lambda run, until: until.since(run.begun))
    world = World(WITH_TWO, monkeypatch)
    world.server.hang()
    world.wait(60)

    assert {} == dict(world.process.freed_by)
    assert len(world.cluster.outlets.by_node[WITH_TWO]) < len(world.asked)
