"""The phase `freeing` of a Metal3Remediation: its node is off, and what ran on it may run elsewhere, on proof.

How is chosen once and recorded, with the proof's evidence, before anything is freed. Where there is no proof nothing
is freed, and the host is powered on again. A person's word is a proof in every phase: `words.py`.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import freeing, safety
from noderemedy.core.backup import back_up
from noderemedy.core.gates import first
from noderemedy.core.metal3 import contradiction, gates, patience, phases, words
from noderemedy.core.metal3.remediationgates import ATTENDED, NODE_SEEN
from noderemedy.core.metal3.remediationview import NAME, RemediationView
from noderemedy.core.metal3.steps import confirm_first, hold, is_held, publish, ready_since, wait
from noderemedy.core.metal3.waiting import for_finalizers
from noderemedy.model.actions import BackUpNode, DeleteNode, Guard
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Power
from noderemedy.model.node import Node, NodeBackup
from noderemedy.model.proof import Attested, PoweredOff
from noderemedy.model.reasons import (
    BackupFirst,
    FreeingOverdue,
    FreeingWorkload,
    NodeReplaced,
    NodeStillHeard,
    OffNotProven,
    ProvenFenced,
    ProvenOff,
)
from noderemedy.model.remediation import Evidence, Phase
from noderemedy.model.room import Present
from noderemedy.model.time import MINUTE, Now, Wall
from noderemedy.model.workload import FreeBy

Whole = PoweredOff | Attested  # what may free all of a node
READ_WITHIN = MINUTE


def begin_emptying(view: RemediationView, seen: Evidence, now: Now) -> Decision:
    """Record the phase; with how to free and the proof, where there is one already: that saves a write."""
    is_seen = first(NODE_SEEN, view, now) is None
    if asked := confirm_first(view, now, node=is_seen, host=True):
        return asked
    seen = structs.replace(seen, boot_read_at=now.wall if is_read_since_off(view) else None)
    proof = proof_of(view, seen, now) if is_seen else None
    way = freeing.way(view.work, view.remediation.free_by, now) if view.work is not None else None
    if view.work is None or proof is None or not isinstance(way, freeing.Way):
        return publish(view, phases.enter(view.remediation, Phase.FREEING, now, seen))
    entered = phases.enter(view.remediation, Phase.FREEING, now, chosen(seen, view.work, way.by, proof, now))
    return publish(view, entered, ProvenOff(view.host_name), *way.because)


def seen_off(view: RemediationView, now: Now) -> Evidence:
    """The boot that has ended is the last one that was seen: a node may have booted by itself on its way off."""
    evidence, node = view.remediation.progress.evidence, view.node
    if node is not None:
        evidence = structs.replace(evidence, node_uid=node.uid, boot_id=node.boot_id, ready_since=ready_since(node))
    return structs.replace(evidence, off_at=off_since(view, now), boot_read_at=None)


def is_read_since_off(view: RemediationView) -> bool:
    """Whether the last live read of the Node began after its host was seen off: no boot on its way off was missed."""
    assert view.machine is not None
    node, host = view.machine.node_entry, view.machine.host_entry
    return isinstance(node, Present) and isinstance(host, Present) and safety.is_read_since(node, [host.changed_at])


def off_since(view: RemediationView, now: Now) -> Wall:
    """Now; but who comes back after an hour finds a host that has been off since its time for that was over."""
    records = [one for one in view.host.holds_of(view.remediation.uid) if isinstance(one, Hold)]
    return min(now.wall, *(one.since + view.remediation.off_within for one in records)) if records else now.wall


def heeded(view: RemediationView, now: Now) -> Decision | None:
    """Begin on a person's word that the node is off, whatever its BMC says; None if there is none that counts."""
    if not words.is_news(view, now):
        return None
    if blocked := first(words.BEFORE_IT_COUNTS, view, now):
        return Decision(blocked.actions, (blocked.reason,)) if blocked.actions else None
    if asked := confirm_first(view, now, node=True, host=True):
        return asked
    proof = words.prove(view, now)
    if proof is None or view.work is None:
        return None
    seen = structs.replace(seen_off(view, now), freed_at=None)  # what was freed before was freed on no proof
    way = freeing.way(view.work, view.remediation.free_by, now)
    if isinstance(way, freeing.Step):
        return after(view, way, now)
    evidence = chosen(seen, view.work, way.by, proof, now)
    entered = phases.enter(view.remediation, Phase.FREEING, now, evidence)
    return publish(view, entered, ProvenFenced(view.node_name, evidence.proof), *way.because)


def proof_of(view: RemediationView, seen: Evidence, now: Now) -> Whole | None:
    """That the node cannot write; None: there is no node, or no proof."""
    assert view.machine is not None
    assert isinstance(view.machine.host_entry, Present)
    if view.work is None:
        return None
    off = safety.powered_off(view.work.node, view.machine.host_entry, now, view.remediation.uid, seen.off_at)
    is_mistaken = gates.host_is_not_mistaken(view.machine, now) is not None
    is_its_own = seen.contradicted_at is None and not is_mistaken  # else only a person knows
    return (off if is_its_own else None) or words.prove(view, now)


def emptying(view: RemediationView, now: Now) -> Decision:
    remediation = view.remediation
    if patience.is_overdue(view, now):
        return overdue(view, now)
    is_attested = words.word_of(view) is not None  # nobody waits for a host then
    if blocked := first(NODE_SEEN if is_attested else (*ATTENDED, *NODE_SEEN), view, now):
        return wait(view, now, blocked.reason)
    if is_replaced(view):
        return confirm_first(view, now, node=True, host=True) or replaced(view, now)
    if is_attested and not is_held(view):  # whatever its BMC does next, nothing boots there before all is free
        hindrance = words.hindered(view, now)
        return wait(view, now, *hindrance) if hindrance else hold(view, now)
    if view.work is not None and is_taken_out(view, view.work):
        return after(view, freeing.after_taint(view.work, now), now)
    if asked := confirm_first(view, now, node=True, host=True):
        return asked
    if view.work is None:
        return go_on(view, now)  # no node, no workload: a machine that never had one, or a Node that is gone
    proof = proof_of(view, remediation.progress.evidence, now)
    if proof is None:
        return unproven(view, view.work.node, now)
    if remediation.progress.evidence.free_by is None:
        return choose(view, view.work, proof, now)
    if remediation.progress.evidence.free_by is FreeBy.NODE:
        return delete_node(view, view.work, proof, now)
    return after(view, freed(view, view.work, proof, now), now)


def overdue(view: RemediationView, now: Now) -> Decision:
    """Its time is over, and power comes back. What speaks against its host is read live: that stays on record. Where
    nobody answers, no power-on waits for that for long."""
    since, due = view.remediation.progress.since, patience.due(view, now)
    assert since is not None
    assert due is not None
    is_heard = view.work is not None and view.work.node.is_heard and is_held_off(view)
    speaks = is_heard or contradiction.has_booted(view)
    asked = confirm_first(view, now, node=True, host=True) if speaks else None
    if asked and now.mono < due + READ_WITHIN:
        return structs.replace(asked, wake_at=due + READ_WITHIN)
    if speaks and not asked:
        return contradiction.go_on(view, now)
    return go_on(view, now, FreeingOverdue(view.node_name, since))


def unproven(view: RemediationView, node: Node, now: Now) -> Decision:
    """Why there is no proof, and what follows from that."""
    if is_held_off(view) and node.is_heard:
        return wait(view, now, NodeStillHeard(view.node_name))  # Kubernetes needs a moment to notice
    if is_held_off(view) and contradiction.has_outlived(view.remediation.progress.evidence, node, now):
        return contradiction.go_on(view, now)
    is_off = view.host.power is Power.OFF
    return go_on(view, now, *((OffNotProven(view.host_name),) if is_off else ()))


def is_held_off(view: RemediationView) -> bool:
    return view.host.power is Power.OFF and is_held(view)


def freed(view: RemediationView, work: freeing.Workload, proof: Whole, now: Now) -> freeing.Step:
    if view.remediation.progress.evidence.free_by is FreeBy.TAINT:
        return freeing.taint(work, NAME, view.ref, view.remediation.uid, proof, now)
    return freeing.by_pods(work, proof, now)


def is_replaced(view: RemediationView) -> bool:
    """Whether it is another Node than the one that the attempt is about, or another boot: no proof is about that."""
    evidence = view.remediation.progress.evidence
    if view.work is None:
        return False
    return (view.work.node.uid, view.work.node.boot_id) != (evidence.node_uid, evidence.boot_id)


def replaced(view: RemediationView, now: Now) -> Decision:
    """Nothing of it is freed. Where it may have come while its host was on, the next attempt is about it."""
    if contradiction.has_booted(view):
        return contradiction.go_on(view, now)
    return go_on(view, now, NodeReplaced(view.node_name))


def is_taken_out(view: RemediationView, work: freeing.Workload) -> bool:
    """Whether the taint that was chosen is there: what follows is Kubernetes' part."""
    return view.remediation.progress.evidence.free_by is FreeBy.TAINT and freeing.is_tainted(work.node)


def go_on(view: RemediationView, now: Now, *reasons: FreeingOverdue | NodeReplaced | OffNotProven) -> Decision:
    """To the next phase, whatever was freed."""
    return publish(view, phases.enter(view.remediation, Phase.POWER_ON, now), *reasons)


def choose(view: RemediationView, work: freeing.Workload, proof: Whole, now: Now) -> Decision:
    """How to free; or its pods have to be counted first."""
    way = freeing.way(work, view.remediation.free_by, now)
    if isinstance(way, freeing.Step):
        return after(view, way, now)
    evidence = chosen(view.remediation.progress.evidence, work, way.by, proof, now)
    return publish(view, phases.noted(view.remediation, evidence), ProvenOff(view.host_name), *way.because)


def chosen(old: Evidence, work: freeing.Workload, by: FreeBy, proof: Whole, now: Now) -> Evidence:
    """How to free and on which proof. A taint is ours only if it was not there before."""
    taints = by is FreeBy.TAINT and not freeing.is_tainted(work.node)
    return structs.replace(
        old,
        free_by=by,
        proof=proof.note(),
        tainted_at=now.wall if taints else old.tainted_at,
    )


def after(view: RemediationView, found: freeing.Step, now: Now) -> Decision:
    if found.is_done:
        evidence = structs.replace(view.remediation.progress.evidence, freed_at=now.wall)
        return publish(view, phases.enter(view.remediation, Phase.POWER_ON, now, evidence))
    waits = wait(view, now)
    wake_at = min((at for at in (found.wake_at, waits.wake_at) if at is not None), default=None)
    return Decision(found.actions, found.because, wake_at, facts=found.facts)


def delete_node(view: RemediationView, work: freeing.Workload, proof: Whole, now: Now) -> Decision:
    """The backup goes onto the Machine, as in seed 001: it outlives this object, and is restored from there."""
    of = view.machine
    assert of is not None
    node, machine = work.node, of.machine
    if node.deleting:
        return wait(view, now, *for_finalizers(of, work.node_at.name, now).because)
    earlier = machine.backup if isinstance(machine.backup, NodeBackup) else None
    wanted = back_up(node, earlier)
    if earlier != wanted or not isinstance(machine.node_deleted_at, Wall):
        store = BackUpNode(of.ref, Guard(machine.uid, of.entry.resource_version), wanted, now.wall)
        return Decision((store,), (BackupFirst(work.node_at.name),))
    if waits := freeing.held_back(work, now):
        return after(view, waits, now)
    deletion = DeleteNode(work.node_at, Guard(node.uid, work.version), node.boot_id, proof)
    return Decision((deletion,), (FreeingWorkload(work.node_at.name, FreeBy.NODE.value),))
