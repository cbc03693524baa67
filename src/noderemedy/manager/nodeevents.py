"""Follows Events about nodes as long as some document asks for them, and counts them for the engine.

The program calls `adjust` after each step. Only Events whose involved object is a Node are asked for, and only those of
wanted reasons are counted, a bounded number of moments each: a node that writes a thousand events a second costs no
more than one that writes ten. What the API refuses to show is told in the log, and disturbs nobody else.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict, deque
from collections.abc import Callable

from msgspec.structs import replace

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.kube.watch import watch
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.model.ids import Kind
from noderemedy.model.nodeevents import ALL_WANTED, CORE_EVENT, KEPT, NodeEvent, NodeEvents, node_events_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Wall
from noderemedy.wire.http import Resource
from noderemedy.wire.nodeevents import decode_node_event
from noderemedy.wire.undecodable import Undecodable

EVENTS = Resource(CORE_EVENT, "v1", "events", namespaced=True)
ABOUT_NODES = "involvedObject.kind=Node"
KNOWN_MAX = 10_000  # Events whose last count is remembered


class EventCounter:
    """The driver's `Sink`: what was counted goes to the engine as a pseudo-object beside each Node."""

    def __init__(self, engine: Engine, clock: Clock, log: Log, poke: Callable[[], None]) -> None:
        self._engine = engine
        self._clock = clock
        self._log = log
        self._poke = poke
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._moments: dict[str, dict[str, deque[Wall]]] = {}
        self.reasons: frozenset[str] = frozenset()

    def seen(self, item: Seen) -> None:
        event: NodeEvent = item.obj
        if not event.node or event.reason not in self.reasons:
            return
        fresh = event.count - self._counts.get(event.uid, 0)
        self._counts[event.uid] = event.count
        self._counts.move_to_end(event.uid)
        if len(self._counts) > KNOWN_MAX:
            self._counts.popitem(last=False)
        if fresh > 0:
            self._count(event, min(fresh, KEPT))

    def _count(self, event: NodeEvent, times: int) -> None:
        now = self._clock.now()
        found = self._moments.setdefault(event.node, {}).setdefault(event.reason, deque(maxlen=KEPT))
        found.extend([event.last or now.wall] * times)
        moments = tuple((reason, tuple(sorted(when))) for reason, when in sorted(self._moments[event.node].items()))
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
