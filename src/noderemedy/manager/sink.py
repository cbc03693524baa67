"""Between the watches and the engine: tells the engine what is seen, and people what cannot be seen.

Called by the watches for every event, so it is cheap; the engine is stepped later, once for many events.

Rule 1: a kind that the API refuses to show is lost to the engine: nothing is decided until it is seen again.
Rule 2: a connection that broke is not: what cannot be undone waits for a live read anyway. Only when the view is
        older than `stale_after` it counts as lost.
        It is back when it is listed, or when a line of its stream was believed. That a server accepts the stream
        says nothing, it may have forgotten where that was: so what is hidden is listed then.
Rule 3: a kind that is not served has no objects. That is known only from discovery, never from a refusal.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.feeding import Feeding
from noderemedy.manager.kinds import WANTED, WITHOUT, crd_name
from noderemedy.manager.requestsink import RequestSink
from noderemedy.model.ids import Kind
from noderemedy.model.time import Mono, Now, Span
from noderemedy.wire.http import Resource


class EngineSink(Feeding):
    """The driver's `Sink`, around one engine."""

    def __init__(
        self, engine: Engine, kinds: tuple[Kind, ...], clock: Clock, log: Log, poke: Callable[[], None]
    ) -> None:
        super().__init__(engine, clock, poke)
        self._log = log
        self._kinds = kinds
        self._listing: set[Kind] = set()
        self._hidden: set[Kind] = set()  # lost to the engine, until a list or a line of the stream
        self._obstacles: dict[Kind, Obstacle] = {}
        self._heard: dict[Kind, Mono] = {}
        self.unserved: set[Kind] = set()
        self.resources: dict[Kind, Resource] = {kind: WANTED[kind].guess() for kind in kinds}

    # --- what watches tell --------------------------------------------------------------------------------------

    def listing(self, kind: Kind) -> None:
        self._listing.add(kind)
        if kind in self.unserved:
            self.unserved.discard(kind)
            self._log.info("kind is served now", kind=str(kind))
        self._engine.listing(kind, self._clock.now())

    def listed(self, kind: Kind) -> None:
        self._heard[kind] = self._clock.mono()
        self._listing.discard(kind)
        self._hidden.discard(kind)
        self._engine.listed(kind, self._clock.now())
        self._recovered(kind)
        self._poke()

    def opened(self, kind: Kind) -> bool:
        if kind in self._hidden:
            return False
        self.contact(kind)
        return True

    def contact(self, kind: Kind) -> None:
        if kind in self._listing:
            return  # half a list is no sign of life
        self._heard[kind] = self._clock.mono()
        if not (self._hidden or self._obstacles):
            return
        if kind in self._hidden:
            self._hidden.discard(kind)
            self._engine.listed(kind, self._clock.now())  # the stream goes on from where it was: nothing is missing
            self._poke()
        self._recovered(kind)

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        if kind in self.unserved:
            return
        known = self._obstacles.values()
        is_said = obstacle in known or (obstacle.is_connection and any(one.is_connection for one in known))
        self._obstacles[kind] = obstacle
        if not is_said:
            message = "API server is away" if obstacle.is_connection else "kind cannot be seen, nothing is decided"
            self._log.warning(message, kind=str(kind), why=obstacle.why)
        if not obstacle.is_connection:
            self._hide(kind)

    def for_requests(self, kind: Kind) -> RequestSink:
        """The sink for a kind that somebody wants, on the same engine."""
        return RequestSink(self._engine, kind, self._clock, self._log, self._poke)

    # --- what `serving` tells -----------------------------------------------------------------------------------

    def located(self, kind: Kind, resource: Resource) -> None:
        self.resources[kind] = resource

    def not_served(self, kind: Kind) -> None:
        """There are no objects of this kind, because there is no such kind."""
        now = self._clock.now()
        self._obstacles.pop(kind, None)
        self._hidden.discard(kind)
        self._listing.discard(kind)
        if kind not in self.unserved:
            self.unserved.add(kind)
            self._log.warning("kind is not served", crd=crd_name(WANTED[kind]), without=WITHOUT[kind])
        self._engine.unserved(kind, now)
        self._poke()

    # --- what the program asks ----------------------------------------------------------------------------------

    def mind_staleness(self, now: Now, stale_after: Span) -> None:
        """Hide from the engine what nobody has heard of for too long."""
        for kind in self._kinds:
            if kind not in self._hidden and self.age(kind, now.mono) > stale_after:
                self._log.warning("view is stale, nothing is decided", kind=str(kind))
                self._hide(kind)

    def age(self, kind: Kind, now: Mono) -> Span:
        """How old the newest byte of a watch is; 0 where there is no watch to be stale."""
        heard = self._heard.get(kind)
        return now.since(heard) if heard and kind not in self.unserved else Span(0)

    def unready(self) -> list[str]:
        """What is not in step with the API, in words."""
        told = [f"{kind}: {obstacle.why}" for kind, obstacle in self._obstacles.items()]
        silent = [kind for kind in self._kinds if kind not in self._obstacles]
        return told + [f"{kind}: not listed yet" for kind in silent if not self._engine.cache.is_complete(kind)]

    def _hide(self, kind: Kind) -> None:
        self._hidden.add(kind)
        self._engine.lost(kind, self._clock.now())

    def _recovered(self, kind: Kind) -> None:
        """Say once that it is over. One sign of life ends an outage of the API server for all kinds."""
        obstacle = self._obstacles.pop(kind, None)
        if obstacle is None:
            return
        if not obstacle.is_connection:
            self._log.info("kind can be seen again", kind=str(kind))
            return
        self._obstacles = {one: kept for one, kept in self._obstacles.items() if not kept.is_connection}
        self._log.info("API server is back")
