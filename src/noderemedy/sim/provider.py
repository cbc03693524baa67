"""A simulated cloud: a Machine that asks for it gets an instance, and loses it before anybody lets go of the Machine.

Making a Machine provisions a server that boots, joins as a Node and is named in the Machine. Deleting it shuts the
instance down first, then says so (InfrastructureReady=False, reason Deleted), then removes the provider's finalizer;
by choice it removes the Node as well, as Cluster API's machine controller does. Faults: deletions that fail for a
while, instances that linger, a cloud that has nothing to give.
"""

from __future__ import annotations

from typing import Any

from noderemedy.model.ids import MACHINE, NODE
from noderemedy.sim import objects
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.apiserver import ApiServer, Tree, WatchEvent
from noderemedy.sim.durations import Durations
from noderemedy.sim.kubelet import Kubelet, Kubelets
from noderemedy.sim.lifecycle import Lifecycle
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.server import Kernel, Server

FINALIZER = "provider.sim.example/instance"
KIND = "SimulatedMachineTemplate"
RACK = "cloud"


class Provider:
    """Keeps one instance for each Machine that names our kind of infrastructure."""

    def __init__(
        self, api: ApiServer, agenda: Agenda, durations: Durations, kubelets: Kubelets, lifecycle: Lifecycle
    ) -> None:
        self.api = api
        self.agenda = agenda
        self.durations = durations
        self.kubelets = kubelets
        self.lifecycle = lifecycle
        self.instances: dict[str, Server] = {}  # by the Machine's name, which is the Node's too; ended ones stay
        self.pool = 0  # how many there should be
        self.removes_nodes = False
        self.is_refusing = False  # deletions fail
        self.is_exhausted = False  # nothing new is provisioned
        self.lingers_ms = 0  # how much longer an instance runs on after its deletion was asked for
        self.on_instance: list[Any] = []  # told of every new server
        self.on_end: list[Any] = []  # and of every one that is ended
        self.labels: dict[str, str] = {}  # of the Machines that are added, beside the usual ones
        self._busy: dict[str, None] = {}
        api.subscribe(MACHINE, self._machine)

    def grow(self, count: int) -> None:
        """Somebody adds Machines that name node-remedy as their owner."""
        for _ in range(count):
            self.pool += 1
            tree = objects.instance_machine(f"pool-{self.pool}")
            tree["metadata"]["labels"] |= self.labels
            self.api.create(tree)

    def machines(self) -> list[Tree]:
        return [tree for tree in self.api.list(MACHINE, NAMESPACE) if is_ours(tree)]

    def poke(self) -> None:
        """Look at all Machines again: the weather in the cloud changed."""
        for tree in self.machines():
            self._soon(tree["metadata"]["name"])

    def _machine(self, event: WatchEvent) -> None:
        if event.type != "DELETED" and is_ours(event.tree):
            self._soon(event.tree["metadata"]["name"])

    def _soon(self, name: str) -> None:
        self.agenda.after(self.durations.controller, lambda: self._reconcile(name))

    def _reconcile(self, name: str) -> None:
        machine = self.api.find(MACHINE, name, NAMESPACE)
        if machine is None or name in self._busy:
            return
        keepers = machine["metadata"].get("finalizers") or []
        if "deletionTimestamp" in machine["metadata"]:
            if FINALIZER in keepers and not self.is_refusing:
                self._plan(name, self.durations.deprovision + self.lingers_ms, self._end)
        elif FINALIZER not in keepers:
            self._patch(name, {"metadata": {"finalizers": [*keepers, FINALIZER]}})
        elif name not in self.instances and not self.is_exhausted:
            self._plan(name, self.durations.provision, self._provision)

    def _plan(self, name: str, delay_ms: int, do: Any) -> None:
        self._busy[name] = None

        def work() -> None:
            self._busy.pop(name, None)
            do(name)

        self.agenda.after(delay_ms, work)

    # --- an instance comes -----------------------------------------------------------------------------------------

    def _provision(self, name: str) -> None:
        if self.api.find(MACHINE, name, NAMESPACE) is None:
            return
        server = Server(name, RACK, f"sim://{name}")
        server.kernel = Kernel.DOWN
        self.instances[name] = server
        for listener in self.on_instance:
            listener(server)
        self.lifecycle.follow(server)
        kubelet = Kubelet(server, self.api, self.agenda, self.durations, phase_ms=self.durations.heartbeat // 2)
        self.kubelets.by_node[name] = kubelet
        self.agenda.after(self.durations.boot, lambda: self._joined(server))

    def _joined(self, server: Server) -> None:
        """The server is up and kubelet has registered; the Machine names both."""
        if not server.has_power:
            return
        server.booted()
        if self.api.find(MACHINE, server.name, NAMESPACE) is None:
            return
        self._patch(server.name, {"spec": {"providerID": server.provider_id}})
        self._say(server.name, "True", "", nodeRef={"apiVersion": "v1", "kind": "Node", "name": server.name})

    # --- and goes --------------------------------------------------------------------------------------------------

    def _end(self, name: str) -> None:
        machine = self.api.find(MACHINE, name, NAMESPACE)
        if machine is None or self.is_refusing:
            return
        if name in self.instances:
            self.instances[name].power_off()
            for listener in self.on_end:
                listener(self.instances[name])
        if self.removes_nodes and self.api.find(NODE, name) is not None:
            self.api.delete(NODE, name)
        self._say(name, "False", "Deleted")
        keepers = [one for one in machine["metadata"]["finalizers"] if one != FINALIZER]
        self._patch(name, {"metadata": {"finalizers": keepers}})

    def _say(self, name: str, status: str, reason: str, **more: Any) -> None:
        """The provider's condition on the Machine, with those of all others."""
        machine = self.api.find(MACHINE, name, NAMESPACE)
        assert machine is not None
        told = machine.get("status", {}).get("conditions", ())
        moment = str(self.agenda.wall())
        ready = {"type": "InfrastructureReady", "status": status, "reason": reason, "lastTransitionTime": moment}
        conditions = [*(one for one in told if one["type"] != ready["type"]), ready]
        body = {"status": {"conditions": conditions, **more}}
        self.api.patch(MACHINE, name, NAMESPACE, body, "merge", subresource="status")

    def _patch(self, name: str, body: dict[str, Any]) -> None:
        self.api.patch(MACHINE, name, NAMESPACE, body, "merge")


def is_ours(machine: Tree) -> bool:
    return bool(machine.get("spec", {}).get("infrastructureRef", {}).get("kind") == KIND)
