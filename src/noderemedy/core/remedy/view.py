"""What the remedy room sees of one Node: its record, its trouble, the document behind it, and its remedy's Job.

The document is the one that the record names, and before there is a record the one that governs. A node without a
Machine is a target by itself; where there is a Machine, its repair is the Machine's, as for all other rooms.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core import approvals, claim, freeing, leftalone, machines, pacing, traces
from noderemedy.core.approvals import Asked
from noderemedy.core.claim import Claim
from noderemedy.core.freeing import Workload
from noderemedy.core.remedy.facts import (
    AT_WORK,
    BY_DOCUMENT,
    DocumentFact,
    RepairFact,
    Trouble,
    document_ref,
    repair_ref,
    repairs,
    trouble_ref,
)
from noderemedy.core.traces import Told
from noderemedy.model.budget import Granted, Need, Refused, answer, stated
from noderemedy.model.configuration import Threshold
from noderemedy.model.governing import PermitFact, RepeatsFact, parked_of, permit_for
from noderemedy.model.ids import CONFIG_MAP, JOB, NODE_FENCE, SYSTEM, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.nodefence import PREFIX
from noderemedy.model.observer import contact_since
from noderemedy.model.reasons import CannotSeeCluster
from noderemedy.model.remedy import RemedyRecord
from noderemedy.model.room import Absent, Entry, Present, Reader, known
from noderemedy.model.serving import is_served
from noderemedy.model.time import Mono

NAME = "remedy"  # of the room that sees this
FENCING = f"{NAME}-fence"  # states our need while a fence flow runs: the claim is the flow's
FLOW = "node-fence"  # the room of the fence flows


class RemedyView(Struct, frozen=True):
    """One Node that is in trouble, or whose remedies have begun."""

    at: Ref
    entry: Present
    target: Ref  # its Machine; itself where there is none
    machine: Machine | None = None
    unplaced: CannotSeeCluster | None = None  # a Machine may be that of the node
    left_alone: leftalone.Pause | None = None  # the Machine, or its Cluster
    trouble: Trouble | None = None
    document: DocumentFact | None = None  # None: it is gone
    permit: PermitFact | None = None
    job: Entry = Absent()  # of the record; the NodeFence where the remedy is a fence flow
    at_work: tuple[Ref, ...] = ()  # Jobs that run for this node, whatever the record says
    can_fence: bool = True
    work: Workload | None = None
    known: RepairFact | None = None  # what was stated at the last look
    need: Need | None = None  # that we stated at the last look
    is_flow_stuck: bool = False  # its fence flow waits for a person: so do we
    answer: Granted | Refused | None = None
    claim: Claim | None = None
    others: tuple[Need, ...] = ()  # of the rooms that are about this node
    contact_since: Mono | None = None
    asked: Asked = Asked()  # means nothing where the document asks nobody
    parked: RepeatsFact | None = None
    told: Told = Told()  # what its Incident tells so far
    freed_last: Mono | None = None  # when a pod of this document's nodes was freed last; only where that is limited

    @property
    def node(self) -> Node:
        node: Node = self.entry.obj
        return node

    @property
    def record(self) -> RemedyRecord | None:
        return self.node.remedy if isinstance(self.node.remedy, RemedyRecord) else None

    @property
    def threshold(self) -> Threshold | None:
        """The one that the record is about; before there is a record the one that is reached."""
        name = self.record.threshold if self.record else self.trouble.threshold if self.trouble else ""
        return self.document.document.configuration.threshold(name) if self.document else None


def sees(key: Ref, reader: Reader) -> RemedyView | None:
    entry = reader.read(key)
    if key.cluster or not isinstance(entry, Present):
        return None
    if not is_of_interest(key, entry.obj, reader):
        return None
    found, known = reader.read(trouble_ref(key)), reader.read(repair_ref(key))
    trouble: Trouble | None = found.obj if isinstance(found, Present) else None
    record = entry.obj.remedy
    document = document_of(record, trouble, reader)
    machine_at, machine = machine_of(key, reader)
    target = machine_at or key
    needs_approval = document is not None and document.document.needs_approval
    permit = permit_for(document.at if document else None, reader)
    return RemedyView(
        at=key,
        entry=entry,
        target=target,
        machine=machine,
        unplaced=machines.unplaced(key, reader),
        left_alone=leftalone.pause_of_node(key, entry.obj, reader),
        trouble=trouble,
        document=document,
        permit=permit,
        job=reader.read(run_by(record)) if isinstance(record, RemedyRecord) and record.job else Absent(),
        at_work=reader.find(AT_WORK, key.name),
        can_fence=is_served(NODE_FENCE, reader),
        work=freeing.sees(key, entry, reader, pacing.sees(NAME, key, reader, permit)),
        known=known.obj if isinstance(known, Present) else None,
        need=stated(target, NAME, reader) or stated(target, FENCING, reader),
        is_flow_stuck=is_flow_stuck(target, reader),
        answer=answer(target, reader),
        claim=claim.see(NAME, target, key, reader),
        others=claim.others(NAME, target, key, reader),
        contact_since=contact_since(reader),
        asked=approvals.asked(target, machine.uid if machine else entry.obj.uid, reader) if needs_approval else Asked(),
        parked=parked_of(key, reader),
        told=traces.see(NAME, target, machine.uid if machine else entry.obj.uid, reader),
        freed_last=freed_last(document, reader),
    )


def is_of_interest(at: Ref, node: Node, reader: Reader) -> bool:
    """Whether there is anything to decide about it: it is in trouble, in our hands, or out of service by us."""
    return node.remedy is not None or is_marked(node) or isinstance(reader.read(trouble_ref(at)), Present)


def is_marked(node: Node) -> bool:
    """Whether it is out of service by us, although somebody took our record off it."""
    mark = freeing.mark_of(node)
    return mark is not None and mark.room == NAME


def is_flow_stuck(target: Ref, reader: Reader) -> bool:
    found = stated(target, FLOW, reader)
    return found is not None and found.is_stuck


def document_of(record: object, trouble: Trouble | None, reader: Reader) -> DocumentFact | None:
    at = trouble.document if trouble else None
    if isinstance(record, RemedyRecord):
        at = Ref("", CONFIG_MAP, SYSTEM, record.document)
    entry = reader.read(document_ref(at)) if at else Absent()
    return entry.obj if isinstance(entry, Present) else None


def freed_last(document: DocumentFact | None, reader: Reader) -> Mono | None:
    if document is None or document.document.configuration.policy.pods_per_minute is None:
        return None
    entries = [reader.read(ref) for ref in reader.find(BY_DOCUMENT, repairs(document.at))]
    moments = [one.obj.freed_at for one in entries if isinstance(one, Present) and one.obj.freed_at is not None]
    return max(moments, default=None)


def machine_of(node: Ref, reader: Reader) -> tuple[Ref | None, Machine | None]:
    named_by = machines.at_node(node, reader)
    machine = known(reader.read(named_by[0])) if named_by else None
    return (named_by[0], machine) if machine is not None else (None, None)


def run_by(record: RemedyRecord) -> Ref:
    """The Job of a record, or its NodeFence."""
    is_fence = record.job.startswith(PREFIX)
    return Ref("", NODE_FENCE, "", record.job) if is_fence else Ref("", JOB, SYSTEM, record.job)
