"""A lab that runs in another terminal: faults from outside, kubectl, and its end."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.calling import called
from tests.lab.running import RunningLab, a_running_lab, environment, lab

from noderemedy.lab.faults import FAULTS


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """A quiet lab that all tests of this module share; each uses nodes of its own."""
    with a_running_lab(tmp_path_factory.mktemp("quiet"), "--scenario", "none", "--nodes", "9") as found:
        found.wait_for("kubectl get nodes")
        yield found


def test_a_fault_from_another_terminal_is_repaired(running: RunningLab) -> None:
    """`lab fault hang` says what happens now, and the running lab repairs the node."""
    found = running.fault("hang", "worker-3")

    assert (0, f"worker-3: {FAULTS['hang'].means}\n") == (found.returncode, found.stdout)
    running.wait_for("worker-3", "it has its labels and taints again")


def test_faults_can_be_taken_back(running: RunningLab) -> None:
    """A dead BMC keeps a hung node as it is; when it answers again, the repair goes on to its end."""
    assert 0 == running.fault("bmc-down", "worker-4").returncode
    assert 0 == running.fault("hang", "worker-4").returncode
    running.wait_for("worker-4", "held off")
    assert not [line for line in running.lines if "worker-4" in line and "power is off" in line]

    assert 0 == running.fault("bmc-up", "worker-4").returncode
    running.wait_for("worker-4", "it has its labels and taints again")


def test_unknown_faults_and_nodes_are_named_with_the_known_ones(running: RunningLab) -> None:
    """What does not exist is refused with a list of what does."""
    wrong_fault, wrong_node = running.fault("flood", "worker-1"), running.fault("hang", "worker-77")

    assert (2, 2) == (wrong_fault.returncode, wrong_node.returncode)
    assert f"no fault 'flood'; use one of: {', '.join(FAULTS)}" in wrong_fault.stderr
    assert "no node 'worker-77'" in wrong_node.stderr
    assert "worker-1, worker-2" in wrong_node.stderr


def test_kubeconfigs_are_for_their_owner_only(running: RunningLab) -> None:
    """Tokens lie in files of mode 0600, in a folder of mode 0700 that git ignores."""
    folder = running.kubeconfig.parent
    files = [running.kubeconfig, folder / "manager.kubeconfig"]

    assert [0o600, 0o600] == [stat.S_IMODE(file.stat().st_mode) for file in files]
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert "*\n" == (folder / ".gitignore").read_text()


def test_a_second_lab_in_the_same_folder_is_refused(running: RunningLab) -> None:
    """The second one says so and does not disturb the first."""
    found = called("lab", "--scenario", "none", "--dir", str(running.kubeconfig.parent))

    assert 2 == found.returncode
    assert f"a lab runs in {running.kubeconfig.parent} already" in found.stderr
    assert 0 == running.fault("heal", "worker-1").returncode


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_a_lab_cleanly(tmp_path: Path, number: int) -> None:
    """The lab says good-bye, exits with 0, and takes its kubeconfig away."""
    with a_running_lab(tmp_path, "--nodes", "3") as found:
        found.wait_for("its host is held off")

        assert 0 == found.interrupt(number), found.said
        assert "Traceback" not in found.said
        assert "nothing is left running" in found.said
        assert not found.kubeconfig.exists()

    assert 2 == lab("fault", "hang", "worker-1", folder=tmp_path).returncode  # as typed, in a process of its own


def test_no_token_is_logged_or_shown(tmp_path: Path) -> None:
    """Neither the manager's log nor the terminal shows a token."""
    with a_running_lab(tmp_path, "--nodes", "2") as found:
        found.wait_for("it has its labels and taints again")
        files = [found.kubeconfig, found.kubeconfig.parent / "manager.kubeconfig"]
        tokens = [file.read_text().split("token: ")[1].split()[0] for file in files]
        assert 0 == found.interrupt()
        log = (found.kubeconfig.parent / "manager.log").read_text()

    assert "this manager leads" in log
    assert [] == [token for token in tokens if token in log or token in found.said]


# --- kubectl -------------------------------------------------------------------------------------------------


@pytest.fixture(params=["path", pytest.param("cache", marks=pytest.mark.e2e)])
def kubectl(request: pytest.FixtureRequest, running: RunningLab) -> Kubectl:
    """The kubectl that people have, and in `make e2e` the one that was built with the control plane."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    built = sorted(str(path) for path in home.glob("node-remedy/controlplane-*/kubectl"))
    program = shutil.which("kubectl") if request.param == "path" else built[-1] if built else None
    if program is None:
        end = pytest.fail if request.param == "cache" and os.environ.get("CI") == "true" else pytest.skip
        end(f"missing: kubectl ({'on PATH' if request.param == 'path' else 'make e2e builds it'})")
    return Kubectl(program, running)


class Kubectl:
    """A stock kubectl with the kubeconfig of a running lab."""

    def __init__(self, program: str, running: RunningLab) -> None:
        self._program = program
        self._environment = environment(KUBECONFIG=str(running.kubeconfig), HOME=str(running.folder))

    def __call__(self, *arguments: str, text: str = "") -> str:
        found = subprocess.run(
            [self._program, *arguments],
            input=text,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert 0 == found.returncode, found.stderr
        return found.stdout

    def watch(self, *arguments: str) -> subprocess.Popen[str]:
        command = [self._program, *arguments]
        return subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, text=True)


def test_kubectl_works_as_on_any_cluster(kubectl: Kubectl) -> None:
    """Get, describe, apply, patch and delete do on the lab what they do on a cluster."""
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {first: '1'}\n"

    assert 9 == kubectl("get", "nodes").count("v1.")
    assert 6 == kubectl("get", "pods").count("database-")
    assert "KubeletReady" in kubectl("describe", "node", "worker-1")
    assert "host-worker-1 " in kubectl("get", "bmh", "-n", "metal3")
    assert "created" in kubectl("apply", "-f", "-", text=manifest)
    assert "patched" in kubectl("patch", "configmap", "notes", "-p", '{"data":{"first":"2"}}')
    assert "2" == kubectl("get", "configmap", "notes", "-o", "jsonpath={.data.first}")
    assert "deleted" in kubectl("delete", "configmap", "notes")
    assert "notes" not in kubectl("get", "configmaps")


def test_kubectl_watches_a_repair_that_it_asked_for(kubectl: Kubectl, running: RunningLab) -> None:
    """A Machine is marked by hand, as seed 001 has it; the watch sees its Node go and come back."""
    old = kubectl("get", "node", "worker-7", "-o", "jsonpath={.metadata.uid}")
    columns = "custom-columns=UID:.metadata.uid"
    with kubectl.watch("get", "node", "worker-7", "--watch", "--no-headers", "-o", columns) as process:
        assert process.stdout is not None
        assert old == process.stdout.readline().strip()
        mark = "host.metal3.io/external-remediation="
        kubectl("annotate", "-n", "metal3", "machines.cluster.x-k8s.io", "machine-worker-7", mark)
        new = next(line.strip() for line in process.stdout if line.strip() != old)
        process.terminate()

    running.wait_for("worker-7", "it has its labels and taints again")
    assert new == kubectl("get", "node", "worker-7", "-o", "jsonpath={.metadata.uid}")
