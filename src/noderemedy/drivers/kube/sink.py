"""Where a watch pours what it sees, and how a watch behaves. The manager implements `Sink` around the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.discovery import Serving
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.model.ids import Kind
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Span
from noderemedy.wire.objects import Undecodable

Decode = Callable[[msgspec.Raw], Seen]
DecodeEvent = Callable[[bytes], tuple[str, Seen] | None]  # None: no ordinary event, look closer
DecodePage = Callable[[bytes], list[Seen] | None]  # None: something in it cannot be read, look closer
Locate = Callable[[], Awaitable[Serving]]


class Sink(Protocol):
    """All synchronous and cheap: a watch calls these between two reads of its socket."""

    def listing(self, kind: Kind) -> None:
        """A complete list begins, possibly again: what it does not name is gone when it ends."""

    def seen(self, item: Seen) -> None:
        """An object was listed, added or changed."""

    def gone(self, item: Seen) -> None:
        """An object was deleted. `obj` is None if its last state could not be read."""

    def listed(self, kind: Kind) -> None:
        """The list is complete: what is known of this kind is in step with the API."""

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        """An object was put aside. It exists (in a list: it is not gone), but nobody can judge by it."""

    def opened(self, kind: Kind) -> bool:
        """The server accepted the watch. A quiet kind sends no line for long; but the first one may be an error.

        False: what was seen is not believed any more, and is to be listed.
        """

    def contact(self, kind: Kind) -> None:
        """A line was read and believed: the view of this kind is fresh as of now, to a second. Pages are none: what
        comes behind them may be missing for ever."""

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        """This kind cannot be seen, and what to do about it. Said once until it changes or contact returns."""


class OneList:
    """What a `Sink` for a list that is made once need not do: nothing is watched, so nothing goes, ages or is lost."""

    def listing(self, kind: Kind) -> None:
        """It lists once."""

    def gone(self, item: Seen) -> None:
        """A list tells of nothing that is gone."""

    def listed(self, kind: Kind) -> None:
        """Whoever has to know says so."""

    def opened(self, kind: Kind) -> bool:
        return True

    def contact(self, kind: Kind) -> None:
        """How fresh a list is does not matter."""

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        """Only watches are lost."""


class Settings(Struct, frozen=True):
    """How patient a watch is. The defaults are for production; tests shorten them."""

    page: int = 500  # objects; two of them at a time
    page_bytes: int = 10_000_000  # as many objects as this holds, where 500 are much less
    list_patience: Span = Span(60_000)
    first_stream: Span = Span(500)  # after its list: all is judged before each kind opens a connection of its own
    silence: Span = Span(70_000)  # bookmarks come every 60 s
    shortest: Span = Span(300_000)  # of one stream, told to the server as timeoutSeconds
    longest: Span = Span(600_000)
    first_pause: Span = Span(500)
    longest_pause: Span = Span(30_000)
    refused_pause: Span = Span(30_000)  # after 401, 403, 404: a person has to do something first
    settled: Span = Span(10_000)  # a stream that lived this long was a success
    contact: Span = Span(1_000)  # between two signs of life that are passed on
    breath: int = 100  # events between two turns of the event loop
    fields: str = ""  # only objects whose fields are like this (fieldSelector)
    lists_again: int = 3  # how often a list older than what we saw is doubted before it is believed


DEFAULT = Settings()
