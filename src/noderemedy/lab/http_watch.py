"""One watch as bytes on a connection: a bounded queue between the API server's writes and a slow network.

`lab/http.py` opens a `Watcher` per watch request. The API server calls `tell` in the middle of somebody's write,
so `tell` only queues; `lines` is what the connection sends, at its own speed.

Rule 1: a watcher never makes a writer wait. When its queue is full the watch is over, and the client lists again.
Rule 2: a silent watcher (a fault) sends nothing more and keeps the connection open.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator

from msgspec import Struct
from msgspec.json import encode

from noderemedy.lab.http_faults import Cut, Fault, Silence, Spoil
from noderemedy.sim.apiserver.representation import agree, watched
from noderemedy.sim.apiserver.routes import parse_route
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import WatchEvent
from noderemedy.sim.apiserver.watching import Lens
from noderemedy.wire.http import Request

Bookmark = Callable[[], WatchEvent]

BEFORE_THE_END_S = 2.0
"""A watch that asked for bookmarks gets a last one so long before its time is over, as on a real server."""


class Pace(Struct, frozen=True):
    """How long a watch lasts and how often it is told the present version; None means never."""

    lasts_s: float
    bookmark_every_s: float | None = None

    def bookmark_times(self) -> list[float]:
        """Moments of bookmarks, counted from the begin of the watch."""
        if self.bookmark_every_s is None:
            return []
        last = self.lasts_s - BEFORE_THE_END_S
        regular = [n * self.bookmark_every_s for n in range(1, int(self.lasts_s / self.bookmark_every_s) + 1)]
        return [moment for moment in regular if moment < last] + ([last] if last > 0 else [])


class Watcher:
    """The queue of one watch, and what becomes of its lines."""

    def __init__(self, bookmark: Bookmark, pace: Pace, queue_max: int, fault: Fault | None) -> None:
        self._bookmark = bookmark
        self._pace = pace
        self._queue_max = queue_max
        self._is_following = False
        self._fault = fault
        self._queue: deque[WatchEvent] = deque()
        self._wake = asyncio.Event()
        self._sent = 0
        self.is_over = False
        self.is_cut = False
        self.has_overflowed = False
        self.on_cut: Callable[[], None] = lambda: None

    def tell(self, event: WatchEvent) -> None:
        """Called by the API server for each event, in the middle of a write."""
        if self.is_over:
            return
        if self._is_following and len(self._queue) >= self._queue_max:
            self.has_overflowed = True
            self.cut()
            return
        self._queue.append(event)
        self._wake.set()

    def follow(self) -> None:
        """What was queued until now is what existed before: it is sent whatever its number, and does not count."""
        self._is_following = True
        self._queue_max += len(self._queue)

    def end(self) -> None:
        """Send what is queued, then end the stream properly."""
        self.is_over = True
        self._wake.set()

    def cut(self) -> None:
        """Send nothing more; the connection is closed in the middle of the stream."""
        self.is_over = self.is_cut = True
        self._queue.clear()
        self._wake.set()
        self.on_cut()

    def silence(self) -> None:
        """Send nothing more and close nothing."""
        self._fault = Silence(self._sent)
        self._wake.set()

    @property
    def _is_silent(self) -> bool:
        return isinstance(self._fault, Silence) and self._sent >= self._fault.after

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines to send, until the watch is over."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        bookmarks = deque(self._pace.bookmark_times())
        while True:
            if self._is_silent:
                await asyncio.Event().wait()
            if self._queue:
                for line in self._through_fault(self._queue.popleft()):
                    yield line
                continue
            now = clock() - begun
            if self.is_over or now >= self._pace.lasts_s:
                return
            if bookmarks and now >= bookmarks[0]:
                bookmarks.popleft()
                self._queue.append(self._bookmark())
                continue
            await self._rest((bookmarks[0] if bookmarks else self._pace.lasts_s) - now)

    async def _rest(self, seconds: float) -> None:
        self._wake.clear()
        if self._queue or self.is_over:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _through_fault(self, event: WatchEvent) -> Iterator[bytes]:
        match self._fault:
            case Cut(after) if self._sent >= after:
                self.cut()
                return
            case Spoil(after, line) if self._sent >= after:
                self._fault = None
                yield line + b"\n"
        self._sent += 1
        yield encode({"type": event.type, "object": event.tree}) + b"\n"
        if event.type == "ERROR":
            self.end()


def bookmark_for(api: ApiServer, request: Request, accept: str) -> Bookmark:
    """Makes bookmarks of the kind that is served at a path, in the form that was asked for."""

    def bookmark() -> WatchEvent:
        route = parse_route(request.path, api.resources)
        lens = Lens(route.resource, route.version, route.namespace, None)
        made: list[WatchEvent] = []
        told = watched(route, agree(accept), "Metadata", 0, made.append)
        told(lens.bookmark(api.resource_version))
        return made[0]

    return bookmark
