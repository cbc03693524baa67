"""A deletion that is refused rests before it asks once more, longer each time; meanwhile others have their turn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, ago, later, present
from tests.core.fencing.story import Story, a_tree
from tests.core.owner.scene import AT, GRANTED, MINE, a_scene, a_sick_machine, kinds, reasons, recorded
from tests.core.owner.test_refused import REFUSED, says

from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.owner import replacing
from noderemedy.core.owner.replacing import decide
from noderemedy.core.owner.view import View
from noderemedy.model.actions import DeleteMachine, RecordReplacement
from noderemedy.model.budget import Need
from noderemedy.model.decision import Decision
from noderemedy.model.ids import CONFIG_MAP, MACHINE, NODE, SYSTEM
from noderemedy.model.lease import Lease
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.meta import Paused
from noderemedy.model.outcome import Effect, Failed, Outcome
from noderemedy.model.reasons import (
    ClaimedByOther,
    DeletionOverdue,
    OwnNode,
    PausedByPerson,
    RepairStuck,
    ReplacementBegun,
    TooManyInFlight,
    WaitingForBudget,
)
from noderemedy.model.replacement import Step
from noderemedy.model.time import Mono

MINUTE = 60


def given_back(took: int, rested: int) -> View:
    """A deletion that was tried for the last time when it had taken so many minutes, so many minutes ago."""
    ended = Mono(NOW.mono.ms - rested * 60_000)
    need = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT, is_stuck=True, tried=ended)
    machine = recorded(Step.DELETE, seconds=(took + rested) * MINUTE, **says("DeletionFailed"))
    return replace(a_scene(machine, answer=None), need=need)


def stated(decision: Decision) -> Need:
    (need,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]
    return need


@pytest.mark.parametrize(("took", "minutes"), [(0, 10), (10, 10), (30, 30), (70, 60), (600, 60)])
def test_the_rests_grow(took: int, minutes: int) -> None:
    """As long as it took so far, ten minutes at least, an hour at most; it keeps no place, and people are told."""
    rests, rested = (decide(given_back(took, after), NOW) for after in (minutes - 1, minutes))

    overdue = [DeletionOverdue] if took + minutes > 10 else []
    assert ([], [*overdue, RepairStuck], later(MINUTE).mono) == (kinds(rests), reasons(rests), rests.wake_at)
    assert (False, True, None) == (stated(rests).is_running, stated(rests).is_stuck, stated(rests).again)
    assert ([], [DeletionOverdue, WaitingForBudget]) == (kinds(rested), reasons(rested))
    assert (False, False, NOW.wall) == (stated(rested).is_running, stated(rested).is_stuck, stated(rested).again)


def test_it_asks_once_more_since_it_has_rested() -> None:
    """However long it waits then, and while it is tried."""
    asks = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT, again=ago(300))
    waits = decide(replace(given_back(10, 15), need=asks, answer=REFUSED), NOW)
    view = given_back(10, 15)
    granted = decide(replace(view, need=asks, answer=replace(GRANTED, begins=(view.begins,))), NOW)

    assert ([DeletionOverdue, TooManyInFlight], ago(300)) == (reasons(waits), stated(waits).again)
    assert (ago(300), NOW.mono) == (stated(granted).again, stated(granted).tried)


@pytest.mark.parametrize(("word", "again"), [("DeletionFailed", NOW.wall), ("DrainFailed", None)])
def test_a_successor_knows_by_the_machine_that_it_was_tried(word: str, again: Any) -> None:
    """Whoever waits for the first time goes first after a change of leaders, too."""
    view = a_scene(recorded(Step.DELETE, **says(word)), answer=None)

    assert again == stated(decide(view, NOW)).again


@pytest.mark.parametrize(("minutes", "is_rest"), [(9, False), (10, True)])
def test_a_record_that_is_refused_rests_as_well(minutes: int, is_rest: bool) -> None:
    """Before anything is done, too, what cannot begin keeps no place from others."""
    tried = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT, tried=Mono(NOW.mono.ms - minutes * 60_000))
    decision = decide(replace(a_scene(), need=tried), NOW)

    assert [RepairStuck if is_rest else ReplacementBegun] == reasons(decision)
    assert ([] if is_rest else [RecordReplacement], is_rest) == (kinds(decision), stated(decision).is_stuck)
    assert later(10 * MINUTE if is_rest else MINUTE).mono == decision.wake_at


def test_who_waits_for_another_repair_to_end_keeps_its_turn() -> None:
    """It tries nothing, so nobody has to look at it."""
    lease = present(Lease("lease-uid", "metal3"))
    view = a_scene(claim=replace(MINE, entry=lease, is_other_about_it=True))
    decision = decide(view, NOW)

    assert ([ClaimedByOther], None) == (reasons(decision), stated(decision).tried)


def test_who_waits_for_a_person_rests() -> None:
    """The only manager runs on that very node: it does not keep a place there for ever."""
    tried = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT, tried=later(-600).mono)
    here = a_scene(claim=replace(MINE, is_own=True))
    first, over = decide(here, NOW), decide(replace(here, need=tried), NOW)

    assert ([OwnNode], NOW.mono) == (reasons(first), stated(first).tried)
    assert ([RepairStuck], True) == (reasons(over), stated(over).is_stuck)


WHY = "DeleteMachine of Machine/cloud/pool-a is refused: not today"
NOTES = {"refused": WHY, "overdue": DeletionOverdue(ago(25 * MINUTE), WHY).note()}


@pytest.mark.parametrize("name", NOTES)
def test_who_rests_tells_what_the_api_said(name: str) -> None:
    """In the same words as while it tried: not that nothing was refused, and not as news."""
    view = given_back(10, 15)
    told = MachineConditions(older=(Graded("OwnerRemediated", "False", "DeletionFailed", NOTES[name]),))
    decision = decide(replace(view, machine=replace(view.machine, told=told)), NOW)

    assert DeletionOverdue(ago(25 * MINUTE), WHY) == decision.because[0]


@pytest.mark.parametrize("step", [None, Step.DELETE])
def test_a_pause_ends_no_rest(step: Step | None) -> None:
    """Before anything is done as well as before the deletion: it rests on, and has no place."""
    pause = Paused(None)
    machine = recorded(step, paused=pause) if step else a_sick_machine(paused=pause)
    before = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT, is_stuck=True, tried=later(-300).mono)
    halted = decide(replace(a_scene(machine, answer=None), need=before), NOW)
    rests = replace(a_scene(recorded(step) if step else None, answer=None), need=stated(halted))
    again = decide(replace(rests, need=replace(stated(halted), is_stuck=True, tried=None, again=ago(5))), NOW)

    found = stated(halted)
    assert ([PausedByPerson], True, later(-300).mono) == (reasons(halted), found.is_stuck, found.tried)
    assert RepairStuck in reasons(decide(rests, NOW))
    assert ago(5) == stated(again).again


# --- with the budget ---------------------------------------------------------------------------------------------


class Refusing(Story):
    """Twenty nodes; a webhook lets only the Machine of other-9 be deleted."""

    rooms = (replacing.ROOM, health.ROOM, budget.ROOM)

    def _others(self) -> None:
        for number in range(1, 20):
            self._created(a_tree(f"other-{number}", "True", "boot-1"))

    def _carry_out(self, effect: Effect) -> Outcome:
        if isinstance(effect.action, DeleteMachine) and effect.action.ref.name != "other-9":
            return Failed("admission webhook denied the request", lasting=True)
        return super()._carry_out(effect)

    def falls_sick(self, name: str) -> None:
        """Its node is silent, and its owner, which is us, is asked."""
        notes = {"node-remedy.dev/owner": "node-remedy"}
        self.api.create(
            {
                "apiVersion": "cluster.x-k8s.io/v1beta1",
                "kind": "Machine",
                "metadata": {"name": name, "namespace": "metal", "annotations": notes},
                "spec": {"clusterName": "prod", "bootstrap": {"dataSecretName": "x"}},
            }
        )
        since = {"lastTransitionTime": str(self.now.wall)}
        asked = {"type": "OwnerRemediated", "status": "False", "reason": "WaitingForRemediation", **since}
        status = {"nodeRef": {"name": name}, "conditions": [asked]}
        self.api.patch(MACHINE, name, "metal", {"status": status}, "merge", subresource="status")
        silent = {"conditions": [{"type": "Ready", "status": "Unknown", **since}]}
        self.api.patch(NODE, name, "", {"status": silent}, "merge", subresource="status")

    def is_deleted(self, name: str) -> bool:
        found = self.api.find(MACHINE, name, "metal")
        return found is None or "deletionTimestamp" in found["metadata"]

    @property
    def starts(self) -> int:
        """Of the hour."""
        (text,) = self.api.get(CONFIG_MAP, "budget-ledger", SYSTEM)["data"].values()
        return len(json.loads(text)["starts"])


def test_refused_deletions_leave_places_and_starts_to_others() -> None:
    """Three are refused for hours; the places are two. A fourth machine falls sick, and has its turn soon."""
    story = Refusing()
    for number in (1, 2, 3):
        story.falls_sick(f"other-{number}")
    story.run(3_600)
    in_the_first_hour = story.starts
    story.run(600)
    story.falls_sick("other-9")
    story.run(700)

    assert in_the_first_hour <= 5, "half of the hour's ten"
    assert story.is_deleted("other-9")
    assert 3 == story.told.count("DeletionOverdue"), "told once for each"
