"""The remedy room: one key per Node. Runs the remedies of its document when a threshold is reached. Seed 002.

Called by the engine whenever the node, its trouble, its document or its Job changes. All gates come before the first
remedy of an episode; from then on the record on the Node says how far it is (`chain.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from noderemedy.core import claim, machines, resting, traces
from noderemedy.core.episodes import episode
from noderemedy.core.gates import first, passages
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.remedy import chain, facts, gates, jobs
from noderemedy.core.remedy.cleaning import untaint
from noderemedy.core.remedy.facts import (
    ALL,
    ALL_NODES,
    BY_DOCUMENT,
    DOCUMENT,
    TROUBLE,
    RepairFact,
    config_map_of,
    node_of,
    repair_ref,
)
from noderemedy.core.remedy.fencing import is_former
from noderemedy.core.remedy.view import FENCING, FLOW, NAME, RemedyView, is_of_interest, sees
from noderemedy.core.slots import settled
from noderemedy.model.actions import (
    Action,
    ClaimRepair,
    Confirm,
    CreateJob,
    CreateNodeFence,
    DeleteNodeFence,
    DeletePod,
    DetachVolume,
    ListPods,
    ListVolumes,
    TaintOutOfService,
    UntaintOutOfService,
    WriteRemedyRecord,
)
from noderemedy.model.budget import ANSWER, NEED, Need, need
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.governing import PERMIT, REPEATS
from noderemedy.model.ids import CLUSTER, CONFIG_MAP, INCIDENT, JOB, LEASE, NODE, NODE_FENCE, SYSTEM, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.observer import OBSERVER
from noderemedy.model.pace import LEAVE
from noderemedy.model.reasons import RemedyRecordUnreadable
from noderemedy.model.remedy import Phase, RemedyRecord
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Index, Present, Reader, Room
from noderemedy.model.time import Now, Wall


def decide(view: RemedyView, now: Now) -> Decision:
    if isinstance(view.node.remedy, Malformed):
        return Decision(because=(RemedyRecordUnreadable(view.at.name, view.node.remedy.problem),))
    record = view.record
    if record is None:
        return begin(view, now)
    decision = halted(view) or chain.PHASES[record.phase](view, record, now)
    kept = (*decision.facts, *running_facts(view, record, decision, now))
    return in_turn(settled(replace(decision, facts=kept, episode=record.episode), view.need, now))


def halted(view: RemedyView) -> Decision | None:
    """Not a single write, wherever the chain is (invariant S8), nor while nobody knows whose node it is."""
    if view.unplaced:
        return Decision(because=(view.unplaced,))
    return Decision(because=(view.left_alone,)) if view.left_alone is not None else None


def begin(view: RemedyView, now: Now) -> Decision:
    """All gates; then the first remedy that is defined is written down, or rests if that is refused."""
    if view.trouble is None or not view.trouble.is_over:
        return NOTHING if halted(view) else untaint(view) or NOTHING
    if blocked := first(gates.BEFORE_TURN, view, now):
        return blocked.decision(now)
    assert view.document is not None
    named = episode(view.node.uid, view.node.boot_id, view.trouble.since)
    waits = Fact(repair_ref(view.at), RepairFact(view.document.at, view.trouble.since, is_running=False))
    first_record = blank(view, named, now)
    wanted = chain.order(view, first_record, 1, now)
    if not wanted.actions:
        return replace(wanted, episode=named)  # none of its remedies is defined
    blocked = first((gates.its_turn, gates.budget_allows, *chain.before(wanted)), view, now)
    found = asking(view, blocked.decision(now) if blocked else wanted, view.trouble.since, now)
    return in_turn(replace(found, facts=(waits, *found.facts), episode=named))


def asking(view: RemedyView, wanted: Decision, since: Wall, now: Now) -> Decision:
    """The first remedy as it stands with the budget: it asks, is tried, or rests from what the API refused for long.

    Who waits for its turn does not ask yet.
    """
    waits = first((gates.its_turn,), view, now) is not None
    is_granted = not waits and gates.budget_allows(view, now) is None
    found, stands = resting.begin(wanted, view.need, since, now, view.at.name, is_granted=is_granted)
    if waits and not stands.is_rest:
        return wanted
    asks = need(view.target, NAME, since, is_running=False, node=view.at)
    return replace(found, facts=(stands.upon(asks),))


def blank(view: RemedyView, named: str, now: Now) -> RemedyRecord:
    """The record before its first remedy. It is called exhausted: if none is defined, that is what it stays."""
    assert view.trouble is not None
    assert view.document is not None
    since, at = jobs.seconds(view.trouble.since), jobs.seconds(now.wall)
    return RemedyRecord(named, view.document.at.name, view.trouble.threshold, since, 0, "", Phase.EXHAUSTED, at)


def running_facts(view: RemedyView, record: RemedyRecord, decision: Decision, now: Now) -> tuple[Fact, ...]:
    """A chain that runs counts as in flight. One that is exhausted is a person's business, and in nobody's way."""
    seen = record.job if is_seen(view, record) else view.known.job_seen if view.known else ""
    freed = any(isinstance(action, DeletePod) for action in decision.actions)
    freed_at = now.mono if freed else view.known.freed_at if view.known else None
    document = Ref("", CONFIG_MAP, SYSTEM, record.document)
    is_running = record.phase is not Phase.EXHAUSTED
    repair = RepairFact(document, record.since, is_running, seen, freed_at)
    if not is_running:
        return ()
    is_fence = jobs.is_fence(record) and record.phase is not Phase.WAITING  # the next remedy may want the claim itself
    room, is_stuck = (FENCING, view.is_flow_stuck) if is_fence else (NAME, False)
    told = need(view.target, room, record.since, is_running=True, node=view.at, is_stuck=is_stuck)
    return (Fact(repair_ref(view.at), repair), told)


def in_turn(decision: Decision) -> Decision:
    """The same decision; a repair that is stuck is not only out of the budget's way, but out of its document's, too."""
    is_stuck = any(isinstance(fact.value, Need) and fact.value.is_stuck for fact in decision.facts)
    if not is_stuck:
        return decision
    told = [replace(one, value=replace(one.value, is_stuck=True)) if is_repair(one) else one for one in decision.facts]
    return replace(decision, facts=tuple(told))


def is_repair(fact: Fact) -> bool:
    return isinstance(fact.value, RepairFact)


def is_seen(view: RemedyView, record: RemedyRecord) -> bool:
    """Whether what runs the remedy is there; a fence flow of another episode is not what runs it."""
    if not isinstance(view.job, Present):
        return False
    return not jobs.is_fence(record) or not is_former(view.job.obj, record)


# --- what wakes it -----------------------------------------------------------------------------------------------


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """What a node has concerns itself; a document concerns all that are in trouble or in its hands."""
    if ref.kind == NODE:
        return (ref,) if not ref.cluster and (obj is None or is_of_interest(ref, obj, reader)) else ()
    if ref.kind in (TROUBLE, REPEATS):
        return (node_of(ref),)
    if ref.kind in (DOCUMENT, PERMIT):
        return in_hands_of(config_map_of(ref), reader)
    if ref.kind == NODE_FENCE:
        return (obj.spec.node_at,) if obj is not None and not obj.spec.cluster else ()
    if ref.kind == JOB:
        return (Ref("", NODE, "", obj.node),) if obj is not None and obj.node else ()
    if ref.kind in MACHINE_KINDS:
        return [at for at in nodes_of(ref, obj, reader) if is_in_sight(at, reader)]
    if ref.kind in (CLUSTER, REMOTE):
        nodes = (one for machine in machines.of_cluster(ref, reader) for one in target_nodes(machine, reader))
        return [at for at in nodes if is_in_sight(at, reader)]
    if ref.kind in (ANSWER, INCIDENT):
        target = None if obj is None else obj.target if ref.kind == ANSWER else obj.found.target
        return target_nodes(target, reader) if target is not None else ()
    if ref.kind == NEED:
        is_heeded = obj is not None and (obj.room == FLOW or not obj.is_claimant)  # a flow of ours, or a check's need
        return (obj.node,) if is_heeded and obj.node and not obj.node.cluster else ()
    if ref.kind == LEAVE:
        return (obj.asker,) if obj is not None and obj.room == NAME else ()
    if ref.kind == LEASE:
        needs = (reader.read(one) for one in reader.find(claim.BY_LEASE, ref.name))
        found = [one.obj for one in needs if isinstance(one, Present) and one.obj.room == NAME]
        return [one.node for one in found if one.node is not None]
    return map(node_of, reader.find(BY_DOCUMENT, ALL))  # the observer: all that are in trouble


def in_hands_of(document: Ref, reader: Reader) -> list[Ref]:
    troubled = map(node_of, reader.find(BY_DOCUMENT, facts.troubled(document)))
    recorded = reader.find(ALL_NODES, document.name)
    return sorted({*troubled, *recorded})


def is_in_sight(node: Ref, reader: Reader) -> bool:
    entry = reader.read(node)
    return isinstance(entry, Present) and is_of_interest(node, entry.obj, reader)


def nodes_of(ref: Ref, obj: Any, reader: Reader) -> tuple[Ref, ...]:
    at = machines.node_at(ref, obj, reader) if obj is not None else None
    return (at,) if at is not None and not at.cluster else ()


def target_nodes(target: Ref, reader: Reader) -> tuple[Ref, ...]:
    if target.kind == NODE:
        return () if target.cluster else (target,)
    entry = reader.read(target) if target.kind in MACHINE_KINDS else None
    return nodes_of(target, entry.obj, reader) if isinstance(entry, Present) else ()


MAY: tuple[type[Action], ...] = (
    *(Confirm, ListPods, ListVolumes, ClaimRepair, WriteRemedyRecord),
    *(CreateJob, CreateNodeFence, DeleteNodeFence),
    *(TaintOutOfService, UntaintOutOfService, DeletePod, DetachVolume),
)
INDEXES: tuple[Index, ...] = (*facts.INDEXES, *machines.INDEXES, *traces.INDEXES, *claim.INDEXES)
ROOM = Room(
    name=NAME,
    watches=(
        NODE,
        JOB,
        NODE_FENCE,
        LEASE,
        INCIDENT,
        *MACHINE_KINDS,
        CLUSTER,
        REMOTE,
        DOCUMENT,
        PERMIT,
        REPEATS,
        TROUBLE,
        ANSWER,
        NEED,
        LEAVE,
        OBSERVER,
    ),
    indexes=INDEXES,
    wakes=wakes,
    secondary=(*MACHINE_KINDS, CLUSTER, REMOTE),
    sees=sees,
    decide=decide,
    may=frozenset(MAY),
    explains=lambda view, now: passages(gates.GATES, view, now),
)
