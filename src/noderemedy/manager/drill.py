"""One drill of all nodes, or of one, by hand: every device is asked for its status. Called by `node-remedy drill`.

It plans as the manager does (`liveplan.py`), asks as the manager does (`asking.py`), and judges as the drill room does.
It runs the agents where it is called, so whoever drills from a laptop needs them there, and a way to the devices.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from noderemedy.core.fencing import disks, drills, hostdrill
from noderemedy.core.fencing.clouds import instance_of
from noderemedy.core.fencing.drills import Finding
from noderemedy.drivers.fence.agents import folders
from noderemedy.drivers.fence.verify import Hand
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.manager.asking import Asking
from noderemedy.manager.liveplan import look_at
from noderemedy.manager.plan import Look
from noderemedy.model.fenceplan import FENCE_PLAN, AgentMethod, FencePlan, plan_ref
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.node import Node
from noderemedy.model.room import Present, Reader
from noderemedy.model.run import Power, Run
from noderemedy.model.time import Mono, Wall

NO_PLAN = "NoPlan"


class Row(Struct, frozen=True):
    """What was found about one method of one node; without a method about the node as a whole."""

    node: str
    method: str = ""
    agent: str = ""
    power: Power = Power.UNKNOWN
    identity: str = ""
    finding: Finding = Finding()
    note: str = ""  # how it is known, where no device was asked

    @property
    def is_asked(self) -> bool:
        return not self.note and self.finding.word != NO_PLAN

    @property
    def result(self) -> str:
        return self.finding.word or ("Answered" if self.is_asked else "NotAsked")

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
            "result": self.result,
            "problem": self.finding.problem,
            "note": self.note,
        }


async def drill(
    kubeconfig: Path | None, context: str, name: str | None, now: Wall, agents_path: str = "", remedy_image: str = ""
) -> tuple[list[Row], list[str]]:
    """Every device of every node, or of the node of this name; and remarks about the cluster. Raises Theirs."""
    look, remarks = await look_at(kubeconfig, context, now, agents_path, name)
    hand = Hand(folders(agents_path, os.environ))
    async with KubeClient(load(kubeconfig, context)) as client:
        return await drill_all(look, name, Asking(client, hand, now, remedy_image)), remarks


async def drill_all(look: Look, name: str | None, asking: Asking) -> list[Row]:
    found = [at for at in look.engine.cache.refs_of(FENCE_PLAN) if name in (None, at.name)]
    if name is not None and not found:
        return [Row(name, finding=unplanned(look, name))]
    rows = await asyncio.gather(*(drill_node(look, at, asking) for at in found))
    return [*(row for some in rows for row in some), *(bare(look) if name is None else ())]


def bare(look: Look) -> list[Row]:
    """The nodes for which nothing says how to fence them: there is nobody to ask, and that is what is wrong."""
    cache = look.engine.cache
    nodes = [at for at in cache.refs_of(NODE) if isinstance(cache.read(at), Present)]
    names = [at.name for at in nodes if not isinstance(cache.read(plan_ref(at)), Present)]
    return [Row(name, finding=unplanned(look, name)) for name in sorted(names)]


def unplanned(look: Look, name: str) -> Finding:
    """Why there is nothing to ask."""
    entry = look.engine.cache.read(Ref("", NODE, "", name))
    if not isinstance(entry, Present):
        return Finding("", "NoNode", f"there is no node {name}")
    instance = instance_of(entry.obj.provider_id)
    if instance is not None and not instance.problem:
        remedy = f"node-remedy drill {name} asks its cloud by {instance.agent}, as a fence would"
    else:
        remedy = f"write ConfigMap fence-config-{name}"
    return Finding("", NO_PLAN, f"node {name} has no fence configuration; {remedy}")


async def drill_node(look: Look, at: Ref, asking: Asking) -> list[Row]:
    node_at = Ref(at.cluster, NODE, "", at.name)
    cache = look.engine.cache
    node, entry = cache.read(node_at), cache.read(plan_ref(node_at))
    if not isinstance(node, Present) or not isinstance(entry, Present):
        return []
    plan: FencePlan = entry.obj
    if plan.problems:
        return [Row(at.name, finding=Finding("", "PlanInvalid", str(problem))) for problem in plan.problems]
    methods = drills.methods_of(plan, node.obj)
    asked = await asyncio.gather(*(ask(one, node_at, node.obj, asking) for one in methods))
    unasked = [Row(at.name, one.name, one.agent, note=drills.SILENT) for one in drills.unasked_of(plan, node.obj)]
    alone = [Row(at.name, one, finding=drills.alone(node_at, one)) for one in disks.unshared(plan, cache)]
    return [*asked, *unasked, *alone, *of_host(plan, node_at, node.obj, cache)]


def of_host(plan: FencePlan, at: Ref, node: Node, reader: Reader) -> list[Row]:
    """The row of host-power: what the API shows, and that no device was asked."""
    method = hostdrill.method_of(plan)
    if method is None:
        return []
    seen = hostdrill.see(at, plan, reader)
    finding = hostdrill.judge(method, at, node, seen)
    power = Power(seen.host.power.value) if seen.host else Power.UNKNOWN
    note = "no device was asked" if finding.word else hostdrill.by_the_api(seen)
    return [Row(at.name, method.name, "BareMetalHost", power, finding=finding, note=note)]


async def ask(method: AgentMethod, at: Ref, node: Node, asking: Asking) -> Row:
    if why := asking.obstacle(method):
        return Row(at.name, method.name, method.agent, note=why)
    told = await asking.ask(method, at, node)
    run = Run("", told.state).ended(told, Mono(0))
    return Row(at.name, method.name, method.agent, told.power, told.identity, drills.judge(method, at, node, run))
