"""A real owner of machines: Cluster API's core manager on the bench's API server, with an invented infrastructure.

Its controllers are the real ones: MachineSets make machines, machines find their nodes, sick ones are replaced. What is
invented is the provider: three open kinds, and `Provider`, which turns every InventedMachine into a computer with a
kubelet and takes it away again. The workload cluster is the management cluster itself, reached through the usual
secret.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import shutil
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml
from tests.e2e.api import Json, eventually
from tests.e2e.background import AsyncApi, Background, Gone, cancel_all
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import files_of, install_foreign_kinds, kubectl
from tests.e2e.kubelets import Kubelets
from tests.e2e.processes import Program, free_port
from tests.e2e.world import World

CORE, PROVIDER = "cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"
CONTRACT = {"cluster.x-k8s.io/v1beta2": "v1beta2"}
NAMESPACE, CLUSTER = "default", "c1"
FILTER = {"cluster.x-k8s.io/watch-filter": "core"}  # on what the core manager shall look after
LABELS = {"role": "worker", "cluster.x-k8s.io/cluster-name": CLUSTER}
IN_CORE = f"/apis/{CORE}/v1beta2/namespaces/{NAMESPACE}"
IN_PROVIDER = f"/apis/{PROVIDER}/v1beta2/namespaces/{NAMESPACE}"
MACHINES, CHECKS = f"{IN_CORE}/machines", f"{IN_CORE}/machinehealthchecks"
KINDS = ("InventedCluster", "InventedMachine", "InventedMachineTemplate")


class ClusterApi:
    """The core manager, a provider, and one cluster with a MachineSet."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.api = plane.api()
        self.background = Background()
        self.provider: Provider = self.background.run(started(plane))
        self.program: Program | None = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.program:
            self.program.kill()
        self.background.run(cancel_all())  # nobody asks any more when the connections go
        self.background.run(self.provider.close())
        self.background.stop()

    def __enter__(self) -> ClusterApi:
        self._install()
        self._start()
        self._make_cluster()
        return self

    def let_node_remedy_in(self) -> None:
        """Its kinds and rights beside the owner, those for this cluster's secret included."""
        install_foreign_kinds(self.plane)
        kubectl(self.plane, "apply", "--server-side", *files_of("crds", "rbac"))
        role = "node-remedy-workload-clusters"
        account = "--serviceaccount=node-remedy-system:node-remedy-manager"
        where = f"--namespace={NAMESPACE}"
        kubectl(self.plane, "create", "rolebinding", role, where, f"--clusterrole={role}", account)

    def make_machines(self, replicas: int) -> None:
        """A MachineSet, and waits until each of its machines has a node."""
        self.api.create(f"{IN_CORE}/machinesets", a_machine_set(replicas)).ok()
        eventually(lambda: replicas == len(self.machines()), f"{replicas} machines have nodes", 60)

    def machines(self) -> dict[str, str]:
        """Machine → node of those that have one and are not leaving."""
        listed = [item for item in self.api.items(MACHINES) if "deletionTimestamp" not in item["metadata"]]
        nodes = {item["metadata"]["name"]: item.get("status", {}).get("nodeRef", {}).get("name") for item in listed}
        return {name: node for name, node in nodes.items() if node}

    def is_replaced(self, machine: str, replicas: int) -> bool:
        """The machine is gone, and there are as many with a node as before."""
        return self.api.get(f"{MACHINES}/{machine}").status == 404 and len(self.machines()) == replicas

    def told(self, machine: str) -> dict[str, str]:
        """Condition → status, of this machine."""
        conditions = self.api.get(f"{MACHINES}/{machine}").ok()["status"]["conditions"]
        return {one["type"]: one["status"] for one in conditions}

    def crash(self, node: str) -> None:
        """The node hangs; after the grace period the node lifecycle controller says so."""
        self.background.call(self.provider.kubelets.crash, node)

    # --- setting up ----------------------------------------------------------------------------------------------

    def _install(self) -> None:
        """The kinds as Cluster API ships them and ours, all labelled with the contract that they fulfil."""
        shipped = Path(self.plane.binaries["cluster-api-manager"]).with_name("cluster-api-crds")
        kinds = [yaml.safe_load(file.read_text()) for file in sorted(shipped.glob("*.yaml"))]
        kinds += [open_kind(kind) for kind in KINDS]
        for kind in kinds:
            kind["metadata"].setdefault("labels", {}).update(CONTRACT)
        file = self.plane.folder / "cluster-api-kinds.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": kinds}))
        kubectl(self.plane, "create", "-f", file)
        names = [f"crd/{kind['metadata']['name']}" for kind in kinds]
        kubectl(self.plane, "wait", "--for=condition=Established", "--timeout=30s", *names)

    def _start(self) -> None:
        """It runs its webhooks' server, which nobody calls: the bench registers none."""
        certificates = self.plane.folder / "webhooks"
        certificates.mkdir()
        shutil.copy(self.plane.certificates.serving, certificates / "tls.crt")
        shutil.copy(self.plane.certificates.serving_key, certificates / "tls.key")
        self.program = Program(
            [
                self.plane.binaries["cluster-api-manager"],
                f"--kubeconfig={self.plane.kubeconfig()}",
                f"--webhook-cert-dir={certificates}",
                f"--webhook-port={free_port()}",
                f"--health-addr=127.0.0.1:{free_port()}",
                "--insecure-diagnostics",
                f"--diagnostics-address=127.0.0.1:{free_port()}",
                "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
                f"--watch-filter={FILTER['cluster.x-k8s.io/watch-filter']}",
            ],
            self.plane.folder / "cluster-api-manager.log",
        )

    def _make_cluster(self) -> None:
        """A cluster that is up: its infrastructure is there, its control plane answers."""
        kubeconfig = json.loads(self.plane.kubeconfig().read_text())
        reached = kubeconfig["clusters"][0]["cluster"]
        authority = Path(reached.pop("certificate-authority")).read_bytes()
        reached["certificate-authority-data"] = base64.b64encode(authority).decode()
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "cluster.x-k8s.io/secret",
            "metadata": {"name": f"{CLUSTER}-kubeconfig", "labels": LABELS},
            "stringData": {"value": json.dumps(kubeconfig)},
        }
        self.api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", secret).ok()
        bootstrap = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bootstrap"}}
        self.api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", bootstrap).ok()
        self.api.create(f"{IN_PROVIDER}/inventedmachinetemplates", a_machine_template()).ok()
        self.api.create(f"{IN_PROVIDER}/inventedclusters", an_invented_cluster()).ok()
        self.api.create(f"{IN_CORE}/clusters", a_cluster()).ok()
        up = [a_condition("ControlPlaneInitialized", "True")]
        status = {"initialization": {"controlPlaneInitialized": True}, "conditions": up}
        self.api.merge(f"{IN_CORE}/clusters/{CLUSTER}/status", {"status": status}).ok()


class Provider:
    """The invented infrastructure: makes a computer of every InventedMachine, and takes it away with it."""

    def __init__(self, api: AsyncApi) -> None:
        self.api = api
        self.world = World()
        self.kubelets = Kubelets(api, self.world)
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self.kubelets.start()
        self._do(self._follow())

    async def close(self) -> None:
        await self.api.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self) -> None:
        while True:
            with contextlib.suppress(Gone):  # the kind is not served yet
                async for change, item in self.api.follow(f"{IN_PROVIDER}/inventedmachines"):
                    self._see(change, item["metadata"]["name"])
            await asyncio.sleep(0.2)

    def _see(self, change: str, name: str) -> None:
        if change == "DELETED":
            self.kubelets.power(name, on=False)
            self._do(self._forget(name))
        elif name not in self.world.computers:
            self.kubelets.add(name)
            self._do(self._provision(name))

    async def _provision(self, name: str) -> None:
        """Says that the machine is there once its node has registered."""
        identity = f"invented://{name}"
        while True:
            with contextlib.suppress(Gone):
                await self.api.merge(f"/api/v1/nodes/{name}", {"spec": {"providerID": identity}})
                break
            await asyncio.sleep(0.1)
        path = f"{IN_PROVIDER}/inventedmachines/{name}"
        with contextlib.suppress(Gone):
            there = {"initialization": {"provisioned": True}}
            await self.api.merge(path, {"spec": {"providerID": identity}, "status": there})

    async def _forget(self, name: str) -> None:
        """A machine that is no more has no node: elsewhere the cloud's own controller sees to that."""
        with contextlib.suppress(Gone):
            await self.api.send("DELETE", f"/api/v1/nodes/{name}")


async def started(plane: ControlPlane) -> Provider:
    provider = Provider(AsyncApi(plane.api()))
    provider.start()
    return provider


# --- objects -----------------------------------------------------------------------------------------------------


def a_condition(kind: str, status: str, reason: str = "Bench") -> Json:
    moment = "2026-01-01T00:00:00Z"
    return {"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": moment}


def open_kind(kind: str) -> Json:
    """A definition that takes anything, its status like the rest."""
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1beta2", "served": True, "storage": True, "schema": schema}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{PROVIDER}"},
        "spec": {
            "group": PROVIDER,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [version],
        },
    }


def invented(kind: str, name: str, **more: object) -> Json:
    return {"apiVersion": f"{PROVIDER}/v1beta2", "kind": kind, "metadata": {"name": name}, **more}


def a_machine_template() -> Json:
    return invented("InventedMachineTemplate", "workers", spec={"template": {"spec": {}}})


def an_invented_cluster() -> Json:
    status = {"initialization": {"provisioned": True}}
    endpoint = {"controlPlaneEndpoint": {"host": "127.0.0.1", "port": 6443}}
    return invented("InventedCluster", CLUSTER, spec=endpoint, status=status)


def a_cluster() -> Json:
    reference = {"apiGroup": PROVIDER, "kind": "InventedCluster", "name": CLUSTER}
    return {
        "apiVersion": f"{CORE}/v1beta2",
        "kind": "Cluster",
        "metadata": {"name": CLUSTER, "labels": FILTER},
        "spec": {"infrastructureRef": reference},
    }


def a_machine_set(replicas: int) -> Json:
    machine = {
        "clusterName": CLUSTER,
        "bootstrap": {"dataSecretName": "bootstrap"},
        "infrastructureRef": {"apiGroup": PROVIDER, "kind": "InventedMachineTemplate", "name": "workers"},
    }
    return {
        "apiVersion": f"{CORE}/v1beta2",
        "kind": "MachineSet",
        "metadata": {"name": "workers", "labels": {**LABELS, **FILTER}},
        "spec": {
            "clusterName": CLUSTER,
            "replicas": replicas,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": {**LABELS, **FILTER}}, "spec": machine},
        },
    }
