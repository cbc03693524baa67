"""What both tests of things that simulated days must have met share: counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from noderemedy.sim.run import Report
from noderemedy.sim.sometimes import Wanted, with_rules


def met(reports: list[Report], what: str) -> set[str]:
    """Names as reports have them; a checker is met by the name of its rule, too."""
    return with_rules(name for report in reports for name in getattr(report, what))


def until_met(wanted: Wanted, seeds: Iterable[int], simulate: Callable[[int], Report]) -> list[Report]:
    """Seed after seed until nothing on the list is missing, or none is left."""
    found: list[Report] = []
    for seed in seeds:
        found.append(simulate(seed))
        if all(some <= met(found, what) for what, some in wanted.items()):
            break
    return found
