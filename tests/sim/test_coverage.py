"""What a handful of seeds must have met: a simulation that never sees a fault or a state proves little."""

from __future__ import annotations

import inspect
import re
from collections import Counter

import pytest

from noderemedy.rooms import ROOMS
from noderemedy.sim import bystanders, clouds, hospital, policies, troubles
from noderemedy.sim.run import Report, simulate
from noderemedy.sim.troubles import MINUTE_MS

# Actions that need what the simulated worlds do not have: OpenShift's way of deletion, a Node that finalizes, an
# overflow of hundreds of Incidents, a host that is given up in so short a time. Tables and stories hold them.
NOT_IN_DAYS = {"DropIncident", "MarkHostUnhealthy", "UnmarkHost", "CordonNode", "UncordonNode", "EvictPod"}
CHECKERS = {
    *("P1", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S13", "S14", "S15", "S17", "S18"),
    *("L1", "L2", "L4", "L6", "L7", "L8", "L9", "E1", "E2"),
}
GATES = {
    *("PausedByPerson", "HostNotOurs", "ClaimedByOther"),
    *("CheckInvalid", "ChecksOverlap", "TooManyUnhealthy"),
    *("TooManyInFlight", "TooManyNodesUnhealthy", "CooldownAfterStorm", "DomainBurst", "QuorumAtRisk"),
}


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    """Eight seeds with a trouble every minute."""
    return [simulate(seed, nodes=20, hours=2.0, trouble_every_ms=MINUTE_MS) for seed in range(101, 109)]


def met(reports: list[Report], what: str) -> set[str]:
    found: Counter[str] = Counter()
    for report in reports:
        found.update(getattr(report, what))
    return set(found)


def planned() -> set[str]:
    """Every trouble that the simulator knows: a method that is listed with its weight."""
    classes = (
        troubles.Troubles,
        bystanders.Bystanders,
        clouds.Cloud,
        hospital.Hospital,
        policies.PolicyTroubles,
    )
    sources = [inspect.getsource(one) for one in classes]
    return {name for source in sources for name in re.findall(r"\(self\.(\w+), \d+\)", source)}


def test_nothing_is_violated(reports: list[Report]) -> None:
    """A simulated day in a storm of troubles is a quiet one for the checkers."""
    assert [] == [line for report in reports for line in report.violations]


def test_every_action_is_met(reports: list[Report]) -> None:
    """What a room may do is done, but for what these worlds cannot ask for."""
    assert {kind.__name__ for room in ROOMS for kind in room.may} - NOT_IN_DAYS <= met(reports, "actions")


def test_every_trouble_is_met(reports: list[Report]) -> None:
    """A trouble that never comes tests nothing."""
    assert set() == planned() - met(reports, "troubles")


def test_every_checker_ran(reports: list[Report]) -> None:
    """A checker that never ran has checked nothing."""
    assert set() == CHECKERS - {name.split()[0] for name in met(reports, "checks")}


def test_gates_were_closed_and_opened_again(reports: list[Report]) -> None:
    """Each gate that such a world can close was closed; that all is repaired in the end says that it opened."""
    assert set() == GATES - met(reports, "reasons")
