"""Remedies that hang or fail, on a real control plane: the kubelet ends what hangs, the Job controller tries again.

What a pod printed is what a person needs most when a remedy hung: the pod is still there afterwards, with its log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.test_remedy import JOBS, MAPS, PODS, SYSTEM, a_pod, an_object

STUBBORN = "trap '' TERM; echo begun for $NODE_NAME; while true; do sleep 1; done"
WAY = "/etc/node-remedy/configmaps/way/state"


def a_document(node: str, remedy: Json) -> Json:
    return {
        "apiVersion": "node-remedy/v1alpha",
        "kind": "Configuration",
        "nodeSelector": f"kubernetes.io/hostname={node}",
        "thresholdConfigs": [
            {
                "nodeConditionType": "Ready",
                "nodeConditionStatus": [False, "Unknown"],
                "nodeConditionPeriod": "5s",
                "remedy1": {"name": "one", "period": "10m"},
            }
        ],
        "remedyConfigs": [{"name": "one", "retries": 1, **remedy}],
    }


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        made.add_computers("hung", "shaky", *(f"well-{number}" for number in range(6)))
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        if made.api.get(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/default").status == 404:
            made.api.create(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts", account).ok()
        made.api.create(MAPS, an_object("ConfigMap", "way", {"state": "blocked"})).ok()
        yield made


def documented(fleet: Fleet, node: str, remedy: Json) -> None:
    text = yaml.safe_dump(a_document(node, remedy))
    fleet.api.create(MAPS, an_object("ConfigMap", node, {"config.yaml": text})).ok()


def record(fleet: Fleet, node: str) -> Json:
    notes = fleet.node(node)["metadata"].get("annotations") or {}
    return dict(json.loads(notes.get("node-remedy.dev/remedy", "{}")))


def pods(fleet: Fleet, node: str) -> list[Json]:
    """Those of the remedy of a node, the first one first."""
    found = fleet.api.get(PODS).ok()["items"]
    ours = [one for one in found if one["metadata"]["annotations"].get("node-remedy.dev/node-name") == node]
    return sorted(ours, key=lambda one: str(one["status"].get("startTime", "9")))


def job(fleet: Fleet, node: str) -> Json:
    name = record(fleet, node).get("job", "")
    found: Json = fleet.api.get(f"{JOBS}/{name}").ok()
    return found


def notes(fleet: Fleet) -> list[str]:
    """What Events say."""
    return [one.get("note", "") for one in fleet.api.get("/apis/events.k8s.io/v1/events").ok()["items"]]


@pytest.mark.timeout(300)
def test_what_hangs_ends_at_its_deadline_and_keeps_its_log(fleet: Fleet, installed_plane: ControlPlane) -> None:
    """Its kubelet ends it, by force if it must: it failed, was not tried again, and what it printed can be read."""
    documented(fleet, "hung", {"deadline": "6s", "podTemplate": a_pod(STUBBORN)})
    with Manager(installed_plane) as manager:
        eventually(manager.leads, "the manager leads", 60)
        fleet.crash("hung")
        eventually(lambda: record(fleet, "hung").get("outcome") == "failed", "the remedy has failed", 150)
        eventually(lambda: any("its deadline of 6s has passed: " in one for one in notes(fleet)), "why is told", 30)

    [pod] = pods(fleet, "hung")
    assert ("Failed", "DeadlineExceeded") == (pod["status"]["phase"], pod["status"]["reason"])
    assert "begun for hung" in fleet.containers.log(pod["metadata"]["name"])
    assert 1 == job(fleet, "hung")["status"]["failed"]
    fleet.power("hung", False)
    fleet.power("hung", True)
    eventually(lambda: fleet.is_ready("hung"), "the node is back", 90)


@pytest.mark.timeout(300)
def test_what_failed_is_tried_again(fleet: Fleet, installed_plane: ControlPlane) -> None:
    """The second pod of the same Job, for the same episode and boot, begins when the first one has ended."""
    script = f'echo "try for $EPISODE $NODE_BOOT_ID"; grep -q free {WAY} && exit 0; exit 3'
    documented(fleet, "shaky", {"podTemplate": a_pod(script, configmaps=["way"])})
    with Manager(installed_plane, "manager-1") as manager:
        eventually(manager.leads, "the manager leads", 60)
        fleet.crash("shaky")
        eventually(lambda: [one["status"]["phase"] for one in pods(fleet, "shaky")] == ["Failed"], "the first", 120)
        assert "outcome" not in record(fleet, "shaky")
        fleet.api.merge(f"{MAPS}/way", {"data": {"state": "free"}}).ok()
        eventually(lambda: record(fleet, "shaky").get("outcome") == "succeeded", "the remedy has succeeded", 90)

    first, second = pods(fleet, "shaky")
    boot = fleet.node("shaky")["status"]["nodeInfo"]["bootID"]
    assert ("Failed", "Succeeded") == (first["status"]["phase"], second["status"]["phase"])
    assert [f"try for {record(fleet, 'shaky')['episode']} {boot}"] * 2 == [
        fleet.containers.log(one["metadata"]["name"]).strip() for one in (first, second)
    ]
    assert ended(first) <= second["metadata"]["creationTimestamp"]
    assert (1, 1) == (job(fleet, "shaky")["status"]["failed"], job(fleet, "shaky")["status"]["succeeded"])


def ended(pod: Json) -> str:
    return str(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"])
