"""All that is wrong with a configuration, whether anybody is sick or not. Called by `node-remedy check`; pure.

It looks as a plan does: the readers and rooms that decide say what is wrong, here it is only gathered, each once. A
*problem* keeps something from working; a *note* tells what could not be looked at, or is probably not meant like this.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from noderemedy.core import machines
from noderemedy.core.external.kinds import request_kind, template_kind
from noderemedy.core.fencing.configs import waits_for_dumps
from noderemedy.core.fencing.drafting import SPOKEN_OF_TWICE
from noderemedy.core.fencing.facts import BY_NAME
from noderemedy.core.fencing.plan import NOT_INSTALLED
from noderemedy.core.fencing.scopes import only_shown
from noderemedy.core.healthcheck.facts import MEMBERS
from noderemedy.engine.cache import Cache
from noderemedy.manager.checkbacking import unbacked
from noderemedy.manager.plan import Look
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.dialect import RULES
from noderemedy.model.fenceconfig import FenceConfig
from noderemedy.model.fenceplan import FENCE_PLAN, FencePlan, PlanProblem, Scope, plan_ref
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.governing import MEMBER
from noderemedy.model.healthcheck import HealthCheck, TemplateRef
from noderemedy.model.ids import CONFIG_MAP, FENCE_REMEDIATION, NODE, SYSTEM, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.nodefence import FenceSpec, NodeFence, fence_ref
from noderemedy.model.reasons import (
    ChecksOverlap,
    DocumentElsewhere,
    DocumentHint,
    DocumentOverlaps,
    DocumentWithoutNodes,
    FenceConfigTrustsNodes,
    FenceConfigWithoutNode,
    FencePlanMissing,
    KdumpUnheard,
    Reason,
    TemplateKindMissing,
    TemplateNotFound,
    TemplateUnusable,
)
from noderemedy.model.remediation import Metal3Remediation
from noderemedy.model.remediationbudget import RemediationBudget
from noderemedy.model.room import Absent, Present, Reader, Unreadable
from noderemedy.rooms import watched
from noderemedy.wire import names

WRITTEN = (HealthCheck, RemediationBudget, NodeFence, FenceRemediation, Metal3Remediation)
# What rooms say besides, and whether that is only a note.
TOLD: dict[type[Reason], bool] = {
    FenceConfigWithoutNode: False,
    FenceConfigTrustsNodes: True,
    FencePlanMissing: False,
    DocumentElsewhere: False,
    DocumentWithoutNodes: False,
    DocumentOverlaps: True,
    DocumentHint: True,
    ChecksOverlap: False,
    TemplateKindMissing: False,
    TemplateNotFound: False,
    TemplateUnusable: False,
}
ABOUT_NODES = (FenceConfigWithoutNode, DocumentWithoutNodes)  # nothing to go by where no Node is known
NODES_TOLD = 2


class Finding(Struct, frozen=True, order=True):
    """One thing about one object, in a sentence that names the field and the remedy."""

    at: Ref
    text: str
    is_note: bool = False


def findings(look: Look, *, knows_nodes: bool = True, has_agents: bool = True) -> list[Finding]:
    """All of them, by object. `has_agents`: some are installed here, so that one that is not is a mistake."""
    cache = look.engine.cache
    found = [one for kind in watched() for at in cache.refs_of(kind) for one in of_object(at, cache)]
    doubts = (*(() if has_agents else (NOT_INSTALLED,)), *(() if knows_nodes else (SPOKEN_OF_TWICE,)))
    found += of_plans(cache, doubts, knows_nodes=knows_nodes)
    found += unfenced(cache) if knows_nodes else []
    told = [(key.ref, one) for key, decision in look.engine.decisions.items() for one in decision.because]
    found += [
        Finding(at, reason.note(), TOLD[type(reason)])
        for at, reason in told
        if type(reason) in TOLD and (knows_nodes or type(reason) not in ABOUT_NODES)
    ]
    return sorted(set(found))


# --- what readers found -----------------------------------------------------------------------------------------


def of_object(at: Ref, reader: Reader) -> list[Finding]:
    entry = reader.read(at)
    if isinstance(entry, Unreadable):
        return [Finding(at, entry.problem)]
    obj = entry.obj if isinstance(entry, Present) else None
    if isinstance(obj, ConfigMap):
        return [*(Finding(at, problem) for problem in of_config_map(obj)), *dumps(at, obj)]
    if not isinstance(obj, WRITTEN):
        return []
    found = [Finding(at, problem) for problem in obj.problems]
    if isinstance(obj.paused, Malformed) and not isinstance(obj, HealthCheck):  # that one has told it by itself
        found.append(Finding(at, f"metadata.annotations.{names.PAUSED}: {obj.paused.problem}"))
    if isinstance(obj, HealthCheck) and isinstance(obj.template, TemplateRef):
        found += of_template(at, obj.template, reader)
    if isinstance(obj, HealthCheck) and obj.annotation_mode:
        found.append(by_annotation(at, obj))
    if isinstance(obj, NodeFence) and obj.spec.node and (wanted := name_of(obj.spec)) not in (at.name, ""):
        found.append(Finding(at, f"metadata.name: a node has one NodeFence; write {wanted}"))
    return found


def name_of(spec: FenceSpec) -> str:
    """What its definition demands; "": nothing, for a node of another cluster."""
    return "" if spec.cluster else fence_ref(Ref("", NODE, "", spec.node)).name


def of_config_map(found: ConfigMap) -> tuple[str, ...]:
    document = found.document.configuration.problems if found.document else ()
    return (*found.problems, *(found.fence.problems if found.fence else ()), *document)


def dumps(at: Ref, found: ConfigMap) -> list[Finding]:
    """What kernel dumps take: no document says how managers run."""
    return [Finding(at, KdumpUnheard().note(), is_note=True)] if found.fence and waits_for_dumps(found.fence) else []


def of_template(at: Ref, template: TemplateRef, reader: Reader) -> list[Finding]:
    """A template that is known not to be there; one that nobody asked for yet is nobody's mistake."""
    there = Ref(at.cluster, template_kind(template), template.namespace, template.name)
    if not isinstance(reader.read(there), Absent):
        return []
    return [Finding(at, TemplateNotFound(str(there)).note())]


def by_annotation(at: Ref, check: HealthCheck) -> Finding:
    """Deprecated (seed 004): such a check works, and its status says so, too."""
    field = RULES[check.dialect].template_fields[0]
    text = (
        f"metadata.annotations.{names.STRATEGY}: repairs by annotation are deprecated; name a"
        f" Metal3RemediationTemplate in spec.{field} instead (node-remedy import --convert prints both)"
    )
    return Finding(at, text, is_note=True)


# --- fence plans ------------------------------------------------------------------------------------------------


class Complaint(Struct, frozen=True):
    """A problem of one plan, by the document that it is told of."""

    document: str
    text: str
    node: str = ""

    @property
    def general(self) -> tuple[str, str]:
        """The same for all nodes of which it is said."""
        return self.document, self.text.replace(f" {self.node} ", " NODE ") if self.node else self.text


def of_plans(cache: Cache, doubts: tuple[str, ...], *, knows_nodes: bool) -> list[Finding]:
    """What keeps nodes from being fenced; what many share is told once. `doubts`: words of what may well be right."""
    entries = [cache.read(at) for at in cache.refs_of(FENCE_PLAN)]
    plans: list[FencePlan] = [entry.obj for entry in entries if isinstance(entry, Present)]
    groups: dict[tuple[str, str], list[Complaint]] = {}
    notes = [one for plan in plans for one in (*tries_of(plan), *(complaint(plan, note) for note in plan.notes))]
    notes += [one for plan in plans if knows_nodes for one in backing_of(plan, cache)]
    for one in (*(complaint(plan, problem) for plan in plans for problem in plan.problems), *notes):
        groups.setdefault(one.general, []).append(one)
    found = []
    for (name, general), group in groups.items():
        at = document_at(name, cache)
        text = group[0].text if len(group) == 1 else general
        nodes = concerning([one.node for one in group if one.node], at, cache)
        is_note = group[0] in notes or any(words in text for words in doubts)
        found.append(Finding(at, text + nodes, is_note=is_note))
    return found


def tries_of(plan: FencePlan) -> list[Complaint]:
    """Methods that only show how a fence goes: nobody may take them for fencing."""
    found = [one for one in plan.agent_methods if one.scope is Scope.NOTHING]
    return [Complaint(plan.source, f"method {one.name}: {only_shown(one.agent)}", plan.node.name) for one in found]


def backing_of(plan: FencePlan, reader: Reader) -> list[Complaint]:
    """Methods that go by the Machine or the host of the node, and would not find it."""
    found = unbacked(plan, reader)
    return [Complaint(plan.source, f"method {name}: {words}", plan.node.name) for name, words in found]


def complaint(plan: FencePlan, problem: PlanProblem) -> Complaint:
    method = f"method {problem.method}: " if problem.method else ""
    return Complaint(problem.document or plan.source, f"{method}{problem.words}", problem.node)


def document_at(name: str, reader: Reader) -> Ref:
    found = reader.find(BY_NAME, name)
    return found[0] if found else Ref("", CONFIG_MAP, SYSTEM, name)


def concerning(nodes: list[str], at: Ref, reader: Reader) -> str:
    """Which nodes of a set it is about; a document of one node need not say."""
    entry = reader.read(at)
    fence = entry.obj.fence if isinstance(entry, Present) else None
    if not nodes or (isinstance(fence, FenceConfig) and fence.selector is None):
        return ""
    return f" ({counted(nodes)})"


def unfenced(cache: Cache) -> list[Finding]:
    """Nodes that a document or a health check would have fenced, and for which nothing says how."""
    lacking: dict[tuple[Ref, str], list[str]] = {}
    for at, about, node in (*by_documents(cache), *by_checks(cache)):
        if isinstance(cache.read(node), Present) and not isinstance(cache.read(plan_ref(node)), Present):
            lacking.setdefault((at, about), []).append(node.name)
    remedy = "write ConfigMap fence-config-NODE, or one with a node_selector"
    return [
        Finding(at, f"{about}: no fence configuration is there for {counted(of)}; {remedy}")
        for (at, about), of in lacking.items()
    ]


def by_documents(cache: Cache) -> Iterator[tuple[Ref, str, Ref]]:
    """Each node that a document with a fence flow speaks for."""
    for at in cache.refs_of(MEMBER):
        entry = cache.read(at)
        if isinstance(entry, Present) and fences(entry.obj.document, cache):
            yield entry.obj.document, "config.yaml: nodeFence", Ref("", NODE, "", at.name)


def by_checks(cache: Cache) -> Iterator[tuple[Ref, str, Ref]]:
    """Each node of a machine that a check with a FenceRemediationTemplate selects."""
    for kind, fact in MEMBERS.items():
        for at in cache.refs_of(fact):
            member, machine = cache.read(at), cache.read(Ref(at.cluster, kind, at.namespace, at.name))
            if not isinstance(member, Present) or not isinstance(machine, Present):
                continue
            check = cache.read(member.obj.check)
            template = check.obj.template if isinstance(check, Present) else None
            node = machines.node_at(Ref(at.cluster, kind, at.namespace, at.name), machine.obj, cache)
            if node is not None and isinstance(template, TemplateRef) and request_kind(template) == FENCE_REMEDIATION:
                yield member.obj.check, "its template has nodes fenced", node


def counted(nodes: list[str]) -> str:
    shown = ", ".join(sorted(nodes)[:NODES_TOLD])
    more = len(nodes) - NODES_TOLD
    return f"node {shown}{f' and {more} more' if more > 0 else ''}"


def fences(document: Ref, reader: Reader) -> bool:
    """Whether some remedy of this document is a fence flow."""
    entry = reader.read(document)
    found = entry.obj.document if isinstance(entry, Present) else None
    return found is not None and found.configuration.has_fence
