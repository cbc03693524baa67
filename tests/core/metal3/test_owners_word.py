"""The word of a Metal3Remediation to an owner goes with the request, where the machine is well by then."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import a_machine, a_node
from tests.core.metal3.remediations import BACK, SICK, a_remediation, a_world, actions, looked, reasons

from noderemedy.core.conditions import along
from noderemedy.core.fencing.requestgates import ASKED as OF_A_FENCE
from noderemedy.core.metal3.remediationgates import ASKED
from noderemedy.model.actions import WriteMachineConditions
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.remediation import Phase

OTHER = Graded("HealthCheckSucceeded", "True")
OF_AN_OWNER = replace(ASKED, message="node-remedy replaces the Machine")


def told(*current: Graded, older: tuple[Graded, ...] = (), **more: Any) -> dict[str, Any]:
    return {"machine": replace(a_machine(), told=MachineConditions(current, older), **more)}


@pytest.mark.parametrize("phase", [Phase.DELETING_MACHINE, Phase.FAILED, Phase.WAITING])
@pytest.mark.parametrize("words", [told(ASKED, OTHER), told(ASKED, OTHER, older=(ASKED,))])
def test_the_word_goes_with_the_request_of_a_machine_that_is_well(words: dict[str, Any], phase: Phase) -> None:
    """Before the finalizer goes: nobody replaces a machine that is well, neither now nor at its next sickness."""
    decision = looked(a_world(a_remediation(phase, deleting=True), node=BACK, **words))

    (write,) = decision.actions
    assert isinstance(write, WriteMachineConditions)
    assert ((OTHER,), ()) == (write.current, write.older)
    assert ["OwnerAskedNoMore"] == reasons(decision)


def test_what_was_said_along_goes_with_the_word() -> None:
    """Nobody else says how the machine is: it shall not be called sick for ever."""
    words = told(ASKED, along(ASKED), older=(ASKED, along(ASKED)))
    decision = looked(a_world(a_remediation(Phase.FAILED, deleting=True), node=BACK, **words))

    (write,) = decision.actions
    assert isinstance(write, WriteMachineConditions)
    assert ((), ()) == (write.current, write.older)


STAYS: dict[str, dict[str, Any]] = {
    "a FenceRemediation has asked": told(OF_A_FENCE),
    "an owner tells of itself": told(OF_AN_OWNER),
    "an owner tells of itself in one generation": told(ASKED, older=(OF_AN_OWNER,)),
    "nothing is said": told(OTHER),
    "a FenceRemediation has asked, and said along": told(OF_A_FENCE, along(OF_A_FENCE)),
    "the node is still silent": {"node": SICK, **told(ASKED)},
    "the node of that name is another machine's": {"node": a_node(provider_id="metal3://another"), **told(ASKED)},
    "there is no node": {"node": None, **told(ASKED)},
    "the machine goes": told(ASKED, deleting=True),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_is_not_ours_or_still_true_stays(name: str) -> None:
    """The request leaves as before."""
    decision = looked(a_world(a_remediation(Phase.FAILED, deleting=True), **{"node": BACK, **STAYS[name]}))

    assert (["WriteFinalizers"], ["RemediationLeaves"]) == (actions(decision), reasons(decision))


@pytest.mark.parametrize("changes", [{"deleting": True, "cluster_paused": True}, {}])
def test_nothing_is_taken_back_from_who_stays_or_is_paused(changes: dict[str, Any]) -> None:
    """The owner's turn goes on; in a paused Cluster nothing is written."""
    words = told(ASKED, older=(ASKED,))
    decision = looked(a_world(a_remediation(Phase.DELETING_MACHINE, **changes), node=BACK, **words))

    assert not [action for action in decision.actions if isinstance(action, WriteMachineConditions)]
