"""`podsPerMinute` in virtual time: two nodes that are freed at once wait for each other, in whichever way they are."""

from __future__ import annotations

import pytest

from noderemedy.core.budget import pods
from noderemedy.model.ids import BUDGET, NODE
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.kinds import POD
from noderemedy.sim.pacecheckers import PaceCheckers
from noderemedy.sim.run import calm
from noderemedy.sim.server import Server
from noderemedy.sim.troubles import MINUTE_MS

WAYS = ("annotation", "taint", "pods", "node")


def repair(cluster: Cluster, node: str, way: str) -> None:
    """Ask for it by the annotation, or by a request that frees in this way."""
    if way == "annotation":
        cluster.mark(node)
    else:
        cluster.remediate(node, strategy="reboot", freeBy=way)


def run(cluster: Cluster, minutes: float) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def two_at_once(way: str) -> tuple[list[Server], Checkers, list[str]]:
    """Two of twenty nodes hang, each with one pod; one pod may be freed per minute. These two, and what was told."""
    cluster, checkers, process = calm(seed=5, nodes=20)
    Budgeting(checkers)
    PaceCheckers(checkers, [process], per_minute=1)
    cluster.api.patch(BUDGET, "cluster", "", {"spec": {"podsPerMinute": 1}}, "merge")
    run(cluster, 1)
    sick = [name for name in cluster.servers if 1 == len(cluster.api.list(POD, fields=f"spec.nodeName={name}"))][:2]
    for name in sick:
        cluster.servers[name].hang()
    run(cluster, 2)
    for name in sick:
        repair(cluster, name, way)
    run(cluster, 25)
    assert all(cluster.api.find(NODE, name) for name in sick)
    return (
        [cluster.servers[name] for name in sick],
        checkers,
        [type(notice.reason).__name__ for notice in process.notices],
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_second_node_waits_for_the_first(way: str) -> None:
    """Both are freed and repaired, a minute apart; the one that waits says why."""
    servers, checkers, told = two_at_once(way)

    assert [2, 2] == [server.boots for server in servers]
    assert [] == checkers.violations
    assert 2 <= checkers.ran["S3 pods per minute"]
    assert "FreeingPaced" in told


@pytest.mark.parametrize("way", WAYS)
def test_the_checker_was_seen_red(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: a budget that lets everything go."""
    monkeypatch.setattr(pods, "allowed", lambda wish, limit, freed: wish.pods)

    assert any("S3: 2 pods were freed within a minute" in line for line in two_at_once(way)[1].violations)
