"""Kill the manager at every boundary of its ledger: the story ends as if nothing had happened."""

from __future__ import annotations

from collections import Counter

import pytest

from noderemedy.sim.crash import STORIES, Ending, play, sample

AWAY_MS = (3_000, 45_000)  # back before, or after, somebody else could have taken the lease
QUICK = 14  # points of each story; `make soak` plays them all
CALM: dict[str, Ending] = {}


def undisturbed(name: str) -> Ending:
    if name not in CALM:
        CALM[name] = play(STORIES[name])
    return CALM[name]


@pytest.mark.parametrize("name", STORIES)
def test_every_story_ends_well(name: str) -> None:
    """Undisturbed, each story ends without a complaint and has crash points to enumerate."""
    ending = undisturbed(name)

    assert () == ending.violations
    assert len(ending.points) >= 6


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STORIES)
def test_a_crash_anywhere_changes_nothing(name: str) -> None:
    """A manager killed at a boundary and started again, soon or late in turns, ends in the undisturbed state."""
    seen: Counter[str] = Counter()
    for index in sample(undisturbed(name).telling, QUICK):
        where = undisturbed(name).points[index].where
        die(name, index, AWAY_MS[seen[where] % 2])
        seen[where] += 1


@pytest.mark.soak
@pytest.mark.parametrize("away_ms", AWAY_MS)
@pytest.mark.parametrize("name", STORIES)
def test_any_crash_of_any_length_changes_nothing(name: str, away_ms: int) -> None:
    """The same with every boundary, also of reads that were made before, and every length."""
    for index in range(len(undisturbed(name).points)):
        die(name, index, away_ms)


def die(name: str, index: int, away_ms: int) -> None:
    calm = undisturbed(name)
    ending = play(STORIES[name], die_at=index, away_ms=away_ms, like=calm)

    assert () == ending.violations, f"died at {index} for {away_ms} ms: {calm.points[index]}"
    assert calm.state == ending.state, f"died at {index} for {away_ms} ms: {calm.points[index]}"
