"""Remedies on a real control plane, under the manager's shipped identity: the pods of their Jobs really run (seed 002).

A node falls silent. The first remedy fails, the second one succeeds; then somebody switches the computer off and on.
Each is a process with the environment, secrets and files that its document asks for, on another node.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator

import pytest
import yaml
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager

SYSTEM = "node-remedy-system"
MAPS = f"/api/v1/namespaces/{SYSTEM}/configmaps"
JOBS = f"/apis/batch/v1/namespaces/{SYSTEM}/jobs"
PODS = f"/api/v1/namespaces/{SYSTEM}/pods"
SECRET = "hunter2"
TELL = 'echo "$NODE_NAME $NODE_BOOT_ID $REMEDY $REMEDY_NUMBER $TOKEN"'
HASHED = 'printf %s "$password" | sha256sum'  # that it is there is shown without showing it
FILES = "cat /etc/node-remedy/node/annotations /etc/node-remedy/configmaps/playbooks/greeting"


def a_pod(script: str, **more: object) -> Json:
    container = {"name": "c", "image": "registry.example/remedy:1", "command": ["sh", "-c", script], **more}
    return {"spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}


def a_document() -> Json:
    fails = a_pod(f"{TELL}; {FILES}; {HASHED}; exit 3", env=["bmc"], configmaps=["playbooks"])
    return {
        "apiVersion": "node-remedy/v1alpha",
        "kind": "Configuration",
        "nodeSelector": "role=patient",
        "thresholdConfigs": [
            {
                "nodeConditionType": "Ready",
                "nodeConditionStatus": [False, "Unknown"],
                "nodeConditionPeriod": "5s",
                "remedy1": {"name": "restart", "period": "2s"},
                "remedy2": {"name": "reset", "period": "5m", "clean-resource": True},
                "recovery": {"name": "welcome"},
            }
        ],
        "remedyConfigs": [
            {"name": "restart", "retries": 0, "podTemplate": fails},
            {"name": "reset", "podTemplate": a_pod(f"{TELL}; sleep 5; exit 0")},
            {"name": "welcome", "podTemplate": a_pod(f"{TELL}; exit 0")},
        ],
    }


def an_object(kind: str, name: str, data: dict[str, str]) -> Json:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": SYSTEM}, "data": data}


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        made.add_computers("patient", labels={"role": "patient"})
        made.add_computers(*(f"well-{number}" for number in range(4)))
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        if made.api.get(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/default").status == 404:
            made.api.create(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts", account).ok()
        secret = {"password": base64.b64encode(SECRET.encode()).decode()}
        made.api.create(f"/api/v1/namespaces/{SYSTEM}/secrets", an_object("Secret", "bmc", secret)).ok()
        made.api.create(MAPS, an_object("ConfigMap", "playbooks", {"greeting": "from a playbook\n"})).ok()
        yield made


def remedies(fleet: Fleet) -> list[str]:
    """Those whose Jobs are there, in the order in which they were made."""
    jobs = sorted(fleet.api.get(JOBS).ok()["items"], key=lambda one: int(one["metadata"]["resourceVersion"]))
    jobs.sort(key=lambda one: one["metadata"]["creationTimestamp"])
    return [one["metadata"]["annotations"]["node-remedy.dev/remedy-name"] for one in jobs]


def record(fleet: Fleet) -> Json:
    notes = fleet.node("patient")["metadata"].get("annotations") or {}
    return dict(json.loads(notes.get("node-remedy.dev/remedy", "{}")))


def is_out_of_service(fleet: Fleet) -> bool:
    taints = fleet.node("patient")["spec"].get("taints", ())
    return "node.kubernetes.io/out-of-service" in {one["key"] for one in taints}


def told(fleet: Fleet) -> str:
    """All that the pods of remedies printed."""
    pods = fleet.api.get(PODS).ok()["items"]
    return "".join(fleet.containers.log(pod["metadata"]["name"]) for pod in pods)


@pytest.mark.timeout(300)
def test_remedies_run_one_after_the_other_until_the_node_is_back(fleet: Fleet, installed_plane: ControlPlane) -> None:
    """The first one fails, the next one succeeds, by which the workload is freed and not a moment before; the node
    returns by another boot, the recovery runs, and nothing is left on it.
    """
    fleet.api.create(MAPS, an_object("ConfigMap", "patients", {"config.yaml": yaml.safe_dump(a_document())})).ok()
    with Manager(installed_plane) as manager:
        eventually(manager.leads, "the manager leads", 60)
        fleet.crash("patient")
        eventually(lambda: remedies(fleet)[:2] == ["restart", "reset"], so_far(fleet), 120)
        assert not is_out_of_service(fleet)
        eventually(lambda: record(fleet).get("outcome") == "succeeded", so_far(fleet), 60)
        eventually(lambda: is_out_of_service(fleet), so_far(fleet), 60)
        boot = fleet.node("patient")["status"]["nodeInfo"]["bootID"]
        fleet.power("patient", False)
        fleet.power("patient", True)
        eventually(lambda: fleet.is_ready("patient"), "the node is back", 90)
        eventually(lambda: not record(fleet) and len(remedies(fleet)) == 3, so_far(fleet), 60)
        assert not is_out_of_service(fleet)

    pods = fleet.api.get(PODS).ok()["items"]
    words = told(fleet)
    assert ["restart", "reset", "welcome"] == remedies(fleet)
    assert "patient" not in [pod["spec"]["nodeName"] for pod in pods]
    assert f"patient {boot} restart 1 1" in words
    assert f"patient {boot} reset 2 1" in words
    assert 'node-remedy.dev/node-name="patient"' in words
    assert "from a playbook" in words
    assert hashlib.sha256(SECRET.encode()).hexdigest() in words
    assert SECRET not in words + str(pods)
    assert {} == {key: one for key, one in fleet.node("patient")["metadata"]["annotations"].items() if "remed" in key}


@pytest.mark.timeout(120)
def test_a_broken_document_is_told_on_itself(fleet: Fleet, installed_plane: ControlPlane) -> None:
    """An event on the ConfigMap names the line; the last good one is kept beside it."""
    body = {"data": {"config.yaml": yaml.safe_dump({**a_document(), "thresholdConfigs": []})}}
    with Manager(installed_plane, "manager-1") as manager:
        eventually(manager.leads, "the manager leads", 60)
        fleet.api.merge(f"{MAPS}/patients", body).ok()
        events = f"/apis/events.k8s.io/v1/namespaces/{SYSTEM}/events"
        eventually(
            lambda: any(one["reason"] == "DocumentBroken" for one in fleet.api.get(events).ok()["items"]),
            "the event",
            60,
        )

    notes = [one["note"] for one in fleet.api.get(events).ok()["items"] if one["reason"] == "DocumentBroken"]
    assert "the last good version goes on: config.yaml:" in notes[0]
    assert "thresholdConfigs: an empty list cannot be read; write at least one threshold" in notes[0]
    kept = fleet.api.get(f"{MAPS}/last-good-patients").ok()
    assert a_document() == yaml.safe_load(kept["data"]["config.yaml"])


def so_far(fleet: Fleet) -> str:
    return f"remedies {remedies(fleet)}, record {record(fleet)}"
