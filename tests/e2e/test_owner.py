"""Owner remediation with a real owner: Cluster API's core manager deletes and replaces what was found sick.

Its own health checker is kept out of our checks by its watch filter (they carry no label of it), except where a test is
about two controllers. The nodes are those of a workload cluster, reached through its kubeconfig secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.clusterapi import CHECKS, CLUSTER, FILTER, LABELS, MACHINES, NAMESPACE, ClusterApi, a_condition
from tests.e2e.controlplane import ADMIN, ControlPlane
from tests.e2e.managers import Manager
from tests.guide import page as pages
from tests.guide.terminal import Terminal

REPLICAS = 3
OURS = "/apis/node-remedy.dev/v1alpha1"
REQUESTS = f"{OURS}/namespaces/{NAMESPACE}/fenceremediations"
BUDGETS = f"{OURS}/remediationbudgets"


def a_check(name: str, labels: Json, timeout_s: int) -> Json:
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "MachineHealthCheck",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "clusterName": CLUSTER,
            "selector": {"matchLabels": LABELS},
            "checks": {
                "unhealthyNodeConditions": [{"type": "Ready", "status": "Unknown", "timeoutSeconds": timeout_s}]
            },
        },
    }


@pytest.fixture(scope="module")
def owner(control_plane: ControlPlane) -> Iterator[ClusterApi]:
    """The owner with its machines; node-remedy's rights beside it, those for this cluster's secret included."""
    with ClusterApi(control_plane) as owner:
        owner.let_node_remedy_in()
        owner.make_machines(REPLICAS)
        yield owner


def test_the_owner_replaces_a_machine_with_both_conditions(owner: ClusterApi) -> None:
    """What node-remedy relies on: HealthCheckSucceeded=False and OwnerRemediated=False make the owner act."""
    patient = min(owner.machines())
    path = f"{MACHINES}/{patient}/status"
    told = owner.api.get(path).ok()["status"]["conditions"]
    bad = [a_condition(name, "False", "SetByHand") for name in ("HealthCheckSucceeded", "OwnerRemediated")]
    owner.api.merge(path, {"status": {"conditions": [*told, *bad]}}).ok()

    eventually(lambda: owner.is_replaced(patient, REPLICAS), f"{patient} is replaced", 60)


@pytest.mark.timeout(300)
def test_a_request_made_by_hand_moves_the_owner_too(control_plane: ControlPlane, owner: ClusterApi) -> None:
    """No check says how the machine is: what the owner wants to hear besides our word is said along with it."""
    before = owner.machines()
    patient = min(before)
    assert "HealthCheckSucceeded" not in owner.told(patient)
    request = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "FenceRemediation", "metadata": {"name": patient}}
    with Manager(control_plane, "manager-3"):
        owner.crash(before[patient])
        spec = {"strategy": "escalate", "nodeReadyTimeout": "15s"}
        owner.api.create(REQUESTS, {**request, "spec": spec}).ok()
        eventually(lambda: owner.is_replaced(patient, REPLICAS), f"{patient} is replaced", 150)

    assert set(before) - {patient} <= set(owner.machines()), "nobody else was replaced"
    assert "delete machines" not in audit.done(control_plane.audit_log, patient), "deleting is the owner's business"


def test_a_sick_machine_is_replaced_because_of_our_condition(control_plane: ControlPlane, owner: ClusterApi) -> None:
    """Seed 003 whole: a node falls silent, node-remedy tells the owner, the owner deletes and replaces the machine."""
    before = owner.machines()
    patient = min(before)
    owner.api.create(CHECKS, a_check("ours", {}, timeout_s=1)).ok()
    with Manager(control_plane):
        counted = [REPLICAS, REPLICAS]
        eventually(lambda: counted == counts(owner, "ours"), "all are counted", 60)
        owner.crash(before[patient])
        eventually(lambda: owner.is_replaced(patient, REPLICAS), f"{patient} is replaced", 90)
        eventually(lambda: counted == counts(owner, "ours"), "all are healthy again", 60)
    others = set(before) - {patient}

    assert others <= set(owner.machines()), "nobody else was replaced"
    assert "patch machines" in audit.done(control_plane.audit_log, patient)
    assert "delete machines" not in audit.done(control_plane.audit_log, patient), "deleting is the owner's business"
    owner.api.delete(f"{CHECKS}/ours").ok()


def a_fence_template() -> Json:
    """If fencing does not help, the owner is asked; without a fence configuration that is so after a while."""
    spec = {"strategy": "escalate", "nodeReadyTimeout": "15s"}
    return {
        "apiVersion": "node-remedy.dev/v1alpha1",
        "kind": "FenceRemediationTemplate",
        "metadata": {"name": "fence"},
        "spec": {"template": {"spec": spec}},
    }


@pytest.mark.timeout(300)
def test_a_machine_that_cannot_be_fenced_is_replaced_when_the_budget_allows(
    control_plane: ControlPlane, owner: ClusterApi
) -> None:
    """Nobody wrote how its node is fenced: the owner's turn is a repair of its own, and waits while repairs pause."""
    before = owner.machines()
    patient = min(before)
    owner.api.create(f"{OURS}/namespaces/{NAMESPACE}/fenceremediationtemplates", a_fence_template()).ok()
    reference = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "FenceRemediationTemplate", "name": "fence"}
    check = a_check("fenced", {}, timeout_s=1)
    check["spec"]["remediation"] = {"templateRef": reference}
    owner.api.create(CHECKS, check).ok()
    budget = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget", "metadata": {"name": "cluster"}}
    owner.api.create(BUDGETS, {**budget, "spec": {}}).ok()

    with Manager(control_plane, "manager-2") as manager:
        eventually(lambda: [REPLICAS, REPLICAS] == counts(owner, "fenced"), "all are counted", 60)
        owner.crash(before[patient])
        eventually(lambda: owner.api.get(f"{REQUESTS}/{patient}").status == 200, "it shall be fenced", 60)
        pause(owner, "true")
        waiting = {"reason": "BudgetPaused", "key": f"FenceRemediation/{NAMESPACE}/{patient}"}
        eventually(lambda: manager.said("decided", **waiting), "it would ask the owner", 60)
        assert before.keys() == owner.machines().keys()
        assert "OwnerRemediated" not in owner.told(patient)

        pause(owner, None)
        eventually(lambda: owner.is_replaced(patient, REPLICAS), f"{patient} is replaced", 90)

    assert "delete machines" not in audit.done(control_plane.audit_log, patient), "deleting is the owner's business"
    owner.api.delete(f"{CHECKS}/fenced").ok()
    owner.api.delete(f"{BUDGETS}/cluster").ok()


def pause(owner: ClusterApi, how: str | None) -> None:
    owner.api.merge(f"{BUDGETS}/cluster", {"metadata": {"annotations": {"node-remedy.dev/paused": how}}}).ok()


def test_a_check_of_the_other_controller_is_left_to_it(
    control_plane: ControlPlane, owner: ClusterApi, tmp_path: Path
) -> None:
    """Cluster API's health checker writes the status of a check that it looks after: we publish nothing on it."""
    owner.api.create(CHECKS, a_check("theirs", {**LABELS, **FILTER}, timeout_s=3600)).ok()
    eventually(lambda: [REPLICAS, REPLICAS] == counts(owner, "theirs"), "the other controller counts", 60)
    terminal = Terminal(tmp_path, control_plane.binaries["kubectl"])
    (tmp_path / "config").symlink_to(control_plane.kubeconfig(ADMIN))
    shown = terminal.type(pages.read("migrate.md").program("Does the other one still govern?")).stdout.splitlines()
    assert ["NAMESPACE", "CHECK", "WRITER", "AT"] == shown[0].split()
    assert [NAMESPACE, "theirs", "cluster-api-manager"] == shown[1].split()[:3]
    with Manager(control_plane, "manager-1") as manager:
        eventually(lambda: manager.said("decided", reason="OtherControllerGoverns"), "we stand by", 60)

    assert [] == audit.done(control_plane.audit_log, "theirs")
    owner.api.delete(f"{CHECKS}/theirs").ok()


def counts(owner: ClusterApi, check: str) -> list[int | None]:
    status = owner.api.get(f"{CHECKS}/{check}").ok().get("status", {})
    return [status.get("expectedMachines"), status.get("currentHealthy")]
