"""What Cluster API's words say on a Machine when no request can be made: template missing, request refused.

On a real API server, with a MachineHealthCheck kind that serves v1beta1: whose CRD is installed decides the dialect.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import install as install_node_remedy
from tests.e2e.doctors import DEFINITIONS, GROUP, admit, definition, deny, install, request
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager

CHECKS = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinehealthchecks"
LABELS = {"role": "ward"}
CHECK = {
    "apiVersion": "cluster.x-k8s.io/v1beta1",
    "kind": "MachineHealthCheck",
    "metadata": {"name": "ward"},
    "spec": {
        "clusterName": "e2e",
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "1s"}],
        "remediationTemplate": {"apiVersion": f"{GROUP}/v1alpha1", "kind": "DoctorTemplate", "name": "house-call"},
    },
}


def cluster_apis_kind() -> Json:
    """The kind as Cluster API serves it, without its schema."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "MachineHealthCheck", "plural": "machinehealthchecks", "listKind": "MachineHealthCheckList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "machinehealthchecks.cluster.x-k8s.io"},
        "spec": {
            "group": "cluster.x-k8s.io",
            "names": names,
            "scope": "Namespaced",
            "versions": [{**version, "subresources": {"status": {}}}],
        },
    }


@pytest.fixture(scope="module")
def fleet(control_plane: ControlPlane) -> Iterator[Fleet]:
    """Six machines, two of them in the ward."""
    control_plane.api().create(DEFINITIONS, cluster_apis_kind()).ok()
    install_node_remedy(control_plane)
    with Fleet(control_plane) as fleet:
        fleet.add("one", "two", "three", "four", "five", "six")
        for name in ("one", "two"):
            fleet.api.merge(fleet.machine_path(name), {"metadata": {"labels": LABELS}}).ok()
        eventually(lambda: fleet.api.get(CHECKS).status == 200, "the kind is served")
        fleet.api.create(CHECKS, CHECK).ok()
        yield fleet


def remediated(fleet: Fleet, name: str) -> tuple[str, str, str]:
    """Status, reason and message of ExternallyRemediated, in whichever generation of conditions it is told."""
    status = fleet.machine(name).get("status", {})
    generations = [status, *(status.get(key, {}) for key in ("v1beta2", "deprecated"))]
    told = [one for part in generations for one in part.get("conditions", [])]
    found = [one for one in told if one["type"] == "ExternallyRemediated"]
    return (found[0]["status"], found[0].get("reason", ""), found[0].get("message", "")) if found else ("", "", "")


@pytest.mark.timeout(400)
def test_a_machine_says_why_it_has_no_request(control_plane: ControlPlane, fleet: Fleet) -> None:
    """The kind is missing, then the API denies the request: each told on the Machine; the other one has its own."""
    api = fleet.api
    with Manager(control_plane, how="hurried") as manager:
        manager.wait_until_ready()
        fleet.crash("one")
        eventually(lambda: remediated(fleet, "one")[1] == "RemediationTemplateNotFound", "the template is missing", 120)
        status, _, message = remediated(fleet, "one")
        assert "False" == status
        assert "DoctorTemplate.example.com" in message

        for kind in ("Doctor", "DoctorTemplate"):
            api.create(DEFINITIONS, definition(kind)).ok()
        deny(api, "one")
        install(api)
        eventually(lambda: "no doctor for this one" in remediated(fleet, "one")[2], "the request is denied", 120)
        assert ("False", "RemediationRequestCreationFailed") == remediated(fleet, "one")[:2]
        fleet.crash("two")
        eventually(lambda: request(api, "two"), "the other one has its request", 120)
        assert request(api, "one") is None

        admit(api)
        eventually(lambda: request(api, "one"), "the request is made", 120)
        eventually(lambda: remediated(fleet, "one")[1] != "RemediationRequestCreationFailed", "that is over", 60)
