"""The owner's turn of a Metal3Remediation: nobody has paused it, it has its place in the budget, it is in flight."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, REMEDIATION_AT, a_machine, ago, later, unreadable
from tests.core.metal3.remediations import (
    HOLDER,
    SICK,
    a_reader,
    a_remediation,
    a_world,
    actions,
    decided,
    looked,
    reasons,
)

from noderemedy.core.claim import claimed, lease_of, see
from noderemedy.core.metal3 import remediation as room
from noderemedy.core.metal3.remediationgates import (
    BEFORE_ANYTHING,
    BEFORE_ASKING,
    BEFORE_THE_OWNER,
    LINKED,
    record_is_kept,
)
from noderemedy.model.budget import Need, Refused
from noderemedy.model.decision import Decision
from noderemedy.model.lease import Lease
from noderemedy.model.machineconditions import MachineConditions
from noderemedy.model.meta import Paused
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import TooManyUnhealthy
from noderemedy.model.remediation import Metal3Remediation, Phase
from noderemedy.model.remote import Remote, Sight
from noderemedy.model.room import Unseen

PUBLISH = "PublishRemediationStatus"
LAST = a_remediation(Phase.WAITING, seconds=661, attempt=2)
ESCALATED = a_remediation(Phase.DELETING_MACHINE)
UNASKED = replace(a_machine(), told=MachineConditions(current=(), older=(), is_current=True))
PAUSE = Paused(later(60).wall)
PAUSES: dict[str, dict[str, Any]] = {
    "on the request": {"remediation": {"paused": PAUSE}},
    "on the Machine": {"machine": {"paused": PAUSE}},
    "on the Node": {"node": {"paused": PAUSE}},
}


def needs_of(decision: Decision) -> list[tuple[str, bool, bool]]:
    """What is stated for the budget: by whom, whether it runs, and whether it is stuck."""
    found = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]
    return [(one.room, one.is_running, one.is_stuck) for one in found]


def a_paused_world(where: str, remediation: Metal3Remediation) -> dict[Any, Any]:
    given = PAUSES[where]
    return a_world(
        replace(remediation, **given.get("remediation", {})),
        machine=replace(UNASKED, **given.get("machine", {})),
        node=replace(SICK, **given.get("node", {})),
    )


def test_the_owner_s_turn_is_in_flight_and_its_claim_is_the_owner_s() -> None:
    """An owner of ours could not claim the node if we did; the budget counts both as one."""
    assert [("metal3-remediation-owner", True, False)] == needs_of(looked(a_world(ESCALATED)))
    assert [] == needs_of(looked(a_world(a_remediation(Phase.FAILED))))


def test_an_owner_of_ours_takes_the_claim_over() -> None:
    """The Lease is still ours from the last attempt, and nobody waits for anybody."""
    cache = a_reader(a_world(ESCALATED), holder=None)
    cache.put(Seen(lease_of(NODE_AT), "lease-uid-1", "7", Lease("lease-uid-1", HOLDER)), NOW.mono)
    for fact in decided(REMEDIATION_AT, cache).facts:
        cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)

    blocked = claimed(see("owner", MACHINE_AT, NODE_AT, cache), NOW)

    assert blocked is not None
    assert ["ClaimRepair"] == [type(action).__name__ for action in blocked.actions]


@pytest.mark.parametrize("remediation", [LAST, ESCALATED])
@pytest.mark.parametrize("where", PAUSES)
def test_a_pause_holds_the_owner_s_turn(where: str, remediation: Metal3Remediation) -> None:
    """Neither is the owner asked nor the host marked; the next look is at the end of the pause."""
    decision = looked(a_paused_world(where, remediation))

    assert ([], ["PausedByPerson"], later(60).mono) == (actions(decision), reasons(decision), decision.wake_at)


def test_what_is_paused_before_the_owner_s_turn_keeps_nobody_waiting() -> None:
    """A pause may last for days: its place is given back, its claim is not."""
    decision = looked(a_paused_world("on the Node", LAST))

    assert [("metal3-remediation", True, True)] == needs_of(decision)


@pytest.mark.parametrize(
    ("told", "reason"),
    [(None, "WaitingForBudget"), (Refused(MACHINE_AT, TooManyUnhealthy(1, 2, "x")), "TooManyUnhealthy")],
)
def test_who_has_no_place_any_more_asks_before_the_owner_s_turn(told: Refused | None, reason: str) -> None:
    """A place that was given back in a pause is asked for; with a grant it goes on, and waits until it has asked."""
    asks, goes_on = looked(a_world(LAST), told=told), looked(a_world(LAST))

    assert ([], [reason], [("metal3-remediation", False, False)]) == (actions(asks), reasons(asks), needs_of(asks))
    assert ([PUBLISH], [("metal3-remediation", False, False)]) == (actions(goes_on), needs_of(goes_on))


def test_a_grant_from_before_the_pause_is_none_any_more() -> None:
    """The budget has not looked since the place was given back: the next look asks anew."""
    view = room.ROOM.sees(REMEDIATION_AT, a_reader(a_world(LAST)))
    stuck = Need(MACHINE_AT, "metal3-remediation", ago(3_600), True, NODE_AT, begun=NOW.mono, is_stuck=True)

    decision = room.decide(replace(view, need=stuck), NOW)

    assert ([], ["WaitingForBudget"]) == (actions(decision), reasons(decision))
    assert [("metal3-remediation", False, False)] == needs_of(decision)


def test_of_two_requests_one_asks_the_owner() -> None:
    """The other one says whom it waits for, and states no need beside it."""
    view = room.ROOM.sees(REMEDIATION_AT, a_reader(a_world(LAST)))

    decision = room.decide(replace(view, rival="metal/older"), NOW)

    assert ([], ["AnotherRemediation"], []) == (actions(decision), reasons(decision), needs_of(decision))


@pytest.mark.parametrize("remediation", [LAST, ESCALATED])
def test_a_node_out_of_sight_holds_the_owner_s_turn(remediation: Metal3Remediation) -> None:
    """It may be well: nobody is asked to replace its machine, and it keeps nobody waiting (dense seed 7064)."""
    unread = looked(a_world(remediation, machine=UNASKED, node=unreadable()))
    view = room.ROOM.sees(REMEDIATION_AT, a_reader(a_world(remediation, machine=UNASKED)))
    away = replace(view.machine, node_entry=Unseen(), remote=Remote(Sight.LOST, "away"))
    unseen = room.decide(replace(view, machine=away), NOW)

    assert ([], ["NodeUnreadable"]) == (actions(unread), reasons(unread))
    assert ([], ["CannotSeeCluster"]) == (actions(unseen), reasons(unseen))
    assert {True} == {is_stuck for _, _, is_stuck in (*needs_of(unread), *needs_of(unseen))}


def test_a_node_out_of_sight_comes_too_late_when_the_owner_was_asked() -> None:
    """The host is marked all the same, or the next machine would get it."""
    assert ["MarkHostUnhealthy"] == actions(looked(a_world(ESCALATED, node=unreadable())))


def test_a_pause_comes_too_late_when_the_owner_was_asked() -> None:
    """The host is marked all the same, or the next machine would get it."""
    decision = looked(a_world(replace(ESCALATED, paused=PAUSE)))

    assert ["MarkHostUnhealthy"] == actions(decision)


def test_a_pause_does_not_keep_the_owner_s_turn_for_ever() -> None:
    """Paused between the record and the act, for longer than the phase may last: a person's business."""
    late = a_remediation(Phase.DELETING_MACHINE, seconds=1_801)

    assert "RemediationFailed" in reasons(looked(a_paused_world("on the Machine", late)))


@pytest.mark.parametrize(("remediation", "gates"), [(LAST, BEFORE_THE_OWNER), (ESCALATED, BEFORE_ASKING)])
def test_explain_shows_the_gates_of_the_owner_s_turn(remediation: Metal3Remediation, gates: Any) -> None:
    """Not those of an attempt: there is none any more."""
    view = room.ROOM.sees(REMEDIATION_AT, a_reader(a_paused_world("on the Node", remediation)))

    assert room.ROOM.explains is not None
    found = room.ROOM.explains(view, NOW)

    expected = [gate.__name__.replace("_", " ") for gate in (*BEFORE_ANYTHING, *LINKED, record_is_kept, *gates)]
    assert (expected, ["nobody paused it"]) == ([one.gate for one in found], [one.gate for one in found if one.reason])
