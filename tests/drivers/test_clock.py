"""The clocks: whole milliseconds, both read together, chance from the seed."""

from __future__ import annotations

import random
import time

from noderemedy.drivers.clock import Clock
from noderemedy.model.time import Mono, Now, Wall


def test_nanoseconds_become_milliseconds() -> None:
    """Both clocks are rounded down, and the draw comes from the given generator."""
    clock = Clock(random.Random(1), lambda: 1_999_999, lambda: 5_000_000)

    assert Now(Wall(1), Mono(5), random.Random(1).getrandbits(64)) == clock.now()


def test_the_real_clocks_agree_with_the_system() -> None:
    """Wall time is the system's; monotonic time passes at its speed."""
    clock = Clock(random.Random(1))
    before = clock.now()
    time.sleep(0.02)
    after = clock.now()

    assert abs(after.wall.ms - time.time() * 1000) < 1000
    assert 15 <= after.mono.since(before.mono).ms < 2000
