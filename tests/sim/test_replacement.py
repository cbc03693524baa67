"""The reference owner in the simulated world: a cloud with faults, a health check that asks, checkers seen red.

The stories with a crash at every boundary are in `tests/sim/test_crash.py`; these are about the provider and the check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from noderemedy.core import safety
from noderemedy.core.owner import aftermath, view
from noderemedy.model.decision import Decision
from noderemedy.model.ids import MACHINE, NODE
from noderemedy.model.proof import InstanceGone, Subject
from noderemedy.model.reasons import DrainOverdue, InstanceOverdue, InstanceUnproven, Replaced
from noderemedy.sim import objects
from noderemedy.sim.apiserver import ApiError, Tree, User
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.crash import drained_machine, play, replaced_machine
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import MANAGER, Process
from noderemedy.sim.provider import FINALIZER
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS


def a_pool(count: int = 2) -> tuple[Cluster, Checkers, Process]:
    """A quiet cluster with some machines of the cloud, all joined, and a pod of the database on the first."""
    cluster, checkers, process = calm(seed=1, nodes=3)
    cluster.provider.grow(count)
    after(cluster, 4)
    cluster.move("database-0")
    after(cluster, 1)
    return cluster, checkers, process


def after(cluster: Cluster, minutes: float) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def told(process: Process, *reasons: type) -> list[type]:
    return [type(notice.reason) for notice in process.notices if isinstance(notice.reason, reasons)]


def condition(machine: Tree, kind: str) -> Tree:
    return next((one for one in machine["status"].get("conditions", ()) if one["type"] == kind), {})


def names_of(cluster: Cluster) -> list[str]:
    return sorted(tree["metadata"]["name"] for tree in cluster.provider.machines())


@pytest.mark.parametrize("removes_nodes", [True, False])
def test_a_health_check_has_a_machine_recreated(removes_nodes: bool) -> None:
    """Story 2 whole: sick by its check's criteria, drained or not, deleted, replaced, and the new node is healthy."""
    cluster, checkers, process = a_pool()
    cluster.provider.removes_nodes = removes_nodes
    cluster.api.create(objects.health_check("all", "40%"))
    cluster.provider.instances["pool-1"].hang()

    after(cluster, 25)

    checkers.at_rest(process.engine)
    assert ([], 1) == (checkers.violations, checkers.ran["S2 one successor"])
    assert ["pool-1" in name for name in names_of(cluster)] == [True, False]
    assert "pool-1" not in names_of(cluster)
    assert [Replaced] == told(process, Replaced)


def test_the_node_stays_as_long_as_the_instance_lives() -> None:
    """A provider that takes its time: nothing is freed, the Machine says so with severity Error, and people know."""
    cluster, checkers, process = a_pool()
    cluster.provider.is_refusing = True
    cluster.provider.instances["pool-1"].hang()
    cluster.ask_owner("pool-1")

    after(cluster, 20)

    machine = cluster.api.get(MACHINE, "pool-1", NAMESPACE)
    said = condition(machine, "OwnerRemediated")
    assert ("Error", "InstanceNotGone") == (said["severity"], said["reason"])
    assert cluster.api.find(NODE, "pool-1") is not None
    assert ["pool-1", "pool-2"] == names_of(cluster)
    assert [InstanceOverdue] == told(process, InstanceOverdue)

    cluster.provider.is_refusing = False
    cluster.provider.poke()
    after(cluster, 10)
    checkers.at_rest(process.engine)
    assert [] == checkers.violations


def test_a_finalizer_that_somebody_removes_frees_nothing() -> None:
    """Race R42: without the provider's word the Node of a living instance stays, and a person is told."""
    cluster, checkers, process = a_pool()
    cluster.provider.is_refusing = True
    cluster.provider.instances["pool-1"].hang()
    cluster.ask_owner("pool-1")
    after(cluster, 5)
    kept = cluster.api.get(MACHINE, "pool-1", NAMESPACE)["metadata"]["finalizers"]
    body = {"metadata": {"finalizers": [one for one in kept if one != FINALIZER]}}
    cluster.api.patch(MACHINE, "pool-1", NAMESPACE, body, "merge")

    after(cluster, 30)

    assert cluster.api.find(NODE, "pool-1") is not None
    assert ([], [InstanceUnproven]) == (checkers.violations, told(process, InstanceUnproven))

    cluster.provider.instances["pool-1"].power_off()
    cluster.api.delete(NODE, "pool-1")
    after(cluster, 10)
    checkers.at_rest(process.engine)
    assert [] == checkers.violations, "once a person has seen to it, the rest follows"


def test_a_disruption_budget_is_respected() -> None:
    """A pod that may not go keeps its node: told after ten minutes, not forced, and all is well when it may."""
    cluster, checkers, process = a_pool()
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "database", "namespace": objects.WORKLOAD},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "database"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 3, "desiredHealthy": 3, "expectedPods": 3},
    }
    cluster.api.create(budget)
    cluster.ask_owner("pool-1")

    after(cluster, 30)

    machine = cluster.api.get(MACHINE, "pool-1", NAMESPACE)
    said = condition(machine, "OwnerRemediated")
    assert ("Error", "DrainFailed") == (said["severity"], said["reason"])
    assert "default/database-0 is kept: The disruption budget database" in said["message"]
    assert "deletionTimestamp" not in machine["metadata"]
    assert DrainOverdue in told(process, DrainOverdue)

    cluster.api.patch(
        MACHINE, "pool-1", NAMESPACE, {"metadata": {"annotations": {"node-remedy.dev/owner": None}}}, "merge"
    )
    after(cluster, 10)
    checkers.at_rest(process.engine)
    assert [] == checkers.violations, "called off, nothing is left of it"
    assert ["pool-1", "pool-2"] == names_of(cluster)


@pytest.mark.parametrize(
    ("verb", "plural", "is_silent", "reason", "action"),
    [
        ("delete", "machines", True, "DeletionFailed", "DeleteMachine"),
        ("create/eviction", "pods", False, "DrainFailed", "EvictPod"),
    ],
)
def test_a_refusal_is_told_on_the_machine(verb: str, plural: str, is_silent: bool, reason: str, action: str) -> None:
    """Within two minutes the Machine says in the API's words why it is not drained or deleted; then it goes on."""
    cluster, checkers, process = a_pool()
    rights: list[str] = []

    def refuse(asked: str, resource: Any, old: Any, new: Any, user: User) -> None:
        if not rights and (asked, resource.plural, user) == (verb, plural, MANAGER):
            raise ApiError(403, "Forbidden", f"{plural} is forbidden: no right to {verb}")

    cluster.api.hooks.append(refuse)
    if is_silent:
        cluster.provider.instances["pool-1"].hang()
        after(cluster, 2)
    cluster.ask_owner("pool-1")

    after(cluster, 2)

    said = condition(cluster.api.get(MACHINE, "pool-1", NAMESPACE), "OwnerRemediated")
    assert ("Error", reason) == (said["severity"], said["reason"])
    assert f"{action} of " in said["message"]
    assert f"{plural} is forbidden: no right to {verb}" in said["message"]
    versions = cluster.api.get(MACHINE, "pool-1", NAMESPACE)["metadata"]["resourceVersion"]
    after(cluster, 4)
    assert versions == cluster.api.get(MACHINE, "pool-1", NAMESPACE)["metadata"]["resourceVersion"], "said once"

    rights.append(verb)
    after(cluster, 25)
    checkers.at_rest(process.engine)
    assert ([], False) == (checkers.violations, "pool-1" in names_of(cluster))


def test_a_persons_machine_is_left_alone() -> None:
    """Without the annotation nothing happens, however sick it is."""
    cluster, _, process = a_pool()
    body = {"metadata": {"annotations": {"node-remedy.dev/owner": None}}}
    cluster.api.patch(MACHINE, "pool-1", NAMESPACE, body, "merge")
    cluster.provider.instances["pool-1"].hang()
    cluster.ask_owner("pool-1")
    before = len(process.acted)

    after(cluster, 30)

    assert ["pool-1", "pool-2"] == names_of(cluster)
    assert {"Confirm"} >= {name for name in process.acted[before:] if "Incident" not in name}


# --- every checker has been seen red -----------------------------------------------------------------------------


def nobody_waits_for_the_provider(patch: pytest.MonkeyPatch) -> None:
    """The Node goes as soon as the Machine is deleted, whoever keeps it and whatever is said."""

    def gone(node, entry, keeper, now):  # type: ignore[no-untyped-def]
        subject = Subject(node.uid, node.boot_id)
        return InstanceGone(subject, entry.obj.uid, entry.resource_version, "x", now.wall)

    patch.setattr(safety, "instance_gone", gone)
    patch.setattr(view.View, "keepers", property(lambda self: ()))


def no_successor_is_made(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(aftermath, "make_successor", lambda view, now: aftermath.let_go(view, Replaced(""), now))


def the_old_machine_is_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(aftermath, "let_go", lambda view, reason, now: Decision(because=(reason,)))


SABOTAGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "S1: Node pool-1": nobody_waits_for_the_provider,
    "L1": no_successor_is_made,
    "L2": the_old_machine_is_kept,
}


@pytest.mark.parametrize("rule", SABOTAGES)
def test_the_checkers_see_it(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under each sabotage the story of a replaced machine breaks the rule that it is about."""
    SABOTAGES[rule](monkeypatch)

    violations = play(replaced_machine).violations

    assert any(f": {rule}" in line for line in violations), violations


def test_a_second_successor_is_found() -> None:
    """Two Machines that name the same predecessor are one too many."""
    cluster, checkers, _ = calm(seed=1, nodes=3)
    for name in ("one", "two"):
        tree = objects.instance_machine(name)
        tree["metadata"]["annotations"]["node-remedy.dev/replaces"] = "uid-0"
        cluster.api.create(tree)

    assert [True] == ["S2: Machine two is the second successor" in line for line in checkers.violations]


@pytest.mark.parametrize("story", [replaced_machine, drained_machine])
def test_without_a_sabotage_nobody_complains(story: Callable[[Cluster], None]) -> None:
    """The same stories, untouched."""
    assert () == play(story).violations
