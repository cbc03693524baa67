"""Plays crash stories for tests: each undisturbed once, then with a manager that dies at some of its points."""

from __future__ import annotations

from functools import cache

from noderemedy.sim.crash import Ending, sample
from noderemedy.sim.crashes import told

AWAY_MS = (3_000, 45_000)  # back before, or after, somebody else could have taken the lease


@cache
def undisturbed(name: str) -> Ending:
    return told(name)


def die_here_and_there(name: str, count: int) -> None:
    """At about so many points that differ, soon or late in turns, for each sort of them."""
    seen: dict[str, int] = {}
    for index in sample(undisturbed(name).telling, count):
        where = undisturbed(name).points[index].where
        die(name, index, AWAY_MS[seen.get(where, 0) % 2])
        seen[where] = seen.get(where, 0) + 1


def die_everywhere(name: str, away_ms: int) -> None:
    """At every point, also of reads that were made before."""
    for index in range(len(undisturbed(name).points)):
        die(name, index, away_ms)


def die(name: str, index: int, away_ms: int) -> None:
    calm = undisturbed(name)
    ending = told(name, die_at=index, away_ms=away_ms, like=calm)

    assert () == ending.violations, f"died at {index} for {away_ms} ms: {calm.points[index]}"
    assert calm.state == ending.state, f"died at {index} for {away_ms} ms: {calm.points[index]}"
