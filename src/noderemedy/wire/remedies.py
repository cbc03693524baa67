"""Remedies on the wire: the record on a Node, both ways, and the Job that runs a remedy's pod.

Rule: a remedy never runs on the node that it repairs. Its pod may not choose that node whatever its own affinity says,
and it gets no toleration from us. What the pod must know stands in its environment, and the same in its annotations,
which it can read as a file (downward API).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.model.actions import CreateJob, WriteRemedyRecord
from noderemedy.model.meta import Malformed
from noderemedy.model.remedy import Job, JobState, Outcome, Phase, RemedyOrder, RemedyRecord
from noderemedy.model.time import Span
from noderemedy.wire import names, shapes, verbs
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.podtemplates import MOUNTS
from noderemedy.wire.scalars import read_json, wall

TOLD = "node-remedy-told"  # the volume by which a pod reads its own annotations
WHY_MAX = 200
# What was ended by a signal ran out of its time (or memory): it is not tried again. What had to leave its node is.
KILLED = (137, 143)  # exit codes of the two signals, in the order that the API wants
TRIED_AGAIN: list[dict[str, Any]] = [
    {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    {"action": "FailJob", "onExitCodes": {"operator": "In", "values": list(KILLED)}},
]
ENDS = {"Complete": JobState.SUCCEEDED, "Failed": JobState.FAILED}


class RecordShape(Struct, rename="camel", omit_defaults=True):
    """The JSON text of a record."""

    episode: str
    document: str
    threshold: str
    since: datetime
    number: int
    remedy: str
    phase: Phase
    at: datetime
    boot_id: str = msgspec.field(default="", name="bootID")
    job: str = ""
    outcome: Outcome | None = None
    freed_by: str = ""
    freed_boot: str = ""
    has_booted: bool = False


class JobCondition(Struct, rename="camel"):
    """A condition of a Job."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class JobStatus(Struct):
    """What the Job controller says."""

    conditions: list[JobCondition] | None = None


class JobShape(Struct):
    """A Job."""

    metadata: shapes.DatedMetadata
    status: JobStatus | None = None


# --- reading -----------------------------------------------------------------------------------------------------


def read_record(text: str) -> RemedyRecord | Malformed:
    shape = read_json(text, RecordShape)
    if isinstance(shape, Malformed):
        return shape
    return RemedyRecord(
        episode=shape.episode,
        document=shape.document,
        threshold=shape.threshold,
        since=wall(shape.since),
        number=shape.number,
        remedy=shape.remedy,
        phase=shape.phase,
        at=wall(shape.at),
        boot_id=shape.boot_id,
        job=shape.job,
        outcome=shape.outcome,
        freed_by=shape.freed_by,
        freed_boot=shape.freed_boot,
        has_booted=shape.has_booted,
    )


def job(shape: JobShape) -> Job:
    meta, notes = shape.metadata, shape.metadata.annotations or {}
    told = shape.status.conditions or [] if shape.status else []
    ended = next((one for one in told if one.type in ENDS and one.status == "True"), JobCondition())
    return Job(
        uid=meta.uid,
        state=ENDS.get(ended.type, JobState.RUNNING),
        why=": ".join(part for part in (ended.reason, ended.message) if part)[:WHY_MAX],
        ended=wall(ended.last_transition_time) if ended.last_transition_time else None,
        created=wall(meta.creation_timestamp) if meta.creation_timestamp else None,
        deleting=meta.deletion_timestamp is not None,
        node=notes.get(names.NODE, ""),
        episode=notes.get(names.EPISODE, ""),
        vouches_for=notes.get(names.VOUCHES_FOR, ""),
    )


# --- writing -----------------------------------------------------------------------------------------------------


def record_notes(action: WriteRemedyRecord) -> dict[str, str | None]:
    """The record, and what the seed wants to be seen on the Node; without a record all of it goes.

    When the node was repaired stays: events that happened before that are told for long after.
    """
    record = action.record
    remedied = {names.REMEDIED_AT: str(action.remedied_at)} if action.remedied_at else {}
    if record is None:
        return {**dict.fromkeys((names.REMEDY, names.REMEDIATION_TIMESTAMP, names.REMEDIATION_PODNAME)), **remedied}
    shown = {names.REMEDIATION_TIMESTAMP: str(record.at), names.REMEDIATION_PODNAME: record.job}
    return {names.REMEDY: record_text(record), **remedied, **(shown if record.job and record.outcome is None else {})}


def record_text(record: RemedyRecord) -> str:
    tree: dict[str, Any] = {
        "episode": record.episode,
        "document": record.document,
        "threshold": record.threshold,
        "since": str(record.since),
        "number": record.number,
        "remedy": record.remedy,
        "phase": record.phase.value,
        "at": str(record.at),
    }
    more = {
        "bootID": record.boot_id,
        "job": record.job,
        "outcome": record.outcome.value if record.outcome else "",
        "freedBy": record.freed_by,
        "freedBoot": record.freed_boot,
        "hasBooted": record.has_booted,
    }
    return msgspec.json.encode({**tree, **{key: value for key, value in more.items() if value}}).decode()


def create_job(action: CreateJob, token: int, resource: Resource) -> Request:
    """The Job of one order: bounded in time and tries, kept for a while for its logs.

    Its pod has the deadline: a kubelet ends it and keeps it, with its log. The Job has a later one, for a kubelet that
    is dead: at that the Job controller deletes the pod.
    """
    order, ref = action.order, action.ref
    told = described(order, token)
    template = msgspec.json.decode(order.pod.template)
    labels = {names.MANAGED_BY: names.OURS, names.JOB_FOR: "remedy"}
    notes = {names.EPISODE: order.episode, names.NODE: order.node, names.REMEDY_NAME: order.remedy}
    tree = {
        "apiVersion": resource.api_version,
        "kind": "Job",
        "metadata": {
            "name": ref.name,
            "namespace": ref.namespace,
            "labels": labels,
            "annotations": notes | ({names.VOUCHES_FOR: order.vouches_for} if order.vouches_for else {}),
        },
        "spec": {
            "activeDeadlineSeconds": seconds(order.pod.job_deadline),
            "backoffLimit": order.pod.retries,
            "podFailurePolicy": {"rules": TRIED_AGAIN},
            "podReplacementPolicy": "Failed",  # never two at a time
            "ttlSecondsAfterFinished": order.pod.kept.ms // 1000,
            "template": pod_template(template, order, told, labels),
        },
    }
    return verbs.create(resource, tree, ref.namespace)


def seconds(span: Span) -> int:
    return max(1, span.ms // 1000)


def described(order: RemedyOrder, token: int) -> dict[str, str]:
    """What a remedy pod is told: who is sick, and by what it can tell that it comes too late."""
    return {
        "NODE_NAME": order.node,
        "NODE_UID": order.node_uid,
        "NODE_BOOT_ID": order.boot_id,
        "NODE_ADDRESSES": ",".join(order.addresses),
        "PROVIDER_ID": order.provider_id,
        "EPISODE": order.episode,
        "REMEDY": order.remedy,
        "REMEDY_NUMBER": str(order.number),
        "THRESHOLD": order.threshold,
        "CONFIGURATION": order.document,
        "TOKEN": str(token),
        "NOT_AFTER": str(order.not_after),
    }


def pod_template(
    template: dict[str, Any], order: RemedyOrder, told: dict[str, str], labels: dict[str, str]
) -> dict[str, Any]:
    """Somebody's pod, with what it is told, on any node but the one that it repairs."""
    metadata, spec = template["metadata"], dict(template["spec"])
    notes = {f"{names.PREFIX}{key.lower().replace('_', '-')}": value for key, value in told.items()}
    variables = [{"name": key, "value": value} for key, value in told.items()]
    mount = {"name": TOLD, "mountPath": f"{MOUNTS}/node", "readOnly": True}
    for kind in ("initContainers", "containers"):
        if kind in spec:
            spec[kind] = [
                {**one, "env": [*one["env"], *variables], "volumeMounts": [*one["volumeMounts"], mount]}
                for one in spec[kind]
            ]
    items = [{"path": "annotations", "fieldRef": {"fieldPath": "metadata.annotations"}}]
    spec["volumes"] = [*spec["volumes"], {"name": TOLD, "downwardAPI": {"items": items}}]
    spec["affinity"] = elsewhere(spec.get("affinity"), order.node)
    spec["activeDeadlineSeconds"] = seconds(order.pod.deadline)
    return {
        "metadata": {
            "labels": {**metadata.get("labels", {}), **labels},
            "annotations": {**metadata.get("annotations", {}), **notes},
        },
        "spec": spec,
    }


def elsewhere(affinity: Any, node: str) -> dict[str, Any]:
    """The same wishes for a node, with one more: not this one. Terms are alternatives, so each must say so."""
    wanted = dict(affinity) if isinstance(affinity, dict) else {}
    of_node = dict(wanted.get("nodeAffinity") or {})
    required = (of_node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or [{}]
    never = {"key": "metadata.name", "operator": "NotIn", "values": [node]}
    terms = [{**term, "matchFields": [*(term.get("matchFields") or []), never]} for term in required]
    of_node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    return {**wanted, "nodeAffinity": of_node}
