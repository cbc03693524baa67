"""One workload cluster, followed for ever: find its kubeconfig, keep a connection of its own, say what can be seen.

The manager runs one for each Cluster. It shares nothing with the others but the engine, so one cluster that is away
delays nobody. The secret is read when its Cluster changed, when the connection is refused or gone, and at a slow pace.

Rule 1: a cluster that was connected stays a workload cluster, whatever becomes of its secret meanwhile.
Rule 2: a kubeconfig that cannot be used, or leads to what looks like another cluster, does not end a connection that
        works.
Rule 3: a new connection is on trial until all its Nodes are known and believed. Until then effects use the one of
        before, or none: a proof is about a Node of this cluster, and must not be acted upon in another.
Rule 4: a kubeconfig that leads to the home cluster makes no connection, and what becomes of it later changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core import clusters
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube import embedded, kubeconfigs
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.errors import BadConfig, Obstacle
from noderemedy.drivers.kube.kubeconfigs import Forbidden, Found, Kubeconfig, NoSecret
from noderemedy.drivers.kube.secret import NOTHING, Secret
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.connection import Connection
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import MACHINE, NODE, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remote import Remote, Sight, cluster_name, remote_ref
from noderemedy.model.time import Span

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
        self.state = Remote(Sight.UNKNOWN)
        self._around = around
        self._cluster: Cluster | None = None
        self._believed: Connection | None = None  # once its nodes were seen over it they may all go
        self._trial: Connection | None = None
        self._refused: Secret = NOTHING  # the last that cannot be used: said once
        self._of_home: Secret = NOTHING  # leads to the home cluster
        self._waits_for_home = False  # whose Nodes and Machines are not all known yet
        self._look_again = asyncio.Event()
        self._retired: set[asyncio.Task[None]] = set()
        self._say(self.state)

    @property
    def client(self) -> KubeClient | None:
        """The connection that effects use."""
        return self._believed.client if self._believed else None

    @property
    def _is_connected(self) -> bool:
        return self._believed is not None or self._trial is not None

    @property
    def _is_sure(self) -> bool:
        """Where its Nodes are is known, whatever another kubeconfig says."""
        return self.state.sight is Sight.SEEN or self._of_home != NOTHING

    @property
    def _is_home_known(self) -> bool:
        """At a start Clusters may be listed before the Machines that name a node of theirs, and before those Nodes."""
        cache = self._around.engine.cache
        return cache.is_complete(NODE) and cache.is_complete(MACHINE)

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
            is_settled = self.state.sight in SETTLED and self._trial is None
            pause = pace.least if self._waits_for_home else pace.settled if is_settled else pace.unsettled
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause.ms / 1000 * (0.8 + self._around.chance.random() / 5)):
                    await self._look_again.wait()

    async def close(self) -> None:
        """Let go of everything."""
        for connection in (self._believed, self._trial):
            if connection:
                await connection.close()
        await _cancelled(self._retired)

    def forget(self) -> None:
        """The Cluster is gone: so are its Nodes, as far as we are concerned. Machines that name it are out of sight."""
        for connection in (self._believed, self._trial):
            if connection:
                connection.sink.close()
        engine, now = self._around.engine, self._around.clock.now()
        engine.forgotten(NODE, now, self.name)
        fact = Seen(remote_ref(self.at.namespace, self.at.name), "", "", clusters.left_behind(self.at, engine.cache))
        (engine.seen if fact.obj else engine.gone)(fact, now)
        self._around.poke()

    # --- the kubeconfig -----------------------------------------------------------------------------------------

    async def _look(self) -> None:
        if not self._is_connected and clusters.is_young(self._cluster):
            self._say(clusters.young())
            return
        self._take(await kubeconfigs.read(self._around.home, self.at.namespace, self.at.name))

    def _take(self, found: Found) -> None:
        if isinstance(found, Kubeconfig):
            self._use(found)
        elif not self._is_connected and self.state.sight is not Sight.HOME:
            self._waits_for_home = not isinstance(found, Obstacle) and not self._is_home_known
            if not self._waits_for_home:
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
        if found.content == self._of_home:
            return
        if self._trial and found.content == self._trial.content:
            if self._trial.sink.is_complete:  # and was not believed: its nodes may have come meanwhile
                self._judge(self._trial)
            return
        if self._believed and found.content == self._believed.content:
            self._retire(self._trial)
            self._trial = None
            return
        try:
            access = embedded.access(found.content.reveal().encode(), found.origin)
        except BadConfig as problem:
            self._refuse(found.content, str(problem))
            if not self._is_sure:
                self._say(Remote(Sight.LOST, str(problem)))
            return
        self._try(access, found.content)

    def _refuse(self, content: Secret, why: str) -> None:
        if content != self._refused:
            self._refused = content
            self._around.log.warning("kubeconfig of a workload cluster cannot be used", cluster=self.name, why=why)

    # --- the connection -----------------------------------------------------------------------------------------

    def _try(self, access: Access, content: Secret) -> None:
        """Watch over this access, too, and see whose Nodes are there."""
        self._retire(self._trial)
        self._waits_for_home = False
        if not self._is_sure:
            self._say(Remote(Sight.LOST, f"connecting to {access.server}"))
        self._trial = Connection(
            self.name,
            access,
            content,
            self._around,
            seen=self._in_sight,
            hidden=self._out_of_sight,
            broke=self._broke,
        )

    def _in_sight(self, connection: Connection) -> None:
        """All its Nodes are known."""
        if connection is self._trial:
            self._judge(connection)
        else:
            self._say(Remote(Sight.SEEN))

    def _judge(self, trial: Connection) -> None:
        """Take over a connection on trial; unless its Nodes are another cluster's, or this one's."""
        kept, reader = trial.sink.kept, self._around.engine.cache
        assert kept is not None
        self._waits_for_home = not self._is_home_known
        if self._waits_for_home:
            self._doubt(trial, Remote(Sight.LOST, "which Nodes are in this cluster is not known yet"))
            return
        home = clusters.at_home(kept.identities(), reader)
        found = home or clusters.connected(self.at, trial.client.access.server, kept)
        if home is not None and self._believed is None:
            self._come_home(trial, home)
        elif found.sight is not Sight.SEEN:
            self._doubt(trial, found)
        else:
            self._retire(self._believed)
            self._believed, self._trial, self._of_home = trial, None, NOTHING
            trial.sink.believe()
            self._say(found)

    def _come_home(self, trial: Connection, found: Remote) -> None:
        """The cluster manages itself: its Nodes are watched already."""
        self._of_home, self._trial = trial.content, None
        self._retire(trial)
        self._say(found)

    def _out_of_sight(self, connection: Connection, why: str) -> None:
        found = Remote(Sight.LOST, why)
        if connection is self._believed:
            self._say(found)
        else:
            self._doubt(connection, found)
        self._look_again.set()

    def _doubt(self, trial: Connection, found: Remote) -> None:
        """What a connection on trial lacks is what the cluster lacks, unless another one works."""
        if self._is_sure:
            self._refuse(trial.content, found.why)
        else:
            self._say(found)

    def _broke(self, connection: Connection, bug: BaseException) -> None:
        """A mistake of ours: connect anew at the next look."""
        self._around.log.failure("the watch of a workload cluster broke", bug, cluster=self.name)
        self._out_of_sight(connection, f"a bug in node-remedy: {type(bug).__name__}")
        connection.sink.close()
        connection.content = NOTHING

    def _retire(self, connection: Connection | None) -> None:
        """Hear nothing of it from now on, and close it when nothing can be on its way any more."""
        if connection is None:
            return
        connection.sink.close()
        task = asyncio.create_task(connection.retire())
        self._retired.add(task)
        task.add_done_callback(self._retired.discard)

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


async def _cancelled(tasks: set[asyncio.Task[None]]) -> None:
    chosen = list(tasks)
    for task in chosen:
        task.cancel()
    await asyncio.gather(*chosen, return_exceptions=True)
