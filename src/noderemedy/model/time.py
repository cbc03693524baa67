"""Time as three distinct types, in whole milliseconds: Wall, Mono and Span.

API timestamps are wall time; timers, watchdogs and confirmations are monotonic time. Mixing them has
shortened safety waits in other systems (races R4, R5), so here `Wall < Mono` is a type error and a
run-time error. `Now` is the only clock that the pure rings know: an argument.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct

# The years 1 to 9999. People pause "until 9999-12-31T23:59:59-05:00", which in UTC is past the last of them.
CALENDAR_BEGINS, CALENDAR_ENDS = -62_135_596_800, 253_402_300_799


class Span(Struct, frozen=True, order=True):
    """A length of time."""

    ms: int

    @classmethod
    def seconds(cls, seconds: float) -> Span:
        return cls(round(seconds * 1000))

    def __add__(self, other: Span) -> Span:
        return Span(self.ms + other.ms)

    def __sub__(self, other: Span) -> Span:
        return Span(self.ms - other.ms)

    def __mul__(self, factor: int) -> Span:
        return Span(self.ms * factor)

    def __str__(self) -> str:
        return f"{self.ms / 1000:g}s"


class Wall(Struct, frozen=True, order=True):
    """A moment on some wall clock, in milliseconds since 1970 (UTC)."""

    ms: int

    def __add__(self, span: Span) -> Wall:
        return Wall(self.ms + span.ms)

    def since(self, earlier: Wall) -> Span:
        return Span(self.ms - earlier.ms)

    def __str__(self) -> str:
        return text_of(min(max(self.ms // 1000, CALENDAR_BEGINS), CALENDAR_ENDS))


@lru_cache(maxsize=4096)
def text_of(second: int) -> str:
    """A second since 1970 as API timestamps spell it. Many objects tell of the same seconds."""
    return f"{datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


class Mono(Struct, frozen=True, order=True):
    """A moment on this process's monotonic clock, in milliseconds since its arbitrary start."""

    ms: int

    def __add__(self, span: Span) -> Mono:
        return Mono(self.ms + span.ms)

    def since(self, earlier: Mono) -> Span:
        return Span(self.ms - earlier.ms)


class Now(Struct, frozen=True):
    """The present: both clocks read together, and 64 seeded bits of chance (recorded in the trace)."""

    wall: Wall
    mono: Mono
    draw: int = 0

    def until(self, wall: Wall) -> Mono:
        """When the monotonic clock will stand where the wall clock shows `wall`, if nobody steps it."""
        return self.mono + Span(wall.ms - self.wall.ms)

    def shown_at(self, mono: Mono) -> Wall:
        """What the wall clock shows when the monotonic one stands there, if nobody steps it."""
        return self.wall + mono.since(self.mono)


SECOND = Span(1_000)
MINUTE = Span(60_000)
