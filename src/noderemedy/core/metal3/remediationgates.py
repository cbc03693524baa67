"""The gates of a Metal3Remediation, in order: `decide` stops at the first that blocks, `explain` lists them all.

What is asked of machine, host and node is asked by the same questions as before the truth table (`gates.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from noderemedy.core import conditions, keeping, leftalone
from noderemedy.core.claim import claimed
from noderemedy.core.gates import (
    Blocked,
    budgeted_anew,
    budgeted_to_begin,
    first,
    nobody_left_it,
    nobody_paused,
    passages,
)
from noderemedy.core.machines import machine_refs
from noderemedy.core.metal3 import contradiction, gates, phases
from noderemedy.core.metal3.patience import is_overdue, lasted, rests_between_attempts
from noderemedy.core.metal3.remediationview import NAME, RelicView, RemediationView, what_is_waited_for
from noderemedy.core.metal3.steps import is_back
from noderemedy.core.metal3.view import MachineView
from noderemedy.model.ids import MACHINE, REMEDIATION
from noderemedy.model.machineconditions import OWNER_REMEDIATED, WARNING, Graded
from noderemedy.model.reasons import (
    AnotherRemediation,
    HostOffOnPurpose,
    RemediatedMachineMissing,
    RemediationInvalid,
)
from noderemedy.model.remediation import Phase
from noderemedy.model.room import Passage
from noderemedy.model.time import Now

Gate = Callable[[RemediationView, Now], Blocked | None]

# How an owner is asked to replace its machine.
ASKED = Graded(
    OWNER_REMEDIATED,
    "False",
    "WaitingForRemediation",
    "power cycling by a Metal3Remediation did not help",
    severity=WARNING,
)


def request_is_valid(view: RemediationView, now: Now) -> Blocked | None:
    problems = view.remediation.problems
    return Blocked(RemediationInvalid("; ".join(problems))) if problems else None


def cluster_is_not_paused(view: RemediationView, now: Now) -> Blocked | None:
    """`cluster.x-k8s.io/paused` on the request or its machine, or a paused Cluster: not a single write."""
    its_own, machine = leftalone.marked(view.ref, view.remediation.cluster_paused), view.machine
    return nobody_left_it(its_own, leftalone.pause(machine.ref, machine.machine, machine.cluster) if machine else None)


def machine_is_there(view: RemediationView, now: Now) -> Blocked | None:
    if view.machine is not None:
        return None
    return Blocked(RemediatedMachineMissing(str(machine_refs(view.ref, view.remediation)[0])))


def record_is_kept(view: RemediationView, now: Now) -> Blocked | None:
    return keeping.kept(REMEDIATION, view.unkept)


def definition_is_known(view: RemediationView, now: Now) -> Blocked | None:
    return keeping.known(REMEDIATION, view.unkept)


def request_is_not_paused(view: RemediationView, now: Now) -> Blocked | None:
    """Paused by a person, on the request: nothing new starts."""
    return nobody_paused(now, (view.ref, view.remediation.paused))


def nobody_goes_first(view: RemediationView, now: Now) -> Blocked | None:
    return Blocked(AnotherRemediation(view.rival)) if view.rival else None


def host_is_meant_to_be_on(view: RemediationView, now: Now) -> Blocked | None:
    """A host with `spec.online: false` was switched off by somebody: we do not touch its power."""
    return None if view.host.online else Blocked(HostOffOnPurpose(view.host_name))


def host_is_not_contradicted(view: RemediationView, now: Now) -> Blocked | None:
    """A boot that reported while its host was off is not on that host: a person's business."""
    return Blocked(contradiction.told(view)) if contradiction.is_known(view) else None


def budget_allows(view: RemediationView, now: Now) -> Blocked | None:
    """What has not begun asks, and every further attempt: a repair that runs goes on."""
    if view.remediation.progress.phase is Phase.NEW:
        return budgeted_anew(view.answer, view.need, NAME, now)
    return granted_to_begin(view, now) if is_attempt_over(view, now) else None


def owner_may_be_asked(view: RemediationView, now: Now) -> Blocked | None:
    """It has the place of the last attempt, and is a beginning: not in a storm, in a pause, outside of a window."""
    is_escalated = view.remediation.progress.phase is Phase.DELETING_MACHINE
    if is_escalated and view.machine is not None and is_asked(view.machine, now):
        return None
    return granted_to_begin(view, now)


def granted_to_begin(view: RemediationView, now: Now) -> Blocked | None:
    """In the middle of a repair."""
    return budgeted_to_begin(view.answer, view.need, what_is_waited_for(view.remediation), now)


def one_repair_per_node(view: RemediationView, now: Now) -> Blocked | None:
    assert view.claim is not None
    return claimed(view.claim, now)


def nobody_else_holds_it(view: RemediationView, now: Now) -> Blocked | None:
    return gates.held_besides(view.machine, view.remediation.uid) if view.machine is not None else None


def of_machine(gate: gates.Gate) -> Gate:
    """A question to the machine of a request, as the truth table asks it. Without a machine there is none.

    The table lets a hold without a mark pass some of them, since it is only released. Here somebody wants more.
    """

    def asked(view: RemediationView, now: Now) -> Blocked | None:
        if view.machine is None:
            return None
        marked = structs.replace(view.machine.machine, needs_remediation=True)
        return gate(structs.replace(view.machine, machine=marked), now)

    asked.__name__ = gate.__name__
    return asked


BEFORE_ANYTHING: tuple[Gate, ...] = (request_is_valid, cluster_is_not_paused)
LINKED: tuple[Gate, ...] = (
    machine_is_there,
    *map(
        of_machine,
        (
            gates.host_is_named,
            gates.host_is_there,
            gates.host_is_readable,
            gates.consumer_is_readable,
            gates.host_is_its_own,
        ),
    ),
)
ATTENDED: tuple[Gate, ...] = (of_machine(gates.host_is_attended),)
NODE_IN_SIGHT: tuple[Gate, ...] = tuple(map(of_machine, (gates.cluster_is_seen, gates.node_is_readable)))
KEPT: tuple[Gate, ...] = (record_is_kept, definition_is_known)
NODE_SEEN: tuple[Gate, ...] = (*KEPT, *NODE_IN_SIGHT, of_machine(gates.node_is_its_own))
BEFORE_POWER_OFF: tuple[Gate, ...] = (
    *KEPT,
    nobody_goes_first,
    request_is_not_paused,
    *map(of_machine, (*gates.BEFORE_POWER_OFF, gates.power_is_known)),
    host_is_meant_to_be_on,
)
UNPAUSED: tuple[Gate, ...] = (request_is_not_paused, of_machine(gates.nobody_paused_it))
UNHINDERED: tuple[Gate, ...] = (*UNPAUSED, *NODE_IN_SIGHT)  # nobody knows of a Node out of sight whether it is well
BEFORE_ASKING: tuple[Gate, ...] = (*UNHINDERED, owner_may_be_asked)
BEFORE_THE_OWNER: tuple[Gate, ...] = (nobody_goes_first, host_is_not_contradicted, *BEFORE_ASKING)
BEFORE_AN_ATTEMPT: tuple[Gate, ...] = (*ATTENDED, *NODE_SEEN, host_is_not_contradicted, *BEFORE_POWER_OFF)
ALONE: tuple[Gate, ...] = (one_repair_per_node, nobody_else_holds_it)
SHARED: tuple[Gate, ...] = (budget_allows, *ALONE)  # with whoever else repairs: asked last
BEFORE_THE_BUDGET: tuple[Gate, ...] = (*BEFORE_ANYTHING, *LINKED, *BEFORE_AN_ATTEMPT)
ALL: tuple[Gate, ...] = (*BEFORE_THE_BUDGET, *SHARED)


# How many of LINKED can be asked where there is no machine, where it names no host, and where there is no such host.
WITHOUT_MACHINE, WITHOUT_NAME, WITHOUT_HOST = 1, 2, 4


def explain(view: RemediationView | RelicView, now: Now) -> tuple[Passage, ...]:
    """All gates between a request and its next attempt, or its owner; none where nobody works on it any more."""
    if isinstance(view, RelicView) or view.remediation.is_ended or view.remediation.deleting:
        return ()
    machine = view.machine
    if machine is not None and machine.host is not None:
        return passages(ahead(view, now), view, now)
    asked = WITHOUT_MACHINE if machine is None else WITHOUT_NAME if machine.host_at is None else WITHOUT_HOST
    return passages((*BEFORE_ANYTHING, *LINKED[:asked]), view, now)


def ahead(view: RemediationView, now: Now) -> tuple[Gate, ...]:
    """What is asked before the next thing is done."""
    linked = (*BEFORE_ANYTHING, *LINKED, record_is_kept)
    if view.remediation.progress.phase is Phase.DELETING_MACHINE:
        return (*linked, *BEFORE_ASKING)
    return (*linked, *BEFORE_THE_OWNER) if is_owners_turn(view, now) else ALL


def is_owners_turn(view: RemediationView, now: Now) -> bool:
    """Whether the last attempt has failed: what comes next is to ask the machine's owner."""
    remediation = view.remediation
    is_waiting = remediation.progress.phase is Phase.WAITING and not remediation.progress.is_recovered
    has_host = view.machine is not None and view.machine.host is not None
    is_over = is_waiting and phases.is_last_attempt(remediation) and lasted(view, now) >= remediation.on_within
    return is_over and has_host and not remediation.deleting and not is_back(view)


def has_place(view: RemediationView, now: Now) -> bool:
    """Whether what would begin next has its place, which it gives back should that be refused for long.

    None is given back while a host is held for it, which may go off at any moment; the owner's phase ends by itself.
    """
    if view.held or view.remediation.progress.phase is Phase.DELETING_MACHINE:
        return False
    return (owner_may_be_asked if is_owners_turn(view, now) else budget_allows)(view, now) is None


def is_attempt_over(view: RemediationView, now: Now) -> bool:
    """Whether an attempt has failed, and its time and pause are over."""
    progress = view.remediation.progress
    return progress.phase is Phase.WAITING and not progress.is_recovered and is_overdue(view, now)


def is_next_attempt(view: RemediationView, now: Now) -> bool:
    """Whether only the budget and the claim stand before a further attempt: that is a beginning, and it waits.

    One that has rested has no place; one that escalates has it, and what else holds it back is a repair that runs.
    """
    if not is_attempt_over(view, now) or rests_between_attempts(view, now):
        return is_attempt_over(view, now)
    is_held_back = view.remediation.deleting or bool(view.held) or first(BEFORE_THE_BUDGET, view, now) is not None
    return not is_held_back and not is_back(view)


def is_asked(of: MachineView, now: Now) -> bool:
    """Whether the machine goes, or its owner was asked, in whosever words (an owner tells of itself there).

    A pause or a storm comes too late then.
    """
    is_said = conditions.is_said(of.machine.told, ASKED)
    is_told = of.ref.kind == MACHINE and (is_said or conditions.write(of.ref, of.entry, (ASKED,), now) is None)
    return of.machine.deleting or is_told
