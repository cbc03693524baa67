"""Between the watch of one kind of requests and the engine. Like `sink.py`, but for a kind that may well be missing.

Rule 1: what the API refuses to show is said to the engine, and to people once; nothing else waits for it.
Rule 2: a connection that broke changes nothing: that a request exists already is the API's word when one is made.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.feeding import Feeding
from noderemedy.model.ids import Kind


class RequestSink(Feeding):
    """The driver's `Sink` for one wanted kind."""

    def __init__(self, engine: Engine, kind: Kind, clock: Clock, log: Log, poke: Callable[[], None]) -> None:
        super().__init__(engine, clock, poke)
        self._kind = kind
        self._log = log
        self._is_listing = False
        self._trouble: str | None = None  # None: nothing is known yet; "": in sight

    def listing(self, kind: Kind) -> None:
        self._is_listing = True
        self._engine.listing(kind, self._clock.now())

    def listed(self, kind: Kind) -> None:
        self._is_listing = False
        self._engine.listed(kind, self._clock.now())
        self.in_sight()

    def opened(self, kind: Kind) -> bool:
        return not self._trouble

    def contact(self, kind: Kind) -> None:
        """The stream goes on from where it was: nothing is missing."""
        if self._trouble and not self._is_listing:
            self._engine.listed(kind, self._clock.now())
            self.in_sight()

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        if obstacle.is_connection or obstacle.why == self._trouble:
            return
        self._trouble = obstacle.why
        self._log.warning("requests cannot be seen", kind=str(kind), why=obstacle.why)
        self._engine.followed(self._kind, self._clock.now(), refused=obstacle.why)
        self._poke()

    # --- what discovery tells -----------------------------------------------------------------------------------

    def missing(self, kind: Kind) -> None:
        """Requests of this kind, or their templates, are not served."""
        trouble = f"{kind} is not served"
        if trouble == self._trouble:
            return
        self._trouble = trouble
        self._log.warning("kind of a template is not served", kind=str(kind))
        self._engine.followed(self._kind, self._clock.now(), missing=str(kind))
        self._poke()

    def in_sight(self) -> None:
        if self._trouble:
            self._log.info("requests can be seen now", kind=str(self._kind))
        self._trouble = ""
        self._engine.followed(self._kind, self._clock.now())
        self._poke()
