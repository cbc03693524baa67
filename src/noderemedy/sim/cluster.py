"""A whole simulated cluster: servers and what the API says about them, with the controllers in between.

The simulator runs it in virtual time, the lab by a real clock. Nodes carry what people put on them (a rack label, a
team annotation, a taint here and there): a repair must give that back.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from noderemedy.model.ids import HOST, METAL3_MACHINE, NODE, REMEDIATION
from noderemedy.sim import objects
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.apiserver import ApiError, ApiServer, Tree
from noderemedy.sim.baremetal import BaremetalOperator
from noderemedy.sim.decoding import Decoding
from noderemedy.sim.dialects import CLUSTER_API, OPENSHIFT, Dialect
from noderemedy.sim.durations import Durations
from noderemedy.sim.fleet import WorkloadCluster
from noderemedy.sim.kinds import POD, VOLUME
from noderemedy.sim.kubelet import Kubelet, Kubelets
from noderemedy.sim.lifecycle import Lifecycle
from noderemedy.sim.outlets import Outlets
from noderemedy.sim.provider import Provider
from noderemedy.sim.requesting import Requesting
from noderemedy.sim.server import Server
from noderemedy.sim.workload import Attacher, Scheduler, StatefulSets
from noderemedy.wire import names

RACK_LABEL = "topology.kubernetes.io/zone"
TEAM_NOTE = "example.com/team"
RESERVED = {"key": "example.com/reserved", "value": "batch", "effect": "NoSchedule"}


class Cluster:
    """Servers, API and controllers, on one agenda and one seeded source of chance."""

    def __init__(
        self,
        *,
        nodes: int = 12,
        racks: int = 3,
        replicas: int = 6,
        seed: int = 0,
        durations: Durations | None = None,
        agenda: Agenda | None = None,
        provider_ids: Mapping[str, str] | None = None,  # of nodes that are no bare metal
        tracks_fields: bool = True,  # managedFields: for people with kubectl; the simulator goes without
        volumes: tuple[str, ...] = ("data",),  # of each pod of the workload
        dialect: Dialect = CLUSTER_API,
        requesting: Requesting | None = None,
    ) -> None:
        self.dialect = dialect
        self.requesting = requesting
        self.agenda = agenda or Agenda()
        self.chance = random.Random(seed)
        self.durations = durations or Durations()
        self.api = ApiServer(wall=self.agenda.wall, chance=random.Random(self.chance.getrandbits(64)))
        self.api.writes.tracks_updates = tracks_fields
        ids = provider_ids or {}
        self.servers = {
            name: Server(name, f"rack-{i % racks + 1}", ids.get(name, "")) for i, name in enumerate(node_names(nodes))
        }
        self.workloads: dict[str, WorkloadCluster] = {}  # this cluster manages itself
        self.cordoned: set[str] = set()
        self.cordoned_before: set[str] = set()  # and installed anew: a fence that goes late gives the cordon back
        self.decoding = Decoding()  # for all processes: the same version means the same to each of them
        self.outlets = Outlets(self.agenda, self.durations.boot, seed)
        self._install()
        parts = (self.api, self.agenda, self.durations)
        kubelets = {
            name: Kubelet(server, *parts, phase_ms=self.chance.randrange(self.durations.heartbeat))
            for name, server in self.servers.items()
        }
        self.kubelets = Kubelets(kubelets, self.api)
        self.lifecycle = Lifecycle(self.servers, *parts)
        self.scheduler = Scheduler(*parts)
        self.attacher = Attacher(*parts)
        self.stateful_sets = StatefulSets(*parts)
        for kubelet in kubelets.values():
            kubelet.start()
        self._people_were_here()
        hosts = {host_of(name): server for name, server in self.servers.items()}
        self.baremetal = BaremetalOperator(hosts, *parts, random.Random(self.chance.getrandbits(64)))
        self.provider = Provider(*parts, self.kubelets, self.lifecycle)
        self._deploy(replicas, volumes)

    def server_of(self, node: str) -> Server | None:
        """What stands behind a Node: bare metal, or an instance of the cloud, be it gone by now."""
        return self.servers.get(node) or self.provider.instances.get(node)

    def _install(self) -> None:
        for tree in objects.definitions(with_openshift=self.dialect is OPENSHIFT):
            self.api.create(self.dialect.define(tree))
        for name in (objects.NAMESPACE, objects.SYSTEM):
            self.api.create(objects.namespace(name))
        for name in self.servers:
            self.create_machine(name)
            self._create_host(host_of(name), machine_of(name))
        for tree in self.requesting.templates() if self.requesting else ():
            self.api.create(tree)

    def create_machine(self, node: str) -> None:
        """The Machine of a node, as its provider makes it."""
        tree = self.dialect.say(objects.machine(machine_of(node), node, host_of(node)))
        body = {"status": tree.pop("status")}
        made = self.api.create(tree)
        self.api.patch(self.dialect.machine, machine_of(node), objects.NAMESPACE, body, "merge", subresource="status")
        if self.dialect.names_host == METAL3_MACHINE:
            self.api.create(objects.metal3_machine(machine_of(node), made["metadata"]["uid"], host_of(node)))

    def _create_host(self, name: str, machine: str) -> None:
        tree = self.dialect.say(objects.host(name, machine, powered_on=True))
        status = tree.pop("status")
        self.api.create(tree)
        self.api.patch(HOST, name, objects.NAMESPACE, {"status": status}, "merge", subresource="status")

    def _people_were_here(self) -> None:
        """What administrators put on nodes, and a kubelet does not know about."""
        for i, (name, server) in enumerate(self.servers.items()):
            metadata = {"labels": {RACK_LABEL: server.rack}, "annotations": {TEAM_NOTE: f"team-{i % 4}"}}
            spec = {"taints": [RESERVED]} if i % 5 == 4 else {}
            self.api.patch(NODE, name, "", {"metadata": metadata, "spec": spec}, "merge")

    def _deploy(self, replicas: int, volumes: tuple[str, ...]) -> None:
        for name in [f"{stem}-database-{ordinal}" for ordinal in range(replicas) for stem in volumes]:
            self.api.create(objects.claim(name))
            self.api.create(objects.volume(name))
            self.api.patch(VOLUME, name, "", {"status": {"phase": "Bound"}}, "merge", subresource="status")
        self.api.create(objects.stateful_set("database", replicas, volumes))

    def check(self, name: str, max_unhealthy: str) -> Tree:
        """A check over all machines, before it is said in the words of this cluster."""
        tree = objects.marking_check(name, max_unhealthy, self.durations)
        return tree if self.requesting is None else self.requesting.over(tree)

    def machines(self, node: str) -> list[Tree]:
        """The Machines of a node: one, unless somebody took it away, or the whole kind."""
        with suppress(ApiError):
            found = self.api.find(self.dialect.machine, machine_of(node), objects.NAMESPACE)
            return [found] if found is not None else []
        return []

    def cordon(self, node: str) -> None:
        """A person takes a node out of service."""
        self.cordoned.add(node)
        self.api.patch(NODE, node, "", {"spec": {"unschedulable": True}}, "merge")

    def mark(self, node: str) -> None:
        """Ask for the repair of a node, as a person or a health check would."""
        self._annotate_machine(node, {names.NEEDS_REMEDIATION: ""})

    def unmark(self, node: str) -> None:
        """Take the request back."""
        self._annotate_machine(node, {names.NEEDS_REMEDIATION: None})

    def _annotate_machine(self, node: str, notes: dict[str, str | None]) -> None:
        if self.machines(node):
            body = {"metadata": {"annotations": notes}}
            self.api.patch(self.dialect.machine, machine_of(node), objects.NAMESPACE, body, "merge")

    def move(self, pod: str) -> None:
        """Somebody deletes a pod: its successor starts on the emptiest node."""
        self.api.delete(POD, pod, objects.WORKLOAD)

    def ask_owner(self, machine: str) -> None:
        """Tell the owner of a Machine to act, as a health check does."""
        tree = self.api.get(self.dialect.machine, machine, objects.NAMESPACE)
        told = tree.get("status", {}).get("conditions", ())
        asked = {
            "type": "OwnerRemediated",
            "status": "False",
            "severity": "Warning",
            "reason": "WaitingForRemediation",
            "lastTransitionTime": str(self.agenda.wall()),
        }
        body = {"status": {"conditions": [*(one for one in told if one["type"] != asked["type"]), asked]}}
        self.api.patch(self.dialect.machine, machine, objects.NAMESPACE, body, "merge", subresource="status")

    def remediate(self, node: str, **spec: Any) -> None:
        """Ask for the power cycle of a node by a Metal3Remediation, as a person would, unless it is asked for."""
        if self.api.find(REMEDIATION, machine_of(node), objects.NAMESPACE) is None:
            self.api.create(objects.remediation(machine_of(node), **spec))

    def recall(self, node: str) -> None:
        """Delete that request, at whatever point it is."""
        if self.api.find(REMEDIATION, machine_of(node), objects.NAMESPACE) is not None:
            self.api.delete(REMEDIATION, machine_of(node), objects.NAMESPACE)

    def delete_machine(self, node: str) -> None:
        self.api.delete(self.dialect.machine, machine_of(node), objects.NAMESPACE)


def node_names(count: int) -> list[str]:
    return [f"worker-{i + 1}" for i in range(count)]


def machine_of(node: str) -> str:
    return f"machine-{node}"


def host_of(node: str) -> str:
    return f"host-{node}"
