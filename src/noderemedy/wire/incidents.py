"""Incidents: read from the API, and written as JSON. Times have whole seconds, texts are cut to what the schema bears.

Called by `wire/objects.py` and `wire/requests.py`. What is written is read back as the same value, or a record would be
written for ever; an answer of a person that cannot be read is `Malformed`, never an approval.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from noderemedy.model.ids import Kind, Ref
from noderemedy.model.incident import (
    Answer,
    Approval,
    Detection,
    Ending,
    Incident,
    PodSeen,
    Record,
    Step,
)
from noderemedy.model.meta import Malformed
from noderemedy.model.time import Wall
from noderemedy.wire import shapes
from noderemedy.wire.scalars import read_wall, wall

ANSWERS = ", ".join(answer.value for answer in Answer)
NODE_LABEL = "node-remedy.dev/node"
LABEL_MAX = 63
EMPTY = Record()


class Lenient(msgspec.Struct, rename="camel"):
    """Everything may be missing."""


class TargetShape(Lenient):
    """Which object is sick."""

    kind: str
    name: str
    cluster: str = ""
    group: str = ""
    namespace: str = ""
    uid: str = ""


class NodeShape(Lenient):
    """The node at detection."""

    name: str = ""
    uid: str = ""
    boot_id: str = msgspec.field(default="", name="bootID")


class StepShape(Lenient):
    """One step."""

    time: datetime
    room: str
    what: str
    value: str = ""
    evidence: str = ""
    versions: str = ""
    by: str = ""
    generation: int = 0


class PodShape(Lenient):
    """One pod."""

    name: str
    namespace: str = ""
    uid: str = ""
    owner: str = ""


class StatusShape(Lenient):
    """What happened."""

    steps: list[StepShape] = []
    pods: list[PodShape] = []
    pods_in_all: int | None = None
    outcome: Ending | None = None
    closed: datetime | None = None


class SpecShape(Lenient):
    """What was found, what had happened when the record was opened, and what a person answered."""

    target: TargetShape
    episode: str
    detected: datetime
    node: NodeShape | None = None
    check: str = ""
    signs: list[str] = []
    conditions: list[str] = []
    begun: StatusShape | None = None
    approval: Any = None


class IncidentShape(msgspec.Struct):
    """The whole object."""

    metadata: shapes.Metadata
    spec: SpecShape
    status: StatusShape | None = None


def incident(shape: IncidentShape) -> Incident:
    return Incident(
        uid=shape.metadata.uid,
        found=detection(shape.spec),
        record=told(shape),
        approval=approval(shape.spec.approval),
        deleting=shape.metadata.deletion_timestamp is not None,
    )


def detection(spec: SpecShape) -> Detection:
    target, node = spec.target, spec.node or NodeShape()
    return Detection(
        target=Ref(target.cluster, Kind(target.group, target.kind), target.namespace, target.name),
        target_uid=target.uid,
        episode=spec.episode,
        detected=wall(spec.detected),
        node=node.name,
        node_uid=node.uid,
        boot_id=node.boot_id,
        check=spec.check,
        signs=tuple(spec.signs),
        conditions=tuple(spec.conditions),
    )


def told(shape: IncidentShape) -> Record:
    """The status is whole whenever it was written; before that, what the record was opened with."""
    if shape.status is not None and shape.status != StatusShape():
        return record(shape.status)
    return open_still(record(shape.spec.begun or StatusShape()))


def record(status: StatusShape) -> Record:
    return Record(
        steps=tuple(step(one) for one in status.steps),
        pods=tuple(PodSeen(one.namespace, one.name, one.uid, one.owner) for one in status.pods),
        pods_in_all=status.pods_in_all,
        ending=status.outcome,
        closed=wall(status.closed) if status.closed else None,
    )


def step(one: StepShape) -> Step:
    """One that an older version wrote says nothing of who decided."""
    told = (one.room, one.what, one.value, one.evidence, one.versions)
    return Step(wall(one.time), *told, by=one.by, generation=one.generation)


def approval(tree: Any) -> Approval | Malformed | None:
    """What a person wrote: the schema lets nothing else through, but a schema can be edited as well."""
    if tree is None:
        return None
    fields = tree if isinstance(tree, dict) else {}
    word, until, by = fields.get("decision"), fields.get("until"), fields.get("by")
    if word not in [answer.value for answer in Answer]:
        return Malformed(f"spec.approval.decision: {str(word)[:80]!r} is none of {ANSWERS}")
    moment = read_wall(until) if isinstance(until, str) else None
    if isinstance(moment, Malformed):
        return Malformed(f"spec.approval.until: {moment.problem}")
    if word == Answer.SNOOZE.value and moment is None:
        return Malformed("spec.approval.until: snooze needs the time at which to ask again")
    return Approval(Answer(word), moment, by if isinstance(by, str) else "")


# --- writing -----------------------------------------------------------------------------------------------------


def incident_body(ref: Ref, version: str, found: Detection, begun: Record = EMPTY) -> dict[str, Any]:
    """The object to create: all that was found, and what has happened by now. What happens then is its status.

    A status cannot be created: with it, opening a record would take two writes.
    """
    labels = {NODE_LABEL: found.node} if found.node and len(found.node) <= LABEL_MAX else {}
    return {
        "apiVersion": f"{ref.kind.group}/{version}",
        "kind": ref.kind.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace, **({"labels": labels} if labels else {})},
        "spec": {**spec_body(found), **filled(begun=status_body(open_still(begun)))},
    }


def open_still(record: Record) -> Record:
    """How it ended is no part of how it began."""
    return msgspec.structs.replace(record, ending=None, closed=None)


def spec_body(found: Detection) -> dict[str, Any]:
    target = {
        "cluster": found.target.cluster,
        "group": found.target.kind.group,
        "kind": found.target.kind.kind,
        "namespace": found.target.namespace,
        "name": found.target.name,
        "uid": found.target_uid,
    }
    node = {"name": found.node, "uid": found.node_uid, "bootID": found.boot_id}
    return filled(
        target=filled(**target),
        node=filled(**node),
        episode=found.episode,
        detected=str(found.detected),
        check=found.check,
        signs=list(found.signs),
        conditions=list(found.conditions),
    )


def status_body(record: Record) -> dict[str, Any]:
    """The whole status, for a merge patch replaces lists."""
    last = record.steps[-1] if record.steps else None
    return filled(
        decided=moment(record.decided),
        last=(f"{last.what} {last.value}".strip() if last.value else f"{last.what} over") if last else "",
        steps=[step_body(step) for step in record.steps],
        pods=[filled(namespace=pod.namespace, name=pod.name, uid=pod.uid, owner=pod.owner) for pod in record.pods],
        podsInAll=record.pods_in_all,
        outcome=record.ending.value if record.ending else "",
        closed=moment(record.closed),
    )


def step_body(step: Step) -> dict[str, Any]:
    return filled(
        time=str(step.at),
        room=step.room,
        what=step.what,
        value=step.value,
        evidence=step.evidence,
        versions=step.versions,
        by=step.by,
        generation=step.generation or None,
    )


def moment(at: Wall | None) -> str:
    return str(at) if at else ""


def filled(**fields: Any) -> dict[str, Any]:
    """What there is to say: empty fields are left out."""
    return {name: value for name, value in fields.items() if value not in ("", None, [], {})}
