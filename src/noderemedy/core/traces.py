"""The shared shelf: no trace of a repair goes before the record tells of it.

What a repair did stands on objects for a while: a hold, a mark, the time of a deletion, a phase. The diary reads it off
them, so a manager that dies loses nothing that is still there. A room that is about to take the last trace of
something away asks here first; the record is then written at once, and the trace goes.

Rule: records never stand in the way of a repair. Without the kind nobody waits, and nobody waits longer than PATIENCE.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import approvals
from noderemedy.model.decision import Decision, Fact, FactValue
from noderemedy.model.host import Hold
from noderemedy.model.ids import FACTS, INCIDENT, Kind, Ref
from noderemedy.model.ids import REMEDIATION as METAL3_REMEDIATION
from noderemedy.model.incident import VALUE_MAX, Record
from noderemedy.model.reasons import RecordFirst
from noderemedy.model.remediation import Progress
from noderemedy.model.room import Index, Present, Reader, known
from noderemedy.model.serving import is_served
from noderemedy.model.time import SECOND, Mono, Now, Span, Wall

DIARY, ERASING = Kind(FACTS, "Diary"), Kind(FACTS, "Erasing")
BY_TARGET = "traces that are about to go"
PATIENCE = SECOND * 90  # a write that the API refused once is tried again after a minute
SHORTLY = SECOND * 5  # where what stands there may set something off meanwhile

REQUEST, HOLD, HOLD_FOR, DELETION = "request", "hold", "hold of the remediation", "deletion of the Node"
EXTERNAL, REMEDIATION, REPLACEMENT, INTENT = "external request", "remediation", "replacement", "intent"
MARKED = "marked"


def diary_ref(target: Ref) -> Ref:
    """What the diary states of a target, as long as there is something to note. It looks before any room acts."""
    return Ref(target.cluster, DIARY, target.namespace, f"{target.kind} {target.name}")


class Trace(Struct, frozen=True):
    """Something that was done, as a record tells it: an aspect and its value."""

    what: str
    value: str


class Erasing(FactValue, frozen=True):
    """A room waits for the record of this target: what is not written yet would be lost.

    An act that leaves no trace at all is told before it is done: that is its intent.
    """

    target: Ref
    room: str
    intent: str = ""


class Told(Struct, frozen=True):
    """What the record of a target tells, and since when this room has been waiting for it."""

    is_kept: bool = False
    steps: frozenset[Trace] = frozenset()  # the last value of each aspect
    asked_at: Mono | None = None


def see(room: str, target: Ref, uid: str, reader: Reader) -> Told:
    """By the open Incident of this very target, else by the last one. Another target of that name has another story."""
    diary = reader.read(diary_ref(target))
    if not isinstance(diary, Present) or not is_served(INCIDENT, reader):
        return Told()  # nobody keeps a record: there is nothing in hand, or no such kind
    if diary.obj.found.target_uid != uid and not is_there(target, uid, reader):
        return Told()
    asked = reader.read(erasing_ref(room, target))
    last = {step.what: step.value for step in last_record(target, uid, reader).steps}
    steps = frozenset(Trace(what, value) for what, value in last.items())
    return Told(True, steps, asked.first_seen if isinstance(asked, Present) else None)


def is_there(target: Ref, uid: str, reader: Reader) -> bool:
    """Whether it is the one of that name: its diary begins as soon as the story of a former one is told."""
    found = known(reader.read(target))
    return found is not None and bool(found.uid == uid)


def last_record(target: Ref, uid: str, reader: Reader) -> Record:
    if found := approvals.open_incident(target, reader, uid):
        record: Record = found[1].obj.record
        return record
    entries = [reader.read(ref) for ref in reader.find(approvals.BY_TARGET, approvals.place(target))]
    closed = [one.obj for one in entries if isinstance(one, Present) and one.obj.found.target_uid == uid]
    return max(closed, key=lambda one: one.found.detected).record if closed else Record()


def recorded(
    told: Told, erasing: Erasing, now: Now, traces: tuple[Trace, ...], within: Span | None = None
) -> Decision | None:
    """Wait for the record; None: it tells of all these traces, or will not in time."""
    missing = [trace for trace in traces if trace not in told.steps]
    due = (told.asked_at or now.mono) + (within or PATIENCE)
    if not told.is_kept or not missing or now.mono >= due:
        return None
    waits = Fact(erasing_ref(erasing.room, erasing.target), erasing)
    return Decision((), (RecordFirst(missing[0].what),), due, facts=(waits,))


def erasing_ref(room: str, target: Ref) -> Ref:
    return Ref(target.cluster, ERASING, target.namespace, f"{room} {target.kind} {target.name}")


def waiting(room: str, incident: Any, reader: Reader) -> tuple[Ref, ...]:
    """Whom an event of an Incident concerns: its target, if this room waits for it."""
    if incident is None:
        return ()
    target: Ref = incident.found.target
    return (target,) if isinstance(reader.read(erasing_ref(room, target)), Present) else ()


def _target(ref: Ref, erasing: Erasing) -> tuple[str, ...]:
    return (approvals.place(erasing.target),)


INDEXES: tuple[Index, ...] = (Index(BY_TARGET, ERASING, _target), *approvals.INDEXES)


# --- how a record tells what was done ----------------------------------------------------------------------------


def held(record: object) -> str:
    """A hold, by its record on the host."""
    return f"held since {record.since}" if isinstance(record, Hold) else "held"


def deleted(at: object) -> str:
    """The deletion of a Node, by what was recorded on its Machine first."""
    return "" if at is None else f"decided at {at}" if isinstance(at, Wall) else "unreadable"


def phase(progress: Progress) -> str:
    """How far a Metal3Remediation is."""
    attempt = f", retry {progress.retry_count}" if progress.retry_count else ""
    return f"{progress.phase.value}{attempt}" if progress.phase.value else "requested"


def requested(requests: Iterable[tuple[Ref, str]]) -> str:
    """Requests to controllers of others, by name and uid. Those of Metal3 are told of by their phases."""
    return ", ".join(f"{at.kind.kind} {uid}" for at, uid in requests if at.kind != METAL3_REMEDIATION)


def trace(what: str, value: str) -> Trace:
    """As it is written: long values are cut."""
    return Trace(what, value[:VALUE_MAX])
