"""A management cluster and workload clusters over real HTTP, and followers of them around a bare engine.

Used by the tests of workload clusters. Each cluster is a simulated API server behind an endpoint of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.builders import a_node_tree
from tests.manager.bench import HURRIED, TOKENS, USERS, Bench, bench, until

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.lab.http import Endpoint, serve
from noderemedy.lab.http_faults import Fault, Instead, Moment
from noderemedy.manager.clusters import Clusters
from noderemedy.manager.follower import Pace, Surroundings
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import CLUSTER, NODE, Kind, Ref, ref
from noderemedy.model.node import Condition
from noderemedy.model.remote import Remote, Sight, remote_ref
from noderemedy.model.room import Entry, Present
from noderemedy.model.time import Span, Wall
from noderemedy.rooms import ROOMS, watched
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import User
from noderemedy.wire.http import Request

SECRET = Kind("", "Secret")
NAMESPACE = "metal"
QUICK = Pace(settled=Span(200), unsettled=Span(50), least=Span(10), grace=Span(150))
UP = tuple(Condition(name, "True") for name in ("ControlPlaneInitialized", "InfrastructureReady"))
CLUSTER_CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "clusters.cluster.x-k8s.io"},
    "spec": {
        "group": "cluster.x-k8s.io",
        "scope": "Namespaced",
        "names": {"kind": "Cluster", "listKind": "ClusterList", "plural": "clusters", "singular": "cluster"},
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def a_cluster_tree(name: str, *, initialized: str = "True") -> dict[str, Any]:
    conditions = {"ControlPlaneInitialized": initialized, "InfrastructureReady": "True"}
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Cluster",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {},
        "status": {"conditions": [{"type": kind, "status": status} for kind, status in conditions.items()]},
    }


def a_secret_tree(cluster: str, kubeconfig: str, key: str = "value") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{cluster}-kubeconfig", "namespace": NAMESPACE},
        "data": {key: b64encode(kubeconfig.encode()).decode()},
    }


BOOKMARKS = Span(300)  # a quiet cluster that was out of sight is seen again with the next one


class Workload:
    """One workload cluster: an API server of its own, which can be let down, and started again on its port."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.api = ApiServer(wall=lambda: Wall(time.time_ns() // 1_000_000), chance=random.Random(name))
        self.requests: list[Request] = []
        self.refuses: Instead | None = None
        self.dawdles: Callable[[Moment, Request], Awaitable[None]] | None = None  # it may take its time
        self.endpoint: Endpoint

    async def start(self, *, tls: bool = False, port: int = 0) -> None:
        self.endpoint = await serve(
            self.api, tokens=USERS, tls=tls, port=port, interfere=self.interfere, bookmark_every=BOOKMARKS
        )

    async def interfere(self, moment: Moment, request: Request, user: User) -> Fault | None:
        if moment is Moment.BEFORE:
            self.requests.append(request)
        if self.dawdles:
            await self.dawdles(moment, request)
        return self.refuses

    def node(self, name: str) -> None:
        tree = a_node_tree(name)
        meta = {key: value for key, value in tree["metadata"].items() if key not in ("uid", "resourceVersion")}
        made = self.api.create({**tree, "metadata": meta})
        self.api.update({**made, "status": tree["status"]}, subresource="status")

    @property
    def kubeconfig(self) -> str:
        return self.endpoint.kubeconfig(TOKENS["administrator"])


class Fleet:
    """Followers of workload clusters, around an engine that nobody steps."""

    def __init__(self, it: Bench, home: KubeClient, pace: Pace) -> None:
        self.it = it
        self.engine = Engine(ROOMS)
        self.workloads: dict[str, Workload] = {}
        chance = random.Random(3)
        self.clock = Clock(chance)
        for kind in watched(ROOMS):
            self.engine.listing(kind, self.clock.now())
            self.engine.listed(kind, self.clock.now())
        self.clusters = Clusters(
            Surroundings(
                home=home,
                engine=self.engine,
                clock=self.clock,
                chance=chance,
                log=Log("noderemedy.test"),
                pace=pace,
                watch=HURRIED,
                poke=lambda: None,
                lanes=asyncio.Semaphore(4),
            )
        )

    async def workload(self, name: str, *nodes: str, tls: bool = False) -> Workload:
        made = self.workloads[name] = Workload(name)
        for node in nodes:
            made.node(node)
        await made.start(tls=tls)
        return made

    def secret(self, name: str, kubeconfig: str, key: str = "value") -> None:
        """Make the secret, or replace it."""
        tree = a_secret_tree(name, kubeconfig, key)
        known = self.it.api.find(SECRET, tree["metadata"]["name"], NAMESPACE)
        if known:
            self.it.api.update({**known, "data": tree["data"]})
        else:
            self.it.api.create(tree)

    def notice(self, name: str, cluster: Cluster | None = None) -> None:
        self.clusters.noticed(ref(CLUSTER, name, NAMESPACE), cluster or Cluster(f"uid-{name}", conditions=UP))

    def state(self, name: str) -> Remote:
        entry = self.engine.cache.read(remote_ref(NAMESPACE, name))
        assert isinstance(entry, Present)
        found: Remote = entry.obj
        return found

    def read(self, name: str, node: str) -> Entry:
        return self.engine.cache.read(Ref(f"{NAMESPACE}/{name}", NODE, "", node))

    async def until(self, name: str, sight: Sight, why: str = "") -> Remote:
        """Wait for a state, whose reason holds these words."""
        await until(lambda: self.state(name).sight is sight and why in self.state(name).why, what=f"{sight} {why}")
        return self.state(name)


@contextlib.asynccontextmanager
async def fleet(folder: Path, pace: Pace = QUICK) -> AsyncIterator[Fleet]:
    """A management cluster with the kind Cluster, and followers that nobody told anything yet."""
    async with bench(folder) as it:
        it.api.create(CLUSTER_CRD)
        async with KubeClient(load(it.kubeconfig)) as home:
            made = Fleet(it, home, pace)
            try:
                yield made
            finally:
                await made.clusters.stop()
                await made.clusters.close()
                for workload in made.workloads.values():
                    await workload.endpoint.close()
