"""Power cycling and a real owner: what does not help is told to Cluster API, which deletes and replaces the machine.

Story 4 of seed 003 as a whole. The machines are those of a MachineSet, with hosts as Metal3's provider would keep them;
a pod runs on the one that falls ill, and says where it is really free to run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import yaml
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.clusterapi import CHECKS, CLUSTER, LABELS, ClusterApi
from tests.e2e.conftest import ROOT
from tests.e2e.controlplane import ControlPlane
from tests.e2e.managers import Manager
from tests.e2e.metal3machines import Metal3Machines
from tests.e2e.repairs import MARKS, a_stateful_set, notes

REPLICAS = 3
EXAMPLE = ROOT / "examples" / "cluster-api-health-check" / "escalate.yaml"
GROUP = "/apis/remediation.metal3.io/v1alpha1/namespaces/default"
REQUESTS, TEMPLATES = f"{GROUP}/metal3remediations", f"{GROUP}/metal3remediationtemplates"
POD = "default/web-0"
HURRIED = {"powerOffTimeoutSeconds": 4, "powerOnTimeoutSeconds": 4}
FREED = {"proof", "freedBy", "freedAt"}


@dataclass
class Rack:
    """Machines of a real owner on hosts, and a manager."""

    plane: ControlPlane
    owner: ClusterApi
    metal: Metal3Machines

    def sick_one(self) -> tuple[str, str]:
        """The machine whose node has the pod."""
        [node] = eventually(self.places, "the pod runs", 120)
        [machine] = [name for name, its in self.owner.machines().items() if its == node]
        return machine, node

    def places(self) -> list[str]:
        """The computers on which the pod really runs."""
        return self.owner.provider.world.where(POD)

    def request(self, machine: str) -> Json:
        """The Metal3Remediation of this machine, or {} when there is none."""
        return self.owner.api.find(f"{REQUESTS}/{machine}")

    def offs_before_asking(self, machine: str, node: str) -> int:
        """How often its computer went off before its owner was asked, which is the last that we wrote to it."""
        said = [one.at for one in audit.writes(self.plane.audit_log, machine) if is_done(one, "patch machines")]
        journal = [one for one in self.owner.provider.world.journal if one.computer == node]
        return len([one for one in journal if one.what == "powered off" and one.wall < max(said)])

    def asked(self, machine: str) -> list[str]:
        """All that we have tried to write to this machine."""
        return [one.did for one in audit.writes(self.plane.audit_log, machine) if one.did.endswith(" machines")]


def is_done(one: audit.Asked, did: str) -> bool:
    return one.did == did and one.status < 300


@pytest.fixture(scope="module")
def rack(control_plane: ControlPlane) -> Iterator[Rack]:
    with ClusterApi(control_plane) as owner:
        owner.let_node_remedy_in()
        owner.make_machines(REPLICAS)
        owner.api.create("/apis/apps/v1/namespaces/default/statefulsets", a_stateful_set(1, {})).ok()
        metal = Metal3Machines(owner)
        metal.add_hosts()
        yield Rack(control_plane, owner, metal)


def look_after(rack: Rack) -> None:
    """The example for clusters with Cluster API, for these machines; its patience is seconds."""
    template, check = yaml.safe_load_all(EXAMPLE.read_text())
    template["spec"]["template"]["spec"].update(HURRIED)
    check["spec"]["clusterName"] = CLUSTER
    check["spec"]["selector"]["matchLabels"] = LABELS
    for condition in check["spec"]["checks"]["unhealthyNodeConditions"]:
        condition["timeoutSeconds"] = 1
    rack.owner.api.create(TEMPLATES, template).ok()
    rack.owner.api.create(CHECKS, check).ok()


def assert_replaced_by_its_owner(rack: Rack, machine: str, before: dict[str, str]) -> None:
    """Its owner deleted it and nobody else, one took its place, and its host is marked, nobody's, and not held."""
    after = rack.owner.machines()
    assert (set(before) - {machine}, REPLICAS) == (set(before) & set(after), len(after))
    assert "patch machines" in audit.done(rack.plane.audit_log, machine)
    assert "delete machines" not in audit.done(rack.plane.audit_log, machine), "deleting is the owner's business"
    eventually(lambda: "consumerRef" not in rack.metal.host(machine)["spec"], "its host is nobody's", 60)
    assert rack.metal.notes_on_host(machine) == MARKS


@pytest.mark.timeout(420)
def test_a_host_that_never_goes_off_frees_nothing_before_its_owner_takes_it_away(rack: Rack) -> None:
    """A dead BMC and a request made by hand: no proof, so the pod stays; what moves the owner is said all the same."""
    owner, world = rack.owner, rack.owner.provider.world
    machine, node = rack.sick_one()
    before = owner.machines()
    assert "HealthCheckSucceeded" not in owner.told(machine)
    rack.metal.operator.switches.bmc_dead.add(machine)
    owner.crash(node)
    eventually(lambda: owner.told(machine)["NodeReady"] == "Unknown", "the silence is noticed", 60)
    with Manager(rack.plane) as manager:
        eventually(manager.leads, "the manager leads", 60)
        kind = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3Remediation"}
        spec = {"strategy": "escalate", "deleteAfterRetries": 1, **HURRIED}
        owner.api.create(REQUESTS, {**kind, "metadata": {"name": machine}, "spec": spec}).ok()
        eventually(lambda: owner.is_replaced(machine, REPLICAS), f"{machine} is replaced", 150)
        eventually(lambda: rack.places() not in ([], [node]), "the pod runs again", 120)
        status = rack.request(machine)["status"]
        owner.api.delete(f"{REQUESTS}/{machine}").ok()
        eventually(lambda: not rack.request(machine), "the request goes when it is deleted", 60)

    off = world.when("powered off", node)
    assert (0, [off[0]]) == (rack.offs_before_asking(machine, node), off), "by nobody but the owner's provider"
    assert off[0] < world.when("container started", about=POD)[-1]
    assert [] == world.overlaps
    assert (1, "False Escalated") == (status["retryCount"], succeeded(status))
    assert not FREED & set(status["evidence"])
    assert ["patch machines"] == rack.asked(machine), "once, whatever the owner answers"
    assert_replaced_by_its_owner(rack, machine, before)


def succeeded(status: Json) -> str:
    [found] = [one for one in status["conditions"] if one["type"] == "Succeeded"]
    return f"{found['status']} {found['reason']}"


@pytest.mark.timeout(420)
def test_a_machine_that_power_cycling_does_not_cure_is_replaced_by_its_owner(rack: Rack) -> None:
    """A node that never boots again: off twice, its workload freed on proof, then the owner deletes its Machine.

    The check's request goes with it, and the host keeps the mark that keeps the next machine from it.
    """
    owner, world = rack.owner, rack.owner.provider.world
    rack.metal.add_hosts()
    machine, node = rack.sick_one()
    before = owner.machines()
    look_after(rack)
    with Manager(rack.plane, "manager-1") as manager:
        eventually(manager.leads, "the manager leads", 60)
        owner.background.call(owner.provider.kubelets.never_boots, node)
        owner.crash(node)
        eventually(lambda: owner.is_replaced(machine, REPLICAS), f"{machine} is replaced", 150)
        eventually(lambda: not rack.request(machine), "the request goes with its Machine", 60)
        eventually(lambda: rack.places() not in ([], [node]), "the pod runs again", 120)

    assert 2 == rack.offs_before_asking(machine, node)
    assert world.when("powered off", node)[0] < world.when("container started", about=POD)[-1]
    assert [] == world.overlaps
    assert {"ProvenOff", "Escalating"} <= notes(owner.api, machine, "Metal3Remediation").keys()
    assert_replaced_by_its_owner(rack, machine, before)
