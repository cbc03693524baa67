"""The page on NodeFences with bash and a real kubectl: what a person would type, typed, for each sort of device.

`tests/sim/test_fence_page.py` goes through all states with a kubectl of its own: this shows that the two agree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from tests.conformance.simulated import Background
from tests.guide.fenceleft import PAGE, ROWS, STORIES, Left, telling, variables
from tests.guide.terminal import Terminal, served

T = TypeVar("T")


def fullest(name: str) -> Left:
    """The story at the point at which most rows of the page fit."""
    lefts = [Left(name, at) for at in telling(name)]
    return max(lefts, key=lambda left: sum(fits(left) for fits in ROWS.values()))


def within(background: Background, question: Callable[[], T]) -> T:
    """Ask where the world lives, so that it does not move meanwhile."""

    async def ask() -> T:
        return question()

    return asyncio.run_coroutine_threadsafe(ask(), background.loop).result(30)


@pytest.mark.parametrize("name", STORIES)
def test_bash_and_kubectl_finish_a_fence(name: str, binaries: dict[str, str], tmp_path: Path) -> None:
    """The blocks of all rows that fit, pasted into a shell one after the other, leave nothing behind."""
    left = fullest(name)
    terminal = Terminal(tmp_path, binaries["kubectl"])
    run: list[str] = []

    with served(left.cluster, tmp_path) as background:
        for row, blocks in PAGE.states.items():
            if not within(background, lambda row=row: ROWS[row](left)):  # type: ignore[misc]
                continue
            done = terminal.paste(PAGE, blocks, **variables(left.node))
            assert 0 == done.returncode, done.stderr
            run += blocks
            if "Devices" in blocks:
                within(background, lambda printed=done.stdout: left.switch_on(printed))  # type: ignore[misc]

    assert [] == left.judged()
    assert {"Devices", "Forget"} <= set(run)
