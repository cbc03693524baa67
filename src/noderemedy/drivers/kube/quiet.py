"""Notices when nobody has spoken for too long. One timer per stream; hearing something costs one look at the clock.

Used by `KubeClient.stream`. The HTTP library's own read time-out sets and cancels a timer for every chunk, which at the
rate of heartbeats was a tenth of what they cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from noderemedy.model.time import Span


class Quiet:
    """Calls `end` once nothing was heard for the whole of `limit`; `is_over` says that it did."""

    def __init__(self, limit: Span, end: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit_s = limit.ms / 1000
        self._end = end
        self._heard_at = self._loop.time()
        self._timer = self._loop.call_later(self._limit_s, self._look)
        self.is_over = False

    def heard(self) -> None:
        """There was a sign of life."""
        self._heard_at = self._loop.time()

    def stop(self) -> None:
        """Nobody listens any more."""
        self._timer.cancel()

    def _look(self) -> None:
        left_s = self._heard_at + self._limit_s - self._loop.time()
        if left_s > 0:
            self._timer = self._loop.call_later(left_s, self._look)
            return
        self.is_over = True
        self._end()
