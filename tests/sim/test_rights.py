"""Faults 13, 14 and 25 where a manager looks: lists that are refused for a while, and one that dies while it lists."""

from __future__ import annotations

import random

import pytest
from msgspec import structs

from noderemedy.model.ids import NODE, Kind
from noderemedy.model.keeping import DEFINITION
from noderemedy.rooms import watched
from noderemedy.sim import objects
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.extras import PLAIN, extras_of
from noderemedy.sim.pages import Pages
from noderemedy.sim.process import Process
from noderemedy.sim.rights import Rights
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import DIES_LISTING, MINUTE_MS, Troubles
from noderemedy.sim.watching import REFUSED
from noderemedy.wire import names

SICK = "worker-1"
TRIES = 12


class Always(random.Random):
    """Whatever may go wrong does."""

    def random(self) -> float:
        return 0.0


class Scene:
    """Six quiet nodes, under a check that marks if not said otherwise, and one manager."""

    def __init__(self, *, is_checked: bool = True) -> None:
        self.cluster: Cluster
        self.checkers: Checkers
        self.process: Process
        self.cluster, self.checkers, self.process = calm(seed=3, nodes=6)
        if is_checked:
            self.cluster.api.create(objects.marking_check("all", "40%", self.cluster.durations))
        self.run(6)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def refuse(self, *kinds: Kind) -> None:
        """From the next event on, until it is called again."""
        self.process.weather = structs.replace(self.process.weather, refused=frozenset(kinds))
        self.process.calm_watches()

    def is_marked(self) -> bool:
        return names.NEEDS_REMEDIATION in (self.cluster.machines(SICK)[0]["metadata"].get("annotations") or {})


@pytest.mark.parametrize("kinds", [(NODE,), watched()], ids=["one kind", "all kinds"])
def test_what_is_refused_is_waited_for(kinds: tuple[Kind, ...]) -> None:
    """Nothing begins while a kind may not be seen; when it may again, the hung node is repaired."""
    scene = Scene()
    scene.refuse(*kinds)
    scene.cluster.servers[SICK].hang()
    scene.run(5)
    assert (1, False) == (scene.cluster.servers[SICK].boots, scene.is_marked())
    assert not scene.process.engine.is_synced
    scene.refuse()
    scene.run(40)

    assert 2 == scene.cluster.servers[SICK].boots
    assert 0 < scene.process.met[REFUSED] == scene.process.outlived[REFUSED]
    scene.checkers.at_rest(scene.process.engine)
    assert [] == scene.checkers.violations


def cycled_in_a_storm() -> bool:
    """One node is seen to be silent; that all others are is not, for Nodes may not be seen any more."""
    scene = Scene()
    scene.cluster.servers[SICK].hang()
    scene.run(5 / 60)
    for server in scene.cluster.servers.values():
        server.hang()
    scene.run(47 / 60)
    scene.refuse(NODE)
    scene.run(10)
    return scene.cluster.servers[SICK].boots > 1


def test_nobody_acts_on_what_it_may_not_see() -> None:
    """What was seen of a kind before does not count."""
    assert not cycled_in_a_storm()


def test_who_acts_on_what_it_may_not_see_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: a refusal is taken for a pause of the stream."""
    monkeypatch.setattr(Process, "_refused", lambda self, kind: None)

    assert cycled_in_a_storm()


def test_rights_come_back_by_themselves() -> None:
    """Drawn for one manager, a few kinds or all that it does, for some minutes."""
    scene = Scene()
    rights = Rights([scene.process], random.Random(1))
    rights.rights_taken()
    assert 1 <= len(scene.process.weather.refused) <= 3
    scene.run(6)
    assert frozenset() == scene.process.weather.refused
    rights.token_expires()
    assert {*watched(), DEFINITION} == scene.process.weather.refused
    scene.run(6)

    assert frozenset() == scene.process.weather.refused
    assert all(watch.weather == scene.process.weather for watch in scene.process.watches)


def test_nobody_repairs_what_may_not_be_kept() -> None:
    """Definitions may not be seen: a Metal3Remediation does not begin; when they may again, it does."""
    scene = Scene(is_checked=False)
    scene.refuse(DEFINITION)
    scene.cluster.servers[SICK].hang()
    scene.cluster.remediate(SICK)
    scene.run(20)
    assert (1, True) == (scene.cluster.servers[SICK].boots, scene.process.decided["DefinitionHidden"] > 0)
    scene.refuse()
    scene.run(20)

    assert 2 == scene.cluster.servers[SICK].boots
    assert [] == scene.checkers.violations


def deaths(in_the_middle: bool, pages: Pages | None = None) -> tuple[int, bool]:
    """How often a manager died that had seen some of its lists; and whether it is whole again in the end."""
    scene = Scene()
    troubles = Troubles(scene.cluster, [scene.process], 1)
    troubles.chance, scene.process.pages = Always(1), pages
    troubles.deaths = random.Random(1) if in_the_middle else None
    scene.process.kill()
    troubles._restart(scene.process)
    scene.run(TRIES * 6 / 60)
    troubles.is_over = True
    scene.run(1)
    return troubles.seen[DIES_LISTING], scene.process.engine.is_synced


@pytest.mark.parametrize("pages", [None, Pages(random.Random(1))], ids=["in one piece", "in pages"])
def test_a_manager_dies_in_the_middle_of_its_lists(pages: Pages | None) -> None:
    """Fault 25: most of the time some kinds were there and some were not; the last life has them all."""
    died, is_whole = deaths(in_the_middle=True, pages=pages)

    assert TRIES // 2 <= died
    assert is_whole


def test_a_manager_that_dies_as_it_starts_has_listed_nothing() -> None:
    """As the histories have it that are as they were: nothing of fault 25 is seen there."""
    assert (0, True) == deaths(in_the_middle=False)


def test_a_quarter_of_the_histories_each() -> None:
    """By chances of their own."""
    found = [extras_of(seed, 3) for seed in range(1, 2001)]

    for what in ("deaths", "rights", "garbled", "clusters", "others"):
        assert 430 < sum(getattr(one, what) for one in found) < 570
    assert PLAIN in found
