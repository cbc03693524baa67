"""One workload cluster, followed for ever: find its kubeconfig, keep a connection of its own, say what can be seen.

The manager runs one for each Cluster. It shares nothing with the others but the engine, so one cluster that is away
delays nobody. The secret is read when its Cluster changed, when the connection is refused or gone, and at a slow pace.

Rule 1: a cluster that was connected stays a workload cluster, whatever becomes of its secret meanwhile.
Rule 2: a kubeconfig that cannot be used does not end a connection that works.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core import clusters
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube import embedded, kubeconfigs
from noderemedy.drivers.kube.client import PATIENCE, KubeClient
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.errors import BadConfig, Obstacle
from noderemedy.drivers.kube.kubeconfigs import Forbidden, Found, Kubeconfig, NoSecret
from noderemedy.drivers.kube.secret import NOTHING, Secret
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.kube.watch import watch
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.remotesink import RemoteSink
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remote import Remote, Sight, cluster_name, remote_ref
from noderemedy.model.time import Span
from noderemedy.wire.objects import decode, decode_event
from noderemedy.wire.pages import decode_page

SETTLED = (Sight.SEEN, Sight.HOME)


class Pace(Struct, frozen=True):
    """How often a kubeconfig is read, and how long a broken connection may last before its Nodes are out of sight."""

    settled: Span = Span(300_000)
    unsettled: Span = Span(30_000)
    least: Span = Span(2_000)  # between two reads, however often a Cluster changes
    grace: Span = Span(10_000)


class Surroundings(Struct, frozen=True):
    """What all followers share."""

    home: KubeClient
    engine: Engine
    clock: Clock
    chance: random.Random
    log: Log
    pace: Pace
    watch: WatchSettings
    poke: Callable[[], None]
    lanes: asyncio.Semaphore  # so that a thousand clusters do not ask at once


class Follower:
    """One cluster and its connection."""

    def __init__(self, at: Ref, around: Surroundings) -> None:
        self.at = at
        self.name = cluster_name(at.namespace, at.name)
        self.client: KubeClient | None = None
        self.state = Remote(Sight.UNKNOWN)
        self._around = around
        self._cluster: Cluster | None = None
        self._content: Secret = NOTHING
        self._refused: Secret = NOTHING  # the last that cannot be used: said once
        self._is_doubted = False  # connected, to what looks like another cluster
        self._believed: Secret = NOTHING  # once its nodes were seen with this kubeconfig they may all go
        self._look_again = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._sink: RemoteSink | None = None
        self._retired: set[asyncio.Task[None]] = set()
        self._say(self.state)

    def changed(self, cluster: Cluster | None) -> None:
        """The Cluster was seen; None: it is there and cannot be read."""
        if cluster != self._cluster:
            self._cluster = cluster
            self._look_again.set()

    async def run(self) -> None:
        """Until cancelled."""
        pace = self._around.pace
        while True:
            self._look_again.clear()
            async with self._around.lanes:
                await self._look()
            await asyncio.sleep(pace.least.ms / 1000)
            pause = pace.settled if self.state.sight in SETTLED else pace.unsettled
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause.ms / 1000 * (0.8 + self._around.chance.random() / 5)):
                    await self._look_again.wait()

    async def close(self) -> None:
        """Let go of everything, and of what the engine knows of it."""
        await self._stop_watching()
        await _cancelled(self._retired)
        if self.client:
            await self.client.close()

    def forget(self) -> None:
        """The Cluster is gone: so are its Nodes, as far as we are concerned."""
        engine, now = self._around.engine, self._around.clock.now()
        engine.listing(NODE, now, self.name)
        engine.listed(NODE, now, self.name)
        engine.lost(NODE, now, self.name)
        engine.gone(Seen(remote_ref(self.at.namespace, self.at.name), "", "", None), now)
        self._around.poke()

    # --- the kubeconfig -----------------------------------------------------------------------------------------

    async def _look(self) -> None:
        if self.client is None and clusters.is_young(self._cluster):
            self._say(clusters.young())
            return
        self._take(await kubeconfigs.read(self._around.home, self.at.namespace, self.at.name))

    def _take(self, found: Found) -> None:
        if isinstance(found, Kubeconfig):
            self._use(found)
        elif self.client is None and self.state.sight is not Sight.HOME:
            self._say(self._without(found))

    def _without(self, found: NoSecret | Forbidden | Obstacle) -> Remote:
        reader = self._around.engine.cache
        match found:
            case NoSecret(name):
                return clusters.without_secret(self.at, name, reader)
            case Forbidden(why):
                return clusters.unknown_secret(self.at, why, reader)
            case Obstacle(why):
                return Remote(Sight.LOST, why)

    def _use(self, found: Kubeconfig) -> None:
        if found.content == self._content:
            if self._is_doubted:
                self._in_sight()
            return
        try:
            access = embedded.access(found.content.reveal().encode(), found.origin)
        except BadConfig as problem:
            self._refuse(found.content, str(problem))
            if self.state.sight is not Sight.SEEN:
                self._say(Remote(Sight.LOST, str(problem)))
            return
        self._content = found.content
        self._connect(access)

    def _refuse(self, content: Secret, why: str) -> None:
        if content != self._refused:
            self._refused = content
            self._around.log.warning("kubeconfig of a workload cluster cannot be used", cluster=self.name, why=why)

    # --- the connection -----------------------------------------------------------------------------------------

    def _connect(self, access: Access) -> None:
        """Watch with this access from now on; effects that are on their way keep the old connection."""
        around = self._around
        self._retire()
        if self.state.sight is not Sight.SEEN:
            self._say(Remote(Sight.LOST, f"connecting to {access.server}"))
        self.client = KubeClient(access, chance=around.chance)
        self._sink = RemoteSink(
            self.name,
            around.engine,
            around.clock,
            grace=around.pace.grace,
            seen=self._in_sight,
            hidden=self._out_of_sight,
            poke=around.poke,
        )
        part = watch(
            self.client,
            WANTED[NODE].guess(),
            partial(decode, NODE, cluster=self.name),
            self._sink,
            chance=around.chance,
            settings=around.watch,
            decode_event=partial(decode_event, NODE, cluster=self.name, known=self._sink.known),
            decode_page=partial(decode_page, NODE, cluster=self.name, known=self._sink.known),
        )
        self._watch = asyncio.create_task(part, name=f"nodes of {self.name}")
        self._watch.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A watch never ends by itself: a mistake of ours, which costs this cluster and no other."""
        if task.cancelled() or task is not self._watch or not (bug := task.exception()):
            return
        self._around.log.failure("the watch of a workload cluster broke", bug, cluster=self.name)
        self._content = NOTHING  # connect anew at the next look
        self._out_of_sight(f"a bug in node-remedy: {type(bug).__name__}")

    def _in_sight(self) -> None:
        """All its Nodes are known; unless they are another cluster's."""
        engine, now = self._around.engine, self._around.clock.now()
        assert self.client is not None
        engine.listed(NODE, now, self.name)
        found = Remote(Sight.SEEN)
        if self._content != self._believed:
            found = clusters.connected(self.at, self.client.access.server, engine.cache)
        self._is_doubted = found.sight is not Sight.SEEN
        self._believed = NOTHING if self._is_doubted else self._content
        self._say(found)

    def _out_of_sight(self, why: str) -> None:
        self._is_doubted = False
        self._say(Remote(Sight.LOST, why))
        self._look_again.set()

    def _retire(self) -> None:
        """Stop watching over the old connection, and close it when nothing can be on its way any more."""
        if self.client is None:
            return
        old, watching, sink = self.client, self._watch, self._sink
        self._watch = self._sink = None
        if sink:
            sink.close()
        task = asyncio.create_task(_close_later(old, watching))
        self._retired.add(task)
        task.add_done_callback(self._retired.discard)

    async def _stop_watching(self) -> None:
        if self._sink:
            self._sink.close()
        if self._watch:
            await _cancelled([self._watch])

    def _say(self, found: Remote) -> None:
        """Tell the engine what is known, if that is news."""
        now = self._around.clock.now()
        since = self.state.since if found.sight is self.state.sight else now.mono
        news = replace(found, since=since)
        if news.sight is not self.state.sight:
            self._around.log.info("workload cluster", cluster=self.name, state=news.sight.value, why=news.why)
        self.state = news
        if news.sight is not Sight.SEEN:
            self._around.engine.lost(NODE, now, self.name)
        self._around.engine.seen(Seen(remote_ref(self.at.namespace, self.at.name), "", "", news), now)
        self._around.poke()


async def _close_later(client: KubeClient, watching: asyncio.Task[None] | None) -> None:
    try:
        if watching:
            await _cancelled([watching])
        await asyncio.sleep(PATIENCE.ms / 1000)
    finally:
        await client.close()


async def _cancelled(tasks: set[asyncio.Task[None]] | list[asyncio.Task[None]]) -> None:
    chosen = list(tasks)
    for task in chosen:
        task.cancel()
    await asyncio.gather(*chosen, return_exceptions=True)
