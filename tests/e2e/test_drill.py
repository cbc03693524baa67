"""Fence configuration and drills on a real control plane, with a real fence agent and the shipped identity."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

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


def fencing(fleet: Fleet, node: str = "worker-0") -> tuple[str, str]:
    """Status and reason of the condition, if the node has one."""
    conditions = fleet.api.get(f"/api/v1/nodes/{node}").ok()["status"]["conditions"]
    return next(((one["status"], one["reason"]) for one in conditions if one["type"] == "FencingReady"), ("", ""))


def drill(plane: ControlPlane, *more: str) -> tuple[int, list[Json]]:
    """`node-remedy drill --json`, as an administrator types it."""
    words = [str(COMMAND), "drill", "--json", "--kubeconfig", str(plane.kubeconfig()), *more]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
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


@pytest.fixture
def seen_by_jobs() -> Iterator[Path]:
    """A folder outside /tmp, which every Job has for itself."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


def on_disks(name: str, key: str, power: Path) -> Json:
    """A node whose plug is a file, and which shares a disk that this machine does not have."""
    disk = f"agent=fence_scsi\nplug={name}\ndevices=/dev/disk/by-id/wwn-0x5001405000000000\nkey={key}\n"
    data = {
        "config.properties": f"node_name={name}\nisolation=off\npower_management=dummy\nrecovery=on\n",
        "fence-method-off": f"{disk}action=off\ncovers=storageClass/shared\n",
        "fence-method-on": f"{disk}action=on\n",
        "fence-method-dummy": f"agent=fence_dummy\ntype=file\nstatus_file={power}\n",
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"fence-config-{name}"}, "data": data}


@pytest.mark.timeout(400)
def test_what_runs_on_the_node_is_asked_there(installed_plane: ControlPlane, fleet: Fleet, seen_by_jobs: Path) -> None:
    """By a Job bound to it, by hand and on schedule: the real agent finds out there that the node lacks its disk."""
    nodes = ("worker-1", "worker-2")
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}  # as the guide tells whoever has shared disks
    fleet.api.merge("/api/v1/namespaces/node-remedy-system", {"metadata": {"labels": labels}}).ok()
    for number, name in enumerate(nodes, 1):
        power = seen_by_jobs / name
        power.write_text("on")
        fleet.add(name)
        fleet.api.create(MAPS, on_disks(name, f"a{number}", power)).ok()
    eventually(lambda: {fleet.ready_status(name) for name in nodes} == {"True"}, "the nodes are Ready", 60)

    assert (0, ["NotAsked", "Answered"]) == results(drill(installed_plane, "worker-1"))
    code, rows = drill(installed_plane, "worker-1", "--remedy-image", "remedy")
    assert (1, ["DeviceFailed", "Answered"]) == results((code, rows))
    assert "does not exist" in rows[0]["problem"]

    with Manager(
        installed_plane, "manager-1", more=("--drill-every", "1m", "--agents", "job", "--remedy-image", "remedy")
    ) as manager:
        eventually(manager.leads, "the manager leads")
        wanted = {("False", "DeviceFailed")}
        found = f"both lack their disk: {manager.words()}"
        eventually(lambda: {fencing(fleet, name) for name in nodes} == wanted, found, 200)

    pods = fleet.api.items("/api/v1/namespaces/node-remedy-system/pods")
    notes = [(pod["spec"]["nodeName"], pod["metadata"]["annotations"]) for pod in pods]
    asked = [(at, its["node-remedy.dev/node"]) for at, its in notes if its.get("node-remedy.dev/method") == "off"]
    assert {(name, name) for name in nodes} == set(asked)


def results(found: tuple[int, list[Json]]) -> tuple[int, list[str]]:
    return found[0], [str(row["result"]) for row in found[1]]


def told(fleet: Fleet) -> set[str]:
    """The reasons of all events about the ConfigMap."""
    events = fleet.api.items(EVENTS)
    return {str(one["reason"]) for one in events if one["regarding"].get("name") == NAME}
