"""The simulated API server as a site: served over HTTP by a thread with its own event loop."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tests.conformance.client import Site

from noderemedy.lab.http import Endpoint, serve
from noderemedy.model.time import Wall
from noderemedy.sim.apiserver.rbac import follow_roles
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import ADMIN, User

T = TypeVar("T")

STRANGER = User("stranger", ("system:authenticated",))
TOKENS = {"the-administrator": ADMIN, "the-stranger": STRANGER}


def a_server() -> ApiServer:
    """An empty API server on the real clock that follows roles."""
    api = ApiServer(wall=lambda: Wall(time.time_ns() // 1_000_000), chance=random.Random(1))
    api.authorize_with(follow_roles(api))
    return api


class Background:
    """An event loop in a thread: the endpoint lives there, the cases block here."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()

    def serve(self, api: ApiServer, tls: bool = False) -> Endpoint:
        return asyncio.run_coroutine_threadsafe(serve(api, tokens=TOKENS, tls=tls), self.loop).result(10)

    def call(self, function: Callable[[], T]) -> T:
        """Run a function in the loop's thread, where the API server lives."""

        async def calling() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(calling(), self.loop).result(10)

    def stop(self, endpoint: Endpoint) -> None:
        asyncio.run_coroutine_threadsafe(endpoint.close(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


@contextmanager
def simulated_site(api: ApiServer, patience: float = 6.0) -> Iterator[Site]:
    """A site for one API server, served while the block runs. Only watches that last some seconds need patience."""
    background = Background()
    endpoint = background.serve(api)
    administrator, stranger = TOKENS
    site = Site("127.0.0.1", endpoint.port, administrator, stranger)
    site.patience = patience
    site.forget = lambda: background.call(api.compact)
    try:
        yield site
    finally:
        background.stop(endpoint)
