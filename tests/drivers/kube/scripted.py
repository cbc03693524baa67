"""A small HTTP server on loopback whose every byte a test scripts, and a sink that writes down what it was told.

Faults of a watch (a line cut in two, an ERROR event, silence) have to be exact to the byte, so these tests do not
use the simulated API server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import msgspec
from aiohttp import web

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.credentials import Credentials, Fixed, Identity
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.sink import Settings
from noderemedy.drivers.kube.watch import watch
from noderemedy.model.ids import NODE, Kind
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Span
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import Undecodable, decode

NODES = Resource(NODE, "v1", "nodes", False)
QUICK = Settings(
    page_bytes=0,
    first_stream=Span(0),
    first_pause=Span(2),
    longest_pause=Span(10),
    refused_pause=Span(10),
    silence=Span(5_000),
    settled=Span(1_000),
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Recorder:
    """A sink that keeps a list of what happened, in order."""

    def __init__(self) -> None:
        self.log: list[tuple[str, ...]] = []
        self.contacts = 0
        self.opens = 0
        self.is_believed = True
        self._changed = asyncio.Event()

    def _add(self, *entry: str) -> None:
        self.log.append(entry)
        self._changed.set()

    def listing(self, kind: Kind) -> None:
        self._add("listing")

    def seen(self, item: Seen) -> None:
        self._add("seen", item.ref.name, item.resource_version)

    def gone(self, item: Seen) -> None:
        self._add("gone", item.ref.name)

    def listed(self, kind: Kind) -> None:
        self.is_believed = True
        self._add("listed")

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        self._add("unreadable", problem.ref.name)

    def opened(self, kind: Kind) -> bool:
        self.opens += 1
        return self.is_believed

    def contact(self, kind: Kind) -> None:
        self.contacts += 1

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        self.is_believed = self.is_believed and obstacle.is_connection
        self._add("away" if obstacle.is_connection else "lost", obstacle.why)

    async def until(self, *entry: str, times: int = 1) -> None:
        """Wait until this was written down so many times."""
        while self.log.count(entry) < times:
            self._changed.clear()
            await self._changed.wait()


class Api:
    """Scripted answers, one per request in order; the last one serves all further requests."""

    def __init__(self, *handlers: Handler) -> None:
        self.handlers = list(handlers)
        self.requests: list[web.Request] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        await request.read()
        handler = self.handlers.pop(0) if len(self.handlers) > 1 else self.handlers[0]
        return await handler(request)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Api]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = str(runner.addresses[0][0]) + ":" + str(runner.addresses[0][1])
        try:
            yield self
        finally:
            await runner.cleanup()

    def access(self, credentials: Credentials | None = None) -> Access:
        return Access("the test", f"http://{self.url}", credentials or Fixed(Identity()))

    def watches(self) -> list[web.Request]:
        return [request for request in self.requests if "watch" in request.query]

    def lists(self) -> list[web.Request]:
        return [request for request in self.requests if "watch" not in request.query]


def a_node(name: str, version: int, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}, **more}


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Handler:
    async def handler(_request: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return handler


def a_list(version: int, *items: dict[str, Any], token: str = "") -> Handler:
    return answer({"metadata": {"resourceVersion": str(version), "continue": token}, "items": list(items)})


def a_status(code: int, message: str = "", headers: dict[str, str] | None = None) -> Handler:
    return answer({"kind": "Status", "code": code, "message": message}, code, headers)


def event(type_: str, obj: Any) -> bytes:
    return json.dumps({"type": type_, "object": obj}).encode() + b"\n"


def bookmark(version: int) -> bytes:
    return event("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})


def stream(*pieces: bytes, then: str = "hang") -> Handler:
    """Send these bytes piece by piece, then hang, end in good order, or cut the connection."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        if then == "hang":
            await asyncio.sleep(3600)
        if then == "cut":
            assert request.transport is not None
            request.transport.abort()
        return response

    return handler


def read_node(raw: bytes | msgspec.Raw) -> Seen:
    return decode(NODE, raw)


@contextlib.asynccontextmanager
async def watching(*handlers: Handler, settings: Settings = QUICK, **more: Any) -> AsyncIterator[tuple[Api, Recorder]]:
    """A running watch on Nodes against scripted answers."""
    sink = Recorder()
    async with Api(*handlers).running() as api, KubeClient(api.access()) as client:
        coroutine = watch(client, NODES, read_node, sink, chance=random.Random(1), settings=settings, **more)
        task = asyncio.create_task(coroutine)
        try:
            yield api, sink
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that nobody announces."""
    while not is_so():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


LIMIT_S = 10.0  # the sabotage tests, which expect a hang, shorten it


def run(test: Coroutine[Any, Any, None]) -> None:
    """Run one asynchronous test; a hang is a failure, not a wait."""
    asyncio.run(asyncio.wait_for(test, LIMIT_S))
