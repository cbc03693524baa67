"""A stock kubectl against the endpoint: every verb that the lab's guide tells people to type.

The kubectl on PATH is used in `make test` (skipped by name where there is none), the one that was built for the
end-to-end tests in `make e2e`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conformance.objects import WIDGET_SPEC, a_definition
from tests.conformance.simulated import Background, a_server

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: default
data:
  mode: calm
"""

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "worker-1", "labels": {"rack": "a"}},
    "status": {
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        "nodeInfo": {"bootID": "b1", "kubeletVersion": "v1.36.3"},
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
    },
}


@dataclass
class Kubectl:
    """The program, with a kubeconfig and a cache of its own."""

    program: str
    folder: Path

    def command(self, *arguments: str) -> list[str]:
        return [
            self.program,
            f"--kubeconfig={self.folder / 'config'}",
            f"--cache-dir={self.folder / 'cache'}",
            *arguments,
        ]

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Standard output of a command that must succeed."""
        done = self.try_(*arguments, stdin=stdin)
        assert 0 == done.returncode, f"{' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def try_(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HOME": str(self.folder)}
        return subprocess.run(
            self.command(*arguments), input=stdin, capture_output=True, text=True, timeout=60, env=environment
        )

    def node(self) -> dict[str, object]:
        found = json.loads(self.run("get", "node", "worker-1", "-o", "json"))
        assert isinstance(found, dict)
        return found


def _on_path() -> str:
    return shutil.which("kubectl") or ""


def _in_cache() -> str:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = sorted(home.glob("node-remedy/controlplane-*/kubectl"))
    return str(found[-1]) if found else ""


@pytest.fixture(scope="module", params=["path", pytest.param("cache", marks=pytest.mark.e2e)])
def kubectl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """kubectl with a kubeconfig for a server that has one node and one custom kind."""
    program = _on_path() if request.param == "path" else _in_cache()
    if not program:
        where = "on PATH" if request.param == "path" else "in the cache (make e2e builds it)"
        skip = pytest.fail if os.environ.get("CI") == "true" and request.param == "cache" else pytest.skip
        skip(f"missing: kubectl {where}")
    api = a_server()
    api.create(NODE)
    api.create(a_definition("widgets", "Widget", scope="Namespaced", spec=WIDGET_SPEC))
    background = Background()
    endpoint = background.serve(api, tls=True)  # kubectl shows no token where there is no TLS
    folder = tmp_path_factory.mktemp("kubectl")
    (folder / "config").write_text(endpoint.kubeconfig())
    yield Kubectl(program, folder)
    background.stop(endpoint)


def test_get_prints_the_servers_columns(kubectl: Kubectl) -> None:
    """`kubectl get nodes` shows status and version as the server formats them."""
    header, row = kubectl.run("get", "nodes").splitlines()
    assert ["NAME", "STATUS", "ROLES", "AGE", "VERSION"] == header.split()
    assert ("worker-1", "Ready", "v1.36.3") == (row.split()[0], row.split()[1], row.split()[4])


def test_get_wide_selects_and_prints_yaml(kubectl: Kubectl) -> None:
    """Selectors, wide columns and YAML work."""
    assert "10.0.0.1" in kubectl.run("get", "nodes", "-o", "wide", "-l", "rack=a")
    assert "No resources found" in kubectl.try_("get", "nodes", "-l", "rack=z").stderr
    assert "bootID: b1" in kubectl.run("get", "node", "worker-1", "-o", "yaml")


def test_missing_object_is_told_plainly(kubectl: Kubectl) -> None:
    """A missing object is kubectl's own NotFound message."""
    done = kubectl.try_("get", "node", "nobody")
    assert 1 == done.returncode
    assert 'Error from server (NotFound): nodes "nobody" not found' == done.stderr.strip()


def test_watch_follows_changes(kubectl: Kubectl) -> None:
    """`kubectl get -w` prints a line when the node changes."""
    command = kubectl.command("get", "nodes", "-w", "--no-headers")
    environment = {**os.environ, "HOME": str(kubectl.folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as watching:
        assert watching.stdout is not None
        try:
            assert "SchedulingDisabled" not in watching.stdout.readline()
            kubectl.run("cordon", "worker-1")
            assert "Ready,SchedulingDisabled" in watching.stdout.readline()
        finally:
            watching.kill()
    kubectl.run("uncordon", "worker-1")


def test_describe_node(kubectl: Kubectl) -> None:
    """`kubectl describe node` shows conditions, taints and the absence of pods."""
    text = kubectl.run("describe", "node", "worker-1")
    for part in ("Name:               worker-1", "rack=a", "KubeletReady", "Boot ID:", "Non-terminated Pods:"):
        assert part in text


def test_apply_is_idempotent(kubectl: Kubectl) -> None:
    """`kubectl apply` creates, then says unchanged, then configures."""
    assert "configmap/settings created" in kubectl.run("apply", "-f", "-", stdin=CONFIG)
    assert "configmap/settings unchanged" in kubectl.run("apply", "-f", "-", stdin=CONFIG)
    changed = CONFIG.replace("calm", "wild")
    assert "configmap/settings configured" in kubectl.run("apply", "-f", "-", stdin=changed)
    assert "wild" == kubectl.run("get", "configmap", "settings", "-o", "jsonpath={.data.mode}")
    kubectl.run("delete", "configmap", "settings")


def test_apply_refuses_unknown_fields(kubectl: Kubectl) -> None:
    """A misspelt field is refused by the server's strict validation."""
    done = kubectl.try_("apply", "-f", "-", stdin=CONFIG.replace("\ndata:", "\ndatum:"))
    assert 1 == done.returncode
    assert 'unknown field "datum"' in done.stderr


def test_server_side_apply_and_its_conflicts(kubectl: Kubectl) -> None:
    """`kubectl apply --server-side` works, and tells about a field of somebody else."""
    kubectl.run("apply", "--server-side", "--field-manager=first", "-f", "-", stdin=CONFIG)
    changed = CONFIG.replace("calm", "wild")
    done = kubectl.try_("apply", "--server-side", "--field-manager=second", "-f", "-", stdin=changed)
    assert 1 == done.returncode
    assert 'conflict with "first"' in done.stderr
    forced = ("apply", "--server-side", "--field-manager=second", "--force-conflicts", "-f", "-")
    assert "serverside-applied" in kubectl.run(*forced, stdin=changed)
    kubectl.run("delete", "configmap", "settings")


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("merge", '{"metadata":{"labels":{"patched":"merge"}}}'),
        ("json", '[{"op":"add","path":"/metadata/labels/patched","value":"json"}]'),
        ("strategic", '{"metadata":{"labels":{"patched":"strategic"}}}'),
    ],
)
def test_patches_of_all_types(kubectl: Kubectl, kind: str, patch: str) -> None:
    """`kubectl patch` works with every patch type."""
    kubectl.run("patch", "node", "worker-1", f"--type={kind}", "-p", patch)
    assert kind == kubectl.run("get", "node", "worker-1", "-o", "jsonpath={.metadata.labels.patched}")


def test_patch_of_a_subresource(kubectl: Kubectl) -> None:
    """`kubectl patch --subresource=status` writes the status."""
    patch = '{"status":{"conditions":[{"type":"Extra","status":"True"}]}}'
    kubectl.run("patch", "node", "worker-1", "--subresource=status", "-p", patch)
    path = 'jsonpath={.status.conditions[?(@.type=="Extra")].status}'
    assert "True" == kubectl.run("get", "node", "worker-1", "-o", path)
    assert "True" == kubectl.run("get", "node", "worker-1", "-o", path.replace("Extra", "Ready"))


def test_label_and_annotate(kubectl: Kubectl) -> None:
    """`kubectl label` and `annotate` set and remove."""
    kubectl.run("label", "node", "worker-1", "color=red")
    kubectl.run("annotate", "node", "worker-1", "example.dev/note=hello")
    assert "red" == kubectl.run("get", "node", "worker-1", "-o", "jsonpath={.metadata.labels.color}")
    note = r"jsonpath={.metadata.annotations.example\.dev/note}"
    assert "hello" == kubectl.run("get", "node", "worker-1", "-o", note)
    kubectl.run("label", "node", "worker-1", "color-")
    kubectl.run("annotate", "node", "worker-1", "example.dev/note-")
    assert "" == kubectl.run("get", "node", "worker-1", "-o", note)


def test_cordon_and_taint(kubectl: Kubectl) -> None:
    """`kubectl cordon`, `uncordon` and `taint` change the node's spec."""
    assert "node/worker-1 cordoned" in kubectl.run("cordon", "worker-1")
    assert "true" == kubectl.run("get", "node", "worker-1", "-o", "jsonpath={.spec.unschedulable}")
    assert "node/worker-1 uncordoned" in kubectl.run("uncordon", "worker-1")
    assert "" == kubectl.run("get", "node", "worker-1", "-o", "jsonpath={.spec.unschedulable}")
    kubectl.run("taint", "node", "worker-1", "example.dev/sick=yes:NoExecute")
    keys = "jsonpath={.spec.taints[*].key}"
    assert "example.dev/sick" in kubectl.run("get", "node", "worker-1", "-o", keys)
    kubectl.run("taint", "node", "worker-1", "example.dev/sick-")
    assert "example.dev/sick" not in kubectl.run("get", "node", "worker-1", "-o", keys)


def test_create_and_delete(kubectl: Kubectl) -> None:
    """`kubectl create` and `delete` work, and delete waits until the object is gone."""
    assert "configmap/settings created" in kubectl.run("create", "-f", "-", stdin=CONFIG)
    assert "already exists" in kubectl.try_("create", "-f", "-", stdin=CONFIG).stderr
    assert 'configmap "settings" deleted' in kubectl.run("delete", "configmap", "settings")
    assert 1 == kubectl.try_("get", "configmap", "settings").returncode


def test_custom_kinds(kubectl: Kubectl) -> None:
    """Custom objects are applied, listed with their columns, and refused when invalid."""
    widget = "apiVersion: conformance.node-remedy.dev/v1\nkind: Widget\nmetadata: {name: one}\nspec: {size: 7}\n"
    assert "created" in kubectl.run("apply", "-f", "-", stdin=widget)
    header, row = kubectl.run("get", "widgets").splitlines()
    assert (["NAME", "SIZE"], ["one", "7"]) == (header.split(), row.split())
    done = kubectl.try_("apply", "-f", "-", stdin=widget.replace("7", "700"))
    assert "should be less than or equal to 100" in done.stderr
    kubectl.run("delete", "widget", "one")


def test_raw_and_discovery(kubectl: Kubectl) -> None:
    """`kubectl get --raw`, `api-resources`, `api-versions` and `version` answer."""
    assert "NodeList" == json.loads(kubectl.run("get", "--raw", "/api/v1/nodes"))["kind"]
    assert "ok" == kubectl.run("get", "--raw", "/readyz").strip()
    resources = kubectl.run("api-resources")
    assert "conformance.node-remedy.dev/v1" in resources
    assert "statefulsets" in resources
    assert "apps/v1" in kubectl.run("api-versions").split()
    assert "Server Version: v1.36" in kubectl.run("version")


def test_drain_evicts(kubectl: Kubectl) -> None:
    """`kubectl drain` cordons the node and evicts its pods."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "busy", "namespace": "default"},
        "spec": {"nodeName": "worker-1", "containers": [{"name": "main", "image": "example.invalid/main"}]},
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    kubectl.run("create", "-f", "-", stdin=json.dumps(account))
    kubectl.run("create", "-f", "-", stdin=json.dumps(pod))
    kubectl.try_("drain", "worker-1", "--force", "--timeout=1s")
    assert "Terminating" in kubectl.run("get", "pod", "busy")
    kubectl.run("delete", "pod", "busy", "--force", "--grace-period=0")
    kubectl.run("uncordon", "worker-1")
