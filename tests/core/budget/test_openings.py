"""Maintenance windows: open from their first to before their last minute, over midnight, on their days only."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import NOW
from tests.core.budget.asking import a_budget_view, a_ledger, a_reservation, an_ask

from noderemedy.core.budget.grants import reckon
from noderemedy.core.budget.openings import closes_at, opens_at
from noderemedy.model.remediationbudget import DEFAULT, Opening
from noderemedy.model.time import Wall

NIGHT = Opening((5, 6), 22 * 60, 6 * 60)  # Saturday and Sunday, 22:00 to 04:00


def at(text: str) -> Wall:
    return Wall(round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000))


@pytest.mark.parametrize(
    ("moment", "opens"),
    [
        ("2030-03-16T21:59:59", "2030-03-16T22:00:00"),  # a Saturday
        ("2030-03-16T22:00:00", None),
        ("2030-03-17T03:59:59", None),
        ("2030-03-17T04:00:00", "2030-03-17T22:00:00"),
        ("2030-03-18T03:59:59", None),  # Monday, in the window of Sunday
        ("2030-03-18T04:00:00", "2030-03-23T22:00:00"),
        ("2030-03-20T12:00:00", "2030-03-23T22:00:00"),
    ],
)
def test_a_window_belongs_to_the_day_on_which_it_began(moment: str, opens: str | None) -> None:
    """At every edge it is open or says when it opens next."""
    assert (at(opens) if opens else None) == opens_at((NIGHT,), at(moment))


def test_without_windows_it_is_always_open() -> None:
    """Nobody asked for windows: nothing waits for one."""
    assert opens_at((), at("2030-03-20T12:00:00")) is None


def test_the_next_of_several_counts() -> None:
    """The earliest opening is named."""
    noon = Opening((2,), 12 * 60, 60)

    assert at("2030-03-20T12:00:00") == opens_at((NIGHT, noon), at("2030-03-20T11:00:00"))


@pytest.mark.parametrize(
    ("some", "moment", "closes"),
    [
        ((NIGHT,), "2030-03-16T22:00:00", "2030-03-17T04:00:00"),
        ((NIGHT,), "2030-03-17T03:59:59", "2030-03-17T04:00:00"),
        ((NIGHT,), "2030-03-17T04:00:00", None),
        ((NIGHT, Opening((6,), 4 * 60, 60)), "2030-03-16T23:00:00", "2030-03-17T05:00:00"),
        ((Opening(tuple(range(7)), 0, 24 * 60),), "2030-03-16T23:00:00", None),
        ((), "2030-03-16T23:00:00", None),
    ],
)
def test_when_what_is_open_closes(some: tuple[Opening, ...], moment: str, closes: str | None) -> None:
    """One window that follows upon another is no end; what never closes has none."""
    assert (at(closes) if closes else None) == closes_at(some, at(moment))


openings = st.builds(
    Opening,
    st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days))),
    st.integers(0, 1439),
    st.integers(1, 1440),
)


@settings(max_examples=100)
@given(st.lists(openings, min_size=1, max_size=3).map(tuple), st.integers(0, 4_000_000_000))
def test_at_the_opening_it_is_open(some: tuple[Opening, ...], second: int) -> None:
    """What is named lies ahead, within a week, and is a moment at which repairs may begin."""
    now = Wall(second * 1000)
    opens = opens_at(some, now)

    assert opens is None or (0 < opens.since(now).ms <= 7 * 86_400_000 and opens_at(some, opens) is None)


def test_the_budget_looks_when_the_window_closes() -> None:
    """What is granted and has not begun by then may not begin any more; and that nothing may is told in any case."""
    always = Opening(tuple(range(7)), 0, 24 * 60 - 1)  # to a minute before midnight
    budget = replace(DEFAULT, openings=(always,))
    waits, runs = (
        a_budget_view(an_ask(is_running=is_running), ledger=a_ledger(a_reservation()), budget=budget)
        for is_running in (False, True)
    )

    assert closes_at((always,), NOW.wall) is not None
    assert {closes_at((always,), NOW.wall)} == {reckon(waits, NOW).until, reckon(runs, NOW).until}
