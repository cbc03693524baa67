"""A complete list, page by page. Called by `watch.py`; the next page is on its way while one is read, not more."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import Garbled, Refused
from noderemedy.drivers.kube.sink import Decode, DecodePage, Settings, Sink
from noderemedy.engine.cache import precedes
from noderemedy.model.outcome import Seen
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.objects import Undecodable
from noderemedy.wire.pages import ListMeta, decode_head
from noderemedy.wire.scalars import UNREADABLE


class OlderList(Exception):
    """The list is older than what was already seen: asked of a server that lags, or history was rewritten."""


class _RawPage(Struct):
    items: list[msgspec.Raw] | None


class _Page(Struct):
    """One page as it came: only its head was read."""

    body: bytes
    head: ListMeta


class Lister:
    """Lists one resource into a sink. `decode_page` reads ordinary pages in one pass; all others go the long way."""

    def __init__(
        self,
        client: KubeClient,
        decode: Decode,
        sink: Sink,
        namespace: str,
        settings: Settings,
        decode_page: DecodePage | None = None,
    ) -> None:
        self._client = client
        self._decode = decode
        self._decode_page = decode_page
        self._sink = sink
        self._namespace = namespace
        self._settings = settings

    async def pour(self, resource: Resource, not_older_than: str = "") -> str:
        """Pour the whole list into the sink; returns its resource version.

        Raises OlderList before anything was poured, Refused for an error status, NotSent or NoAnswer.
        """
        try:
            return await self._pages(resource, not_older_than, self._settings.page)
        except _ContinueExpired:
            # Compaction overtook us between two pages: one big page cannot expire.
            return await self._pages(resource, not_older_than, 0)

    async def _pages(self, resource: Resource, not_older_than: str, limit: int) -> str:
        page, limit = await self._first(resource, limit)
        if precedes(page.head.resource_version, not_older_than):
            raise OlderList(page.head.resource_version)
        self._sink.listing(resource.kind)
        while True:
            version = page.head.resource_version
            async with self._ahead(resource, limit, page.head.next_page) as following:
                await asyncio.sleep(0)  # the request leaves: the server works on it while we read
                items = self._items(resource, page.body, limit)
                del page  # megabytes
                await self._pass_on(resource, items)
                if following is None:
                    self._sink.listed(resource.kind)
                    return version
                page = await following

    async def _first(self, resource: Resource, limit: int) -> tuple[_Page, int]:
        """The first page, and how many objects the others have. Small objects come in larger pages: API servers have
        the first one at hand; every other one of a kind that nobody has changed for minutes was seen to be dear.
        """
        page = await self._fetch(resource, limit, "")
        fitting = limit * self._settings.page_bytes // len(page.body)
        if not page.head.next_page or fitting < 2 * limit:
            return page, limit
        return await self._fetch(resource, fitting, ""), fitting

    @contextlib.asynccontextmanager
    async def _ahead(self, resource: Resource, limit: int, token: str) -> AsyncIterator[asyncio.Task[_Page] | None]:
        """The page of this token, asked for already; None where there is none."""
        if not token:
            yield None
            return
        fetching = asyncio.create_task(self._fetch(resource, limit, token))
        try:
            yield fetching
        finally:
            fetching.cancel()
            await asyncio.gather(fetching, return_exceptions=True)

    async def _fetch(self, resource: Resource, limit: int, token: str) -> _Page:
        query = [("limit", str(limit))] if limit else []
        query += [("continue", token)] if token else []
        query += [("fieldSelector", self._settings.fields)] if self._settings.fields else []
        request = Request("GET", resource.path(self._namespace), tuple(query))
        answer = await self._client.read(request, self._settings.list_patience)
        if answer.status == 410 and token:
            raise _ContinueExpired
        if answer.status != 200:
            raise Refused(answer)
        with _as_list(resource):
            return _Page(answer.body, decode_head(answer.body))

    def _items(self, resource: Resource, body: bytes, limit: int) -> Iterable[Seen | Undecodable]:
        is_short = 0 < limit <= self._settings.page  # nobody else has a turn while a page is read in one pass
        if is_short and self._decode_page and (items := self._decode_page(body)) is not None:
            return items
        with _as_list(resource):
            raw = msgspec.json.decode(body, type=_RawPage)
        return map(self._read, raw.items or ())

    def _read(self, raw: msgspec.Raw) -> Seen | Undecodable:
        try:
            return self._decode(raw)
        except Undecodable as problem:
            return problem

    async def _pass_on(self, resource: Resource, items: Iterable[Seen | Undecodable]) -> None:
        for number, item in enumerate(items, start=1):
            if isinstance(item, Seen):
                self._sink.seen(item)
            else:
                self._sink.unreadable(resource.kind, item)
            if number % self._settings.breath == 0:
                await asyncio.sleep(0)


@contextlib.contextmanager
def _as_list(resource: Resource) -> Iterator[None]:
    try:
        yield
    except UNREADABLE:
        raise Garbled(f"the list of {resource.plural} is not JSON of a list with a version") from None


class _ContinueExpired(Exception):
    """410 for a page other than the first."""
