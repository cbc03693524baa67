"""What Configuration documents derive: what each says, whom it speaks for, who is in trouble, and who may begin.

Kept, indexed and counted by the engine, never written. A document speaks for the nodes of the cluster that it is in.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.configuration import Document
from noderemedy.model.decision import FactValue
from noderemedy.model.governing import MEMBER, MemberFact
from noderemedy.model.healthcheck import Sighting
from noderemedy.model.ids import CONFIG_MAP, FACTS, JOB, NODE, Kind, Ref
from noderemedy.model.node import Node
from noderemedy.model.reasons import Reason
from noderemedy.model.remedy import Job, JobState, RemedyRecord
from noderemedy.model.room import Index
from noderemedy.model.time import Mono, Wall

DOCUMENT = Kind(FACTS, "RemedyDocument")
TROUBLE = Kind(FACTS, "Trouble")
PROBLEMS = Kind(FACTS, "Problems")
REPAIR = Kind(FACTS, "RemedyRepair")
ALL = "all"
BY_DOCUMENT = "remedy by document"
ALL_DOCUMENTS = "remedy documents"
ALL_NODES = "nodes of the home cluster"
AT_WORK = "jobs that run by node"


class DocumentFact(FactValue, frozen=True):
    """What a document says; `is_last_good`: what stands in its ConfigMap now is broken, this was there before."""

    at: Ref
    owner_uid: str
    document: Document
    is_last_good: bool = False


class Trouble(FactValue, frozen=True):
    """A threshold of the governing document is met: for long enough, or not yet."""

    document: Ref
    threshold: str
    since: Wall
    is_over: bool
    because: tuple[Reason, ...] = ()


class Problem(Struct, frozen=True):
    """One thing that is wrong with a node: a threshold that is met, or what only an alarm counts."""

    name: str  # the type of its condition, or the reason of its events
    value: str  # the status of the condition
    since: Wall
    because: tuple[Reason, ...] = ()
    is_alarmed: bool = False  # an alarm counts how often it comes


class Problems(FactValue, frozen=True):
    """All that is wrong with a node by its governing document, the trouble first: records tell of all of it."""

    document: Ref
    found: tuple[Problem, ...]
    sightings: tuple[Sighting, ...] = ()

    @property
    def since(self) -> Wall:
        return min(one.since for one in self.found)

    @property
    def because(self) -> tuple[Reason, ...]:
        return tuple(reason for one in self.found for reason in one.because)


class RepairFact(FactValue, frozen=True):
    """A node that waits for its turn, or is being repaired."""

    document: Ref
    since: Wall
    is_running: bool
    job_seen: str = ""  # the Job that this process has seen: when it is gone, it is gone
    freed_at: Mono | None = None  # when we last removed pods of it
    is_stuck: bool = False  # it waits for somebody else, and for nobody's turn


def document_ref(config_map: Ref) -> Ref:
    return Ref("", DOCUMENT, config_map.namespace, config_map.name)


def config_map_of(fact: Ref) -> Ref:
    """The ConfigMap that a document or a permit is about."""
    return Ref("", CONFIG_MAP, fact.namespace, fact.name)


def trouble_ref(node: Ref) -> Ref:
    return Ref("", TROUBLE, "", node.name)


def problems_ref(node: Ref) -> Ref:
    return Ref("", PROBLEMS, "", node.name)


def repair_ref(node: Ref) -> Ref:
    return Ref("", REPAIR, "", node.name)


def node_of(fact: Ref) -> Ref:
    """The node that a fact is about."""
    return Ref("", NODE, "", fact.name)


# --- how they are counted ----------------------------------------------------------------------------------------


def members(document: Ref) -> str:
    return f"members {document}"


def unresponsive(document: Ref) -> str:
    return f"unresponsive {document}"


def contested(document: Ref) -> str:
    return f"contested {document}"


def troubled(document: Ref) -> str:
    return f"troubled {document}"


def repairs(document: Ref) -> str:
    return f"repairs {document}"


def _documents(ref: Ref, fact: DocumentFact) -> tuple[str, ...]:
    return (ALL,)


def _members(ref: Ref, fact: MemberFact) -> tuple[str, ...]:
    found = [members(fact.document)]
    if fact.is_unresponsive:
        found.append(unresponsive(fact.document))
    if fact.others:
        found += [contested(one) for one in (fact.document, *fact.others)]
    return tuple(found)


def _troubles(ref: Ref, fact: Trouble) -> tuple[str, ...]:
    return (troubled(fact.document), ALL)


def _repairs(ref: Ref, fact: RepairFact) -> tuple[str, ...]:
    return (repairs(fact.document), ALL)


def _nodes(ref: Ref, node: Node) -> tuple[str, ...]:
    """All nodes at home; and those with a record, by the document that it names."""
    if ref.cluster:
        return ()
    return (ALL, node.remedy.document) if isinstance(node.remedy, RemedyRecord) else (ALL,)


def _at_work(ref: Ref, job: Job) -> tuple[str, ...]:
    is_remedy = job.node and job.episode  # those of fence agents have none
    return (job.node,) if is_remedy and job.state is JobState.RUNNING else ()


INDEXES: tuple[Index, ...] = (
    Index(AT_WORK, JOB, _at_work),
    Index(ALL_DOCUMENTS, DOCUMENT, _documents),
    Index(BY_DOCUMENT, MEMBER, _members),
    Index(BY_DOCUMENT, TROUBLE, _troubles),
    Index(BY_DOCUMENT, REPAIR, _repairs),
    Index(ALL_NODES, NODE, _nodes),
)
