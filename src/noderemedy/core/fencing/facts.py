"""What the rooms of the fence configuration derive and index: plans by what they use, what is known of an agent."""

from __future__ import annotations

from noderemedy.model.agent import AgentDescription
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.facts import FactValue
from noderemedy.model.fenceconfig import FenceConfig
from noderemedy.model.fenceplan import FENCE_PLAN, PLAN_ASKED, FencePlan
from noderemedy.model.governing import MEMBER, MemberFact
from noderemedy.model.ids import CONFIG_MAP, FACTS, NODE, NODE_FENCE, Kind, Ref
from noderemedy.model.node import Node
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.room import Index

KNOWN_AGENT = Kind(FACTS, "KnownAgent")
BY_NODE = "fence configurations by node"
SETS = "fence configurations of sets"
BY_NAME = "fence documents by name"
NODES = "nodes of a cluster"
FENCES = "fences by node"
ASKED = "plans asked for"
FENCING = "documents that have nodes fenced"
GOVERNED = "governed nodes by document"
PLANS_BY_MAP = "fence plans by ConfigMap"
PLANS_BY_AGENT = "fence plans by agent"
PLANS_BY_PLUG = "fence plans by plug"
BROKEN_PLANS = "broken fence plans by source"


class KnownAgent(FactValue, frozen=True):
    """An agent that some plan needs, as it described itself; None: it is not installed."""

    description: AgentDescription | None


def known_ref(agent: str) -> Ref:
    return Ref("", KNOWN_AGENT, "", agent)


def node_key(cluster: str, name: str) -> str:
    return f"{cluster} {name}"


def _node(ref: Ref, obj: ConfigMap) -> tuple[str, ...]:
    found = obj.fence
    return (node_key(found.cluster, found.node),) if isinstance(found, FenceConfig) and found.node else ()


def _set(ref: Ref, obj: ConfigMap) -> tuple[str, ...]:
    found = obj.fence
    return (found.cluster,) if isinstance(found, FenceConfig) and found.selector is not None else ()


def _name(ref: Ref, obj: ConfigMap) -> tuple[str, ...]:
    return (ref.name,) if obj.fence is not None else ()


def _cluster(ref: Ref, obj: Node) -> tuple[str, ...]:
    return (ref.cluster,)


def _fenced(ref: Ref, obj: NodeFence) -> tuple[str, ...]:
    return (node_key(obj.spec.cluster, obj.spec.node),)


def _fencing(ref: Ref, obj: ConfigMap) -> tuple[str, ...]:
    return ("all",) if obj.document is not None and obj.document.configuration.has_fence else ()


def _governed(ref: Ref, obj: MemberFact) -> tuple[str, ...]:
    return (str(obj.document),)


def _broken(ref: Ref, obj: FencePlan) -> tuple[str, ...]:
    return (obj.source,) if obj.problems and not obj.is_pending else ()


INDEXES: tuple[Index, ...] = (
    Index(BY_NODE, CONFIG_MAP, _node),
    Index(SETS, CONFIG_MAP, _set),
    Index(BY_NAME, CONFIG_MAP, _name),
    Index(NODES, NODE, _cluster),
    Index(FENCES, NODE_FENCE, _fenced),
    Index(ASKED, PLAN_ASKED, lambda ref, asked: ("all",)),
    Index(FENCING, CONFIG_MAP, _fencing),
    Index(GOVERNED, MEMBER, _governed),
    Index(PLANS_BY_MAP, FENCE_PLAN, lambda ref, plan: plan.uses),
    Index(PLANS_BY_AGENT, FENCE_PLAN, lambda ref, plan: plan.agents),
    Index(PLANS_BY_PLUG, FENCE_PLAN, lambda ref, plan: tuple(dict.fromkeys(one.words for one in plan.plugs))),
    Index(BROKEN_PLANS, FENCE_PLAN, _broken),
)
