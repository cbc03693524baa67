"""Metal3Remediations on a real control plane, with the manager under its shipped identity (seed 003, stories 3 to 5).

Four nodes hang at the same time, and somebody makes a Metal3Remediation for each of their machines. What Kubernetes
does with an out-of-service taint is done by its own controllers; what really happened to the computers is judged by
`World`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet, Provider
from tests.e2e.managers import Manager
from tests.e2e.repairs import LONG_AGO, MARKS, a_stateful_set, notes, running_on

REMEDIATIONS = "/apis/remediation.metal3.io/v1alpha1/namespaces/default/metal3remediations"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
WEB = {"tier": "web"}
FREEING = ("delete nodes", "delete pods", "delete volumeattachments")


@dataclass
class Afternoon:
    """The cluster in which three nodes hang."""

    plane: ControlPlane
    fleet: Fleet
    manager: Manager

    def remediation(self, name: str) -> Json:
        """The request of this machine, or {} when it is gone."""
        return self.fleet.api.find(f"{REMEDIATIONS}/{name}")

    def phase(self, name: str) -> str:
        return str(self.remediation(name).get("status", {}).get("phase", ""))

    def attempts(self, name: str) -> int:
        return int(self.remediation(name).get("status", {}).get("retryCount", 0)) + 1

    def tried(self, name: str, times: int) -> bool:
        return self.attempts(name) == times

    def succeeded(self, name: str) -> str:
        """The condition's status and reason."""
        found = self.remediation(name).get("status", {}).get("conditions", [])
        return next((f"{one['status']} {one['reason']}" for one in found if one["type"] == "Succeeded"), "")

    def is_over(self, name: str) -> bool:
        """Ready again, on, and without anything of ours on host and node."""
        fleet = self.fleet
        taints = [taint["key"] for taint in fleet.node(name).get("spec", {}).get("taints", [])]
        return (
            fleet.is_ready(name)
            and bool(fleet.powered_on(name))
            and not held(fleet, name)
            and OUT_OF_SERVICE not in taints
        )

    def age_the_phase(self, name: str) -> None:
        """Rewrites the present phase as if it had begun years ago."""
        body = {"status": {"phaseStartedAt": LONG_AGO}}
        self.fleet.api.merge(f"{REMEDIATIONS}/{name}/status", body).ok()


def held(fleet: Fleet, name: str) -> list[str]:
    found = fleet.host(name)["metadata"].get("annotations", {})
    return [key for key in found if key.startswith(("reboot.metal3.io/", "remediation.metal3.io/"))]


def a_remediation(name: str, **spec: object) -> Json:
    return {
        "apiVersion": "remediation.metal3.io/v1alpha1",
        "kind": "Metal3Remediation",
        "metadata": {"name": name},
        "spec": spec,
    }


@pytest.fixture(scope="module")
def afternoon(installed_plane: ControlPlane) -> Iterator[Afternoon]:
    with Fleet(installed_plane) as fleet:
        fleet.add("hung", labels=WEB, provider=Provider.METAL3)
        fleet.api.create("/apis/apps/v1/namespaces/default/statefulsets", a_stateful_set(1, WEB)).ok()
        eventually(lambda: running_on(fleet, ("web-0",)) == ["hung"], "the pod runs")
        fleet.add("spare", labels=WEB, provider=Provider.METAL3)
        others = ("broken", "stubborn", "called-off", *(f"well-{number}" for number in range(6)))
        fleet.add(*others, provider=Provider.METAL3)
        fleet.never_boots("broken")
        for name in ("hung", "broken", "stubborn", "called-off"):
            fleet.crash(name)
        eventually(lambda: fleet.ready_status("hung") == "Unknown", "the silence is noticed", 60)
        with Manager(installed_plane) as manager:
            eventually(manager.leads, "the manager leads")
            yield Afternoon(installed_plane, fleet, manager)


def make(afternoon: Afternoon, name: str, **spec: object) -> None:
    afternoon.fleet.api.create(REMEDIATIONS, a_remediation(name, **spec)).ok()


@pytest.mark.timeout(240)
def test_story_3_a_hung_node_is_power_cycled_and_its_workload_moves(afternoon: Afternoon) -> None:
    """Held, off, out of service: the real StatefulSet's pod moves only then; on again, ready, nothing left behind."""
    fleet = afternoon.fleet
    boots = fleet.world.computers["hung"].boots
    make(afternoon, "hung", strategy="reboot")
    eventually(lambda: running_on(fleet, ("web-0",)) == ["spare"], "the pod has moved", 120)
    eventually(lambda: afternoon.succeeded("hung") == "True NodeReady", "the request has succeeded", 90)

    off = fleet.world.when("powered off", "hung")[0]
    moved = fleet.world.when("container started", about="default/web-0")[-1]
    status = afternoon.remediation("hung")["status"]
    assert off < moved
    assert [] == fleet.world.overlaps
    assert boots + 1 == fleet.world.computers["hung"].boots
    assert ("taint", 0) == (status["evidence"]["freedBy"], status["retryCount"])
    assert afternoon.is_over("hung")
    assert [] == [one.did for one in audit.writes(afternoon.plane.audit_log) if one.did in FREEING]


def test_a_request_that_is_deleted_before_its_end_leaves_the_host_on(afternoon: Afternoon) -> None:
    """Deleted while the host is held: it is released, comes on, nothing is freed, and the finalizer goes."""
    fleet = afternoon.fleet
    fleet.switches.bmc_dead.add("called-off")
    make(afternoon, "called-off", freeBy="pods")
    eventually(lambda: held(fleet, "called-off"), "the host is held")
    assert ["remediation.metal3.io"] == afternoon.remediation("called-off")["metadata"]["finalizers"]
    fleet.api.delete(f"{REMEDIATIONS}/called-off").ok()
    eventually(lambda: not afternoon.remediation("called-off"), "the request is gone")

    assert [] == held(fleet, "called-off")
    fleet.switches.bmc_dead.clear()


@pytest.mark.timeout(240)
def test_story_4_what_does_not_help_is_told_to_the_owner(afternoon: Afternoon) -> None:
    """A node that never boots: after its retries OwnerRemediated=False is on the Machine, and the host is marked."""
    fleet = afternoon.fleet
    make(afternoon, "broken", strategy="escalate", deleteAfterRetries=1, powerOnTimeoutSeconds=3)
    eventually(lambda: afternoon.phase("broken") == "deleting-machine", "the owner is asked", 120)

    eventually(lambda: owner_remediated(fleet.machine("broken")) == "False", "the owner can see it")
    eventually(lambda: fleet.host("broken")["metadata"]["annotations"].keys() >= MARKS, "it is marked")
    assert 2 == afternoon.attempts("broken")
    assert 2 == len(fleet.world.when("powered off", "broken"))
    assert "False Escalated" == afternoon.succeeded("broken")
    eventually(lambda: "Escalating" in notes(fleet.api, "broken", "Metal3Remediation"), "people are told")


def owner_remediated(machine: Json) -> str:
    return next(
        (one["status"] for one in machine["status"].get("conditions", []) if one["type"] == "OwnerRemediated"), ""
    )


@pytest.mark.timeout(420)
def test_story_5_it_keeps_trying_until_the_cause_is_mended(afternoon: Afternoon) -> None:
    """Power that does not come on is tried again, a minute later whatever the status says; when the BMC obeys, the
    node is back by itself. How the pauses grow is seen in virtual time.
    """
    fleet = afternoon.fleet
    fleet.switches.power_on_fails.add("stubborn")
    make(afternoon, "stubborn", strategy="reboot", powerOnTimeoutSeconds=2)
    eventually(lambda: afternoon.phase("stubborn") == "waiting", "it was tried", 60)
    eventually(lambda: "NextAttemptAt" in notes(fleet.api, "stubborn", "Metal3Remediation"), "a pause is told", 60)
    begun = time.monotonic()
    afternoon.age_the_phase("stubborn")
    eventually(partial(afternoon.tried, "stubborn", 2), "it is tried again", 120)
    assert time.monotonic() - begun > 30
    fleet.switches.power_on_fails.clear()
    eventually(lambda: afternoon.succeeded("stubborn") == "True NodeReady", "the node is back", 120)

    assert afternoon.is_over("stubborn")


def test_the_schema_refuses_what_nobody_can_mean(afternoon: Afternoon) -> None:
    """A strategy, a way of freeing and a number that do not exist are refused at admission, and named."""
    for field, value in (("strategy", "hope"), ("freeBy", "magic"), ("deleteAfterRetries", -1)):
        reply = afternoon.fleet.api.create(REMEDIATIONS, a_remediation("well-0", **{field: value}))

        assert 422 == reply.status
        assert f"spec.{field}" in str(reply.body)
