"""Bursts in a real engine: a rack that failed at once stays one, whoever tidies up; a change of leaders makes none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.builders import a_node
from tests.core.budget.test_rooms import Bench, machine_at

from noderemedy.core.budget.facts import Memory
from noderemedy.core.budget.view import INDEXES, domain, domain_scope, domains_of
from noderemedy.core.healthcheck.facts import VerdictFact, verdict_ref
from noderemedy.engine.cache import Cache
from noderemedy.model.healthcheck import Unhealthy
from noderemedy.model.ids import HEALTH_CHECK, NODE, ref
from noderemedy.model.machine import Machine
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import NodeMissing
from noderemedy.model.remediationbudget import ZONE

RACK = {ZONE: "a"}
CHECK = ref(HEALTH_CHECK, "all", "metal")


def a_rack() -> Bench:
    """Ten machines, six of them in rack a."""
    bench = Bench()
    for number in range(6):
        bench.node(number, labels=RACK)
    bench.run()
    return bench


def a_machine_in_rack(number: int) -> Machine:
    return Machine(f"machine-{number}", node_name=f"worker-{number}", failure_domain="a")


def goes(bench: Bench, number: int) -> None:
    """Somebody deletes the Node; then its check misses it."""
    at = ref(NODE, f"worker-{number}")
    bench.engine.gone(Seen(at, f"node-{number}", "", a_node(f"node-{number}")), bench.now)
    bench.run()
    is_missed(bench, number)


def is_missed(bench: Bench, number: int) -> None:
    verdict = Unhealthy(bench.now.wall, (NodeMissing(f"worker-{number}"),))
    bench.see(verdict_ref(machine_at(number)), VerdictFact(CHECK, verdict, is_under_repair=False))
    bench.run()


def rack(bench: Bench) -> tuple[int, bool]:
    """How many of rack a are sick, and whether that is a burst."""
    found = domain("", "a", bench.engine.cache)
    return found.sick, found.is_burst


def after_each(bench: Bench, numbers: range, act: Callable[[Bench, int], None]) -> list[tuple[int, bool]]:
    found = []
    for number in numbers:
        act(bench, number)
        bench.run(180)
        found.append(rack(bench))
    return found


def test_deleting_the_dead_nodes_of_a_rack_ends_no_burst() -> None:
    """Four of six fell silent in one second; a person deletes their Nodes, one every three minutes."""
    bench = a_rack()
    for number in range(4):
        bench.node(number, labels=RACK, ready="Unknown")
    bench.run()

    assert [(4, True)] * 4 == after_each(bench, range(4), goes)


def test_nodes_that_go_at_once_are_a_burst() -> None:
    """They were well, and a cloud deletes them with their instances: nobody has written a sign, but we have seen it."""
    bench = a_rack()
    for number in range(4):
        goes(bench, number)

    assert (4, True) == rack(bench)


def test_nodes_that_go_one_by_one_are_none() -> None:
    """Three minutes apart: so many single faults."""
    assert [(1, False), (2, False), (3, False)] == after_each(a_rack(), range(3), goes)


def test_nodes_that_were_missing_before_a_leader_came_are_no_burst() -> None:
    """They went on different days; to a new leader all are missing since its first look. They are sick all the same."""
    bench = Bench(machines=0)
    for number in range(6):
        bench.see(machine_at(number), a_machine_in_rack(number))
        if number > 2:
            bench.node(number, labels=RACK)
    bench.run()

    for number in range(3):
        is_missed(bench, number)

    assert (3, False) == rack(bench)


@pytest.mark.parametrize("scope", [("", "hall 2 rack 7"), ("metal/prod", "a")])
def test_a_held_domain_is_remembered_by_its_whole_name(scope: tuple[str, str]) -> None:
    """A failureDomain of a Machine may have blanks in it; nobody asks there while the storm holds."""
    found = domains_of((), Memory(storms=(domain_scope(*scope),)), Cache(INDEXES))

    assert [scope] == [(one.cluster, one.name) for one in found]
