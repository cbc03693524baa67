"""Publishes events.k8s.io/v1 Events: what a person sees in `kubectl describe`.

Events are a courtesy. `publish()` never blocks and never fails: there is a bounded queue, a failure is told once and
the Event is dropped; while others are in a hurry (`give_way`) they wait, unless the queue runs full. Names are given by
the caller and say what happened, so publishing the same thing twice, or after a restart, is one Event (409 = already
there).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.drivers.kube.lease import micro_time
from noderemedy.model.ids import EVENT, Ref
from noderemedy.model.time import Span, Wall
from noderemedy.wire import verbs
from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Request, Resource

EVENTS = Resource(EVENT, "v1", "events", True)
CONTROLLER = "node-remedy.dev/manager"
NOTE_BYTES_MAX = 1024
WORD_BYTES_MAX = 128
PATIENCE = Span(10_000)
DRAIN_PATIENCE = Span(2_000)


class Note(Struct, frozen=True):
    """One Event to publish. `api_version` is that of the object it is about."""

    name: str
    regarding: Ref
    uid: str
    api_version: str
    reason: str
    note: str
    action: str
    at: Wall
    warning: bool = False


class Publisher:
    """The queue and its worker. `tell(why)` hears about a failure once, until an Event gets through again."""

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
        self._told = ""
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
            answer = await self._client.send(render(note, self._instance), timeout=PATIENCE, retry=True)
        except (NotSent, NoAnswer) as problem:
            self._drop(f"an event could not be published: {problem}")
            return
        if answer.status in (200, 201, 409):
            self._told = ""
            return
        said = status_of(answer).message
        remedy = "; grant create on events.events.k8s.io" if answer.status == 403 else ""
        self._drop(f"an event was refused with status {answer.status}{remedy} ({said})")

    def _drop(self, why: str) -> None:
        self.dropped += 1
        if why != self._told:
            self._told = why
            self._tell(why)


def render(note: Note, instance: str) -> Request:
    """The request that creates the Event, in the object's namespace (`default` if it has none)."""
    about = note.regarding
    namespace = about.namespace or "default"
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


def shorten(text: str, bytes_max: int) -> str:
    """At most so many bytes of UTF-8 (the API counts bytes), cut between characters, with an ellipsis."""
    encoded = text.encode()
    if len(encoded) <= bytes_max:
        return text
    return encoded[: bytes_max - 3].decode(errors="ignore") + "…"
