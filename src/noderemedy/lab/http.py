"""A Kubernetes-shaped endpoint on loopback in front of the simulated API server.

The lab serves it so that the manager, a stock kubectl and the conformance suite meet the simulated cluster as
they would meet a real one: HTTP or TLS, tokens or client certificates, keep-alive, streamed watches. Faults are
switched on by an `Interfere` function (`http_faults.py`); what the API means is decided in `sim/apiserver`, not here.

Rule 1: only 127.0.0.1 is ever bound.
Rule 2: no token and no key is ever logged or put into an answer.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import yaml
from aiohttp import web
from msgspec import Struct

from noderemedy.lab.http_answers import TooLarge, body_of, drop, refusal, send
from noderemedy.lab.http_faults import Drop, Fault, Instead, Interfere, Moment
from noderemedy.lab.http_identity import identify
from noderemedy.lab.http_openapi import openapi
from noderemedy.lab.http_tls import Authority, Pair, server_context
from noderemedy.lab.http_watch import Pace, Watcher, bookmark_for
from noderemedy.model.time import MINUTE, Span
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import User
from noderemedy.wire.http import Request

HOST = "127.0.0.1"
WATCH_LASTS_S = 1800.0
TRUE = ("true", "1")


class Settings(Struct, frozen=True):
    """What an endpoint is told once. `queue_max` is how many events may wait for one slow watcher."""

    tokens: Mapping[str, User]
    interfere: Interfere | None = None
    bookmark_every: Span = MINUTE
    queue_max: int = 10_000


class Endpoint:
    """A running endpoint. Made by `serve`, ended by `close`."""

    def __init__(self, api: ApiServer, settings: Settings, authority: Authority | None) -> None:
        self.api = api
        self.settings = settings
        self.authority = authority
        self.port = 0
        self.watchers: list[Watcher] = []
        # A watcher that vanished is noticed by its handler being cancelled.
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=1.0)

    @property
    def url(self) -> str:
        return f"{'https' if self.authority else 'http'}://{HOST}:{self.port}"

    def kubeconfig(self, token: str | None = None, certificate: Pair | None = None) -> str:
        """A kubeconfig file for this endpoint: with a client certificate, this token, or the first one known."""
        shown = next(iter(self.settings.tokens)) if token is None else token
        user: dict[str, str] = {"token": shown}
        if certificate is not None:
            user = {
                "client-certificate-data": b64encode(certificate.certificate).decode(),
                "client-key-data": b64encode(certificate.key).decode(),
            }
        cluster: dict[str, str] = {"server": self.url}
        if self.authority is not None:
            cluster["certificate-authority-data"] = b64encode(self.authority.certificate).decode()
        config: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": cluster}],
            "users": [{"name": "lab", "user": user}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
            "current-context": "lab",
        }
        return yaml.safe_dump(config, sort_keys=False)

    def cut_watches(self) -> None:
        """Fault: every open watch is closed in the middle."""
        for watcher in tuple(self.watchers):
            watcher.cut()

    def silence_watches(self) -> None:
        """Fault: every open watch stays open and says nothing any more."""
        for watcher in tuple(self.watchers):
            watcher.silence()

    async def start(self, port: int, client_ca: bytes | None) -> None:
        """Bind; port 0 takes a free one."""
        context = server_context(self.authority.server(HOST), client_ca) if self.authority else None
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, port, ssl_context=context, backlog=1024).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """End every watch and every connection."""
        for watcher in tuple(self.watchers):
            watcher.end()
        await self._runner.cleanup()

    # --- one request ------------------------------------------------------------------------------------

    async def _handle(self, web_request: web.BaseRequest) -> web.StreamResponse:
        user = identify(web_request, self.settings.tokens)
        if user is None:
            return refusal(401, "Unauthorized", "Unauthorized")
        try:
            body = await body_of(web_request)
        except TooLarge as error:
            return refusal(413, "RequestEntityTooLarge", str(error))
        request = Request(
            web_request.method,
            web_request.path,
            tuple(web_request.query.items()),
            body,
            web_request.headers.get("Content-Type", ""),
        )
        return await self._interfered(web_request, request, user)

    async def _interfered(self, web_request: web.BaseRequest, request: Request, user: User) -> web.StreamResponse:
        fault = await self._fault(Moment.BEFORE, request, user)
        if (instead := _instead(web_request, fault)) is not None:
            return instead
        accept = web_request.headers.get("Accept", "")
        if request.method == "GET" and dict(request.query).get("watch") in TRUE:
            return await self._watch(web_request, request, user, accept, fault)
        answer = openapi(self.api, request) or self.api.handle(
            request, user, accept, web_request.headers.get("User-Agent", "")
        )
        fault = await self._fault(Moment.AFTER, request, user)
        return _instead(web_request, fault) or send(answer)

    async def _fault(self, moment: Moment, request: Request, user: User) -> Fault | None:
        if self.settings.interfere is None:
            return None
        return await self.settings.interfere(moment, request, user)

    async def _watch(
        self, web_request: web.BaseRequest, request: Request, user: User, accept: str, fault: Fault | None
    ) -> web.StreamResponse:
        pace = self._pace(dict(request.query))
        if pace is None:
            return refusal(400, "BadRequest", "timeoutSeconds is not a number")
        watcher = Watcher(bookmark_for(self.api, request, accept), pace, self.settings.queue_max, fault)
        try:
            subscription = self.api.watch(request, watcher.tell, user, accept)
        except ApiError as error:
            return refusal(error.code, error.reason, error.message, error.details)
        watcher.follow()
        if not subscription.is_open:
            watcher.end()
        self.watchers.append(watcher)
        try:
            return await self._stream(web_request, watcher)
        finally:
            subscription.close()
            self.watchers.remove(watcher)

    def _pace(self, query: Mapping[str, str]) -> Pace | None:
        """How long a watch lasts and when it gets bookmarks; None when that cannot be read."""
        seconds = query.get("timeoutSeconds") or "0"
        if not seconds.isdigit():
            return None
        every = self.settings.bookmark_every.ms / 1000 if query.get("allowWatchBookmarks") in TRUE else None
        return Pace(float(seconds) or WATCH_LASTS_S, every)

    async def _stream(self, web_request: web.BaseRequest, watcher: Watcher) -> web.StreamResponse:
        transport = web_request.transport
        assert transport is not None
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
        )
        response.enable_chunked_encoding()
        watcher.on_cut = transport.abort
        await response.prepare(web_request)
        # Headers go out with the first bytes; a watch may have none for minutes, and its client is waiting.
        assert response._payload_writer is not None
        response._payload_writer.send_headers()
        try:
            async for line in watcher.lines():
                await response.write(line)
        except ConnectionError:
            watcher.cut()
        return drop(web_request) if watcher.is_cut else response


async def serve(
    api: ApiServer,
    *,
    tokens: Mapping[str, User],
    port: int = 0,
    tls: bool = False,
    client_ca: bytes | None = None,
    interfere: Interfere | None = None,
    bookmark_every: Span = MINUTE,
    queue_max: int = 10_000,
) -> Endpoint:
    """Serve an API server on 127.0.0.1 until `close`.

    With `tls` a new authority signs the server's certificate; certificates signed by `client_ca` (PEM; the
    endpoint's own authority without one) are accepted in place of a token.
    """
    authority = Authority() if tls else None
    settings = Settings(tokens, interfere, bookmark_every, queue_max)
    endpoint = Endpoint(api, settings, authority)
    await endpoint.start(port, client_ca or (authority.certificate if authority else None))
    return endpoint


def _instead(web_request: web.BaseRequest, fault: Fault | None) -> web.StreamResponse | None:
    match fault:
        case Drop():
            return drop(web_request)
        case Instead():
            return send(fault)
        case _:
            return None
