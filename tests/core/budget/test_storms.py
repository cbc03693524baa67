"""Shares and bursts, exactly: at the limit it blocks, one below it does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import NOW, ago

from noderemedy.core.budget.storms import is_burst, is_over
from noderemedy.model.healthcheck import Count, Percent
from noderemedy.model.time import Span, Wall


@pytest.mark.parametrize(
    ("limit", "sick", "total", "expected"),
    [
        (Percent(40), 1, 1, False),
        (Percent(40), 2, 5, True),
        (Percent(40), 2, 6, False),
        (Percent(40), 3, 7, True),
        (Percent(40), 39, 100, False),
        (Percent(40), 40, 100, True),
        (Percent(33), 33, 100, True),
        (Percent(33), 2, 7, False),  # 28.57 %
        (Percent(0), 1, 10, False),
        (Percent(0), 2, 10, True),
        (Percent(100), 9, 10, False),
        (Percent(100), 10, 10, True),
        (Count(3), 2, 100, False),
        (Count(3), 3, 100, True),
        (Count(1), 1, 100, True),
        (Count(0), 0, 100, True),
    ],
)
def test_a_limit_blocks_at_or_above_itself(limit: Count | Percent, sick: int, total: int, expected: bool) -> None:
    """Whole numbers, no rounding; a share never blocks a single node, a number does if somebody wrote it."""
    assert expected == is_over(limit, sick, total)


@pytest.mark.parametrize(
    ("seconds", "total", "expected"),
    [
        ((0, 60, 120), 6, True),
        ((0, 60, 121), 6, False),
        ((0, 60, 120), 7, False),
        ((0, 1), 2, False),
        ((0, 1, 2), 3, True),
        ((0, 1, 2, 3), 8, True),
        ((0, 300, 301, 302, 420), 8, True),
        ((0, 300, 301, 302, 421), 8, False),
        ((), 0, False),
    ],
)
def test_a_burst_is_half_of_a_domain_within_two_minutes(seconds: tuple[int, ...], total: int, expected: bool) -> None:
    """Three or more, and half or more, between whose first signs lie at most two minutes, both ends included."""
    assert expected == is_burst([ago(1_000 - moment) for moment in seconds], total)


@settings(max_examples=100)
@given(st.lists(st.integers(0, 600), max_size=12), st.integers(0, 20))
def test_a_burst_is_found_wherever_it_is(seconds: list[int], more: int) -> None:
    """The same as counting, for each first sign, how many follow within two minutes."""
    signs = [Wall(NOW.wall.ms + 1000 * moment) for moment in seconds]
    total = len(seconds) + more
    most = max((sum(0 <= other.since(one).ms <= Span.seconds(120).ms for other in signs) for one in signs), default=0)

    assert (most >= 3 and 2 * most >= total) == is_burst(signs, total)
