"""The last question before a write leaves: asked when its connection is there, whatever it waited for until then."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from aiohttp import web
from tests.builders import MACHINE_AT, RESOURCES, a_hold
from tests.drivers.kube.scripted import Api, run, until
from tests.manager.test_effects import FREED, leader

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.credentials import Identity
from noderemedy.drivers.kube.secret import Secret
from noderemedy.engine.leadership import Leadership, Missing
from noderemedy.manager.effects import Carrier, Licence
from noderemedy.model.actions import Action, AddRebootAnnotation, Guard
from noderemedy.model.ids import HOST, ref
from noderemedy.model.outcome import Done, Effect, Failed, Key, Outcome

HELD = AddRebootAnnotation(ref(HOST, "rack1-u07", "metal"), Guard("u", "1"), a_hold())
HOUR_MS = 3_600_000


class Desk:
    """A leader whose writes wait for a credential plugin, and whose clock can be moved. The event loop's cannot."""

    def __init__(self, *, is_refused_once: bool = False) -> None:
        self.ahead_ms = 0
        self.clock = Clock(random.Random(1), mono_ns=lambda: time.monotonic_ns() + self.ahead_ms * 1_000_000)
        self.leadership = leader(self.clock.now())
        self.licence = Licence(self.leadership)
        self.reached: list[str] = []
        self.asked = asyncio.Event()
        self.told = asyncio.Event()
        self._is_refused_once = is_refused_once

    # --- credentials ----------------------------------------------------------------------------------------------

    async def current(self) -> Identity:
        return Identity() if self._is_refused_once else await self.renew(Identity())

    async def renew(self, refused: Identity) -> Identity:
        self.asked.set()
        await self.told.wait()
        return Identity(token=Secret("new"))

    # --- the API --------------------------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self._is_refused_once and "Authorization" not in request.headers:
            return web.json_response({"kind": "Status", "code": 401}, status=401)
        self.reached.append(request.method)
        return web.json_response({"metadata": {"name": "x", "uid": "u", "resourceVersion": "2"}})

    async def write(self, action: Action, meanwhile: Callable[[], None]) -> Outcome:
        """What becomes of a write during whose wait something happens."""
        async with Api(self.handle).running() as api, KubeClient(api.access(self)) as client:
            sink = SimpleNamespace(resources=RESOURCES, unserved=set())
            carrier = Carrier(client, sink, self.clock, self.licence, lambda cluster: None)  # type: ignore[arg-type]
            effect = Effect(1, Key("annotation", MACHINE_AT), action, 1, self.clock.mono())
            carrying = asyncio.create_task(carrier.carry_out(effect))
            await until(self.asked.is_set)
            meanwhile()
            self.told.set()
            return await carrying

    # --- what may happen meanwhile --------------------------------------------------------------------------------

    def nothing(self) -> None:
        """All stays as it was."""

    def host_sleeps(self) -> None:
        self.ahead_ms = HOUR_MS

    def six_seconds_pass(self) -> None:
        self.ahead_ms = 6_000

    def lease_is_gone(self) -> None:
        lose(self.leadership, self.clock)

    def manager_stops(self) -> None:
        self.licence.is_stopping = True


def lose(leadership: Leadership, clock: Clock) -> None:
    """The lease is read, and it is not there."""
    leadership._next_at = None
    operation = leadership.poll(clock.now()).operation
    assert operation
    leadership.answered(operation, clock.now(), Missing())


@pytest.mark.parametrize(
    ("action", "meanwhile", "reached"),
    [
        (HELD, Desk.nothing, ["PATCH"]),
        (HELD, Desk.six_seconds_pass, ["PATCH"]),
        (HELD, Desk.manager_stops, ["PATCH"]),
        (HELD, Desk.host_sleeps, []),
        (HELD, Desk.lease_is_gone, []),
        (FREED, Desk.nothing, ["DELETE"]),
        (FREED, Desk.six_seconds_pass, []),
        (FREED, Desk.host_sleeps, []),
    ],
)
@pytest.mark.parametrize("is_refused_once", [False, True])
def test_the_last_word(
    action: Action, meanwhile: Callable[[Desk], None], reached: list[str], is_refused_once: bool
) -> None:
    """Before its first try, or before the second one after a 401: who does not lead any more sends nothing, a proof
    lasts for five seconds, and what did not leave surely did not happen."""

    async def test() -> None:
        desk = Desk(is_refused_once=is_refused_once)
        outcome = await desk.write(action, lambda: meanwhile(desk))
        assert (reached, Done if reached else Failed) == (desk.reached, type(outcome))

    run(test())
