"""The repeats room: one key per Node. Counts the problems of a node from its Incidents: alarms, and who is parked.

Seed 002's "alarms on repeats": so many problems of one condition within a time call a person. A node that was repaired
so often within a time, by remedies or by fences of whoever asked, is left to a person: what does not last is no repair.
Counted is what Incidents tell, of which ten repairs per target are kept, and ten others: so counters are bounded,
survive restarts, and everybody can read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import approvals, machines
from noderemedy.core.remedy import facts
from noderemedy.core.remedy.facts import DOCUMENT, document_ref, node_of
from noderemedy.core.remedy.recording import FENCE, REMEDY, problem_aspect
from noderemedy.model.configuration import Configuration
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.governing import MEMBER, RepeatsFact, member_ref, repeats_ref
from noderemedy.model.ids import INCIDENT, NODE, Ref
from noderemedy.model.incident import QUIET, Incident
from noderemedy.model.reasons import NodeParked, Reason, RepeatedProblem
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.time import Now, Span, Wall

REPAIRS = (REMEDY, FENCE)


class RepeatsView(Struct, frozen=True):
    """A node with the Incidents that are kept of it, and the document that governs it."""

    at: Ref
    document: Ref
    read: Configuration
    incidents: tuple[Incident, ...]


def decide(view: RepeatsView, now: Now) -> Decision:
    because: list[Reason] = []
    ends: list[Wall] = []
    for alarm in view.read.alarms:
        told = (moment for one in view.incidents for moment in moments(one, alarm.problem))
        found = within(told, alarm.within, now)
        if len(found) >= alarm.count:
            because.append(RepeatedProblem(view.at.name, alarm.problem, alarm.count, alarm.within))
        ends += [one + alarm.within for one in found]
    parked = parking(view, now)
    if parked is not None:
        because.append(parked.parked)
        ends.append(parked.until)
    if not because:
        return NOTHING
    wake = min((one for one in ends if one > now.wall), default=None)
    stated = (Fact(repeats_ref(view.at), parked),) if parked else ()
    return Decision(because=tuple(because), wake_at=now.until(wake) if wake else None, facts=stated)


def parking(view: RepeatsView, now: Now) -> RepeatsFact | None:
    """Whether the node was repaired too often, and until when that counts. What is on its way is not counted."""
    limit = view.read.park_after
    if limit is None:
        return None
    repaired = [one.found.detected for one in view.incidents if not one.is_open and is_repaired(one)]
    found = within(repaired, limit.within, now)
    if len(found) < limit.count:
        return None
    until = sorted(found)[-limit.count] + limit.within
    return RepeatsFact(NodeParked(view.at.name, limit.count, limit.within, until), until)


def within(told: Iterable[Wall], span: Span, now: Now) -> list[Wall]:
    """Those of this time."""
    return [one for one in told if now.wall < one + span]


def moments(incident: Incident, problem: str) -> list[Wall]:
    """When this problem came, by one record: when it was found, and again after it had been away for a minute.

    Something else may have kept the record open meanwhile: a problem that stays does not hide one that comes and goes.
    """
    came = [incident.found.detected] if problem in incident.found.conditions else []
    is_there, left = bool(came), None
    for step in incident.record.steps:
        if step.what != problem_aspect(problem):
            continue
        if step.value and not is_there and (left is None or step.at >= left + QUIET):
            came.append(step.at)
        left = left if step.value else step.at
        is_there = bool(step.value)
    return came


def is_repaired(incident: Incident) -> bool:
    return any(step.what in REPAIRS and step.value for step in incident.record.steps)


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> RepeatsView | None:
    member = reader.read(member_ref(key))
    entry = reader.read(document_ref(member.obj.document)) if isinstance(member, Present) else None
    if key.cluster or not isinstance(entry, Present):
        return None
    read: Configuration = entry.obj.document.configuration
    if not read.alarms and read.park_after is None:
        return None
    targets = [key, *machines.at_node(key, reader)]
    names = [ref for target in targets for ref in reader.find(approvals.BY_TARGET, approvals.place(target))]
    kept = [reader.read(ref) for ref in names]
    return RepeatsView(key, entry.obj.at, read, tuple(one.obj for one in kept if isinstance(one, Present)))


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == MEMBER:
        return (node_of(ref),)
    if ref.kind == INCIDENT:
        return (Ref("", NODE, "", obj.found.node),) if obj is not None and obj.found.node else ()
    return map(node_of, reader.find(facts.BY_DOCUMENT, facts.members(facts.config_map_of(ref))))


ROOM = Room(
    name="repeats",
    watches=(INCIDENT, MEMBER, DOCUMENT),
    indexes=(*facts.INDEXES, *machines.INDEXES, *approvals.INDEXES),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.GATE,
)
