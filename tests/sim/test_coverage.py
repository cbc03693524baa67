"""What a handful of seeds must have met: a simulation that never sees a fault or a state proves little."""

from __future__ import annotations

from collections import Counter

from noderemedy.rooms import ROOMS
from noderemedy.sim.run import simulate
from noderemedy.sim.troubles import MINUTE_MS


def test_a_few_seeds_meet_every_action_trouble_and_checker() -> None:
    """Across five seeds every action of every room, every trouble and every checker happens at least once."""
    actions, troubles, checks = Counter[str](), Counter[str](), Counter[str]()
    for seed in range(101, 106):
        report = simulate(seed, nodes=20, hours=2.0, trouble_every_ms=MINUTE_MS)
        assert () == report.violations
        actions.update(report.actions)
        troubles.update(report.troubles)
        checks.update(report.checks)

    assert {kind.__name__ for room in ROOMS for kind in room.may} == set(actions)
    assert 20 == len(troubles)
    assert 11 == len(checks)
