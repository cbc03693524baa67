"""Fence agents as processes of the manager (setting `agents: process`): an accepted order goes on by itself.

Called by `effects.py` for every order. What comes of it is told to the RunBook, never returned. Rules:

1. Nothing is sent to a device before a live read shows that the NodeFence still wants it, that the Node has not booted
   again, and that we still lead (races R34, R50). What cannot be read is not known, so nothing is sent.
2. Secrets are read live, by name, kept as long as the process runs, and shown to nobody.
3. What was sent is not called back: neither by a stop of the manager nor by a lost lease. A stop waits for it.
4. An order that is known is the same order: it happens once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

from noderemedy.core.fencing import credentials, results, staleness
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.fence import verify
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.model.ids import NODE, NODE_FENCE, SYSTEM, Kind
from noderemedy.model.outcome import Done, Outcome
from noderemedy.model.run import Order, Result
from noderemedy.model.time import Mono, Span
from noderemedy.wire import fenceanswer
from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.live import fence_of, node_of
from noderemedy.wire.undecodable import Undecodable

T = TypeVar("T")
READ_PATIENCE = Span(10_000)
BROKEN = 500  # from here on an answer is no refusal
FENCES_AT_ONCE, DRILLS_AT_ONCE = 32, 4  # a drill never keeps a fence waiting
FENCES = Resource(NODE_FENCE, "v1", "nodefences", namespaced=False)
NODES = Resource(NODE, "v1", "nodes", namespaced=False)
SECRETS = Resource(Kind("", "Secret"), "v1", "secrets", namespaced=True)


class Unsure(Exception):
    """What has to be known before anything is sent cannot be read. A server that was not reached, or broke, says
    nothing of the device; one that refuses does: whoever may not read a Secret cannot fence.
    """


class Book(Protocol):
    """Who is told of runs: the manager's RunBook, or somebody who waits for one answer."""

    def knows(self, id: str) -> bool: ...

    def may_run(self, order: Order) -> None: ...

    def began(self, order: Order, begun: Mono | None) -> object: ...

    def ended(self, order: Order, result: Result) -> None: ...


class Runs:
    """The orders that this manager carries out itself."""

    def __init__(
        self, client: KubeClient, book: Book, clock: Clock, hand: verify.Hand, refusal: Callable[[int], str]
    ) -> None:
        self._client = client
        self._book = book
        self._clock = clock
        self._hand = hand
        self._refusal = refusal  # why nothing may leave under this token; "" if it may
        self._lanes = {True: asyncio.Semaphore(FENCES_AT_ONCE), False: asyncio.Semaphore(DRILLS_AT_ONCE)}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sent: set[str] = set()

    async def start(self, order: Order, patience: Span = READ_PATIENCE) -> Outcome:
        """Accept an order. It is under way when this returns, unless it is known already."""
        begun = self._clock.mono()
        if not self._book.knows(order.id):
            self._book.began(order, begun)
            self._tasks[order.id] = task = asyncio.create_task(self._go(order), name=f"fence run {order.id}")
            task.add_done_callback(lambda _: self._tasks.pop(order.id, None))
        return Done(begun)

    async def finish(self) -> None:
        """Call off what was not sent, and wait for what was. Bounded: every run has its patience."""
        for id, task in list(self._tasks.items()):
            if id not in self._sent:
                task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _go(self, order: Order) -> None:
        try:
            result = await self._result(order)
        except Exception as bug:  # noqa: BLE001  our own fault costs one run, never the others
            result = results.failed(order, f"a bug in node-remedy: {type(bug).__name__}")
        finally:
            self._sent.discard(order.id)
        self._book.ended(order, result)

    async def _result(self, order: Order) -> Result:
        if order.bound_to:
            return results.out_of_place(order)
        async with self._lanes[staleness.belongs_to_a_fence(order)]:
            try:
                secrets = await self._secrets(order)
                why = await self._stale(order)
            except (Unsure, credentials.SecretMissing) as problem:
                return results.not_begun(order, str(problem))
            if why := why or staleness.unasked(self._refusal(order.token)):
                return results.not_begun(order, why)
            self._sent.add(order.id)
            return await verify.carry_out(order, secrets, self._hand)

    # --- what is read before -------------------------------------------------------------------------------------

    async def _stale(self, order: Order) -> str:
        """Why it is not wanted any more. The clock is asked last: reading takes time, too.

        A drill switches nothing: its time begins when its lane is free, or many nodes would make devices look broken.
        """
        if not staleness.belongs_to_a_fence(order):
            return ""
        fence = await self._read(FENCES, order.fence.name, fence_of)
        if why := staleness.unwanted(order, fence):
            return why
        if staleness.needs_node(order, fence):
            node = await self._read(NODES, order.node, node_of)
            if why := staleness.another_boot(order, node):
                return why
        return staleness.too_late(order, self._clock.wall())

    async def _secrets(self, order: Order) -> dict[str, str]:
        """Values by parameter. Each Secret is read once, by its name."""
        names = dict.fromkeys(one.secret for one in order.secrets)
        read = {name: await self._read(SECRETS, name, fenceanswer.secret_data) for name in names}
        return credentials.values_of(order, read)

    async def _read(self, resource: Resource, name: str, decode: Callable[[bytes], T]) -> T | None:
        """An object as it is now; None if the server says that it does not exist. Raises Unsure."""
        path = resource.path(SYSTEM, name)
        try:
            answer = await self._client.send(Request("GET", path), timeout=READ_PATIENCE, retry=True)
        except (NotSent, NoAnswer) as problem:
            raise Unsure(staleness.unasked(str(problem))) from None
        status = status_of(answer)
        if answer.status == 404 and status.details is not None and status.details.name == name:
            return None
        if answer.status != 200:
            why = f"{path}: the API server answered {answer.status} {status.message[:200]}".rstrip()
            raise Unsure(staleness.unasked(why) if answer.status >= BROKEN else why)
        try:
            return decode(answer.body)
        except (fenceanswer.Unreadable, Undecodable) as problem:
            raise Unsure(f"{path}: {problem}") from None
