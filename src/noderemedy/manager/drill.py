"""One drill of all nodes, or of one, by hand: every device is asked for its status. Called by `node-remedy drill`.

It plans as the manager does (`liveplan.py`), asks as the manager does (`runs.py`), and judges as the drill room does.
It runs the agents where it is called, so whoever drills from a laptop needs them there, and a way to the devices.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from msgspec import Struct

from noderemedy.core.fencing import drills
from noderemedy.core.fencing.drills import Finding
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.fence.verify import Hand
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.manager.liveplan import look_at
from noderemedy.manager.plan import Look
from noderemedy.manager.runs import Runs
from noderemedy.model.fenceplan import FENCE_PLAN, AgentMethod, FencePlan, plan_ref
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.node import Node
from noderemedy.model.room import Present
from noderemedy.model.run import Order, Power, Result, Run
from noderemedy.model.time import Mono, Wall


class Row(Struct, frozen=True):
    """What was found about one method of one node; without a method about the node as a whole."""

    node: str
    method: str = ""
    agent: str = ""
    power: Power = Power.UNKNOWN
    identity: str = ""
    finding: Finding = Finding()

    @property
    def is_well(self) -> bool:
        return not self.finding.word

    def plain(self) -> dict[str, Any]:
        return {
            "node": self.node,
            "method": self.method,
            "agent": self.agent,
            "power": self.power.value,
            "identity": self.identity,
            "result": self.finding.word or "Answered",
            "problem": self.finding.problem,
        }


class Answers:
    """Instead of the manager's book of runs: who waits for an order gets its result."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Result]] = {}

    def knows(self, id: str) -> bool:
        return id in self._waiting

    def began(self, order: Order, begun: Mono | None) -> None:
        self._waiting[order.id] = asyncio.get_running_loop().create_future()

    def ended(self, order: Order, result: Result) -> None:
        self._waiting[order.id].set_result(result)

    async def of(self, order: Order) -> Result:
        return await self._waiting[order.id]


async def drill(kubeconfig: Path | None, context: str, name: str | None, hand: Hand, now: Wall) -> list[Row]:
    """Every device of every node, or of the node of this name. Raises Theirs."""
    look, _ = await look_at(kubeconfig, context, now)
    async with KubeClient(load(kubeconfig, context)) as client:
        return await drill_all(look, client, name, hand, now)


async def drill_all(look: Look, client: KubeClient, name: str | None, hand: Hand, now: Wall) -> list[Row]:
    answers = Answers()
    runs = Runs(client, answers, Clock(random.Random()), hand, lambda token: "")
    found = [at for at in look.engine.cache.refs_of(FENCE_PLAN) if name in (None, at.name)]
    if name is not None and not found:
        return [Row(name, finding=unplanned(look, name))]
    rows = await asyncio.gather(*(drill_node(look, at, runs, answers, now) for at in found))
    return [row for some in rows for row in some]


def unplanned(look: Look, name: str) -> Finding:
    """Why there is nothing to ask."""
    if isinstance(look.engine.cache.read(Ref("", NODE, "", name)), Present):
        return Finding("", "NoPlan", f"node {name} has no fence configuration; write ConfigMap fence-config-{name}")
    return Finding("", "NoNode", f"there is no node {name}")


async def drill_node(look: Look, at: Ref, runs: Runs, answers: Answers, now: Wall) -> list[Row]:
    node_at = Ref(at.cluster, NODE, "", at.name)
    cache = look.engine.cache
    node, entry = cache.read(node_at), cache.read(plan_ref(node_at))
    if not isinstance(node, Present) or not isinstance(entry, Present):
        return []
    plan: FencePlan = entry.obj
    if plan.problems:
        return [Row(at.name, finding=Finding("", "PlanInvalid", str(problem))) for problem in plan.problems]
    methods = drills.methods_of(plan)
    return list(await asyncio.gather(*(ask(one, node_at, node.obj, runs, answers, now) for one in methods)))


async def ask(method: AgentMethod, at: Ref, node: Node, runs: Runs, answers: Answers, now: Wall) -> Row:
    order = drills.order_for(method, at, node, now, now)
    await runs.start(order)
    told = await answers.of(order)
    run = Run(order.id, told.state, told.power, said=told.said, identity=told.identity)
    return Row(at.name, method.name, method.agent, told.power, told.identity, drills.judge(method, at, node, run))
