"""The manager's own small HTTP server: /metrics, /healthz, /livez, /readyz, on a port of its own.

Alive means that the event loop answers and nothing essential has died; ready means, in addition, that all caches are in
step with the API. Both say in words what is missing, since a person reads it when something is wrong.
Four pages and one question per connection: to load a web framework for them would be a tenth of a start.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from http import HTTPStatus

from noderemedy.drivers.metrics import CONTENT_TYPE, Metrics

Ailments = Callable[[], list[str]]
Page = tuple[HTTPStatus, str, bytes]  # with the type of its content

TEXT = "text/plain; charset=utf-8"
LONGEST_HEAD = 2**14
PATIENCE_S = 10.0  # with somebody who connects and is slow to ask, or to read
TROUBLES = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)


class Health:
    """Serves until `stop()`. `dead` and `unready` list what is wrong; an empty list is good news."""

    def __init__(
        self,
        metrics: Metrics,
        *,
        dead: Ailments = list,
        unready: Ailments = list,
        before: Callable[[], None] | None = None,
    ) -> None:
        self._metrics = metrics
        self._dead = dead
        self._unready = unready
        self._before = before  # called before each scrape: ages are computed then, not by a timer
        self._server: asyncio.Server | None = None
        self._pages = {
            "/metrics": self._figures,
            "/healthz": self._alive,
            "/livez": self._alive,
            "/readyz": self._ready,
        }
        self.port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen; port 0 means any free one, then found in `port`."""
        self._server = await asyncio.start_server(self._serve, host, port, limit=LONGEST_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One question and its answer. Whoever asks no whole question gets none, and disturbs nobody."""
        with contextlib.suppress(*TROUBLES), contextlib.closing(writer):
            async with asyncio.timeout(PATIENCE_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self.answer(head))
                await writer.drain()

    def answer(self, head: bytes) -> bytes:
        """What to send to whoever began with these lines."""
        method, _, rest = head.partition(b"\r\n")[0].decode("ascii", "replace").partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        if method not in ("GET", "HEAD"):
            status, kind, body = HTTPStatus.METHOD_NOT_ALLOWED, TEXT, b"only GET\n"
        elif path not in self._pages:
            status, kind, body = HTTPStatus.NOT_FOUND, TEXT, f"only {' '.join(self._pages)}\n".encode()
        else:
            status, kind, body = self._pages[path]()
        lines = [
            f"HTTP/1.1 {status} {status.phrase}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else body)

    def _figures(self) -> Page:
        if self._before is not None:
            self._before()
        return HTTPStatus.OK, CONTENT_TYPE, self._metrics.text()

    def _alive(self) -> Page:
        return _verdict(self._dead())

    def _ready(self) -> Page:
        return _verdict(self._dead() + self._unready())


def _verdict(ailments: list[str]) -> Page:
    if not ailments:
        return HTTPStatus.OK, TEXT, b"ok\n"
    return HTTPStatus.SERVICE_UNAVAILABLE, TEXT, "".join(f"{ailment}\n" for ailment in ailments).encode()
