"""Fence agents as Jobs (setting `agents: job`): one Job per order, followed until its pod tells a result.

Called by `effects.py` instead of `runs.py`; told to the same RunBook, so rooms see no difference. The runner in the
pod asks by itself whether its order is still wanted; here nothing is sent to any device. Rules:

1. A Job of that name is the same order: creating it twice is no mistake, and does nothing. Only "already exists" says
   that there is one.
2. What nobody can see any more has failed when all its time is over, never earlier.
3. A creation that nobody answered may have succeeded: nobody may say that nothing was begun.
4. Drills are many, and fail all at once where a network is down: few Jobs at a time, and no fence waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from msgspec.structs import replace

from noderemedy.core.fencing import results, staleness
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Refused, Silent
from noderemedy.manager.runs import BROKEN, DRILLS_AT_ONCE, READ_PATIENCE, Book
from noderemedy.model.ids import SYSTEM
from noderemedy.model.outcome import Done, Failed, Outcome, Unknown
from noderemedy.model.run import Order, Result
from noderemedy.model.time import Span
from noderemedy.wire import fencejobs
from noderemedy.wire.answers import exists_already, status_of
from noderemedy.wire.fenceanswer import Unreadable
from noderemedy.wire.http import PODS, Request

CREATED = 201
STREAM_SECONDS = 300
PAUSE_S = 1.0


class JobRuns:
    """The orders that Jobs carry out."""

    def __init__(
        self,
        client: KubeClient,
        book: Book,
        clock: Clock,
        settings: fencejobs.JobSettings,
        lapse: Callable[[int], str],
        drills_at_once: int | None = DRILLS_AT_ONCE,
    ) -> None:
        self._client = client
        self._book = book
        self._clock = clock
        self._settings = settings
        self._lapse = lapse  # why nothing may leave under this token; "" if it may
        self._lane = asyncio.Semaphore(drills_at_once) if drills_at_once is not None else None  # None: as many as come
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, order: Order, patience: Span) -> Outcome:
        """Create the Job, and follow it from then on. A drill is accepted, and its Job created when it is its turn."""
        begun = self._clock.mono()
        if self._book.knows(order.id):
            return Done(begun)
        if order.is_drill and self._lane is not None:
            self._book.began(order, begun)
            self._later(order, self._drill(order, self._lane))
            return Done(begun)
        try:
            made = await self._create(order, patience)
        except NotSent as problem:
            return Failed(str(problem))
        if isinstance(made, Unknown):
            self._book.may_run(order)
        if isinstance(made, Unknown | Failed):
            return made
        self._book.began(order, begun if made else None)
        self._later(order, self._follow(order))
        return Done(begun)

    async def _create(self, order: Order, patience: Span) -> bool | Failed | Unknown:
        """Whether its Job was made just now, or was there before; or why it is not, or may not be. Raises NotSent."""
        request = fencejobs.create_job(order, self._settings, self._clock.wall())
        try:
            answer = await self._client.send(request, timeout=patience, may_leave=lambda: self._lapse(order.token))
        except NoAnswer as problem:
            return Unknown(str(problem))
        if answer.status == CREATED or exists_already(answer):
            return answer.status == CREATED
        said = status_of(answer).message[:300]
        why = f"Job {SYSTEM}/{order.id}: the API server answered {answer.status} {said}".rstrip()
        return Unknown(why) if answer.status >= BROKEN else Failed(why)

    def _later(self, order: Order, work: Coroutine[None, None, None]) -> None:
        self._tasks[order.id] = task = asyncio.create_task(work, name=f"fence Job {order.id}")
        task.add_done_callback(lambda _: self._tasks.pop(order.id, None))

    async def finish(self) -> None:
        """Follow nobody any more: Jobs go on by themselves."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _follow(self, order: Order) -> None:
        """Until its pod tells, or all its time is over."""
        self._book.ended(order, await self._result(order) or results.untold(order))

    async def _result(self, order: Order) -> Result | None:
        left = max(order.not_after.since(self._clock.wall()), Span(0)) + order.patience + fencejobs.MARGIN * 2
        try:
            async with asyncio.timeout(left.ms / 1000):
                return await self._told(order)
        except TimeoutError:
            return None

    async def _told(self, order: Order) -> Result:
        selector = f"{fencejobs.ORDER_LABEL}={order.id}"
        query = (("labelSelector", selector), ("watch", "true"), ("timeoutSeconds", str(STREAM_SECONDS)))
        while True:
            try:
                async for line in self._client.stream(Request("GET", PODS.path(SYSTEM), query)):
                    if result := fencejobs.result_in(line):
                        return results.about(order, result)
            except (NotSent, NoAnswer, Refused, Silent, Unreadable):
                pass  # the watch of another second may tell more
            await asyncio.sleep(PAUSE_S)

    # --- drills --------------------------------------------------------------------------------------------------

    async def _drill(self, order: Order, lane: asyncio.Semaphore) -> None:
        """Its time begins when its lane is free, or many nodes would make devices look broken."""
        within = max(order.not_after.since(self._clock.wall()), Span(0))
        async with lane:
            timed = replace(order, not_after=self._clock.wall() + within)
            self._book.ended(order, await self._drilled(timed))

    async def _drilled(self, order: Order) -> Result:
        """What came of it. A server that was not reached, or broke, says nothing of the device; one that refuses does.

        What may have been made keeps its lane: a server that breaks at each of them would be asked for all at once.
        """
        try:
            made = await self._create(order, READ_PATIENCE)
        except NotSent as problem:
            return results.not_begun(order, staleness.unasked(str(problem)))
        if isinstance(made, Failed):
            return results.not_begun(order, made.why)
        found = await self._result(order)
        if isinstance(made, Unknown):
            return found or results.not_begun(order, staleness.unasked(made.why))
        return found or results.untold(order)
