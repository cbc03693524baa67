"""Pods of Jobs really run on the bench: environment, volumes, tokens, exit codes, logs, deadlines, deletion."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet

JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        made.add("worker-0")
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        if made.api.get("/api/v1/namespaces/default/serviceaccounts/default").status == 404:
            made.api.create("/api/v1/namespaces/default/serviceaccounts", account).ok()
        secret = {"password": base64.b64encode(b"hunter2").decode()}
        made.api.create("/api/v1/namespaces/default/secrets", an_object("Secret", "bmc", data=secret)).ok()
        settings = an_object("ConfigMap", "settings", data={"mode": "fast", "file": "a line\n"})
        made.api.create("/api/v1/namespaces/default/configmaps", settings).ok()
        yield made


def an_object(kind: str, name: str, **more: object) -> Json:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **more}


def a_job(name: str, script: str, **spec: object) -> Json:
    container = {
        "name": "main",
        "image": "anything",
        "command": ["sh", "-c", script],
        "env": [
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "WHO", "value": "$(NODE)/$(mode)/$(UNKNOWN)"},
            {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "bmc", "key": "password"}}},
        ],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
        "volumeMounts": [
            {"name": "bmc", "mountPath": "/etc/bmc", "readOnly": True},
            {"name": "settings", "mountPath": "/etc/settings"},
            {"name": "scratch", "mountPath": "/scratch"},
        ],
    }
    volumes = [
        {"name": "bmc", "secret": {"secretName": "bmc"}},
        {"name": "settings", "configMap": {"name": "settings", "items": [{"key": "file", "path": "sub/renamed"}]}},
        {"name": "scratch", "emptyDir": {}},
    ]
    pod = {"restartPolicy": "Never", "containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 1}
    template = {"metadata": {"labels": {"job": name}}, "spec": pod}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "template": template, **spec},
    }


def pod_of(fleet: Fleet, name: str) -> Json:
    found: list[Json] = fleet.api.get(f"{PODS}?labelSelector=job={name}").ok()["items"]
    return found[0] if found else {}


def ended(fleet: Fleet, name: str) -> Json:
    """How its container ended; {} while it runs."""
    statuses = pod_of(fleet, name).get("status", {}).get("containerStatuses", [])
    found: Json = statuses[0]["state"].get("terminated", {}) if statuses else {}
    return found


def condition(fleet: Fleet, name: str) -> str:
    found = fleet.api.get(f"{JOBS}/{name}").ok().get("status", {}).get("conditions", [])
    return next((one["type"] for one in found if one["status"] == "True" and one["type"] in ("Complete", "Failed")), "")


def test_a_job_runs_and_tells(fleet: Fleet) -> None:
    """Environment, secrets, config maps and downward API are there; the Job controller sees the true end."""
    files = "$(cat /etc/bmc/password /etc/settings/sub/renamed)"
    script = f'echo "$WHO $SECRET" {files}; echo done > /dev/termination-log; exit 0'
    fleet.api.create(JOBS, a_job("tells", script)).ok()
    eventually(lambda: condition(fleet, "tells") == "Complete", "the Job is complete", 60)

    pod = pod_of(fleet, "tells")
    assert (0, "done\n") == (ended(fleet, "tells")["exitCode"], ended(fleet, "tells")["message"])
    assert "worker-0/fast/$(UNKNOWN) hunter2 hunter2a line" == fleet.containers.log(pod["metadata"]["name"]).strip()


def test_a_job_that_fails_has_failed(fleet: Fleet) -> None:
    """Nothing succeeds by magic: exit code 3 is exit code 3."""
    fleet.api.create(JOBS, a_job("fails", "echo no >&2; exit 3")).ok()
    eventually(lambda: condition(fleet, "fails") == "Failed", "the Job has failed", 60)

    assert 3 == ended(fleet, "fails")["exitCode"]


def test_a_container_has_its_own_files(fleet: Fleet) -> None:
    """What it writes is seen by nobody else, whatever the place."""
    script = "echo x > /etc/written-by-a-container; cat /etc/written-by-a-container > /dev/termination-log"
    fleet.api.create(JOBS, a_job("writes", script)).ok()
    eventually(lambda: condition(fleet, "writes") == "Complete", "the Job is complete", 60)

    assert "x\n" == ended(fleet, "writes")["message"]
    assert not Path("/etc/written-by-a-container").exists()


def test_the_token_is_that_of_its_account(fleet: Fleet) -> None:
    """With it the API server knows who it is."""
    script = """python3 - <<'END'
import json, os, ssl, urllib.request
at = "/var/run/secrets/kubernetes.io/serviceaccount/"
url = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
headers = {"Authorization": "Bearer " + open(at + "token").read(), "Content-Type": "application/json"}
request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
answer = urllib.request.urlopen(request, context=ssl.create_default_context(cafile=at + "ca.crt"))
open("/dev/termination-log", "w").write(json.load(answer)["status"]["userInfo"]["username"])
END
"""
    fleet.api.create(JOBS, a_job("asks", script)).ok()
    eventually(lambda: condition(fleet, "asks") in ("Complete", "Failed"), "the Job is over", 60)

    assert "system:serviceaccount:default:default" == ended(fleet, "asks")["message"], json.dumps(ended(fleet, "asks"))


def test_a_deadline_ends_it(fleet: Fleet) -> None:
    """The Job's own deadline, by the real controller: the process is gone, too."""
    fleet.api.create(JOBS, a_job("slow", "sleep 617", activeDeadlineSeconds=2)).ok()
    eventually(lambda: condition(fleet, "slow") == "Failed", "the Job has failed", 60)

    eventually(lambda: not pod_of(fleet, "slow"), "its pod is gone", 30)


def test_a_deadline_of_the_pod_ends_it_and_leaves_it_there(fleet: Fleet) -> None:
    """As a kubelet ends it: politely first, and failed in any case, though it says that it succeeded."""
    job = a_job("polite", "trap 'echo asked; exit 0' TERM; echo begun; while true; do sleep 0.1; done")
    job["spec"]["template"]["spec"]["activeDeadlineSeconds"] = 2
    fleet.api.create(JOBS, job).ok()
    eventually(lambda: condition(fleet, "polite") == "Failed", "the Job has failed", 60)

    pod = pod_of(fleet, "polite")
    assert ("Failed", "DeadlineExceeded") == (pod["status"]["phase"], pod["status"]["reason"])
    assert (0, "begun\nasked\n") == (
        ended(fleet, "polite")["exitCode"],
        fleet.containers.log(pod["metadata"]["name"]),
    )


def test_a_node_that_loses_power_takes_its_pods_along(fleet: Fleet) -> None:
    """The process ends, and nobody tells the API."""
    fleet.api.create(JOBS, a_job("unlucky", "echo begun; sleep 618")).ok()
    eventually(lambda: pod_of(fleet, "unlucky").get("status", {}).get("phase") == "Running", "it runs", 30)
    name = pod_of(fleet, "unlucky")["metadata"]["name"]
    eventually(lambda: "begun" in fleet.containers.log(name), "its process runs")
    fleet.power("worker-0", on=False)

    assert {} == ended(fleet, "unlucky")
    assert [] == [path for path in Path("/proc").glob("[0-9]*/cmdline") if is_this(path, b"sleep\x00618\x00")]


def is_this(path: Path, command: bytes) -> bool:
    try:
        return path.read_bytes() == command
    except OSError:
        return False
