"""The queue of keys and the one timer heap. Four sentences are its whole policy:

Specs come before verdicts before gates before acts (the stage of a key's room). An earlier time replaces a later one.
A key that is queued twice is looked at once. A key being processed is held, not dropped, and does not block the others
(the ledger holds it; see `loop.py`).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping

from noderemedy.model.outcome import Key
from noderemedy.model.room import Stage
from noderemedy.model.time import Mono


class Queue:
    """Keys to look at now, in the order in which they became due. Both ends cost the same however long it is."""

    def __init__(self, stages: Mapping[str, Stage] | None = None) -> None:
        self._stages = stages or {}
        self._lines: tuple[deque[Key], ...] = tuple(deque() for _ in Stage)
        self._waiting: set[Key] = set()

    def add(self, key: Key) -> None:
        if key not in self._waiting:
            self._waiting.add(key)
            self._lines[self._stages.get(key.room, Stage.ACT)].append(key)

    def pop(self) -> Key:
        for line in self._lines:
            if line:
                key = line.popleft()
                self._waiting.remove(key)
                if not self._waiting:
                    self._waiting = set()  # a set never shrinks, and a first look fills it with all keys there are
                return key
        raise IndexError("nothing is queued")

    def __contains__(self, key: Key) -> bool:
        return key in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)


class Timers:
    """At most one wake per key. Entries of the heap that were replaced are skipped when they surface."""

    def __init__(self) -> None:
        self._heap: list[tuple[Mono, int, Key]] = []
        self._wakes: dict[Key, Mono] = {}
        self._count = 0

    def wake(self, key: Key, at: Mono) -> None:
        """Look at `key` again at `at`, or earlier if that was already planned."""
        planned = self._wakes.get(key)
        if planned is not None and planned <= at:
            return
        self._wakes[key] = at
        self._count += 1
        heapq.heappush(self._heap, (at, self._count, key))

    def cancel(self, key: Key) -> None:
        self._wakes.pop(key, None)

    def due(self, now: Mono) -> list[Key]:
        """The keys whose time has come; each is planned no more."""
        keys = []
        while self._heap and self._heap[0][0] <= now:
            at, _, key = heapq.heappop(self._heap)
            if self._wakes.get(key) == at:
                del self._wakes[key]
                keys.append(key)
        return keys

    def next(self) -> Mono | None:
        while self._heap and self._wakes.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def planned(self, key: Key) -> Mono | None:
        return self._wakes.get(key)

    def planned_keys(self) -> list[Key]:
        return list(self._wakes)

    def __len__(self) -> int:
        return len(self._wakes)
