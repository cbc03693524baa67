"""What simulated days of fencing must have met ("sometimes"), beside `test_coverage.py`: devices, documents, Jobs.

Seeds are run one after the other until everything on the list was met. They are the fixed seeds of fencing, too: none
of them may break an invariant.
"""

from __future__ import annotations

import inspect
import re

import pytest
from tests.sim.covering import gates_of, met, planned, until_met

from noderemedy.core import safety
from noderemedy.core.fencing.automaton import TABLE
from noderemedy.model import proof
from noderemedy.model.proof import Attested, FencedOff, PoweredOff, StorageFenced
from noderemedy.model.run import Deed
from noderemedy.rooms import ROOMS
from noderemedy.sim import fencecheckers, fenceswitches, fencetroubles
from noderemedy.sim.fencerun import simulate_fencing
from noderemedy.sim.fencetroubles import DEVICE_FAULTS
from noderemedy.sim.jobrunner import JobFate
from noderemedy.sim.outlets import Sort
from noderemedy.sim.run import Report
from noderemedy.sim.troubles import MINUTE_MS

SOONEST = (2, 112, 120)  # in which all was met when they were chosen; after a change others may be needed, too
SEEDS = (*SOONEST, 111, 5, 10, 101, 3, 1, 9, 6, 4, 7, 8)
OURS = ("fencing", "remedy")
CHECKERS = {
    *("P1 at most one", "S1 node", "S1 pod", "S1 taint", "S1 volume", "S10 one leader", "S3 pods per minute"),
    *("S1 behind a storage fence", "S3 in flight", "S3 per hour", "S4 no start in a storm", "S5 one ruler at a time"),
    *("L1 workload runs", "L9 idle", *re.findall(r'_ran\("([^"]+)"\)', inspect.getsource(fencecheckers))),
}
# What stops a repair although no gate names it itself: pauses, approvals, and the policies of documents.
STOPS = {
    *("PausedByPerson", "PauseUnreadable", "ApprovalAwaited", "ApprovalDenied", "ApprovalSnoozed", "ClaimedByOther"),
    *("SkippedUnresponsive", "SkippedByNodeCondition", "OneAtATime", "NodeParked", "FreeingPaced"),
    *("KdumpUnderWay", "Drilling", "FencingNotReady", "FencingWasReady"),
}
WHOLE = ("TaintOutOfService", "DeletePod", "DetachVolume", "DeleteNode")
FREED_BY = {
    *(f"{action} on {one.__name__}" for action in WHOLE for one in (FencedOff, PoweredOff, Attested)),
    *(f"{action} on {StorageFenced.__name__}" for action in ("DeletePod", "DetachVolume")),
}
# Pods on a node whose BareMetalHost is held: rare in so few histories. tests/core/fencing/test_hostpower.py
FREED_ELSEWHERE = {"DeletePod on PoweredOff", "DetachVolume on PoweredOff"}
# What no history meets, and where it is met instead.
ELSEWHERE = {
    # what is not cured is told to the owner of the Machine: tests/sim/test_fence_check.py, tests/core/fencing
    *("DeleteMachine", "WriteMachineConditions"),
    # only `explain` asks: there is nothing to decide
    *("ThresholdNotReached", "DocumentGone"),
    # what the schemas of a simulated API refuse to store; nodes of other clusters: tests/core/fencing
    *("FenceInvalid", "NodeUnreadable", "CannotSeeNode"),
    # Machines that go in the middle of a fence: tests/core/fencing
    *("MachineDeleting", "RemediatedMachineMissing"),
}
RUNS = {
    *(f"{step}: {end}" for step in ("isolation", "power-management") for end in ("off done", "off failed", "off lost")),
    *(f"power-management: {end}" for end in ("status done", "status failed", "on done", "on failed")),
    *("isolation: status done", "recovery: on done", "recovery: on failed"),
}
DEEDS = {f"{sort.value}: {deed.value}" for sort in Sort for deed in (Deed.OFF, Deed.ON)}
PHASES = {
    *(f"request: {phase}" for phase in ("new", "fencing", "recovered", "failed")),
    *(f"remedies: {phase}" for phase in ("running", "freeing", "waiting", "exhausted", "recovering")),
}


def may_do() -> set[str]:
    rooms = [room for room in ROOMS if room.decide.__module__.split(".")[2] in OURS]
    return {kind.__name__ for room in rooms for kind in room.may} - ELSEWHERE


def troubles() -> set[str]:
    faults = {f"fault: {one.value}" for one in DEVICE_FAULTS} | {f"job: {one.value}" for one in JobFate}
    return planned(fencetroubles.FenceTroubles, fenceswitches.FenceSwitches) | faults


def moves() -> set[str]:
    return {f"{before.value} -> {row.state.value}: {event.value}" for (before, event), row in TABLE.items()}


WANTED: dict[str, set[str]] = {
    "actions": may_do(),
    "troubles": troubles(),
    "checks": CHECKERS,
    "decided": (gates_of(lambda room: room in OURS) | STOPS) - ELSEWHERE,
    "freed_by": FREED_BY - FREED_ELSEWHERE,
    "phases": moves() | RUNS | DEEDS | PHASES,
}
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    """A trouble every minute or so, seed after seed until nothing on the list is missing."""
    return until_met(WANTED, SEEDS, dense)


def dense(seed: int) -> Report:
    return simulate_fencing(seed, hours=4.0, trouble_every_ms=MINUTE_MS)


def test_nothing_is_violated(reports: list[Report]) -> None:
    """Days in a storm of troubles with devices are quiet ones for the checkers."""
    assert {} == {report.seed: report.violations for report in reports if report.violations}


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_no_seed_violates_anything(seed: int) -> None:
    """Those that nothing is left for, too."""
    assert () == dense(seed).violations


@pytest.mark.parametrize("what", WANTED)
def test_everything_is_met(what: str, reports: list[Report]) -> None:
    """Each action, trouble, checker, gate, way of freeing with its proof, move of a fence, end of a run and deed."""
    assert set() == WANTED[what] - met(reports, what)


def test_no_exception_is_forgotten() -> None:
    """Whoever renames or removes an action or a gate looks at the exceptions, too."""
    known = gates_of(lambda room: room in OURS) | {kind.__name__ for room in ROOMS for kind in room.may}

    assert (set(), set()) == (ELSEWHERE - known, FREED_ELSEWHERE - FREED_BY)


def test_every_proof_of_fencing_is_on_the_list() -> None:
    """A proof that is made for these rooms cannot be forgotten here."""
    made = set(re.findall(r"return (\w+)\(", inspect.getsource(safety))) & set(vars(proof))

    assert made - {"InstanceGone"} == {pair.split(" on ")[1] for pair in FREED_BY}
