"""When a repair that runs gives its slot back: it had its time, does nothing, and somebody was told."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, NOW, later

from noderemedy.core.slots import GIVEN_UP_AFTER, settled
from noderemedy.engine.cache import Cache
from noderemedy.model import budget
from noderemedy.model.actions import Action, Confirm, Guard, UnmarkHost
from noderemedy.model.budget import Need, need
from noderemedy.model.decision import Decision
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import (
    CannotSeeCluster,
    ClusterPaused,
    HostPaused,
    NodeNotOurs,
    PausedByPerson,
    Reason,
    RepairStuck,
    WaitingForReady,
)
from noderemedy.model.refusal import Refusal
from noderemedy.model.term import TERM_AT, Term
from noderemedy.model.time import Mono

ALERT, WORD = NodeNotOurs("worker-0", "a", "b"), WaitingForReady("worker-0")
RUNNING = need(MACHINE_AT, "test", NOW.wall, is_running=True)
ACT = UnmarkHost(HOST_AT, Guard("uid"), ())
assert isinstance(RUNNING.value, Need)
KNOWN = replace(RUNNING.value, begun=NOW.mono)


def a_decision(*because: Reason, actions: tuple[Action, ...] = ()) -> Decision:
    return Decision(actions, because, facts=(RUNNING,))


def stated(decision: Decision) -> tuple[Mono | None, bool]:
    (fact,) = decision.facts
    assert isinstance(fact.value, Need)
    return fact.value.begun, fact.value.is_stuck


# decision, what was stated before, seconds after it began -> stuck?
CASES: dict[str, tuple[Decision, Need, float, bool]] = {
    "an alert, and its time is over": (a_decision(ALERT), KNOWN, 600, True),
    "an alert, and its time is not over": (a_decision(ALERT), KNOWN, 599, False),
    "long, but nobody is told": (a_decision(WORD), KNOWN, 9_999, False),
    "somebody has paused its host": (a_decision(HostPaused("metal/rack1-u07", "paused")), KNOWN, 600, True),
    "somebody has paused it, and its time is not over": (a_decision(PausedByPerson(None)), KNOWN, 599, False),
    "its cluster is paused": (a_decision(ClusterPaused()), KNOWN, 600, True),
    "its cluster cannot be seen": (a_decision(CannotSeeCluster("default/c1", "timed out")), KNOWN, 600, True),
    "an alert, and something is done": (a_decision(ALERT, actions=(ACT,)), KNOWN, 9_999, False),
    "an alert, and something is read": (a_decision(ALERT, actions=(Confirm(HOST_AT),)), KNOWN, 600, True),
    "stuck before, and nothing is said now": (a_decision(WORD), replace(KNOWN, is_stuck=True), 700, True),
    "stuck before, and it goes on": (a_decision(actions=(ACT,)), replace(KNOWN, is_stuck=True), 700, False),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_stuck(case: str) -> None:
    """Its time by our own clock, an alert or a pause, and nothing done: all three; and it is told."""
    decision, before, seconds, is_stuck = CASES[case]

    found = settled(decision, before, later(seconds))

    assert (NOW.mono, is_stuck) == stated(found)
    assert is_stuck == (RepairStuck("worker-0") in found.because)


@pytest.mark.parametrize(("is_pending", "expected"), [(True, (NOW.mono, True)), (False, (later(700).mono, False))])
def test_a_power_off_that_is_carried_out_at_last_goes_on(is_pending: bool, expected: tuple[Mono, bool]) -> None:
    """A host that has just gone off is in flight again, though nothing is to be done yet; and has its time anew."""
    before = replace(KNOWN, is_stuck=True, is_off_pending=True)
    now = need(MACHINE_AT, "test", NOW.wall, is_running=True, is_off_pending=is_pending)

    assert expected == stated(settled(Decision((), (ALERT,), facts=(now,)), before, later(700)))


def test_what_we_learn_of_has_its_whole_time() -> None:
    """A repair that was only wanted before, or that another leader began, begins for us now."""
    for before in (None, replace(KNOWN, is_running=False)):
        assert (later(9_999).mono, False) == stated(settled(a_decision(ALERT), before, later(9_999)))


def test_the_next_look_is_when_its_time_is_over() -> None:
    """Nothing else may happen until then."""
    assert NOW.mono + GIVEN_UP_AFTER == settled(a_decision(ALERT), KNOWN, later(60)).wake_at
    assert settled(a_decision(WORD), KNOWN, later(60)).wake_at is None


def test_it_comes_to_rest() -> None:
    """Looking again with what was stated says the same."""
    once = settled(a_decision(ALERT), KNOWN, later(600))
    (fact,) = once.facts
    assert isinstance(fact.value, Need)

    assert once == settled(a_decision(ALERT), fact.value, later(601))


def test_what_its_room_calls_stuck_is_so_at_once() -> None:
    """A pause between attempts: nobody has to look at it."""
    rests = need(MACHINE_AT, "test", NOW.wall, is_running=True, is_stuck=True)

    found = settled(Decision(because=(ALERT,), facts=(rests,)), KNOWN, later(1))

    assert ((NOW.mono, True), (ALERT,), None) == (stated(found), found.because, found.wake_at)


def test_who_runs_nothing_is_left_alone() -> None:
    """A need that waits, or none at all."""
    waiting = Decision(because=(ALERT,), facts=(need(MACHINE_AT, "test", NOW.wall, is_running=False),))

    assert [waiting, Decision()] == [settled(one, KNOWN, later(9_999)) for one in (waiting, Decision())]


@pytest.mark.parametrize(("led_since", "expected"), [(0, (NOW.mono, True)), (3_000, (later(3_600).mono, False))])
def test_who_leads_again_gives_a_repair_its_whole_time(led_since: float, expected: tuple[Mono, bool]) -> None:
    """What it stated when it led before may have been about another repair; what it stated since then counts."""
    cache = Cache(())
    cache.put(Seen(RUNNING.ref, "", "", replace(KNOWN, is_stuck=True)), NOW.mono)
    cache.put(Seen(TERM_AT, "", "", Term(7, later(led_since).mono)), NOW.mono)
    before = budget.stated(MACHINE_AT, "test", cache)

    assert expected == stated(settled(a_decision(ALERT), before, later(3_600)))


OTHER_ACT = UnmarkHost(MACHINE_AT, Guard("uid"), ())
REFUSED = Refusal("UnmarkHost", HOST_AT, "a webhook said no")
HELD_UP: dict[str, tuple[tuple[Action, ...], Refusal | None, float, bool]] = {
    "its time is over": ((ACT,), REFUSED, 600, True),
    "its time is not over": ((ACT,), REFUSED, 599, False),
    "something else is done": ((OTHER_ACT,), REFUSED, 9_999, False),
    "nothing was refused": ((ACT,), None, 9_999, False),
    "nothing is done": ((), REFUSED, 9_999, False),
}


@pytest.mark.parametrize("name", HELD_UP)
def test_what_the_api_refuses_is_stuck(name: str) -> None:
    """Nothing comes about by trying: a person was told, and others are not kept waiting."""
    actions, refused, seconds, is_stuck = HELD_UP[name]
    decision = settled(a_decision(WORD, actions=actions), KNOWN, later(seconds), refused)

    assert (NOW.mono, is_stuck) == stated(decision)
    assert is_stuck is (RepairStuck(MACHINE_AT.name) in decision.because)
