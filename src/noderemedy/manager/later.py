"""What is said comes after what is done: log lines, figures and Events wait until a repair's requests have left.

Used by the program. From a sick node to its request a few milliseconds count, and each line of the log takes a part of
one; an Event is a whole request, which the API server would carry out beside ours.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from noderemedy.model.time import Span

SOON = Span(10)
CALM = Span(150)  # so long after the last effect nobody is in a hurry
LONGEST = Span(1_000)


class Later:
    """Says things in their order, a moment later. `broke` hears of a bug in one of them; the others are said."""

    def __init__(self, broke: Callable[[BaseException], None], pause: Span = SOON) -> None:
        self._broke = broke
        self._pause_s = pause.ms / 1000
        self._waiting: deque[Callable[[], None]] = deque()

    def say(self, saying: Callable[[], None]) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_later(self._pause_s, self.flush)
        self._waiting.append(saying)

    def flush(self) -> None:
        """Say all of it now."""
        while self._waiting:
            saying = self._waiting.popleft()
            try:
                saying()
            except Exception as bug:  # noqa: BLE001  whoever started the program decides what a bug means
                self._broke(bug)


class Calm:
    """Whether somebody is in a hurry: told of every effect that begins or ends."""

    def __init__(self) -> None:
        self._until = 0.0

    def stirred(self) -> None:
        self._until = asyncio.get_running_loop().time() + CALM.ms / 1000

    async def come(self) -> None:
        """Wait until nothing has stirred for a while; a second at most: repairs may follow each other for hours."""
        loop = asyncio.get_running_loop()
        longest = loop.time() + LONGEST.ms / 1000
        while (left := min(self._until, longest) - loop.time()) > 0:  # noqa: ASYNC110  each sleep ends where it ended
            await asyncio.sleep(left)
