"""Noticing silence: after the whole limit, not before, and not when somebody spoke meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from noderemedy.drivers.kube.quiet import Quiet
from noderemedy.model.time import Span

LIMIT_MS = 70_000


class Loop(asyncio.SelectorEventLoop):
    """An event loop that does not wait: its clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def time(self) -> float:
        self.now_s += 1e-9  # a clock that stood still would never reach a timer
        return self.now_s


async def at(loop: Loop, second: float) -> None:
    """Let the clock reach this second, and everything happen that is due by then."""
    loop.now_s = second
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def ended_at(heard_at: list[float], *, stop_at: float | None = None) -> list[int]:
    """In which seconds of five minutes a stream that is heard at these moments was ended."""
    loop = Loop()
    ends: list[int] = []

    async def listen() -> None:
        quiet = Quiet(Span(LIMIT_MS), lambda: ends.append(round(loop.now_s)))
        for second in range(1, 301):
            await at(loop, second)
            if second in heard_at:
                quiet.heard()
            if second == stop_at:
                quiet.stop()
        assert bool(ends) == quiet.is_over

    try:
        loop.run_until_complete(listen())
    finally:
        loop.close()
    return ends


@pytest.mark.parametrize(
    ("heard_at", "stop_at", "expected"),
    [
        ([], None, [70]),
        ([60], None, [130]),
        ([60, 120, 180, 240], None, []),
        ([1], None, [71]),
        ([], 69, []),
    ],
)
def test_silence_is_noticed_once(heard_at: list[float], stop_at: float | None, expected: list[int]) -> None:
    """The end comes one limit after the last sign of life, once, and never after `stop`."""
    assert [pytest.approx(second, abs=1) for second in expected] == ended_at(heard_at, stop_at=stop_at)
