"""What is said comes after what is done, in its order, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from tests.drivers.kube.test_quiet import Loop, at

from noderemedy.manager.later import Calm, Later


def come_at(stirred_at: list[int]) -> list[int]:
    """After how many milliseconds calm has come for somebody who asks at the beginning, in steps of five."""
    loop = Loop()
    found: list[int] = []

    async def story() -> None:
        calm = Calm()

        async def wait() -> None:
            await calm.come()
            found.append(round(loop.now_s * 1000))

        if 0 in stirred_at:
            calm.stirred()
        waiting = asyncio.create_task(wait())
        for moment in range(0, 2_000, 5):
            await at(loop, moment / 1000)
            if moment in stirred_at:
                calm.stirred()
        waiting.cancel()

    try:
        loop.run_until_complete(story())
    finally:
        loop.close()
    return found


@pytest.mark.parametrize(
    ("stirred_at", "expected"),
    [
        ([], 0),
        ([0], 150),
        ([0, 100], 250),
        (list(range(0, 2_000, 50)), 1_000),
    ],
    ids=["nobody stirs", "one effect", "another before it is calm", "no end of them"],
)
def test_calm_comes_when_nothing_has_stirred_for_a_while(stirred_at: list[int], expected: int) -> None:
    """At once where nobody is in a hurry, a moment after the last effect, and after a second whatever happens."""
    assert [pytest.approx(expected, abs=15)] == come_at(stirred_at)


def test_things_are_said_a_moment_later_in_their_order() -> None:
    """Nothing before the turn of whoever acts is over; a bug in one is told, and costs none of the others."""
    said: list[str] = []
    bugs: list[BaseException] = []

    async def story() -> None:
        later = Later(bugs.append)
        for word in ("one", "two"):
            later.say(partial(said.append, word))
        later.say(partial(said.remove, "what nobody said"))
        later.say(partial(said.append, "three"))
        assert [] == said
        await asyncio.sleep(0.05)
        assert ["one", "two", "three"] == said
        later.say(partial(said.append, "four"))
        later.flush()

    asyncio.run(story())
    assert (["one", "two", "three", "four"], [ValueError]) == (said, [type(bug) for bug in bugs])
