"""Whatever a server does to its watchers, in the end the sink knows exactly what the API holds (L6)."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from typing import Any

import pytest
from tests.drivers.kube.processes import an_api
from tests.drivers.kube.scripted import NODES, run, until

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.credentials import Fixed, Identity
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.secret import Secret
from noderemedy.drivers.kube.sink import Settings
from noderemedy.drivers.kube.watch import _Watcher, watch
from noderemedy.lab.http import Endpoint, serve
from noderemedy.lab.http_faults import (
    HTML,
    Cut,
    Drop,
    Fault,
    Moment,
    Silence,
    Spoil,
    broken,
    expired,
    expired_line,
    too_many_requests,
)
from noderemedy.model.ids import NODE, Kind
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Span
from noderemedy.sim.apiserver.types import ADMIN, User
from noderemedy.wire.http import Request
from noderemedy.wire.objects import Undecodable, decode, decode_event
from noderemedy.wire.pages import decode_page

HASTY = Settings(
    page=4,
    page_bytes=1_200,
    first_stream=Span(0),
    first_pause=Span(1),
    longest_pause=Span(5),
    refused_pause=Span(5),
    silence=Span(50),
    settled=Span(1_000),
)
FAULTS: tuple[Fault, ...] = (
    Cut(0),
    Cut(2),
    Silence(1),
    Spoil(1),
    Spoil(0, expired_line()),
    Spoil(2, b"<html>"),
    Drop(),
    HTML,
    broken(),
    expired(),
    too_many_requests(Span(0)),
)


class Mirror:
    """A sink that keeps name → version, as the engine's cache does."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.not_listed: set[str] = set()
        self.lists = 0

    def listing(self, kind: Kind) -> None:
        self.lists += 1
        self.not_listed = set(self.known)

    def seen(self, item: Seen) -> None:
        self.not_listed.discard(item.ref.name)
        self.known[item.ref.name] = item.resource_version

    def gone(self, item: Seen) -> None:
        self.known.pop(item.ref.name, None)

    def listed(self, kind: Kind) -> None:
        for name in self.not_listed:
            self.known.pop(name, None)
        self.not_listed = set()

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        """Spoilt lines; the truth comes with the next list."""

    def opened(self, kind: Kind) -> bool:
        return True

    def contact(self, kind: Kind) -> None:
        """Not of interest here."""

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        """Not of interest here."""


class Weather:
    """Strikes every third request while it is bad."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.is_bad = True
        self.struck: set[Fault] = set()

    async def interfere(self, moment: Moment, _request: Request, _user: User) -> Fault | None:
        if not self.is_bad or moment is Moment.AFTER or self.chance.random() < 0.6:
            return None
        fault = self.chance.choice(FAULTS)
        self.struck.add(fault)
        return fault


async def live(endpoint: Endpoint, chance: random.Random, count: int) -> None:
    """Nodes come, change and go; now and then history is forgotten or all watches are cut."""
    api = endpoint.api
    for number in range(count):
        names = [tree["metadata"]["name"] for tree in api.list(NODE)]
        what = chance.random()
        if what < 0.35 or not names:
            api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}})
        elif what < 0.75:
            body: Any = {"metadata": {"labels": {"x": str(number)}}}
            path = f"/api/v1/nodes/{chance.choice(names)}"
            api.handle(
                Request("PATCH", path, (), repr(body).replace("'", '"').encode(), "application/merge-patch+json")
            )
        else:
            api.delete(NODE, chance.choice(names))
        if chance.random() < 0.03:
            api.compact()
        if chance.random() < 0.03:
            endpoint.cut_watches()
        await asyncio.sleep(chance.choice((0, 0, 0, 0.002)))


async def converge(seed: int, struck: set[Fault]) -> None:
    """A bad time, then a good one: the mirror must show what the API holds."""
    weather, mirror = Weather(seed), Mirror()
    endpoint = await serve(an_api(), tokens={"good": ADMIN}, interfere=weather.interfere, bookmark_every=Span(20))
    access = Access("test", endpoint.url, Fixed(Identity(Secret("good"))))
    async with KubeClient(access) as client:
        chance = random.Random(seed)
        one_pass: dict[str, Any] = {
            "decode_event": partial(decode_event, NODE),
            "decode_page": partial(decode_page, NODE),
        }
        coroutine = watch(client, NODES, partial(decode, NODE), mirror, chance=chance, settings=HASTY, **one_pass)
        task = asyncio.create_task(coroutine)
        try:
            await live(endpoint, chance, 300)
            weather.is_bad = False
            truth = {tree["metadata"]["name"]: tree["metadata"]["resourceVersion"] for tree in endpoint.api.list(NODE)}
            await until(lambda: mirror.known == truth)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await endpoint.close()
    struck |= weather.struck


def test_the_sink_converges_under_every_fault() -> None:
    """Eight bad times, in which every fault strikes at least once, end in the truth."""
    struck: set[Fault] = set()

    for seed in range(8):
        run(converge(seed, struck))

    assert set(FAULTS) == struck


async def _go_on(self: Any) -> bool:
    try:
        await self._stream()
    except Exception:  # noqa: BLE001  the sabotage: everything is fine, always
        self._version = str(int(self._version) + 1)
    return True


def test_a_watch_that_swallows_errors_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: go on behind whatever could not be read, and the truth is never reached."""
    monkeypatch.setattr(_Watcher, "_follow", _go_on)

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(converge(0, set()), 2))
