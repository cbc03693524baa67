"""Cluster API as it was before v1beta2: its own definitions, with v1beta1 as the only version, on a real API server.

Its schemas take no empty text in a condition: one of them, and the whole status is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import files_of, install_foreign_kinds, kubectl
from tests.e2e.fleet import MACHINES, Fleet
from tests.e2e.managers import Manager
from tests.wire.clusterapi import CHECK_STATUS, MACHINE_STATUS, Schema

CHECKS = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinehealthchecks"
KINDS = ("machinehealthchecks", "machines")
LABELS = {"role": "worker"}
NODES = ("one", "two", "three")
REFERENCE = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "InventedMachine", "name": "invented"}
CHECK = {
    "apiVersion": "cluster.x-k8s.io/v1beta1",
    "kind": "MachineHealthCheck",
    "metadata": {"name": "workers"},
    "spec": {
        "clusterName": "c1",
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "1s"}],
    },
}


def definition(plane: ControlPlane, kind: str) -> Json:
    """As Cluster API ships it."""
    folder = Path(plane.binaries["cluster-api-manager"]).with_name("cluster-api-crds")
    found: Json = yaml.safe_load((folder / f"cluster.x-k8s.io_{kind}.yaml").read_text())
    return found


def in_one_version(found: Json, version: str) -> Json:
    """The same definition, as if this version were the only one."""
    [kept] = [{**one, "storage": True} for one in found["spec"]["versions"] if one["name"] == version]
    return {**found, "spec": {**found["spec"], "versions": [kept]}}


def a_machine(name: str) -> Json:
    spec = {"clusterName": "c1", "bootstrap": {"dataSecretName": "bootstrap"}, "infrastructureRef": REFERENCE}
    meta = {"name": name, "labels": LABELS}
    return {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": meta, "spec": spec}


@pytest.fixture(scope="module")
def fleet(control_plane: ControlPlane) -> Iterator[Fleet]:
    """Three machines with nodes, and a check for them."""
    kinds = [in_one_version(definition(control_plane, kind), "v1beta1") for kind in KINDS]
    file = control_plane.folder / "older-kinds.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": kinds}))
    kubectl(control_plane, "create", "-f", file)
    install_foreign_kinds(control_plane)
    kubectl(control_plane, "apply", "--server-side", *files_of("crds", "rbac"))
    with Fleet(control_plane) as fleet:
        fleet.add_computers(*NODES)
        for name in NODES:
            fleet.api.create(MACHINES, a_machine(name)).ok()
            fleet.api.merge(f"{MACHINES}/{name}/status", {"status": {"nodeRef": {"kind": "Node", "name": name}}}).ok()
        fleet.api.create(CHECKS, CHECK).ok()
        yield fleet


def told(item: Json, type: str, *place: str) -> tuple[str, ...]:
    """Status and reason of a condition of this type, in this place below the status."""
    found = item.get("status", {})
    for name in place:
        found = found.get(name, {})
    conditions = [one for one in found.get("conditions", ()) if one["type"] == type]
    return tuple(text for one in conditions for text in (one["status"], one.get("reason", "")))


def test_a_status_is_accepted(control_plane: ControlPlane, fleet: Fleet) -> None:
    """A check whose machines are healthy gets its status; a sick machine its conditions, and the good news after it."""
    check, machine = f"{CHECKS}/workers", f"{MACHINES}/one"

    def says(type: str, *words: str, of: str = machine, places: Any = ((), ("v1beta2",))) -> bool:
        item = fleet.api.get(of).ok()
        return all(told(item, type, *place)[: len(words)] == words for place in places)

    with Manager(control_plane):
        allowed = ("True", "RemediationAllowed")
        eventually(lambda: says("RemediationAllowed", *allowed, of=check, places=((),)), "it is told", 60)
        assert 3 == fleet.api.get(check).ok()["status"]["currentHealthy"]
        fleet.crash("one")
        eventually(lambda: says("HealthCheckSucceeded", "False", "UnhealthyNode"), "its machine is sick", 90)
        eventually(lambda: says("OwnerRemediated", "False"), "its owner is asked", 60)
        fleet.power("one", False)
        fleet.power("one", True)
        eventually(lambda: says("HealthCheckSucceeded", "True"), "it is well again", 60)
        assert says("OwnerRemediated"), "nobody is asked any more"


def rules(schema: Schema, ours: Schema) -> Schema:
    """What a schema demands of the fields that ours names; without words, and without how lists are merged."""
    told = {key: one for key, one in schema.items() if key != "description" and not key.startswith("x-kubernetes-list")}
    if "properties" in told:
        told["properties"] = {key: rules(told["properties"][key], one) for key, one in ours["properties"].items()}
    if "items" in told:
        told["items"] = rules(told["items"], ours["items"])
    return told


@pytest.mark.parametrize(("kind", "written"), [("machinehealthchecks", CHECK_STATUS), ("machines", MACHINE_STATUS)])
@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_the_schemas_of_the_tests_are_the_real_ones(
    control_plane: ControlPlane, kind: str, written: dict[str, Schema], version: str
) -> None:
    """What tests hold our bodies against is what Cluster API ships, field by field."""
    [only] = in_one_version(definition(control_plane, kind), version)["spec"]["versions"]
    real = only["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]

    for key, schema in written[version]["properties"].items():
        assert rules(schema, schema) == rules(real[key], schema), key
