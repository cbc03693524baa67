"""410 in every watch, in the middle of repairs: each lists again, nothing is lost, and the repairs end well."""

from __future__ import annotations

import pytest

from noderemedy.model.ids import MACHINE, ref
from noderemedy.model.room import Present
from noderemedy.rooms import ROOMS, watched
from noderemedy.sim import objects
from noderemedy.sim.aftermath import Aftermath
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.run import calm
from noderemedy.sim.sleepers import sleepers
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.watching import Watch

EVERY_MS = 7_000
SICK = ("worker-1", "worker-2")


def gone(minutes: int) -> tuple[set[str], set[str], list[str], list[int]]:
    """Every watch expires every few seconds while two nodes are repaired, each in its own way."""
    cluster, checkers, process = calm(seed=4, nodes=8)
    aftermath = Aftermath(cluster, [process])
    cluster.api.create(objects.marking_check("all", "100%", cluster.durations))
    for name in SICK:
        cluster.servers[name].hang()
    cluster.remediate(SICK[1])
    end_ms = cluster.agenda.now_ms + minutes * MINUTE_MS
    while cluster.agenda.now_ms < end_ms:
        cluster.agenda.run_until(cluster.agenda.now_ms + EVERY_MS)
        for watch in process.watches:
            watch.expire()
    cluster.agenda.run_until(end_ms + MINUTE_MS)
    served = {f"410 of {kind}" for kind in watched(ROOMS) if cluster.api.resources.find(kind)}
    checkers.at_rest(process.engine)
    asleep = sleepers(process.engine, process.now())
    boots = [cluster.servers[name].boots for name in SICK]
    return served, set(aftermath.outlived({})), checkers.violations + asleep, boots


def test_every_watch_hears_again_after_410() -> None:
    """Of every kind that is served; both nodes are back, and the caches are those of the API."""
    served, outlived, violations, boots = gone(20)

    assert len(served) > 10
    assert set() == served - outlived
    assert ([], [2, 2]) == (violations, boots)


def test_a_watch_that_never_lists_again_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: after 410 the watch is closed, and that is all."""
    monkeypatch.setattr(Watch, "expire", Watch.close)
    served, outlived, violations, boots = gone(5)

    assert served == served - outlived
    assert 1 == boots[0]
    assert [] != violations


def test_a_stream_that_breaks_before_its_list_lists_again() -> None:
    """Nobody goes on from a list that never came: what changed meanwhile would stay unknown."""
    cluster, _, process = calm(seed=4, nodes=3)
    (watch,) = [one for one in process.watches if one.kind == MACHINE]
    at = ref(MACHINE, machine_of("worker-1"), objects.NAMESPACE)
    cluster.api.patch(MACHINE, at.name, at.namespace, {"metadata": {"labels": {"rack": "b"}}}, "merge")
    watch.relist()
    watch.break_off()
    cluster.agenda.run_until(cluster.agenda.now_ms + 5 * MINUTE_MS)

    entry = process.engine.cache.read(at)
    assert isinstance(entry, Present)
    assert ("rack", "b") in entry.obj.labels
