"""Health checks of OpenShift on a real control plane: deletion, a request from a template, and the old annotation.

The examples are applied as they are, but for namespace and shorter timeouts; the manager runs under its shipped
identity, behind the shipped admission policy. Machines of `workers` and `legacy` have a MachineSet; `orphan` has none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.conftest import ROOT
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import EXTERNAL, Fleet, Provider
from tests.e2e.machineapi import CHECKS, MachineSet
from tests.e2e.managers import Manager
from tests.e2e.repairs import MARKS, assert_freed_only_when_off, ours, wait_for_note, wait_until_over

EXAMPLES = ROOT / "examples" / "openshift-health-check"
GROUP = "/apis/remediation.metal3.io/v1alpha1/namespaces/default"
REQUESTS, TEMPLATES = f"{GROUP}/metal3remediations", f"{GROUP}/metal3remediationtemplates"
BUDGET = "/apis/node-remedy.dev/v1alpha1/remediationbudgets"
LEDGER = "/api/v1/namespaces/node-remedy-system/configmaps/budget-ledger"
SOON = [{"type": "Ready", "status": status, "timeout": "2s"} for status in ("Unknown", "False")]
WORKERS = ("worker-1", "worker-2", "worker-3", "worker-4", "worker-5")
# example -> its machines, the first of which falls ill
METAL = {
    "power-cycle": ("metal-1", "metal-2", "metal-3"),
    "escalate": ("old-1", "old-2", "old-3"),
    "keep-trying": ("lab-1", "lab-2", "lab-3"),
}
LEGACY = ("legacy-1", "legacy-2", "legacy-3")


def apply(fleet: Fleet, example: str) -> Json:
    """The example with shorter timeouts, where the fleet is; the labels that its check selects."""
    *templates, check = yaml.safe_load_all((EXAMPLES / f"{example}.yaml").read_text())
    for tree, path in (*((template, TEMPLATES) for template in templates), (check, CHECKS)):
        tree["metadata"]["namespace"] = "default"
        fleet.api.create(path, tree).ok()
    if example in ("escalate", "keep-trying"):
        hurried = {"spec": {"template": {"spec": {"powerOnTimeoutSeconds": 4}}}}
        fleet.api.merge(f"{TEMPLATES}/{templates[0]['metadata']['name']}", hurried).ok()
    fleet.api.merge(f"{CHECKS}/{check['metadata']['name']}", {"spec": {"unhealthyConditions": SOON}}).ok()
    labels: Json = check["spec"]["selector"]["matchLabels"]
    return labels


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as fleet:
        yield fleet


@pytest.fixture(scope="module")
def machine_set(fleet: Fleet) -> MachineSet:
    """All machines and checks are there; one repair may run at once."""
    made = MachineSet(fleet, "workers")
    spec = {"maxInFlight": 1}
    budget = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget", "metadata": {"name": "cluster"}}
    fleet.api.create(BUDGET, {**budget, "spec": spec}).ok()
    made.add(*WORKERS, labels=apply(fleet, "delete"))
    for example, machines in METAL.items():
        made.add(*machines, labels=apply(fleet, example))
    legacy = apply(fleet, "annotation")
    made.add(*LEGACY, labels=legacy)
    fleet.add("orphan", provider=Provider.OPENSHIFT)
    fleet.api.merge(fleet.machine_path("orphan"), {"metadata": {"labels": legacy}}).ok()
    return made


@pytest.fixture(scope="module", autouse=True)
def manager(installed_plane: ControlPlane, machine_set: MachineSet) -> Iterator[Manager]:
    with Manager(installed_plane) as made:
        eventually(made.leads, "the manager leads")
        yield made


def is_deleting(fleet: Fleet, name: str) -> bool:
    return "deletionTimestamp" in fleet.machine(name)["metadata"]


def status(fleet: Fleet, check: str) -> Json:
    found: Json = fleet.api.get(f"{CHECKS}/{check}").ok().get("status", {})
    return found


def counts(fleet: Fleet, check: str) -> tuple[int | None, int | None]:
    found = status(fleet, check)
    return found.get("expectedMachines"), found.get("currentHealthy")


def told(fleet: Fleet, check: str, condition: str) -> Json:
    """A condition on a check, or {}."""
    found = status(fleet, check).get("conditions", [])
    return next((one for one in found if one["type"] == condition), {})


def limit(fleet: Fleet, in_flight: int) -> None:
    fleet.api.merge(f"{BUDGET}/cluster", {"spec": {"maxInFlight": in_flight}}).ok()


@pytest.mark.timeout(300)
def test_a_sick_machine_is_deleted_and_the_next_one_when_the_budget_allows(
    installed_plane: ControlPlane, fleet: Fleet, machine_set: MachineSet
) -> None:
    """Of two sick workers one is deleted; the other one waits until it is gone; nothing is written on Machines."""
    eventually(lambda: counts(fleet, "workers") == (5, 5), "all are counted", 60)
    for name in WORKERS[:2]:
        fleet.crash(name)
    first, second = eventually(lambda: in_order(fleet), "one is deleted", 150)
    wait_for_note(fleet.api, second, "TooManyInFlight", seconds=60)
    assert not is_deleting(fleet, second), "it waits"

    machine_set.let_go(first)
    limit(fleet, 8)
    eventually(lambda: is_deleting(fleet, second), "its turn has come", 120)
    machine_set.let_go(second)
    machine_set.add("fresh-1", "fresh-2", labels=fleet.machine(WORKERS[2])["metadata"]["labels"])
    eventually(lambda: counts(fleet, "workers") == (5, 5), "successors are counted", 60)

    for name in (first, second):
        assert ["delete machines"] == written(installed_plane, name)
    assert [] == [name for name in WORKERS[2:] if is_deleting(fleet, name) or written(installed_plane, name)]
    assert {"RemediationAllowed", "Acting"} == {one["type"] for one in status(fleet, "workers")["conditions"]}


def in_order(fleet: Fleet) -> tuple[str, str] | None:
    """The one that is being deleted, and the other one."""
    one, other = WORKERS[:2]
    if is_deleting(fleet, one) == is_deleting(fleet, other):
        return None
    return (one, other) if is_deleting(fleet, one) else (other, one)


def written(plane: ControlPlane, machine: str) -> list[str]:
    """What the manager did to this Machine."""
    return [did for did in audit.done(plane.audit_log, machine) if did.endswith(" machines")]


@pytest.mark.timeout(240)
def test_story_1_a_machine_of_a_check_with_a_template_is_not_deleted(
    installed_plane: ControlPlane, fleet: Fleet
) -> None:
    """As drawn: a request is made, the node is power-cycled, the request goes; the Machine has a MachineSet."""
    boots = fleet.world.computers["metal-1"].boots
    fleet.crash("metal-1")
    made = eventually(lambda: request(fleet, "metal-1"), "the request is made", 120)
    assert fleet.machine("metal-1")["metadata"]["uid"] == made["metadata"]["ownerReferences"][0]["uid"]
    eventually(lambda: not request(fleet, "metal-1"), "the request is gone", 150)

    assert (True, boots + 1) == (fleet.is_ready("metal-1"), fleet.world.computers["metal-1"].boots)
    assert [] == written(installed_plane, "metal-1")


def request(fleet: Fleet, name: str) -> Json:
    return fleet.api.find(f"{REQUESTS}/{name}")


@pytest.mark.timeout(300)
def test_story_2_what_power_cycling_does_not_cure_is_replaced(
    installed_plane: ControlPlane, fleet: Fleet, machine_set: MachineSet
) -> None:
    """Nobody reads conditions here: after its last try the host is marked, and the Machine deleted; both go with it."""
    fleet.never_boots("old-1")
    fleet.crash("old-1")
    eventually(lambda: is_deleting(fleet, "old-1"), "its Machine is deleted", 180)

    assert fleet.host("old-1")["metadata"]["annotations"].keys() >= MARKS
    assert 2 == len(fleet.world.when("powered off", "old-1"))
    assert ["delete machines"] == written(installed_plane, "old-1")
    machine_set.let_go("old-1")
    eventually(lambda: not request(fleet, "old-1"), "the request goes with its Machine", 60)


@pytest.mark.timeout(420)
def test_story_3_power_cycling_goes_on_until_the_cause_is_mended(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Power that does not come on is tried again; when the cause is mended the node is back, under its old Machine."""
    fleet.switches.power_on_fails.add("lab-1")
    fleet.crash("lab-1")
    eventually(lambda: retries(fleet, "lab-1") == 1, "it is tried again, a minute later", 240)
    fleet.switches.power_on_fails.clear()
    eventually(lambda: not request(fleet, "lab-1"), "the request is gone", 150)

    assert fleet.is_ready("lab-1")
    assert [] == written(installed_plane, "lab-1")
    assert [] == fleet.world.overlaps


def retries(fleet: Fleet, name: str) -> int:
    """How often its power cycle was tried again."""
    return int(request(fleet, name).get("status", {}).get("retryCount", 0))


@pytest.mark.timeout(240)
def test_annotation_mode_marks_and_the_host_is_power_cycled(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Deprecated and working: the check says so, marks the sick Machine, and seed 001's repair takes its course."""
    deprecated = eventually(lambda: told(fleet, "legacy", "Deprecated"), "the check says that it is old", 60)
    boots = fleet.world.computers["legacy-1"].boots
    fleet.crash("legacy-1")
    eventually(lambda: EXTERNAL in ours(fleet.machine("legacy-1")), "it is marked", 150)
    eventually(lambda: not fleet.powered_on("legacy-1"), "its host is off", 60)
    wait_until_over(fleet, "legacy-1", seconds=120)

    assert ("True", True) == (deprecated["status"], "template" in deprecated["message"])
    assert boots + 1 == fleet.world.computers["legacy-1"].boots
    assert 1 == assert_freed_only_when_off(installed_plane, fleet), "its Node, and no other"
    assert "delete machines" not in written(installed_plane, "legacy-1")
    eventually(lambda: counts(fleet, "legacy") == (4, 4), "all are well again", 60)


def fails(fleet: Fleet, name: str, phase: str = "Failed") -> None:
    """Its provider gives this Machine up, or thinks better of it."""
    fleet.api.merge(f"{fleet.machine_path(name)}/status", {"status": {"phase": phase}}).ok()


@pytest.mark.timeout(240)
def test_a_machine_without_an_owner_is_kept(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Nobody would make a successor of a Machine that has no controller: it is told, and nothing is deleted."""
    fails(fleet, "orphan")
    wait_for_note(fleet.api, "orphan", "NoControllerOwner", seconds=120)
    fails(fleet, "orphan", "Running")
    eventually(lambda: counts(fleet, "legacy") == (4, 4), "all are well again", 60)

    (ledger,) = fleet.api.get(LEDGER).ok()["data"].values()
    assert "orphan" not in ledger, "what can never begin reserves nothing"
    assert [] == written(installed_plane, "orphan")
    assert (False, {}) == (is_deleting(fleet, "orphan"), ours(fleet.machine("orphan")))


@pytest.mark.timeout(240)
def test_a_failed_machine_is_past_power_cycling(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Phase Failed: its Machine is deleted, though its check is one that marks, and its node is Ready."""
    fails(fleet, "legacy-2")
    eventually(lambda: is_deleting(fleet, "legacy-2"), "it is deleted", 120)

    assert ["delete machines"] == written(installed_plane, "legacy-2")
    assert fleet.is_ready("legacy-2")
