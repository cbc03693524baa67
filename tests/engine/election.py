"""Several candidates over one Lease in virtual time: lost and late messages, pauses, and clocks that disagree.

The harness knows the true time; each candidate sees only its own clocks. After every event it looks at all candidates
at once and remembers each moment at which more than one may act, and each token that did not grow.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from noderemedy.engine.leadership import (
    Conflict,
    Do,
    Found,
    Leadership,
    Lease,
    Missing,
    Operation,
    Reply,
    Rules,
    Unsure,
)
from noderemedy.model.time import Mono, Now, Wall


class Weather(Struct, frozen=True):
    """How bad the world is. Probabilities are per message or per step."""

    loss: float = 0.0
    delay_ms_max: int = 50
    slow: float = 0.0
    slow_ms_max: int = 20_000
    pause: float = 0.0
    pause_ms_max: int = 40_000
    restart: float = 0.0
    drift: float = 0.01


CALM = Weather()
ROUGH = Weather(loss=0.05, slow=0.05, pause=0.02, restart=0.005)


class Server:
    """The Lease as the API server has it."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self._version = 0

    def apply(self, operation: Operation) -> Reply:
        if operation.do is Do.READ:
            return Found(self.lease) if self.lease else Missing()
        assert operation.lease is not None
        if operation.do is Do.CREATE:
            return Conflict() if self.lease else Found(self._store(operation.lease))
        if self.lease is None:
            return Missing()
        if self.lease.version != operation.lease.version:
            return Conflict()
        return Found(self._store(operation.lease))

    def _store(self, lease: Lease) -> Lease:
        self._version += 1
        self.lease = Lease(
            lease.holder, lease.transitions, lease.duration, lease.acquired, lease.renewed, str(self._version)
        )
        return self.lease


class Candidate:
    """One machine with its own clocks: a rate, a start, and a wall clock that is minutes off."""

    def __init__(self, name: str, make: Callable[[str], Leadership], chance: random.Random, drift: float) -> None:
        self.name = name
        self.make = make
        self.lives = 0
        self.chance = chance
        self.rate = 1 + chance.uniform(-drift, drift)
        self.start = chance.randrange(10**9)
        self.skew = chance.randrange(-300_000, 300_000)
        self.paused_until = 0
        self.machine = self.reborn()

    def reborn(self) -> Leadership:
        self.lives += 1
        self.machine = self.make(f"{self.name}-{self.lives}")
        return self.machine

    def now(self, true_ms: int) -> Now:
        mono = Mono(self.start + int(true_ms * self.rate))
        return Now(Wall(1_700_000_000_000 + true_ms + self.skew), mono, self.chance.getrandbits(64))

    def true_time_of(self, mono: Mono) -> int:
        return int((mono.ms - self.start) / self.rate) + 1


class Election:
    """Runs candidates and judges them."""

    def __init__(
        self,
        seed: int,
        count: int = 3,
        weather: Weather = CALM,
        make: Callable[[str], Leadership] = Leadership,
        rules: Rules | None = None,
    ) -> None:
        self.chance = random.Random(seed)
        self.weather = weather
        self.server = Server()
        self.now_ms = 0
        self.rules = rules or Rules()
        self.candidates = [
            Candidate(f"candidate{number}", make, random.Random(seed * 31 + number), weather.drift)
            for number in range(count)
        ]
        self.two_at_once: list[tuple[int, list[str]]] = []
        self.token_went_back: list[tuple[int, int]] = []
        self.acquisitions: list[tuple[int, str, int]] = []
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._leading: dict[str, int] = {}
        for candidate in self.candidates:
            self._at(self.chance.randrange(2_000), partial(self._step, candidate))

    def run(self, until_ms: int) -> Election:
        """Let time pass up to this true time."""
        while self._events and self._events[0][0] <= until_ms:
            self.now_ms, _, happen = heapq.heappop(self._events)
            happen()
            self._judge()
        self.now_ms = until_ms
        return self

    def leaders(self) -> list[Candidate]:
        return [one for one in self.candidates if one.machine.may_act(one.now(self.now_ms))]

    def _judge(self) -> None:
        leaders = self.leaders()
        if len(leaders) > 1:
            self.two_at_once.append((self.now_ms, [one.name for one in leaders]))
        for one in leaders:
            token = one.machine.token
            if self._leading.get(one.name) == token:
                continue
            if self.acquisitions and token <= self.acquisitions[-1][2]:
                self.token_went_back.append((self.now_ms, token))
            self.acquisitions.append((self.now_ms, one.name, token))
            self._leading[one.name] = token

    def _at(self, when: int, happen: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, happen))

    def _step(self, candidate: Candidate) -> None:
        """One turn of a candidate's loop."""
        if self._is_asleep(candidate, partial(self._step, candidate)):
            return
        if self.chance.random() < self.weather.restart:
            candidate.reborn()
        machine = candidate.machine
        step = machine.poll(candidate.now(self.now_ms))
        if step.operation is not None:
            self._send(candidate, machine, step.operation)
        else:
            wake = max(self.now_ms + 1, candidate.true_time_of(step.wake_at))
            self._at(wake, partial(self._step, candidate))

    def _is_asleep(self, candidate: Candidate, then: Callable[[], None]) -> bool:
        """Whether the candidate is, or is now being, paused; it goes on with `then` afterwards."""
        if candidate.paused_until <= self.now_ms and self.chance.random() < self.weather.pause:
            candidate.paused_until = self.now_ms + self.chance.randrange(1, self.weather.pause_ms_max)
        if candidate.paused_until > self.now_ms:
            self._at(candidate.paused_until, then)
            return True
        return False

    def _send(self, candidate: Candidate, machine: Leadership, operation: Operation) -> None:
        """The request on its way, the answer on its way back, and the candidate's own patience."""
        pending: dict[str, Any] = {"reply": None, "done": False}

        def arrive() -> None:
            reply = self.server.apply(operation)
            if self.chance.random() >= self.weather.loss:
                self._at(self.now_ms + self._delay(), lambda: back(reply))

        def back(reply: Reply) -> None:
            if not pending["done"]:
                pending["reply"] = pending["reply"] or reply
                finish()

        def finish() -> None:
            if pending["done"] or self._is_asleep(candidate, finish):
                return
            pending["done"] = True
            if candidate.machine is machine:
                machine.answered(operation, candidate.now(self.now_ms), pending["reply"] or Unsure())
            self._at(self.now_ms, partial(self._step, candidate))

        if self.chance.random() >= self.weather.loss:
            self._at(self.now_ms + self._delay(), arrive)
        self._at(self.now_ms + int(self.rules.patience.ms / candidate.rate), finish)

    def _delay(self) -> int:
        if self.chance.random() < self.weather.slow:
            return self.chance.randrange(self.weather.slow_ms_max)
        return self.chance.randrange(self.weather.delay_ms_max + 1)
