"""What health checks read of Machines and Clusters: dates, owners, phases, and conditions of two generations."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import NAMESPACE, a_machine_tree, a_node_tree

from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import CLUSTER, MACHINE, NODE, OPENSHIFT_MACHINE
from noderemedy.model.machine import ControllerOwner, Machine
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition
from noderemedy.model.time import Wall
from noderemedy.wire.objects import Undecodable, convert

TIME, MOMENT = "2030-01-01T00:00:00Z", Wall(1_893_456_000_000)


def a_condition(kind: str, status: str = "True") -> dict[str, Any]:
    return {"type": kind, "status": status, "lastTransitionTime": TIME, "severity": "Warning", "message": "x"}


def read(*, metadata: dict[str, Any] | None = None, **status: Any) -> Machine:
    tree = a_machine_tree()
    tree["metadata"].update(metadata or {})
    tree["status"].update(status)
    found = convert(MACHINE, tree).obj
    assert isinstance(found, Machine)
    return found


def test_labels_dates_and_the_cluster() -> None:
    """Labels sorted, creation and last update as moments."""
    machine = read(
        metadata={"labels": {"b": "2", "a": "1"}, "creationTimestamp": TIME}, lastUpdated=TIME, phase="Running"
    )

    assert (("a", "1"), ("b", "2")) == machine.labels
    assert (MOMENT, MOMENT, "Running", "metal") == (
        machine.created,
        machine.last_updated,
        machine.phase,
        machine.cluster_name,
    )


@pytest.mark.parametrize(
    ("spec", "domain"),
    [
        ({"clusterName": "metal", "providerID": "x", "failureDomain": "zone-a"}, "zone-a"),
        ({"failureDomain": "zone-a"}, "zone-a"),
        ({"clusterName": "metal", "failureDomain": None}, ""),
        ({"clusterName": "metal", "failureDomain": ""}, ""),
        ({"clusterName": "metal", "failureDomain": 7}, ""),
        ({"clusterName": "metal", "failureDomain": ["zone-a"]}, ""),
    ],
)
def test_where_a_machine_was_put(spec: dict[str, Any], domain: str) -> None:
    """Its failure domain is the one that its spec names; what is no text names none, and is no reason to refuse it."""
    machine = convert(MACHINE, {**a_machine_tree(), "spec": spec}).obj

    assert domain == machine.failure_domain


@pytest.mark.parametrize("wrong", ["providerID", "clusterName"])
def test_what_is_wrong_in_a_spec_is_told_with_its_path(wrong: str) -> None:
    """Also beside a failure domain that can be read."""
    tree = {**a_machine_tree(), "spec": {"failureDomain": "zone-a", wrong: 7}}
    with pytest.raises(Undecodable) as refusal:
        convert(MACHINE, tree)

    assert refusal.value.problem.startswith(f"spec.{wrong}: ")


def test_a_machine_without_any_of_it() -> None:
    """Nothing is invented."""
    machine = convert(OPENSHIFT_MACHINE, {"metadata": {"name": "x"}}).obj

    assert Machine("") == machine


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("cluster.x-k8s.io/remediate-machine", "remediate"),
        ("cluster.x-k8s.io/skip-remediation", "skips_remediation"),
        ("node-remedy.dev/repair", "repair_now"),
        ("cluster.x-k8s.io/paused", "cluster_paused"),
    ],
)
@pytest.mark.parametrize("value", ["", "true", "false"])
def test_annotations_that_count_by_being_there(name: str, field: str, value: str) -> None:
    """Any value counts, as in Cluster API."""
    assert getattr(read(metadata={"annotations": {name: value}}), field)
    assert not getattr(read(), field)


@pytest.mark.parametrize(
    ("value", "check"),
    [(None, ""), ("", ""), ("true", ""), ("node-remedy: MachineHealthCheck workers", "workers")],
)
def test_whose_mark_it_is(value: str | None, check: str) -> None:
    """Any value is a mark; only ours names a check."""
    machine = read(
        metadata={"annotations": {"host.metal3.io/external-remediation": value} if value is not None else {}}
    )

    assert (value is not None, check) == (machine.needs_remediation, machine.marked_by)


@pytest.mark.parametrize(
    ("notes", "repair_now", "paused"),
    [
        ({}, False, None),
        ({"node-remedy.dev/repair": ""}, True, None),
        ({"node-remedy.dev/paused": "true"}, False, Paused()),
        ({"node-remedy.dev/paused": "false"}, False, None),
        ({"node-remedy.dev/paused": TIME}, False, Paused(MOMENT)),
        ({"node-remedy.dev/paused": "soon"}, False, Malformed),
    ],
)
def test_what_a_person_steers_a_node_with(notes: dict[str, str], repair_now: bool, paused: Any) -> None:
    """Repair now by being there; a pause for ever or until a time; what cannot be read is never the same as absent."""
    node = convert(NODE, a_node_tree(annotations=notes)).obj

    assert repair_now == node.repair_now
    assert isinstance(node.paused, paused) if paused is Malformed else paused == node.paused


CURRENT, OLDER = (Condition("New", "True", MOMENT),), (Condition("Old", "True", MOMENT),)
GENERATIONS: list[tuple[dict[str, Any], Any, Any]] = [
    ({"conditions": [a_condition("New")]}, CURRENT, ()),
    ({"conditions": [a_condition("Old")], "v1beta2": {"conditions": [a_condition("New")]}}, CURRENT, OLDER),
    (
        {"conditions": [a_condition("New")], "deprecated": {"v1beta1": {"conditions": [a_condition("Old")]}}},
        CURRENT,
        OLDER,
    ),
    ({"conditions": [a_condition("Old")], "v1beta2": {}}, (), OLDER),
    ({"conditions": [a_condition("New")], "deprecated": {}}, CURRENT, ()),
    ({"conditions": None}, (), ()),
]


@pytest.mark.parametrize(("status", "current", "older"), GENERATIONS)
def test_conditions_of_two_generations(status: dict[str, Any], current: Any, older: Any) -> None:
    """v1beta1 keeps the newer ones aside, v1beta2 the older ones, OpenShift has one generation only."""
    machine = read(**status)

    assert (current, older) == (machine.conditions, machine.older_conditions)


def test_the_owner_that_replaces_a_machine() -> None:
    """Only a controller does; other owners do not count."""
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"}
    owner = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineSet",
        "name": "s",
        "uid": "2",
        "controller": True,
    }

    assert ControllerOwner("cluster.x-k8s.io/v1beta1", "MachineSet", "s", "2") == (
        read(metadata={"ownerReferences": [other, owner]}).controller
    )
    assert None is read(metadata={"ownerReferences": [other, {**owner, "controller": False}]}).controller


def a_cluster(spec: Any = None, status: Any = None, **metadata: Any) -> Cluster:
    tree = {
        "metadata": {"name": "east", "namespace": NAMESPACE, "uid": "u", **metadata},
        "spec": spec,
        "status": status,
    }
    found = convert(CLUSTER, tree).obj
    assert isinstance(found, Cluster)
    return found


def test_clusters() -> None:
    """Paused by field or annotation; conditions of both generations, the current one with the last word."""
    newer = {"conditions": [a_condition("InfrastructureReady", "False")]}
    status = {"conditions": [a_condition("InfrastructureReady"), a_condition("Old")], "v1beta2": newer}

    assert Cluster("u") == a_cluster()
    assert a_cluster({"paused": True}).paused
    assert not a_cluster({"paused": None}).paused
    assert a_cluster(annotations={"cluster.x-k8s.io/paused": ""}).paused
    assert a_cluster(deletionTimestamp=TIME).deleting
    assert [("InfrastructureReady", "False"), ("Old", "True")] == [
        (one.type, one.status) for one in a_cluster(status=status).conditions
    ]
