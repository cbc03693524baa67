"""A repair that cannot even be asked for (a webhook, missing rights, a quota) keeps no place: it rests, asks again."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, absent, ago, later
from tests.core.external.test_lifecycle import a_request_view
from tests.core.healthcheck.remediations import SICK, TEMPLATE, a_view, decide, names, reasons
from tests.core.healthcheck.targets import a_check
from tests.core.healthcheck.test_remediation import ROOMS, Stage, at

from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.budget import spec as budget_spec
from noderemedy.core.claim import Claim
from noderemedy.core.healthcheck.remediationview import RemediationView
from noderemedy.engine.assumed import assumed
from noderemedy.model.actions import Action, MarkMachine, WriteLedger, WriteMachineConditions
from noderemedy.model.budget import Need
from noderemedy.model.decision import Decision
from noderemedy.model.healthcheck import Count, Dialect
from noderemedy.model.lease import Lease
from noderemedy.model.machineconditions import Graded
from noderemedy.model.outcome import Done, Failed
from noderemedy.model.time import Mono

MINUTE = 60
WAYS: dict[str, tuple[RemediationView, str]] = {
    "a mark": (a_view(a_check(annotation_mode=True)), "MarkMachine"),
    "a request": (a_view(a_check(template=TEMPLATE), requests=a_request_view()), "CreateRequest"),
    "a word to its owner": (a_view(), "WriteMachineConditions"),
    "a deletion": (a_view(a_check(Dialect.OPENSHIFT)), "DeleteMachine"),
}


def stated(decision: Decision) -> Need:
    (need,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]
    return need


def tried(view: RemediationView, minutes: int, *, is_stuck: bool = False) -> RemediationView:
    """It is tried since so many minutes, or rests since then."""
    since = Mono(NOW.mono.ms - minutes * 60_000)
    need = Need(view.at, "remediation", SICK.since, False, NODE_AT, is_stuck=is_stuck, tried=since)
    return replace(view, need=need)


def asks(decision: Decision) -> bool:
    """Whether anything is asked of anybody; that it is sick is told in any case."""
    told = [one for one in decision.actions if isinstance(one, WriteMachineConditions)]
    words = [one.type for write in told for one in write.older or () if isinstance(one, Graded)]
    return "OwnerRemediated" in words or len(told) < len(decision.actions)


@pytest.mark.parametrize("way", WAYS)
def test_what_was_granted_has_ten_minutes(way: str) -> None:
    """As long as it is tried it has its place; then it gives that back and tries nothing, and a person is told."""
    view, act = WAYS[way]
    first, last, over = decide(view), decide(tried(view, 9)), decide(tried(view, 10))

    assert (act, NOW.mono, later(600).mono) == (names(first.actions)[0], stated(first).tried, first.wake_at)
    assert (act, later(MINUTE).mono) == (names(last.actions)[0], last.wake_at)
    assert (False, True, NOW.mono) == (stated(over).is_running, stated(over).is_stuck, stated(over).tried)
    assert ("RepairStuck", False) == (reasons(over)[0], asks(over))


@pytest.mark.parametrize(("minutes", "rests"), [(9, True), (10, False)])
def test_it_asks_again_when_it_has_rested(minutes: int, rests: bool) -> None:
    """Behind those who ask for the first time, and whatever it was granted before."""
    decision = decide(tried(WAYS["a mark"][0], minutes, is_stuck=True))

    assert rests == stated(decision).is_stuck
    assert ("RepairStuck" if rests else "WaitingForBudget") == reasons(decision)[0]
    assert (None if rests else NOW.wall) == stated(decision).again
    assert not asks(decision)


def test_a_long_sickness_rests_for_long() -> None:
    """As long as it took so far, an hour at most."""
    view = a_view(a_check(annotation_mode=True), replace(SICK, since=ago(30 * MINUTE)))

    assert later(30 * MINUTE).mono == decide(tried(view, 10)).wake_at


def test_who_waits_for_another_repair_is_not_stuck() -> None:
    """It tries nothing: whoever holds the claim is at work, and nobody has to look."""
    view, _ = WAYS["a deletion"]
    other = Claim(NODE_AT, replace(view.entry, obj=Lease("lease-uid", "another")), "us", is_other_about_it=True)
    waits = decide(tried(replace(view, claim=other), 5))

    assert (["ClaimedByOther"], None, False) == (reasons(waits), stated(waits).tried, stated(waits).is_stuck)


HINDRANCES: dict[str, RemediationView] = {
    "the check's own limit": a_view(a_check(annotation_mode=True), is_open=False),
    "a gap in watching": a_view(a_check(annotation_mode=True), contact_since=None),
    "no template": a_view(a_check(template=TEMPLATE), requests=a_request_view(template=absent())),
}


@pytest.mark.parametrize("name", HINDRANCES)
def test_a_gate_that_closes_ends_no_rest(name: str) -> None:
    """It rests on, without a place; who asks for the first time states nothing there."""
    view = HINDRANCES[name]
    rests, new = decide(tried(view, 5, is_stuck=True)), decide(tried(view, 5))

    assert (False, True) == (stated(rests).is_running, stated(rests).is_stuck)
    assert Mono(NOW.mono.ms - 5 * 60_000) == stated(rests).tried
    assert [] == [fact for fact in new.facts if isinstance(fact.value, Need)]


def test_who_waits_for_a_person_keeps_no_place() -> None:
    """The only manager runs on that very node: after ten minutes in its place it rests."""
    view, _ = WAYS["a deletion"]
    here = replace(view, claim=Claim(NODE_AT, absent(), "us", is_own=True))
    first, over = decide(here), decide(tried(here, 10))

    assert ("OwnNode", NOW.mono) == (reasons(first)[0], stated(first).tried)
    assert ("RepairStuck", True) == (reasons(over)[0], stated(over).is_stuck)


class Refusing(Stage):
    """Twenty machines; a webhook lets nobody write to the first two."""

    rooms = (*ROOMS, health.ROOM, budget.ROOM, budget_spec.ROOM)

    def outcome(self, action: Action) -> Any:
        if isinstance(action, MarkMachine) and action.ref in (at(0), at(1)):
            return Failed("admission webhook denied the request", lasting=True)
        if isinstance(action, WriteLedger):
            self.version += 1
            written = assumed(action)
            assert written is not None
            return Done(self.now.mono, replace(written, resource_version=str(self.version)))
        return super().outcome(action)


def test_refused_marks_leave_their_places_to_others() -> None:
    """Two places, two machines that cannot be marked: a third one that falls sick later is marked all the same."""
    stage = Refusing(a_check(annotation_mode=True), size=20)
    for number in (0, 1):
        stage.node(number, "Unknown")
    for _ in range(30):
        stage.step(MINUTE)
    stage.node(7, "Unknown")
    for _ in range(20):
        stage.step(MINUTE)

    assert stage.machine(7).needs_remediation
    assert [["RepairStuck"]] * 2 == [stage.why(0), stage.why(1)]


def test_a_moment_of_trouble_brings_nobody_to_the_front() -> None:
    """Two rest; three nodes blink, so that the check's own limit closes for a second: they rest on."""
    stage = Refusing(a_check(annotation_mode=True, max_unhealthy=Count(5)), size=20)
    for number in (0, 1):
        stage.node(number, "Unknown")
    while [["RepairStuck"]] * 2 != [stage.why(0), stage.why(1)]:
        stage.step(MINUTE)
    for ready in ("Unknown", "True"):
        for number in (8, 9, 10):
            stage.node(number, ready)
        stage.step(1)

    assert [["RepairStuck"]] * 2 == [stage.why(0), stage.why(1)]
