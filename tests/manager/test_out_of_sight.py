"""Watches and sinks together: what brings a view back that is not trusted any more, and what does not."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import msgspec
from aiohttp import web
from tests.drivers.kube.scripted import (
    NODES,
    QUICK,
    Api,
    Handler,
    a_list,
    a_node,
    a_status,
    event,
    run,
    stream,
    until,
)

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.sink import Settings
from noderemedy.drivers.kube.watch import watch
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.remotesink import RemoteSink
from noderemedy.manager.sink import EngineSink
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.room import Present
from noderemedy.model.time import Span
from noderemedy.rooms import ROOMS, watched
from noderemedy.wire.objects import decode

EAST = "metal/east"
STALE, SHORT = Span(180_000), Span(20)
FORGOTTEN = event("ERROR", {"kind": "Status", "code": 410, "message": "too old resource version"})
RESTING = msgspec.structs.replace(QUICK, first_pause=Span(100), longest_pause=Span(100))


class Home:
    """The sink of the home cluster, with all kinds but Nodes in step, and a clock that can be moved."""

    def __init__(self) -> None:
        self.ahead_ms = 0
        self.clock = Clock(random.Random(1), mono_ns=lambda: time.monotonic_ns() + self.ahead_ms * 1_000_000)
        self.engine = Engine(ROOMS)
        self.sink = EngineSink(self.engine, watched(), self.clock, Log("test"), lambda: None)
        for kind in watched():
            if kind != NODE:
                self.sink.listing(kind)
                self.sink.listed(kind)

    def passes(self, minutes: int) -> None:
        """Nobody hears of Nodes meanwhile, but of all others."""
        self.ahead_ms += minutes * 60_000
        for kind in watched():
            if kind != NODE:
                self.sink.contact(kind)
        self.sink.mind_staleness(self.clock.now(), STALE)

    def version(self, cluster: str = "") -> str:
        return version(self.engine, cluster)


class Away:
    """The sink of a workload cluster."""

    def __init__(self, grace: Span = SHORT) -> None:
        self.clock = Clock(random.Random(1))
        self.engine = Engine(ROOMS)
        self.said: list[tuple[str, str]] = []  # what was said, and which version of the Node we had then
        says: Callable[[str], None] = lambda what: self.said.append((what, version(self.engine, EAST)))  # noqa: E731
        self.sink = RemoteSink(
            EAST, self.engine, self.clock,
            grace=grace, seen=lambda: says("seen"), hidden=lambda _: self.hide(), poke=lambda: None,
        )  # fmt: skip

    def hide(self) -> None:
        self.engine.lost(NODE, self.clock.now(), EAST)
        self.said.append(("hidden", ""))


def version(engine: Engine, cluster: str) -> str:
    entry = engine.cache.read(Ref(cluster, NODE, "", "n1"))
    return entry.resource_version if isinstance(entry, Present) else ""


@contextlib.asynccontextmanager
async def followed(sink: Any, *handlers: Handler, settings: Settings = QUICK, cluster: str = "") -> AsyncIterator[Api]:
    async with Api(*handlers).running() as api, KubeClient(api.access()) as client:
        read = partial(decode, NODE, cluster=cluster)
        task = asyncio.create_task(watch(client, NODES, read, sink, chance=random.Random(1), settings=settings))
        try:
            yield api
        finally:
            task.cancel()


STARTING = a_status(429, "storage is (re)initializing")  # a server that has just started, or a kind that is new


class HalfLists:
    """The first list is whole; from then on page one is answered, and page two is cut."""

    def __init__(self) -> None:
        self.lists = 0

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await stream(FORGOTTEN, then="end")(request)
        if "continue" not in request.query:
            self.lists += 1
            return await a_list(10 * self.lists, a_node("n1", 10 * self.lists - 5), token="more")(request)
        if self.lists == 1:
            return await a_list(10, a_node("n2", 4))(request)
        return await cut(request)


async def cut(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def test_a_list_that_is_never_complete_is_no_sign_of_life() -> None:
    """First pages come for ever, second ones do not: the view gets old, and after three minutes nothing is decided."""

    async def test() -> None:
        home, server = Home(), HalfLists()
        async with followed(home.sink, server):
            await until(lambda: home.engine.is_synced)
            for _ in range(4):
                before = server.lists
                await until(lambda seen=before: server.lists > seen + 1)  # type: ignore[misc]
                home.passes(minutes=1)
            assert not home.engine.is_synced

    run(test())


def test_a_list_that_is_never_complete_hides_a_workload_cluster() -> None:
    """After the grace, as any connection that breaks."""

    async def test() -> None:
        away = Away()
        async with followed(away.sink, HalfLists(), cluster=EAST):
            await until(lambda: len(away.said) >= 2)
            assert [("seen", "5"), ("hidden", "")] == away.said

    run(test())


def test_a_stream_that_is_only_accepted_does_not_bring_an_old_view_back() -> None:
    """An hour without the API, then a 200 and an error: in step again is who has listed."""

    async def test() -> None:
        home, back = Home(), asyncio.Event()

        async def reopened(request: web.Request) -> web.StreamResponse:
            await back.wait()
            return await stream(FORGOTTEN, then="end")(request)

        story = (a_list(10, a_node("n1", 5)), stream(then="cut"), reopened, a_list(99, a_node("n1", 90)), stream())
        async with followed(home.sink, *story, settings=RESTING) as api:
            await until(lambda: home.engine.is_synced and len(api.watches()) == 2)
            home.passes(minutes=60)
            assert not home.engine.is_synced
            back.set()
            await until(lambda: home.engine.is_synced)
            assert "90" == home.version()

    run(test())


def test_a_workload_cluster_is_seen_again_when_it_was_read() -> None:
    """It was away for longer than the grace; its API accepts the old stream, and has forgotten where that was."""

    async def test() -> None:
        away = Away()
        reopened = stream(FORGOTTEN, then="end")
        story = (a_list(10, a_node("n1", 5)), stream(then="cut"), cut, reopened, a_list(99, a_node("n1", 90)), stream())
        async with followed(away.sink, *story, settings=RESTING, cluster=EAST):
            await until(lambda: len(away.said) >= 3)
            assert [("seen", "5"), ("hidden", ""), ("seen", "90")] == away.said

    run(test())


def test_a_quiet_workload_cluster_stays_in_sight_when_it_accepts_again() -> None:
    """Nothing happens to its Nodes for long: that its stream was accepted ends the grace."""

    async def test() -> None:
        away = Away(grace=Span(300))
        async with followed(away.sink, a_list(10, a_node("n1", 5)), stream(then="cut"), stream(), cluster=EAST) as api:
            await until(lambda: len(api.watches()) == 2)
            await asyncio.sleep(0.4)
            assert [("seen", "5")] == away.said

    run(test())


def test_a_quiet_kind_that_was_refused_is_back_as_soon_as_it_is_accepted() -> None:
    """A server that has just started refuses the stream once; the next line of a quiet kind is a minute away."""

    async def test() -> None:
        home = Home()
        story = (a_list(10, a_node("n1", 5)), STARTING, stream(), a_list(99, a_node("n1", 90)), stream())
        async with followed(home.sink, *story) as api:
            await until(lambda: len(api.watches()) == 3)
            assert (True, "90", 2) == (home.engine.is_synced, home.version(), len(api.lists()))

    run(test())


def test_a_view_that_is_too_old_is_listed_when_its_stream_is_accepted() -> None:
    """An hour without the API, and a quiet kind: nobody waits for its next bookmark."""

    async def test() -> None:
        home, back = Home(), asyncio.Event()

        async def reopened(request: web.Request) -> web.StreamResponse:
            await back.wait()
            return await stream()(request)

        story = (a_list(10, a_node("n1", 5)), stream(then="cut"), reopened, a_list(99, a_node("n1", 90)), stream())
        async with followed(home.sink, *story) as api:
            await until(lambda: home.engine.is_synced and len(api.watches()) == 2)
            home.passes(minutes=60)
            assert not home.engine.is_synced
            back.set()
            await until(lambda: home.engine.is_synced)
            assert ("90", 2) == (home.version(), len(api.lists()))

    run(test())


def test_a_workload_cluster_that_was_refused_is_back_as_soon_as_it_is_accepted() -> None:
    """Its few Nodes say nothing for a minute, either."""

    async def test() -> None:
        away = Away()
        story = (a_list(10, a_node("n1", 5)), STARTING, stream(), a_list(99, a_node("n1", 90)), stream())
        async with followed(away.sink, *story, cluster=EAST):
            await until(lambda: len(away.said) >= 3)
            assert [("seen", "5"), ("hidden", ""), ("seen", "90")] == away.said

    run(test())
