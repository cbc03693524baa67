"""A bare-metal cluster below the real control plane: computers, kubelets, hosts, machines, and who switches them.

The one thing that scenario tests build on:

    with Fleet(plane) as fleet:
        fleet.add("worker-0")
        fleet.crash("worker-0")

Each computer has a Node, a BareMetalHost and a Machine of its own name in the namespace `default`, linked as a
bare-metal provider links them (`Provider`): annotation and consumerRef, and the Machine's nodeRef. Methods are for
tests and may be called from any thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import Enum
from types import TracebackType

from tests.devices.ipmi import Bmc
from tests.e2e.api import Api, Json, eventually
from tests.e2e.background import AsyncApi, Background, cancel_all
from tests.e2e.baremetal import BaremetalOperator, Switches
from tests.e2e.cloud import Cloud
from tests.e2e.containers import Containers
from tests.e2e.controlplane import ControlPlane
from tests.e2e.kubelets import Kubelets
from tests.e2e.volumes import Disks, install_driver
from tests.e2e.world import World

NODES = "/api/v1/nodes"
MACHINES = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines"
HOSTS = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts"
METAL3_MACHINES = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default/metal3machines"
EXTERNAL = "host.metal3.io/external-remediation"


class Provider(Enum):
    """Who made the Machine, and by which kind the host is consumed."""

    CLUSTER_API = ("cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io/v1beta1", "Machine")
    METAL3 = ("cluster.x-k8s.io/v1beta1", "infrastructure.cluster.x-k8s.io/v1beta1", "Metal3Machine")
    OPENSHIFT = ("machine.openshift.io/v1beta1", "machine.openshift.io/v1beta1", "Machine")

    @property
    def machine_version(self) -> str:
        return self.value[0]

    @property
    def machines(self) -> str:
        """The path of the collection of Machines."""
        return f"/apis/{self.machine_version}/namespaces/default/machines"

    def consumer(self, name: str) -> Json:
        """What the host's consumerRef says."""
        _, version, kind = self.value
        return {"apiVersion": version, "kind": kind, "namespace": "default", "name": name}


class Fleet:
    """Simulated computers below a real control plane. The kinds of deploy/crds must be installed."""

    def __init__(self, plane: ControlPlane, workload: ControlPlane | None = None) -> None:
        self.api: Api = plane.api()
        self.nodes_api: Api = (workload or plane).api()  # where the Nodes are, if that is another cluster
        self.world = World()
        self._providers: dict[str, Provider] = {}
        self._bmcs: list[asyncio.Future[None]] = []
        self._background = Background()
        self._remote: AsyncApi = self._background.call(AsyncApi, self.api)
        self._of_nodes: AsyncApi = self._background.call(AsyncApi, self.nodes_api)
        self.containers: Containers = self._background.call(
            Containers, self._of_nodes, self.nodes_api.server, plane.folder / "containers"
        )
        self.kubelets = Kubelets(self._of_nodes, self.world, containers=self.containers)
        self.operator = BaremetalOperator(self._remote, self.world, self.kubelets)
        self.cloud = Cloud(self._remote, self.world, self.kubelets)

    def __enter__(self) -> Fleet:
        self._background.call(self.kubelets.start)
        self._background.call(self.operator.start)
        self._background.call(self.cloud.start)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._background.run(cancel_all())  # nobody asks any more when the connections go
        self._background.run(self._of_nodes.close())
        self._background.run(self._remote.close())
        self._background.stop()

    @property
    def switches(self) -> Switches:
        """Timings and faults of the baremetal operator; names of hosts are names of computers."""
        return self.operator.switches

    def add(
        self, *names: str, labels: Mapping[str, str] | None = None, provider: Provider = Provider.CLUSTER_API
    ) -> None:
        """Computers that run, with Node, host and machine; returns when all are Ready and known to be on."""
        for name in names:
            self._providers[name] = provider
            self._background.call(self.kubelets.add, name, labels)
            made = self.api.create(provider.machines, machine(name, provider)).ok()
            if provider is Provider.METAL3:
                self.api.create(METAL3_MACHINES, metal3_machine(name, made["metadata"]["uid"])).ok()
            self.api.create(HOSTS, host(name, provider)).ok()
        for name in names:
            eventually(lambda name=name: self.is_ready(name), f"{name} is Ready")  # type: ignore[misc]
            node_ref = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": self.node(name)["metadata"]["uid"]}
            status = {"phase": "Running", "nodeRef": node_ref}
            self.api.merge(f"{self.machine_path(name)}/status", {"status": status}).ok()
            eventually(lambda name=name: self.powered_on(name), f"{name} is known to be on")  # type: ignore[misc]

    def add_computers(self, *names: str, labels: Mapping[str, str] | None = None) -> None:
        """Computers that run, with a Node and nothing else; returns when all are Ready."""
        for name in names:
            self._background.call(self.kubelets.add, name, labels)
        for name in names:
            eventually(lambda name=name: self.is_ready(name), f"{name} is Ready")  # type: ignore[misc]

    def add_storage(self, volumes: int) -> None:
        """A storage driver and so many volumes; from now on pods wait for theirs."""
        install_driver(self.nodes_api, volumes)
        self.kubelets.disks = self._background.call(Disks, self._of_nodes, self.world)
        self._background.call(self.kubelets.disks.start)

    def connect(self, bmc: Bmc, name: str) -> None:
        """From now on this BMC switches that computer."""
        self._background.call(self._follow, bmc, name)

    def _follow(self, bmc: Bmc, name: str) -> None:
        self._bmcs.append(asyncio.ensure_future(bmc.follow(lambda on: self.kubelets.power(name, on))))

    def crash(self, name: str) -> None:
        """The computer hangs: silent, still powered, its containers still running."""
        self._background.call(self.kubelets.crash, name)

    def power(self, name: str, on: bool) -> None:
        """Somebody pulls or plugs the cord."""
        self._background.call(self.kubelets.power, name, on)

    def never_boots(self, name: str) -> None:
        """After its next power-on the computer does not come back as a node."""
        self._background.call(self.kubelets.never_boots, name)

    def ask_for_repair(self, name: str, by: Api | None = None) -> None:
        """Sets the remediation annotation on the Machine, as a health check would."""
        self.annotate(self.machine_path(name), {EXTERNAL: ""}, by)

    def annotate(self, path: str, annotations: Mapping[str, str | None], by: Api | None = None) -> None:
        """Sets annotations, or removes them with None."""
        (by or self.api).merge(path, {"metadata": {"annotations": dict(annotations)}}).ok()

    def machine_path(self, name: str) -> str:
        return f"{self._providers[name].machines}/{name}"

    def node(self, name: str) -> Json:
        """The Node, or {} when there is none."""
        return self.nodes_api.find(f"{NODES}/{name}")

    def machine(self, name: str) -> Json:
        return self.api.get(self.machine_path(name)).ok()

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


def host(name: str, provider: Provider = Provider.CLUSTER_API) -> Json:
    """A provisioned host that the machine of the same name consumes."""
    bmc = {"address": f"ipmi://127.0.0.1/{name}", "credentialsName": f"{name}-bmc"}
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"online": True, "bmc": bmc, "consumerRef": provider.consumer(name)},
    }


def machine(name: str, provider: Provider = Provider.CLUSTER_API) -> Json:
    spec = {"providerID": f"metal3://default/{name}"}
    return {
        "apiVersion": provider.machine_version,
        "kind": "Machine",
        "metadata": {"name": name, "namespace": "default", **({} if provider is Provider.METAL3 else has_host(name))},
        "spec": spec if provider is Provider.OPENSHIFT else {"clusterName": "e2e", **spec},
    }


def metal3_machine(name: str, owner_uid: str) -> Json:
    """What stands between a Machine of Cluster API and its host where the Metal3 provider made it."""
    version = Provider.METAL3.machine_version
    owner = {"apiVersion": version, "kind": "Machine", "name": name, "uid": owner_uid, "controller": True}
    return {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind": "Metal3Machine",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner], **has_host(name)},
        "spec": {"providerID": f"metal3://default/{name}"},
    }


def has_host(name: str) -> Json:
    """Of the Machine, or of the Metal3Machine where there is one: its provider writes it there, and only there."""
    return {"annotations": {"metal3.io/BareMetalHost": f"default/{name}"}}
