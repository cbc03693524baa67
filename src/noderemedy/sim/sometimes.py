"""What simulated days must have met ("sometimes"): a simulation that never sees a fault or a state proves little.

Tests hold a few dense histories against `WANTED` (`tests/sim/test_coverage.py`), a soak all of its histories against
`WANTED` and `SELDOM`. The lists are read out of the code where that is possible; what no history meets is named with
the tests that meet it instead. Fencing has lists of its own: `fencesometimes.py`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from noderemedy.core import safety
from noderemedy.core.budget import grants
from noderemedy.model.ids import BUDGET, CONFIG_MAP, HEALTH_CHECK, HOST, INCIDENT, LEASE, MACHINE, NODE, REMEDIATION
from noderemedy.rooms import ROOMS
from noderemedy.sim import (
    bystanders,
    clouds,
    clusterpauses,
    definitions,
    garbling,
    hospital,
    machinesets,
    othercontrollers,
    plugs,
    policies,
    rights,
    switches,
    troubles,
    wires,
)
from noderemedy.sim.remediationcheckers import MAY_FOLLOW
from noderemedy.sim.requested import ESCALATED, MADE, WITHDRAWN
from noderemedy.sim.requesting import WORDS
from noderemedy.sim.troubles import DIES_LISTING
from noderemedy.sim.versions import DOWNGRADE, UPGRADE
from noderemedy.sim.watching import REFUSED
from noderemedy.sim.weather import Fate, Stream

CORE = Path(inspect.getfile(safety)).parent
Wanted = Mapping[str, set[str]]  # names by the field of a Report that counts them


# --- reading and counting ---------------------------------------------------------------------------------------


def planned(*classes: type) -> set[str]:
    """Every trouble that these classes know: a method that is listed with its weight."""
    sources = [inspect.getsource(one) for one in classes]
    return {name for source in sources for name in re.findall(r"\(self\.(\w+), \d+\)", source)}


def gates_of(is_meant: Callable[[str], bool]) -> set[str]:
    """Every reason with which a gate of these rooms blocks, as the code has it; a shelf is a room of its own name."""
    paths = [path for path in CORE.rglob("*.py") if is_meant(path.relative_to(CORE).parts[0])]
    sources = [path.read_text(encoding="utf-8") for path in paths]
    return {name for source in sources if "Blocked(" in source for name in blocking(ast.parse(source))}


def blocking(tree: ast.AST) -> Iterator[str]:
    """The reasons in `Blocked(Reason(…))`."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        is_gate = isinstance(call.func, ast.Name) and call.func.id == "Blocked"
        reason = call.args[0] if is_gate and call.args else None
        if isinstance(reason, ast.Call) and isinstance(reason.func, ast.Name):
            yield reason.func.id


def never_seen(wanted: Wanted, found: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """What is wanted and was not met; a checker is met by the name of its rule, too."""
    missing = {what: names - with_rules(found[what]) for what, names in wanted.items()}
    return {what: sorted(names) for what, names in missing.items() if names}


def with_rules(names: Iterable[str]) -> set[str]:
    return {part for name in names for part in (name, name.split()[0])}


# --- what is wanted ---------------------------------------------------------------------------------------------

# Rooms whose devices and documents these worlds do not have: `fencesometimes.py`.
WITH_A_WORLD_OF_THEIR_OWN = ("fencing", "remedy")
CHECKERS = {
    *("P1", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S13", "S14", "S15", "S17", "S18"),
    *("L1", "L2", "L3", "L4", "L6", "L7", "L8", "L9", "E1", "E2", "S3 pods per minute"),
    *re.findall(r'ran\["([^"]+)"\]', inspect.getsource(machinesets)),  # where words are OpenShift's
}
# What frees a workload, and the proofs on which it may: a provider's word frees by deleting the Node only.
FREED_BY = {
    *("TaintOutOfService on PoweredOff", "DeletePod on PoweredOff", "DetachVolume on PoweredOff"),
    *("DeleteNode on PoweredOff", "DeleteNode on InstanceGone"),
}
# On a person's word about a server whose BMC is dead, which comes late or never.
BY_WORD = {f"{action} on Attested" for action in ("TaintOutOfService", "DeletePod", "DetachVolume", "DeleteNode")}
AT_A_WORD = {f"{phase} -> freeing" for phase in ("waiting", "deleting-machine")}
# A dead BMC is called on all the time, so that nobody waits for power, and what was given up is soon in other hands:
# tests/core/metal3/test_words.py, tests/sim/test_power_cycling_check.py.
AT_A_WORD_ELSEWHERE = {"power-on -> freeing", "failed -> freeing"}
# A storm in the moment between a record and its act: tests/core/metal3/test_beginnings.py.
IN_A_MOMENT = {"deleting-machine -> waiting"}
# Gates that no history closes, and where they are closed instead.
GATES_ELSEWHERE = {
    # only `explain` asks: there is nothing to decide
    *("TargetHealthy", "TargetOfNobody", "TargetSkipped", "CheckLeaving"),
    # fleets: tests/sim/test_fleet.py
    "CannotSeeCluster",
    # what the schemas of a simulated API refuse to store, in objects that can be read: tables of tests/core
    *("ApprovalUnreadable", "ClaimUnreadable", "RemediationInvalid", "SpecNotReusable"),
    # a kind of records that nobody installed
    "ApprovalUnavailable",
    # requests that others make under the same name: tests/core/external, tests/sim/test_ward.py
    *("RequestLeaving", "RequestNotOurs", "RequestsUnseen", "TemplateKindMissing", "WaitingForRequests"),
    # OpenShift's Machines without an owner: tests/sim/test_openshift_check.py; or on hosts of others: tests/core
    *("NoControllerOwner", "HostExternallyProvisioned"),
    # definitions are renewed with the managers: tests/sim/test_older_definitions.py
    *("RecordNotKept", "DefinitionHidden", "DefinitionUnread"),
    # simulated managers run on no node: tests/core/test_claim.py, tests/manager/test_program.py
    "OwnNode",
    # nobody drills where nothing is fenced, and hosts are never installed anew: tests/core/metal3
    *("DeviceMistaken", "HostUnsettled"),
    # hours in which no BMC answers: tests/sim/test_budget.py
    "PowerOffsPending",
    # rare coincidences: tests/core/metal3, tests/core/budget
    *("AnotherRemediation", "LedgerFull", "MachineDeleting", "PowerUnknown"),
}
TROUBLES = (
    troubles.Troubles,
    bystanders.Bystanders,
    clouds.Cloud,
    clusterpauses.ClusterPauses,
    definitions.Definitions,
    garbling.Garbling,
    hospital.Hospital,
    machinesets.MachineSet,
    othercontrollers.OtherControllers,
    plugs.Plugs,
    policies.PolicyTroubles,
    rights.Rights,
    switches.Switches,
    wires.Wires,
)
CHANGES_OF_VERSION = {UPGRADE, DOWNGRADE}  # in the middle of a repair
AT_A_START = {DIES_LISTING}
# Its node has to fall sick once more and be repaired: tests/sim/test_bad_input.py.
REPAIRED_LATE = {"machine_deleted"}
WEATHER = {str(one) for one in (*Fate, *Stream)}
BAD_WEATHER = WEATHER - {str(Fate.FINE), str(Stream.FINE)}
CHANGING = (BUDGET, CONFIG_MAP, HEALTH_CHECK, HOST, INCIDENT, LEASE, MACHINE, NODE, REMEDIATION)  # kinds with news


def may_do() -> set[str]:
    """What some room may do."""
    rooms = [room for room in ROOMS if room.decide.__module__.split(".")[2] not in WITH_A_WORLD_OF_THEIR_OWN]
    return {kind.__name__ for room in rooms for kind in room.may}


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


def changes_of_leaders() -> set[str]:
    """A leader takes over from another in each step of each kind of repair."""
    cycles = {f"power cycle: {step}" for step in ("asked for", "held", "node deleted")}
    return cycles | {f"remediation: {phase}" for phase in MAY_FOLLOW if phase} | {"replacement: drain"}


WANTED: dict[str, set[str]] = {
    "actions": may_do(),
    "troubles": planned(*TROUBLES) | CHANGES_OF_VERSION | AT_A_START,
    "weather": WEATHER | {REFUSED},
    "checks": CHECKERS,
    "decided": all_gates() - GATES_ELSEWHERE | {"FreeingPaced", "HostContradicted"},
    "freed_by": FREED_BY,
    "phases": transitions() - AT_A_WORD - AT_A_WORD_ELSEWHERE - IN_A_MOMENT | {MADE, ESCALATED, WITHDRAWN},
    "outlived": (planned(*TROUBLES) | BAD_WEATHER | {REFUSED} | CHANGES_OF_VERSION | AT_A_START) - REPAIRED_LATE,
    "leaders": changes_of_leaders(),
}
# What a few histories may miss. tests/sim/test_gone.py: 410 in every watch; tests/sim/test_crash.py: every step.
SELDOM: dict[str, set[str]] = {
    "outlived": {f"410 of {kind}" for kind in CHANGING} | REPAIRED_LATE,
    "leaders": {"replacement: delete", "replacement: deleted"},
    "phases": AT_A_WORD | {f"{MADE} in the words of {words}" for words in WORDS},
    "freed_by": BY_WORD,
}
