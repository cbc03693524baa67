"""Checks of OpenShift in virtual time: sick Machines are deleted, one after the other, and never more than is allowed.

All Machines of a quiet cluster are OpenShift's. The story plays its machine controllers: three minutes after a Machine
was deleted its computer is restarted, the Machine is let go, and its MachineSet makes a successor.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.sabotage.running import Sabotage, fails, set_to, together

from noderemedy import crds
from noderemedy.core.healthcheck import remediation, remediationgates
from noderemedy.model.ids import OPENSHIFT_HEALTH_CHECK, OPENSHIFT_MACHINE
from noderemedy.model.reasons import NoControllerOwner
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.objects import NAMESPACE, OPENSHIFT_CHECKS
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS

EXAMPLE = Path(__file__).parents[2] / "examples" / "openshift-health-check" / "delete.yaml"
VERSION = "machine.openshift.io/v1beta1"
MACHINE_SET = {"apiVersion": VERSION, "kind": "MachineSet", "metadata": {"name": "workers", "namespace": NAMESPACE}}
ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
MACHINE_SETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "machinesets.machine.openshift.io"},
    "spec": {
        "group": "machine.openshift.io",
        "scope": "Namespaced",
        "names": {"kind": "MachineSet", "plural": "machinesets"},
        "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": ANYTHING}],
    },
}
FINALIZER = "machine.machine.openshift.io"
ORPHANS = ("worker-9", "worker-10")


def a_budget(**spec: object) -> Tree:
    version, kind = "node-remedy.dev/v1alpha1", "RemediationBudget"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "cluster"}, "spec": spec}


class Story:
    """Ten nodes, the example applied to their Machines, and one manager; two Machines have no owner."""

    def __init__(self) -> None:
        self.cluster, self.checkers, self.process = calm(seed=5, nodes=10)
        self.check = yaml.safe_load(EXAMPLE.read_text())
        self.check["metadata"]["namespace"] = NAMESPACE
        self.deleted: list[str] = []  # nodes whose Machines were deleted, in order
        self.leaving: set[str] = set()
        self.most_leaving = 0
        self.cluster.api.create(next(tree for tree in crds.foreign() if tree["metadata"]["name"] == OPENSHIFT_CHECKS))
        self.cluster.api.create(MACHINE_SETS)
        uid = self.cluster.api.create(MACHINE_SET)["metadata"]["uid"]
        self.owner = {"apiVersion": VERSION, "kind": "MachineSet", "name": "workers", "uid": uid, "controller": True}
        for node in self.cluster.servers:
            self.cluster.delete_machine(node)
            self.make(node, node)
        self.cluster.api.create(self.check)
        self.cluster.api.subscribe(OPENSHIFT_MACHINE, self._machine)
        self.run(8)  # long enough that nobody doubts what the observer saw

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def hang(self, *nodes: str) -> None:
        for node in nodes:
            self.cluster.servers[node].hang()

    def make(self, name: str, node: str) -> None:
        """A Machine of a node that runs already."""
        labels = self.check["spec"]["selector"]["matchLabels"]
        meta = {"name": name, "namespace": NAMESPACE, "labels": labels, "finalizers": [FINALIZER]}
        owners = [] if node in ORPHANS else [self.owner]
        machine = {"apiVersion": VERSION, "kind": "Machine", "metadata": {**meta, "ownerReferences": owners}}
        self.cluster.api.create({**machine, "spec": {}})
        status = {"phase": "Running", "nodeRef": {"kind": "Node", "name": node}}
        self.cluster.api.patch(OPENSHIFT_MACHINE, name, NAMESPACE, {"status": status}, "merge", subresource="status")

    def _machine(self, event: WatchEvent) -> None:
        name, meta = event.tree["metadata"]["name"], event.tree["metadata"]
        if event.type == "DELETED":
            self.leaving.discard(name)
        elif "deletionTimestamp" in meta and name not in self.leaving:
            self.deleted.append(event.tree["status"]["nodeRef"]["name"])
            self.leaving.add(name)
            self.most_leaving = max(self.most_leaving, len(self.leaving))
            self.cluster.agenda.after(3 * MINUTE_MS, lambda: self.let_go(event.tree))

    def let_go(self, machine: Tree) -> None:
        name, node = machine["metadata"]["name"], machine["status"]["nodeRef"]["name"]
        server = self.cluster.servers[node]
        server.power_off()
        server.power_on()
        server.booted()
        self.cluster.api.patch(OPENSHIFT_MACHINE, name, NAMESPACE, {"metadata": {"finalizers": None}}, "merge")
        self.make(f"{name}-successor", node)

    def healthy(self) -> int:
        found = self.cluster.api.get(OPENSHIFT_HEALTH_CHECK, "workers", NAMESPACE)
        return int(found["status"]["currentHealthy"])

    def told(self, reason: type) -> set[str]:
        return {notice.ref.name for notice in self.process.notices if isinstance(notice.reason, reason)}


def test_one_is_deleted_after_the_other() -> None:
    """Two fall silent, one repair may run: the second Machine goes when the first is gone, and all are well again."""
    story = Story()
    story.cluster.api.create(a_budget(maxInFlight=1))
    assert 10 == story.healthy()
    story.hang("worker-1", "worker-2")
    story.run(40)
    story.checkers.at_rest(story.process.engine)

    assert [] == story.checkers.violations
    assert ["worker-1", "worker-2"] == sorted(story.deleted)
    assert (1, 10) == (story.most_leaving, story.healthy())
    assert 2 == story.process.acted.count("DeleteMachine")


def test_more_than_the_limit_is_nobodys_repair() -> None:
    """Five of ten fall silent where 40 % may: a network went, and no Machine is deleted, whatever the budget allows."""
    story = Story()
    story.cluster.api.create(a_budget(maxUnhealthy="100%", perDomain={"topologyKey": "example.com/none"}))
    story.hang(*(f"worker-{number}" for number in range(1, 6)))
    story.run(30)

    assert ([], 5) == (story.deleted, story.healthy())
    assert [] == story.checkers.violations


def test_what_nobody_would_replace_stands_in_nobodys_way() -> None:
    """Two sick Machines without an owner are told and kept, and the third one, which has an owner, is deleted."""
    story = Story()
    story.cluster.api.create(a_budget(maxInFlight=1))
    story.hang(*ORPHANS)
    story.run(12)
    story.hang("worker-1")
    story.run(10)  # whoever had reserved a place and not begun would have to give it back later than that

    assert set(ORPHANS) == story.told(NoControllerOwner)
    assert ["worker-1"] == story.deleted
    assert [] == story.checkers.violations


BEFORE, AFTER = remediationgates.BEFORE_BUDGET, remediationgates.AFTER_BUDGET
REPLACED = remediationgates.somebody_replaces_it
SABOTAGES = (
    Sabotage(
        "the budget is not asked",
        set_to(remediation, "AFTER_BUDGET", (remediationgates.node_is_read_live,)),
        (test_one_is_deleted_after_the_other,),
    ),
    Sabotage(
        "the limit is not kept",
        set_to(remediation, "BEFORE_BUDGET", tuple(gate for gate in BEFORE if gate.__name__ != "limit_is_kept")),
        (test_more_than_the_limit_is_nobodys_repair,),
    ),
    Sabotage(
        "what can never begin reserves a place",
        together(
            set_to(remediation, "BEFORE_BUDGET", tuple(gate for gate in BEFORE if gate is not REPLACED)),
            set_to(remediation, "AFTER_BUDGET", (*AFTER, REPLACED)),
        ),
        (test_what_nobody_would_replace_stands_in_nobodys_way,),
    ),
)


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm the story fails."""
    sabotage.harm(monkeypatch)

    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]
