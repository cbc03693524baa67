"""Workload clusters as a simulated process follows them: `manager/follower.py` in virtual time.

A link reads the secret, opens a watch of its own, and says what it can see. While an API is away its watch is cut or
silent: after the grace, or when the silence is noticed, the Nodes are out of sight until a new list. A Cluster that is
gone is followed no more.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from noderemedy.core import clusters
from noderemedy.model.ids import MACHINE, NODE, Kind, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remote import Remote, Sight, cluster_name, remote_ref
from noderemedy.sim.apiserver import ApiServer, WatchEvent
from noderemedy.sim.fleet import WorkloadCluster
from noderemedy.sim.watching import Watch
from noderemedy.sim.weather import Fate
from noderemedy.wire.objects import convert

if TYPE_CHECKING:
    from noderemedy.sim.process import Process

SECRET = Kind("", "Secret")
GRACE_MS, AGAIN_MS, EARLY_MS = 10_000, 30_000, 4_000


class Link:
    """One workload cluster in one life of a process. It is the `Listener` of its own watch."""

    def __init__(self, at: Ref, process: Process) -> None:
        self.at = at
        self.name = cluster_name(at.namespace, at.name)
        self.state = Remote(Sight.UNKNOWN)
        self.workload: WorkloadCluster | None = None
        self.watch: Watch | None = None
        self._process = process
        self._is_same_life = process.alive_since()
        self._is_forgotten = False
        self._cuts = 0
        self.met = process.met
        self.outlived = process.outlived
        self._say(self.state)
        self._later(process.chance.randint(*process.weather.latency), self._look)

    def close(self) -> None:
        if self.watch:
            self.watch.close()
        if self.workload and self._cut in self.workload.on_cut:
            self.workload.on_cut.remove(self._cut)

    @property
    def api(self) -> ApiServer | None:
        """Where requests go; None: nobody answers there."""
        return self.workload.api if self.workload and not self.workload.is_away else None

    def forget(self) -> None:
        """Its Cluster is gone: so are its Nodes, as far as this process is concerned."""
        self.close()
        self._is_forgotten = True
        engine, now = self._process.engine, self._process.now()
        engine.forgotten(NODE, now, self.name)
        fact = Seen(remote_ref(self.at.namespace, self.at.name), "", "", clusters.left_behind(self.at, engine.cache))
        (engine.seen if fact.obj else engine.gone)(fact, now)
        self._process.soon()

    def _same(self) -> bool:
        return self._is_same_life() and not self._is_forgotten

    # --- the secret -----------------------------------------------------------------------------------------------

    def _look(self) -> None:
        process = self._process
        if process.weather.fate(process.chance) is not Fate.FINE:
            self._later(AGAIN_MS, self._look)
            return
        secret = process.cluster.api.find(SECRET, f"{self.at.name}-kubeconfig", self.at.namespace)
        if secret is None:
            self._without()
            return
        self.workload = process.cluster.workloads[b64decode(secret["data"]["value"]).decode()]
        self.workload.on_cut.append(self._cut)
        self._connect()

    def _without(self) -> None:
        cache = self._process.engine.cache
        is_early = not (cache.is_complete(NODE) and cache.is_complete(MACHINE))
        if not is_early and self.state.sight is not Sight.HOME:
            self._say(clusters.without_secret(self.at, f"{self.at.name}-kubeconfig", cache))
        self._later(EARLY_MS if is_early else AGAIN_MS, self._look)

    # --- the connection -------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        assert self.workload is not None
        if self.workload.is_away:
            if self.state.sight is not Sight.SEEN:
                self._say(Remote(Sight.LOST, "no answer"))
            self._later(AGAIN_MS // 10, self._connect)
            return
        process = self._process
        if self.watch:
            self.watch.close()
        self.watch = Watch(NODE, self.workload.api, process.agenda, process.weather, process.chance, self)

    def _cut(self, silently: bool) -> None:
        """The API is away: noticed at once, or when nothing was heard for too long."""
        if not self._same() or self.watch is None:
            return
        self.watch.close()
        self._cuts += 1
        cut, silence = self._cuts, self._process.weather.silence if silently else 0
        self._later(silence, self._connect)
        self._later(silence + GRACE_MS, lambda: self._lose(cut))

    def _lose(self, cut: int) -> None:
        assert self.workload is not None
        if cut == self._cuts and self.workload.is_away:
            self._say(Remote(Sight.LOST, "no answer"))

    def on_list(self, kind: Kind, trees: list[WatchEvent]) -> None:
        self._process.when_running(lambda: self._listed(trees))

    def on_event(self, kind: Kind, event: WatchEvent) -> None:
        self._process.when_running(lambda: self._enter(event))

    def on_missing(self, kind: Kind) -> None:
        """Never: Nodes are served wherever there is an API."""

    def on_refused(self, kind: Kind) -> None:
        """Never: what is refused is refused in the cluster of the manager."""

    def _listed(self, trees: list[WatchEvent]) -> None:
        if not self._same() or self.api is None:
            return
        engine, now = self._process.engine, self._process.now()
        engine.listing(NODE, now, self.name)
        for event in trees:
            self._enter(event)
        engine.listed(NODE, now, self.name)
        self._say(Remote(Sight.SEEN))

    def _enter(self, event: WatchEvent) -> None:
        if not self._same():
            return
        process = self._process
        seen = convert(NODE, event.tree, self.name)
        (process.engine.gone if event.type == "DELETED" else process.engine.seen)(seen, process.now())
        if process.engine.queue:
            process.soon()

    # --- inside ---------------------------------------------------------------------------------------------------

    def _say(self, found: Remote) -> None:
        now, engine = self._process.now(), self._process.engine
        since = self.state.since if found.sight is self.state.sight else now.mono
        self.state = replace(found, since=since)
        if self.state.sight is not Sight.SEEN:
            engine.lost(NODE, now, self.name)
        engine.seen(Seen(remote_ref(self.at.namespace, self.at.name), "", "", self.state), now)
        self._process.soon()

    def _later(self, delay_ms: int, do: Callable[[], None]) -> None:
        self._process.agenda.after(delay_ms, lambda: self._process.when_running(do) if self._same() else None)


class Remotes:
    """All links of one life of a process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.links: dict[str, Link] = {}

    def noticed(self, at: Ref) -> None:
        """A Cluster was seen: what becomes of its Nodes is unknown before it is."""
        name = cluster_name(at.namespace, at.name)
        if name not in self.links:
            self.links[name] = Link(at, self._process)

    def forgotten(self, at: Ref) -> None:
        """A Cluster is gone."""
        if link := self.links.pop(cluster_name(at.namespace, at.name), None):
            link.forget()

    def keep(self, known: set[Ref]) -> None:
        """All Clusters are listed: those of others are gone."""
        for link in list(self.links.values()):
            if link.at not in known:
                self.forgotten(link.at)

    def api(self, cluster: str) -> ApiServer | None:
        """The API that has the objects of this cluster, if it can be reached."""
        if not cluster:
            return self._process.cluster.api
        link = self.links.get(cluster)
        return link.api if link else None

    @property
    def watches(self) -> list[Watch]:
        return [link.watch for link in self.links.values() if link.watch]

    def close(self) -> None:
        for link in self.links.values():
            link.close()
