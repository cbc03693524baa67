"""What the bench runs beside a test: an event loop in a thread, and an asynchronous client for it.

Tests are synchronous and readable; kubelets and operator are many small tasks. `call` and `run` cross between them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import aiohttp
from tests.e2e.api import Api, Json

PAUSE_S = 0.5


class Background:
    """A thread with an event loop. Tasks that it started are cancelled when it stops."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="bench", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any], seconds: float = 60.0) -> Any:
        """Runs a coroutine there and waits for its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a plain function there and waits for its result."""

        async def inside() -> Any:
            return function(*arguments)

        return self.run(inside())

    def stop(self) -> None:
        self.run(cancel_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


async def cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Gone(Exception):
    """The object is not there (any more), or is another one."""


class AsyncApi:
    """The bench's own way to the API server. Make it inside the loop."""

    def __init__(self, api: Api) -> None:
        self._server = api.server
        context = ssl.create_default_context(cafile=str(api.authority))
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context, limit=0),
            headers={"Authorization": f"Bearer {api.token}"},
            read_bufsize=1 << 20,
        )

    async def close(self) -> None:
        await self._session.close()

    async def send(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Json:
        """Sends until there is an answer that is no server error; 404, 409 and 410 are `Gone`."""
        while True:
            with contextlib.suppress(aiohttp.ClientConnectionError, TimeoutError):
                headers = {"Content-Type": content_type}
                data = json.dumps(body) if body is not None else None
                async with self._session.request(method, self._server + path, data=data, headers=headers) as response:
                    if response.status in (404, 409, 410):
                        raise Gone(path)
                    if response.status < 500 and response.status != 429:
                        response.raise_for_status()
                        answer: Json = await response.json()
                        return answer
            await asyncio.sleep(PAUSE_S)

    async def merge(self, path: str, patch: Json) -> Json:
        return await self.send("PATCH", path, patch, "application/merge-patch+json")

    async def follow(self, path: str) -> AsyncIterator[tuple[str, Json]]:
        """All objects of a collection as ADDED, then every change, for ever. Starts over when the watch ends."""
        while True:
            listed = await self.send("GET", path)
            for item in listed["items"]:
                yield "ADDED", item
            with contextlib.suppress(aiohttp.ClientError, TimeoutError, Gone):
                async for event in self._watch(path, listed["metadata"]["resourceVersion"]):
                    yield event
            await asyncio.sleep(PAUSE_S)

    async def _watch(self, path: str, version: str) -> AsyncIterator[tuple[str, Json]]:
        joint = "&" if "?" in path else "?"
        url = f"{self._server}{path}{joint}watch=1&resourceVersion={version}"
        limits = aiohttp.ClientTimeout(total=None)
        async with self._session.get(url, timeout=limits) as response:
            response.raise_for_status()
            async for line in response.content:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise Gone(path)
                yield event["type"], event["object"]
