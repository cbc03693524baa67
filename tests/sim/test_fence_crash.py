"""Kill the manager at every boundary of a fence: device, node and workload end as if nothing had happened."""

from __future__ import annotations

import pytest

from noderemedy.sim.crash import Ending, sample
from noderemedy.sim.fencecrash import STORIES, play_fence

AWAY_MS = (3_000, 45_000)  # back before, or after, somebody else could have taken the lease
QUICK = 10  # points of each story; `make soak` plays them all
CALM: dict[str, Ending] = {}


def undisturbed(name: str) -> Ending:
    if name not in CALM:
        CALM[name] = play_fence(name)
    return CALM[name]


@pytest.mark.parametrize("name", STORIES)
def test_every_story_ends_well(name: str) -> None:
    """Undisturbed, each story ends without a complaint and has crash points to enumerate."""
    assert () == undisturbed(name).violations
    assert len(undisturbed(name).points) >= 40


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STORIES)
def test_a_crash_anywhere_changes_nothing(name: str) -> None:
    """A manager killed at a boundary, soon or late in turns, ends in the undisturbed state."""
    for turn, index in enumerate(sample(undisturbed(name).telling, QUICK)):
        die(name, index, AWAY_MS[turn % 2])


@pytest.mark.soak
@pytest.mark.parametrize("away_ms", AWAY_MS)
@pytest.mark.parametrize("name", STORIES)
def test_any_crash_of_any_length_changes_nothing(name: str, away_ms: int) -> None:
    """The same with every boundary and every length."""
    for index in range(len(undisturbed(name).points)):
        die(name, index, away_ms)


def die(name: str, index: int, away_ms: int) -> None:
    calm = undisturbed(name)
    ending = play_fence(name, die_at=index, away_ms=away_ms, like=calm)

    assert () == ending.violations, f"died at {index} for {away_ms} ms: {calm.points[index]}"
    assert calm.state == ending.state, f"died at {index} for {away_ms} ms: {calm.points[index]}"
