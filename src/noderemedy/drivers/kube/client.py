"""One connection to one cluster: sends `Request` values, returns `Answer` values.

Called by the manager's effects, by `listing`, `watch`, `discovery`, `events` and `lease`. Rules:

1. An error status is an answer. Only silence raises, and the exception says whether the request may have been
   applied: `NotSent` (surely not) or `NoAnswer` (unknown).
2. Nothing that changes the cluster is sent twice behind the caller's back. aiohttp repeats PUT and DELETE when
   a kept-alive connection turns out to be dead; then the second answer (a conflict, a 404) would hide that the
   first was applied. `_never_twice` forbids it.
3. After a 401 credentials are read again once; the second 401 is the answer.
4. Redirects are not followed: they would carry the token to somebody else.
5. Lists, and questions about kinds, go a few at a time. At a start there are dozens; each would open a connection of
   its own, and a handshake is dearer, for both sides, than the list of a kind that has hardly any objects.
6. Whoever asks may have a last word (`may_leave`): asked when a connection is there, before a byte leaves. A lane,
   credentials and a handshake take their time, and clocks may jump meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import ssl
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from noderemedy.drivers.kube import tls
from noderemedy.drivers.kube.answers import answer_of, explain
from noderemedy.drivers.kube.backoff import Backoff
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.credentials import Identity
from noderemedy.drivers.kube.errors import BadCredentials, NoAnswer, NoCredentials, NotSent, Refused, Silent
from noderemedy.drivers.kube.lines import Lines, is_whole
from noderemedy.drivers.kube.quiet import Quiet
from noderemedy.model.time import Span
from noderemedy.wire.http import Answer, Request

PATIENCE = Span(30_000)
SILENCE = Span(70_000)
CONNECT_S = 10.0
KEPT_S = 60.0  # idle connections: a new one costs a handshake when it matters; API servers close theirs after 90 s
READ_BUFFER = 256 * 1024  # watch lines pass 64 KiB; a larger buffer also means fewer wake-ups
LINE_LIMIT = 64 * 1024 * 1024  # etcd stores no object anywhere near this size
DEPTH = 10_000 + 2_000  # API servers refuse JSON that is nested deeper than 10,000; the rest is for our own calls
LISTS_AT_ONCE = 6  # Nodes, Machines and hosts, of which a second page is on its way, or all of the small ones
REPEATABLE = ("GET", "HEAD")


MayLeave = Callable[[], str]  # why a request may not leave now; "" if it may


def freely() -> str:
    """Nothing speaks against it."""
    return ""


class _Attempt:
    """Whether one attempt got hold of a connection: from then on it may have been applied."""

    def __init__(self, may_leave: MayLeave = freely) -> None:
        self.may_leave = may_leave
        self.connected = False

    def failure(self, why: str) -> NoAnswer | NotSent:
        return NoAnswer(why) if self.connected else NotSent(why)


_ATTEMPT: ContextVar[_Attempt] = ContextVar("attempt")  # of the task that asks for a connection


class _Connector(aiohttp.TCPConnector):
    """Tells the attempt when it gets a connection, and asks it whether it may still leave.

    aiohttp's own tracing would tell of a dozen other things, too.
    """

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Any],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  as aiohttp has it
    ) -> aiohttp.connector.Connection:
        connection = await super().connect(req, traces, timeout)
        attempt = _ATTEMPT.get()
        if why := attempt.may_leave():
            connection.release()
            raise NotSent(why)
        attempt.connected = True
        return connection


class KubeClient:
    """Make it inside a running event loop; `close()` it, or use it with `async with`."""

    def __init__(self, access: Access, *, parallel: int = 32, chance: random.Random | None = None) -> None:
        # msgspec counts nested JSON with Python's calls, and 1,000 is not enough for what an API server stores: one
        # object of a thousand levels would make the lists of its kind unreadable.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), DEPTH))
        self.access = access
        self._chance = chance or random.Random()
        self._lanes = asyncio.Semaphore(parallel)
        self._lists = asyncio.Semaphore(LISTS_AT_ONCE)
        self._asked: dict[str, asyncio.Task[Answer]] = {}
        self._tls: tuple[Identity, ssl.SSLContext] | None = None
        self._proxy = URL(access.proxy.reveal()) if access.proxy else None
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=0, keepalive_timeout=KEPT_S),
            middlewares=(_never_twice,),
            read_bufsize=READ_BUFFER,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def __aenter__(self) -> KubeClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        for reading in self._asked.values():
            reading.cancel()
        await self._session.close()

    async def send(
        self,
        request: Request,
        *,
        timeout: Span = PATIENCE,  # noqa: ASYNC109  part of what it promises: NotSent or NoAnswer by then
        retry: bool = False,
        urgent: bool = False,
        may_leave: MayLeave = freely,
    ) -> Answer:
        """Send and wait.

        `retry` tries again while that is harmless and time is left; `urgent` waits in no queue; `may_leave` is asked
        before every exchange, also the second one after a 401.
        Raises NotSent or NoAnswer; an error status is an answer.
        """
        lane = contextlib.nullcontext() if urgent else self._lanes
        progress = _Progress(may_leave)
        try:
            async with asyncio.timeout(timeout.ms / 1000), lane:
                if retry:
                    return await self._persist(request, progress)
                return await self._authorised(request, progress)
        except TimeoutError:
            if progress.last is not None:
                return progress.last
            raise progress.attempt.failure(f"{self._whom()}: no answer within {timeout}") from None

    async def read(self, request: Request, patience: Span) -> Answer:
        """Send it when it is its turn, and no later than the patience of all before it allows."""
        async with self._lists:
            return await self.send(request, timeout=patience, urgent=True)

    async def ask(self, path: str, patience: Span) -> Answer:
        """What several want to read at one moment is read once: at a start, all kinds of a group ask for the group."""
        reading = self._asked.get(path)
        if reading is None:
            reading = asyncio.create_task(self.read(Request("GET", path), patience))
            self._asked[path] = reading
            reading.add_done_callback(lambda _: self._asked.pop(path, None))
        return await asyncio.shield(reading)

    async def stream(
        self, request: Request, *, silence: Span = SILENCE, opened: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a watch, as they come; `opened` is called before the first, when the server has accepted it.

        Raises Refused, Silent when nothing comes any more, NotSent, or NoAnswer when it is cut or never answered: a
        tunnel whose other end is gone accepts everything.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        attempt = _Attempt()
        lines = Lines(LINE_LIMIT)
        quiet: Quiet | None = None
        is_open = False
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(silence.ms / 1000):
                    response = await stack.enter_async_context(self._opened(request, attempt, timeout))
                quiet = Quiet(silence, response.close)
                stack.callback(quiet.stop)
                if response.status != 200:
                    raise Refused(answer_of(response, await response.read()))
                is_open = True
                opened()
                async for chunk in response.content.iter_any():
                    quiet.heard()
                    for line in lines.feed(chunk):
                        yield line
                if is_whole(rest := lines.rest()):
                    yield rest
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as problem:
            is_silent = type(problem) is TimeoutError or (quiet is not None and quiet.is_over)
            if is_silent and is_open:
                raise Silent(f"{self._whom()}: no byte for {silence}") from None
            if is_silent:
                raise attempt.failure(f"{self._whom()}: no answer within {silence}") from None
            raise attempt.failure(f"{self._whom()}: {explain(problem)}") from None

    async def _persist(self, request: Request, progress: _Progress) -> Answer:
        """Try again after what is surely, or harmlessly, without effect; `send` ends it when time is over."""
        backoff = Backoff(self._chance, Span(200), Span(5_000))
        while True:
            wish: Span | None = None
            try:
                progress.last = await self._authorised(request, progress)
                if not _worth_repeating(request, progress.last):
                    return progress.last
                wish = progress.last.retry_after
            except NotSent:
                pass
            except NoAnswer:
                if request.method not in REPEATABLE:
                    raise
            await asyncio.sleep(backoff.pause(wish).ms / 1000)

    async def _authorised(self, request: Request, progress: _Progress) -> Answer:
        """One exchange; a second one with new credentials after a 401."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        progress.attempt = attempt = _Attempt(progress.may_leave)
        try:
            async with self._opened(request, attempt, timeout) as response:
                return answer_of(response, await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            raise attempt.failure(f"{self._whom()}: {explain(problem)}") from None

    @contextlib.asynccontextmanager
    async def _opened(
        self, request: Request, attempt: _Attempt, limits: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The response to read from, under credentials that the server accepts, if we have such."""
        identity = await self._identity()
        async with self._exchange(request, identity, attempt, limits) as response:
            if response.status != 401:
                yield response
                return
            renewed = await self._identity(refused=identity)
            if renewed == identity:
                yield response
                return
        async with self._exchange(request, renewed, attempt, limits) as response:
            yield response

    def _exchange(
        self, request: Request, identity: Identity, attempt: _Attempt, limits: aiohttp.ClientTimeout
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = CIMultiDict(
            [("Accept", "application/json"), ("Accept-Encoding", "identity"), ("User-Agent", "node-remedy")]
        )
        headers.extend(self.access.headers)
        if identity.token:
            headers["Authorization"] = f"Bearer {identity.token.reveal()}"
        if request.content_type:
            headers["Content-Type"] = request.content_type
        _ATTEMPT.set(attempt)
        url = URL(self.access.server + request.path)
        return self._session.request(
            request.method,
            url.with_query(list(request.query)) if request.query else url,
            data=request.body or None,
            headers=headers,
            timeout=limits,
            ssl=self._context(identity),
            server_hostname=self.access.server_name or None,
            proxy=self._proxy,
            allow_redirects=False,
        )

    async def _identity(self, refused: Identity | None = None) -> Identity:
        """The identity to show; where there is none, nothing was sent."""
        source = self.access.credentials
        try:
            return await source.current() if refused is None else await source.renew(refused)
        except BadCredentials as problem:
            raise NoCredentials(str(problem)) from None

    def _context(self, identity: Identity) -> ssl.SSLContext | bool:
        """One TLS context per client certificate, so that connections are kept until it changes."""
        if not self.access.server.startswith("https:"):
            return True
        shown = Identity(certificate=identity.certificate, key=identity.key)
        if self._tls is None or self._tls[0] != shown:
            access = self.access
            try:
                made = tls.context(access.origin, access.certificate_authority, access.insecure, shown)
            except BadCredentials as problem:
                raise NoCredentials(str(problem)) from None
            self._tls = (shown, made)
        return self._tls[1]

    def _whom(self) -> str:
        return f"API server {self.access.server} ({self.access.origin})"


class _Progress:
    """How far a `send` got, for the moment when its time is over."""

    def __init__(self, may_leave: MayLeave) -> None:
        self.may_leave = may_leave
        self.attempt = _Attempt()
        self.last: Answer | None = None


def _worth_repeating(request: Request, answer: Answer) -> bool:
    """429 was refused before it was looked at; other server errors may have been applied, unless it was a read."""
    if answer.status == 429:
        return True
    return request.method in REPEATABLE and answer.status in (500, 502, 503, 504)


async def _never_twice(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Turn a cut connection into NoAnswer before aiohttp can repeat a write on a new one."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as problem:
        if request.method in REPEATABLE:
            raise
        raise NoAnswer(f"API server {request.url.origin()}: {explain(problem)}") from None
