"""Follows the kinds that are known only from templates (`Engine.wanted`), as long as somebody wants them.

The program calls `adjust` after each step of the engine. Each kind is a task of its own: one that is not served, or
that the API refuses to show, is told to the engine as such and disturbs nobody else; it is no part of being ready.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from functools import partial

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.backoff import Backoff
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.discovery import NotServed, Serving, find
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.kube.watch import watch
from noderemedy.engine.loop import Engine
from noderemedy.manager.requestsink import RequestSink
from noderemedy.manager.sink import EngineSink
from noderemedy.model.ids import Kind
from noderemedy.model.request import Wanted
from noderemedy.rooms import watched
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import decode, decode_event
from noderemedy.wire.pages import decode_page


class Followers:
    """One task per wanted kind."""

    def __init__(
        self,
        client: KubeClient,
        engine: Engine,
        sink: EngineSink,
        clock: Clock,
        chance: random.Random,
        settings: WatchSettings,
    ) -> None:
        self._client = client
        self._engine = engine
        self._sink = sink
        self._clock = clock
        self._chance = chance
        self._settings = settings
        self._tasks: dict[Kind, asyncio.Task[None]] = {}

    def adjust(self, broke: Callable[[BaseException], None]) -> None:
        """Begin to follow what is wanted now, and forget what is not any more. `broke`: a task died."""
        wanted = {one.kind: one for one in self._engine.wanted}
        if wanted.keys() == self._tasks.keys():
            return
        for kind in [known for known in self._tasks if known not in wanted]:
            self._tasks.pop(kind).cancel()
            self._engine.unfollowed(kind, self._clock.now())
        for kind, one in wanted.items():
            if kind not in self._tasks:
                task = asyncio.create_task(self._follow(one), name=f"requests of kind {kind}")
                task.add_done_callback(partial(_tell, broke))
                self._tasks[kind] = task

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, wanted: Wanted) -> None:
        """Find out where requests and templates are served, then watch the requests there, for ever."""
        sink = self._sink.for_requests(wanted.kind)
        ask = partial(self._ask, wanted, sink)
        backoff = Backoff(self._chance, self._settings.first_pause, self._settings.longest_pause)
        while not isinstance(found := await ask(), Resource):
            is_passing = isinstance(found, Obstacle)
            await asyncio.sleep((backoff.pause() if is_passing else self._settings.refused_pause).ms / 1000)
        if wanted.kind in watched():
            sink.in_sight()  # watched for its own sake: only its template had to be found
            return
        await watch(
            self._client,
            found,
            partial(decode, wanted.kind),
            sink,
            chance=self._chance,
            settings=self._settings,
            locate=ask,
            decode_event=partial(decode_event, wanted.kind, known=sink.known),
            decode_page=partial(decode_page, wanted.kind, known=sink.known),
        )

    async def _ask(self, wanted: Wanted, sink: RequestSink) -> Serving:
        """Where requests are served; their templates have to be served as well."""
        places: list[Resource] = []
        for kind in (wanted.template, wanted.kind):
            found = await find(self._client, kind, wanted.version)
            if isinstance(found, Obstacle):
                sink.lost(wanted.kind, found)
                return found
            if isinstance(found, NotServed):
                self._sink.unserved.add(kind)
                sink.missing(kind)
                return found
            self._sink.unserved.discard(kind)
            self._sink.located(kind, found)
            places.append(found)
        if not places[-1].namespaced:
            return self._not_namespaced(wanted.kind, sink)
        return places[-1]

    def _not_namespaced(self, kind: Kind, sink: RequestSink) -> NotServed:
        why = f"{kind} is not namespaced, and a request has the namespace of its Machine"
        sink.lost(kind, Obstacle(why))
        return NotServed()


def _tell(broke: Callable[[BaseException], None], task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (bug := task.exception()):
        broke(bug)
