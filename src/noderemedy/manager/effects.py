"""Carries out one effect: the last questions before a request leaves, and what its answer means.

Called by the program for every effect of the engine. Rules:

1. A write leaves only while this process leads, under the very token that wanted it, and not after our time; what
   rests on a proof not later than the proof lasts. That is asked before it stands in line, and again when its
   connection is there: a host that slept meanwhile woke up with the same timers and another clock.
2. No answer is Unknown, never a failure; what surely never left is Failed.
3. It goes to the cluster that its object is in; who leads is decided at home. No connection: it surely did not happen.
4. "Not found" means that the object is gone only if the API server speaks of that object. A path that is not
   served answers 404 too, and says nothing about the object.
5. Who wants to read what is being read already has that answer, as of the moment when the first one asked.
6. What people read afterwards (records, figures) goes by narrow lanes of its own: in a storm repairs come first. Each
   cluster has such lanes to itself: one that accepts and never answers holds up what is told of no other. The budget's
   ledger, for which all repairs wait, waits in no queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol
from weakref import WeakValueDictionary

from msgspec.structs import replace

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import PATIENCE, KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.engine.leadership import LAPSED, Leadership
from noderemedy.manager.describing import Describe, described
from noderemedy.manager.sink import EngineSink
from noderemedy.model import proof
from noderemedy.model.actions import DELETIONS, PROVEN, READS, Confirm, DescribeAgent, StartRun, WriteLedger
from noderemedy.model.outcome import Done, Effect, Failed, Outcome, Unknown
from noderemedy.model.run import Order
from noderemedy.model.time import Mono, Now, Span
from noderemedy.wire.answers import outcome, status_of
from noderemedy.wire.http import Answer, Request
from noderemedy.wire.requests import render


class Licence:
    """Whether a write may leave now, and how much time it has."""

    def __init__(self, leadership: Leadership | None) -> None:
        self._leadership = leadership  # None: dry, nothing may be written
        self.is_stopping = False

    def refusal(self, token: int, now: Now) -> str:
        """Why a write of this token may not leave now; "" if it may."""
        return "the manager is stopping" if self.is_stopping else self.lapse(token, now)

    def lapse(self, token: int, now: Now) -> str:
        """The same for what is on its way: when the manager stops, that finishes."""
        if self._leadership is None:
            return "dry run"
        if not self._leadership.may_act(now) or self._leadership.token != token:
            return LAPSED
        return ""

    def time_left(self, now: Now) -> Span:
        """A write that has not left by the end of our leadership does not leave at all."""
        end = self._leadership.valid_until if self._leadership else None
        return min(PATIENCE, end.since(now.mono)) if end else PATIENCE


BEHIND = frozenset({"incident", "incident-pods", "incident-shelf", "status", "budget-status"})  # they repair nothing
LANES_BEHIND = 3  # in each cluster
AT_ONCE: tuple[type, ...] = (WriteLedger, *PROVEN)  # all wait for the ledger; a proof lasts for seconds

RemoteClient = Callable[[str], KubeClient | None]


class Starter(Protocol):
    """Who carries out orders of fence agents: `runs.py` as processes, `jobruns.py` as Jobs."""

    async def start(self, order: Order, patience: Span) -> Outcome: ...

    async def finish(self) -> None: ...


class Carrier:
    """Carries out effects, each in the cluster that its object is in."""

    def __init__(
        self,
        client: KubeClient,
        sink: EngineSink,
        clock: Clock,
        licence: Licence,
        remote: RemoteClient,
        runs: Starter | None = None,
        describe: Describe | None = None,
    ) -> None:
        self._client = client
        self._remote = remote
        self._sink = sink
        self._clock = clock
        self._licence = licence
        self._runs = runs
        self._describe = describe
        self._reads: dict[tuple[KubeClient, Request], tuple[Mono, asyncio.Future[Answer]]] = {}  # in flight
        self._behind: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # as long as they are used

    async def carry_out(self, effect: Effect) -> Outcome:
        if effect.key.room not in BEHIND:
            return await self._carried_out(effect)
        lanes = self._lanes_behind(effect.action.ref.cluster)
        async with lanes:
            return await self._carried_out(effect)

    def _lanes_behind(self, cluster: str) -> asyncio.Semaphore:
        return self._behind.setdefault(cluster, asyncio.Semaphore(LANES_BEHIND))

    async def _carried_out(self, effect: Effect) -> Outcome:
        now = self._clock.now()
        is_read = isinstance(effect.action, READS)
        patience = PATIENCE
        if not is_read:
            if why := self._licence.refusal(effect.token, now):
                return Failed(why)
            patience = self._licence.time_left(now)
        if isinstance(effect.action, StartRun):
            assert self._runs is not None
            return await self._runs.start(replace(effect.action.order, token=effect.token), patience)
        if isinstance(effect.action, DescribeAgent):
            assert self._describe is not None
            return described(effect.action.ref, now.mono, await self._describe(effect.action.ref.name))
        cluster = effect.action.ref.cluster
        client = self._remote(cluster) if cluster else self._client
        if client is None:
            return Failed(f"cluster {cluster}: there is no connection to it just now")
        request = render(effect.action, effect.token, self._sink.resources)
        begun = now.mono
        try:
            if is_read:
                begun, answer = await self._read(client, request, begun)
            else:
                is_urgent = isinstance(effect.action, AT_ONCE)
                last_word = partial(self._last_word, effect)
                answer = await client.send(request, timeout=patience, urgent=is_urgent, may_leave=last_word)
        except NotSent as problem:
            return Failed(str(problem))
        except NoAnswer as problem:
            return Unknown(str(problem))
        return judge(effect, answer, begun, lambda: not cluster and effect.action.ref.kind in self._sink.unserved)

    def _last_word(self, effect: Effect) -> str:
        """Why a write may not leave after all (rule 1)."""
        now = self._clock.now()
        decided_at = effect.decided_at
        if isinstance(effect.action, PROVEN) and decided_at is not None and now.mono.since(decided_at) > proof.LASTS:
            return "what it rests on was decided too long ago"
        return self._licence.lapse(effect.token, now)

    async def _read(self, client: KubeClient, request: Request, now: Mono) -> tuple[Mono, Answer]:
        """When it was asked, and the answer. Five hundred machines of one template read it once, not one by one."""
        key = (client, request)
        if key not in self._reads:
            asked = asyncio.ensure_future(client.send(request, timeout=PATIENCE, retry=True))
            self._reads[key] = (now, asked)
            asked.add_done_callback(lambda done: self._has_read(key, done))
        begun, answer = self._reads[key]
        return begun, await asyncio.shield(answer)

    def _has_read(self, key: tuple[KubeClient, Request], done: asyncio.Future[Answer]) -> None:
        del self._reads[key]
        if not done.cancelled():
            done.exception()  # those who waited have it; perhaps nobody waits any more


def judge(effect: Effect, answer: Answer, begun: Mono, is_unserved: Callable[[], bool]) -> Outcome:
    """How an effect ended; a 404 that does not speak of the object is no proof of its absence (rule 4)."""
    action = effect.action
    if answer.status != 404 or not isinstance(action, (Confirm, *DELETIONS)) or speaks_of(answer, action.ref.name):
        return outcome(effect, answer, begun)
    if is_unserved():
        return Done(begun, gone=True, date=answer.date)
    return Failed(f"{action.ref}: its kind is not served just now; whether it exists is not known")


def speaks_of(answer: Answer, name: str) -> bool:
    """Whether a refusal is about the object of this name."""
    details = status_of(answer).details
    return details is not None and details.name == name
