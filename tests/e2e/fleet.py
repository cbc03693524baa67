"""A bare-metal cluster below the real control plane: computers, kubelets, hosts, machines, and who switches them.

The one thing that scenario tests build on:

    with Fleet(plane) as fleet:
        fleet.add("worker-0")
        fleet.crash("worker-0")

Each computer has a Node, a BareMetalHost and a Machine of its own name in the namespace `default`, linked as a
bare-metal provider links them: annotation and consumerRef, and the Machine's nodeRef. Methods are for tests and may be
called from any thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from tests.e2e.api import Api, Json, eventually
from tests.e2e.background import AsyncApi, Background
from tests.e2e.baremetal import BaremetalOperator, Switches
from tests.e2e.controlplane import ControlPlane
from tests.e2e.kubelets import Kubelets
from tests.e2e.world import World

NODES = "/api/v1/nodes"
MACHINES = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines"
HOSTS = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts"
EXTERNAL = "host.metal3.io/external-remediation"


class Fleet:
    """Simulated computers below a real control plane. The kinds of deploy/crds must be installed."""

    def __init__(self, plane: ControlPlane) -> None:
        self.api: Api = plane.api()
        self.world = World()
        self._background = Background()
        self._remote: AsyncApi = self._background.call(AsyncApi, self.api)
        self.kubelets = Kubelets(self._remote, self.world)
        self.operator = BaremetalOperator(self._remote, self.world, self.kubelets)

    def __enter__(self) -> Fleet:
        self._background.call(self.kubelets.start)
        self._background.call(self.operator.start)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._background.run(self._remote.close())
        self._background.stop()

    @property
    def switches(self) -> Switches:
        """Timings and faults of the baremetal operator; names of hosts are names of computers."""
        return self.operator.switches

    def add(self, *names: str, labels: Mapping[str, str] | None = None) -> None:
        """Computers that run, with Node, host and machine; returns when all are Ready and known to be on."""
        for name in names:
            self._background.call(self.kubelets.add, name, labels)
            self.api.create(HOSTS, host(name)).ok()
            self.api.create(MACHINES, machine(name)).ok()
        for name in names:
            eventually(lambda name=name: self.is_ready(name), f"{name} is Ready")  # type: ignore[misc]
            node_ref = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": self.node(name)["metadata"]["uid"]}
            status = {"phase": "Running", "nodeRef": node_ref}
            self.api.merge(f"{MACHINES}/{name}/status", {"status": status}).ok()
            eventually(lambda name=name: self.powered_on(name), f"{name} is known to be on")  # type: ignore[misc]

    def crash(self, name: str) -> None:
        """The computer hangs: silent, still powered, its containers still running."""
        self._background.call(self.kubelets.crash, name)

    def power(self, name: str, on: bool) -> None:
        """Somebody pulls or plugs the cord."""
        self._background.call(self.kubelets.power, name, on)

    def never_boots(self, name: str) -> None:
        """After its next power-on the computer does not come back as a node."""
        self._background.call(self.kubelets.never_boots, name)

    def ask_for_repair(self, name: str) -> None:
        """Sets the remediation annotation on the Machine, as a health check would."""
        self.api.merge(f"{MACHINES}/{name}", {"metadata": {"annotations": {EXTERNAL: ""}}}).ok()

    def node(self, name: str) -> Json:
        """The Node, or {} when there is none."""
        reply = self.api.get(f"{NODES}/{name}")
        return {} if reply.status == 404 else reply.ok()

    def machine(self, name: str) -> Json:
        return self.api.get(f"{MACHINES}/{name}").ok()

    def host(self, name: str) -> Json:
        return self.api.get(f"{HOSTS}/{name}").ok()

    def is_ready(self, name: str) -> bool:
        return self.ready_status(name) == "True"

    def ready_status(self, name: str) -> str:
        """True, False, Unknown, or empty when there is no Node."""
        conditions = self.node(name).get("status", {}).get("conditions", [])
        return next((str(one["status"]) for one in conditions if one["type"] == "Ready"), "")

    def powered_on(self, name: str) -> bool | None:
        """What the host's status says."""
        said: bool | None = self.host(name).get("status", {}).get("poweredOn")
        return said


def host(name: str) -> Json:
    """A provisioned host that the machine of the same name consumes."""
    consumer = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "namespace": "default", "name": name}
    bmc = {"address": f"ipmi://127.0.0.1/{name}", "credentialsName": f"{name}-bmc"}
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"online": True, "bmc": bmc, "consumerRef": consumer},
    }


def machine(name: str) -> Json:
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {"metal3.io/BareMetalHost": f"default/{name}"},
        },
        "spec": {"clusterName": "e2e", "providerID": f"metal3://default/{name}"},
    }
