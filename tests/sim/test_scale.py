"""Failures at scale, on simulated nodes (seed 003, test plan): half of 500 nodes are a storm, five of them are not."""

from __future__ import annotations

from noderemedy.model.ids import HEALTH_CHECK
from noderemedy.sim.objects import NAMESPACE, marking_check
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS

NODES, SILENT, LEFT = 500, 250, 5


def test_a_storm_starts_no_repair_and_its_end_starts_those_that_are_left() -> None:
    """Above maxUnhealthy nobody is switched off; when people have brought most of them back, the rest is repaired."""
    cluster, checkers, process = calm(seed=7, nodes=NODES)
    cluster.api.create(marking_check("workers", "40%", cluster.durations))
    sick = [cluster.servers[name] for name in list(cluster.servers)[-SILENT:]]
    for server in sick:
        server.hang()
    cluster.agenda.run_until(12 * MINUTE_MS)
    status = cluster.api.get(HEALTH_CHECK, "workers", NAMESPACE)["status"]
    storm = {(server.has_power, server.boots) for server in sick}
    for server in sick[LEFT:]:
        server.booted()
    cluster.agenda.run_until(40 * MINUTE_MS)
    checkers.at_rest(process.engine)

    assert (NODES, NODES - SILENT, 0) == tuple(
        status[name] for name in ("expectedMachines", "currentHealthy", "remediationsAllowed")
    )
    assert ({(True, 1)}, {2}) == (storm, {server.boots for server in sick})
    assert (LEFT, []) == (process.acted.count("DeleteNode"), checkers.violations)
