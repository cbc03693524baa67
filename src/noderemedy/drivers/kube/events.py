"""Publishes events.k8s.io/v1 Events: what a person sees in `kubectl describe`.

Events are a courtesy. `publish()` never blocks and never fails: there is a bounded queue, a failure is told once and
the Event is dropped; while others are in a hurry (`give_way`) they wait, unless the queue runs full. Names are given by
the caller and say what happened, so publishing the same thing twice, or after a restart, is one Event (409 = already
there). Only what came back (`again`) is counted in the Event that is there: its series moves, which `kubectl describe`
shows as `x2 over 20m`, and the API server keeps it for as long as a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.drivers.kube.lease import micro_time
from noderemedy.model.ids import EVENT, Ref
from noderemedy.model.time import Span, Wall
from noderemedy.wire import verbs
from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Answer, Request, Resource
from noderemedy.wire.scalars import UNREADABLE

EVENTS = Resource(EVENT, "v1", "events", True)
CONTROLLER = "node-remedy.dev/manager"
NOTE_BYTES_MAX = 1024
WORD_BYTES_MAX = 128
PATIENCE = Span(10_000)
DRAIN_PATIENCE = Span(2_000)
MOVES_MAX = 2  # tries to count what came back, if others count in the same Event meanwhile


class Note(Struct, frozen=True):
    """One Event to publish. `api_version` is that of the object it is about; `again`: it was over in between."""

    name: str
    regarding: Ref
    uid: str
    api_version: str
    reason: str
    note: str
    action: str
    at: Wall
    warning: bool = False
    again: bool = False


class _Meta(Struct, rename="camel"):
    resource_version: str


class _Series(Struct):
    count: int


class _Found(Struct):
    """What is read of an Event that is there."""

    metadata: _Meta
    series: _Series | None = None


class Publisher:
    """The queue and its worker. `tell(why)` hears about a failure once, until such a request gets through again."""

    def __init__(
        self,
        client: KubeClient,
        instance: str,
        tell: Callable[[str], None],
        bound: int = 1000,
        give_way: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._client = client
        self._instance = instance
        self._tell = tell
        self._queue: asyncio.Queue[Note] = asyncio.Queue(bound)
        self._give_way = give_way
        self._is_draining = False
        self._told: dict[str, str] = {}  # by verb: who may create, and not count, does not say so each time
        self.dropped = 0

    def publish(self, note: Note) -> None:
        """Queue it, or drop it when there is no room."""
        try:
            self._queue.put_nowait(note)
        except asyncio.QueueFull:
            self._drop("too many events at once; some are dropped")

    async def run(self) -> None:
        """Send what is queued, one after the other, until cancelled. All that has come meanwhile goes at once."""
        left = 0
        while True:
            note = await self._queue.get()
            try:
                if not left and self._give_way and not self._is_urgent():
                    await self._give_way()
                left = left - 1 if left else self._queue.qsize()
                await self._send(note)
            finally:
                self._queue.task_done()

    def _is_urgent(self) -> bool:
        return self._is_draining or self._queue.qsize() > self._queue.maxsize // 2

    async def drain(self, patience: Span = DRAIN_PATIENCE) -> None:
        """Wait for the queue to be empty, but not for long: for a graceful stop."""
        self._is_draining = True
        try:
            await asyncio.wait_for(self._queue.join(), patience.ms / 1000)
        except TimeoutError:
            self.dropped += self._queue.qsize()

    async def _send(self, note: Note) -> None:
        try:
            verb, answer = await self._say(note)
        except (NotSent, NoAnswer) as problem:
            self._drop(f"an event could not be published: {problem}")
            return
        except UNREADABLE as problem:
            self._drop(f"an event could not be counted: {problem}", "get")
            return
        if answer.status in (200, 201) or is_there(verb, answer):
            self._told.pop(verb, None)
            return
        said = status_of(answer).message
        remedy = f"; grant {verb} on events.events.k8s.io" if answer.status == 403 else ""
        self._drop(f"an event was refused with status {answer.status}{remedy} ({said})", verb)

    async def _say(self, note: Note) -> tuple[str, Answer]:
        """The last request and its answer: the Event is made; or, where it is there and came back, counted."""
        verb, answer = "create", await self._ask(render(note, self._instance))
        if not note.again or not is_there(verb, answer):
            return verb, answer
        for _ in range(MOVES_MAX):
            verb, answer = "get", await self._ask(read(note))
            if answer.status == 200:
                change = move(note, answer.body)
                self._told.pop(verb, None)
                verb, answer = "patch", await self._ask(change)
            if answer.status == 404:  # it has expired meanwhile
                return "create", await self._ask(render(note, self._instance))
            if answer.status != 409:
                break
        return verb, answer

    async def _ask(self, request: Request) -> Answer:
        return await self._client.send(request, timeout=PATIENCE, retry=True)

    def _drop(self, why: str, verb: str = "create") -> None:
        self.dropped += 1
        if why != self._told.get(verb):
            self._told[verb] = why
            self._tell(why)


def render(note: Note, instance: str) -> Request:
    """The request that creates the Event, in the object's namespace (`default` if it has none)."""
    about, namespace = note.regarding, namespace_of(note)
    regarding = {"apiVersion": note.api_version, "kind": about.kind.kind, "name": about.name, "uid": note.uid}
    if about.namespace:
        regarding["namespace"] = about.namespace
    body = {
        "apiVersion": EVENTS.api_version,
        "kind": "Event",
        "metadata": {"name": note.name, "namespace": namespace},
        "eventTime": micro_time(note.at),
        "reportingController": CONTROLLER,
        "reportingInstance": shorten(instance, WORD_BYTES_MAX),
        "action": shorten(note.action, WORD_BYTES_MAX),
        "reason": shorten(note.reason, WORD_BYTES_MAX),
        "type": "Warning" if note.warning else "Normal",
        "note": shorten(note.note, NOTE_BYTES_MAX),
        "regarding": regarding,
    }
    return verbs.create(EVENTS, body, namespace)


def read(note: Note) -> Request:
    """The request that reads the Event of that name."""
    return Request("GET", EVENTS.path(namespace_of(note), note.name))


def move(note: Note, body: bytes) -> Request:
    """The request that counts once more in the Event that was read, if it is still as it was: all else is immutable.

    The Event itself was the first time, so that a series begins with two.
    """
    found = msgspec.json.decode(body, type=_Found)
    count = found.series.count if found.series else 1
    series = {"count": count + 1, "lastObservedTime": micro_time(note.at)}
    change = {"metadata": {"resourceVersion": found.metadata.resource_version}, "series": series}
    return verbs.merge_patch(EVENTS, note.name, change, namespace_of(note))


def is_there(verb: str, answer: Answer) -> bool:
    """Whether it was not made because it was made before."""
    return verb == "create" and answer.status == 409


def namespace_of(note: Note) -> str:
    """Where the Event is: beside its object, or in `default` if that has no namespace."""
    return note.regarding.namespace or "default"


def shorten(text: str, bytes_max: int) -> str:
    """At most so many bytes of UTF-8 (the API counts bytes), cut between characters, with an ellipsis."""
    encoded = text.encode()
    if len(encoded) <= bytes_max:
        return text
    return encoded[: bytes_max - 3].decode(errors="ignore") + "…"
