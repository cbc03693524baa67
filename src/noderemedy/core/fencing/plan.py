"""The fence-plan room: one key per Node. States how the node can be fenced, complete and checked, before it is needed.

Documents are found by `documents.py`, drafted for the node, held against what their agents say of themselves, and
compared with the plans of all other nodes: two nodes on one plug are refused, both of them. What is wrong is told on
the ConfigMap by `configs.py`, once; on the nodes it is daily business, or a thousand nodes would cry at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, structs

from noderemedy.core.fencing import clouds, disks, documents
from noderemedy.core.fencing.agents import Checked, check
from noderemedy.core.fencing.drafting import (
    CLOUD_DEEDS,
    RESTART,
    Drafted,
    Sources,
    default_source,
    drafted,
    templates_of,
)
from noderemedy.core.fencing.elsewhere import elsewhere
from noderemedy.core.fencing.facts import (
    ASKED,
    BY_NAME,
    FENCES,
    FENCING,
    GOVERNED,
    INDEXES,
    KNOWN_AGENT,
    NODES,
    PLANS_BY_AGENT,
    PLANS_BY_MAP,
    PLANS_BY_PLUG,
    KnownAgent,
    known_ref,
)
from noderemedy.core.fencing.merging import Draft
from noderemedy.core.fencing.pairing import unpaired
from noderemedy.core.fencing.plugs import is_same, loose_plugs
from noderemedy.core.fencing.scopes import of_volumes
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.fenceconfig import FenceConfig
from noderemedy.model.fenceplan import (
    FENCE_PLAN,
    PLAN_ASKED,
    AgentMethod,
    Builtin,
    BuiltinMethod,
    FencePlan,
    Method,
    PlanProblem,
    Plug,
    Step,
    plan_ref,
)
from noderemedy.model.governing import MEMBER
from noderemedy.model.ids import CONFIG_MAP, NODE, NODE_FENCE, Ref
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.reasons import FencePlanInvalid
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.run import Deed
from noderemedy.model.time import Now

PROBLEMS_MAX = 20
NEEDS_OFF = "add a method with action=off"
NOT_INSTALLED = "is not installed where node-remedy runs"
Known = dict[str, KnownAgent]


class Shared(Struct, frozen=True):
    """A plug of this node that other nodes have as well, and the method of this node that names it."""

    plug: Plug
    method: str
    others: tuple[str, ...]


class PlanView(Struct, frozen=True):
    """The plan as the documents have it, and the other nodes that have one of its plugs."""

    at: Ref
    plan: FencePlan
    shared: tuple[Shared, ...] = ()


def decide(view: PlanView, now: Now) -> Decision:
    clashes = tuple(clash(view.plan, one) for one in view.shared)
    problems = (*view.plan.problems, *clashes)[:PROBLEMS_MAX]
    plan = structs.replace(view.plan, problems=problems)
    because = (FencePlanInvalid(str(problems[0]), len(problems)),) if problems else ()
    return Decision(because=because, facts=(Fact(plan_ref(view.at), plan),))


def clash(plan: FencePlan, shared: Shared) -> PlanProblem:
    names = ", ".join(shared.others)
    remedy = "correct the mapping of one of them; what feeds two nodes fences neither"
    words = f"parameter {shared.plug.parameter}: {shared.plug} is also the plug of node {names}; {remedy}"
    return PlanProblem(words, plan.source, plan.node.name, shared.method)


# --- from documents to a plan ----------------------------------------------------------------------------------------


def planned(at: Ref, sources: Sources, draft: Drafted, known: Known) -> FencePlan:
    """The plan without a look at other nodes. What has a problem is left out of its step, and named."""
    steps: dict[Step, tuple[Method, ...]] = {}
    problems, notes = list(draft.problems), list(draft.notes)
    plugs = {one for _, one in plugs_of(draft.written, known, at.cluster)}
    for step, items in draft.steps:
        methods: list[Method] = []
        for item in items:
            if isinstance(item, BuiltinMethod):
                methods.append(item)
                continue
            checked = check_known(item, step, known, at.cluster)
            problems += [PlanProblem(words, draft.source, at.name, item.name) for words in checked.problems]
            plugs.update(checked.plugs)
            if checked.method:
                told = strayed(checked.method, sources, draft)
                problems += [PlanProblem(words, draft.source, at.name, item.name) for words in told]
                notes += noted(checked.method, draft.source, at.name)
                methods.append(checked.method)
        steps[step] = tuple(methods)
    torn = disks.at_odds(method for methods in steps.values() for method in methods)
    problems += [PlanProblem(words, draft.source, at.name, name) for name, words in torn]
    if not problems and not any(map(switches_off, steps[Step.POWER_MANAGEMENT])):
        words = f"power_management switches nothing off; {NEEDS_OFF}"
        problems.append(PlanProblem(words, draft.source, at.name))
    plan = FencePlan(
        node=at,
        isolation=steps.get(Step.ISOLATION, ()),
        power_management=steps.get(Step.POWER_MANAGEMENT, ()),
        recovery=steps.get(Step.RECOVERY, ()),
        kdump_within=draft.config.kdump_within if draft.config else None,
        source=draft.source,
        problems=tuple(dict.fromkeys(problems)),
        uses=tuple(sorted({*(one.name for one in sources.configs), *(name for name, _ in sources.templates)})),
        agents=agents_of(draft),
        is_pending=any(agent not in known for agent in agents_of(draft)),
        plugs=tuple(sorted(plugs, key=repr)),
        notes=tuple(notes),
    )
    return plan if problems else paired(plan)


def noted(method: AgentMethod, source: str, node: str) -> list[PlanProblem]:
    words = of_volumes(method.scope, method.deeds, method.covers)
    return [PlanProblem(words, source, node, method.name)] if words else []


def strayed(method: AgentMethod, sources: Sources, draft: Drafted) -> Iterator[str]:
    """Why it may switch another instance than the node's, by parameter."""
    for one in elsewhere(method, sources.node.provider_id):
        if method.name in CLOUD_DEEDS:
            remedy = f"leave it out of {default_source(sources)}: each node has its own"
        elif draft.config is not None and draft.config.selector is not None:
            remedy = f"use {RESTART}, which takes it from there"
        else:
            remedy = f"write {one.name}={one.own}"
        yield f"parameter {one.parameter}: it says {one.says}, and the node's providerID {one.own}; {remedy}"


def paired(plan: FencePlan) -> FencePlan:
    """The plan in which nothing is wrong, unless it leaves something off."""
    left = tuple(PlanProblem(words, plan.source, plan.node.name, name) for name, words in unpaired(plan))
    return structs.replace(plan, problems=left) if left else plan


def switches_off(method: Method) -> bool:
    if isinstance(method, BuiltinMethod):
        return method.builtin is Builtin.HOST_POWER
    return Deed.OFF in method.deeds


def agents_of(draft: Drafted) -> tuple[str, ...]:
    return tuple(sorted({item.agent for item in draft.drafts() if item.agent}))


def plugs_of(drafts: Iterable[Draft], known: Known, cluster: str) -> Iterator[tuple[str, Plug]]:
    """By method. A plug is the same in every step."""
    for draft in drafts:
        for plug in check_known(draft, Step.POWER_MANAGEMENT, known, cluster).plugs:
            yield draft.name, plug


def check_known(draft: Draft, step: Step, known: Known, cluster: str) -> Checked:
    """The same for agents that nobody has asked yet, or that are not there."""
    found = known.get(draft.agent)
    agent = found.description if found else None
    if agent is not None and not agent.problem and not draft.problems:
        return check(draft, step, agent, cluster)
    if draft.problems:
        problems = draft.problems
    elif found is None:
        problems = (f"agent {draft.agent} has not been asked yet what it is; wait a moment",)
    elif agent is None:
        remedy = "install the package that brings it, or correct agent="
        problems = (f"agent {draft.agent} {NOT_INSTALLED}; {remedy}",)
    else:
        problems = (f"agent {draft.agent}: {agent.problem}; use another one",)
    return Checked(None, loose_plugs(draft), problems)


# --- what it sees, and what wakes it ---------------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> PlanView | None:
    """Nothing for a node that nobody said anything about: to have no plan is no mistake until it is to be fenced."""
    node = documents.node_or_memory(key, reader)
    if node is None:
        return None
    configs = documents.configs_for(key, node, reader)
    templates = documents.templates(templates_of(configs, key.name, node), reader)
    if not configs and not documents.has_default(key, node, templates, reader):
        return None
    sources = Sources(key.name, node, configs, templates)
    draft = drafted(sources)
    known = known_agents(agents_of(draft), reader)
    plan = planned(key, sources, draft, known)
    if has_left(key, reader):
        return PlanView(key, structs.replace(plan, plugs=()))  # who is gone takes nobody's plug
    crowded = {plug: names for plug in plan.plugs if (names := others(key, plug, reader))}
    return PlanView(key, plan, tuple(shared_by(draft, known, key.cluster, crowded)) if crowded else ())


def has_left(key: Ref, reader: Reader) -> bool:
    """Whether it is gone for good: of a Node that its own fence deleted the plugs are dark, and come on again."""
    if isinstance(reader.read(key), Present):
        return False
    fence = documents.fence_of(key, reader)
    return fence is None or fence.is_final


def shared_by(draft: Drafted, known: Known, cluster: str, crowded: dict[Plug, tuple[str, ...]]) -> Iterator[Shared]:
    """Each plug that other nodes have, once, with the first method that names it."""
    left = dict(crowded)
    for method, plug in plugs_of(draft.drafts(), known, cluster):
        if names := left.pop(plug, ()):
            yield Shared(plug, method, names)


def known_agents(names: tuple[str, ...], reader: Reader) -> Known:
    entries = {name: reader.read(known_ref(name)) for name in names}
    return {name: entry.obj for name, entry in entries.items() if isinstance(entry, Present)}


def others(key: Ref, plug: Plug, reader: Reader) -> tuple[str, ...]:
    """Whose plug it is as well. Of a storage fence two nodes may share the disks, but never the key."""
    found = [(one, reader.read(one)) for one in reader.find(PLANS_BY_PLUG, plug.words) if one != plan_ref(key)]
    return tuple(
        one.name
        for one, entry in found
        if isinstance(entry, Present) and any(is_same(plug, its) for its in entry.obj.plugs)
    )


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == NODE:
        return (ref,) if any(map(reader.has, (BY_NAME, FENCES, FENCING, ASKED))) else ()  # else nobody spoke of any
    if ref.kind in (PLAN_ASKED, MEMBER):
        return (Ref(ref.cluster, NODE, "", ref.name),) if ref.kind == PLAN_ASKED or reader.has(FENCING) else ()
    if isinstance(obj, NodeFence):
        return (obj.spec.node_at,)
    if ref.kind == KNOWN_AGENT:
        return nodes_of(reader.find(PLANS_BY_AGENT, ref.name))
    if isinstance(obj, FencePlan):
        return nodes_of(one for plug in obj.plugs for one in reader.find(PLANS_BY_PLUG, plug.words) if one != ref)
    if isinstance(obj, ConfigMap) and obj.fence is not None:
        return concerned(ref, obj, reader)
    if isinstance(obj, ConfigMap) and obj.document is not None:
        return [Ref("", NODE, "", one.name) for one in reader.find(GOVERNED, str(ref))]
    return ()


def concerned(ref: Ref, obj: ConfigMap, reader: Reader) -> list[Ref]:
    """A template concerns its users, a document its node, one of a set all nodes of the cluster: that is rare."""
    found = nodes_of(reader.find(PLANS_BY_MAP, ref.name))
    config = obj.fence
    if isinstance(config, FenceConfig) and config.node:
        found.append(Ref(config.cluster, NODE, "", config.node))
    if isinstance(config, FenceConfig) and config.selector is not None:
        found += reader.find(NODES, config.cluster)
    if ref.name in clouds.TEMPLATES:
        found += reader.find(NODES, "")
    return found


def nodes_of(plans: Iterable[Ref]) -> list[Ref]:
    return [Ref(one.cluster, NODE, "", one.name) for one in plans]


ROOM = Room(
    name="fence-plan",
    watches=(NODE, CONFIG_MAP, NODE_FENCE, FENCE_PLAN, KNOWN_AGENT, MEMBER, PLAN_ASKED),
    indexes=(*INDEXES, *disks.INDEXES),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.SPEC,
)
