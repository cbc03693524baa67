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
from noderemedy.model.ids import Kind
from noderemedy.model.outcome import Seen
from noderemedy.wire.objects import Undecodable


class RequestSink:
    """The driver's `Sink` for one wanted kind."""

    def __init__(self, engine: Engine, kind: Kind, clock: Clock, log: Log, poke: Callable[[], None]) -> None:
        self._engine = engine
        self._kind = kind
        self._clock = clock
        self._log = log
        self._poke = poke
        self._is_listing = False
        self._trouble: str | None = None  # None: nothing is known yet; "": in sight

    def listing(self, kind: Kind) -> None:
        self._is_listing = True
        self._engine.listing(kind, self._clock.now())

    def seen(self, item: Seen) -> None:
        self._engine.seen(item, self._clock.now())
        if self._engine.queue:
            self._poke()

    def gone(self, item: Seen) -> None:
        self._engine.gone(item, self._clock.now())
        self._poke()

    def listed(self, kind: Kind) -> None:
        self._is_listing = False
        self._engine.listed(kind, self._clock.now())
        self.in_sight()

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        now = self._clock.now()
        self._engine.unreadable(problem.ref, problem.uid, problem.resource_version, problem.problem, now)
        self._poke()

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
