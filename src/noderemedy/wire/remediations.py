"""Metal3Remediation: its spec and status read from JSON, its status written as JSON.

Called by the watch through `wire/objects.py`, and by `wire/requests.py`. Two shapes of the spec are read: the seeds'
(`strategy: reboot`), and CAPM3's (`strategy: {type: Reboot, retryLimit: 1, timeout: 10m}`), which reboots, then gives
the machine up. Nothing here raises: garbage in the spec becomes a line of `problems` with its field and its remedy.
"""

from __future__ import annotations

from typing import Any

from noderemedy.model.checkstatus import SUCCEEDED
from noderemedy.model.meta import Malformed
from noderemedy.model.remediation import Evidence, Metal3Remediation, Phase, Progress, Strategy
from noderemedy.model.time import Span, Wall
from noderemedy.model.workload import FreeBy
from noderemedy.wire import shapes
from noderemedy.wire.asked import asked_for_machine
from noderemedy.wire.attestations import attested_in
from noderemedy.wire.checkstatus import condition_body, number, read_conditions
from noderemedy.wire.fields import Fields, is_object
from noderemedy.wire.scalars import read_duration, read_wall

OURS = (SUCCEEDED,)
RETRIES_MAX = 100
SECONDS_MAX = 86_400
OFF_WITHIN, ON_WITHIN = 120, 600


def remediation(shape: shapes.RemediationShape) -> Metal3Remediation:
    fields = Fields(shape.spec)
    strategy, retries, on_within = plan_of(fields)
    progress = read_progress(shape.status, fields)
    return Metal3Remediation(
        **asked_for_machine(shape.metadata),
        strategy=strategy,
        retries=retries,
        off_within=seconds(fields, "powerOffTimeoutSeconds", OFF_WITHIN),
        on_within=on_within,
        free_by=read_free_by(fields),
        progress=progress,
        attested=attested_in(shape.metadata.annotations or {}),
        problems=fields.problems,
    )


# --- spec --------------------------------------------------------------------------------------------------------


def plan_of(fields: Fields) -> tuple[Strategy, int, Span]:
    """Strategy, retries and time to come back, in whichever shape they are written."""
    found = fields.get("strategy")
    if is_object(found):
        return as_capm3(fields)
    return (
        read_strategy(fields, found),
        whole(fields, "deleteAfterRetries", 1, RETRIES_MAX),
        seconds(fields, "powerOnTimeoutSeconds", ON_WITHIN),
    )


def as_capm3(fields: Fields) -> tuple[Strategy, int, Span]:
    """CAPM3 has one strategy: reboot so often, then let the owner replace the machine."""
    kind = fields.get("strategy.type")
    if kind not in (None, "Reboot"):
        fields.wrong("strategy.type", kind, "write Reboot")
    retries = whole(fields, "strategy.retryLimit", 1, RETRIES_MAX)
    text = fields.get("strategy.timeout")
    if text is None:
        return Strategy.ESCALATE, retries, seconds(fields, "strategy.timeoutSeconds", ON_WITHIN)
    span = read_duration(text) if isinstance(text, str) else Malformed("")
    if isinstance(span, Malformed):
        fields.wrong("strategy.timeout", text, "write a duration like 10m")
        span = Span.seconds(ON_WITHIN)
    return Strategy.ESCALATE, retries, span


def read_strategy(fields: Fields, found: Any) -> Strategy:
    known = {one.value: one for one in Strategy}
    if isinstance(found, str) and found in known:
        return known[found]
    if found is not None:
        fields.wrong("strategy", found, "write reboot or escalate")
    return Strategy.ESCALATE


def read_free_by(fields: Fields) -> FreeBy | None:
    found = fields.get("freeBy")
    known = {one.value: one for one in FreeBy}
    if found is None or (isinstance(found, str) and found in known):
        return known.get(found) if found else None
    fields.wrong("freeBy", found, "write taint, pods or node, or leave it out")
    return None


def whole(fields: Fields, path: str, otherwise: int, largest: int, smallest: int = 0) -> int:
    found, remedy = fields.get(path), f"write a number from {smallest} to {largest}"
    if found is None:
        return otherwise
    value = fields.whole(path, found, remedy)
    if isinstance(value, int) and not smallest <= value <= largest:
        fields.wrong(path, found, remedy)
    return value if isinstance(value, int) else otherwise


def seconds(fields: Fields, path: str, otherwise: int) -> Span:
    return Span.seconds(whole(fields, path, otherwise, SECONDS_MAX, smallest=1))


# --- status ------------------------------------------------------------------------------------------------------


def read_progress(tree: Any, fields: Fields) -> Progress:
    """What a status says. A phase that we do not know is a problem: nothing is begun anew over it."""
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    word = found.get("phase") or ""
    known = {one.value: one for one in Phase}
    if word not in known:
        fields.note(f"status.phase: {str(word)[:60]!r} is not a phase of ours; delete this object and make it anew")
    return Progress(
        phase=known.get(word, Phase.NEW) if isinstance(word, str) else Phase.NEW,
        since=moment(found.get("phaseStartedAt")),
        retry_count=max(0, number(found.get("retryCount"))),
        last_remediated=moment(found.get("lastRemediated")),
        evidence=read_evidence(found.get("evidence")),
        generation=number(found.get("observedGeneration")),
        conditions=read_conditions(found.get("conditions"), OURS),
        attested_ahead=moment(found.get("attestedAhead")),
    )


def read_evidence(tree: Any) -> Evidence:
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    known = {one.value: one for one in FreeBy}
    return Evidence(
        machine_uid=text(found.get("machineUid")),
        node_uid=text(found.get("nodeUid")),
        boot_id=text(found.get("bootID")),
        host_uid=text(found.get("hostUid")),
        off_at=moment(found.get("hostOffAt")),
        boot_read_at=moment(found.get("bootReadAt")),
        ready_since=moment(found.get("nodeReadySince")),
        proof=text(found.get("proof")),
        free_by=known.get(text(found.get("freedBy"))),
        tainted_at=moment(found.get("taintedAt")),
        freed_at=moment(found.get("freedAt")),
        contradicted_at=moment(found.get("contradictedAt")),
    )


def moment(value: Any) -> Wall | None:
    found = read_wall(value) if isinstance(value, str) else None
    return found if isinstance(found, Wall) else None


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def progress_body(progress: Progress) -> dict[str, Any]:
    """The whole status. Null takes a field away: what an earlier attempt saw is no evidence for this one."""
    seen = progress.evidence
    evidence = {
        "machineUid": seen.machine_uid or None,
        "nodeUid": seen.node_uid or None,
        "bootID": seen.boot_id or None,
        "hostUid": seen.host_uid or None,
        "hostOffAt": written(seen.off_at),
        "bootReadAt": written(seen.boot_read_at),
        "nodeReadySince": written(seen.ready_since),
        "proof": seen.proof or None,
        "freedBy": seen.free_by.value if seen.free_by else None,
        "taintedAt": written(seen.tainted_at),
        "freedAt": written(seen.freed_at),
        "contradictedAt": written(seen.contradicted_at),
    }
    return {
        "phase": progress.phase.value,
        "phaseStartedAt": written(progress.since),
        "retryCount": progress.retry_count,
        "lastRemediated": written(progress.last_remediated),
        "observedGeneration": progress.generation,
        "evidence": evidence,
        "conditions": [condition_body(one) for one in progress.conditions],
        "attestedAhead": written(progress.attested_ahead),
    }


def written(when: Wall | None) -> str | None:
    return str(when) if when else None
