"""The turn of a beginning that may be refused: it asks, is tried for ten minutes, rests, and asks once more."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NOW, ago, later

from noderemedy.core.resting import Turn, kept, turn
from noderemedy.engine.cache import Cache
from noderemedy.model import budget
from noderemedy.model.budget import Need, need_ref
from noderemedy.model.decision import Fact
from noderemedy.model.observer import OBSERVER_AT, Observer
from noderemedy.model.outcome import Seen
from noderemedy.model.term import TERM_AT, Term

ASKS = Need(MACHINE_AT, "test", ago(60), is_running=False)
TRIED = replace(ASKS, tried=later(-540).mono)
OVER = replace(ASKS, tried=later(-600).mono)
LONG_OVER = replace(ASKS, tried=later(-9_000).mono)
RESTS = replace(ASKS, is_stuck=True, tried=later(-599).mono)
RESTED = replace(RESTS, tried=later(-600).mono)
STUCK = replace(ASKS, is_running=True, is_stuck=True, begun=later(-900).mono)
TURNS: dict[str, tuple[Need | None, bool, Turn]] = {
    "new": (None, False, Turn()),
    "asks": (ASKS, False, Turn()),
    "asks once more": (replace(ASKS, again=ago(5)), False, Turn(again=ago(5))),
    "granted": (ASKS, True, Turn(NOW.mono)),
    "granted once more": (replace(ASKS, again=ago(5)), True, Turn(NOW.mono, ago(5))),
    "is tried": (TRIED, True, Turn(TRIED.tried)),
    "its place is held back in a storm": (TRIED, False, Turn()),
    "had its time": (OVER, True, Turn(NOW.mono, None, later(600).mono)),
    "had its time long ago": (LONG_OVER, True, Turn(NOW.mono, None, later(600).mono)),
    "rests, whatever it is told": (RESTS, True, Turn(RESTS.tried, None, later(1).mono)),
    "rests from its second try": (replace(RESTS, again=ago(5)), True, Turn(RESTS.tried, None, later(1).mono)),
    "has rested, and is not asked about yet": (RESTED, True, Turn(again=NOW.wall)),
    "was stuck with something else": (STUCK, False, Turn(again=NOW.wall)),
}


@pytest.mark.parametrize("name", TURNS)
def test_whose_turn_it_is(name: str) -> None:
    """By what was stated at the last look, and whether it has its place and is tried."""
    before, is_tried, expected = TURNS[name]

    assert expected == turn(before, ago(60), NOW, is_tried=is_tried)


def test_its_place_is_given_back_in_time() -> None:
    """Nothing else has to happen."""
    assert [later(60).mono, None, None] == [
        one.due for one in (Turn(TRIED.tried), Turn(), Turn(NOW.mono, None, NOW.mono))
    ]


@pytest.mark.parametrize(("led_since", "is_known"), [(-9_999, True), (-60, False)])
def test_who_leads_again_tries_anew(led_since: float, is_known: bool) -> None:
    """What it stated when it led before may have been about another sickness of that machine."""
    cache = Cache(())
    cache.put(Seen(need_ref(MACHINE_AT, "test"), "", "", RESTS), NOW.mono)
    cache.put(Seen(TERM_AT, "", "", Term(7, later(led_since).mono)), NOW.mono)

    assert (RESTS if is_known else ASKS) == budget.stated(MACHINE_AT, "test", cache)


@pytest.mark.parametrize(("contact", "is_known"), [(-9_999, True), (-60, False), (None, True)])
def test_what_nobody_could_try_does_not_count(contact: float | None, is_known: bool) -> None:
    """After a gap in watching a try has its whole time; a rest is no longer for it."""
    cache = Cache(())
    if contact is not None:
        cache.put(Seen(OBSERVER_AT, "", "", Observer(later(contact).mono)), NOW.mono)
    found = []
    for one in (OVER, RESTS):
        cache.put(Seen(need_ref(MACHINE_AT, "test"), "", "", one), NOW.mono)
        found.append(budget.stated(MACHINE_AT, "test", cache))

    assert [OVER if is_known else ASKS, RESTS] == found


AGAIN = replace(ASKS, again=ago(5))
OUTSIDE = replace(ASKS, is_stuck=True, is_claimant=False)
KEPT: dict[str, tuple[Need | None, Need | None]] = {
    "new": (None, None),
    "asks": (ASKS, None),
    "is tried": (TRIED, None),
    "runs": (STUCK, None),
    "rests": (RESTS, replace(OUTSIDE, tried=RESTS.tried)),
    "asks once more": (AGAIN, replace(OUTSIDE, again=ago(5))),
    "is tried once more": (replace(AGAIN, tried=TRIED.tried), replace(OUTSIDE, again=ago(5))),
    "is outside since long": (replace(OUTSIDE, again=ago(5)), replace(OUTSIDE, again=ago(5))),
}


@pytest.mark.parametrize("name", KEPT)
def test_who_is_remembered_behind_a_closed_gate(name: str) -> None:
    """Who rests and who comes last; it takes no place, and claims nothing."""
    before, expected = KEPT[name]
    at = need_ref(MACHINE_AT, "test")

    assert [expected] * (expected is not None) == [one.value for one in kept(Fact(at, ASKS), before)]
