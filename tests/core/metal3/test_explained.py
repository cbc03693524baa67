"""What `explain` shows of a Metal3Remediation: its gates in order, as far as each can be asked; and a paused Node."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NOW, REMEDIATION_AT, a_host, a_machine, later
from tests.core.metal3.remediations import OUR_MARKS, SICK, a_reader, a_remediation, a_world, actions, looked, reasons

from noderemedy.core.metal3.remediation import ROOM
from noderemedy.core.metal3.remediationgates import ALL
from noderemedy.model.ids import Ref
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.remediation import FINALIZER, Phase
from noderemedy.model.room import Passage

READY_FOR = a_remediation(finalizers=(FINALIZER,))
PAUSED = replace(SICK, paused=Paused(later(60).wall))


def passages(world: dict[Ref, Any], key: Ref = REMEDIATION_AT, **reading: Any) -> tuple[Passage, ...]:
    view = ROOM.sees(key, a_reader(world, **reading))
    assert ROOM.explains is not None
    return ROOM.explains(view, NOW)


def test_all_gates_are_listed() -> None:
    """Open or closed, in the order in which they are asked; one that blocks hides none behind it."""
    found = passages(a_world(READY_FOR, node=PAUSED), told=None)

    assert [gate.__name__.replace("_", " ") for gate in ALL] == [one.gate for one in found]
    closed = [(one.gate, type(one.reason).__name__) for one in found if one.reason]
    assert [("nobody paused it", "PausedByPerson"), ("budget allows", "WaitingForBudget")] == closed


@pytest.mark.parametrize(
    ("world", "last", "why"),
    [
        (a_world(READY_FOR, machine=None), "machine is there", "RemediatedMachineMissing"),
        (a_world(READY_FOR, machine=replace(a_machine(), host=None)), "host is named", "HostNotNamed"),
    ],
)
def test_without_machine_or_host_the_rest_cannot_be_asked(world: dict[Ref, Any], last: str, why: str) -> None:
    """The list ends with what is missing."""
    found = passages(world)[-1]

    assert (last, why) == (found.gate, type(found.reason).__name__)


def test_a_host_that_is_not_there_is_named() -> None:
    """Its name is known, so that is shown, and nothing is asked of it."""
    world = a_world(READY_FOR)
    del world[HOST_AT]

    assert ["HostMissing"] == [type(one.reason).__name__ for one in passages(world) if one.reason]


@pytest.mark.parametrize(
    "remediation",
    [a_remediation(Phase.WAITING, recovered=True), a_remediation(Phase.FAILED), a_remediation(deleting=True)],
)
def test_what_is_over_has_no_gates(remediation: Any) -> None:
    """Nobody works on it any more."""
    assert () == passages(a_world(remediation))


def test_a_relic_has_no_gates() -> None:
    """A host with the mark of a former request is only cleaned up."""
    world = a_world(None, host=replace(a_host(), unhealthy=OUR_MARKS))

    assert () == passages(world, HOST_AT)


def test_a_paused_node_is_not_attempted() -> None:
    """Paused on the Node: nothing begins, and the next look is at the end of the pause; a garbled pause holds too."""
    decision = looked(a_world(READY_FOR, node=PAUSED))
    garbled = looked(a_world(READY_FOR, node=replace(SICK, paused=Malformed("x"))))

    assert ([], ["PausedByPerson"], later(60).mono) == (actions(decision), reasons(decision), decision.wake_at)
    assert ([], ["PauseUnreadable"]) == (actions(garbled), reasons(garbled))


def test_a_pause_of_the_node_does_not_stop_what_runs() -> None:
    """A host that is held goes on to its end, or it would stay off."""
    decision = looked(a_world(a_remediation(Phase.POWER_ON), node=PAUSED))

    assert "PausedByPerson" not in reasons(decision)
