"""The real clocks, as the `Now` that the pure rings take. Programs make one `Clock` and pass its readings down.

Where the system has it, the monotonic clock is the one that goes on while the machine is suspended: a leader
that slept through its lease must find it expired when it wakes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from noderemedy.model.time import Mono, Now, Wall

NANOSECONDS = 1_000_000


def _boot_time_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


MONOTONIC_NS: Callable[[], int] = _boot_time_ns if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns


class Clock:
    """Reads both clocks together and draws the bits of chance that go into the trace."""

    def __init__(
        self,
        chance: random.Random,
        wall_ns: Callable[[], int] = time.time_ns,
        mono_ns: Callable[[], int] = MONOTONIC_NS,
    ) -> None:
        self._chance = chance
        self._wall_ns = wall_ns
        self._mono_ns = mono_ns

    def now(self) -> Now:
        """The present."""
        return Now(self.wall(), self.mono(), self._chance.getrandbits(64))

    def wall(self) -> Wall:
        return Wall(self._wall_ns() // NANOSECONDS)

    def mono(self) -> Mono:
        return Mono(self._mono_ns() // NANOSECONDS)
