"""Virtual time: a heap of things to do. The whole simulation is one thread that does them in order.

Deterministic: two things due at the same millisecond happen in the order in which they were planned. The lab drives
the same agenda by a real clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from noderemedy.model.time import Wall

EPOCH_MS = 1_800_000_000_000  # 2027-01-15T08:00:00Z: where virtual wall clocks begin


class Appointment:
    """Something planned; `cancel` makes it not happen."""

    __slots__ = ("do",)

    def __init__(self, do: Callable[[], None]) -> None:
        self.do: Callable[[], None] | None = do

    def cancel(self) -> None:
        self.do = None


class Agenda:
    """What is to be done when, in milliseconds of virtual time."""

    def __init__(self, epoch_ms: int = EPOCH_MS) -> None:
        self.now_ms = 0
        self.done = 0
        self.epoch_ms = epoch_ms
        self._heap: list[tuple[int, int, Appointment]] = []
        self._count = 0

    def wall(self) -> Wall:
        """The true wall clock of the simulated world."""
        return Wall(self.epoch_ms + self.now_ms)

    def at(self, when_ms: int, do: Callable[[], None]) -> Appointment:
        self._count += 1
        appointment = Appointment(do)
        now_ms = self.now_ms
        heapq.heappush(self._heap, (when_ms if when_ms > now_ms else now_ms, self._count, appointment))
        return appointment

    def after(self, delay_ms: int, do: Callable[[], None]) -> Appointment:
        return self.at(self.now_ms + delay_ms, do)

    def next_ms(self) -> int | None:
        """When the next thing is due."""
        while self._heap and self._heap[0][2].do is None:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_until(self, end_ms: int) -> None:
        """Do everything that is due up to `end_ms`, and let that be the time."""
        heap = self._heap
        while heap and heap[0][0] <= end_ms:
            when_ms, _, appointment = heapq.heappop(heap)
            if appointment.do is None:
                continue
            self.now_ms = when_ms
            self.done += 1
            appointment.do()
        self.now_ms = max(self.now_ms, end_ms)
