"""The two playbooks of the remedy image, run by ansible-runner against the real control plane (`connection: local`).

As a remedy pod runs them: with the rights of the shipped account, from a folder laid out as the Dockerfile lays it out,
and, where the tests are root, by the user of the image.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import repairer_kubeconfig
from tests.e2e.fleet import Fleet
from tests.e2e.test_fencing import DATABASE, SETS, a_database

IMAGE = Path(__file__).resolve().parents[2] / "deploy" / "remedy-image"
RUNNER = IMAGE / "runner"
DOCKERFILE = (IMAGE / "Dockerfile").read_text()
PROGRAM = Path(sys.executable).with_name("ansible-runner")
EPISODE = "0123456789"
ORDERED: Json = {"episode": EPISODE, "phase": "running", "number": 1, "at": "2026-01-01T12:00:00Z"}
RECORD = {"node-remedy.dev/remedy": json.dumps(ORDERED)}
ENDED = {"node-remedy.dev/remedy": json.dumps({**ORDERED, "phase": "waiting"})}
WELL = {"type": "ReadonlyFilesystem", "status": "False"}  # of a node that is silent otherwise
LATE = {
    "another boot": {"NODE_BOOT_ID": "another"},
    "another node": {"NODE_UID": "another"},
    "another episode": {"EPISODE": "another"},
    "another remedy's turn": {"REMEDY_NUMBER": "2"},
    "its time has passed": {"NOT_AFTER": "2026-01-01T00:00:00Z"},
    "the trouble is over": {"THRESHOLD": "ReadonlyFilesystem=True"},
}
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
PODS = "/api/v1/namespaces/default/pods"


def laid_out(folder: Path) -> Path:
    """/runner as the image has it: copied, and then what the Dockerfile does to it."""
    shutil.copytree(RUNNER, folder)
    for line in re.findall(r"^RUN (.*/runner.*)$", DOCKERFILE, re.MULTILINE):
        subprocess.run(shlex.split(line.replace("/runner", str(folder))), timeout=30, check=True)
    return folder


def user_of_the_image() -> list[str]:
    """What a command is begun with to be that user; nothing where that cannot be. It may read everything, since the
    programs of these tests may be in anybody's home, and write only what this user could write in the image.
    """
    [user, group] = re.findall(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)[0]
    only = "-all,+dac_read_search"
    caps = [f"--inh-caps={only}", f"--ambient-caps={only}", f"--bounding-set={only}"]
    command = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", *caps]
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return []
    asked = subprocess.run([*command, str(PROGRAM), "--version"], capture_output=True, timeout=60, check=False)
    return command if asked.returncode == 0 else []


@dataclass
class Workshop:
    """The cluster, and what a remedy pod would have."""

    fleet: Fleet
    folder: Path
    environ: dict[str, str]
    person: dict[str, str]  # who may do everything
    user: list[str]

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
            "REMEDY_NUMBER": "1",
            "THRESHOLD": "event KernelOops",
            "NOT_AFTER": "2999-01-01T00:00:00Z",
            **environ,
        }
        folder = laid_out(self.folder / f"run-{time.monotonic_ns()}")
        command = [*self.user, str(PROGRAM), "run", str(folder), "-p", name]
        environment = {**self.environ, **told}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    def when_asked(self, file: Path, node: str, first: Callable[[], object] = lambda: None) -> threading.Thread:
        """Somebody reboots the computer as soon as the file is there."""

        def wait() -> None:
            while not file.exists():
                time.sleep(0.05)
            first()
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
    folder = open_to_all(tmp_path_factory.mktemp("remedies"))
    person = {"PATH": path, "KUBECONFIG": str(installed_plane.kubeconfig()), "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    environ = {**person, "KUBECONFIG": str(repairer_kubeconfig(installed_plane)), "PYTHONDONTWRITEBYTECODE": "1"}
    with Fleet(installed_plane) as fleet:
        fleet.add_storage(2)
        fleet.add_computers("worker", labels=DATABASE)
        fleet.api.create(SETS, a_database(2)).ok()
        eventually(lambda: len(fleet.world.computers["worker"].containers) == 2, "the database runs", 60)
        fleet.add_computers("spare", labels=DATABASE)
        fleet.annotate("/api/v1/nodes/worker", RECORD)
        yield Workshop(fleet, folder, environ, person, user_of_the_image())


def open_to_all(folder: Path) -> Path:
    """As /tmp is, which is the home of the user of the image."""
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """Where commands of the playbooks may leave files."""
    return open_to_all(tmp_path)


def attached(fleet: Fleet, node: str) -> list[str]:
    items: list[Json] = fleet.api.get(ATTACHMENTS).ok()["items"]
    return sorted(one["spec"]["source"]["persistentVolumeName"] for one in items if one["spec"]["nodeName"] == node)


def at_the_storage(folder: Path) -> dict[str, str]:
    """A storage whose attachments are files that are not there."""
    return {
        "DETACH_COMMAND": f'test "$DRIVER" = disks.example.com && touch "{folder}/detached-$VOLUME"',
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
    conditions = [*fleet.node("worker")["status"]["conditions"], WELL]
    fleet.api.merge("/api/v1/nodes/worker/status", {"status": {"conditions": conditions}}).ok()
    return fleet


def wake(fleet: Fleet) -> None:
    if not fleet.is_ready("worker"):
        fleet.power("worker", on=False)
        fleet.power("worker", on=True)
        eventually(lambda: fleet.is_ready("worker"), "the worker is back", 60)


@pytest.mark.timeout(300)
def test_the_user_of_the_image_runs_them(workshop: Workshop, silent: Fleet, yard: Path) -> None:
    """Who is not root there, and owns no playbook: what it writes is its own, and the playbooks stay root's."""
    if not workshop.user:
        pytest.skip("missing: root, with setpriv and the right to read everything")
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(yard))
    last = max(workshop.folder.glob("run-*"))
    made = [path for path in last.glob("artifacts/*/*") if path.is_file()]

    assert 0 == done.returncode, done.stdout[-3000:] + done.stderr[-3000:]
    assert {65532} == {path.stat().st_uid for path in [*made, *yard.iterdir()]}
    assert {0} == {path.stat().st_uid for path in [last, *last.glob("project/*")]}


@pytest.mark.timeout(300)
def test_volumes_are_detached_at_the_storage(workshop: Workshop, silent: Fleet, yard: Path) -> None:
    """Each volume of the node, and no Kubernetes object is touched: that is node-remedy's part, on success."""
    before = attached(silent, "worker")
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(yard))

    assert 0 == done.returncode, done.stdout[-3000:]
    assert ["disk-0", "disk-1"] == before
    assert before == detached(yard)
    assert before == attached(silent, "worker")


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("silent")
def test_a_volume_that_stays_attached_is_a_failure(workshop: Workshop, yard: Path) -> None:
    """The command succeeds and the storage says otherwise: the remedy has failed, so nothing is cleaned."""
    lying = {**at_the_storage(yard), "CHECK_COMMAND": "echo attached"}

    assert 0 != workshop.play("storage-detach.yaml", "worker", **lying).returncode
    assert 0 != workshop.play("storage-detach.yaml", "worker", CHECK_COMMAND="echo detached").returncode


@pytest.mark.timeout(300)
def test_a_volume_that_nobody_attached_is_a_failure(workshop: Workshop, silent: Fleet, yard: Path) -> None:
    """A pod of the node has an NFS share beside the disks: nothing is detached, and pod and volume are named."""
    share = {"name": "share", "nfs": {"server": "192.0.2.1", "path": "/srv"}}
    containers = [{"name": "c", "image": "writer:1"}]
    pod = {"metadata": {"name": "writer"}, "spec": {"nodeName": "worker", "containers": containers, "volumes": [share]}}
    silent.api.create(PODS, {"apiVersion": "v1", "kind": "Pod", **pod}).ok()
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(yard))
    silent.api.delete(f"{PODS}/writer?gracePeriodSeconds=0").ok()

    assert 0 != done.returncode
    assert "pod default/writer, volume share (nfs)" in " ".join(done.stdout.split())
    assert [] == detached(yard)


@pytest.mark.timeout(300)
def test_a_node_without_attachments_is_a_failure(workshop: Workshop, yard: Path) -> None:
    """Nothing was detached and nobody was asked, so nothing is known: the remedy fails."""
    fleet = workshop.fleet
    fleet.add_computers("bare")
    fleet.annotate("/api/v1/nodes/bare", RECORD)
    fleet.crash("bare")
    eventually(lambda: fleet.ready_status("bare") == "Unknown", "the silence is noticed", 60)
    done = workshop.play("storage-detach.yaml", "bare", **at_the_storage(yard))

    assert 0 != done.returncode
    assert "nothing is attached to it" in " ".join(done.stdout.split())


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("silent")
def test_a_list_that_cannot_be_read_is_a_failure(workshop: Workshop, yard: Path) -> None:
    """Whoever may not list pods does not know what they write to: nothing is detached."""
    real = shutil.which("kubectl", path=workshop.environ["PATH"])
    blind = yard / "bin" / "kubectl"
    blind.parent.mkdir()
    blind.write_text(f'#!/bin/sh\ncase "$*" in *pods*) echo forbidden >&2; exit 1;; esac\nexec {real} "$@"\n')
    blind.chmod(0o755)
    path = os.pathsep.join([str(blind.parent), workshop.environ["PATH"]])
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(yard), PATH=path)

    assert 0 != done.returncode
    assert "forbidden" in done.stdout
    assert [] == detached(yard)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("stale", LATE.values(), ids=LATE)
def test_what_comes_late_detaches_nothing(workshop: Workshop, stale: dict[str, str], yard: Path) -> None:
    """The remedy fails, says that it is too late, and the storage is not asked for anything."""
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(yard), **stale)

    assert 0 != done.returncode
    assert "too late for node worker" in done.stdout
    assert [] == detached(yard)


@pytest.mark.timeout(300)
def test_a_remedy_that_is_over_detaches_nothing(workshop: Workshop, silent: Fleet, yard: Path) -> None:
    """Its Job was deleted, say, and counts as failed: what is left of it may not act in the period of what follows."""
    silent.annotate("/api/v1/nodes/worker", ENDED)
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(yard))
    silent.annotate("/api/v1/nodes/worker", RECORD)

    assert 0 != done.returncode
    assert "too late for node worker" in done.stdout
    assert [] == detached(yard)


@pytest.mark.timeout(300)
def test_a_node_that_is_heard_keeps_its_volumes(workshop: Workshop, yard: Path) -> None:
    """The second pod of a Job finds the node Ready: it writes to its volumes, and they stay."""
    wake(workshop.fleet)
    done = workshop.play("storage-detach.yaml", "worker", **at_the_storage(yard))

    assert 0 != done.returncode
    assert "node worker is Ready" in done.stdout
    assert [] == detached(yard)


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
def test_what_comes_late_leaves_the_node_alone(workshop: Workshop, stale: dict[str, str], yard: Path) -> None:
    """A remedy that comes late does nothing: neither cordon nor reboot."""
    asked = yard / "late"
    done = workshop.play("drain-cordon-reboot.yaml", "worker", REBOOT_COMMAND=f"touch {asked}", **stale)

    assert 0 != done.returncode
    assert "too late for node worker" in done.stdout
    assert not asked.exists()
    assert not workshop.fleet.node("worker")["spec"].get("unschedulable")


@pytest.mark.timeout(300)
def test_a_cordon_of_a_person_survives(workshop: Workshop) -> None:
    """Who cordoned the node before decides when it is opened; the reboot takes place all the same."""
    fleet, asked = workshop.fleet, workshop.folder / "reboot-cordoned"
    wake(fleet)
    cordon(workshop, "cordon")
    boots = fleet.world.computers["worker"].boots
    rebooting = workshop.when_asked(asked, "worker")
    done = workshop.play("drain-cordon-reboot.yaml", "worker", REBOOT_COMMAND=f"touch {asked}; exit 255")
    rebooting.join(30)
    kept = fleet.node("worker")["spec"].get("unschedulable")
    cordon(workshop, "uncordon")

    assert 0 == done.returncode, done.stdout[-3000:]
    assert boots + 1 == fleet.world.computers["worker"].boots
    assert kept is True


@pytest.mark.timeout(300)
def test_a_cordon_that_came_meanwhile_survives(workshop: Workshop) -> None:
    """Somebody opens the node in the middle and cordons it anew: that cordon is theirs."""
    fleet, asked = workshop.fleet, workshop.folder / "reboot-meanwhile"
    wake(fleet)
    rebooting = workshop.when_asked(asked, "worker", lambda: cordon(workshop, "uncordon", "cordon"))
    done = workshop.play("drain-cordon-reboot.yaml", "worker", REBOOT_COMMAND=f"touch {asked}")
    rebooting.join(30)
    kept = fleet.node("worker")["spec"].get("unschedulable")
    cordon(workshop, "uncordon")

    assert 0 == done.returncode, done.stdout[-3000:]
    assert kept is True


@pytest.mark.timeout(300)
def test_an_ssh_that_never_arrived_is_no_reboot(workshop: Workshop, yard: Path) -> None:
    """Exit code 255 and a node that goes on: the remedy says so soon, and a later run opens what this one cordoned."""
    fleet, asked = workshop.fleet, yard / "reboot"
    wake(fleet)
    begun = time.monotonic()
    failed = workshop.play(
        "drain-cordon-reboot.yaml", "worker", REBOOT_COMMAND="echo no route >&2; exit 255", DOWN_SECONDS="4"
    )
    took = time.monotonic() - begun
    left = fleet.node("worker")["spec"].get("unschedulable")
    rebooting = workshop.when_asked(asked, "worker")
    done = workshop.play("drain-cordon-reboot.yaml", "worker", REBOOT_COMMAND=f"touch {asked}")
    rebooting.join(30)

    assert 0 != failed.returncode
    assert "it was not rebooted (no route)" in " ".join(failed.stdout.split())
    assert took < 60
    assert (True, None) == (left, fleet.node("worker")["spec"].get("unschedulable"))
    assert 0 == done.returncode, done.stdout[-3000:]


@pytest.mark.timeout(300)
def test_a_key_that_cannot_be_read_changes_nothing(workshop: Workshop, yard: Path) -> None:
    """Without a key there is no reboot: the node is not even cordoned."""
    done = workshop.play("drain-cordon-reboot.yaml", "worker", SSH_KEY=str(yard / "none"))

    assert 0 != done.returncode
    assert "none cannot be read" in " ".join(done.stdout.split())
    assert not workshop.fleet.node("worker")["spec"].get("unschedulable")


def cordon(workshop: Workshop, *words: str) -> None:
    """A person does it, with kubectl."""
    for word in words:
        command = ["kubectl", word, "worker"]
        subprocess.run(command, env=workshop.person, capture_output=True, timeout=30, check=True)
