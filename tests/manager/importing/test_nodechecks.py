"""What `import` says about NodeHealthChecks of medik8s: every field has its counterpart, or is told to have none."""

from __future__ import annotations

from typing import Any

import pytest
from tests.manager.importing.trees import (
    READY,
    a_machine,
    a_node,
    a_node_check,
    differences,
    names_of,
    report,
)

from noderemedy.manager.importing.nodechecks import tolerated

ALWAYS = ["KindNotRead", "TwoOperators"]
TEMPLATE = {"apiVersion": "self-node-remediation.medik8s.io/v1alpha1", "kind": "SelfNodeRemediationTemplate"}
PATIENT = {"unhealthyNodes": [{"name": "node-w0", "remediations": [{"started": "2030-01-01T00:00:00Z"}]}]}


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (a_node_check(unhealthyConditions=READY), []),
        (a_node_check(), ["DefaultConditions"]),
        (a_node_check(unhealthyConditions=READY, healthyDelay="5m"), ["HealthyDelay"]),
        (a_node_check(unhealthyConditions=READY, stormCooldownDuration="5m"), ["StormCooldown"]),
        (a_node_check(unhealthyConditions=READY, pauseRequests=["upgrade"]), ["Paused"]),
        (a_node_check(unhealthyConditions=READY, status=PATIENT), ["RepairRunning"]),
        (a_node_check(unhealthyConditions=READY, escalatingRemediations=[{"order": 1}, {"order": 2}]), ["Escalation"]),
        (a_node_check(unhealthyConditions=READY, selector={"role": "worker"}), ["CheckInvalid"]),
    ],
)
def test_differences_of_a_node_check(check: dict[str, Any], expected: list[str]) -> None:
    """What is always different stands first, then what this check uses and node-remedy does otherwise."""
    found = names_of(check, a_node("node-w0"), a_machine("w0"))

    assert ALWAYS == found[:2]
    assert {*ALWAYS, "Limit", "RequestName", *expected} == set(found)


@pytest.mark.parametrize(
    ("least", "most", "total", "expected"),
    [
        (None, 8, 10, 8),
        (None, "75%", 10, 8),
        (None, "0%", 10, 0),
        (None, "100%", 10, 10),
        ("51%", None, 10, 4),
        (2, None, 10, 8),
        (None, 12, 10, 10),
        ("many", None, 10, None),
    ],
)
def test_limits_count_as_that_operator_counts(least: Any, most: Any, total: int, expected: int | None) -> None:
    """The number to write is the one that was in force: percentages of that operator are rounded up."""
    assert expected == tolerated(least, most, total)


def test_the_number_to_write_is_named() -> None:
    """With the nodes at hand the remedy is a number."""
    nodes = [a_node(f"n{number}") for number in range(10)]

    assert "with 10 nodes write a limit of 4" == differences(a_node_check(), *nodes)["Limit"].remedy


def test_a_check_without_a_limit_is_told() -> None:
    """A limit that is not there is not invented."""
    check = a_node_check()
    del check["spec"]["minHealthy"]

    assert "NoLimit" in names_of(check)


def test_nodes_without_a_machine_are_named() -> None:
    """A MachineHealthCheck cannot mean a node that no Machine names."""
    found = differences(a_node_check(), a_node("node-w0"), a_node("lonely"), a_machine("w0"))

    assert found["NodesWithoutMachine"].what.startswith("lonely are selected")


def test_excluded_nodes_are_named() -> None:
    """The label that keeps a node out means nothing here, so the nodes that carry it are told."""
    excluded = a_node("node-w0", **{"remediation.medik8s.io/exclude-from-remediation": "true"})

    assert differences(a_node_check(), excluded)["ExcludedNodes"].what.startswith("node-w0 carry")


def test_it_counts_the_nodes_it_selects() -> None:
    """Its targets are nodes, and unknown where none were given."""
    stranger = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "master", "labels": {"role": "master"}}}

    assert 1 == report(a_node_check(), a_node("node-w0"), stranger).checks[0].targets
    assert None is report(a_node_check()).checks[0].targets
