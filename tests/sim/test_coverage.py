"""What simulated days must have met ("sometimes"): a simulation that never sees a fault or a state proves little.

Seeds are run one after the other until everything on the list was met: what chance brings late costs time, and what it
never brings is a red build. `make soak` runs all of them.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

import pytest
from tests.sim.covering import gates_of, met, planned, until_met

from noderemedy.core import safety
from noderemedy.core.budget import grants
from noderemedy.model import actions
from noderemedy.rooms import ROOMS
from noderemedy.sim import bystanders, clouds, definitions, hospital, policies, switches, troubles
from noderemedy.sim.remediationcheckers import MAY_FOLLOW
from noderemedy.sim.run import Report, simulate
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import Fate, Stream

SOONEST = (103, 105, 110, 118)  # in which all was met when they were chosen; after a change others may be needed, too
SEEDS = (*SOONEST, *(seed for seed in range(101, 125) if seed not in SOONEST))
# Rooms whose devices and documents these worlds do not have: tests/sim/test_fence_coverage.py.
WITH_A_WORLD_OF_THEIR_OWN = ("fencing", "remedy")
CHECKERS = {
    *("P1", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S13", "S14", "S15", "S17", "S18"),
    *("L1", "L2", "L4", "L6", "L7", "L8", "L9", "E1", "E2", "S3 pods per minute"),
}
# What frees a workload, and the proofs on which it may: a provider's word frees by deleting the Node only.
FREED_BY = {
    *("TaintOutOfService on PoweredOff", "DeletePod on PoweredOff", "DetachVolume on PoweredOff"),
    *("DeleteNode on PoweredOff", "DeleteNode on InstanceGone"),
}
# Gates that no history closes, and where they are closed instead.
GATES_ELSEWHERE = {
    # only `explain` asks: there is nothing to decide
    *("TargetHealthy", "TargetOfNobody"),
    # fleets: tests/sim/test_fleet.py
    *("CannotSeeCluster", "CannotSeeNode", "ClusterObjectPaused"),
    # what the schemas of a simulated API refuse to store: tables of tests/core
    *("ApprovalUnreadable", "BudgetInvalid", "ClaimUnreadable", "HostUnreadable", "NodeUnreadable"),
    *("RemediationInvalid", "SpecNotReusable"),
    # who wrote a status is not tracked in simulated days; a kind of records that nobody installed
    *("CheckOfAnother", "ApprovalUnavailable"),
    # requests that others make under the same name: tests/core/external, tests/sim/test_ward.py
    *("RequestLeaving", "RequestNotOurs", "RequestsUnseen", "TemplateKindMissing", "WaitingForRequests"),
    # simulated managers run on no node: tests/core/test_claim.py, tests/manager/test_program.py
    "OwnNode",
    # rare coincidences: tests/core/metal3, tests/core/budget
    *("AnotherRemediation", "LedgerFull", "MachineDeleting", "PowerUnknown"),
}


def may_do() -> set[str]:
    """What some room may do."""
    rooms = [room for room in ROOMS if room.decide.__module__.split(".")[2] not in WITH_A_WORLD_OF_THEIR_OWN]
    return {kind.__name__ for room in rooms for kind in room.may}


TROUBLES = (
    troubles.Troubles,
    bystanders.Bystanders,
    clouds.Cloud,
    definitions.Definitions,
    hospital.Hospital,
    policies.PolicyTroubles,
    switches.Switches,
)


def transitions() -> set[str]:
    return {f"{before or 'new'} -> {after}" for before, follows in MAY_FOLLOW.items() for after in follows}


def all_gates() -> set[str]:
    """Every reason with which a gate of a room blocks, as the code has it."""
    return gates_of(lambda room: room not in WITH_A_WORLD_OF_THEIR_OWN) | set(refusing())


def refusing() -> Iterator[str]:
    """The reasons of the budget's gates."""
    for gate in grants.GATES:
        for node in ast.walk(ast.parse(inspect.getsource(gate))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[0].isupper():
                yield node.func.id


WANTED: dict[str, set[str]] = {
    "actions": may_do(),
    "troubles": planned(*TROUBLES),
    "weather": {str(one) for one in (*Fate, *Stream)},
    "checks": CHECKERS,
    "decided": all_gates() - GATES_ELSEWHERE | {"FreeingPaced"},
    "freed_by": FREED_BY,
    "phases": transitions(),
}


pytestmark = pytest.mark.timeout(600)  # the first test waits for all seeds


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    """A trouble every minute, seed after seed until nothing on the list is missing."""
    return until_met(WANTED, SEEDS, dense)


def dense(seed: int) -> Report:
    return simulate(seed, nodes=20, hours=2.0, trouble_every_ms=MINUTE_MS)


def test_nothing_is_violated(reports: list[Report]) -> None:
    """Simulated days in a storm of troubles are quiet ones for the checkers."""
    broken = {report.seed: report.violations for report in reports}

    assert {} == {seed: lines for seed, lines in broken.items() if lines}


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_no_seed_violates_anything(seed: int) -> None:
    """Those that nothing is left for, too."""
    assert () == dense(seed).violations


@pytest.mark.parametrize("what", WANTED)
def test_everything_is_met(what: str, reports: list[Report]) -> None:
    """Each action, trouble, checker, gate, way of freeing with its proof, and transition of a phase: at least once."""
    assert set() == WANTED[what] - met(reports, what)


def test_every_way_to_free_is_on_the_list() -> None:
    """An action that takes a proof, or a proof that is made, cannot be forgotten here."""
    proven = {kind.__name__ for kind in vars(actions).values() if "proof" in getattr(kind, "__struct_fields__", ())}
    made = set(re.findall(r"return (\w+)\(", inspect.getsource(safety))) & {"PoweredOff", "InstanceGone"}
    pairs = [pair.split(" on ") for pair in FREED_BY]

    assert (proven, made) == ({action for action, _ in pairs}, {proof for _, proof in pairs})


def test_a_gate_elsewhere_is_a_gate() -> None:
    """Whoever renames or removes a gate looks at the exceptions, too."""
    assert set() == GATES_ELSEWHERE - all_gates()
