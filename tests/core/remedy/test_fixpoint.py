"""Properties of remedies: whatever happens in whichever order, no remedy runs twice, and all comes to rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.remedy.scene import TEXT, Scene, text
from tests.core.remedy.test_cleaning import CLEANS

from noderemedy.core.remedy import remedy, thresholds
from noderemedy.model.actions import IRREVERSIBLE
from noderemedy.model.ids import JOB, NODE, SYSTEM, ref

BROKEN = text(("nodeConditionPeriod: 60s", "nodeConditionPeriod: soon"))
DEEDS: dict[str, Callable[[Scene], object]] = {
    "falls silent": lambda it: it.falls_sick(),
    "says no": lambda it: it.falls_sick(status="False"),
    "is back": lambda it: it.recovers(),
    "boots": lambda it: it.set_status(boot=f"boot-{len(it.done)}"),
    "a Job succeeds": lambda it: it.end_job() if it.running_jobs() else None,
    "a Job fails": lambda it: it.end_job(False) if it.running_jobs() else None,
    "a Job is deleted": lambda it: it.delete(JOB, it.running_jobs()[0]) if it.running_jobs() else None,
    "a manager starts": lambda it: it.start(),
    "broken": lambda it: it.write_document(BROKEN),
    "mended": lambda it: it.write_document(TEXT),
    "a minute": lambda it: it.wait(61),
    "five minutes": lambda it: it.wait(301),
}


def the_story(scene: Scene) -> Scene:
    """Two remedies, of which the first one frees what ran there, and the recovery."""
    scene.falls_sick()
    scene.wait(130)  # a successor watches for a while before it begins anything
    scene.end_job()
    scene.wait(190)
    scene.end_job()
    scene.wait(20)
    scene.set_status(boot="boot-2")
    scene.recovers()
    scene.wait(60)
    scene.end_job()
    scene.wait(60)
    return scene


WRITES = len(the_story(Scene(CLEANS)).done)


@pytest.mark.parametrize("number", range(1, WRITES + 1))
def test_a_manager_may_die_with_any_write(number: int) -> None:
    """The answer is lost with it: its successor finds what was written, and the story ends as ever."""
    scene = Scene(CLEANS)
    scene.dies_after = number
    the_story(scene)

    assert (["repair", "reset", "welcome"], {}) == (scene.ordered(), scene.notes())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(DEEDS)), max_size=14))
def test_no_remedy_of_an_episode_runs_twice(deeds: list[str]) -> None:
    """One Job for each episode and number, at most; and what is decided is decided again the same way."""
    scene = Scene()
    made: Counter[tuple[str, str]] = Counter()
    known: set[str] = set()
    for deed in deeds:
        DEEDS[deed](scene)
        for tree in scene.api.list(JOB, SYSTEM):
            if tree["metadata"]["uid"] not in known:
                known.add(tree["metadata"]["uid"])
                notes = tree["metadata"]["annotations"]
                made[notes["node-remedy.dev/episode"], notes["node-remedy.dev/remedy-name"]] += 1
        for room in (remedy.ROOM, thresholds.ROOM):
            view = room.sees(ref(NODE, "n0"), scene.engine.cache)
            if view is not None:
                decided = room.decide(view, scene.now)
                assert decided == room.decide(view, scene.now)
                assert 1 >= sum(isinstance(one, IRREVERSIBLE) for one in decided.actions)

    assert set() == {key for key, count in made.items() if count > 1}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(sorted(DEEDS)), max_size=10))
def test_all_comes_to_rest(deeds: list[str]) -> None:
    """Whatever happened: when Jobs end and the node is well, nothing is left on it, and idle means no writes."""
    scene = Scene()
    for deed in deeds:
        DEEDS[deed](scene)
    scene.write_document(TEXT)
    scene.recovers()
    for _ in range(4):
        if scene.running_jobs():
            scene.end_job()
        scene.wait(700)
    writes = len(scene.done)
    scene.wait(86_400)

    assert ({}, writes) == (scene.notes(), len(scene.done))
