"""`node-remedy explain` on a real control plane, as a person types it who may read and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import allow
from tests.e2e.fleet import Fleet
from tests.e2e.managers import COMMAND, ENTRY

CHECKS = "/apis/cluster.x-k8s.io/v1alpha3/namespaces/default/machinehealthchecks"
LABELS = {"role": "explained"}
VIEWER = "viewer"
GATES = [
    *("check is valid", "no other controller", "cluster is not paused", "machine is not skipped"),
    *("nobody paused it", "check may act"),
    *("machine stays", "machine is unhealthy", "limit is kept", "watched long enough", "no hold is left"),
    *("nobody else repairs it", "somebody replaces it", "person approved", "budget allows", "node is read live"),
]


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    """Two workers, the first one silent, and a check that gives it an hour."""
    allow(installed_plane.api(), "reader", [("*", "*", ("get", "list"))], VIEWER)
    with Fleet(installed_plane) as fleet:
        fleet.add("one", "two")
        for name in ("one", "two"):
            fleet.api.merge(fleet.machine_path(name), {"metadata": {"labels": LABELS}}).ok()
        fleet.api.create(CHECKS, check("1h")).ok()
        fleet.crash("one")
        eventually(lambda: fleet.ready_status("one") == "Unknown", "the node is silent", 90)
        yield fleet


def check(timeout: str) -> Json:
    spec = {
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": timeout}],
        "maxUnhealthy": 1,
    }
    version = "cluster.x-k8s.io/v1alpha3"
    return {"apiVersion": version, "kind": "MachineHealthCheck", "metadata": {"name": "workers"}, "spec": spec}


def explained(plane: ControlPlane, *words: str, how: str = "") -> str:
    """What it prints for a person who may only read; `how` is a sabotage of entry.py."""
    start = [sys.executable, "-P", str(ENTRY), how] if how else [str(COMMAND)]
    command = [*start, "explain", *words, "--kubeconfig", str(plane.kubeconfig(VIEWER))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert 0 == done.returncode, done.stderr
    return done.stdout


def gates(plane: ControlPlane, name: str, how: str = "") -> tuple[Json, list[Json]]:
    """The explanation of the only target of that name, and the gates of its check's repair."""
    [found] = json.loads(explained(plane, name, "--json", how=how))
    [of_check] = [one["gates"] for one in found["gates"] if one["room"] == "remediation"]
    return found, of_check


def first_closed(asked: list[Json]) -> Any:
    return next(one for one in asked if not one["passed"])


def assert_countdown(plane: ControlPlane, fleet: Fleet, name: str, how: str = "") -> None:
    """All gates in order, the one that blocks, and to the second until when."""
    found, asked = gates(plane, name, how)
    conditions = fleet.api.get("/api/v1/nodes/one").ok()["status"]["conditions"]
    [since] = [one["lastTransitionTime"] for one in conditions if one["type"] == "Ready"]
    due = datetime.fromisoformat(since) + timedelta(hours=1, seconds=1)
    closed = first_closed(asked)

    assert ("Machine/default/one", "Node//one", "Waiting") == (found["machine"], found["node"], found["verdict"])
    assert "MachineHealthCheck/default/workers" == found["check"]
    assert GATES == [one["gate"] for one in asked]
    assert ("machine is unhealthy", "ConditionPending") == (closed["gate"], closed["because"]["reason"])
    assert due == datetime.fromisoformat(closed["until"]) == datetime.fromisoformat(found["until"])

    text = explained(plane, name, how=how)
    [blocked] = [line for line in text.splitlines() if "BLOCKED  machine is unhealthy" in line]
    assert " in 59m" in blocked or blocked.endswith(" in 1h)"), "an hour is left, at most"
    assert "Nothing is done now: condition Ready of node one is Unknown" in text


@pytest.mark.parametrize("name", ["node/one", "machine/default/one"])
def test_a_countdown_is_shown(installed_plane: ControlPlane, fleet: Fleet, name: str) -> None:
    """By node and by machine."""
    assert_countdown(installed_plane, fleet, name)


def test_gates_in_another_order_are_noticed(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """The check of the order has been seen red."""
    with pytest.raises(AssertionError, match="node is rea"):
        assert_countdown(installed_plane, fleet, "one", "disordered")


def test_what_blocks_a_sick_machine_is_shown(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Its time is over, and the limit of the check is reached; whoever asked has changed nothing."""
    fleet.api.merge(f"{CHECKS}/workers", check("1s")).ok()
    found, asked = gates(installed_plane, "one")
    closed = first_closed(asked)
    fleet.api.merge(f"{CHECKS}/workers", check("1h")).ok()

    assert ("Unhealthy", GATES) == (found["verdict"], [one["gate"] for one in asked])
    assert ("limit is kept", "LimitOfCheck") == (closed["gate"], closed["because"]["reason"])
    assert audit.asked(installed_plane.audit_log, VIEWER)
    assert [] == audit.writes(installed_plane.audit_log, user=VIEWER)
