"""Growing, jittered pauses between attempts: many managers must not knock at a recovering server together."""

from __future__ import annotations

import random

from noderemedy.model.time import Span

FIRST = Span(500)
MOST = Span(30_000)


class Backoff:
    """Doubles from `first` to `most`; each pause is drawn between half of that and all of it."""

    def __init__(self, chance: random.Random, first: Span = FIRST, most: Span = MOST) -> None:
        self._chance = chance
        self._first = first
        self._most = most
        self._next = first

    def pause(self, wish: Span | None = None) -> Span:
        """How long to wait now. A server's own wish (Retry-After) is a lower bound, never shortened."""
        drawn = self._next.ms * (0.5 + self._chance.random() / 2)
        self._next = min(self._next * 2, self._most)
        if wish is None:
            return Span(round(drawn))
        # Everybody was told the same number: spread the return a little behind it.
        return wish + Span(round(wish.ms * self._chance.random() / 10))

    def reset(self) -> None:
        """It worked: the next pause is short again."""
        self._next = self._first
