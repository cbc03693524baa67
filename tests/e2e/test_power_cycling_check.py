"""Stories 3, 4 and 5 of seed 003 on a real control plane: a health check has its sick machines power-cycled.

The examples are applied as they are, but for shorter timeouts; the manager runs under its shipped identity. Nothing but
the health check's own request makes the host go off, and nothing but the node's recovery takes the request away.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

import pytest
import yaml
from tests.e2e.api import Json, eventually
from tests.e2e.conftest import ROOT
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet, Provider
from tests.e2e.managers import Manager
from tests.e2e.repairs import MARKS, notes

EXAMPLES = ROOT / "examples" / "metal3-remediation"
GROUP = "/apis/remediation.metal3.io/v1alpha1/namespaces/default"
CHECKS = "/apis/cluster.x-k8s.io/v1alpha3/namespaces/default/machinehealthchecks"
REQUESTS, TEMPLATES = f"{GROUP}/metal3remediations", f"{GROUP}/metal3remediationtemplates"
LEDGER = "/api/v1/namespaces/node-remedy-system/configmaps/budget-ledger"
SOON = [{"type": "Ready", "status": status, "timeout": "2s"} for status in ("Unknown", "False")]
# example -> its machines, the first of which falls ill
POOLS = {
    "power-cycle": ("hung", "rack-2", "rack-3"),
    "escalate": ("broken", "old-2", "old-3"),
    "keep-trying": ("stubborn", "lab-2", "lab-3"),
}


def apply(fleet: Fleet, example: str) -> None:
    """The example as it is, with its label on the machines, and then with shorter timeouts."""
    template, check = yaml.safe_load_all((EXAMPLES / f"{example}.yaml").read_text())
    fleet.api.create(TEMPLATES, template).ok()
    fleet.api.create(CHECKS, check).ok()
    hurried = {"spec": {"template": {"spec": {"powerOnTimeoutSeconds": 4}}}}
    if example != "power-cycle":
        fleet.api.merge(f"{TEMPLATES}/{template['metadata']['name']}", hurried).ok()
    for name in POOLS[example]:
        labels = check["spec"]["selector"]["matchLabels"]
        fleet.api.merge(fleet.machine_path(name), {"metadata": {"labels": labels}}).ok()
    fleet.api.merge(f"{CHECKS}/{check['metadata']['name']}", {"spec": {"unhealthyConditions": SOON}}).ok()


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as fleet:
        names = (*(name for pool in POOLS.values() for name in pool), "spare-1", "spare-2")
        fleet.add(*names, provider=Provider.METAL3)
        for example in POOLS:
            apply(fleet, example)
        fleet.never_boots("broken")
        with Manager(installed_plane) as manager:
            eventually(manager.leads, "the manager leads")
            yield fleet


def request(fleet: Fleet, name: str) -> Json:
    """The Metal3Remediation of this machine, or {} when there is none."""
    return fleet.api.find(f"{REQUESTS}/{name}")


def phase(fleet: Fleet, name: str) -> str:
    return str(request(fleet, name).get("status", {}).get("phase", ""))


def tried(fleet: Fleet, name: str, times: int) -> bool:
    return int(request(fleet, name).get("status", {}).get("retryCount", 0)) + 1 == times


def reservations(fleet: Fleet, machine: str) -> int:
    """How often the budget's ledger names this Machine."""
    (text,) = fleet.api.get(LEDGER).ok()["data"].values()
    return [one["target"]["name"] for one in json.loads(text)["reservations"]].count(machine)


def left_over(fleet: Fleet, name: str) -> list[str]:
    """What is still ours on host and node."""
    found = [key for key in fleet.host(name)["metadata"].get("annotations", {}) if "remediation" in key]
    return [*found, *(taint["key"] for taint in fleet.node(name).get("spec", {}).get("taints", []))]


@pytest.mark.timeout(240)
def test_story_3_an_unhealthy_node_is_power_cycled(fleet: Fleet) -> None:
    """Found sick, requested from the template, off and on once, ready: the request and its finalizer are gone."""
    boots = fleet.world.computers["hung"].boots
    fleet.crash("hung")
    made = eventually(lambda: request(fleet, "hung"), "the request is made", 120)
    eventually(lambda: phase(fleet, "hung"), "it is carried out", 60)
    owner = made["metadata"]["ownerReferences"][0]
    assert fleet.machine("hung")["metadata"]["uid"] == owner["uid"]
    assert ("reboot", 600) == (made["spec"]["strategy"], made["spec"]["powerOnTimeoutSeconds"])
    reserved = reservations(fleet, "hung")
    eventually(lambda: not request(fleet, "hung"), "the request is gone", 120)

    eventually(lambda: not left_over(fleet, "hung"), "nothing of ours is left")
    assert fleet.is_ready("hung")
    assert boots + 1 == fleet.world.computers["hung"].boots
    assert [] == fleet.world.overlaps
    assert 1 == reserved, "check and power cycle share one"


@pytest.mark.timeout(240)
def test_story_4_what_is_not_transient_is_told_to_the_owner(fleet: Fleet) -> None:
    """A node that never boots: two power cycles, then OwnerRemediated=False on its Machine, and its host is marked."""
    fleet.crash("broken")
    eventually(lambda: phase(fleet, "broken") == "deleting-machine", "the owner is asked", 150)

    eventually(lambda: owner_remediated(fleet.machine("broken")) == "False", "the owner can see it")
    eventually(lambda: fleet.host("broken")["metadata"]["annotations"].keys() >= MARKS, "it is marked")
    assert 2 == len(fleet.world.when("powered off", "broken"))
    assert request(fleet, "broken"), "the request stands for as long as the node is not back"


def owner_remediated(machine: Json) -> str:
    found = machine["status"].get("conditions", [])
    return next((str(one["status"]) for one in found if one["type"] == "OwnerRemediated"), "")


@pytest.mark.timeout(420)
def test_story_5_it_is_tried_again_until_the_cause_is_mended(fleet: Fleet) -> None:
    """Power that does not come on is tried again; when the cause is mended the node is back, and the request goes."""
    fleet.switches.power_on_fails.add("stubborn")
    fleet.crash("stubborn")
    eventually(lambda: phase(fleet, "stubborn") == "waiting", "it was tried", 120)
    eventually(lambda: "NextAttemptAt" in notes(fleet.api, "stubborn", "Metal3Remediation"), "a pause is told", 60)
    eventually(partial(tried, fleet, "stubborn", 2), "it is tried again, a minute later", 120)
    fleet.switches.power_on_fails.clear()
    eventually(lambda: not request(fleet, "stubborn"), "the request is gone", 150)

    assert fleet.is_ready("stubborn")
    eventually(lambda: not left_over(fleet, "stubborn"), "nothing of ours is left")
