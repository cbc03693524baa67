"""A management cluster and a workload cluster, both real: judged through the kubeconfig secret, repaired there.

One story over one afternoon, told in order: the right to read the secret is missing, then given; a node of the workload
cluster falls silent and is repaired; its API server dies, and nothing begins until it is back. The workload cluster has
the policy that the guide asks for: it keeps strangers out, and the manager's work goes on.
"""

from __future__ import annotations

import json
import re
import time
from base64 import b64encode
from collections.abc import Iterator

import pytest
from tests.e2e import audit
from tests.e2e.api import Api, Json, eventually
from tests.e2e.certificates import Certificates
from tests.e2e.conftest import ROOT
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import MANAGER, NAMESPACE, allow, kubectl
from tests.e2e.fleet import NODES, Fleet, Provider
from tests.e2e.managers import Manager
from tests.e2e.repairs import assert_nothing_left, ours, wait_until_over
from tests.guide import page as pages

from noderemedy.sim.objects import cluster_definition

CHECKS = "/apis/cluster.x-k8s.io/v1alpha3/namespaces/default/machinehealthchecks"
CLUSTERS = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/clusters"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LABELS = {"role": "checked"}
CHECK: Json = {
    "apiVersion": "cluster.x-k8s.io/v1alpha3",
    "kind": "MachineHealthCheck",
    "metadata": {"name": "workers", "annotations": {"node-remedy.dev/mode": "observe"}},
    "spec": {
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "300s"}],
        "maxUnhealthy": 9,
    },
}
RIGHTS = [("", "nodes", ("get", "list", "watch", "patch", "delete"))]
FREEING = [("", "pods", ("get", "list", "delete")), ("storage.k8s.io", "volumeattachments", ("get", "list", "delete"))]
REMEDIATIONS = "/apis/remediation.metal3.io/v1alpha1/namespaces/default/metal3remediations"
PODS, ATTACHMENTS = "/api/v1/namespaces/default/pods", "/apis/storage.k8s.io/v1/volumeattachments"
GUARDING = pages.read("workload-clusters.md").program("Guard the Nodes there, too")
WORKER = "viewer"  # the identity that the kubeconfig in the secret shows; its requests are recorded


@pytest.fixture(scope="module")
def workload(
    binaries: dict[str, str], certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A second control plane: it has Nodes, and of ours the policy that guards them."""
    plane = ControlPlane(binaries, tmp_path_factory.mktemp("workload"), certificates)
    plane.start()
    files = re.findall(r"-f (\S+)", GUARDING)
    kubectl(plane, "apply", "--server-side", *(part for file in files for part in ("-f", ROOT / file)))
    allow(plane.api(), "nodes-of-e2e", RIGHTS, WORKER)
    yield plane
    plane.stop()


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane, workload: ControlPlane) -> Iterator[Fleet]:
    """Machines, hosts, Cluster, check and secret in one cluster, Nodes in the other."""
    with Fleet(installed_plane, workload) as fleet:
        describe(fleet.api, workload)
        fleet.add("one", "two", provider=Provider.METAL3)
        for name in ("one", "two"):
            fleet.api.merge(fleet.machine_path(name), {"metadata": {"labels": LABELS}}).ok()
        fleet.api.create(CHECKS, CHECK).ok()
        yield fleet


def test_who_edits_nodes_there_may_not_ask_for_repairs(workload: ControlPlane, fleet: Fleet) -> None:
    """With what the guide says to apply there an editor of Nodes may label one and not hurry its repair."""
    allow(workload.api(), "editors-of-e2e", RIGHTS, "stranger")
    stranger, path = workload.api("stranger"), f"{NODES}/two?dryRun=All"

    assert 200 == stranger.merge(path, {"metadata": {"labels": {"edited": "yes"}}}).status
    wish = {"metadata": {"annotations": {"node-remedy.dev/repair": ""}}}
    eventually(lambda: "node-remedy-remediator" in stranger.merge(path, wish).message, "the policy is in force")


def describe(api: Api, workload: ControlPlane) -> None:
    """What Cluster API keeps of a workload cluster: a Cluster, and the secret with its kubeconfig."""
    api.create(DEFINITIONS, cluster_definition()).ok()
    eventually(lambda: api.get(CLUSTERS).status == 200, "the kind Cluster is served")
    tree = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {"name": "e2e"}, "spec": {}}
    api.create(CLUSTERS, tree).ok()
    conditions = [{"type": kind, "status": "True"} for kind in ("ControlPlaneInitialized", "InfrastructureReady")]
    api.merge(f"{CLUSTERS}/e2e/status", {"status": {"conditions": conditions}}).ok()
    metadata = {"name": "e2e-kubeconfig"}
    value = b64encode(embedded(workload).encode()).decode()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"value": value}}
    api.create("/api/v1/namespaces/default/secrets", secret).ok()


def embedded(plane: ControlPlane) -> str:
    """A kubeconfig that holds its certificate and token itself, as Cluster API writes it."""
    content = json.loads(plane.kubeconfig(WORKER).read_text())
    [cluster] = content["clusters"]
    authority = plane.certificates.authority.read_bytes()
    cluster["cluster"] = {"server": plane.server, "certificate-authority-data": b64encode(authority).decode()}
    return json.dumps(content)


def healthy(api: Api) -> tuple[int, int]:
    """What the check counts: machines, and those that are healthy."""
    found = api.get(f"{CHECKS}/workers").ok().get("status", {})
    return found.get("expectedMachines", -1), found.get("currentHealthy", -1)


def up(manager: Manager) -> float:
    return manager.figure("node_remedy_workload_cluster_up", cluster="default/e2e")


def test_a_workload_cluster(installed_plane: ControlPlane, workload: ControlPlane, fleet: Fleet) -> None:
    """Forbidden, granted, judged, repaired in its own cluster; away: nothing begins; back: it goes on."""
    api = fleet.api
    with Manager(installed_plane, how="hurried") as manager:
        manager.wait_until_ready()
        [told] = eventually(lambda: manager.said("workload cluster", state="unreachable"), "it may not read the secret")
        assert "grant get on secrets in namespace default" in told["why"]
        eventually(lambda: healthy(api) == (2, 0), "nobody is called healthy, or sick")

        account = f"--serviceaccount={NAMESPACE}:{MANAGER}"
        role = "--clusterrole=node-remedy-workload-clusters"
        kubectl(installed_plane, "create", "rolebinding", "node-remedy-workload-clusters", role, account)
        eventually(lambda: up(manager) == 1, "the right is given, the cluster is connected")
        eventually(lambda: healthy(api) == (2, 2), "both are judged by the Nodes of their cluster")

        fleet.crash("one")
        eventually(lambda: healthy(api) == (2, 1), "a node of the workload cluster fell silent", 60)
        before = fleet.node("one")["metadata"]["uid"]
        fleet.ask_for_repair("one")
        wait_until_over(fleet, "one", seconds=90)
        assert before != fleet.node("one")["metadata"]["uid"]
        assert "delete nodes" in audit.done(workload.audit_log, "one", WORKER)
        assert [] == [one for one in audit.writes(installed_plane.audit_log) if one.resource == "nodes"]
        eventually(lambda: healthy(api) == (2, 2), "it is healthy again")

        workload.stop_api()
        eventually(lambda: up(manager) == 0, "its API server is away", 60)
        eventually(lambda: healthy(api) == (2, 0), "nobody is judged")
        fleet.ask_for_repair("two")
        time.sleep(3)
        assert {} == ours(fleet.host("two")), "nothing begins for a node that nobody can see"
        assert "ok" in manager.answer("/readyz"), "the manager is well"

        workload.start_api()
        eventually(lambda: up(manager) == 1, "back", 60)
        wait_until_over(fleet, "two", seconds=90)
        assert_nothing_left(fleet, "two")
        eventually(lambda: healthy(api) == (2, 2), "both are healthy")
        assert [] == api.items(NODES), "nothing was made here"
        assert not [word for word in workload.tokens.values() if word in manager.program.log.read_text()]


def a_pod(node: str) -> Json:
    """A pod that nobody makes again."""
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "registry.example/database:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "database"}, "spec": spec}


def an_attachment(node: str) -> Json:
    spec = {"attacher": "example.com", "nodeName": node, "source": {"persistentVolumeName": "data"}}
    meta = {"name": "data-of-database"}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": meta, "spec": spec}


@pytest.mark.timeout(300)
def test_a_workload_is_freed_in_its_own_cluster(
    installed_plane: ControlPlane, workload: ControlPlane, fleet: Fleet
) -> None:
    """Pods and attachments go there, with a proof from here; their namesakes in the management cluster stay."""
    api, there = fleet.api, workload.api()
    allow(there, "freeing-of-e2e", FREEING, WORKER)
    for plane in (api, there):
        plane.create(PODS, a_pod("one")).ok()
        plane.create(ATTACHMENTS, an_attachment("one")).ok()
    fleet.crash("one")
    with Manager(installed_plane, "manager-1", how="hurried") as manager:
        manager.wait_until_ready()
        eventually(lambda: up(manager) == 1, "its cluster is in sight", 60)
        request = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3Remediation"}
        body = {**request, "metadata": {"name": "one"}, "spec": {"strategy": "reboot", "freeBy": "pods"}}
        api.create(REMEDIATIONS, body).ok()
        eventually(lambda: there.get(f"{ATTACHMENTS}/data-of-database").status == 404, "volumes are detached", 120)
        eventually(lambda: succeeded(api) == "True", "the request has succeeded", 120)

    assert "delete pods" in audit.done(workload.audit_log, "database", WORKER)
    assert "delete volumeattachments" in audit.done(workload.audit_log, "data-of-database", WORKER)
    assert 404 == there.get(f"{PODS}/database").status
    assert (200, 200) == (api.get(f"{PODS}/database").status, api.get(f"{ATTACHMENTS}/data-of-database").status)
    assert fleet.world.when("powered off", "one"), "freed without a proof"
    assert [] == fleet.world.overlaps


def succeeded(api: Api) -> str:
    found = api.get(f"{REMEDIATIONS}/one").ok().get("status", {}).get("conditions", [])
    return next((one["status"] for one in found if one["type"] == "Succeeded"), "")
