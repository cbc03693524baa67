"""The checkers of S3, S4 and S5 where devices are switched: green as it is, and red under one line of harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sim.test_budget import Harm, is_seen, without

from noderemedy.core.budget import grants
from noderemedy.core.fencing import gates
from noderemedy.model.ids import BUDGET, NODE_FENCE
from noderemedy.sim.fencebudget import FenceBudget
from noderemedy.sim.fencecrash import stage
from noderemedy.sim.fencetroubles import node_fence
from noderemedy.sim.outlets import Fault
from noderemedy.sim.troubles import MINUTE_MS

Story = Callable[[], FenceBudget]


def fenced(*sick: str, rulers: int = 0, **spec: int) -> FenceBudget:
    """Ten nodes, of which these hang, and somebody has them fenced at one moment."""
    cluster, checkers, _ = stage("person", 1, 10)
    budget = FenceBudget(checkers, rulers=rulers)
    limits: dict[str, Any] = {"maxInFlight": 5, **spec}
    cluster.api.patch(BUDGET, "cluster", "", {"spec": limits}, "merge")
    budget.in_flight_max = limits["maxInFlight"]
    for name in sick:
        cluster.servers[name].hang()
    cluster.agenda.run_until(8 * MINUTE_MS)
    for name in sick:
        cluster.api.create(node_fence(name, powerManagementDelay="0s", ttlAfterFinal="60s"))
    cluster.agenda.run_until(20 * MINUTE_MS)
    return budget


def one_at_a_time() -> FenceBudget:
    return fenced("worker-1", "worker-3", maxInFlight=1)


def one_an_hour() -> FenceBudget:
    return fenced("worker-1", "worker-3", maxPerHour=1)


def a_storm() -> FenceBudget:
    return fenced("worker-1", "worker-3", "worker-5", "worker-6")


def two_rulers() -> FenceBudget:
    return fenced("worker-1", "worker-3", rulers=5)


def nobody_asks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gates, "budgeted_anew", lambda *given: None)


# what the checker says -> the story, and the harm under which it says so
SABOTAGES: dict[str, tuple[Story, Harm]] = {
    "S3: 2 nodes are switched off at once": (one_at_a_time, without(grants.in_flight_bearable)),
    "S3: 2 repairs were started within an hour": (one_an_hour, without(grants.per_hour_bearable)),
    "is told off, and the ledger never named": (a_storm, nobody_asks),
    "S4: a repair starts while 4 nodes are unhealthy": (a_storm, without(grants.share_bearable)),
    "S5: ": (two_rulers, without(grants.control_plane_free)),
}


@pytest.mark.parametrize("words", SABOTAGES)
def test_a_story_turns_red(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm the checker complains in these words, and without it not at all."""
    assert is_seen(words, *SABOTAGES[words], monkeypatch)


def test_both_are_fenced_one_after_the_other() -> None:
    """A limit delays, and forgets nobody."""
    found = one_at_a_time()

    assert [2, 2] == [found.cluster.servers[name].boots for name in ("worker-1", "worker-3")]
    assert found.checkers.ran["S3 in flight"] > 1


def test_who_is_heard_again_is_in_flight_no_more() -> None:
    """A person got it going, and later it is cut off: not by our word, so another may be switched off beside it."""
    cluster, checkers, _ = stage("person", 1, 10)
    budget = FenceBudget(checkers, rulers=5)
    for name in ("worker-1", "worker-3"):
        cluster.servers[name].hang()
    cluster.agenda.run_until(8 * MINUTE_MS)
    budget._off["worker-1"] = cluster.agenda.now_ms
    cluster.servers["worker-1"].booted()
    cluster.agenda.run_until(9 * MINUTE_MS)
    cluster.api.create(node_fence("worker-3", powerManagementDelay="0s", ttlAfterFinal="60s"))
    cluster.servers["worker-1"].link(False)
    cluster.agenda.run_until(14 * MINUTE_MS)

    assert 2 == cluster.servers["worker-3"].boots
    assert [] == checkers.violations


def test_what_no_device_was_told_is_not_off_by_our_word() -> None:
    """Nobody answers where it is plugged in, and a person lets it go: another one may be switched off beside it."""
    cluster, checkers, _ = stage("person", 1, 10)
    budget = FenceBudget(checkers)
    cluster.api.patch(BUDGET, "cluster", "", {"spec": {"maxInFlight": 1}}, "merge")
    budget.in_flight_max = 1
    for outlet in cluster.outlets.by_node["worker-1"]:
        outlet.faults.add(Fault.UNREACHABLE)
    for name in ("worker-1", "worker-3"):
        cluster.servers[name].hang()
    cluster.agenda.run_until(8 * MINUTE_MS)
    cluster.api.create(node_fence("worker-1", powerManagementDelay="0s"))
    cluster.agenda.run_until(9 * MINUTE_MS)
    cluster.api.delete(NODE_FENCE, node_fence("worker-1")["metadata"]["name"])
    cluster.api.create(node_fence("worker-3", powerManagementDelay="0s", ttlAfterFinal="60s"))
    cluster.agenda.run_until(14 * MINUTE_MS)

    assert (1, 2) == (cluster.servers["worker-1"].boots, cluster.servers["worker-3"].boots)
    assert [] == checkers.violations
