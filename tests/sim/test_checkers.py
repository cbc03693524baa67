"""Checkers and controllers stand up to what people do with kubectl in a lab."""

from __future__ import annotations

from noderemedy.model.ids import NODE
from noderemedy.sim import objects
from noderemedy.sim.kinds import CUSTOM_RESOURCE
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS


def test_a_node_without_a_server_may_come_and_go() -> None:
    """A Node that somebody made by hand is nobody's business."""
    cluster, checkers, _ = calm(seed=1, nodes=3)
    cluster.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "by-hand"}})
    cluster.api.delete(NODE, "by-hand")

    assert [] == checkers.violations


def test_a_world_without_machines_goes_on() -> None:
    """Somebody deletes the kind of all Machines: nodes still get sick and well."""
    cluster, _, _ = calm(seed=1, nodes=3)
    cluster.api.create(objects.marking_check("all", "40%", cluster.durations))
    cluster.api.delete(CUSTOM_RESOURCE, "machines.cluster.x-k8s.io")
    cluster.servers["worker-1"].hang()
    cluster.agenda.run_until(cluster.agenda.now_ms + 10 * MINUTE_MS)
    conditions = cluster.api.get(NODE, "worker-1")["status"]["conditions"]

    assert ["Unknown"] == [item["status"] for item in conditions if item["type"] == "Ready"]
    assert [] == cluster.machines("worker-1")
