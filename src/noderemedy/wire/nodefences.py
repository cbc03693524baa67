"""NodeFence and FenceRemediation: spec and status read from JSON, and written as JSON.

Called by the watch through `wire/objects.py`, and by `wire/requests.py`. Nothing here raises: garbage in a spec becomes
a line of `problems` with its field and its remedy, and a status that is not ours stops the flow, never starts it anew.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar

from noderemedy.model.checkstatus import SUCCEEDED
from noderemedy.model.fenceplan import Step
from noderemedy.model.fenceremediation import FencePhase, FenceRemediation, FenceStrategy, RequestStatus
from noderemedy.model.meta import Malformed
from noderemedy.model.node import NodeBackup
from noderemedy.model.nodefence import FenceEvidence, FenceJob, FenceSpec, FenceStatus, NodeFence, State
from noderemedy.model.run import Deed, Power, RunState
from noderemedy.model.time import Span
from noderemedy.wire import names, shapes
from noderemedy.wire.asked import asked, asked_for_machine
from noderemedy.wire.attestations import attested_in
from noderemedy.wire.backups import backup, backup_text
from noderemedy.wire.checkstatus import condition_body, number, read_conditions
from noderemedy.wire.fields import Fields
from noderemedy.wire.remediations import moment, read_free_by, text, whole, written
from noderemedy.wire.scalars import read_duration

OURS = (SUCCEEDED,)
TIMES_MAX = 100
DURATION_MAX = Span.seconds(86_400)
WITHOUT_SEVERITY = "v1beta2"  # conditions are those of Kubernetes itself
E = TypeVar("E", bound=Enum)
DEFAULTS = FenceSpec()


def node_fence(shape: shapes.RemediationShape) -> NodeFence:
    fields = Fields(shape.spec)
    notes = shape.metadata.annotations or {}
    node = fields.word("node", fields.get("node")) or ""
    spec = fence_spec(fields, node=node, cluster=optional_word(fields, "cluster"))
    status = read_status(shape.status, fields)
    return NodeFence(
        **asked(shape.metadata),
        spec=spec,
        status=status,
        attested=attested_in(notes),
        requested_by=notes.get(names.REQUESTED_BY, ""),
        problems=fields.problems,
    )


def fence_remediation(shape: shapes.RemediationShape) -> FenceRemediation:
    fields = Fields(shape.spec)
    return FenceRemediation(
        **asked_for_machine(shape.metadata),
        strategy=one_of(FenceStrategy, fields, "strategy", FenceStrategy.ESCALATE),
        spec=fence_spec(fields, power_management_delay=Span(0)),
        status=read_request_status(shape.status, fields),
        problems=fields.problems,
    )


# --- spec --------------------------------------------------------------------------------------------------------


def fence_spec(
    fields: Fields,
    *,
    node: str = "",
    cluster: str = "",
    power_management_delay: Span = DEFAULTS.power_management_delay,
) -> FenceSpec:
    return FenceSpec(
        node=node,
        cluster=cluster,
        step_retries=whole(fields, "stepRetries", DEFAULTS.step_retries, TIMES_MAX),
        max_restarts=whole(fields, "maxRestarts", DEFAULTS.max_restarts, TIMES_MAX),
        node_ready_timeout=duration(fields, "nodeReadyTimeout", DEFAULTS.node_ready_timeout),
        new_delay=duration(fields, "newDelay", DEFAULTS.new_delay),
        power_management_delay=duration(fields, "powerManagementDelay", power_management_delay),
        free_by=read_free_by(fields),
        even_if_ready=truth(fields, "evenIfReady"),
        stopped=truth(fields, "stopped"),
        ttl_after_final=duration(fields, "ttlAfterFinal", DEFAULTS.ttl_after_final),
    )


def duration(fields: Fields, path: str, otherwise: Span) -> Span:
    found = fields.get(path)
    if found is None:
        return otherwise
    span = read_duration(found) if isinstance(found, str) else Malformed("")
    if isinstance(span, Malformed) or span > DURATION_MAX:
        fields.wrong(path, found, "write a duration like 5m, at most 24h")
        return otherwise
    return span


def truth(fields: Fields, path: str) -> bool:
    found = fields.get(path)
    if found is not None and not isinstance(found, bool):
        fields.wrong(path, found, "write true or false")
    return found is True


def optional_word(fields: Fields, path: str) -> str:
    found = fields.get(path)
    return (fields.word(path, found) or "") if found not in (None, "") else ""


def one_of(kind: type[E], fields: Fields, path: str, otherwise: E) -> E:
    found = fields.get(path)
    known = {one.value: one for one in kind}
    if found is None or (isinstance(found, str) and found in known):
        return known[found] if found is not None else otherwise
    fields.wrong(path, found, f"write {' or '.join(known)}")
    return otherwise


def spec_body(spec: FenceSpec) -> dict[str, Any]:
    """What is asked for, without what is at its default: the kind fills that in."""
    return {
        "node": spec.node,
        **({"cluster": spec.cluster} if spec.cluster else {}),
        "stepRetries": spec.step_retries,
        "maxRestarts": spec.max_restarts,
        "nodeReadyTimeout": str(spec.node_ready_timeout),
        "newDelay": str(spec.new_delay),
        "powerManagementDelay": str(spec.power_management_delay),
        **({"freeBy": spec.free_by.value} if spec.free_by else {}),
        **({"evenIfReady": True} if spec.even_if_ready else {}),
        "ttlAfterFinal": str(spec.ttl_after_final),
    }


# --- status of a NodeFence ---------------------------------------------------------------------------------------


def read_status(tree: Any, fields: Fields) -> FenceStatus:
    """What a status says. A word that we do not know is a problem: nothing is begun anew over it."""
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    conditions, jobs = found.get("conditions"), found.get("jobs")
    return FenceStatus(
        state=known(State, found, "state", State.NEW, fields),
        step=known(Step, found, "step", Step.ISOLATION, fields),
        since=moment(found.get("since")),
        started=moment(found.get("started")),
        retries=max(0, number(found.get("retries"))),
        restarts=max(0, number(found.get("restarts"))),
        episode=text(found.get("episode")),
        node_uid=text(found.get("nodeUID")),
        boot_id=text(found.get("bootID")),
        jobs=tuple(job for job in map(read_job, jobs if isinstance(jobs, list) else []) if job is not None),
        evidence=read_evidence(found.get("evidence")),
        generation=number(found.get("observedGeneration")),
        conditions=read_conditions(conditions if isinstance(conditions, list) else [], OURS),
        attested_ahead=moment(found.get("attestedAhead")),
    )


def known(kind: type[E], found: dict[Any, Any], field: str, otherwise: E, fields: Fields) -> E:
    word = found.get(field) or otherwise.value
    members = {one.value: one for one in kind}
    if not isinstance(word, str) or word not in members:
        fields.note(f"status.{field}: {str(word)[:60]!r} is not one of ours; delete this object and make it anew")
        return otherwise
    return members[word]


def read_job(tree: Any) -> FenceJob | None:
    """One run as it was recorded; None for what is no record of ours."""
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    since = moment(found.get("since"))
    try:
        if not text(found.get("name")) or since is None:
            return None
        return FenceJob(
            id=found["name"],
            step=Step(found.get("step")),
            method=text(found.get("method")),
            deed=Deed(found.get("action")),
            since=since,
            patience=Span.seconds(number(found.get("patienceSeconds"))),
            device=text(found.get("device")),
            restart=number(found.get("restart")),
            attempt=number(found.get("attempt")),
            state=RunState(found.get("state")),
            power=Power(found.get("power", Power.UNKNOWN.value)),
            said=text(found.get("message")),
            is_lost=found.get("lost") is True,
            is_remembered=found.get("remembered") is True,
            was_on=found.get("wasOn") is True,
            token=number(found.get("token")),
        )
    except ValueError:
        return None


def read_evidence(tree: Any) -> FenceEvidence:
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    kept = backup(found["backup"]) if isinstance(found.get("backup"), str) else None
    return FenceEvidence(
        was_ready=found.get("wasReady") is True,
        host_uid=text(found.get("hostUid")),
        drained_since=moment(found.get("drainedSince")),
        off_at=moment(found.get("offAt")),
        proof=text(found.get("proof")),
        free_by=read_free_by(Fields(found)),
        tainted_at=moment(found.get("taintedAt")),
        freed_at=moment(found.get("freedAt")),
        freeing_since=moment(found.get("freeingSince")),
        storage_freed_at=moment(found.get("storageFreedAt")),
        backup=kept if isinstance(kept, NodeBackup) else None,
        on_since=moment(found.get("onSince")),
        heard_since=moment(found.get("heardSince")),
        provider_id=text(found.get("providerID")),
        machine=text(found.get("machine")),
    )


def status_body(status: FenceStatus, token: int) -> dict[str, Any]:
    """The whole status. Null takes a field away: what an earlier flow saw is no evidence for this one."""
    return {
        "state": status.state.value,
        "step": status.step.value,
        "since": written(status.since),
        "started": written(status.started),
        "retries": status.retries,
        "restarts": status.restarts,
        "episode": status.episode or None,
        "nodeUID": status.node_uid or None,
        "bootID": status.boot_id or None,
        "jobs": [job_body(job, token) for job in status.jobs],
        "evidence": evidence_body(status.evidence),
        "observedGeneration": status.generation,
        "conditions": [condition_body(one, WITHOUT_SEVERITY) for one in status.conditions],
        "attestedAhead": written(status.attested_ahead),
    }


def job_body(job: FenceJob, token: int) -> dict[str, Any]:
    return {
        "name": job.id,
        "step": job.step.value,
        "method": job.method,
        "action": job.deed.value,
        "since": str(job.since),
        "patienceSeconds": job.patience.ms // 1000,
        **({"device": job.device} if job.device else {}),
        "restart": job.restart,
        "attempt": job.attempt,
        "state": job.state.value,
        "power": job.power.value,
        **({"message": job.said} if job.said else {}),
        **({"lost": True} if job.is_lost else {}),
        **({"remembered": True} if job.is_remembered else {}),
        **({"wasOn": True} if job.was_on else {}),
        "token": job.token or token,
    }


def evidence_body(seen: FenceEvidence) -> dict[str, Any]:
    return {
        "wasReady": seen.was_ready or None,
        "hostUid": seen.host_uid or None,
        "drainedSince": written(seen.drained_since),
        "offAt": written(seen.off_at),
        "proof": seen.proof or None,
        "freeBy": seen.free_by.value if seen.free_by else None,
        "taintedAt": written(seen.tainted_at),
        "freedAt": written(seen.freed_at),
        "freeingSince": written(seen.freeing_since),
        "storageFreedAt": written(seen.storage_freed_at),
        "backup": backup_text(seen.backup) if seen.backup else None,
        "onSince": written(seen.on_since),
        "heardSince": written(seen.heard_since),
        "providerID": seen.provider_id or None,
        "machine": seen.machine or None,
    }


# --- status of a FenceRemediation --------------------------------------------------------------------------------


def read_request_status(tree: Any, fields: Fields) -> RequestStatus:
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    conditions = found.get("conditions")
    return RequestStatus(
        phase=known(FencePhase, found, "phase", FencePhase.NEW, fields),
        since=moment(found.get("phaseStartedAt")),
        machine_uid=text(found.get("machineUid")),
        fence=text(found.get("nodeFence")),
        fence_uid=text(found.get("nodeFenceUid")),
        state=text(found.get("state")),
        step=text(found.get("step")),
        generation=number(found.get("observedGeneration")),
        conditions=read_conditions(conditions if isinstance(conditions, list) else [], OURS),
    )


def request_status_body(status: RequestStatus) -> dict[str, Any]:
    return {
        "phase": status.phase.value,
        "phaseStartedAt": written(status.since),
        "machineUid": status.machine_uid or None,
        "nodeFence": status.fence or None,
        "nodeFenceUid": status.fence_uid or None,
        "state": status.state or None,
        "step": status.step or None,
        "observedGeneration": status.generation,
        "conditions": [condition_body(one, WITHOUT_SEVERITY) for one in status.conditions],
    }
