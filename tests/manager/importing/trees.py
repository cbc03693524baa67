"""Health checks, machines and nodes as trees, for the tests of `import`."""

from __future__ import annotations

from typing import Any

from noderemedy.manager.importing.examine import examine
from noderemedy.manager.importing.report import Difference, Report
from noderemedy.manager.importing.world import World
from noderemedy.manager.sources import Source
from noderemedy.model.time import Wall
from noderemedy.wire import names
from noderemedy.wire.scalars import read_wall

Tree = dict[str, Any]
NAMESPACE = "machine-api"
LABELS = {"role": "worker"}
READY = [{"type": "Ready", "status": status, "timeout": "300s"} for status in ("False", "Unknown")]
SEED, CAPI, OPENSHIFT = "cluster.x-k8s.io/v1alpha3", "cluster.x-k8s.io/v1beta1", "machine.openshift.io/v1beta1"
STRATEGY = {names.STRATEGY: "external-baremetal"}
KINDS = ("metal3remediationtemplates.remediation.metal3.io", "metal3remediations.remediation.metal3.io")


def at(text: str) -> Wall:
    moment = read_wall(text)
    assert isinstance(moment, Wall)
    return moment


NOW = at("2030-01-31T12:00:00Z")


def a_check(version: str = OPENSHIFT, name: str = "workers", **more: Any) -> Tree:
    """A check that selects all workers. `annotations`, `created`, `managed` and `status` go where they belong."""
    notes, created = more.pop("annotations", {}), more.pop("created", "2029-01-01T00:00:00Z")
    managed, status = more.pop("managed", None), more.pop("status", None)
    cluster = {"clusterName": "c1"} if version == CAPI else {}
    meta: Tree = {"name": name, "namespace": NAMESPACE, "annotations": notes, "creationTimestamp": created}
    tree: Tree = {
        "apiVersion": version,
        "kind": "MachineHealthCheck",
        "metadata": meta | ({"managedFields": managed} if managed else {}),
        "spec": {**cluster, "selector": {"matchLabels": LABELS}, "unhealthyConditions": READY, **more},
    }
    return tree | ({"status": status} if status else {})


def a_machine(name: str, version: str = OPENSHIFT, owned: bool = True, **annotations: str) -> Tree:
    owner = {"apiVersion": version, "kind": "MachineSet", "name": "workers", "uid": "u", "controller": True}
    meta = {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {**LABELS, "cluster.x-k8s.io/cluster-name": "c1"},
        "annotations": annotations,
        "ownerReferences": [owner] if owned else [],
    }
    spec = {"clusterName": "c1"} if version == CAPI else {}
    return {
        "apiVersion": version,
        "kind": "Machine",
        "metadata": meta,
        "spec": spec,
        "status": {"nodeRef": {"name": f"node-{name}"}},
    }


def a_marked_machine(name: str, **more: str) -> Tree:
    tree = a_machine(name)
    tree["metadata"]["annotations"] = {names.NEEDS_REMEDIATION: "", **more}
    return tree


def some_machines(number: int, version: str = OPENSHIFT, owned: bool = True) -> list[Tree]:
    return [a_machine(f"w{one}", version, owned) for one in range(number)]


def a_node(name: str, **labels: str) -> Tree:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {**LABELS, **labels}}}


def a_node_check(name: str = "nodes", status: Tree | None = None, **spec: Any) -> Tree:
    tree: Tree = {
        "apiVersion": "remediation.medik8s.io/v1alpha1",
        "kind": "NodeHealthCheck",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": LABELS}, "minHealthy": "51%", **spec},
    }
    return tree | ({"status": status} if status else {})


def a_definition(name: str, properties: Tree | None = None) -> Tree:
    schema = {"properties": {"spec": {"properties": properties or {}}}}
    version = {"name": "v1beta1", "served": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {"versions": [version]},
    }


def definitions() -> list[Tree]:
    return [a_definition(name) for name in KINDS]


def a_world(*trees: Tree) -> World:
    return World([Source(tree, "file") for tree in trees])


def report(*trees: Tree) -> Report:
    return examine(a_world(*trees), NOW)


def differences(*trees: Tree) -> dict[str, Difference]:
    """Of the first check, by name."""
    return {one.name: one for one in report(*trees).checks[0].differences}


def names_of(*trees: Tree) -> list[str]:
    return list(differences(*trees))
