"""Policies that people edit, double and break in a simulated cluster: one governs, an invalid one does nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from noderemedy.core.healthcheck import selector, verdicts
from noderemedy.core.healthcheck.modes import Way
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.ids import HEALTH_CHECK, HOST, MACHINE
from noderemedy.sim import objects
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.policies import BROKEN, FIRST, MINUTE_MS, YOUNGER, PolicyCheckers
from noderemedy.sim.run import calm
from noderemedy.wire import names

Harm = Callable[[pytest.MonkeyPatch], None]


def a_stage() -> tuple[Cluster, Checkers, PolicyCheckers]:
    """Six nodes under one check, one manager, and checkers of policies."""
    cluster, checkers, _ = calm(seed=7, nodes=6)
    policies = PolicyCheckers(cluster, checkers.ran, checkers.complain)
    cluster.api.create(objects.marking_check(FIRST, None, cluster.durations))
    run(cluster, 8)
    return cluster, checkers, policies


def run(cluster: Cluster, minutes: float) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def doubled() -> Checkers:
    """A younger check over the same machines; then a node hangs."""
    cluster, checkers, _ = a_stage()
    cluster.api.create(objects.marking_check(YOUNGER, None, cluster.durations))
    run(cluster, 8)
    cluster.servers["worker-1"].hang()
    run(cluster, 20)
    return checkers


def doubled_and_broken() -> Checkers:
    """The same, and the older one of them is broken."""
    cluster, checkers, _ = a_stage()
    cluster.api.create(objects.marking_check(YOUNGER, None, cluster.durations))
    cluster.api.patch(HEALTH_CHECK, FIRST, NAMESPACE, {"spec": {"unhealthyRange": BROKEN}}, "merge")
    run(cluster, 8)
    cluster.servers["worker-1"].hang()
    run(cluster, 20)
    return checkers


def broken() -> Checkers:
    """Somebody breaks the check; then a node hangs."""
    cluster, checkers, _ = a_stage()
    cluster.api.patch(HEALTH_CHECK, FIRST, NAMESPACE, {"spec": {"unhealthyRange": BROKEN}}, "merge")
    run(cluster, 8)
    cluster.servers["worker-1"].hang()
    run(cluster, 20)
    return checkers


def hung() -> Checkers:
    """A node hangs, and is repaired because the check noticed."""
    cluster, checkers, policies = a_stage()
    cluster.servers["worker-1"].hang()
    run(cluster, 20)
    policies.at_rest()
    return checkers


def the_youngest_governs(patch: pytest.MonkeyPatch) -> None:
    right = verdicts.governing
    patch.setattr(verdicts, "governing", lambda key, machine, reader: right(key, machine, reader)[::-1])


def a_mistake_ends_a_rule(patch: pytest.MonkeyPatch) -> None:
    right = selector.selects
    patch.setattr(selector, "selects", lambda check, machine: check.is_valid and right(check, machine))


def every_check_is_valid(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(HealthCheck, "is_valid", True)


STORIES: list[tuple[str, Callable[[], Checkers], Harm]] = [
    ("S17", doubled, the_youngest_governs),
    ("S17", doubled_and_broken, a_mistake_ends_a_rule),
    ("S18", broken, every_check_is_valid),
]


@pytest.mark.parametrize(("rule", "story", "harm"), STORIES)
def test_each_rule_holds_and_was_seen_broken(
    rule: str, story: Callable[[], Checkers], harm: Harm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The story is well, and under one line of harm its checker complains."""
    assert [] == story().violations
    harm(monkeypatch)

    assert any(f"ms: {rule}" in line for line in story().violations)


def test_a_sick_node_is_repaired_because_its_check_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody marks anything by hand; and where nobody asks, the checker of repairs complains."""
    right = hung()
    assert [] == right.violations
    assert 1 == right.ran["S17 one policy"]
    monkeypatch.setattr("noderemedy.core.healthcheck.remediation.running_way", lambda view: Way.DELETION)

    assert any("ms: L1" in line for line in hung().violations)


def test_a_check_deleted_in_the_middle_takes_back_what_nobody_began() -> None:
    """The operator of hosts is away, so the mark stands; with the check it goes, and the host was never touched."""
    cluster, checkers, _ = a_stage()
    paused = {"metadata": {"annotations": {names.HOST_PAUSED: ""}}}
    cluster.api.patch(HOST, host_of("worker-1"), NAMESPACE, paused, "merge")
    cluster.servers["worker-1"].hang()
    run(cluster, 5)
    assert names.NEEDS_REMEDIATION in notes(cluster)
    cluster.api.delete(HEALTH_CHECK, FIRST, NAMESPACE)
    run(cluster, 1)

    assert names.NEEDS_REMEDIATION not in notes(cluster)
    assert [] == checkers.violations


def notes(cluster: Cluster) -> dict[str, str]:
    found: dict[str, str] = cluster.api.get(MACHINE, machine_of("worker-1"), NAMESPACE)["metadata"]["annotations"]
    return found
