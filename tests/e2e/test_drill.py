"""Fence configuration and drills on a real control plane, with a real fence agent and the shipped identity."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet
from tests.e2e.managers import COMMAND, Manager

MAPS = "/api/v1/namespaces/node-remedy-system/configmaps"
EVENTS = "/apis/events.k8s.io/v1/namespaces/node-remedy-system/events"
NAME = "fence-config-worker-0"


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    """One node, whose power is a file that `fence_dummy` reads."""
    if not Path("/usr/sbin/fence_dummy").exists():
        pytest.skip("fence_dummy is not installed; scripts/e2e-packages brings it")
    with Fleet(installed_plane) as fleet:
        fleet.add("worker-0")
        eventually(lambda: fleet.ready_status("worker-0") == "True", "the node is Ready", 60)
        yield fleet


def config(power: Path, more: str = "") -> Json:
    method = f"agent=fence_dummy\ntype=file\nstatus_file={power}\n{more}"
    data = {"config.properties": "node_name=worker-0\npower_management=dummy\n", "fence-method-dummy": method}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": data}


def fencing(fleet: Fleet) -> tuple[str, str]:
    """Status and reason of the condition, if the node has one."""
    conditions = fleet.api.get("/api/v1/nodes/worker-0").ok()["status"]["conditions"]
    return next(((one["status"], one["reason"]) for one in conditions if one["type"] == "FencingReady"), ("", ""))


def drill(plane: ControlPlane) -> tuple[int, list[Json]]:
    """`node-remedy drill --json`, as an administrator types it."""
    words = [str(COMMAND), "drill", "--json", "--kubeconfig", str(plane.kubeconfig())]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.timeout(400)
def test_a_drill_tells_what_would_fail(installed_plane: ControlPlane, fleet: Fleet, tmp_path: Path) -> None:
    """The node says that its device answers, then that it is not its own, then that its configuration is wrong."""
    power = tmp_path / "power"
    power.write_text("on")
    fleet.api.create(MAPS, config(power)).ok()
    assert (0, ["Answered"]) == results(drill(installed_plane))

    with Manager(installed_plane, more=("--drill-every", "1m")) as manager:
        eventually(manager.leads, "the manager leads")
        eventually(lambda: fencing(fleet) == ("True", "DevicesAnswered"), f"the device answers: {manager.words()}", 150)
        conditions = fleet.api.get("/api/v1/nodes/worker-0").ok()["status"]["conditions"]
        assert "True" == next(one["status"] for one in conditions if one["type"] == "Ready")

        power.write_text("off")
        eventually(lambda: fencing(fleet) == ("False", "WrongDevice"), f"not its plug: {manager.words()}", 150)
        assert (1, ["WrongDevice"]) == results(drill(installed_plane))

        fleet.api.merge(f"{MAPS}/{NAME}", config(power, "plgu=1")).ok()
        eventually(lambda: fencing(fleet) == ("False", "PlanInvalid"), f"the plan: {manager.words()}", 30)
        eventually(lambda: "FenceConfigInvalid" in told(fleet), "an event on the ConfigMap", 30)


def results(found: tuple[int, list[Json]]) -> tuple[int, list[str]]:
    return found[0], [str(row["result"]) for row in found[1]]


def told(fleet: Fleet) -> set[str]:
    """The reasons of all events about the ConfigMap."""
    events = fleet.api.items(EVENTS)
    return {str(one["reason"]) for one in events if one["regarding"].get("name") == NAME}
