"""Owners who replace what fencing does not help: a pool of the reference owner, and servers that are installed anew."""

from __future__ import annotations

import random

import pytest

from noderemedy.core.fencing import request
from noderemedy.model.ids import FENCE_REMEDIATION, MACHINE, NODE, NODE_FENCE
from noderemedy.model.nodefence import NodeFence, State
from noderemedy.sim import escalating
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.escalating import Escalating, is_asked
from noderemedy.sim.escalationcheckers import BY_FENCING, EscalationCheckers
from noderemedy.sim.extras import PLAIN
from noderemedy.sim.fencecheckers import FenceCheckers
from noderemedy.sim.fenced import Fenced, fenced_cluster
from noderemedy.sim.fencerun import simulate_fencing
from noderemedy.sim.granting import Granting
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.outlets import Fault
from noderemedy.sim.process import Process
from noderemedy.sim.server import Server
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM

SEED = 18  # fencing fails for instances whose document goes with their Node


class Scene:
    """Ten quiet nodes, all of them fenced for their check, with owners; a pool of three; one manager."""

    def __init__(self) -> None:
        self.cluster = fenced_cluster(10, 1)
        self.checkers = Checkers(self.cluster)
        Granting(self.checkers)
        self.fenced = Fenced(self.cluster, ("check",), strategy="escalate")
        self.of_owners = EscalationCheckers(self.checkers)
        self.owners = Escalating(self.fenced, 1, random.Random(1))
        process = Process("manager-1", self.cluster, weather=CALM, seed=1)
        self.of_fences = FenceCheckers(self.checkers, self.fenced, [process])
        process.start()
        self.wait(10)

    def wait(self, minutes: int) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + minutes * MINUTE_MS)

    def die(self, server: Server) -> None:
        """It never boots again."""
        server.is_broken = True
        server.hang()

    def tell(self, machine: str) -> None:
        """Write by hand what a FenceRemediation says to an owner."""
        told = [{"type": "OwnerRemediated", "status": "False", "reason": "x", "message": BY_FENCING}]
        body = {"status": {"conditions": told}}
        self.cluster.api.patch(MACHINE, machine, NAMESPACE, body, "merge", subresource="status")

    @property
    def broken(self) -> set[str]:
        return {line.split(": ")[1] for line in self.checkers.violations}


def test_an_instance_that_fencing_does_not_help_is_replaced() -> None:
    """It never boots again: its owner is asked, its successor has a node, and nothing of fence and request is left."""
    scene = Scene()
    scene.die(scene.cluster.provider.instances["pool-1"])
    scene.wait(40)
    scene.of_owners.at_rest()
    scene.checkers.successors.at_rest()

    assert (set(), 1) == (scene.broken, scene.of_owners.asked)
    assert "pool-1" not in {tree["metadata"]["name"] for tree in scene.cluster.api.list(MACHINE)}
    assert [] == [*scene.cluster.api.list(FENCE_REMEDIATION), *scene.cluster.api.list(NODE_FENCE)]


@pytest.mark.parametrize("node", ["worker-1", "worker-2", "worker-3", "worker-4", "worker-5"])
def test_a_server_that_fencing_does_not_help_is_installed_anew(node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each sort of device: another Machine of the same name, another boot, and the labels that it had."""
    monkeypatch.setattr(escalating, "IDLE_SHARE", 0.0)
    scene = Scene()
    before = scene.cluster.api.get(MACHINE, machine_of(node), NAMESPACE)["metadata"]["uid"]
    scene.die(scene.cluster.servers[node])
    scene.wait(60)
    scene.of_owners.at_rest()

    assert (set(), [node]) == (scene.broken, scene.owners.installer.replaced)
    assert before != scene.cluster.api.get(MACHINE, machine_of(node), NAMESPACE)["metadata"]["uid"]
    assert scene.cluster.servers[node].is_heard
    assert scene.fenced.device(node) == scene.cluster.api.get(NODE, node)["metadata"]["labels"]["device"]
    assert [] == scene.cluster.api.list(FENCE_REMEDIATION)


def test_an_owner_that_does_nothing_calls_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """After half an hour the request has failed, and the Machine is the same."""
    monkeypatch.setattr(escalating, "IDLE_SHARE", 1.0)
    scene = Scene()
    scene.die(scene.cluster.servers["worker-1"])
    scene.wait(60)

    assert ["failed"] == [tree["status"]["phase"] for tree in scene.cluster.api.list(FENCE_REMEDIATION)]
    assert (set(), []) == (scene.broken, scene.owners.installer.replaced)


# --- each checker has been seen red --------------------------------------------------------------------------------


def test_an_owner_that_is_asked_for_nothing_is_seen() -> None:
    """S14 and S3: no request has escalated, and nobody gave leave."""
    scene = Scene()
    scene.tell("pool-1")

    assert {"S14", "S3"} == scene.broken


def test_an_owner_that_is_asked_too_early_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: the fence has starts left."""
    monkeypatch.setattr(NodeFence, "is_given_up", property(lambda fence: fence.status.state is State.ERROR))
    scene = Scene()
    for outlet in scene.cluster.outlets.by_node["pool-1"]:
        outlet.faults.add(Fault.UNREACHABLE)
    scene.cluster.provider.instances["pool-1"].hang()
    scene.wait(20)

    assert "S14" in scene.broken


def test_a_machine_that_goes_for_nothing_is_seen() -> None:
    """S18: somebody deletes one that nobody asked about."""
    scene = Scene()
    scene.cluster.api.delete(MACHINE, "pool-1", NAMESPACE)

    assert {"S18"} == scene.broken


def test_a_word_that_stays_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """L2: an owner that did nothing is asked for ever, although its machine is well again."""
    monkeypatch.setattr(escalating, "IDLE_SHARE", 1.0)
    monkeypatch.setattr(request, "taken_back", lambda view, now: None)
    scene = Scene()
    scene.die(scene.cluster.servers["worker-1"])
    scene.wait(30)
    assert is_asked(scene.cluster.api.get(MACHINE, machine_of("worker-1"), NAMESPACE))
    scene.cluster.servers["worker-1"].is_broken = False
    scene.cluster.servers["worker-1"].booted()
    scene.wait(20)
    scene.of_owners.at_rest()

    assert "L2" in scene.broken


def test_a_request_that_escalates_beside_the_table_is_seen() -> None:
    """S14: what has ended does not go on."""
    scene = Scene()
    scene.die(scene.cluster.servers["worker-1"])
    scene.wait(6)
    (tree,) = scene.cluster.api.list(FENCE_REMEDIATION)
    for phase in ("recovered", "deleting-machine"):
        body = {"status": {"phase": phase}}
        scene.cluster.api.patch(
            FENCE_REMEDIATION, tree["metadata"]["name"], NAMESPACE, body, "merge", subresource="status"
        )

    assert "S14" in scene.broken


@pytest.mark.timeout(300)
def test_a_plan_that_goes_with_its_node_keeps_no_fence() -> None:
    """A seed that found one: NodeFence and FenceRemediation waited for ever."""
    assert () == simulate_fencing(SEED, extras=PLAIN).violations
