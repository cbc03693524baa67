"""Freeing what ran on a node that is off, on proof, and before it is powered on again.

How is chosen once and recorded, with the proof's evidence, before anything is freed. Where there is no proof nothing is
freed, and power comes back all the same.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import freeing, safety
from noderemedy.core.backup import back_up
from noderemedy.core.fencing import attempts, devices, hostpower, outliving, patience, runs
from noderemedy.core.fencing.gates import record_is_kept
from noderemedy.core.fencing.moves import confirm, noted
from noderemedy.core.fencing.view import NAME, FenceView
from noderemedy.core.fencing.words import prove, word_of
from noderemedy.model.actions import DeleteNode, Guard
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Step
from noderemedy.model.proof import Attested, FencedOff, PoweredOff, Subject
from noderemedy.model.reasons import (
    BackupFirst,
    DeviceMistaken,
    FenceFreeingOverdue,
    FenceProvesNothing,
    NodeFinalizing,
    PowerComesBack,
    ProvenFenced,
    Reason,
    RecordNotKept,
)
from noderemedy.model.room import Present
from noderemedy.model.time import MINUTE, Mono, Now, Wall
from noderemedy.model.workload import FreeBy

FREE_WITHIN = MINUTE * 5
STEP = Step.POWER_MANAGEMENT
Whole = FencedOff | PoweredOff | Attested  # what may free all of a node


def emptying(view: FenceView, now: Now) -> Decision:
    evidence, work = view.status.evidence, view.work
    if evidence.freed_at is not None:
        return go_on(view, now)
    if evidence.freeing_since is not None and now.mono >= free_until(view, evidence.freeing_since, now):
        return go_on(view, now, FenceFreeingOverdue(view.name, evidence.freeing_since))
    if work is None:
        return confirm(now, (view.node_at, view.node_entry)) or freed(view, now)
    if evidence.free_by is FreeBy.TAINT and freeing.is_tainted(work.node):
        return after(view, freeing.after_taint(work, now), now)
    found = proof_for(view, now)
    if not isinstance(found, Whole):
        return found
    if evidence.free_by is None or evidence.freeing_since is None:  # a flow that began anew has its own time for it
        return choose(view, work, found, now)
    if evidence.free_by is FreeBy.NODE:
        return delete_node(view, work, found, now)
    if evidence.free_by is FreeBy.TAINT:
        return after(view, freeing.taint(work, NAME, view.ref, view.fence.uid, found, now), now)
    return after(view, freeing.by_pods(work, found, now), now)


# --- the proof ---------------------------------------------------------------------------------------------------


def proof_for(view: FenceView, now: Now) -> Whole | Decision:
    """The proof; or what has to be asked first; or that there can be none, and power comes back."""
    node = (view.node_at, view.node_entry)
    assert isinstance(view.node_entry, Present)
    if blocked := record_is_kept(view, now):
        return unkept(view, blocked.reason, now)
    if word := word_of(view):
        return confirm(now, node) or prove(view, word, now) or go_on(view, now, FenceProvesNothing(view.name))
    if wrong := mistaken(view):
        return confirm(now, node) or go_on(view, now, DeviceMistaken(view.name, ", ".join(wrong)))
    methods, host = devices.powering(view), hostpower.method(view)
    if not methods and host is None:
        return go_on(view, now, FenceProvesNothing(view.name))
    if asking := attempts.ask(view, STEP, methods, now):
        return asking
    if asked := confirm(now, node, *([(view.host.at, view.host.entry)] if host and view.host.at else [])):
        return asked
    proofs = [*([by_devices(view, methods, now)] if methods else []), *([by_host(view, now)] if host else [])]
    if None in proofs:
        return go_on(view, now, FenceProvesNothing(view.name))
    return next(proof for proof in proofs if proof is not None)


def unkept(view: FenceView, reason: Reason, now: Now) -> Decision:
    """What a record would not keep frees nothing. Where nobody can tell that, power waits a while for who can."""
    since = view.status.evidence.off_at or view.status.since
    assert since is not None
    due = patience.due(view, since, FREE_WITHIN, now)
    if isinstance(reason, RecordNotKept) or now.mono >= due:
        return go_on(view, now, reason)
    return Decision((), (reason,), due)


def mistaken(view: FenceView) -> tuple[str, ...]:
    """The methods whose device a drill found to be another machine's: that it is off says nothing of this node."""
    return (*devices.mistaken(view, STEP), *hostpower.mistaken(view))


def by_devices(view: FenceView, methods: tuple[AgentMethod, ...], now: Now) -> FencedOff | None:
    assert isinstance(view.node_entry, Present)
    subject = Subject(view.status.node_uid, view.status.boot_id)
    answers = runs.last_answers(view, STEP, methods)
    return safety.fenced_off(view.node_entry, subject, answers, now, outliving.off_by(view))


def by_host(view: FenceView, now: Now) -> PoweredOff | None:
    """The host must be the node's, held by us and off; and the Node the boot that it is about, and silent."""
    assert isinstance(view.node_entry, Present)
    subject = Subject(view.status.node_uid, view.status.boot_id)
    is_silent = safety.is_subject(view.node_entry, subject, now) and not view.node_entry.obj.is_heard
    if not is_silent or not view.host.is_own or not isinstance(view.host.entry, Present):
        return None
    return safety.powered_off(view.node_entry.obj, view.host.entry, now, view.fence.uid, outliving.off_by(view))


# --- freeing -----------------------------------------------------------------------------------------------------


def choose(view: FenceView, work: freeing.Workload, proof: Whole, now: Now) -> Decision:
    """How to free and on which proof. A taint is ours only if it was not there before."""
    old = view.status.evidence
    way = freeing.way(work, FreeBy.NODE if is_terminated(view) else view.fence.spec.free_by, now)
    if isinstance(way, freeing.Step):
        return after(view, way, now)
    by = way.by
    taints = by is FreeBy.TAINT and not freeing.is_tainted(work.node)
    evidence = structs.replace(
        old,
        free_by=by,
        proof=proof.note(),
        freeing_since=now.wall,
        tainted_at=now.wall if taints else old.tainted_at,
    )
    return noted(view, evidence, ProvenFenced(view.name, evidence.proof), *way.because)


def free_until(view: FenceView, since: Wall, now: Now) -> Mono:
    """When what is not free by then stays, and power comes back."""
    due, last = (patience.due(view, since, span, now) for span in (FREE_WITHIN, freeing.PACED_WITHIN))
    return freeing.until(view.work, view.status.evidence.free_by, due, last, FREE_WITHIN)


def is_terminated(view: FenceView) -> bool:
    """Whether the instance is not to come back: its Node goes, too."""
    return view.plan is not None and view.plan.ends_instance


def after(view: FenceView, found: freeing.Step, now: Now) -> Decision:
    if found.is_done:
        return freed(view, now)
    evidence = view.status.evidence
    since = evidence.freeing_since
    due = free_until(view, since, now) if since else None
    wake_at = min((at for at in (found.wake_at, due) if at is not None), default=None)
    return Decision(found.actions, found.because, wake_at, facts=found.facts)


def delete_node(view: FenceView, work: freeing.Workload, proof: Whole, now: Now) -> Decision:
    """With a backup that lives in the NodeFence, and is given back to this instance alone."""
    evidence, node = view.status.evidence, work.node
    assert evidence.freeing_since is not None
    if node.deleting:
        due = patience.due(view, evidence.freeing_since, FREE_WITHIN, now)
        return Decision((), (NodeFinalizing(view.name),), due)
    wanted = back_up(node, evidence.backup)
    if evidence.backup != wanted:
        return noted(view, structs.replace(evidence, backup=wanted), BackupFirst(view.name))
    if waits := freeing.held_back(work, now):
        return after(view, waits, now)
    deletion = DeleteNode(work.node_at, Guard(node.uid, work.version), node.boot_id, proof)
    return Decision((deletion,), (ProvenFenced(view.name, evidence.proof),))


def freed(view: FenceView, now: Now) -> Decision:
    evidence = structs.replace(view.status.evidence, freed_at=now.wall, on_since=now.wall)
    return noted(view, evidence, PowerComesBack(view.name))


def go_on(view: FenceView, now: Now, *reasons: Reason) -> Decision:
    """Power comes back, whatever was freed."""
    return noted(view, structs.replace(view.status.evidence, on_since=now.wall), *reasons, PowerComesBack(view.name))
