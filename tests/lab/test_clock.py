"""The world's agenda by a real clock: in order, on time, and not stopped by one broken part."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from noderemedy.lab.clock import RealAgenda


def lived(plan: Callable[[RealAgenda], None], seconds: float = 0.2) -> RealAgenda:
    """An agenda that has lived for a while after something was planned."""

    async def run() -> RealAgenda:
        agenda = RealAgenda()
        plan(agenda)
        with suppress(TimeoutError):
            await asyncio.wait_for(agenda.live(), seconds)
        return agenda

    return asyncio.run(run())


def test_things_happen_when_they_are_due() -> None:
    """What is planned for later happens later, by the real clock, and what is planned far away does not happen."""
    happened: list[tuple[str, int]] = []

    def plan(agenda: RealAgenda) -> None:
        for name, delay_ms in (("second", 60), ("first", 20), ("never", 60_000)):
            agenda.after(delay_ms, lambda name=name: happened.append((name, agenda.elapsed_ms())))  # type: ignore[misc]

    lived(plan)

    assert ["first", "second"] == [name for name, _ in happened]
    assert [True, True] == [at_ms >= due_ms for (_, at_ms), due_ms in zip(happened, (20, 60), strict=True)]


def test_a_nearer_appointment_wakes_a_sleeper() -> None:
    """Something planned from outside while the agenda sleeps for long is not late."""
    late_ms: list[int] = []

    async def run() -> None:
        agenda = RealAgenda()
        agenda.after(60_000, lambda: None)
        living = asyncio.create_task(agenda.live())
        await asyncio.sleep(0.05)
        agenda.catch_up()
        due_ms = agenda.now_ms + 10
        agenda.at(due_ms, lambda: late_ms.append(agenda.elapsed_ms() - due_ms))
        await asyncio.sleep(1.0)
        living.cancel()

    asyncio.run(run())

    assert [True] == [0 <= late < 900 for late in late_ms]


def test_one_broken_part_does_not_stop_the_others() -> None:
    """An error in one simulated part is written down, and what comes after it happens."""
    happened: list[str] = []

    def plan(agenda: RealAgenda) -> None:
        agenda.after(10, lambda: 1 // 0)  # type: ignore[arg-type]
        agenda.after(10, lambda: happened.append("next"))

    agenda = lived(plan)

    assert ["next"] == happened
    assert [True] == ["ZeroDivisionError" in text for text in agenda.broken]


def test_the_wall_clock_is_real() -> None:
    """Time stamps of the lab's API are those of this machine."""
    agenda = lived(lambda agenda: None, 0.05)

    assert abs(agenda.wall().ms - time.time() * 1000) < 1000
