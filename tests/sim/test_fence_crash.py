"""Kill the manager at every boundary of a fence: device, node and workload end as if nothing had happened."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.sim.crashing import AWAY_MS, die, die_everywhere, die_here_and_there, undisturbed

from noderemedy.model.ids import JOB
from noderemedy.sim import fencecrash, jobcrash
from noderemedy.sim.crashes import SCENES, unmet

STORIES = (*fencecrash.STORIES, *jobcrash.STORIES)
QUICK = 5  # points of each story; `make soak` plays them all
# Rooms and what they may ask for that no story meets, and why: nothing may be here for want of a story.
NEVER: set[tuple[str, str]] = set()


@pytest.mark.parametrize("name", STORIES)
def test_every_story_ends_well(name: str) -> None:
    """Undisturbed, each story ends without a complaint and has crash points to enumerate."""
    assert () == undisturbed(name).violations
    assert len(undisturbed(name).points) >= 40


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STORIES)
def test_a_crash_anywhere_changes_nothing(name: str) -> None:
    """A manager killed at a boundary, soon or late in turns, ends in the undisturbed state."""
    die_here_and_there(name, QUICK)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["switched_by_jobs", "off_fails", "off_is_deleted", "remedy_fails"])
def test_a_crash_with_a_job_changes_nothing(name: str) -> None:
    """A manager that dies as a Job is made, is at work, succeeds, fails or is gone finds out what came of it."""
    first: dict[str, int] = {}
    for index, point in enumerate(undisturbed(name).points):
        if point.action == JOB.kind:
            first.setdefault(point.where, index)
    for turn, index in enumerate(first.values()):
        die(name, index, AWAY_MS[turn % 2])

    assert first


@pytest.mark.soak
@pytest.mark.parametrize("away_ms", AWAY_MS)
@pytest.mark.parametrize("name", STORIES)
def test_any_crash_of_any_length_changes_nothing(name: str, away_ms: int) -> None:
    """The same with every boundary and every length."""
    die_everywhere(name, away_ms)


# --- what all stories meet -------------------------------------------------------------------------------------------


def test_whatever_a_room_may_ask_for_is_at_a_boundary() -> None:
    """A room that may ask for something new has no crash enumerated about it until there is a story."""
    assert NEVER == unmet(map(undisturbed, SCENES))


def test_every_move_of_a_job_is_at_a_boundary() -> None:
    """Made, at work, succeeded, failed, gone."""
    points = [point for name in STORIES for point in undisturbed(name).points]
    moves = Counter(point.where for point in points if point.action == JOB.kind)

    assert {"made", "running", "succeeded", "failed", "gone"} == moves.keys()


def test_a_story_that_is_missing_is_seen() -> None:
    """Without those of marks nobody would have died about one."""
    marks = {"marked", "mark_taken_back", "node_deleted"}

    assert ("remediation", "MarkMachine") in unmet(undisturbed(name) for name in SCENES if name not in marks)
