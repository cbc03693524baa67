"""Dumps and drills in virtual time: kernels that say that they dump, and devices that are asked on a schedule."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec import structs

from noderemedy.core.fencing import drills, power, staleness
from noderemedy.model.drill import FENCING_READY
from noderemedy.model.ids import NODE
from noderemedy.model.run import Deed, Power
from noderemedy.model.time import Span
from noderemedy.sim.dumps import Dumps
from noderemedy.sim.fencecrash import FencedCheckers, stage
from noderemedy.sim.fenced import DUMP_WITHIN
from noderemedy.sim.fencetroubles import node_fence
from noderemedy.sim.outlets import Fault
from noderemedy.sim.troubles import MINUTE_MS

SICK = "worker-1"
OFTEN = Span(20 * MINUTE_MS)


class World:
    """Five nodes, one of each sort, which only people have fenced."""

    def __init__(self, drills: Span | None = None) -> None:
        self.cluster, checkers, self.process = stage("person", 1, 5, drills)
        assert isinstance(checkers, FencedCheckers)
        self.checkers = checkers
        self.dumps = Dumps(self.cluster.agenda, [self.process])
        self.server = self.cluster.servers[SICK]
        self.outlet = self.cluster.outlets.by_node[SICK][0]

    def wait(self, minutes: int) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + minutes * MINUTE_MS)

    def fence(self) -> None:
        self.cluster.api.create(node_fence(SICK, powerManagementDelay="0s", ttlAfterFinal="60s"))

    def forge(self, minutes: int) -> None:
        """The node hangs, and somebody says for so long that it dumps."""
        self.server.hang()
        self.dumps.forge(SICK, self.cluster.agenda.now_ms + minutes * MINUTE_MS)

    @property
    def told(self) -> set[str]:
        return {type(notice.reason).__name__ for notice in self.process.notices}

    @property
    def broken(self) -> set[str]:
        return {line.split(": ")[1] for line in self.checkers.violations}

    def ready(self) -> dict[str, list[str]]:
        """What the last drill of each node said."""
        return {name: says(self.cluster.api.get(NODE, name)) for name in self.cluster.servers}


def says(node: dict[str, Any]) -> list[str]:
    return [one["status"] for one in node["status"]["conditions"] if one["type"] == FENCING_READY]


def test_a_kernel_that_dumps_is_left_to_its_dump() -> None:
    """It has its memory written down and boots by itself; nobody switched it off, and its fence ends."""
    world = World()
    world.dumps.dump(world.server, 3 * MINUTE_MS)
    world.wait(2)
    world.fence()
    world.wait(10)
    world.checkers.at_rest(None)

    assert (2, False) == (world.server.boots, world.outlet.was_sent)
    assert set() == world.broken


def test_a_forged_dump_only_delays() -> None:
    """Race R39: the message is no proof, and its time ends although the messages do not."""
    world = World()
    world.forge(minutes=30)
    world.wait(2)
    world.fence()
    world.wait(DUMP_WITHIN.ms // MINUTE_MS - 3)
    assert ({}, False) == (dict(world.process.freed_by), world.outlet.was_sent)
    world.wait(15)

    assert (2, set()) == (world.server.boots, world.broken)


def test_switching_a_dump_off_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2, sabotaged: nobody asks whether the node dumps."""
    monkeypatch.setattr(power, "dumping", lambda view, now: None)
    world = World()
    world.forge(minutes=30)
    world.wait(2)
    world.fence()
    world.wait(5)

    assert "F2" in world.broken


def test_drills_tell_of_every_node() -> None:
    """Every node says that its devices answered, and nothing is written when that is known."""
    world = World(OFTEN)
    world.wait(45)
    before = len(world.process.writes)
    world.wait(45)
    world.checkers.at_rest(None)

    assert {name: ["True"] for name in world.cluster.servers} == world.ready()
    assert (before, set()) == (len(world.process.writes), world.broken)


def test_a_device_that_does_not_answer_is_told_and_taken_back() -> None:
    """`FencingReady` is False while the BMC is away, kubelet leaves it alone, and a later drill takes it back."""
    world = World(OFTEN)
    world.wait(45)
    world.outlet.faults.add(Fault.UNREACHABLE)
    world.wait(45)
    assert (["False"], True) == (world.ready()[SICK], "FencingNotReady" in world.told)
    world.outlet.faults.clear()
    world.wait(45)

    assert ["True"] == world.ready()[SICK]


def test_a_drill_that_tells_what_is_not_so_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """L8, sabotaged: whatever a device says, something is wrong with it."""
    monkeypatch.setattr(drills, "judge", lambda method, *_: drills.Finding(method.name, "DeviceFailed", "no"))
    world = World(OFTEN)
    world.wait(45)
    world.checkers.at_rest(None)

    assert "L8" in world.broken


def test_a_drill_that_switches_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """F1, sabotaged: a drill orders "off", and nobody asks whether a NodeFence wants that."""
    usual = drills.order_for
    monkeypatch.setattr(drills, "order_for", lambda *about: structs.replace(usual(*about), deed=Deed.OFF))
    monkeypatch.setattr(staleness, "belongs_to_a_fence", lambda order: False)
    world = World(OFTEN)
    world.wait(45)

    assert "F1" in world.broken


def test_answers_that_change_call_only_a_node_off_that_is_heard() -> None:
    """Fault 53: on, off and nothing in turns; but no device calls a silent node off that runs, as nobody could know."""
    cluster, _, _ = stage("person", 1, 5)
    server, outlet = cluster.servers["worker-1"], cluster.outlets.by_node["worker-1"][0]
    outlet.faults.add(Fault.FLAPPING)
    chance = random.Random(1)

    assert set(Power) == {outlet.says(chance) for _ in range(100)}
    server.hang()
    assert {Power.ON, Power.UNKNOWN} == {outlet.says(chance) for _ in range(100)}
