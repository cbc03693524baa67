"""The short circuit: each rule of each dialect as printed in the table, and the arithmetic for all numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import NODE_AT, NOW
from tests.core.healthcheck.targets import a_check

from noderemedy.core.healthcheck.gate import gate
from noderemedy.model.healthcheck import (
    Count,
    Dialect,
    Gate,
    Healthy,
    NeedsLook,
    Percent,
    Tally,
    Unhealthy,
    Unjudged,
    Verdict,
    Waiting,
    Window,
)
from noderemedy.model.reasons import (
    CheckInvalid,
    NodeMissing,
    TooFewUnhealthy,
    TooManyUnhealthy,
)

SEED, CAPI, OPENSHIFT = Dialect.SEED, Dialect.CAPI, Dialect.OPENSHIFT
Limit = Count | Percent | None
BECAUSE = (NodeMissing("n"),)


def opened(dialect: Dialect, limit: Limit, sick: int, total: int) -> Gate:
    return gate(a_check(dialect, max_unhealthy=limit), Tally(total, total - sick, sick))


# dialect, limit, not healthy, total -> open?, remediationsAllowed
ROWS: list[tuple[Dialect, Limit, int, int, bool, int]] = [
    # seed 003: "disable auto-remediation if 40% or more of the matching machines are unhealthy"
    (SEED, Percent(40), 1, 5, True, 0),
    (SEED, Percent(40), 2, 5, False, 0),
    (SEED, Percent(40), 3, 5, False, 0),
    (SEED, Percent(40), 1, 3, True, 0),  # 33.3 %
    (SEED, Percent(40), 2, 3, False, 0),  # 66.6 %
    (SEED, Percent(40), 3, 7, False, 0),  # 42.8 %: a rounded 2.8 would let it pass
    (SEED, Percent(40), 2, 7, True, 0),
    (SEED, Percent(40), 1, 2, False, 0),
    (SEED, Percent(33), 1, 3, False, 0),  # 100 >= 99: exactly, no rounding
    (SEED, Percent(34), 1, 3, True, 0),  # 100 < 102
    (SEED, Percent(100), 4, 5, True, 0),
    (SEED, Percent(100), 5, 5, False, 0),
    (SEED, Percent(0), 0, 5, False, 0),
    (SEED, Percent(40), 0, 10, True, 3),
    (SEED, Count(3), 2, 5, True, 0),
    (SEED, Count(3), 3, 5, False, 0),
    (SEED, Count(3), 0, 5, True, 2),
    (SEED, Count(0), 0, 5, False, 0),
    (SEED, None, 5, 5, True, 0),
    (SEED, None, 2, 5, True, 3),
    # Cluster API: inclusive, percents rounded down, unset is 100 %
    (CAPI, Percent(40), 2, 5, True, 0),
    (CAPI, Percent(40), 3, 5, False, 0),
    (CAPI, Percent(60), 4, 7, True, 0),
    (CAPI, Percent(60), 5, 7, False, 0),
    (CAPI, Percent(40), 2, 6, True, 0),
    (CAPI, Percent(40), 3, 6, False, 0),
    (CAPI, Percent(40), 1, 3, True, 0),
    (CAPI, Percent(40), 0, 2, True, 0),
    (CAPI, Percent(40), 1, 2, False, 0),
    (CAPI, Count(3), 3, 5, True, 0),
    (CAPI, Count(3), 4, 5, False, 0),
    (CAPI, Count(3), 1, 5, True, 2),
    (CAPI, Count(0), 0, 5, True, 0),
    (CAPI, Count(0), 1, 5, False, 0),
    (CAPI, None, 5, 5, True, 0),
    (CAPI, None, 2, 5, True, 3),
    # OpenShift: as Cluster API
    (OPENSHIFT, Percent(40), 2, 5, True, 0),
    (OPENSHIFT, Percent(40), 3, 5, False, 0),
    (OPENSHIFT, Count(0), 0, 5, True, 0),
    (OPENSHIFT, Count(0), 1, 5, False, 0),
    (OPENSHIFT, None, 5, 5, True, 0),
    # a check without targets blocks nobody
    (SEED, Percent(40), 0, 0, True, 0),
    (CAPI, Percent(40), 0, 0, True, 0),
    (OPENSHIFT, Percent(40), 0, 0, True, 0),
]


@pytest.mark.parametrize(("dialect", "limit", "sick", "total", "is_open", "allowed"), ROWS)
def test_the_limit(dialect: Dialect, limit: Limit, sick: int, total: int, is_open: bool, allowed: int) -> None:
    """Seed: the limit itself blocks, exactly. Cluster API and OpenShift: only more than it, rounded down."""
    found = opened(dialect, limit, sick, total)

    assert (is_open, allowed) == (found.is_open, found.allowed)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_closed_gate_says_why(dialect: Dialect) -> None:
    """The numbers, and the limit as somebody wrote it; an open gate needs no reason."""
    assert TooManyUnhealthy(4, 5, "40%") == opened(dialect, Percent(40), 4, 5).reason
    assert TooManyUnhealthy(4, 5, "2") == opened(dialect, Count(2), 4, 5).reason
    assert (None, "40%") == (opened(dialect, Percent(40), 0, 5).reason, opened(dialect, Percent(40), 0, 5).limit)


WINDOWS = [
    (0, False, 0, TooFewUnhealthy(0, 9, "[2-4]")),
    (1, False, 0, TooFewUnhealthy(1, 9, "[2-4]")),
    (2, True, 2, None),
    (3, True, 1, None),
    (4, True, 0, None),
    (5, False, 0, TooManyUnhealthy(5, 9, "[2-4]")),
]


@pytest.mark.parametrize("dialect", [SEED, CAPI])
@pytest.mark.parametrize(("sick", "is_open", "allowed", "reason"), WINDOWS)
def test_the_window(dialect: Dialect, sick: int, is_open: bool, allowed: int, reason: object) -> None:
    """Inclusive at both ends; it takes precedence over the limit."""
    check = a_check(dialect, window=Window(2, 4), max_unhealthy=Count(0))

    assert Gate(is_open, allowed, "[2-4]", reason) == gate(check, Tally(9, 9 - sick, sick))  # type: ignore[arg-type]


def test_an_invalid_check_opens_nothing() -> None:
    """Whatever the count: a check that cannot be understood does nothing."""
    check = a_check(problems=("spec.maxUnhealthy: '500%' cannot be read; write a number",))

    assert Gate(False, 0, "", CheckInvalid(check.problems[0])) == gate(check, Tally(5, 5))


@pytest.mark.parametrize(
    ("verdict", "is_healthy"),
    [
        (Healthy(), True),
        (Waiting(NOW.wall, BECAUSE), False),
        (Waiting(None, BECAUSE), False),
        (Unhealthy(NOW.wall, BECAUSE), False),
        (Unjudged(BECAUSE), False),
        (NeedsLook(NODE_AT, BECAUSE), False),
    ],
)
def test_what_counts_as_healthy(verdict: Verdict, is_healthy: bool) -> None:
    """Only health: the grace period, a start and what cannot be seen count against the limit already."""
    assert is_healthy == verdict.counts_as_healthy


# --- for all numbers ---------------------------------------------------------------------------------------------

limits = st.one_of(st.none(), st.integers(0, 30).map(Count), st.integers(0, 100).map(Percent))
totals = st.integers(0, 3_000)


@given(st.sampled_from(Dialect), limits, totals, st.data())
def test_more_sick_machines_never_open_the_gate(
    dialect: Dialect, limit: Limit, total: int, data: st.DataObject
) -> None:
    """Nor do they allow more repairs."""
    some = data.draw(st.integers(0, total))
    more = data.draw(st.integers(some, total))

    fewer, many = opened(dialect, limit, some, total), opened(dialect, limit, more, total)

    assert fewer.is_open or not many.is_open
    assert fewer.allowed >= many.allowed


@given(st.integers(0, 100), st.integers(1, 100_000), st.data())
def test_the_seed_never_rounds(p: int, total: int, data: st.DataObject) -> None:
    """Blocked exactly when unhealthy · 100 ≥ p · total."""
    sick = data.draw(st.one_of(st.integers(0, total), st.just(min(p * total // 100 + 1, total))))

    assert (sick * 100 >= p * total) == (not opened(SEED, Percent(p), sick, total).is_open)


@given(st.sampled_from([CAPI, OPENSHIFT]), st.integers(0, 100), st.integers(1, 100_000), st.data())
def test_the_others_round_down(dialect: Dialect, p: int, total: int, data: st.DataObject) -> None:
    """Open exactly when unhealthy ≤ ⌊p · total / 100⌋."""
    sick = data.draw(st.one_of(st.integers(0, total), st.just(p * total // 100)))

    assert (sick <= p * total // 100) == opened(dialect, Percent(p), sick, total).is_open


@given(st.sampled_from(Dialect), limits, totals, st.data())
def test_so_many_more_are_allowed_and_not_one_beyond(
    dialect: Dialect, limit: Limit, total: int, data: st.DataObject
) -> None:
    """With as many more sick machines as are allowed the gate is open, with one more it is not."""
    sick = data.draw(st.integers(0, total))
    found = opened(dialect, limit, sick, total)
    if not found.is_open or sick + found.allowed >= total:
        return

    assert opened(dialect, limit, sick + found.allowed, total).is_open
    assert not opened(dialect, limit, sick + found.allowed + 1, total).is_open


@given(st.integers(0, 50), st.integers(0, 50), totals, st.data())
def test_a_window_is_open_inside_only(low: int, size: int, total: int, data: st.DataObject) -> None:
    """Between its ends, both included, and nowhere else."""
    sick = data.draw(st.integers(0, total))
    found = gate(a_check(window=Window(low, low + size)), Tally(total, total - sick))

    assert (low <= sick <= low + size) == found.is_open
    assert found.allowed == (low + size - sick if found.is_open else 0)
