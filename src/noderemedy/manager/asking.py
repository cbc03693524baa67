"""Whoever asks devices by hand gets its answers here: from a process beside it, or from a Job on the node itself.

Called by `drill.py`. What has to run on a node (SCSI reservations) is asked by a Job there, if an image was named: a
command that was typed to ask must not start privileged pods unasked.
"""

from __future__ import annotations

import asyncio
import random

from noderemedy.core.fencing import drills, results
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.fence.verify import Hand
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.manager.jobruns import JobRuns
from noderemedy.manager.runs import READ_PATIENCE, Runs
from noderemedy.model.fenceplan import AgentMethod
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node
from noderemedy.model.outcome import Done
from noderemedy.model.run import Order, Result
from noderemedy.model.time import Mono, Wall
from noderemedy.wire.fencejobs import JobSettings

NO_IMAGE = "it runs on the node itself; with --remedy-image a Job asks there, as the manager's own drills do"
JOBS_AT_ONCE = 16  # their time to begin counts from when they are created


class Asking:
    """Orders and their results, each waited for."""

    def __init__(self, client: KubeClient, hand: Hand, now: Wall, remedy_image: str = "") -> None:
        clock, answers = Clock(random.Random()), Answers()
        self._now = now
        self._clock = clock
        self._answers = answers
        self._here = Runs(client, answers, clock, hand, lambda token: "")
        # Who asks by hand has other surroundings than the cluster: its Jobs get none of them.
        jobs = JobSettings(remedy_image) if remedy_image else None
        self._there = JobRuns(client, answers, clock, jobs, lambda token: "", drills_at_once=None) if jobs else None
        self._lane = asyncio.Semaphore(JOBS_AT_ONCE)

    def obstacle(self, method: AgentMethod) -> str:
        """Why it cannot be asked from here; "" if it can."""
        return NO_IMAGE if method.on_target and self._there is None else ""

    async def ask(self, method: AgentMethod, at: Ref, node: Node) -> Result:
        """Its status."""
        if not method.on_target or self._there is None:
            return await self._answer(drills.order_for(method, at, node, self._now, self._now), self._here)
        async with self._lane:
            order = drills.order_for(method, at, node, self._now, self._clock.wall())
            return await self._answer(order, self._there)

    async def _answer(self, order: Order, runs: Runs | JobRuns) -> Result:
        outcome = await runs.start(order, READ_PATIENCE)
        return await self._answers.of(order) if isinstance(outcome, Done) else results.failed(order, outcome.why)


class Answers:
    """Instead of the manager's book of runs: who waits for an order gets its result."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Result]] = {}

    def knows(self, id: str) -> bool:
        return id in self._waiting

    def may_run(self, order: Order) -> None:
        """Nobody waits for it: to ask again is a new order."""

    def began(self, order: Order, begun: Mono | None) -> None:
        self._waiting[order.id] = asyncio.get_running_loop().create_future()

    def ended(self, order: Order, result: Result) -> None:
        self._waiting[order.id].set_result(result)

    async def of(self, order: Order) -> Result:
        return await self._waiting[order.id]
