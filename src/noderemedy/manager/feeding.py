"""What all sinks of the manager do with an object: the engine is told, and woken if that concerns anybody.

The sinks differ in what they make of a connection that breaks or of a kind that is missing: `sink.py` for the home
cluster, `requestsink.py` for kinds of templates, `remotesink.py` for the Nodes of a workload cluster.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from noderemedy.drivers.clock import Clock
from noderemedy.engine.loop import Engine
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.wire.objects import Undecodable


class Feeding:
    """The half of the driver's `Sink` that is about single objects."""

    def __init__(self, engine: Engine, clock: Clock, poke: Callable[[], None], cluster: str = "") -> None:
        self._engine = engine
        self._clock = clock
        self._poke = poke
        self._cluster = cluster

    def seen(self, item: Seen) -> None:
        """A heartbeat concerns nobody: it queues no key, and the engine sleeps on. Most events are heartbeats."""
        if self._engine.cache.renew(item):
            return
        self._engine.seen(item, self._clock.now())
        if self._engine.queue:
            self._poke()

    def known(self, ref: Ref) -> Present | None:
        """What is remembered of an object, or None: what says the same again need not be made again."""
        entry = self._engine.cache.read(ref)
        return entry if isinstance(entry, Present) else None

    def gone(self, item: Seen) -> None:
        self._engine.gone(item, self._clock.now())
        self._poke()

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        at = replace(problem.ref, cluster=self._cluster)
        self._engine.unreadable(at, problem.uid, problem.resource_version, problem.problem, self._clock.now())
        self._poke()
