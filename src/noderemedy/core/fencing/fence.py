"""NodeFence: isolate a node, power it off, free what ran on it on proof, power it on, recover it (seed 002).

Called by the engine for every NodeFence. The automaton is data (`automaton.py`); here is what is done in each state.

Rule 1: record, act, observe. A run is in `status.jobs` before it begins; what came of it is seen on its `Run`.
Rule 2: nothing is freed without a proof from `core/safety.py`, made in that very decision.
Rule 3: one run at a time, and the end of one that was ordered is awaited, whatever else is wanted meanwhile (race R34).
Rule 4: whoever stops or deletes it gets a stated power state within a bound.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from noderemedy.core import foredated, slots
from noderemedy.core.fencing import devices, hostpower, leaving, recovery, relics, words
from noderemedy.core.fencing.erring import error
from noderemedy.core.fencing.gates import BEFORE_ANYTHING, BEFORE_LEAVING, explain
from noderemedy.core.fencing.isolation import new
from noderemedy.core.fencing.needs import needs
from noderemedy.core.fencing.patience import memory, pause
from noderemedy.core.fencing.power import power_management
from noderemedy.core.fencing.recovery import done
from noderemedy.core.fencing.relics import RelicView
from noderemedy.core.fencing.runs import open_run
from noderemedy.core.fencing.view import INDEXES, NAME, WATCHES, FenceView, sees, wakes
from noderemedy.core.gates import first
from noderemedy.model.actions import (
    ClaimRepair,
    Confirm,
    CordonNode,
    DeleteMachine,
    DeleteNode,
    DeleteNodeFence,
    DeletePod,
    DetachVolume,
    EvictPod,
    HoldHost,
    ListPods,
    ListStorage,
    ListVolumes,
    PublishFenceStatus,
    ReleaseHost,
    RestoreNode,
    StartRun,
    TaintOutOfService,
    UncordonNode,
    UntaintOutOfService,
    WriteFinalizers,
)
from noderemedy.model.budget import Need
from noderemedy.model.decision import Decision
from noderemedy.model.ids import HOST, Ref
from noderemedy.model.nodefence import State
from noderemedy.model.reasons import FenceExpires
from noderemedy.model.refusal import Refusal
from noderemedy.model.room import Present, Reader, Room
from noderemedy.model.time import Now

HARMLESS = {
    one.__name__
    for one in (PublishFenceStatus, WriteFinalizers, UncordonNode, UntaintOutOfService, RestoreNode, ReleaseHost)
}


def look(key: Ref, reader: Reader) -> FenceView | RelicView | None:
    """A NodeFence, or a host that is still held for one."""
    if key.kind != HOST:
        return sees(key, reader)
    entry = reader.read(key)
    return relics.see(key, entry, reader) if isinstance(entry, Present) else None


def decide(view: FenceView | RelicView, now: Now) -> Decision:
    if isinstance(view, RelicView):
        return relics.decide(view, now)
    void = words.void(view, now)
    record = words.record(view, void, now)
    view = words.without(view, void)
    decision, void = foredated.first_of_all(record, void, told(view, now), view.entry, now)
    because = (*decision.because, *words.complaint(view))
    asks = () if any(isinstance(fact.value, Need) for fact in decision.facts) else needs(view, now)
    facts = (*asks, *memory(view, now), *foredated.memory(view.ref, void), *decision.facts)
    whole = structs.replace(decision, because=because, episode=view.status.episode, facts=facts)
    return slots.settled(whole, view.need, now, harmless(view))


def harmless(view: FenceView) -> Refusal | None:
    """What the API refuses, if nothing goes off by it: such a fence may wait without a place, and go on without asking.

    Before power is back the next record may be a power-off's, and others who took the place would leave their nodes
    off, too, one by one; a flow that begins anew asks.
    """
    is_past = view.fence.deleting or view.status.state in (State.DONE, State.ERROR)
    is_lit = not hostpower.is_held(view) and not devices.unlit(view)
    refused = view.refusal
    return refused if is_past and is_lit and refused is not None and refused.action in HARMLESS else None


def told(view: FenceView, now: Now) -> Decision:
    """What is to be done: the run that was ordered, then whoever wants it to end, then what the state says."""
    if blocked := first(BEFORE_LEAVING if view.fence.deleting else BEFORE_ANYTHING, view, now):
        return blocked.decision(now)
    if under_way := ordered(view, now):
        return under_way
    if back := recovery.given_back(view):
        return back
    if view.fence.deleting:
        return leaving.released(view, now)
    if view.fence.spec.stopped and view.fence.is_begun and not view.fence.is_final:
        return leaving.stopped(view, now)
    return STATES[view.status.state](view, now)


def ordered(view: FenceView, now: Now) -> Decision | None:
    """The run that was ordered last: of an agent, or of the node's host; None if none is open."""
    job = next((one for one in view.status.jobs if one.is_open), None)
    return hostpower.go_on(view, job, now) if job is not None and hostpower.is_its(view, job) else open_run(view, now)


def final(view: FenceView, now: Now) -> Decision:
    """It stays for a while, for whoever wants to read it; the Incident keeps the record."""
    assert view.status.since is not None
    waits = pause(view, view.status.since, view.fence.spec.ttl_after_final, "the end of its life", now)
    return waits or Decision((DeleteNodeFence(view.ref, view.guard),), (FenceExpires(view.name),))


STATES: dict[State, Callable[[FenceView, Now], Decision]] = {
    State.NEW: new,
    State.RUNNING: power_management,
    State.DONE: done,
    State.FINAL: final,
    State.ERROR: error,
}


ROOM = Room(
    name=NAME,
    watches=WATCHES,
    indexes=INDEXES,
    wakes=wakes,
    sees=look,
    decide=decide,
    may=frozenset(
        {
            Confirm,
            ClaimRepair,
            CordonNode,
            DeleteMachine,
            DeleteNode,
            DeleteNodeFence,
            DeletePod,
            DetachVolume,
            EvictPod,
            HoldHost,
            ReleaseHost,
            ListPods,
            ListStorage,
            ListVolumes,
            PublishFenceStatus,
            RestoreNode,
            StartRun,
            TaintOutOfService,
            UncordonNode,
            UntaintOutOfService,
            WriteFinalizers,
        }
    ),
    explains=lambda view, now: () if isinstance(view, RelicView) else explain(view, now),
)
