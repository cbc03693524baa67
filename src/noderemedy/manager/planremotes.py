"""Workload clusters for `plan` on a live management cluster: their Nodes, listed once, with the reader's own rights.

Called by `liveplan.py` when the home cluster was listed. A cluster that cannot be seen is a remark and a state; it
never keeps the others from being planned on.
"""

from __future__ import annotations

import asyncio
from functools import partial

from msgspec.structs import replace

from noderemedy.core import clusters
from noderemedy.drivers.kube import embedded, kubeconfigs
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import BadConfig, NoAnswer, NotSent, Obstacle, Refused
from noderemedy.drivers.kube.kubeconfigs import Forbidden, Kubeconfig, NoSecret
from noderemedy.drivers.kube.listing import Lister, OlderList
from noderemedy.drivers.kube.refusals import describe
from noderemedy.drivers.kube.sink import DEFAULT, OneList
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.plan import Look
from noderemedy.model.ids import CLUSTER, NODE, Kind, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remote import Remote, Sight, cluster_name
from noderemedy.model.room import Present
from noderemedy.wire.objects import Undecodable, decode

AT_ONCE = 8
IN_ORDER = (Sight.HOME, Sight.SEEN)


class Remotes:
    """All workload clusters of one look. `close` it."""

    def __init__(self, home: KubeClient, look: Look) -> None:
        self._home = home
        self._look = look
        self._clients: dict[str, KubeClient] = {}
        self._lanes = asyncio.Semaphore(AT_ONCE)

    def client(self, cluster: str) -> KubeClient | None:
        return self._clients.get(cluster)

    async def take(self) -> list[str]:
        """List the Nodes of every workload cluster; a remark for each that cannot be seen."""
        found = [ref for ref in self._look.engine.cache.refs() if ref.kind == CLUSTER]
        states = await asyncio.gather(*(self._one(at) for at in found))
        for at, state in zip(found, states, strict=True):
            self._look.remote(at, state)
        return [
            f"cluster {cluster_name(at.namespace, at.name)}: {state.sight.value}: {state.why}"
            for at, state in zip(found, states, strict=True)
            if state.sight not in IN_ORDER
        ]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()

    async def _one(self, at: Ref) -> Remote:
        reader = self._look.engine.cache
        entry = reader.read(at)
        if isinstance(entry, Present) and clusters.is_young(entry.obj):
            return clusters.young()
        async with self._lanes:
            match await kubeconfigs.read(self._home, at.namespace, at.name):
                case NoSecret(name):
                    return clusters.without_secret(at, name, reader)
                case Forbidden(why):
                    return clusters.unknown_secret(at, why, reader)
                case Obstacle(why):
                    return Remote(Sight.LOST, why)
                case Kubeconfig() as found:
                    return await self._connect(at, found)

    async def _connect(self, at: Ref, found: Kubeconfig) -> Remote:
        name = cluster_name(at.namespace, at.name)
        resource = WANTED[NODE].guess()
        try:
            client = KubeClient(embedded.access(found.content.reveal().encode(), found.origin))
            self._clients[name] = client
            listed = Listed(name)
            await Lister(client, partial(decode, NODE, cluster=name), listed, "", DEFAULT).pour(resource)
        except BadConfig as problem:
            return Remote(Sight.LOST, str(problem))
        except Refused as refused:
            return Remote(Sight.LOST, describe(refused.answer, resource))
        except (NotSent, NoAnswer, OlderList) as problem:
            return Remote(Sight.LOST, str(problem))
        if home := clusters.at_home(listed.identities(), self._look.engine.cache):
            return home
        listed.pour(self._look)
        return clusters.connected(at, client.access.server, self._look.engine.cache)


class Listed(OneList):
    """A `Sink` for the one list of a workload cluster: kept until it is known that its Nodes are not those of here."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._found: list[Seen | Undecodable] = []

    def identities(self) -> tuple[tuple[str, str], ...]:
        """Name and uid of each Node."""
        return tuple((item.ref.name, item.uid) for item in self._found)

    def pour(self, look: Look) -> None:
        for item in self._found:
            if isinstance(item, Seen):
                look.seen(item)
            else:
                look.unreadable(item)
        look.complete(NODE, self._cluster)

    def seen(self, item: Seen) -> None:
        self._found.append(item)

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        at = replace(problem.ref, cluster=self._cluster)
        self._found.append(Undecodable(at, problem.uid, problem.resource_version, problem.problem))
