"""All workload clusters of a management cluster: one follower each, and the way from a cluster's name to its client.

The manager's watch of Clusters pours into `ClusterSink`, which tells the followers; effects ask for a `client`. A
cluster is unknown before its Cluster is, so that no machine of it is ever judged by the Nodes of another.
"""

from __future__ import annotations

import asyncio

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.metrics import Metrics
from noderemedy.manager.follower import Follower, Surroundings
from noderemedy.manager.sink import EngineSink
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remote import Sight, cluster_name
from noderemedy.model.room import Present
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import Undecodable

SHOWN = 200  # clusters that have a figure of their own: labels are dear


class Clusters:
    """The followers, by the name of their cluster."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._followers: dict[str, Follower] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def noticed(self, at: Ref, cluster: Cluster | None) -> None:
        """A Cluster was seen; None: it is there and cannot be read."""
        name = cluster_name(at.namespace, at.name)
        if name not in self._followers:
            self._followers[name] = follower = Follower(at, self._around)
            self._tasks[name] = asyncio.create_task(self._follow(follower), name=f"workload cluster {name}")
        self._followers[name].changed(cluster)

    def forgotten(self, at: Ref) -> None:
        """A Cluster is gone."""
        follower = self._followers.pop(cluster_name(at.namespace, at.name), None)
        if follower is None:
            return
        task = self._tasks.pop(follower.name)
        task.cancel()
        follower.forget()
        leaving = asyncio.create_task(self._leave(follower, task))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    def keep(self, known: set[Ref]) -> None:
        """All Clusters are listed: those of others are gone."""
        for follower in list(self._followers.values()):
            if follower.at not in known:
                self.forgotten(follower.at)

    def client(self, cluster: str) -> KubeClient | None:
        """The connection to this cluster, if there is one."""
        follower = self._followers.get(cluster)
        return follower.client if follower else None

    def measure(self, metrics: Metrics) -> None:
        """Figures for whoever asks."""
        states = [follower.state.sight for follower in self._followers.values()]
        for sight in Sight:
            metrics.workload_clusters.labels(sight.value).set(states.count(sight))
        metrics.workload_cluster_up.clear()
        remote = [name for name, one in sorted(self._followers.items()) if one.state.sight is not Sight.HOME]
        for name in remote[:SHOWN]:
            is_up = self._followers[name].state.sight is Sight.SEEN
            metrics.workload_cluster_up.labels(name).set(int(is_up))

    async def stop(self) -> None:
        """Follow nobody any more; connections stay for effects that are on their way."""
        for task in [*self._tasks.values(), *self._leaving]:
            task.cancel()
        await asyncio.gather(*self._tasks.values(), *self._leaving, return_exceptions=True)

    async def close(self) -> None:
        """Close all connections."""
        for follower in self._followers.values():
            await follower.close()

    async def _follow(self, follower: Follower) -> None:
        """A mistake of ours in one cluster costs that cluster, and no other."""
        while True:
            try:
                await follower.run()
            except Exception as bug:  # noqa: BLE001
                self._around.log.failure("following a workload cluster broke", bug, cluster=follower.name)
                await asyncio.sleep(self._around.pace.unsettled.ms / 1000)

    async def _leave(self, follower: Follower, task: asyncio.Task[None]) -> None:
        await asyncio.gather(task, return_exceptions=True)
        await follower.close()


class ClusterSink:
    """The home cluster's sink for the watch of Clusters, with followers that hear it too."""

    def __init__(self, sink: EngineSink, clusters: Clusters) -> None:
        self._sink = sink
        self._clusters = clusters
        self._named: set[Ref] = set()

    def listing(self, kind: Kind) -> None:
        self._named = set()
        self._sink.listing(kind)

    def seen(self, item: Seen) -> None:
        self._named.add(item.ref)
        self._clusters.noticed(item.ref, item.obj)
        self._sink.seen(item)

    def gone(self, item: Seen) -> None:
        self._sink.gone(item)
        self._clusters.forgotten(item.ref)

    def listed(self, kind: Kind) -> None:
        self._sink.listed(kind)
        self._clusters.keep(self._named)

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        if problem.ref.name:
            self._named.add(problem.ref)
            self._clusters.noticed(problem.ref, None)
        self._sink.unreadable(kind, problem)

    def opened(self, kind: Kind) -> bool:
        return self._sink.opened(kind)

    def contact(self, kind: Kind) -> None:
        self._sink.contact(kind)

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        self._sink.lost(kind, obstacle)

    def known(self, ref: Ref) -> Present | None:
        return self._sink.known(ref)

    def located(self, kind: Kind, resource: Resource) -> None:
        self._sink.located(kind, resource)

    def not_served(self, kind: Kind) -> None:
        """Whatever the reason, a name is a mere word only where no Cluster was ever seen (`core/clusters.py`)."""
        self._sink.not_served(kind)
        self._clusters.keep(set())
