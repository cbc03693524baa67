"""Lists that are made again and come page by page: nobody decides on half of one."""

from __future__ import annotations

import pytest

from noderemedy.engine.cache import Cache
from noderemedy.model.ids import NODE
from noderemedy.sim import objects
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.pages import Pages, pages_of
from noderemedy.sim.run import calm, lists_are_whole
from noderemedy.sim.troubles import MINUTE_MS

NODES = 20
PAGED = 15  # a seed whose lists come in pages


class Slow(Pages):
    """Five pages of a fifth each, ten seconds apart."""

    def __init__(self) -> None:
        """Nothing is drawn."""

    def split(self, listed: list[WatchEvent]) -> list[list[WatchEvent]]:
        size = NODES // 5
        return [listed[at : at + size] for at in range(0, len(listed), size)]

    def pause_ms(self) -> int:
        return 10_000


def a_storm_behind_a_list() -> tuple[list[str], list[str]]:
    """All nodes fall silent while the watch of Nodes is away; then it lists. Who is power cycled, and complaints."""
    cluster, checkers, process = calm(seed=4, nodes=NODES)
    cluster.api.create(objects.marking_check("all", "40%", cluster.durations))
    cluster.agenda.run_until(cluster.agenda.now_ms + MINUTE_MS)
    watch = next(one for one in process.watches if one.kind == NODE)
    watch.close()
    for server in cluster.servers.values():
        server.hang()
    cluster.agenda.run_until(cluster.agenda.now_ms + 10 * MINUTE_MS)
    watch.pages = (Slow(), process)
    watch.relist()
    cluster.agenda.run_until(cluster.agenda.now_ms + 3 * MINUTE_MS)
    lists_are_whole(checkers, [process])
    return [name for name, server in cluster.servers.items() if server.boots > 1], checkers.violations


def test_a_storm_that_shows_page_by_page_is_one() -> None:
    """A fifth of the nodes is below every limit, all of them are not: no power goes off between two pages."""
    assert ([], []) == a_storm_behind_a_list()


def test_a_storm_that_shows_page_by_page_turns_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: what a list brings is seen at once."""
    monkeypatch.setattr(Cache, "hold_back", lambda *_: False)
    cycled, violations = a_storm_behind_a_list()

    assert [] != cycled
    assert any("S4: half a list of Node" in line for line in violations)


def test_some_histories_have_pages() -> None:
    """One in ten: the others are what they were."""
    assert 5 < sum(pages_of(seed, 0) is not None for seed in range(100)) < 20
    assert pages_of(PAGED, 0)
