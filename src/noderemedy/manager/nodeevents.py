"""Follows Events about nodes as long as some document asks for them, and counts them for the engine.

The program calls `adjust` after each step. Only Events whose involved object is a Node are asked for, and only those of
wanted reasons are counted (`core/remedy/tally.py`), a bounded number of moments each: a node that writes a thousand
events a second costs no more than one that writes ten. What the API refuses to show is told in the log, and disturbs
nobody else.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from msgspec.structs import replace

from noderemedy.core.remedy import tally
from noderemedy.core.remedy.tally import Tally
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.kube.watch import watch
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.model.ids import Kind
from noderemedy.model.nodeevents import ALL_WANTED, CORE_EVENT, NodeEvent, NodeEvents, node_events_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.wire.http import Resource
from noderemedy.wire.nodeevents import decode_node_event
from noderemedy.wire.undecodable import Undecodable

EVENTS = Resource(CORE_EVENT, "v1", "events", namespaced=True)
ABOUT_NODES = "involvedObject.kind=Node"


class EventCounter:
    """The driver's `Sink`: what was counted goes to the engine as a pseudo-object beside each Node."""

    def __init__(self, engine: Engine, clock: Clock, log: Log, poke: Callable[[], None]) -> None:
        self._engine = engine
        self._clock = clock
        self._log = log
        self._poke = poke
        self._tallies: dict[str, dict[str, Tally]] = {}  # by node, then by reason
        self.reasons: frozenset[str] = frozenset()

    def seen(self, item: Seen) -> None:
        event: NodeEvent = item.obj
        if not event.node or event.reason not in self.reasons:
            return
        now, found = self._clock.now(), self._tallies.setdefault(event.node, {})
        before = found.get(event.reason, Tally())
        found[event.reason] = tally.count(before, event, now.wall)
        if found[event.reason].moments == before.moments:
            return
        moments = tuple((reason, one.moments) for reason, one in sorted(found.items()))
        self._engine.seen(Seen(node_events_ref(event.node), "", "", NodeEvents(moments)), now)
        self._poke()

    def gone(self, item: Seen) -> None:
        """An Event expires after an hour; that it happened stays true."""

    def listing(self, kind: Kind) -> None:
        """What was counted is not counted twice: a list shows the same Events with their counts."""

    def listed(self, kind: Kind) -> None:
        """Nobody waits for that."""

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        self._log.warning("an Event cannot be read", why=str(problem))

    def opened(self, kind: Kind) -> bool:
        return True

    def contact(self, kind: Kind) -> None:
        """How fresh it is does not matter: no threshold is reached by events that are not seen."""

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        self._log.warning("events about nodes cannot be seen", why=obstacle.why)


class EventFollower:
    """One watch, or none."""

    def __init__(
        self,
        client: KubeClient,
        engine: Engine,
        clock: Clock,
        chance: random.Random,
        settings: WatchSettings,
        log: Log,
        poke: Callable[[], None],
    ) -> None:
        self._client = client
        self._engine = engine
        self._chance = chance
        self._settings = replace(settings, fields=ABOUT_NODES)
        self._counter = EventCounter(engine, clock, log, poke)
        self._task: asyncio.Task[None] | None = None

    def adjust(self, broke: Callable[[BaseException], None]) -> None:
        """Begin when the first document asks; begin anew when others ask for more; end with the last one."""
        wanted = self._wanted()
        if wanted == self._counter.reasons:
            return
        self._counter.reasons = wanted
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if wanted:
            self._task = asyncio.create_task(self._follow(), name="events about nodes")
            self._task.add_done_callback(lambda task: _tell(broke, task))

    def _wanted(self) -> frozenset[str]:
        entries = [self._engine.cache.read(ref) for ref in self._engine.cache.find(ALL_WANTED, "all")]
        return frozenset(reason for one in entries if isinstance(one, Present) for reason in one.obj.reasons)

    async def _follow(self) -> None:
        await watch(
            self._client, EVENTS, decode_node_event, self._counter, chance=self._chance, settings=self._settings
        )

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _tell(broke: Callable[[BaseException], None], task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (bug := task.exception()):
        broke(bug)
