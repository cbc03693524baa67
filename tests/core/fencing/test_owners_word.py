"""The word of a FenceRemediation to an owner: its half hour runs from then on, and it goes when the machine is well."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, a_node, ago, later, present
from tests.core.fencing.fences import a_plan
from tests.core.fencing.test_escalation import (
    DELETING,
    IN_OTHER_WORDS,
    MACHINES,
    RUNS,
    WAITS,
    PausedInBetween,
    a_scene,
    acts,
    asks_of,
    because,
    broken,
    phase_of,
)
from tests.core.fencing.test_request import BOTH_WORDS, asked_without_node, is_gone, owner_word, reasons, request, told

from noderemedy.core.fencing import request as room
from noderemedy.core.fencing.requestgates import ASKED
from noderemedy.core.fencing.requestview import NAME
from noderemedy.model.actions import WriteFinalizers, WriteMachineConditions
from noderemedy.model.budget import Need
from noderemedy.model.fenceremediation import FINALIZER, FencePhase
from noderemedy.model.ids import FENCE_REMEDIATION, MACHINE, Ref
from noderemedy.model.machineconditions import OWNER_REMEDIATED, WARNING, Graded, MachineConditions
from noderemedy.model.node import Condition
from noderemedy.model.room import Absent

TRYING = Need(MACHINE_AT, NAME, ago(2_000), is_running=False, node=NODE_AT)
WELL = present(a_node(ready="True"))


def said(*current: Graded, older: tuple[Graded, ...] = ()) -> dict[str, Any]:
    return {"told": MachineConditions(current, older)}


# --- the half hour -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", MACHINES)
def test_time_in_which_nobody_was_asked_is_not_the_owner_s(at: Ref) -> None:
    """No manager ran for half an hour after the record, or the Cluster was paused: the turn begins anew."""
    decision = room.decide(a_scene(at, DELETING, seconds=1_860), NOW)
    waits = room.decide(a_scene(at, DELETING, seconds=1_860, answer=None, need=TRYING), NOW)

    assert (DELETING, ["Escalating"], WAITS) == (phase_of(decision), because(decision), asks_of(decision))
    assert (DELETING, ["Escalating"], WAITS) == (phase_of(waits), because(waits), asks_of(waits))


@pytest.mark.parametrize("at", MACHINES)
def test_who_cannot_ask_for_half_an_hour_says_so(at: Ref) -> None:
    """The API refuses the word, or the deletion: a person is told the truth, and the place is free for others."""
    decision = room.decide(a_scene(at, DELETING, seconds=1_800, need=TRYING), NOW)

    assert (FencePhase.FAILED, []) == (phase_of(decision), asks_of(decision))
    assert "could not be asked" in decision.because[0].note()


# When its owner was asked, seconds ago, by which field; the phase was recorded an hour ago.
SINCE: dict[str, Any] = {
    "as the Machine tells": lambda ago: {
        "conditions": (Condition(OWNER_REMEDIATED, "False", ago),),
        **said(ASKED, older=(ASKED,)),
    },
    "by either generation": lambda ago: {
        "conditions": (Condition(OWNER_REMEDIATED, "False", later(0).wall),),
        "older_conditions": (Condition(OWNER_REMEDIATED, "False", ago), Condition("Ready", "False", later(0).wall)),
        **said(ASKED, older=(ASKED,)),
    },
    "when it was deleted": lambda ago: {"deleting": True, "deleted_at": ago},
}


@pytest.mark.parametrize("name", SINCE)
def test_the_owner_has_half_an_hour_from_when_it_was_asked(name: str) -> None:
    """However long it took to ask; then it is told that the owner did not act."""
    waits = room.decide(a_scene(phase=DELETING, seconds=3_600, machine=SINCE[name](ago(1_799))), NOW)
    late = room.decide(a_scene(phase=DELETING, seconds=3_600, machine=SINCE[name](ago(1_800))), NOW)

    assert (["WaitingForOwner"], RUNS, later(1).mono) == (because(waits), asks_of(waits), waits.wake_at)
    assert FencePhase.FAILED is phase_of(late)
    assert "did not replace it" in late.because[0].note()


def test_a_word_of_long_ago_shortens_nothing() -> None:
    """Somebody else had asked the owner yesterday: this turn has its own half hour."""
    machine = SINCE["as the Machine tells"](ago(86_400))

    assert ["WaitingForOwner"] == because(room.decide(a_scene(phase=DELETING, seconds=60, machine=machine), NOW))


# --- taking it back ----------------------------------------------------------------------------------------------

LEAVES = {"deleting": True}
BY_CHECK = Graded(OWNER_REMEDIATED, "False", ASKED.reason, "asked for by MachineHealthCheck all", severity=WARNING)


@pytest.mark.parametrize("machine", [said(ASKED), said(ASKED, older=(ASKED,)), said(older=(ASKED,))])
def test_the_word_goes_with_the_request_of_a_machine_that_is_well(machine: dict[str, Any]) -> None:
    """While its fence goes, and before the finalizer does: nobody replaces a machine that is well."""
    other = Graded("HealthCheckSucceeded", "True")
    told = replace(machine["told"], older=(*machine["told"].older, other))
    view = a_scene(phase=DELETING, machine={"told": told}, request=LEAVES, node_entry=WELL)
    assert view.fence is not None
    goes = replace(view, fence_entry=present(replace(view.fence, deleting=True)))

    assert ["DeleteNodeFence"] == acts(room.decide(view, NOW)), "nothing waits behind a write that may be refused"
    for one in (goes, replace(view, fence_entry=Absent())):
        decision = room.decide(one, NOW)
        (write,) = decision.actions
        assert isinstance(write, WriteMachineConditions)
        assert ((), (other,), ["OwnerAskedNoMore"]) == (write.current, write.older, because(decision))


STAYS: dict[str, dict[str, Any]] = {
    "an owner tells of itself": {"machine": said(IN_OTHER_WORDS)},
    "a check has asked": {"machine": said(BY_CHECK, older=(BY_CHECK,))},
    "an owner tells of itself in one generation": {"machine": said(ASKED, older=(IN_OTHER_WORDS,))},
    "nothing is said": {"machine": said()},
    "the node is still silent": {"machine": said(ASKED), "node_entry": present(a_node(ready="Unknown"))},
    "a node of that name is another machine's": {"machine": {"provider_id": "metal3://another", **said(ASKED)}},
    "there is no node": {"machine": said(ASKED), "node_entry": Absent()},
    "the machine goes": {"machine": {"deleting": True, **said(ASKED)}},
}


@pytest.mark.parametrize("name", STAYS)
def test_what_is_not_ours_or_still_true_stays(name: str) -> None:
    """The request leaves as before."""
    view = a_scene(phase=DELETING, **{"request": LEAVES, "node_entry": WELL, **STAYS[name]})

    assert ["DeleteNodeFence"] == acts(room.decide(view, NOW))
    assert ["WriteFinalizers"] == acts(room.decide(replace(view, fence_entry=Absent()), NOW))


def test_who_leaves_a_word_stays_to_take_it_back() -> None:
    """A request for a machine without a node has no finalizer yet: that comes first."""
    (write,) = room.decide(a_scene(phase=DELETING, request={"finalizers": ("other",)}), NOW).actions

    assert isinstance(write, WriteFinalizers)
    assert ("other", FINALIZER) == write.finalizers


# --- stories -----------------------------------------------------------------------------------------------------


def test_a_cluster_that_is_paused_right_after_the_record_costs_the_owner_nothing() -> None:
    """An upgrade of forty minutes: afterwards the owner is asked, and waited for."""
    story = PausedInBetween()
    story.machine()
    story.hang()
    story.configure(a_plan(problems=("fence-config-worker-0: no plug",)))
    request(story, nodeReadyTimeout="2m")
    story.run(2_400)
    before = (told(story).phase, owner_word(story))
    story.goes_on()
    story.run(60)

    assert (DELETING, []) == before
    assert BOTH_WORDS == owner_word(story)
    assert ["WaitingForOwner"] == reasons(story)


@pytest.mark.parametrize("begin", [broken, asked_without_node])
def test_nothing_is_left_on_a_machine_that_came_back(begin: Any) -> None:
    """The owner could not begin yet, the node is Ready, and its check deletes the request."""
    story = begin()
    story.run_until(lambda: bool(owner_word(story)), 600)
    status = {"status": {"nodeRef": {"name": NODE_AT.name}}}
    story.api.patch(MACHINE, "worker-0", "metal", status, "merge", subresource="status")
    story.ready("True")
    story.api.delete(FENCE_REMEDIATION, "worker-0", "metal")
    story.run(60)

    assert (True, []) == (is_gone(story), owner_word(story))
