"""Fencing through a real BMC protocol on a real control plane, with the manager under its shipped identity (seed 002).

A node hangs with a StatefulSet's pods and their volumes on it. Its health check notices, as in the example, and nobody
lifts a finger. What the BMC is asked happens to the computer; what really runs where, and which volume is attached
where, is judged by `World`.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from tests.devices.device import PASSWORD
from tests.devices.ipmi import Bmc
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import MACHINES, Fleet, machine
from tests.e2e.managers import Manager
from tests.e2e.volumes import CLASS

SYSTEM = "node-remedy-system"
FENCES = "/apis/ha.k8s.io/v1/nodefences"
REQUESTS = "/apis/node-remedy.dev/v1alpha1/namespaces/default/fenceremediations"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fence-remediation" / "fence.yaml"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
JOBS = f"/apis/batch/v1/namespaces/{SYSTEM}/jobs"
PODS = "/api/v1/namespaces/default/pods"
CHECKS = "/apis/cluster.x-k8s.io/v1alpha3/namespaces/default/machinehealthchecks"
DATABASE = {"tier": "db"}
REMEDIED = {"role": "remedied"}
REMEDY = """
apiVersion: node-remedy/v1alpha
kind: Configuration
nodeSelector: role=remedied
thresholdConfigs:
- nodeConditionType: Ready
  nodeConditionStatus: [False, Unknown]
  nodeConditionPeriod: 5s
  remedy1: {name: power-cycle, period: 10m}
remedyConfigs:
- {name: power-cycle, nodeFence: {}}
"""


@dataclass
class Night:
    """The cluster in which nodes hang."""

    plane: ControlPlane
    fleet: Fleet
    bmcs: dict[str, Bmc]

    def fence(self, name: str) -> Json:
        return self.fleet.api.find(f"{FENCES}/node-fence-{name}")

    def state(self, name: str) -> str:
        return str(self.fence(name).get("status", {}).get("state", ""))

    def begin(self, name: str) -> None:
        """As `kubectl create` would."""
        body = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": f"node-fence-{name}"}}
        self.fleet.api.create(FENCES, {**body, "spec": {"node": name, "powerManagementDelay": "0s"}}).ok()

    def requests(self) -> list[str]:
        """What the health check has asked for, and not withdrawn."""
        return [one["metadata"]["name"] for one in self.fleet.api.get(REQUESTS).ok()["items"]]

    def is_over(self, name: str) -> bool:
        """The check is content, and the fence has done all that it had to."""
        return not self.requests() and self.state(name) in ("", "final")

    def is_off(self, name: str, pods: dict[str, str]) -> bool:
        """Whether its power is off; until then these pods are there. Kubernetes asks them to go: nobody could obey."""
        there = pods_on(self.fleet, name)
        is_off = bool(self.fleet.world.when("powered off", name))
        assert is_off or pods == there, "freed from a node that was on"
        return is_off

    def scale(self, replicas: int) -> None:
        self.fleet.api.merge(f"{SETS}/db", {"spec": {"replicas": replicas}}).ok()

    def places(self, *pods: str) -> list[str]:
        """The computers on which these pods really run."""
        return [name for pod in pods for name in self.fleet.world.where(f"default/{pod}")]

    def story(self, name: str) -> str:
        return str(self.fence(name).get("status", {}))


def a_database(replicas: int) -> Json:
    """Pods `db-…`, each with a volume of its own."""
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": CLASS, "resources": {"requests": {"storage": "1Gi"}}}
    mounts = [{"name": "data", "mountPath": "/data"}]
    pod = {"nodeSelector": DATABASE, "containers": [{"name": "db", "image": "db:1", "volumeMounts": mounts}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": pod},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
        },
    }


def add_others(fleet: Fleet, node: str) -> None:
    """What else runs on a node: a Deployment that may go anywhere its kind may, a DaemonSet, a pod of nobody."""
    for kind, name, place in (("Deployment", "web", DATABASE), ("DaemonSet", "logs", {"kubernetes.io/hostname": node})):
        pod = {"nodeSelector": place, "containers": [{"name": "c", "image": "c:1"}]}
        template = {"metadata": {"labels": {"app": name}}, "spec": pod}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        body = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
        fleet.api.create(f"/apis/apps/v1/namespaces/default/{kind.lower()}s", body).ok()
    bare = {"nodeSelector": DATABASE, "containers": [{"name": "c", "image": "c:1"}]}
    meta = {"name": "lone", "labels": {"app": "lone"}}
    fleet.api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": bare}).ok()


def pods_on(fleet: Fleet, node: str) -> dict[str, str]:
    """The pods that the API has on a node, by the app that they are of: their names and uids."""
    found = fleet.api.get(f"{PODS}?fieldSelector=spec.nodeName={node}").ok()["items"]
    metas = [pod["metadata"] for pod in found if pod["metadata"]["labels"]["app"] != "db"]
    return {meta["labels"]["app"]: f"{meta['name']} {meta['uid']}" for meta in metas}


def configure(fleet: Fleet, name: str, bmc: Bmc) -> None:
    """The node's fence configuration, as an administrator writes it."""
    parameters = "\n".join(f"{key}={value}" for key, value in bmc.parameters.items())
    method = f"agent=fence_ipmilan\n{parameters}\npassword=secret:bmc/password\n"
    steps = "isolation=mark-unschedulable\npower_management=ipmi\nrecovery=mark-schedulable\n"
    data = {"config.properties": f"node_name={name}\n{steps}", "fence-method-ipmi": method}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"fence-config-{name}"}, "data": data}
    fleet.api.create(f"/api/v1/namespaces/{SYSTEM}/configmaps", body).ok()


def look_after(fleet: Fleet, *names: str) -> None:
    """The example's check and template for the machines of these computers; its patience is seconds."""
    template, check = yaml.safe_load_all(EXAMPLE.read_text())
    spec = check["spec"]
    spec["unhealthyConditions"] = [{**one, "timeout": "10s"} for one in spec["unhealthyConditions"]]
    for name in names:
        tree = machine(name)
        tree["metadata"] = {"name": name, "namespace": "default", "labels": spec["selector"]["matchLabels"]}
        fleet.api.create(MACHINES, tree).ok()
        node_ref = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": fleet.node(name)["metadata"]["uid"]}
        fleet.api.merge(f"{MACHINES}/{name}/status", {"status": {"phase": "Running", "nodeRef": node_ref}}).ok()
    fleet.api.create(REQUESTS.replace("remediations", "remediationtemplates"), template).ok()
    fleet.api.create(CHECKS, check).ok()


@pytest.fixture(scope="module")
def night(installed_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Night]:
    secret = {"password": base64.b64encode(PASSWORD.encode()).decode()}
    bmcs = {name: Bmc(tmp_path_factory.mktemp(name)) for name in ("lost", "late", "silent")}
    with Fleet(installed_plane) as fleet:
        made = Night(installed_plane, fleet, bmcs)
        for name, bmc in bmcs.items():
            bmc.start()
            fleet.connect(bmc, name)
        fleet.add_storage(4)
        fleet.add_computers("lost", labels=DATABASE)
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc"}, "data": secret}
        fleet.api.create(f"/api/v1/namespaces/{SYSTEM}/secrets", body).ok()
        fleet.api.create(SETS, a_database(2)).ok()
        eventually(lambda: made.places("db-0", "db-1") == ["lost", "lost"], "the database runs", 60)
        add_others(fleet, "lost")
        eventually(lambda: len(fleet.world.computers["lost"].containers) == 5, "all else runs", 60)
        fleet.add_computers("spare", labels=DATABASE)
        fleet.add_computers("late", *(f"well-{number}" for number in range(4)))
        fleet.add_computers("silent", labels=REMEDIED)
        for name, bmc in bmcs.items():
            configure(fleet, name, bmc)
        look_after(fleet, "lost", "spare", *(f"well-{number}" for number in range(4)))
        yield made
    for bmc in bmcs.values():
        bmc.stop()


@pytest.mark.timeout(420)
def test_a_volume_moves_after_the_power_is_off_and_not_one_moment_before(night: Night) -> None:
    """The set is scaled down and up while its node is lost; its check notices, all comes right, nothing ran twice.

    What else ran there is freed by the same proof and not before; what belongs to the node is on it again.
    """
    fleet, world = night.fleet, night.fleet.world
    before = pods_on(fleet, "lost")
    fleet.crash("lost")
    eventually(lambda: fleet.ready_status("lost") == "Unknown", "the silence is noticed", 60)
    night.scale(1)
    with Manager(night.plane) as manager:
        eventually(manager.leads, "the manager leads", 60)
        night.scale(3)
        eventually(lambda: bool(night.fence("lost")), "the check has the node fenced", 90)
        asked = (night.requests(), night.fence("lost")["metadata"]["annotations"])
        eventually(lambda: night.is_off("lost", before), "the power is off", 120)
        names = ("db-0", "db-1", "db-2")
        eventually(lambda: night.places(*names) == ["spare"] * 3, f"the pods have moved: {night.story('lost')}", 180)
        eventually(lambda: night.is_over("lost"), f"the fence is over: {night.story('lost')}", 120)
        eventually(lambda: list(pods_on(fleet, "spare")) == ["web"], "the Deployment has its pod elsewhere", 60)
        after = pods_on(fleet, "lost")
        night.scale(1)
        eventually(lambda: night.places(*names) == ["spare"], "the set is smaller", 60)

    assert ["lost"] == asked[0]
    assert "FenceRemediation/default/lost" == asked[1]["node-remedy.dev/requested-by"].split()[0]
    off = world.when("powered off", "lost")
    assert [off[0]] == off
    assert 2 == len(world.when("volume detached", "lost"))
    assert off[0] < min(world.when("volume detached", "lost")), "detached from a node that was on"
    assert off[0] < min(world.when("volume attached", "spare"))
    assert off[0] < min(at for name in names for at in world.when("container started", "spare", f"default/{name}"))
    assert [] == world.overlaps
    assert ["logs", "lone", "web"] == sorted(before)
    assert ["logs"] == list(after)  # the taint ends the old one, too, and its DaemonSet has one there again
    gone = [before[name].split()[0] for name in ("lone", "web")]
    freed = [one for one in audit.writes(night.plane.audit_log) if one.name in gone]
    assert [] == [one for one in freed if world.was_on("lost", one.at)], "freed from a node that was on"
    assert [] == audit.writes(night.plane.audit_log, before["logs"].split()[0])
    node = fleet.node("lost")
    assert (True, False) == (fleet.is_ready("lost"), bool(node["spec"].get("unschedulable")))
    assert [] == [taint["key"] for taint in node["spec"].get("taints", [])]
    assert 2 == world.computers["lost"].boots


@pytest.mark.timeout(420)
def test_agents_as_jobs(night: Night) -> None:
    """The same with each run as a Job on another node: its pod tells the result, the node is back and uncordoned."""
    fleet, world = night.fleet, night.fleet.world
    fleet.crash("late")
    eventually(lambda: fleet.ready_status("late") == "Unknown", "the silence is noticed", 60)
    outside = {"ALL_PROXY": f"http://jo:{PASSWORD}@proxy.example.com:3128", "AWS_REGION": "eu-central-1"}
    by_jobs, environment = ("--agents", "job", "--remedy-image", "remedy"), {**os.environ, **outside}
    with Manager(night.plane, "manager-1", more=by_jobs, environment=environment) as manager:
        eventually(manager.leads, "the manager leads", 60)
        assert [] != manager.said("not handed on to Jobs: it may hold a secret", names="ALL_PROXY")
        night.begin("late")
        eventually(lambda: night.state("late") == "final", f"the fence is final: {night.story('late')}", 240)

    jobs = fleet.api.get(JOBS).ok()["items"]
    pods = fleet.api.get(f"/api/v1/namespaces/{SYSTEM}/pods").ok()["items"]
    ran = [pod for pod in pods if pod["metadata"]["labels"].get("node-remedy.dev/run") == "fence"]
    assert 1 == len(world.when("powered off", "late"))
    assert fleet.is_ready("late")
    assert len(jobs) >= 3
    assert [] == [pod["metadata"]["name"] for pod in ran if pod["spec"]["nodeName"] == "late"]
    assert {True} == {"'eu-central-1'" in str(pod["spec"]) for pod in ran}
    assert PASSWORD not in str(jobs) + str(ran) + night.story("late")
    assert [] == [path for path in night.plane.folder.glob("*.log") if PASSWORD in path.read_text(errors="replace")]
    assert [] == [one for one in Path(night.plane.folder / "containers").glob("*.log") if PASSWORD in one.read_text()]


@pytest.mark.timeout(420)
def test_a_remedy_may_be_the_fence_of_the_node(night: Night) -> None:
    """`nodeFence: {}` of a Configuration: the silent node is fenced once, comes back, and nothing is left on it."""
    fleet, world = night.fleet, night.fleet.world
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "remedied"}, "data": {"config.yaml": REMEDY}}
    fleet.api.create(f"/api/v1/namespaces/{SYSTEM}/configmaps", body).ok()
    with Manager(night.plane, "manager-2") as manager:
        eventually(manager.leads, "the manager leads", 60)
        fleet.crash("silent")
        eventually(lambda: bool(night.fence("silent")), "the remedy has the node fenced", 120)
        hurry = {"spec": {"powerManagementDelay": "0s"}}  # five minutes if nobody does
        fleet.api.merge(f"{FENCES}/node-fence-silent", hurry).ok()
        eventually(lambda: world.computers["silent"].boots == 2, "the power has come back", 120)
        eventually(lambda: night.state("silent") in ("", "final"), f"the fence is over: {night.story('silent')}", 120)
        eventually(lambda: not traces(fleet, "silent"), f"nothing is left: {fleet.node('silent')}", 60)

    assert 1 == len(world.when("powered off", "silent"))
    assert fleet.is_ready("silent")
    assert [] == world.overlaps


def traces(fleet: Fleet, name: str) -> list[str]:
    """What a repair writes on a node while it lasts."""
    node = fleet.node(name)
    notes = [key for key in node["metadata"].get("annotations") or {} if "remed" in key]
    return [
        *notes,
        *(one["key"] for one in node["spec"].get("taints", [])),
        *(["cordon"] if node["spec"].get("unschedulable") else []),
    ]
