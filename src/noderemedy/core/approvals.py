"""The shared shelf: the open Incident of a target, and what a person answered in it.

A check with `node-remedy.dev/approval: required` starts no repair before somebody wrote `spec.approval` into the open
Incident of that target. The answer is to one incident: the next one asks again.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core.gates import Blocked
from noderemedy.model.ids import INCIDENT, Ref
from noderemedy.model.incident import Answer, Approval, Incident
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    ApprovalAwaited,
    ApprovalDenied,
    ApprovalSnoozed,
    ApprovalUnavailable,
    ApprovalUnreadable,
)
from noderemedy.model.room import Index, Present, Reader
from noderemedy.model.serving import is_served
from noderemedy.model.time import Now

BY_TARGET = "incidents by target"


class Asked(Struct, frozen=True):
    """What the approval gate sees: whether Incidents are kept at all, and the open one of the target."""

    is_kept: bool = True
    name: str = ""  # "": not written yet
    answer: Approval | Malformed | None = None


def place(target: Ref) -> str:
    return f"{target.cluster} {target.kind} {target}"


def opened(target: Ref) -> str:
    return f"open {place(target)}"


def _values(ref: Ref, incident: Incident) -> tuple[str, ...]:
    return (place(incident.found.target), *((opened(incident.found.target),) if incident.is_open else ()))


INDEXES: tuple[Index, ...] = (Index(BY_TARGET, INCIDENT, _values),)


def open_incident(target: Ref, reader: Reader, uid: str = "") -> tuple[Ref, Present] | None:
    """The open Incident of a target; the oldest name, should there ever be two.

    With a uid only that of this very object: another one of the same name has its own story, and its own answer.
    """
    for ref in reader.find(BY_TARGET, opened(target)):
        entry = reader.read(ref)
        if isinstance(entry, Present) and uid in ("", entry.obj.found.target_uid):
            return ref, entry
    return None


def asked(target: Ref, uid: str, reader: Reader) -> Asked:
    """What to ask the gate with."""
    found = open_incident(target, reader, uid)
    if found is None:
        return Asked(is_kept=is_served(INCIDENT, reader))
    ref, entry = found
    return Asked(True, ref.name, entry.obj.approval)


def unapproved(question: Asked, now: Now) -> Blocked | None:
    """Why a repair that needs approval may not start; None: somebody approved, and that still holds."""
    answer = question.answer
    if not question.is_kept:
        return Blocked(ApprovalUnavailable())
    if isinstance(answer, Malformed):
        return Blocked(ApprovalUnreadable(question.name, answer.problem))
    if answer is None or (answer.until is not None and answer.until <= now.wall and answer.answer is not Answer.DENY):
        return Blocked(ApprovalAwaited(question.name))
    match answer.answer:
        case Answer.APPROVE:
            return None
        case Answer.DENY:
            return Blocked(ApprovalDenied(question.name, answer.by))
        case Answer.SNOOZE:
            assert answer.until is not None, "a snooze without its end is not read"
            return Blocked(ApprovalSnoozed(question.name, answer.until, answer.by), answer.until)
