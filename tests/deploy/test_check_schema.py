"""What the reader of a MachineHealthCheck calls a mistake, and a schema can see, the shipped kinds do not even store.

The same refusals on a real API server: tests/e2e/test_check_kinds.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, Kind
from noderemedy.sim.apiserver import ApiError
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.definitions import definition_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.wire.objects import convert

READY = {"type": "Ready", "status": "Unknown", "timeout": "5m"}
VERSIONS = {HEALTH_CHECK: "cluster.x-k8s.io/v1alpha3", OPENSHIFT_HEALTH_CHECK: "machine.openshift.io/v1beta1"}
LONGEST = "a" * 63


def labels(value: str) -> dict[str, Any]:
    return {"selector": {"matchLabels": {"example.com/role": value}}}


def expression(key: str, *values: str) -> dict[str, Any]:
    one = {"key": key, "operator": "In", "values": list(values)}
    return {"selector": {"matchLabels": {"role": "worker"}, "matchExpressions": [one]}}


# the fields, and which of them is wrong; "": none
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "a label": (labels("worker"), ""),
    "an empty label": (labels(""), ""),
    "the longest label": (labels(LONGEST), ""),
    "all letters": (labels("A-b_c.9"), ""),
    "a space": (labels("my worker"), "matchLabels.example.com/role"),
    "too long a label": (labels(f"{LONGEST}a"), "matchLabels.example.com/role"),
    "a dash at the end": (labels("worker-"), "matchLabels.example.com/role"),
    "an expression": (expression("example.com/role", "a", "", LONGEST), ""),
    "a bare key": (expression("role", "a"), ""),
    "a value with a space": (expression("role", "a", "my worker"), "matchExpressions[0].values[1]"),
    "a key with a space": (expression("my role", "a"), "matchExpressions[0].key"),
    "a key of no name": (expression("example.com/", "a"), "matchExpressions[0].key"),
    "an empty key": (expression("", "a"), "matchExpressions[0].key"),
    "too long a key": (expression(f"{LONGEST}a", "a"), "matchExpressions[0].key"),
}


def refused(kind: Kind, spec: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """What the API server says against it, and what the reader does."""
    meta = {"name": "workers", "namespace": NAMESPACE, "uid": "check-uid"}
    usual = {"selector": {"matchLabels": {"role": "worker"}}, "unhealthyConditions": [READY]}
    tree = {"apiVersion": VERSIONS[kind], "kind": kind.kind, "metadata": meta, "spec": {**usual, **spec}}
    api = Cluster(nodes=1, seed=1).api
    if kind == OPENSHIFT_HEALTH_CHECK:
        api.create(definition_of(kind))
    try:
        api.create(tree)
    except ApiError as error:
        return str(error), convert(kind, tree).obj.problems
    return "", convert(kind, tree).obj.problems


@pytest.mark.parametrize("kind", VERSIONS)
@pytest.mark.parametrize("case", CASES)
def test_a_selector_that_cannot_be_read_is_not_stored(kind: Kind, case: str) -> None:
    """By both kinds: the refusal names the field; what is accepted can be read."""
    spec, wrong = CASES[case]
    answer, problems = refused(kind, spec)

    assert (bool(wrong), bool(wrong)) == (bool(answer), bool(problems)), (answer, problems)
    assert f"spec.selector.{wrong}" in answer or not wrong


@pytest.mark.parametrize(("name", "is_wrong"), [("", True), ("metal", False)])
def test_a_cluster_without_a_name_is_not_stored(name: str, is_wrong: bool) -> None:
    """Whoever means all machines of the namespace leaves the field out."""
    answer, problems = refused(HEALTH_CHECK, {"clusterName": name})

    assert (is_wrong, is_wrong) == ("spec.clusterName" in answer, bool(problems))
