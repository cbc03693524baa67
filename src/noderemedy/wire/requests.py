"""Actions to requests, once for all programs; and answers to outcomes.

Every patch is a merge patch that repeats the guard's uid and resourceVersion, so that the API refuses it when the
object is another one or has moved on. Nothing is written outside our own keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import msgspec

from noderemedy.model.actions import (
    Action,
    AddRebootAnnotation,
    BackUpNode,
    ClaimRepair,
    Confirm,
    CordonNode,
    CreateJob,
    CreateMachine,
    CreateNodeFence,
    CreateRequest,
    DeleteMachine,
    DeleteNode,
    DeleteNodeFence,
    DeletePod,
    DeleteRequest,
    DescribeAgent,
    DetachVolume,
    DropBackup,
    DropClaim,
    DropIncident,
    EvictPod,
    ForgetReplacement,
    Guard,
    HoldHost,
    KeepDocument,
    ListPods,
    ListStorage,
    ListVolumes,
    MarkHostUnhealthy,
    MarkMachine,
    OpenIncident,
    PublishBudgetStatus,
    PublishCheckStatus,
    PublishFenceStatus,
    PublishNodeCondition,
    PublishRemediationStatus,
    PublishRequestStatus,
    RecordReplacement,
    RecordSight,
    ReleaseHost,
    RemoveRebootAnnotation,
    RemoveRemediationAnnotation,
    RestoreNode,
    StartRun,
    TaintOutOfService,
    UncordonNode,
    UnmarkHost,
    UntaintOutOfService,
    WriteFinalizers,
    WriteIncident,
    WriteLedger,
    WriteMachineConditions,
    WriteRemedyRecord,
)
from noderemedy.model.errors import Bug
from noderemedy.model.host import Hold
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.node import Taint
from noderemedy.wire import budgets, incidents, names, nodefences, verbs
from noderemedy.wire.backups import backup_text, taint_list
from noderemedy.wire.bookkeeping import claim_repair, write_ledger
from noderemedy.wire.checkstatus import status_body
from noderemedy.wire.documents import keep_document
from noderemedy.wire.http import ATTACHMENTS, PERSISTENT_VOLUMES, PODS, Request, Resource
from noderemedy.wire.machineconditions import conditions_body
from noderemedy.wire.nodes import naming
from noderemedy.wire.remediations import progress_body
from noderemedy.wire.remedies import create_job, record_notes
from noderemedy.wire.replacements import replacement_text, successor_body

Resources = Mapping[Kind, Resource]
HostAction = HoldHost | ReleaseHost | MarkHostUnhealthy | UnmarkHost
RemediationAction = (
    HostAction
    | TaintOutOfService
    | UntaintOutOfService
    | DeletePod
    | DetachVolume
    | WriteFinalizers
    | PublishRemediationStatus
)
FenceAction = CreateNodeFence | PublishFenceStatus | PublishRequestStatus | StartRun | PublishNodeCondition
RepairAction = (
    RemediationAction
    | FenceAction
    | AddRebootAnnotation
    | RecordSight
    | RemoveRebootAnnotation
    | BackUpNode
    | DropBackup
    | RemoveRemediationAnnotation
    | RestoreNode
    | EvictPod
    | RecordReplacement
    | ForgetReplacement
    | CordonNode
    | UncordonNode
    | CreateMachine
)


def render(action: Action, token: int, resources: Resources) -> Request:
    """The request that carries out an action, with the leader's token in every recorded intent."""
    match action:
        case Confirm(ref):
            return Request("GET", resources[ref.kind].path(ref.namespace, ref.name))
        case ListPods(ref):
            return Request("GET", PODS.path(), (("fieldSelector", f"spec.nodeName={ref.name}"),))
        case ListVolumes():
            return Request("GET", ATTACHMENTS.path())
        case ListStorage():
            return Request("GET", PERSISTENT_VOLUMES.path())
        case DescribeAgent():
            raise Bug("a fence agent is asked where it is installed, not through the API")
        case WriteLedger():
            return write_ledger(action, token, resources[action.ref.kind])
        case KeepDocument():
            return keep_document(action, resources[action.ref.kind])
        case WriteRemedyRecord(ref, guard):
            return annotate(ref, guard, record_notes(action), resources)
        case CreateJob():
            return create_job(action, token, resources[action.ref.kind])
        case ClaimRepair():
            return claim_repair(action, token, resources[action.ref.kind])
        case DropClaim(ref, guard):
            return verbs.delete(resources[ref.kind], ref.name, preconditions(guard), ref.namespace)
        case OpenIncident() | WriteIncident() | DropIncident():
            return keep_record(action, resources[action.ref.kind])
        case PublishBudgetStatus(ref, guard, counted):
            return patch_status(ref, guard, budgets.status_body(counted), resources[ref.kind])
        case PublishCheckStatus():
            return publish(action, resources[action.ref.kind])
        case WriteMachineConditions(ref, guard, current, older):
            status = conditions_body(current, older, resources[ref.kind].version)
            return patch_status(ref, guard, status, resources[ref.kind])
        case CreateRequest():
            return create_request(action, resources)
        case DeleteNode() | DeleteRequest() | DeleteMachine() | DeleteNodeFence():
            return delete(action, resources)
        case MarkMachine(ref, guard, check, at):
            notes = {names.NEEDS_REMEDIATION: names.MARKED_BY + check, names.ASKED_AT: str(at)}
            return annotate(ref, guard, notes, resources)
        case _:
            return render_repair(action, token, resources)


def render_repair(action: RepairAction, token: int, resources: Resources) -> Request:
    """The same for what the truth table and the reference owner do."""
    match action:
        case AddRebootAnnotation(ref, guard, hold):
            notes = {names.REBOOT: names.REBOOT_VALUE, names.HOLD: hold_text(hold, token)}
            return annotate(ref, guard, notes, resources)
        case RecordSight(ref, guard, hold):
            return annotate(ref, guard, {names.HOLD: hold_text(hold, token)}, resources)
        case RemoveRebootAnnotation(ref, guard):
            return annotate(ref, guard, {names.REBOOT: None, names.HOLD: None}, resources)
        case BackUpNode(ref, guard, backup, deleted_at):
            notes = {names.NODE_BACKUP: backup_text(backup), names.NODE_DELETED_AT: str(deleted_at)}
            return annotate(ref, guard, notes, resources)
        case DropBackup(ref, guard):
            return annotate(ref, guard, {names.NODE_BACKUP: None, names.NODE_DELETED_AT: None}, resources)
        case RemoveRemediationAnnotation(ref, guard):
            return annotate(ref, guard, {names.NEEDS_REMEDIATION: None}, resources)
        case RestoreNode():
            return restore(action, resources)
        case EvictPod(ref, guard):
            return verbs.evict(PODS, ref.name, ref.namespace, guard.uid)
        case RecordReplacement() | ForgetReplacement():
            return record(action, token, resources)
        case CordonNode(ref, guard):
            return cordon(ref, guard, True, resources)
        case UncordonNode(ref, guard):
            return cordon(ref, guard, None, resources)
        case CreateMachine():
            return create_machine(action, resources[action.ref.kind])
        case CreateNodeFence() | PublishFenceStatus() | PublishRequestStatus() | StartRun() | PublishNodeCondition():
            return render_fence(action, token, resources)
        case _:
            return render_remediation(action, token, resources)


def render_fence(action: FenceAction, token: int, resources: Resources) -> Request:
    """The same for what a NodeFence does. A run that is a process of ours never comes here: `manager/runs.py`."""
    match action:
        case CreateNodeFence(ref, spec, requested_by):
            notes = {"annotations": {names.REQUESTED_BY: requested_by}} if requested_by else {}
            frame = {"apiVersion": resources[ref.kind].api_version, "kind": ref.kind.kind}
            body = {**frame, "metadata": {"name": ref.name, **notes}, "spec": nodefences.spec_body(spec)}
            return verbs.create(resources[ref.kind], body, ref.namespace)
        case PublishFenceStatus(ref, guard, status):
            return patch_status(ref, guard, nodefences.status_body(status, token), resources[ref.kind])
        case PublishNodeCondition():
            return node_condition(action, resources[action.ref.kind])
        case PublishRequestStatus(ref, guard, told):
            return patch_status(ref, guard, nodefences.request_status_body(told), resources[ref.kind])
        case StartRun():
            raise Bug("a run is no request of the API: whoever carries it out must look for it first")
        case _:
            assert_never(action)


def delete(action: DeleteNode | DeleteRequest | DeleteMachine | DeleteNodeFence, resources: Resources) -> Request:
    ref = action.ref
    return verbs.delete(resources[ref.kind], ref.name, preconditions(action.guard), ref.namespace)


def render_remediation(action: RemediationAction, token: int, resources: Resources) -> Request:
    """The same for what a Metal3Remediation does."""
    match action:
        case PublishRemediationStatus(ref, guard, progress):
            return patch_status(ref, guard, progress_body(progress), resources[ref.kind])
        case WriteFinalizers(ref, guard, finalizers):
            return patch(ref, {"metadata": {**preconditions(guard), "finalizers": list(finalizers)}}, resources)
        case HoldHost() | ReleaseHost() | MarkHostUnhealthy() | UnmarkHost():
            return annotate(action.ref, action.guard, host_notes(action, token), resources)
        case TaintOutOfService(ref, guard, _, taints, by):
            mark = " ".join((by.room, by.owner, by.uid, by.boot_id)).strip()
            return taint_and_note(ref, guard, taints, mark, resources)
        case UntaintOutOfService(ref, guard, taints):
            return taint_and_note(ref, guard, taints, None, resources)
        case DeletePod(ref, guard):
            return verbs.delete(PODS, ref.name, {"uid": guard.uid}, ref.namespace, grace_seconds=0)
        case DetachVolume(ref, guard):
            return verbs.delete(ATTACHMENTS, ref.name, {"uid": guard.uid})
        case _:
            assert_never(action)


def annotate(
    ref: Ref,
    guard: Guard,
    notes: Mapping[str, str | None],
    resources: Resources,
    finalizers: tuple[str, ...] | None = None,
) -> Request:
    kept = {"finalizers": list(finalizers)} if finalizers is not None else {}
    return patch(ref, {"metadata": {**preconditions(guard), "annotations": dict(notes), **kept}}, resources)


def record(action: RecordReplacement | ForgetReplacement, token: int, resources: Resources) -> Request:
    text = replacement_text(action.record, token) if isinstance(action, RecordReplacement) else None
    return annotate(action.ref, action.guard, {names.REPLACEMENT: text}, resources, action.finalizers)


def create_machine(action: CreateMachine, resource: Resource) -> Request:
    body = successor_body(action.ref.name, action.ref.namespace, action.template, action.replaces)
    kind = {"apiVersion": resource.api_version, "kind": action.ref.kind.kind}
    return verbs.create(resource, {**kind, **body}, action.ref.namespace)


def cordon(ref: Ref, guard: Guard, is_cordoned: bool | None, resources: Resources) -> Request:
    metadata = {**preconditions(guard), "annotations": {names.CORDONED: names.OURS if is_cordoned else None}}
    return patch(ref, {"metadata": metadata, "spec": {"unschedulable": is_cordoned}}, resources)


def host_notes(action: HostAction, token: int) -> dict[str, str | None]:
    """What a Metal3Remediation writes on its host: hold and record come and go in one patch."""
    match action:
        case HoldHost():
            more = {"remediation": action.hold.owner, "poweredOn": action.hold.was_on}
            reboot, record = keys_of(action)
            return {reboot: names.REBOOT_VALUE, record: hold_text(action.hold, token, more)}
        case ReleaseHost():
            return dict.fromkeys(keys_of(action))
        case MarkHostUnhealthy():
            return dict.fromkeys((names.MARKS[name] for name in action.names), action.mark)
        case UnmarkHost():
            return dict.fromkeys(names.MARKS[name] for name in action.names)


def keys_of(action: HoldHost | ReleaseHost) -> tuple[str, str]:
    """Of the hold, and of the record beside it."""
    prefixes = (names.FENCE_REBOOT_FOR, names.FENCE_HOLD_FOR) if action.is_fence else (names.REBOOT_FOR, names.HOLD_FOR)
    return prefixes[0] + action.owner_uid, prefixes[1] + action.owner_uid


def patch(ref: Ref, body: dict[str, Any], resources: Resources) -> Request:
    return verbs.merge_patch(resources[ref.kind], ref.name, body, ref.namespace)


def preconditions(guard: Guard) -> dict[str, str]:
    version = {"resourceVersion": guard.resource_version} if guard.resource_version else {}
    return {"uid": guard.uid, **version}


def node_condition(action: PublishNodeCondition, resource: Resource) -> Request:
    """By server-side apply: a merge patch would replace the conditions of kubelet, too."""
    told = action.condition
    body = {
        "apiVersion": resource.api_version,
        "kind": action.ref.kind.kind,
        "metadata": {"name": action.ref.name, "uid": action.guard.uid},
        "status": {
            "conditions": [
                {
                    "type": told.type,
                    "status": told.status,
                    "reason": told.reason,
                    "message": naming(action.message, told.wrong),
                    "lastTransitionTime": str(told.since),
                }
            ]
        },
    }
    return verbs.apply(resource, action.ref.name, body, subresource="status", force=True)


def publish(action: PublishCheckStatus, resource: Resource) -> Request:
    return patch_status(action.ref, action.guard, status_body(action.status, resource.version), resource)


def patch_status(ref: Ref, guard: Guard, status: dict[str, Any], resource: Resource) -> Request:
    body = {"metadata": preconditions(guard), "status": status}
    return verbs.merge_patch(resource, ref.name, body, ref.namespace, "status")


def create_request(action: CreateRequest, resources: Resources) -> Request:
    """The template's words in our frame: name and namespace of the Machine, and exactly one owner."""
    resource, owner, template = resources[action.ref.kind], action.owner, action.template
    belongs = {names.CLUSTER_NAME: action.cluster_name} if action.cluster_name else {}
    origin = {names.CLONED_FROM: template.name, names.CLONED_FROM_KIND: str(template.kind)}
    metadata: dict[str, Any] = {
        "name": action.ref.name,
        "namespace": action.ref.namespace,
        "labels": {**dict(action.labels), **belongs},
        "annotations": {**dict(action.annotations), **origin},
        "ownerReferences": [
            {
                "apiVersion": resources[owner.kind].api_version,
                "kind": owner.kind.kind,
                "name": owner.name,
                "uid": action.owner_uid,
            }
        ],
    }
    frame = {"apiVersion": resource.api_version, "kind": action.ref.kind.kind, "metadata": metadata}
    return verbs.create(resource, {**msgspec.json.decode(action.body), **frame}, action.ref.namespace)


def keep_record(action: OpenIncident | WriteIncident | DropIncident, resource: Resource) -> Request:
    match action:
        case OpenIncident(ref, found, begun):
            return verbs.create(resource, incidents.incident_body(ref, resource.version, found, begun), ref.namespace)
        case WriteIncident(ref, guard, record):
            return patch_status(ref, guard, incidents.status_body(record), resource)
        case DropIncident(ref, guard):
            return verbs.delete(resource, ref.name, preconditions(guard), ref.namespace)


def restore(action: RestoreNode, resources: Resources) -> Request:
    metadata: dict[str, Any] = preconditions(action.guard)
    if action.labels:
        metadata["labels"] = dict(action.labels)
    if action.annotations:
        metadata["annotations"] = dict(action.annotations)
    spec: dict[str, Any] = {"taints": taint_list(action.taints)}
    if action.unschedulable:
        spec["unschedulable"] = True
    return patch(action.ref, {"metadata": metadata, "spec": spec}, resources)


def taint_and_note(
    ref: Ref, guard: Guard, taints: tuple[Taint, ...], mark: str | None, resources: Resources
) -> Request:
    """Both in one patch: a taint of ours without its mark would be taken for a person's."""
    metadata = {**preconditions(guard), "annotations": {names.OUT_OF_SERVICE_BY: mark}}
    return patch(ref, {"metadata": metadata, "spec": {"taints": taint_list(taints)}}, resources)


def hold_text(hold: Hold, token: int, more: Mapping[str, Any] | None = None) -> str:
    record = {"machineUid": hold.machine_uid, "since": str(hold.since), "token": token}
    node = {"nodeUid": hold.node_uid, "bootID": hold.boot_id} if hold.node_uid else {}
    seen = {"offAt": hold.off_at, "contradictedAt": hold.contradicted_at, "onAt": hold.on_at}
    told = {name: str(moment) for name, moment in seen.items() if moment is not None}
    return msgspec.json.encode({**record, **node, **told, **(more or {})}).decode()
