"""A management cluster with workload clusters: Machines, hosts and checks in one API, each cluster's Nodes in its own.

All clusters have nodes of the same names and the same providerIDs, so that whoever mixes them up is seen. An API of a
workload cluster can be away, with or without a word; its servers and their power are not.
"""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import CLUSTER, HOST, MACHINE
from noderemedy.sim import objects
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.apiserver import ApiServer
from noderemedy.sim.baremetal import BaremetalOperator
from noderemedy.sim.decoding import Decoding
from noderemedy.sim.durations import Durations
from noderemedy.sim.kubelet import Kubelet, Kubelets
from noderemedy.sim.lifecycle import Lifecycle
from noderemedy.sim.outlets import Outlets
from noderemedy.sim.server import Server
from noderemedy.wire import names


class WorkloadCluster:
    """One cluster: servers, their kubelets, and an API that is there or away."""

    def __init__(self, name: str, nodes: int, agenda: Agenda, durations: Durations, chance: random.Random) -> None:
        self.name = name
        self.api = ApiServer(wall=agenda.wall, chance=random.Random(chance.getrandbits(64)))
        self.api.writes.tracks_updates = False
        self.servers = {server.name: server for server in (Server(f"worker-{i + 1}", "rack") for i in range(nodes))}
        self.is_away = False
        self.away_since = 0
        self.on_cut: list[Callable[[bool], None]] = []
        self._agenda = agenda
        parts = (self.api, agenda, durations)
        kubelets = {
            one.name: Kubelet(one, *parts, phase_ms=chance.randrange(durations.heartbeat))
            for one in self.servers.values()
        }
        self.kubelets = Kubelets(kubelets, self.api)
        self.lifecycle = Lifecycle(self.servers, *parts)
        for kubelet in kubelets.values():
            kubelet.start()

    def go_away(self, *, silently: bool) -> None:
        """Faults 59, 4: nobody reaches this API any more; open connections are cut, or stay open and say nothing."""
        if not self.is_away:
            self.is_away, self.away_since = True, self._agenda.now_ms
            for listener in tuple(self.on_cut):
                listener(silently)

    def come_back(self) -> None:
        self.is_away = False


class Fleet:
    """The management cluster, as a process sees it, and the workload clusters behind it."""

    def __init__(self, *, clusters: tuple[str, ...] = ("east", "west"), nodes: int = 3, seed: int = 0) -> None:
        self.agenda = Agenda()
        self.chance = random.Random(seed)
        self.durations = Durations()
        self.decoding = Decoding()
        self.orphaned: dict[str, int] = {}  # clusters whose Cluster is not there, and since when
        self.outlets = Outlets(self.agenda, self.durations.boot)
        self.api = ApiServer(wall=self.agenda.wall, chance=random.Random(self.chance.getrandbits(64)))
        self.api.writes.tracks_updates = False
        self.workloads = {
            name: WorkloadCluster(name, nodes, self.agenda, self.durations, self.chance) for name in clusters
        }
        for tree in (*objects.definitions(), objects.cluster_definition()):
            self.api.create(tree)
        for name in (objects.NAMESPACE, objects.SYSTEM):
            self.api.create(objects.namespace(name))
        for workload in self.workloads.values():
            self._describe(workload)
        servers = {
            host_of(name, node): server
            for name, workload in self.workloads.items()
            for node, server in workload.servers.items()
        }
        chance = random.Random(self.chance.getrandbits(64))
        self.baremetal = BaremetalOperator(servers, self.api, self.agenda, self.durations, chance)

    def mark(self, cluster: str, node: str) -> None:
        """Ask for the repair of a node."""
        body = {"metadata": {"annotations": {names.NEEDS_REMEDIATION: ""}}}
        self.api.patch(MACHINE, machine_of(cluster, node), objects.NAMESPACE, body, "merge")

    def machine(self, cluster: str, node: str) -> dict[str, Any]:
        return self.api.get(MACHINE, machine_of(cluster, node), objects.NAMESPACE)

    def is_held(self, cluster: str, node: str) -> bool:
        host = self.api.find(HOST, host_of(cluster, node), objects.NAMESPACE)
        return host is not None and names.REBOOT in (host["metadata"].get("annotations") or {})

    def orphan(self, cluster: str) -> None:
        """Fault: a Cluster is gone (a finalizer taken off, an order of restoring), its Machines are not."""
        self.api.delete(CLUSTER, cluster, objects.NAMESPACE)
        self.orphaned[cluster] = self.agenda.now_ms

    def restore(self, cluster: str) -> None:
        """The Cluster is there again, if it was not."""
        if self.orphaned.pop(cluster, None) is not None:
            self._create(objects.cluster(cluster))

    def _describe(self, workload: WorkloadCluster) -> None:
        """The objects of one workload cluster in the management cluster."""
        name = workload.name
        self._create(objects.cluster(name))
        self.api.create(objects.kubeconfig(name, b64encode(name.encode()).decode()))
        check = objects.health_check(name, "100%", cluster=name)
        check["metadata"]["annotations"] = {names.STRATEGY: "external-baremetal"}
        self._create(check)
        for node in workload.servers:
            machine, host = machine_of(name, node), host_of(name, node)
            tree = objects.machine(machine, node, host, cluster=name)
            self._create(tree)
            self._create(objects.host(host, machine, powered_on=True))

    def _create(self, tree: dict[str, Any]) -> None:
        status = tree.pop("status", None)
        made = self.api.create(tree)
        if status:
            self.api.update({**made, "status": status}, subresource="status")


def machine_of(cluster: str, node: str) -> str:
    return f"machine-{cluster}-{node}"


def host_of(cluster: str, node: str) -> str:
    return f"host-{cluster}-{node}"
