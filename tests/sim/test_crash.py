"""Kill the manager at every boundary of its ledger: the story ends as if nothing had happened."""

from __future__ import annotations

import pytest

from noderemedy.sim.crash import STORIES, Ending, play

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


@pytest.mark.parametrize("away_ms", [3_000, 45_000])
@pytest.mark.parametrize("name", STORIES)
def test_a_crash_anywhere_changes_nothing(name: str, away_ms: int) -> None:
    """A manager killed at any boundary and started again ends in the undisturbed state."""
    calm = undisturbed(name)
    for index, point in enumerate(calm.points):
        ending = play(STORIES[name], die_at=index, away_ms=away_ms)

        assert () == ending.violations, f"died at {index}: {point}"
        assert calm.state == ending.state, f"died at {index}: {point}"
