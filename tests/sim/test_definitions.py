"""Fault 15 as a story: a kind that is deleted and made again is found again, by whoever was there and who was not."""

from __future__ import annotations

import random

import pytest

from noderemedy.model.ids import HEALTH_CHECK, MACHINE
from noderemedy.sim import objects
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.definitions import Definitions
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.watching import Watch
from noderemedy.wire import names


def after(cluster: Cluster, minutes: float) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def a_checked_cluster() -> tuple[Cluster, Checkers, Process, Definitions]:
    cluster, checkers, process = calm(seed=3, nodes=6)
    cluster.api.create(objects.marking_check("all", "40%", cluster.durations))
    after(cluster, 1)
    return cluster, checkers, process, Definitions(cluster, random.Random(0))


def is_marked(cluster: Cluster, node: str) -> bool:
    found = cluster.api.get(MACHINE, machine_of(node), NAMESPACE)
    return names.NEEDS_REMEDIATION in (found["metadata"].get("annotations") or {})


def take_away(definitions: Definitions) -> None:
    """Draw until it is the kind of health checks."""
    while definitions.cluster.api.resources.find(HEALTH_CHECK) is not None:
        definitions.kind_deleted()


@pytest.mark.parametrize("restarts", [False, True])
def test_a_kind_that_comes_back_is_followed_again(restarts: bool) -> None:
    """Without checks nobody is judged; when they are back a hung node is repaired, also by a manager born meanwhile."""
    cluster, checkers, process, definitions = a_checked_cluster()
    take_away(definitions)
    if restarts:
        process.kill()
        process.start()
    cluster.servers["worker-1"].hang()
    after(cluster, 0.5)
    assert not is_marked(cluster, "worker-1")

    after(cluster, 40)

    assert [2] == [cluster.servers["worker-1"].boots]
    checkers.at_rest(process.engine)
    assert [] == checkers.violations


def test_nobody_who_stops_looking_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: a watch that gives up with its kind leaves the node unrepaired."""
    cluster, _, _, definitions = a_checked_cluster()
    monkeypatch.setattr(Watch, "_look_for_kind", lambda self: self.reader.on_missing(self.kind))
    take_away(definitions)
    cluster.servers["worker-1"].hang()

    after(cluster, 40)

    assert [1] == [cluster.servers["worker-1"].boots]
