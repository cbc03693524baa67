"""The world's agenda, driven by a real clock.

The simulator runs the same agenda in virtual time; the lab (`lab/lab.py`) lets it follow the clock of this machine, so
that time stamps in the API are true and a manager with real clocks lives in the same time as its cluster.

Rule 1: before anybody touches the world from outside (an HTTP request, a fault), `catch_up` brings it to the present.
Rule 2: what breaks in one simulated part is written down and shown; the others go on.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable

from noderemedy.drivers.logs import Log
from noderemedy.sim.agenda import Agenda, Appointment

LOG = Log("noderemedy.lab")


class RealAgenda(Agenda):
    """An agenda whose now is the time since it was made. Make it inside a running event loop."""

    def __init__(self) -> None:
        super().__init__(epoch_ms=time.time_ns() // 1_000_000)
        self.broken: list[str] = []
        self._begun_s = time.monotonic()
        self._woken = asyncio.Event()

    def elapsed_ms(self) -> int:
        return int((time.monotonic() - self._begun_s) * 1000)

    def at(self, when_ms: int, do: Callable[[], None]) -> Appointment:
        """Plan something, and let `live` see that it may be due before what it sleeps for."""
        self._woken.set()
        return super().at(when_ms, do)

    def catch_up(self) -> None:
        """Do everything that is due by now."""
        end_ms = self.elapsed_ms()
        is_done = False
        while not is_done:
            try:
                self.run_until(end_ms)
                is_done = True
            except Exception:  # noqa: BLE001  the outermost loop of the simulated parts
                self.broken.append(traceback.format_exc())
                LOG.error("a simulated part broke", trace=self.broken[-1])

    async def live(self) -> None:
        """Follow the clock until cancelled."""
        while True:
            self.catch_up()
            self._woken.clear()
            await self._until(self.next_ms())

    async def _until(self, due_ms: int | None) -> None:
        wait_s = None if due_ms is None else max(0.0, (due_ms - self.elapsed_ms()) / 1000)
        try:
            async with asyncio.timeout(wait_s):
                await self._woken.wait()
        except TimeoutError:
            pass
