"""Fence agents as Jobs (setting `agents: job`): one Job per order, followed until its pod tells a result.

Called by `effects.py` instead of `runs.py`; told to the same RunBook, so rooms see no difference. The runner in the
pod asks by itself whether its order is still wanted; here nothing is sent to any device. Rules:

1. A Job of that name is the same order: creating it twice is no mistake, and does nothing. Only "already exists" says
   that there is one.
2. What nobody can see any more has failed when all its time is over, never earlier.
3. A creation that nobody answered may have succeeded: nobody may say that nothing was begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from noderemedy.core.fencing import results
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Refused, Silent
from noderemedy.manager.runs import Book
from noderemedy.model.ids import SYSTEM
from noderemedy.model.outcome import Done, Failed, Outcome, Unknown
from noderemedy.model.run import Order, Result
from noderemedy.model.time import Span
from noderemedy.wire import fencejobs
from noderemedy.wire.answers import exists_already, status_of
from noderemedy.wire.fenceanswer import Unreadable
from noderemedy.wire.http import PODS, Request

CREATED, BROKEN = 201, 500
STREAM_SECONDS = 300
PAUSE_S = 1.0
# By whether it uses disks: a policy that refuses its pod shows in the events of the Job alone.
LOOK_AT = {
    False: "look at its pod and events",
    True: f"look at its events: namespace {SYSTEM} must admit privileged pods (pod-security.kubernetes.io/enforce)",
}


class JobRuns:
    """The orders that Jobs carry out."""

    def __init__(
        self,
        client: KubeClient,
        book: Book,
        clock: Clock,
        settings: fencejobs.JobSettings,
        lapse: Callable[[int], str],
    ) -> None:
        self._client = client
        self._book = book
        self._clock = clock
        self._settings = settings
        self._lapse = lapse  # why nothing may leave under this token; "" if it may
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, order: Order, patience: Span) -> Outcome:
        """Create the Job, and follow it from then on."""
        if self._book.knows(order.id):
            return Done(self._clock.mono())
        begun = self._clock.mono()
        try:
            request = fencejobs.create_job(order, self._settings, self._clock.wall())
            answer = await self._client.send(request, timeout=patience, may_leave=lambda: self._lapse(order.token))
        except NotSent as problem:
            return Failed(str(problem))
        except NoAnswer as problem:
            return self._unsure(order, str(problem))
        if answer.status != CREATED and not exists_already(answer):
            said = status_of(answer).message[:300]
            why = f"Job {SYSTEM}/{order.id}: the API server answered {answer.status} {said}".rstrip()
            return self._unsure(order, why) if answer.status >= BROKEN else Failed(why)
        self._book.began(order, begun if answer.status == CREATED else None)
        self._tasks[order.id] = task = asyncio.create_task(self._follow(order), name=f"fence Job {order.id}")
        task.add_done_callback(lambda _: self._tasks.pop(order.id, None))
        return Done(begun)

    def _unsure(self, order: Order, why: str) -> Unknown:
        self._book.may_run(order)
        return Unknown(why)

    async def finish(self) -> None:
        """Follow nobody any more: Jobs go on by themselves."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _follow(self, order: Order) -> None:
        """Until its pod tells, or all its time is over."""
        left = max(order.not_after.since(self._clock.wall()), Span(0)) + order.patience + fencejobs.MARGIN * 2
        try:
            async with asyncio.timeout(left.ms / 1000):
                result = await self._told(order)
        except TimeoutError:
            result = results.failed(order, f"its Job told no result in all its time; {LOOK_AT[bool(order.bound_to)]}")
        self._book.ended(order, result)

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
