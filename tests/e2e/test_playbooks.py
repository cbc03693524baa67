"""The two playbooks of the remedy image, run by ansible-runner against the real control plane (`connection: local`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet
from tests.e2e.test_fencing import DATABASE, SETS, a_database

RUNNER = Path(__file__).resolve().parents[2] / "deploy" / "remedy-image" / "runner"
PROGRAM = Path(sys.executable).with_name("ansible-runner")
EPISODE = "0123456789"
RECORD = {"node-remedy.dev/remedy": json.dumps({"episode": EPISODE, "phase": "running"})}
LATE = {
    "another boot": {"NODE_BOOT_ID": "another"},
    "another node": {"NODE_UID": "another"},
    "another episode": {"EPISODE": "another"},
    "its time has passed": {"NOT_AFTER": "2026-01-01T00:00:00Z"},
}
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"


@dataclass
class Workshop:
    """The cluster, and what a remedy pod would have."""

    fleet: Fleet
    folder: Path
    environ: dict[str, str]

    def play(self, name: str, node: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a playbook as the image does."""
        found = self.fleet.node(node)
        told = {
            "RETURN_SECONDS": "60",
            "NODE_NAME": node,
            "NODE_UID": found["metadata"]["uid"],
            "NODE_BOOT_ID": found["status"]["nodeInfo"]["bootID"],
            "NODE_ADDRESSES": "127.0.0.1",
            "EPISODE": EPISODE,
            "NOT_AFTER": "2999-01-01T00:00:00Z",
            **environ,
        }
        folder = self.folder / f"run-{time.monotonic_ns()}"
        shutil.copytree(RUNNER, folder)
        command = [str(PROGRAM), "run", str(folder), "-p", name]
        environment = {**self.environ, **told}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    def when_asked(self, file: Path, node: str) -> threading.Thread:
        """Somebody reboots the computer as soon as the file is there."""

        def wait() -> None:
            while not file.exists():
                time.sleep(0.05)
            self.fleet.power(node, on=False)
            self.fleet.power(node, on=True)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread


@pytest.fixture(scope="module")
def workshop(
    installed_plane: ControlPlane, binaries: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workshop]:
    if not PROGRAM.exists():
        pytest.skip("missing: ansible-runner (the extra e2e installs it)")
    kubectl = Path(binaries["kubectl"]).parent
    path = os.pathsep.join([str(PROGRAM.parent), str(kubectl), os.environ["PATH"]])
    folder = tmp_path_factory.mktemp("remedies")
    environ = {"PATH": path, "KUBECONFIG": str(installed_plane.kubeconfig()), "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    with Fleet(installed_plane) as fleet:
        fleet.add_storage(2)
        fleet.add_computers("worker", labels=DATABASE)
        fleet.api.create(SETS, a_database(2)).ok()
        eventually(lambda: len(fleet.world.computers["worker"].containers) == 2, "the database runs", 60)
        fleet.add_computers("spare", labels=DATABASE)
        fleet.annotate("/api/v1/nodes/worker", RECORD)
        yield Workshop(fleet, folder, environ)


def attached(fleet: Fleet, node: str) -> list[str]:
    items: list[Json] = fleet.api.get(ATTACHMENTS).ok()["items"]
    return sorted(one["spec"]["source"]["persistentVolumeName"] for one in items if one["spec"]["nodeName"] == node)


def at_the_storage(folder: Path) -> dict[str, str]:
    """A storage whose attachments are files that are not there."""
    return {
        "DETACH_COMMAND": f'touch "{folder}/detached-$VOLUME"',
        "CHECK_COMMAND": f'if [ -e "{folder}/detached-$VOLUME" ]; then echo detached; else echo attached; fi',
    }


def detached(folder: Path) -> list[str]:
    return [path.name.removeprefix("detached-") for path in sorted(folder.glob("detached-*"))]


@pytest.fixture(scope="module")
def silent(workshop: Workshop) -> Fleet:
    """The worker hangs; it is back when nobody needs its silence any more."""
    fleet = workshop.fleet
    fleet.crash("worker")
    eventually(lambda: fleet.ready_status("worker") == "Unknown", "the silence is noticed", 60)
    return fleet


def wake(fleet: Fleet) -> None:
    if not fleet.is_ready("worker"):
        fleet.power("worker", on=False)
        fleet.power("worker", on=True)
        eventually(lambda: fleet.is_ready("worker"), "the worker is back", 60)


@pytest.mark.timeout(300)
def test_volumes_are_detached_at_the_storage(workshop: Workshop, silent: Fleet, tmp_path: Path) -> None:
    """Each volume of the node, and no Kubernetes object is touched: that is node-remedy's part, on success."""
    before = attached(silent, "worker")
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(tmp_path))

    assert 0 == done.returncode, done.stdout[-3000:]
    assert ["disk-0", "disk-1"] == before
    assert before == detached(tmp_path)
    assert before == attached(silent, "worker")


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("silent")
def test_a_volume_that_stays_attached_is_a_failure(workshop: Workshop, tmp_path: Path) -> None:
    """The command succeeds and the storage says otherwise: the remedy has failed, so nothing is cleaned."""
    lying = {**at_the_storage(tmp_path), "CHECK_COMMAND": "echo attached"}

    assert 0 != workshop.play("storage-detach.yaml", "worker", **lying).returncode
    assert 0 != workshop.play("storage-detach.yaml", "worker", CHECK_COMMAND="echo detached").returncode


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("stale", LATE.values(), ids=LATE)
def test_what_comes_late_detaches_nothing(workshop: Workshop, stale: dict[str, str], tmp_path: Path) -> None:
    """The remedy fails, says that it is too late, and the storage is not asked for anything."""
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(tmp_path), **stale)

    assert 0 != done.returncode
    assert "too late for node worker" in done.stdout
    assert [] == detached(tmp_path)


@pytest.mark.timeout(300)
def test_a_node_that_is_heard_keeps_its_volumes(workshop: Workshop, tmp_path: Path) -> None:
    """The second pod of a Job finds the node Ready: it writes to its volumes, and they stay."""
    wake(workshop.fleet)
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(tmp_path))

    assert 0 != done.returncode
    assert "node worker is Ready" in done.stdout
    assert [] == detached(tmp_path)


@pytest.mark.timeout(300)
def test_a_node_is_drained_rebooted_and_opened_again(workshop: Workshop) -> None:
    """Its pods moved before the reboot; it is back with another boot, Ready and schedulable."""
    fleet, asked = workshop.fleet, workshop.folder / "reboot"
    wake(fleet)
    boots = fleet.world.computers["worker"].boots
    rebooting = workshop.when_asked(asked, "worker")
    done = workshop.play("drain-cordon-reboot.yaml", "worker", REBOOT_COMMAND=f"touch {asked}")
    rebooting.join(30)

    assert 0 == done.returncode, done.stdout[-3000:]
    assert boots + 1 == fleet.world.computers["worker"].boots
    assert {} == fleet.world.computers["worker"].containers
    assert fleet.is_ready("worker")
    assert not fleet.node("worker")["spec"].get("unschedulable")
    stopped = fleet.world.when("container stopped", "worker")
    assert max(stopped) < fleet.world.when("powered off", "worker")[-1]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("stale", LATE.values(), ids=LATE)
def test_what_comes_late_leaves_the_node_alone(workshop: Workshop, stale: dict[str, str], tmp_path: Path) -> None:
    """A remedy that comes late does nothing: neither cordon nor reboot."""
    asked = tmp_path / "late"
    done = workshop.play("drain-cordon-reboot.yaml", "worker", REBOOT_COMMAND=f"touch {asked}", **stale)

    assert 0 != done.returncode
    assert "too late for node worker" in done.stdout
    assert not asked.exists()
    assert not workshop.fleet.node("worker")["spec"].get("unschedulable")
