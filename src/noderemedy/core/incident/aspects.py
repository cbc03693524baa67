"""What of a target is noted: aspects of its repair, each with a value that changes rarely, and the evidence for it.

Every room puts what it does on objects of its own; a change of an aspect's value is a step of the record. So a step is
never lost to a restart, and never told twice. A new room adds its aspect here.

Rule: evidence is made of typed fields, never of other people's texts: no secret gets into a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from noderemedy.core import traces
from noderemedy.core.incident import deciders, remedies
from noderemedy.core.incident.observed import Decider, Observed, version
from noderemedy.core.incident.view import TargetView
from noderemedy.model import budget
from noderemedy.model.healthcheck import Healthy, NeedsLook, Unhealthy, Unjudged, Waiting
from noderemedy.model.host import Hold, Power
from noderemedy.model.incident import TEXT_MAX, Approval, Detection
from noderemedy.model.machineconditions import OURS
from noderemedy.model.node import NodeBackup
from noderemedy.model.remediation import Phase, Progress
from noderemedy.model.replacement import Replacement
from noderemedy.model.room import Absent, Present
from noderemedy.model.workload import FreeBy

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
TAINT = "taint out-of-service"
GONE = "gone"
# What was done, by us or for us; the rest is what was seen.
EFFECTS = frozenset(
    {
        *(traces.REQUEST, traces.HOLD, "backup", "pods", TAINT, *OURS),
        *(traces.EXTERNAL, traces.REPLACEMENT, traces.REMEDIATION, traces.HOLD_FOR, traces.INTENT),
        *remedies.EFFECTS,
    }
)


Known = Mapping[str, str]  # the value of each aspect that was noted last
Aspect = Callable[[TargetView, Known, Detection], tuple[Observed, ...]]


def verdict(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """Unhealthy or healthy; a target that waits is as it was found. What cannot be judged changes nothing."""
    if view.verdict is None and (view.care.is_sick or remedies.is_by_document(found)):
        return remedies.judged(view.care, known, found)
    if view.verdict is None:
        return (Observed("verdict", "verdict", "none", "no check selects this target any more"),) if found.check else ()
    match view.verdict.verdict:
        case Unhealthy(since, because):
            told = f"since {since}: {'; '.join(reason.note() for reason in because)}"
            return (Observed("verdict", "verdict", "unhealthy", told, by=view.check),)
        case Healthy():
            return (Observed("verdict", "verdict", "healthy", by=view.check),)
        case Waiting():
            waits = Observed("verdict", "verdict", "waiting", by=view.check)
            return (waits,) if view.is_sick and "verdict" in known else ()
        case Unjudged() | NeedsLook():
            return ()


def request(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """Seed 001: somebody marked the Machine."""
    assert view.machine is not None
    value = traces.MARKED if view.machine.needs_remediation else ""
    by = f"by check {view.machine.marked_by}" if value and view.machine.marked_by else ""
    is_its = view.check is not None and view.machine.marked_by == view.check.at.name
    who = view.check_then if value and is_its else None
    return (Observed("annotation", traces.REQUEST, value, by, version(view.at, view.entry), who),)


def hold(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """We hold the host off, for whom and since when."""
    if not isinstance(view.host_entry, Present):
        return ()
    versions = version(view.host_at, view.host_entry)
    record = view.host_entry.obj.hold
    if not view.host_entry.obj.held:
        return (Observed("annotation", traces.HOLD, versions=versions),)
    if not isinstance(record, Hold):
        return (Observed("annotation", traces.HOLD, traces.held(record), versions=versions),)
    evidence = f"for node {record.node_uid or 'none'} boot {record.boot_id or 'unknown'}, leadership {record.token}"
    return (Observed("annotation", traces.HOLD, traces.held(record), evidence, versions),)


def hold_for(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """The same for a Metal3Remediation, which has a hold of its own."""
    if view.host is None:
        return ()
    held = [record for _, record in view.host.held_for]
    since = [traces.held(one) for one in held]
    evidence = ", ".join(f"for Metal3Remediation {uid}" for uid, _ in view.host.held_for)
    versions = version(view.host_at, view.host_entry)
    is_its = view.remediation is not None and view.remediation.uid in [uid for uid, _ in view.host.held_for]
    by = asking(view) if is_its else None
    return (Observed("metal3-remediation", traces.HOLD_FOR, ", ".join(since), evidence, versions, by),)


def remediation(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """The phase of a Metal3Remediation, with the evidence that it gathered."""
    if view.remediation is None:
        return (Observed("metal3-remediation", traces.REMEDIATION),)
    progress = view.remediation.progress
    phase, evidence = traces.phase(progress), evidence_of(progress)
    return (Observed("metal3-remediation", traces.REMEDIATION, phase, evidence, view.remediation.uid, asking(view)),)


def asking(view: TargetView) -> Decider | None:
    """The Metal3Remediation; one that nobody has begun with is its check's, if it was made from a template."""
    if view.remediation is None:
        return None
    if view.remediation.progress.phase is not Phase.NEW:
        return deciders.remediation(view.at, view.remediation)
    return view.check_then if view.remediation.cloned_from else None


def pods(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """Its pods are deleted on a proof, one after the other; a Node or a taint tells of itself."""
    evidence = view.remediation.progress.evidence if view.remediation is not None else None
    if evidence is None or evidence.free_by is not FreeBy.PODS:
        return ()
    return (Observed("metal3-remediation", "pods", "deleted", evidence.proof, by=asking(view)),)


def evidence_of(progress: Progress) -> str:
    """What was seen and done in this attempt."""
    one = progress.evidence
    parts = {
        "node": one.node_uid,
        "boot": one.boot_id,
        "host": one.host_uid,
        "off at": one.off_at,
        "proof": one.proof,
        "freed by": one.free_by.value if one.free_by else "",
        "tainted at": one.tainted_at,
        "freed at": one.freed_at,
    }
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value)


def requests(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """Requests to controllers of others, made from templates."""
    if view.is_blind:
        return ()
    value = traces.requested((one.at, one.uid) for one in view.requests)
    by = view.check_then if any(one.is_made for one in view.requests) else None
    return (Observed("remediation", traces.EXTERNAL, value, by=by),)


def replacement(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """The reference owner drains, deletes and replaces the Machine."""
    assert view.machine is not None
    intent = view.machine.replacement
    if not isinstance(intent, Replacement):
        return (Observed("owner", traces.REPLACEMENT, "unreadable" if intent is not None else ""),)
    evidence = f"by Machine {intent.name}, decided at {intent.since}"
    return (Observed("owner", traces.REPLACEMENT, intent.step.value, evidence, version(view.at, view.entry)),)


def intents(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """What a room is about to do and could not be read off any object afterwards."""
    return tuple(
        Observed(one.room, traces.INTENT, one.intent, by=view.check if one.room == "remediation" else None)
        for one in view.intents
    )


def power(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """The power state that was read back, from the moment on at which we hold the host."""
    host = view.host
    if host is None or not (view.is_held or "hold" in known or "hold of the remediation" in known):
        return ()
    if host.power is Power.ON and "power" not in known:
        return ()
    evidence = f"host {host.uid}" + (f": {host.error}" if host.error else "")
    return (Observed("annotation", "power", host.power.value, evidence, version(view.host_at, view.host_entry)),)


def backup(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    assert view.machine is not None
    stored = view.machine.backup
    evidence = f"of node {stored.node_uid}" if isinstance(stored, NodeBackup) else ""
    value = "stored" if stored is not None else ""
    return (Observed("annotation", "backup", value, evidence, version(view.at, view.entry)),)


def deletion(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """When the Node was deleted by us: recorded on the Machine first."""
    assert view.machine is not None
    value = traces.deleted(view.machine.node_deleted_at)
    return (Observed("annotation", traces.DELETION, value, versions=version(view.at, view.entry)),)


def node(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """Which Node object, which boot: what is there at detection is no news. What cannot be seen changes nothing."""
    if view.node_at is None:
        return ()
    if view.node is None:
        return (Observed("node", "node", GONE),) if isinstance(view.node_entry, Absent) else ()
    same = (view.node.uid, view.node.boot_id) == (found.node_uid, found.boot_id) and "node" not in known
    value = "" if same else f"{view.node.uid} boot {view.node.boot_id or 'unknown'}"
    return (Observed("node", "node", value, versions=version(view.node_at, view.node_entry)),)


def taint(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """Out of service: the workload of the node was freed by it."""
    if view.node is None:
        return ()
    there = [f"{one.value}:{one.effect}" for one in view.node.taints if one.key == OUT_OF_SERVICE]
    versions = version(view.node_at, view.node_entry)
    return (Observed("freeing", TAINT, there[0] if there else "", "", versions, tainting(view) if there else None),)


def tainting(view: TargetView) -> Decider | None:
    """Who recorded that it would: the request, or the fence."""
    if view.remediation is not None and view.remediation.progress.evidence.tainted_at:
        return deciders.remediation(view.at, view.remediation)
    flow = view.care.fence
    return deciders.fence(flow) if flow is not None and flow.status.evidence.tainted_at else None


def conditions(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """What the owner of the Machine is asked for, or is told."""
    assert view.machine is not None
    told = {one.type: one for one in view.machine.conditions}
    false = {kind: told[kind] for kind in OURS if kind in told and told[kind].status == "False"}
    versions = version(view.at, view.entry)
    return tuple(
        Observed("remediation", kind, "False", _since(false[kind]), versions, teller(view, kind))
        if kind in false
        else Observed("remediation", kind, versions=versions)
        for kind in OURS
    )


def teller(view: TargetView, kind: str) -> Decider | None:
    assert view.machine is not None
    return deciders.teller(kind, view.at, view.machine, view.check_then, (view.remediation, view.fencing))


def _since(condition: object) -> str:
    since = getattr(condition, "since", None)
    return f"since {since}" if since else ""


def leaving(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    assert view.machine is not None
    value = "deleting" if view.machine.deleting else ""
    return (Observed("machine", "machine", value, versions=version(view.at, view.entry)),)


def grant(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """The budget's reservation, and while it is refused why."""
    match view.answer:
        case budget.Granted(_, at):
            then = deciders.of_trace(view.budget, view.has_watched)
            return (Observed("budget", "budget", f"granted at {at}", by=then),)
        case budget.Refused(_, reason):
            return (Observed("budget", "budget", type(reason).__name__, reason.note(), by=view.budget),)
        case None:
            return ()  # not asked any more, or not answered yet by a leader who has just come


def problems(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """What alarms of its document count."""
    return remedies.problems(view.care, known)


def cared_for(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    """Remedies and fence flows of its node."""
    return remedies.observed(view.care, view.has_watched)


def approval(view: TargetView, known: Known, found: Detection) -> tuple[Observed, ...]:
    answer = view.stored.approval if view.stored else None
    if not isinstance(answer, Approval):
        return (Observed("approval", "approval"),)
    by = f"by {answer.by}" if answer.by else ""
    until = f" until {answer.until}" if answer.until else ""
    return (Observed("approval", "approval", f"{answer.answer.value}{until}", by[:TEXT_MAX]),)


# In the order in which a repair goes, which is the order of the steps that one look finds.
ASPECTS: tuple[Aspect, ...] = (
    problems,
    verdict,
    approval,
    grant,
    conditions,
    request,
    requests,
    replacement,
    intents,
    cared_for,
    remediation,
    pods,
    hold,
    hold_for,
    power,
    backup,
    deletion,
    node,
    taint,
    leaving,
)
