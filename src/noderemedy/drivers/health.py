"""The manager's own small HTTP server: /metrics, /healthz, /livez, /readyz, on a port of its own.

Alive means that the event loop answers and nothing essential has died; ready means, in addition, that all caches are in
step with the API. Both say in words what is missing, since a person reads it when something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

from noderemedy.drivers.metrics import CONTENT_TYPE, Metrics

Ailments = Callable[[], list[str]]


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
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen; port 0 means any free one, then found in `port`."""
        app = web.Application()
        app.router.add_get("/metrics", self._serve_metrics)
        app.router.add_get("/healthz", self._serve_alive)
        app.router.add_get("/livez", self._serve_alive)
        app.router.add_get("/readyz", self._serve_ready)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve_metrics(self, _request: web.Request) -> web.Response:
        if self._before is not None:
            self._before()
        return web.Response(body=self._metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def _serve_alive(self, _request: web.Request) -> web.Response:
        return _verdict(self._dead())

    async def _serve_ready(self, _request: web.Request) -> web.Response:
        return _verdict(self._dead() + self._unready())


def _verdict(ailments: list[str]) -> web.Response:
    if not ailments:
        return web.Response(text="ok\n")
    return web.Response(status=503, text="".join(f"{ailment}\n" for ailment in ailments))
