"""The watch loop: list, follow, and list again whenever the stream cannot be trusted any more.

The manager runs one `watch()` per kind. The ten rules of watching, and where they live:

 1. 410 as a status, as an ERROR event or as a Status in the stream: list again (`_Distrust`).
 2. Never go on from a version after an ERROR event; versions are compared by `precedes` only.
 3. Bookmarks are asked for; no byte for 70 s: connect again (`KubeClient.stream`).
 4. timeoutSeconds between 5 and 10 minutes, drawn anew for every stream.
 5. A 200 may hold a Status instead of events (`envelopes.py`) or of a list (`wire/pages.py`).
 6. Lines may be of any length (`lines.py`).
 7. An object that cannot be decoded is put aside; the stream goes on.
 8. The event loop gets a turn every hundred events.
 9. `listed` says when a kind is complete; `contact` says how fresh it is: a line that was believed. A page is no sign
    of life, for the next one may never come; nor is an accepted stream for what was out of sight: that is listed.
10. The same version of the same object is passed on once; an older version is time travel: list again.
"""

from __future__ import annotations

import asyncio
import contextlib
import random

import msgspec

from noderemedy.drivers.kube.backoff import Backoff
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.discovery import NotServed
from noderemedy.drivers.kube.envelopes import BOOKMARK, LINE, STATUS, is_error
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle, Refused, Silent, obstacle_of
from noderemedy.drivers.kube.listing import Lister, OlderList
from noderemedy.drivers.kube.refusals import describe, is_lasting
from noderemedy.drivers.kube.sink import DEFAULT, Decode, DecodeEvent, DecodePage, Locate, Settings, Sink
from noderemedy.engine.cache import precedes
from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Span
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.objects import Undecodable
from noderemedy.wire.scalars import UNREADABLE


async def watch(
    client: KubeClient,
    resource: Resource,
    decode: Decode,
    sink: Sink,
    *,
    namespace: str = "",
    chance: random.Random,
    settings: Settings = DEFAULT,
    locate: Locate | None = None,
    decode_event: DecodeEvent | None = None,
    decode_page: DecodePage | None = None,
) -> None:
    """Keep `sink` in step with the API until cancelled.

    `locate` is asked again where a kind is served after a 404: its definition may come later or change version.
    `decode_event` and `decode_page` read ordinary lines and pages in one pass; all others, and all without them, take
    the longer way.
    """
    ways = (decode_event, decode_page)
    await _Watcher(client, resource, decode, sink, namespace, chance, settings, locate, *ways).run()


class _OutOfSight(Exception):
    """The server accepts the stream, and nobody believes any more what we have: list again, at once."""


class _Distrust(Exception):
    """The stream said something after which only a new list helps."""


class _Watcher:
    """The state of one watch: the version to go on from ("" = list first) and the newest version seen."""

    def __init__(
        self,
        client: KubeClient,
        resource: Resource,
        decode: Decode,
        sink: Sink,
        namespace: str,
        chance: random.Random,
        settings: Settings,
        locate: Locate | None,
        decode_event: DecodeEvent | None = None,
        decode_page: DecodePage | None = None,
    ) -> None:
        self._client = client
        self._resource = resource
        self._kind = resource.kind
        self._decode = decode
        self._decode_event = decode_event
        self._sink = sink
        self._namespace = namespace
        self._chance = chance
        self._settings = settings
        self._locate = locate
        self._lister = Lister(client, decode, sink, namespace, settings, decode_page)
        self._backoff = Backoff(chance, settings.first_pause, settings.longest_pause)
        self._version = ""
        self._newest = ""
        self._last = ("", "", False)
        self._doubted_lists = 0
        self._said: Obstacle | None = None
        self._is_back = False  # accepted again after an outage, and no line was read yet
        self._hear_again = 0.0

    async def run(self) -> None:
        while not await self._list():
            pass  # it has rested
        await self._rest(self._settings.first_stream)
        while True:
            if self._version or await self._list():
                await self._live()

    async def _live(self) -> None:
        """One stream, and a pause unless it lived long and ended well."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            ended_well = await self._follow()
        except _OutOfSight:
            self._version = ""
            return
        if (loop.time() - begun) * 1000 >= self._settings.settled.ms:
            self._backoff.reset()
            if ended_well:
                return
        await self._rest(self._backoff.pause())

    # --- list --------------------------------------------------------------------------------------------------

    async def _list(self) -> bool:
        """Try to list; False after a failure that was told and waited for."""
        try:
            not_older_than = self._newest if self._doubted_lists < self._settings.lists_again else ""
            self._version = await self._lister.pour(self._resource, not_older_than)
        except OlderList:
            self._doubted_lists += 1
            older = f"the list of {self._resource.plural} is older than what was seen before; asking again"
            self._say(Obstacle(older))
            await self._rest(self._backoff.pause())
            return False
        except Refused as refused:
            await self._refused(refused)
            return False
        except (NotSent, NoAnswer) as problem:
            self._say(obstacle_of(problem))
            await self._rest(self._backoff.pause())
            return False
        self._newest = self._version
        self._doubted_lists = 0
        self._said = None
        return True

    # --- follow ------------------------------------------------------------------------------------------------

    async def _follow(self) -> bool:
        """One stream from its first to its last byte; True if the server ended it in good order."""
        try:
            await self._stream()
        except Refused as refused:
            await self._refused(refused)
        except _Distrust:
            self._version = ""
        except Silent:
            pass
        except (NotSent, NoAnswer) as problem:
            self._say(obstacle_of(problem))
        else:
            return True
        return False

    async def _stream(self) -> None:
        lines = self._client.stream(self._request(), silence=self._settings.silence, opened=self._accepted)
        loop, count = asyncio.get_running_loop(), 0
        async with contextlib.aclosing(lines):
            async for line in lines:
                if self._is_back:
                    self._is_back = False
                    self._backoff.reset()
                self._take(line)
                if loop.time() >= self._hear_again:
                    self._hear()
                count += 1
                if count % self._settings.breath == 0:
                    await asyncio.sleep(0)

    def _accepted(self) -> None:
        """A server that is back accepts a stream from before, too, and then says that it has forgotten where that was.

        So the first line is told in any case, once it was believed. After an outage any line ends the long pauses: the
        list that may be needed now comes soon. Not without an outage, or a server that forgets at once is hammered.

        Who is out of sight cannot wait for a line: that of a quiet kind is a minute away, and nothing is decided.
        """
        self._is_back = self._is_back or self._said is not None
        self._said = None
        self._hear_again = 0.0
        if not self._sink.opened(self._kind):
            raise _OutOfSight

    def _hear(self) -> None:
        """Of many lines one in a second is told: how fresh a view is matters in minutes, and heartbeats are many."""
        self._hear_again = asyncio.get_running_loop().time() + self._settings.contact.ms / 1000
        self._sink.contact(self._kind)

    def _request(self) -> Request:
        seconds = self._chance.randint(self._settings.shortest.ms, self._settings.longest.ms) // 1000
        query: tuple[tuple[str, str], ...] = (
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", self._version),
            ("timeoutSeconds", str(max(1, seconds))),
        )
        if self._settings.fields:
            query = (*query, ("fieldSelector", self._settings.fields))
        return Request("GET", self._resource.path(self._namespace), query)

    def _take(self, line: bytes) -> None:
        """One line of the stream."""
        if self._decode_event and (found := self._decode_event(line)):
            self._pass_on(*found)
            return
        try:
            event = LINE.decode(line)
            if event.type == "BOOKMARK":
                self._advance(BOOKMARK.decode(event.object).metadata.resource_version)
                return
            if is_error(event):
                raise _Distrust(STATUS.decode(event.object).message if event.type else event.message)
        except UNREADABLE:
            # Not even an envelope: nobody can tell which change was in it.
            nobody = Ref("", self._kind, self._namespace, "")
            self._sink.unreadable(self._kind, Undecodable(nobody, "", "", "a line of the watch is not an event"))
            raise _Distrust("a line that is not an event") from None
        if event.type in ("ADDED", "MODIFIED", "DELETED"):
            self._object(event.type, event.object)

    def _object(self, type_: str, raw: msgspec.Raw) -> None:
        try:
            item = self._decode(raw)
        except Undecodable as problem:
            self._advance(problem.resource_version)
            if type_ == "DELETED" and problem.ref.name:
                self._sink.gone(Seen(problem.ref, problem.uid, problem.resource_version, None))
            else:
                self._sink.unreadable(self._kind, problem)
            return
        self._pass_on(type_, item)

    def _pass_on(self, type_: str, item: Seen) -> None:
        if self._is_repeated(type_, item):
            return
        self._advance(item.resource_version)
        if type_ == "DELETED":
            self._sink.gone(item)
        else:
            self._sink.seen(item)

    def _is_repeated(self, type_: str, item: Seen) -> bool:
        """Whether this very version was just passed on; a deletion may carry the version that was alive."""
        before, self._last = self._last, (item.uid, item.resource_version, type_ == "DELETED")
        return before == self._last

    def _advance(self, version: str) -> None:
        """Go on from this version, unless it is older than one we saw (rule 10)."""
        if not version:
            return
        if precedes(self._newest, version):
            self._version = self._newest = version
            return
        if precedes(version, self._newest):
            raise _Distrust(f"version {version} came after {self._newest}")
        self._version = version

    # --- trouble -----------------------------------------------------------------------------------------------

    async def _refused(self, refused: Refused) -> None:
        """The server answered, but not with what we asked for."""
        answer = refused.answer
        if answer.status == 410:
            self._version = ""
            await self._rest(self._backoff.pause())
            return
        self._say(Obstacle(describe(answer, self._resource, self._namespace)))
        if not is_lasting(answer):
            await self._rest(self._backoff.pause(answer.retry_after))
            return
        await self._rest(self._some_of(self._settings.refused_pause))
        if answer.status in (404, 405):
            self._version = ""
            await self._look_where_it_is_served()

    async def _look_where_it_is_served(self) -> None:
        """Nothing is listed that discovery does not know: it is asked again, now and then."""
        if self._locate is None:
            return
        while isinstance(found := await self._locate(), NotServed):
            await self._rest(self._some_of(self._settings.refused_pause))
        if isinstance(found, Resource):
            self._resource = found

    def _say(self, obstacle: Obstacle) -> None:
        """Tell the sink once, until it changes or a stream is accepted again."""
        if obstacle != self._said:
            self._said = obstacle
            self._sink.lost(self._kind, obstacle)

    def _some_of(self, pause: Span) -> Span:
        """Between half of it and all: not all kinds at one moment."""
        return Span(round(pause.ms * (0.5 + self._chance.random() / 2)))

    async def _rest(self, pause: Span) -> None:
        await asyncio.sleep(pause.ms / 1000)
