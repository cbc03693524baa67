"""Answers of the API to outcomes: done, surely not done, or nobody knows."""

from __future__ import annotations

import msgspec

from noderemedy.model.actions import (
    DELETIONS,
    READS,
    Action,
    Confirm,
    DeletePod,
    DetachVolume,
    EvictPod,
    ForgetReplacement,
    ListPods,
    ListStorage,
    ListVolumes,
    WriteFinalizers,
)
from noderemedy.model.outcome import Done, Effect, Failed, Outcome, Seen, Unknown
from noderemedy.model.time import Mono
from noderemedy.model.workload import KeptPod, kept_at
from noderemedy.wire.attachments import volumes_of_node
from noderemedy.wire.http import Answer
from noderemedy.wire.objects import Undecodable, decode
from noderemedy.wire.pods import pods_of_node
from noderemedy.wire.scalars import UNREADABLE
from noderemedy.wire.storage import storage_of_node

CONFLICT, TOO_MANY, FORBIDDEN, UNAUTHORIZED, NOT_FOUND = 409, 429, 403, 401, 404
BUDGET = "DisruptionBudget"


class CauseShape(msgspec.Struct):
    """One field that the API objects to."""

    field: str = ""
    reason: str = ""
    message: str = ""


class DetailsShape(msgspec.Struct):
    """What an error is about."""

    name: str = ""  # of the object, if it is about one
    causes: list[CauseShape] = []


class StatusShape(msgspec.Struct):
    """The error that the API sends instead of an object."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    details: DetailsShape | None = None


def outcome(effect: Effect, answer: Answer, begun: Mono) -> Outcome:
    """How an effect ended, by what the API answered."""
    action = effect.action
    if isinstance(action, EvictPod | DeletePod | DetachVolume) and is_settled(answer):
        return Done(begun, kept(action, answer), date=answer.date)
    if 200 <= answer.status < 300:
        return _done(action, answer, begun)
    if answer.status == NOT_FOUND and isinstance(action, (Confirm, *DELETIONS)):
        return Done(begun, gone=True, date=answer.date)
    return _failed(action, answer)


def _done(action: Action, answer: Answer, begun: Mono) -> Outcome:
    if isinstance(action, DELETIONS) and status_of(answer).kind == "Status":
        return Done(begun, gone=True, date=answer.date)
    try:
        if isinstance(action, ListPods):
            return Done(begun, pods_of_node(action.ref, answer.body), date=answer.date)
        if isinstance(action, ListVolumes):
            return Done(begun, volumes_of_node(action.ref, answer.body), date=answer.date)
        if isinstance(action, ListStorage):
            return Done(begun, storage_of_node(action.ref, answer.body), date=answer.date)
        seen = decode(action.ref.kind, answer.body, action.ref.cluster)
        if isinstance(action, ForgetReplacement | WriteFinalizers) and seen.obj.deleting and not seen.obj.finalizers:
            return Done(begun, gone=True, date=answer.date)  # the answer is the last that there is of it
        return Done(begun, seen, date=answer.date)
    except Undecodable as error:
        # A write was applied all the same; what became of the object is the watch's news.
        return Failed(str(error), lasting=True) if isinstance(action, READS) else Done(begun, date=answer.date)


def is_settled(answer: Answer) -> bool:
    """Whether a removal needs no second thought: the pod goes, or is gone, or may not go now (its budget)."""
    if answer.status == TOO_MANY:
        details = status_of(answer).details
        return any(cause.reason == BUDGET for cause in details.causes) if details else False
    return answer.status < 300 or answer.status in (NOT_FOUND, CONFLICT)


def kept(action: Action, answer: Answer) -> Seen | None:
    """The pod that its budget keeps, and the words for it; None if it goes."""
    if answer.status != TOO_MANY:
        return None
    said = status_of(answer)
    causes = said.details.causes if said.details else []
    why = "; ".join(cause.message for cause in causes if cause.reason == BUDGET and cause.message) or said.message
    return Seen(kept_at(action.ref), "", "", KeptPod(why or "its disruption budget does not allow it"))


def _failed(action: Action, answer: Answer) -> Outcome:
    status, said = answer.status, status_of(answer)
    why = said.message or f"HTTP {status}"
    wished = answer.retry_after.ms if answer.retry_after else 0
    if status == CONFLICT or is_another_object(said):
        return Failed(why, conflict=True)
    if status in (FORBIDDEN, UNAUTHORIZED):
        remedy = f"grant this to the manager's service account (deploy/rbac), object {action.ref}"
        return Failed(f"{why}; {remedy}", lasting=True, retry_after_ms=wished)
    if status == TOO_MANY:
        return Failed(why, retry_after_ms=wished)
    if status >= 500:
        # The server may have done it before it broke, or the answer may be a proxy's: look.
        return Unknown(f"HTTP {status}: {why}")
    return Failed(f"HTTP {status}: {why}", conflict=status == NOT_FOUND, lasting=status != NOT_FOUND)


def is_another_object(said: StatusShape) -> bool:
    """A patch whose uid is not the object's is "invalid" (422) to the API: our view is old, no more."""
    return any(cause.field == "metadata.uid" for cause in said.details.causes) if said.details else False


def exists_already(answer: Answer) -> bool:
    """Whether a creation found its name taken. Not every 409 says that: where the update of a quota conflicts, the API
    server answers so, too, and has created nothing.
    """
    return answer.status == CONFLICT and status_of(answer).reason == "AlreadyExists"


def status_of(answer: Answer) -> StatusShape:
    """What the server says beside the number; empty where it says nothing of that kind (a proxy's page)."""
    try:
        return msgspec.json.decode(answer.body, type=StatusShape)
    except UNREADABLE:
        return StatusShape()
