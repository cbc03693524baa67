"""Which remedy comes next, and what runs it: names of Jobs, and what their pods are told. Pure arithmetic.

A Job's name is the hash of what it is for, and of when it was ordered: whoever creates it twice creates it once, also
after a crash, and a chain that begins anew reads nobody's former success.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

from noderemedy.core.remedy.view import RemedyView
from noderemedy.model.configuration import Configuration, Definition, FenceRemedy, Remedy, Threshold
from noderemedy.model.nodefence import PREFIX, fence_ref
from noderemedy.model.reasons import Reason, RemedyUndefined
from noderemedy.model.remedy import RECOVERY, PodRemedy, RemedyOrder, RemedyRecord
from noderemedy.model.time import Wall


class Choice(Struct, frozen=True):
    """The remedy to run now, and those that were skipped because nobody defined them; None: none is left."""

    number: int
    remedy: Remedy | None
    definition: Definition | None
    skipped: tuple[Reason, ...] = ()


def choose(read: Configuration, threshold: Threshold, number: int) -> Choice:
    """The first defined remedy from this number on."""
    skipped: list[Reason] = []
    for place, remedy in enumerate(threshold.remedies[number - 1 :], start=number):
        definition = read.definition(remedy.name)
        if definition is not None:
            return Choice(place, remedy, definition, tuple(skipped))
        skipped.append(RemedyUndefined(remedy.name))
    return Choice(len(threshold.remedies) + 1, None, None, tuple(skipped))


def is_fence(record: RemedyRecord) -> bool:
    """Whether the remedy is a fence flow: what runs it is a NodeFence, and not a Job."""
    return record.job.startswith(PREFIX)


def job_name(node_uid: str, record: RemedyRecord) -> str:
    told = f"{node_uid} {record.episode} {record.document} {record.threshold} {record.number} {record.at}"
    return f"remedy-{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def name_for(view: RemedyView, record: RemedyRecord, definition: Definition) -> str:
    """What runs this remedy: a Job, or the NodeFence of the node."""
    if isinstance(definition.how, FenceRemedy):
        return fence_ref(view.at).name
    return job_name(view.node.uid, record)


def order(view: RemedyView, record: RemedyRecord, pod: PodRemedy) -> RemedyOrder:
    """What the pod is told: the node as it was when the remedy was ordered."""
    node, remedy = view.node, remedy_of(view, record)
    return RemedyOrder(
        node=view.at.name,
        node_uid=node.uid,
        boot_id=record.boot_id,
        addresses=node.addresses,
        provider_id=node.provider_id,
        episode=record.episode,
        document=record.document,
        threshold=record.threshold,
        remedy=record.remedy,
        number=record.number,
        pod=pod,
        not_after=record.at + pod.deadline,
        vouches_for=record.boot_id if remedy is not None and remedy.cleans else "",
    )


def remedy_of(view: RemedyView, record: RemedyRecord) -> Remedy | None:
    """The step of the chain that the record is at, as the document has it now."""
    threshold = view.threshold
    if threshold is None or record.number == RECOVERY or record.number > len(threshold.remedies):
        return None
    found = threshold.remedies[record.number - 1]
    return found if found.name == record.remedy else None


def definition_of(view: RemedyView, record: RemedyRecord) -> Definition | None:
    return view.document.document.configuration.definition(record.remedy) if view.document else None


def told(record: RemedyRecord) -> str:
    """How a record of history tells it."""
    number = f"remedy {record.number}" if record.number != RECOVERY else "recovery"
    ended = f" {record.outcome.value}" if record.outcome else ""
    return f"{number} {record.remedy} {record.phase.value}{ended}"


def seconds(at: Wall) -> Wall:
    """As the API keeps it."""
    return Wall(at.ms // 1000 * 1000)
