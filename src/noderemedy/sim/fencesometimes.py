"""What simulated days of fencing must have met ("sometimes"), beside `sometimes.py`: devices, documents, Jobs.

Held against a few dense histories by `tests/sim/test_fence_coverage.py`, and against all of a soak.
"""

from __future__ import annotations

import inspect
import re

from noderemedy.core.fencing.automaton import TABLE
from noderemedy.model.ids import BUDGET, INCIDENT, LEASE, NODE, NODE_FENCE
from noderemedy.model.proof import Attested, FencedOff, PoweredOff, StorageFenced
from noderemedy.model.run import Deed
from noderemedy.rooms import ROOMS
from noderemedy.sim import (
    attendants,
    clusterpauses,
    escalating,
    escalationcheckers,
    fencecheckers,
    fencerepairs,
    fenceswitches,
    fencetroubles,
    garbling,
    rights,
)
from noderemedy.sim.fencetroubles import DEVICE_FAULTS
from noderemedy.sim.jobrunner import JobFate
from noderemedy.sim.outlets import Sort
from noderemedy.sim.sometimes import BAD_WEATHER, CHANGES_OF_VERSION, gates_of, planned

OURS = ("fencing", "remedy")
CHECKERS = {
    *("P1 at most one", "S1 node", "S1 pod", "S1 taint", "S1 volume", "S10 one leader", "S3 pods per minute"),
    *("S1 behind a storage fence", "S3 in flight", "S3 per hour", "S4 no start in a storm", "S5 one ruler at a time"),
    *("L1 workload runs", "L1 pool", "L9 idle", "S2 one successor"),
    *(
        name
        for module in (attendants, fencecheckers, fencerepairs, escalationcheckers)
        for name in re.findall(r'_ran\("([^"]+)"\)', inspect.getsource(module))
    ),
}
# What stops a repair although no gate names it itself: pauses, approvals, and the policies of documents.
STOPS = {
    *("PausedByPerson", "PauseUnreadable", "ApprovalAwaited", "ApprovalDenied", "ApprovalSnoozed", "ClaimedByOther"),
    *("SkippedUnresponsive", "SkippedByNodeCondition", "OneAtATime", "NodeParked", "FreeingPaced"),
    *("KdumpUnderWay", "Drilling", "FencingNotReady", "FencingWasReady", "DefinitionHidden"),
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
    # on OpenShift the Machine itself is deleted; two requests for one machine: tests/core/fencing
    *("DeleteMachine", "AnotherRemediation"),
    # only `explain` asks: there is nothing to decide
    *("ThresholdNotReached", "DocumentGone"),
    # what the schemas of a simulated API refuse to store; nodes of other clusters: tests/core/fencing
    *("FenceInvalid", "CannotSeeNode"),
    # Machines that go in the middle of a fence: tests/core/fencing
    "MachineDeleting",
    # a host that cannot be read any more just while it is held: tests/core/fencing, tests/sim/test_left_alone.py
    "HostUnreadable",
}
RUNS = {
    *(f"{step}: {end}" for step in ("isolation", "power-management") for end in ("off done", "off failed", "off lost")),
    *(f"power-management: {end}" for end in ("status done", "status failed", "on done", "on failed")),
    *("isolation: status done", "recovery: on done", "recovery: on failed"),
}
DEEDS = {f"{sort.value}: {deed.value}" for sort in Sort for deed in (Deed.OFF, Deed.ON)}
PHASES = {
    *(f"request: {phase}" for phase in ("new", "fencing", "recovered", "deleting-machine", "failed")),
    *(f"remedies: {phase}" for phase in ("running", "freeing", "waiting", "exhausted", "recovering")),
}
LEADERS = {
    *(f"fence: isolation {state}" for state in ("new", "error")),
    *(f"fence: power-management {state}" for state in ("running", "error")),
    *(f"fence: recovery {state}" for state in ("done", "final", "error")),
}
CHANGING = (BUDGET, INCIDENT, LEASE, NODE, NODE_FENCE)  # kinds with news


def may_do() -> set[str]:
    rooms = [room for room in ROOMS if room.decide.__module__.split(".")[2] in OURS]
    return {kind.__name__ for room in rooms for kind in room.may} - ELSEWHERE


def troubles() -> set[str]:
    faults = {f"fault: {one.value}" for one in DEVICE_FAULTS} | {f"job: {one.value}" for one in JobFate}
    drawn = planned(fencetroubles.FenceTroubles, fenceswitches.FenceSwitches, escalating.Pool)
    return drawn | planned(garbling.FenceGarbling, clusterpauses.ClusterPauses, rights.Rights) | faults


def moves() -> set[str]:
    return {f"{before.value} -> {row.state.value}: {event.value}" for (before, event), row in TABLE.items()}


WANTED: dict[str, set[str]] = {
    "actions": may_do(),
    "troubles": troubles(),
    "checks": CHECKERS,
    "decided": (gates_of(lambda room: room in OURS) | STOPS) - ELSEWHERE,
    "freed_by": FREED_BY - FREED_ELSEWHERE,
    "phases": moves() | RUNS | DEEDS | PHASES,
    "outlived": troubles() | BAD_WEATHER,
    "leaders": LEADERS,
}
# What a few histories may miss. tests/sim/test_gone.py: 410 in every watch.
SELDOM: dict[str, set[str]] = {
    "troubles": CHANGES_OF_VERSION,
    "outlived": {f"410 of {kind}" for kind in CHANGING} | CHANGES_OF_VERSION,
}
