"""Wall, Mono and Span do not mix: at run time, and for mypy (see test_types.py)."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.time import MINUTE, SECOND, Mono, Now, Span, Wall
from noderemedy.wire.scalars import read_wall

times = st.integers(-(10**12), 10**12)
WALL: Any = Wall(1)
MONO: Any = Mono(1)
SPAN: Any = Span(1)


@pytest.mark.parametrize(("one", "other"), [(WALL, MONO), (MONO, WALL), (WALL, SPAN), (MONO, SPAN), (SPAN, WALL)])
def test_different_clocks_cannot_be_compared(one: Any, other: Any) -> None:
    """A moment of one clock is neither before nor after a moment of another, and never the same."""
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError):
            compare(one, other)
    assert one != other


@given(times, times)
def test_a_moment_and_a_span_give_a_moment(at: int, length: int) -> None:
    """Adding a span and asking how long ago are each other's inverse, on each clock."""
    assert Span(length) == (Wall(at) + Span(length)).since(Wall(at))
    assert Span(length) == (Mono(at) + Span(length)).since(Mono(at))
    assert (Wall(at) < Wall(at) + Span(length)) == (length > 0)


def test_spans_are_counted_in_milliseconds() -> None:
    """Seconds, sums, differences, multiples, and how a person reads them."""
    assert (Span(1_500), Span(60_000)) == (Span.seconds(1.5), MINUTE)
    assert Span(61_000) == MINUTE + SECOND
    assert Span(59_000) == MINUTE - SECOND
    assert Span(3_000) == SECOND * 3
    assert ("1.5s", "60s") == (str(Span(1_500)), str(MINUTE))


@given(times, times, times)
def test_a_wall_time_is_awaited_on_the_monotonic_clock(wall: int, mono: int, until: int) -> None:
    """`until` is as far away on one clock as on the other."""
    now = Now(Wall(wall), Mono(mono))

    assert now.until(Wall(until)).since(now.mono) == Wall(until).since(now.wall)


@given(st.integers(-62_135_596_800, 253_402_300_799))
def test_a_moment_is_read_as_it_is_shown(seconds: int) -> None:
    """Whole seconds of the whole calendar go to text and back."""
    assert Wall(seconds * 1_000) == read_wall(str(Wall(seconds * 1_000)))


def test_a_moment_is_shown_in_utc() -> None:
    """As the API shows it, without its milliseconds."""
    assert "2030-03-17T17:46:40Z" == str(Wall(1_900_000_000_999))
    assert "0001-01-01T00:00:00Z" == str(Wall(-(10**17)))
    assert "9999-12-31T23:59:59Z" == str(Wall(10**17))


def test_a_pause_holds_until_its_end() -> None:
    """Up to the end and not at it; without an end always."""
    assert [True, False] == [Paused(Wall(10)).holds(Wall(now)) for now in (9, 10)]
    assert Paused().holds(Wall(10**15))
    assert Malformed("x") != Malformed("y")
