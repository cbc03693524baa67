"""The budget on a real control plane, with the real manager under its shipped identity.

Rack a falls silent as a whole, two nodes of rack b hang at the same time, and somebody asks for repairs. One may run at
once. What happened to the computers is judged by `World`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.api import eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import kubectl
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import assert_freed_only_when_off, notes, ours, wait_for_note, wait_until_over

BUDGET = "/apis/node-remedy.dev/v1alpha1/remediationbudgets"
ZONE = "topology.kubernetes.io/zone"
RACK_A, RACK_B = ("a-0", "a-1", "a-2"), ("b-0", "b-1", "b-2", "b-3", "b-4")
SICK = (*RACK_A, "b-0", "b-1")
ONE_AT_A_TIME = {
    "apiVersion": "node-remedy.dev/v1alpha1",
    "kind": "RemediationBudget",
    "metadata": {"name": "cluster"},
    "spec": {"maxInFlight": 1, "maxUnhealthy": "100%"},
}


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    """Eight nodes in two racks, of which five are silent."""
    with Fleet(installed_plane) as fleet:
        fleet.add(*RACK_A, labels={ZONE: "a"})
        fleet.add(*RACK_B, labels={ZONE: "b"})
        fleet.api.create(BUDGET, ONE_AT_A_TIME).ok()
        for name in SICK:
            fleet.crash(name)
        eventually(lambda: all(fleet.ready_status(name) == "Unknown" for name in SICK), "all are silent", 90)
        yield fleet


def blocked(fleet: Fleet) -> str:
    """What the budget itself says stops every new repair."""
    conditions = fleet.api.get(f"{BUDGET}/cluster").ok().get("status", {}).get("conditions", [])
    return next((str(one["reason"]) for one in conditions if (one["type"], one["status"]) == ("Blocked", "True")), "")


def starts(fleet: Fleet, name: str) -> float:
    """When this computer was switched on again."""
    return fleet.world.when("powered on", name)[-1]


@pytest.mark.timeout(300)
def test_one_at_a_time_and_never_a_rack(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """The second waits and is told so, then its turn comes; the silent rack is held; a pause stops what is new."""
    with Manager(installed_plane) as manager:
        eventually(manager.leads, "the manager leads")
        for name in ("a-0", "b-0", "b-1"):
            fleet.ask_for_repair(name)
        wait_for_note(fleet.api, "a-0", "DomainBurst", "a")
        second = eventually(lambda: told(fleet, "TooManyInFlight"), "one of the two waits")
        first = next(name for name in ("b-0", "b-1") if name != second)
        assert {} == ours(fleet.host(second)), "nothing of ours on its host"

        wait_until_over(fleet, first, second, seconds=150)
        assert starts(fleet, first) < fleet.world.when("powered off", second)[-1], "one after the other"

        kubectl(installed_plane, "annotate", "remediationbudget", "cluster", "node-remedy.dev/paused=true")
        eventually(lambda: blocked(fleet) == "BudgetPaused", "the budget says that it is paused")
        fleet.ask_for_repair("b-2")
        wait_for_note(fleet.api, "b-2", "BudgetPaused")
        assert {} == ours(fleet.host("b-2"))

        kubectl(installed_plane, "annotate", "remediationbudget", "cluster", "node-remedy.dev/paused-")
        wait_until_over(fleet, "b-2", seconds=120)

    assert [1, 1, 1] == [fleet.world.computers[name].boots for name in RACK_A], "the rack was left alone"
    assert [2, 2, 2] == [fleet.world.computers[name].boots for name in ("b-0", "b-1", "b-2")]
    assert 3 == assert_freed_only_when_off(installed_plane, fleet)


def told(fleet: Fleet, reason: str) -> str:
    """Which of the two was given this reason."""
    return next((name for name in ("b-0", "b-1") if reason in notes(fleet.api, name)), "")
