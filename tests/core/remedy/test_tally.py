"""Counting Events: no more than can be known to have happened, and nothing twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from noderemedy.core.remedy.tally import Tally, count
from noderemedy.model.nodeevents import KEPT, NodeEvent
from noderemedy.model.time import Wall

NOW = 600  # all times are minutes; an hour is the window
EVENT = NodeEvent("u1", "default/n0.1", "n0", "KernelOops", 1, None, Wall(0))


def at(minute: float) -> Wall:
    return Wall(round(minute * 60_000))


def told(times: int, first: float | None, last: float, uid: str = "u1", name: str = "default/n0.1") -> NodeEvent:
    begun = at(first) if first is not None else None
    return replace(EVENT, uid=uid, name=name, count=times, first=begun, last=at(last))


def counted(*events: NodeEvent, now: float = NOW) -> Tally:
    tally = Tally()
    for event in events:
        tally = count(tally, event, at(now))
    return tally


def minutes(*events: NodeEvent, now: float = NOW) -> list[float]:
    return [one.ms / 60_000 for one in counted(*events, now=now).moments]


SEEN_FIRST = {
    "one": (told(1, 590, 590), [590]),
    "one of which only the last moment is told": (told(1, None, 590), [590]),
    "many that began long ago": (told(9, 100, 590), [100] * 8 + [590]),
    "many that all lie in the window": (told(4, 570, 590), [570, 570, 570, 590]),
    "many in one second": (told(3, 590, 590), [590] * 3),
    "many, and nobody says since when": (told(9, None, 590), [590]),
    "a first moment after the last": (told(2, 595, 590), [590, 590]),
    "a clock that is ahead": (told(2, 590, 700), [590, 600]),
    "a count beyond all bounds": (told(10**12, 100, 590), [100] * (KEPT - 1) + [590]),
}


@pytest.mark.parametrize("case", SEEN_FIRST)
def test_at_first_sight_only_what_is_told_is_young(case: str) -> None:
    """First and last moment are told; all others are as old as the first, and of no age where nobody tells that."""
    event, expected = SEEN_FIRST[case]

    assert expected == minutes(event)


SEEN_AGAIN = {
    "the same, as a list shows it": ((told(2, 500, 560), told(2, 500, 560)), [500, 560]),
    "one more": ((told(2, 500, 560), told(3, 500, 590)), [500, 560, 590]),
    "many more at once, after a gap": ((told(1, 500, 500), told(5, 500, 590)), [500, 500, 500, 500, 590]),
    "one more, whose count stands still": ((told(1, 500, 500), told(1, 500, 590)), [500, 590]),
    "more in the same second": ((told(1, 590, 590), told(3, 590, 590)), [590] * 3),
    "an older state, from a server that lags": (
        (told(5, 590, 595), told(3, 590, 592), told(5, 590, 595)),
        [590] * 4 + [595],
    ),
    "a count that falls": ((told(5, 590, 595), told(1, 590, 595), told(2, 590, 595)), [590] * 4 + [595]),
    "a count that falls, and it happened again": ((told(5, 500, 560), told(1, 590, 590)), [500] * 4 + [560, 590]),
    "a clock that was set back": ((told(1, 595, 595), told(2, 595, 580)), [595]),
    "a new object that counts on": ((told(7, 400, 530), told(8, 400, 595, "u2")), [400] * 6 + [530, 595]),
    "a new object that begins anew": ((told(7, 400, 530), told(2, 590, 595, "u2")), [400] * 6 + [530, 590, 595]),
    "a new object of unknown beginning": ((told(2, None, 530), told(9, None, 595, "u2")), [530, 595]),
    "the same Event restored from a backup": ((told(2, 500, 560), told(2, 500, 560, "u2")), [500, 560]),
    "two Events": ((told(1, 590, 590), told(1, 590, 590, "u2", "default/n0.2")), [590, 590]),
}


@pytest.mark.parametrize("case", SEEN_AGAIN)
def test_what_was_counted_is_not_counted_again(case: str) -> None:
    """What it tells beyond what it told before counts; all but its last moment as early as it can have been."""
    events, expected = SEEN_AGAIN[case]

    assert expected == minutes(*events)


def test_what_is_forgotten_is_not_counted_again() -> None:
    """More Events than are kept: listed once more, the forgotten ones do not count twice."""
    names = [f"default/n0.{number}" for number in range(KEPT + 9)]
    youngest, *others = [told(1, 590, 590 + 1 / (1 + number), name, name) for number, name in enumerate(names)]
    once, twice = counted(youngest, *others), counted(youngest, *others, youngest, *others)

    assert (KEPT, KEPT) == (len(once.known), len(once.moments))
    assert once.moments == twice.moments


@given(
    st.lists(st.integers(1, 500), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=8),
)
def test_never_more_than_truly_happened(minutes_of: list[int], looks: list[tuple[int, bool]]) -> None:
    """Whatever states of an Event are seen, in whatever order, each moment that counts is no later than a true one."""
    true = sorted(minutes_of)
    tally = Tally()
    for number, (place, is_replaced) in enumerate(looks):
        times = min(place, len(true))
        uid = f"u{number}" if is_replaced else "u1"
        tally = count(tally, told(times, true[0], true[times - 1], uid), at(NOW))
    newest = sorted(true, reverse=True)

    assert len(tally.moments) <= len(true)
    assert all(ours <= at(one) for ours, one in zip(reversed(tally.moments), newest, strict=False))
