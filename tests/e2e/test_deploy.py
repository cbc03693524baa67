"""`kubectl apply -k deploy/` on a real API server: accepted, admitted by its own pod security, scheduled, understood.

No container runs here: pods are Running by the word of simulated kubelets. What the Deployment would start is started
as a process instead, with the very arguments of the manifest. The server lets critical pods into those namespaces only
that have a quota for them, as GKE's does; servers of others ask for less.
"""

from __future__ import annotations

import copy
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from tests.e2e.api import Json, eventually
from tests.e2e.certificates import Certificates
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import DEPLOY, MANAGER, NAMESPACE, install_foreign_kinds, kubectl, manager_kubeconfig
from tests.e2e.fleet import Fleet
from tests.e2e.managers import COMMAND
from tests.e2e.processes import Program, free_port

from noderemedy import __version__
from noderemedy.cli.manager import manager as command

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{MANAGER}"
BUDGET = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets/{MANAGER}"
KINDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONTROL = "node-role.kubernetes.io/control-plane"
QUOTA = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/node-remedy-critical-pods"
CRITICAL = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-cluster-critical"]}
LIMITED = {"resource": "pods", "matchScopes": [CRITICAL]}
QUOTAS = {"kind": "ResourceQuotaConfiguration", "apiVersion": "apiserver.config.k8s.io/v1"}
ADMISSION = {
    "kind": "AdmissionConfiguration",
    "apiVersion": "apiserver.config.k8s.io/v1",
    "plugins": [{"name": "ResourceQuota", "configuration": {**QUOTAS, "limitedResources": [LIMITED]}}],
}


@pytest.fixture(scope="module")
def control_plane(
    binaries: dict[str, str], certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A control plane that limits critical pods."""
    folder = tmp_path_factory.mktemp("controlplane")
    file = folder / "admission.yaml"
    file.write_text(yaml.safe_dump(ADMISSION))
    plane = ControlPlane(binaries, folder, certificates, server_flags=(f"--admission-control-config-file={file}",))
    plane.start()
    yield plane
    plane.stop()


@pytest.fixture(scope="module")
def fleet(control_plane: ControlPlane) -> Iterator[Fleet]:
    """Two control-plane nodes that repel ordinary pods, and a worker that does not."""
    install_foreign_kinds(control_plane)
    with Fleet(control_plane) as made:
        made.add("control-0", "control-1", labels={CONTROL: ""})
        made.add("worker-0")
        for name in ("control-0", "control-1"):
            kubectl(control_plane, "taint", "node", name, f"{CONTROL}:NoSchedule")
        yield made


@pytest.fixture(scope="module")
def shipped(control_plane: ControlPlane, fleet: Fleet) -> ControlPlane:
    """Everything of deploy/ applied."""
    kubectl(control_plane, "apply", "--server-side", "-k", DEPLOY)
    # Until its quota is counted the server lets no pod in; whoever makes ours tries again.
    eventually(lambda: control_plane.api().get(QUOTA).ok().get("status", {}).get("hard"), "the quota is counted")
    return control_plane


@pytest.fixture(scope="module")
def template() -> Json:
    """The pod as deploy/manager describes it."""
    pod: Json = next(yaml.safe_load_all((DEPLOY / "manager" / "deployment.yaml").read_text()))["spec"]["template"]
    return pod


def test_a_dry_run_is_accepted_and_changes_nothing(control_plane: ControlPlane, fleet: Fleet) -> None:
    """In a cluster that has only the namespace the server accepts every object of deploy/, and stores none."""
    kubectl(control_plane, "create", "namespace", NAMESPACE)
    told = kubectl(control_plane, "apply", "--server-side", "--dry-run=server", "-k", DEPLOY).splitlines()

    files = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["resources"]

    assert sum(len([*yaml.safe_load_all((DEPLOY / file).read_text())]) for file in files) == len(told)
    assert all("(server dry run)" in line for line in told)
    assert 404 == control_plane.api().get(DEPLOYMENT).status


def test_both_managers_find_their_places(shipped: ControlPlane, fleet: Fleet) -> None:
    """Pod security admits them, each gets a control-plane node of its own, and a drain may take one of them."""
    api = shipped.api()
    eventually(lambda: api.get(DEPLOYMENT).ok()["status"].get("readyReplicas") == 2, "both pods are ready")
    pods = api.items(PODS)

    assert ["control-0", "control-1"] == sorted(pod["spec"]["nodeName"] for pod in pods)
    assert {MANAGER} == {pod["spec"]["serviceAccountName"] for pod in pods}
    eventually(lambda: api.get(BUDGET).ok()["status"]["disruptionsAllowed"] == 1, "a drain may take one")


def test_our_quota_is_used_by_our_pods(shipped: ControlPlane, template: Json) -> None:
    """Both managers count; elsewhere such a pod is refused, so it is the quota that lets ours in."""
    api = shipped.api()
    eventually(lambda: api.get(QUOTA).ok()["status"]["used"] == {"pods": "2"}, "both managers are counted")
    elsewhere = "/api/v1/namespaces/default/pods?dryRun=All"
    small = [{"name": "main", "image": "node-remedy"}]
    spec = {"containers": small, "priorityClassName": template["spec"]["priorityClassName"]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": spec}

    assert "insufficient quota to match these scopes" in api.create(elsewhere, body).message


def test_applying_again_changes_nothing(shipped: ControlPlane) -> None:
    """A second apply leaves the Deployment at the generation it had."""
    before = shipped.api().get(DEPLOYMENT).ok()["metadata"]["generation"]
    kubectl(shipped, "apply", "--server-side", "-k", DEPLOY)

    assert before == shipped.api().get(DEPLOYMENT).ok()["metadata"]["generation"]


HARDENING = (
    ("securityContext", "seccompProfile"),
    ("securityContext", "runAsNonRoot"),
    ("containers", 0, "securityContext", "capabilities"),
    ("containers", 0, "securityContext", "allowPrivilegeEscalation"),
)


def pod_reply(plane: ControlPlane, template: Json, without: tuple[str | int, ...] = ()) -> str:
    """What the server says to such a pod, with one field left out; empty if it is accepted."""
    pod = copy.deepcopy(template)
    part = pod["spec"]
    for step in without[:-1]:
        part = part[step]
    if without:
        del part[without[-1]]
    named = {**pod["metadata"], "name": "probe"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": pod["spec"]}
    return plane.api().create(f"{PODS}?dryRun=All", body).message


def test_pod_security_accepts_the_pod(shipped: ControlPlane, template: Json) -> None:
    """The pod passes the restricted standard that its namespace enforces, and its root file system is read-only."""
    assert "" == pod_reply(shipped, template)
    assert template["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"]


@pytest.mark.parametrize("field", HARDENING, ids=lambda field: str(field[-1]))
def test_sabotage_a_softer_pod_is_refused(shipped: ControlPlane, template: Json, field: tuple[str | int, ...]) -> None:
    """Without any one of its restrictions the server refuses the pod."""
    assert 'violates PodSecurity "restricted' in pod_reply(shipped, template, without=field)


def test_the_image_is_the_one_of_this_version(shipped: ControlPlane) -> None:
    """The placeholder in the kustomization carries the version of the project."""
    [container] = shipped.api().get(DEPLOYMENT).ok()["spec"]["template"]["spec"]["containers"]

    assert f"registry.example.com/node-remedy:{__version__}" == container["image"]


def test_the_command_line_is_understood(template: Json) -> None:
    """The real command parses the arguments of the manifest."""
    name, *arguments = template["spec"]["containers"][0]["args"]
    context = command.make_context(name, list(arguments))

    assert ("manager", 8080, "$(POD_IP)") == (
        command.name,
        context.params["metrics_port"],
        context.params["metrics_host"],
    )


def test_probes_are_answered(shipped: ControlPlane, template: Json, tmp_path: Path) -> None:
    """Started with the arguments of the manifest, no home and no scratch space, it answers probes and scrapes."""
    [container] = template["spec"]["containers"]
    [port] = container["ports"]
    free = free_port()
    filled = {"$(POD_IP)": "127.0.0.1", str(port["containerPort"]): str(free)}
    arguments = [fill(argument, filled) for argument in container["args"]]
    nowhere = {"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "PATH": str(Path(sys.executable).parent)}
    shown = {"KUBECONFIG": str(manager_kubeconfig(shipped))}
    program = Program([COMMAND, *arguments], tmp_path / "log", {**nowhere, **shown})
    try:
        probes = [container[kind]["httpGet"] for kind in ("livenessProbe", "readinessProbe")]
        assert {port["name"]} == {probe["port"] for probe in probes}
        for path in (*(probe["path"] for probe in probes), "/metrics"):
            eventually(lambda path=path: answers(free, path), f"{path}: {program.last_words()}")  # type: ignore[misc]
    finally:
        assert 0 == program.terminate()


def fill(argument: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        argument = argument.replace(name, value)
    return argument


def answers(port: int, path: str) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def test_alerts_are_objects_of_the_prometheus_operator(shipped: ControlPlane) -> None:
    """Where the operator's kinds exist (here: stand-ins without a schema) the alerts can be applied."""
    for kind, plural in (("PrometheusRule", "prometheusrules"), ("PodMonitor", "podmonitors")):
        shipped.api().create(KINDS, a_kind("monitoring.coreos.com", kind, plural)).ok()
        kubectl(shipped, "wait", "--for=condition=Established", f"crd/{plural}.monitoring.coreos.com")

    told = eventually(lambda: kubectl(shipped, "apply", "--server-side", "-f", DEPLOY / "alerts"), "applied")
    assert 2 == told.count("serverside-applied")


def with_component(folder: Path, name: str) -> Path:
    """deploy/ as somebody has it who wants managers to hear crash kernels, say."""
    copied = Path(shutil.copytree(DEPLOY, folder / "deploy"))
    file = copied / "kustomization.yaml"
    file.write_text(file.read_text().replace(f"\n# components: [{name}]\n", f"\ncomponents: [{name}]\n"))
    return copied


def test_managers_may_be_kept_on_control_plane_nodes(shipped: ControlPlane, tmp_path: Path) -> None:
    """Required instead of preferred, and apart from that what is shipped."""
    plain, kept = (
        [*yaml.safe_load_all(kubectl(shipped, "kustomize", folder))]
        for folder in (DEPLOY, with_component(tmp_path, "control-plane"))
    )
    [before], [after] = ([one for one in built if one["kind"] == "Deployment"] for built in (plain, kept))
    wished = before["spec"]["template"]["spec"]["affinity"].pop("nodeAffinity")
    required = after["spec"]["template"]["spec"]["affinity"].pop("nodeAffinity")

    assert ["preferredDuringSchedulingIgnoredDuringExecution"] == list(wished)
    assert ["requiredDuringSchedulingIgnoredDuringExecution"] == list(required)
    assert plain == kept


def test_managers_that_hear_crash_kernels_find_their_places(shipped: ControlPlane, tmp_path: Path) -> None:
    """In the network of their hosts, which the namespace of the others refuses; one on each control-plane node."""
    api, folder = shipped.api(), with_component(tmp_path, "kdump")
    built = [*yaml.safe_load_all(kubectl(shipped, "kustomize", folder))]
    [listening] = [one["spec"]["template"] for one in built if one["kind"] == "Deployment"]
    refused = pod_reply(shipped, listening)
    kubectl(shipped, "apply", "--server-side", "-k", folder)
    kubectl(shipped, "-n", NAMESPACE, "rollout", "status", f"deployment/{MANAGER}", "--timeout=50s")
    eventually(lambda: len(api.items(PODS)) == 2, "the pods of before are gone", 60)
    pods = api.items(PODS)
    ports = [{one["hostPort"] for one in pod["spec"]["containers"][0]["ports"]} for pod in pods]

    assert 'violates PodSecurity "restricted' in refused
    assert "hostNetwork" in refused
    assert ["control-0", "control-1"] == sorted(pod["spec"]["nodeName"] for pod in pods)
    assert ([True, True], [{8080, 7410}] * 2) == ([pod["spec"]["hostNetwork"] for pod in pods], ports)
    assert 2 == api.get(DEPLOYMENT).ok()["status"]["readyReplicas"]


def a_kind(group: str, kind: str, plural: str) -> Json:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "plural": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
