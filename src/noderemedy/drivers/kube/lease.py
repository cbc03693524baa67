"""Carries out leader election: the operations of `engine/leadership.py` as requests on one Lease object.

The manager runs `elect()` beside everything else and asks `leadership.may_act(now)` before every effect. Writes are
merge patches guarded by the resourceVersion, so labels and annotations that people put on the Lease survive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle, obstacle_of
from noderemedy.engine import leadership as pure
from noderemedy.engine.leadership import Do, Leadership, Operation, Reply
from noderemedy.model.ids import LEASE
from noderemedy.model.time import Mono, Span, Wall
from noderemedy.wire import verbs
from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Answer, Request, Resource
from noderemedy.wire.scalars import UNREADABLE

LEASES = Resource(LEASE, "v1", "leases", True)
RELEASE_PATIENCE = Span(5_000)


class Place(Struct, frozen=True):
    """Which Lease."""

    namespace: str
    name: str


class _Spec(Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None


class _Meta(Struct, rename="camel"):
    resource_version: str


class _Shape(Struct):
    metadata: _Meta
    spec: _Spec | None = None


class Election:
    """One candidate's conversation with the API server.

    `changed(leading, token)` is called when we begin or cease to lead; `tell(obstacle)` when the Lease cannot be used:
    once, until the same operation succeeds, for a harmless read may succeed between two refusals.
    """

    def __init__(
        self,
        client: KubeClient,
        leadership: Leadership,
        clock: Clock,
        place: Place,
        changed: Callable[[bool, int], None],
        tell: Callable[[Obstacle], None],
    ) -> None:
        self._client = client
        self._leadership = leadership
        self._clock = clock
        self._place = place
        self._changed = changed
        self._tell = tell
        self._was_leading = False
        self._told: dict[Do, Obstacle] = {}
        self._leave = asyncio.Event()

    async def run(self) -> None:
        """Stand for election until `release()`; cancel only to simulate a crash."""
        while not self._leadership.is_done:
            step = self._leadership.poll(self._clock.now())
            self._announce()
            if step.operation is not None:
                await self._carry_out(step.operation)
            else:
                await self._sleep_until(step.wake_at)
            self._announce()

    async def release(self, task: asyncio.Task[None]) -> None:
        """Hand the Lease over and wait for `task`, which runs `run()`; after a few seconds it expires by itself."""
        self._leadership.release(self._clock.now())
        self._announce()
        self._leave.set()
        await asyncio.wait({task}, timeout=RELEASE_PATIENCE.ms / 1000)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _carry_out(self, operation: Operation) -> None:
        """One request; if our time ends while it is on its way, that is announced in time."""
        request = render(operation, self._place)
        sending = asyncio.ensure_future(self._reply(operation, request))
        try:
            while not sending.done():
                await asyncio.wait({sending}, timeout=self._left())
                self._announce()
            reply = sending.result()
        finally:
            sending.cancel()
        self._leadership.answered(operation, self._clock.now(), reply)

    async def _reply(self, operation: Operation, request: Request) -> Reply:
        try:
            answer = await self._client.send(request, timeout=self._leadership.rules.patience, urgent=True)
        except (NotSent, NoAnswer) as problem:
            self._say(operation.do, obstacle_of(problem))
            return pure.Unsure()
        reply = read_reply(operation, answer)
        if isinstance(reply, pure.Unsure):
            self._say(operation.do, Obstacle(self._remedy(operation, answer)))
        else:
            self._told.pop(operation.do, None)
        return reply

    def _remedy(self, operation: Operation, answer: Answer) -> str:
        status, said = answer.status, status_of(answer).message
        where = f"{self._place.namespace}/{self._place.name}"
        what = f"cannot {operation.do.value} the lease {where}: the API server answered {status}"
        if status == 404:
            return f"{what}; create the namespace {self._place.namespace}"
        if status == 403:
            return f"{what}; grant get,create,patch on leases.coordination.k8s.io ({said})"
        return f"{what}: {said}" if said else what

    def _left(self) -> float | None:
        """Seconds until our leadership ends, if we lead."""
        end, now = self._leadership.valid_until, self._clock.mono()
        return end.since(now).ms / 1000 + 0.001 if end is not None and end > now else None

    async def _sleep_until(self, wake_at: Mono) -> None:
        seconds = max(0.0, wake_at.since(self._clock.mono()).ms / 1000)
        try:
            await asyncio.wait_for(self._leave.wait(), seconds)
        except TimeoutError:
            return
        self._leave.clear()

    def _announce(self) -> None:
        leading = self._leadership.may_act(self._clock.now())
        if leading != self._was_leading:
            self._was_leading = leading
            self._changed(leading, self._leadership.token)

    def _say(self, do: Do, obstacle: Obstacle) -> None:
        if obstacle not in self._told.values():
            self._tell(obstacle)
        self._told[do] = obstacle


def render(operation: Operation, place: Place) -> Request:
    """The request for an operation."""
    if operation.do is Do.READ:
        return Request("GET", LEASES.path(place.namespace, place.name))
    assert operation.lease is not None
    body: dict[str, Any] = {"spec": _spec(operation.lease)}
    if operation.do is Do.CREATE:
        body |= {"apiVersion": LEASES.api_version, "kind": "Lease", "metadata": {"name": place.name}}
        return verbs.create(LEASES, body, place.namespace)
    body["metadata"] = {"resourceVersion": operation.lease.version}
    return verbs.merge_patch(LEASES, place.name, body, place.namespace)


def read_reply(operation: Operation, answer: Answer) -> Reply:
    """What an answer says about the Lease."""
    if answer.status in (200, 201):
        try:
            return pure.Found(read_lease(answer.body))
        except UNREADABLE:
            return pure.Unsure()
    if answer.status == 404 and operation.do is not Do.CREATE:
        return pure.Missing()
    return pure.Conflict() if answer.status == 409 else pure.Unsure()


def read_lease(body: bytes) -> pure.Lease:
    """A Lease from its JSON; absent fields mean "held by nobody"."""
    shape = msgspec.json.decode(body, type=_Shape)
    spec = shape.spec or _Spec()
    return pure.Lease(
        holder=spec.holder_identity or "",
        transitions=spec.lease_transitions or 0,
        duration=Span((spec.lease_duration_seconds or 0) * 1000),
        acquired=_wall(spec.acquire_time),
        renewed=_wall(spec.renew_time),
        version=shape.metadata.resource_version,
    )


def _spec(lease: pure.Lease) -> dict[str, Any]:
    return {
        "holderIdentity": lease.holder or None,
        "leaseDurationSeconds": max(1, lease.duration.ms // 1000),
        "leaseTransitions": lease.transitions,
        "acquireTime": micro_time(lease.acquired),
        "renewTime": micro_time(lease.renewed),
    }


def micro_time(moment: Wall) -> str:
    """MicroTime of the API: six digits behind the second, always."""
    return datetime.fromtimestamp(moment.ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _wall(moment: datetime | None) -> Wall:
    return Wall(round(moment.timestamp() * 1000)) if moment else Wall(0)
