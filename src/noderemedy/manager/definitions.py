"""Follows the definitions of the kinds that repairs are recorded in, and tells the engine what they would forget.

One watch by name for each, begun when all objects are listed: no verdict waits for them, only a repair that would begin
does. What was known stays known while the API server is away; what it refuses to show is not known any more.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec.structs import replace

from noderemedy.crds.recording import judged
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.kube.watch import watch
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.model.ids import Kind
from noderemedy.model.keeping import DEFINITION, Unkept, definition_name, renewal
from noderemedy.model.outcome import Seen
from noderemedy.wire.definitions import decode_definition
from noderemedy.wire.http import Resource
from noderemedy.wire.undecodable import Undecodable

DEFINITIONS = Resource(DEFINITION, "v1", "customresourcedefinitions", namespaced=False)


class DefinitionSink:
    """The driver's `Sink` for one definition."""

    def __init__(self, kind: Kind, engine: Engine, clock: Clock, log: Log, poke: Callable[[], None]) -> None:
        self._kind = kind
        self._engine = engine
        self._clock = clock
        self._log = log
        self._poke = poke
        self._is_hidden = False  # until it is listed: a stream tells changes only, and there may never be one
        self._is_found = False
        self._tell(Unkept())

    def seen(self, item: Seen) -> None:
        self._is_found = True
        found = judged(self._kind, item.obj)
        if found is not None:
            lacks, name = ", ".join(found.missing), definition_name(self._kind)
            self._log.warning("a definition lacks fields", crd=name, lacks=lacks, remedy=renewal(self._kind))
        self._tell(found)

    def gone(self, item: Seen) -> None:
        """There is no such kind now, nor any object of it; the next definition is another one."""
        self._tell(Unkept())

    def listing(self, kind: Kind) -> None:
        """What was known stays known."""
        self._is_found = False

    def listed(self, kind: Kind) -> None:
        self._is_hidden = False
        if not self._is_found:
            self._tell(Unkept())

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        self._is_found = True
        self._tell(Unkept(unread=str(problem)))

    def opened(self, kind: Kind) -> bool:
        return not self._is_hidden

    def contact(self, kind: Kind) -> None:
        """A definition changes when somebody applies one: how fresh it is does not matter."""

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        if obstacle.is_connection:
            return
        self._log.warning("a definition cannot be seen", crd=definition_name(self._kind), why=obstacle.why)
        self._is_hidden = True
        self._tell(Unkept(unread=obstacle.why))

    def _tell(self, found: Unkept | None) -> None:
        self._engine.keeps(self._kind, found, self._clock.now())
        self._poke()


async def follow_definition(
    client: KubeClient, kind: Kind, sink: DefinitionSink, chance: random.Random, settings: WatchSettings
) -> None:
    """Until cancelled."""
    named = replace(settings, fields=f"metadata.name={definition_name(kind)}")
    await watch(client, DEFINITIONS, decode_definition, sink, chance=chance, settings=named)
