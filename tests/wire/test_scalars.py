"""Durations as Go writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noderemedy.model.meta import Malformed
from noderemedy.model.time import Span
from noderemedy.wire.scalars import read_duration

GOOD = {
    "0": 0, "+0": 0, "-0": 0, "0s": 0, "-0s": 0, "5m": 300_000, "300s": 300_000, "1h30m": 5_400_000,
    "1h0m0s": 3_600_000, "+5m": 300_000, "1.5h": 5_400_000, ".5s": 500, "5.s": 5_000, "100ms": 100, "1us": 1,
    "1µs": 1, "1μs": 1, "1ns": 1, "1000000ns": 1, "1m1m": 120_000, "2540400h": 9_145_440_000_000,
}  # fmt: skip
BAD = [
    "", " ", "5", "5 m", " 5m", "5m ", "5M", "5d", "m", "h5", "5m30", "1h-30m", "--5m", "5m\n", "1e3s", "٥m", "∞",
    "-5m", "-1ns", "2562048h", "9" * 90 + "h", "1s" * 60, ".", ".s", "5..m", "0x5m", "1_000s", "null",
]  # fmt: skip


@pytest.mark.parametrize(("text", "milliseconds"), GOOD.items())
def test_durations(text: str, milliseconds: int) -> None:
    """As Go reads them; what is shorter than a millisecond counts as one."""
    assert Span(milliseconds) == read_duration(text)


@pytest.mark.parametrize("text", BAD)
def test_durations_that_are_none(text: str) -> None:
    """Refused with what was found and an example; negative ones too."""
    found = read_duration(text)

    assert isinstance(found, Malformed)
    assert found.problem.endswith("not a duration like 5m or 1h30m")


@given(st.integers(0, 1_000), st.integers(0, 59), st.integers(0, 59))
def test_the_pieces_add_up(hours: int, minutes: int, seconds: int) -> None:
    """Hours, minutes and seconds as Go prints them."""
    assert Span.seconds(hours * 3_600 + minutes * 60 + seconds) == read_duration(f"{hours}h{minutes}m{seconds}s")


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_is_not(text: str) -> None:
    """Never an exception, never a negative length."""
    found = read_duration(text)

    assert isinstance(found, Malformed) or found >= Span(0)
