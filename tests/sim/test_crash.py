"""Kill the manager at every boundary of its ledger: the story ends as if nothing had happened."""

from __future__ import annotations

import pytest
from tests.sim.crashing import AWAY_MS, die_everywhere, die_here_and_there, undisturbed

from noderemedy.sim import checkcrash, crash

STORIES = (*crash.STORIES, *checkcrash.STORIES)
QUICK = 8  # points of each story; `make soak` plays them all


@pytest.mark.parametrize("name", STORIES)
def test_every_story_ends_well(name: str) -> None:
    """Undisturbed, each story ends without a complaint and has crash points to enumerate."""
    assert () == undisturbed(name).violations
    assert len(undisturbed(name).points) >= 6


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STORIES)
def test_a_crash_anywhere_changes_nothing(name: str) -> None:
    """A manager killed at a boundary and started again, soon or late in turns, ends in the undisturbed state."""
    die_here_and_there(name, QUICK)


@pytest.mark.soak
@pytest.mark.parametrize("away_ms", AWAY_MS)
@pytest.mark.parametrize("name", STORIES)
def test_any_crash_of_any_length_changes_nothing(name: str, away_ms: int) -> None:
    """The same with every boundary, also of reads that were made before, and every length."""
    die_everywhere(name, away_ms)
