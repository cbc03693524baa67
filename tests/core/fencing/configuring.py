"""A real engine with the rooms of the fence configuration: nodes, ConfigMaps of the API, and agents that answer."""

from __future__ import annotations

from typing import Any

from tests.builders import NOW, RESOURCES, a_node
from tests.wire.agents import AGENTS

from noderemedy.core.fencing import configs, describing, drilling, plan
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import DescribeAgent
from noderemedy.model.agent import AgentDescription
from noderemedy.model.fenceplan import AgentMethod, FencePlan, Step, plan_ref
from noderemedy.model.ids import CONFIG_MAP, NODE, SYSTEM, Kind, Ref, ref
from noderemedy.model.node import Node
from noderemedy.model.outcome import Done, Effect, Key, Seen
from noderemedy.model.reasons import Reason
from noderemedy.model.room import Present, known
from noderemedy.model.time import Span
from noderemedy.wire.objects import convert

ROOMS = (plan.ROOM, describing.ROOM, configs.ROOM, drilling.ROOM)
TEMPLATE = "agent=fence_pdu\nip=10.0.0.9\nsecret=pdu"
SWITCH = "agent=fence_switch\nip=10.0.0.8\nsecret=switch"
PRINTED = {
    "config.properties": "node_name={0}\nisolation=fc-off\npower_management=eaton-off eaton-on\nrecovery=fc-on",
    "fence-method-fc-off": "template=fence-method-template-switch\nplug={1}\naction=off",
    "fence-method-fc-on": "template=fence-method-template-switch\nplug={1}\naction=on",
    "fence-method-eaton-off": "template=fence-method-template-pdu\nplug={1}\naction=off",
    "fence-method-eaton-on": "template=fence-method-template-pdu\nplug={1}\naction=on",
}


def printed(node: str, plug: str = "2") -> dict[str, str]:
    """The seed's configuration for a node, on this outlet and port."""
    return {key: text.format(node, plug) for key, text in PRINTED.items()}


def one_method(text: str, words: str = "", node: str = "n1") -> dict[str, str]:
    head = words or f"node_name={node}\npower_management=m"
    return {"config.properties": head, "fence-method-m": text}


class Bench:
    """Nodes `n1`, `n2`, … with the templates of a PDU and a switch. `asked`: which agents were asked, in order."""

    def __init__(self, nodes: int = 1, agents: dict[str, AgentDescription] | None = None) -> None:
        self.engine = Engine(ROOMS)
        self.agents = AGENTS if agents is None else agents
        self.asked: list[str] = []
        self.now = NOW
        self._version = 100
        for kind in RESOURCES:
            self.engine.listed(kind, NOW)
        for number in range(1, nodes + 1):
            self.node(f"n{number}")
        self.write("fence-method-template-pdu", {"template.properties": TEMPLATE})
        self.write("fence-method-template-switch", {"template.properties": SWITCH})

    def node(self, name: str, node: Node | None = None) -> None:
        self.see(ref(NODE, name), node or a_node(f"uid-{name}", provider_id=""))

    def see(self, at: Ref, obj: Any) -> None:
        self._version += 1
        self.engine.seen(Seen(at, obj.uid, str(self._version), obj), self.now)

    def write(self, name: str, data: dict[str, str]) -> None:
        meta = {"name": name, "namespace": SYSTEM, "uid": f"uid-{name}"}
        self.see(ref(CONFIG_MAP, name, SYSTEM), convert(CONFIG_MAP, {"metadata": meta, "data": data}).obj)

    def garble(self, name: str, kind: Kind = CONFIG_MAP) -> None:
        """It does not decode any more."""
        self._version += 1
        at = ref(kind, name, SYSTEM if kind == CONFIG_MAP else "")
        before = known(self.engine.cache.read(at))
        uid = before.uid if before else f"uid-{name}"
        self.engine.unreadable(at, uid, str(self._version), "garbled", self.now)

    def delete(self, at: Ref) -> None:
        entry = self.engine.cache.read(at)
        obj = known(entry)
        self.engine.gone(Seen(at, obj.uid, "", obj), self.now)

    def delete_map(self, name: str) -> None:
        self.delete(ref(CONFIG_MAP, name, SYSTEM))

    def look(self) -> None:
        """Until nobody wants anything any more."""
        for _ in range(10):
            effects = self.engine.step(self.now, token=7).effects
            if not effects:
                return
            for effect in effects:
                self.answer(effect)
        raise AssertionError("the rooms do not come to rest")

    def pass_time(self, span: Span) -> None:
        self.now = type(self.now)(self.now.wall + span, self.now.mono + span)
        self.look()

    def answer(self, effect: Effect) -> None:
        assert isinstance(effect.action, DescribeAgent)
        at = effect.action.ref
        self.asked.append(at.name)
        found = self.agents.get(at.name)
        seen = Seen(at, "", "", found) if found else None
        self.engine.ended(effect, Done(self.now.mono, seen, gone=found is None), self.now)

    # --- what came of it ---------------------------------------------------------------------------------------------

    def plan(self, node: str = "n1", cluster: str = "") -> FencePlan | None:
        self.look()
        entry = self.engine.cache.read(plan_ref(Ref(cluster, NODE, "", node)))
        if not isinstance(entry, Present):
            return None
        found: FencePlan = entry.obj
        return found

    def problems(self, node: str = "n1") -> tuple[str, ...]:
        found = self.plan(node)
        assert found is not None
        return tuple(map(str, found.problems))

    def only_method(self, step: Step = Step.POWER_MANAGEMENT, node: str = "n1") -> AgentMethod:
        found = self.plan(node)
        assert found is not None
        assert () == found.problems
        (method,) = found.methods(step)
        assert isinstance(method, AgentMethod)
        return method

    def said(self, name: str) -> tuple[Reason, ...]:
        """What is told on a ConfigMap."""
        self.look()
        decision = self.engine.decisions.get(Key(configs.ROOM.name, ref(CONFIG_MAP, name, SYSTEM)))
        return decision.because if decision else ()
