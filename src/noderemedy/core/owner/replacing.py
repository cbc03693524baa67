"""The reference owner (seed 003, story 2): drains, deletes and replaces a sick Machine that has no other owner.

Called by the engine for every Machine of Cluster API. It acts on OwnerRemediated=False alone, and only for Machines
that name us in `node-remedy.dev/owner`. In order: record, drain, record, delete; then the provider ends the instance;
then the Node goes, the successor is made, and the old Machine is let go.

Rule 1: the record and our finalizer are on the Machine before anything is done, and go last. So there is one
        successor, whoever crashes when.
Rule 2: up to the deletion everything is called off when the request is; after it everything is finished.
Rule 3: a Node goes only with a proof that its instance is gone, or by somebody else's hand.
"""

from __future__ import annotations

import hashlib

from msgspec.structs import replace

from noderemedy.core import resting
from noderemedy.core.gates import first, passages
from noderemedy.core.owner import aftermath, gates
from noderemedy.core.owner.drain import can_drain, drain, is_cordoned_by_us, node_guard, who_is_left, who_keeps
from noderemedy.core.owner.overdue import deletion, held, is_said_to_fail, taken_back, told
from noderemedy.core.owner.reading import confirm_first
from noderemedy.core.owner.view import FINALIZER, INDEXES, NAME, WATCHES, View, sees, wakes
from noderemedy.core.resting import Turn, turn
from noderemedy.core.slots import settled, soonest
from noderemedy.model.actions import (
    Action,
    ClaimRepair,
    Confirm,
    CordonNode,
    CreateMachine,
    DeleteMachine,
    DeleteNode,
    EvictPod,
    ForgetReplacement,
    Guard,
    ListPods,
    RecordReplacement,
    UncordonNode,
    WriteMachineConditions,
)
from noderemedy.model.budget import Granted, Need, need
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.ids import NODE
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    DeletingMachine,
    DrainOverdue,
    RepairStuck,
    ReplacementBegun,
    ReplacementCalledOff,
    ReplacementUnreadable,
)
from noderemedy.model.replacement import Replacement, Step
from noderemedy.model.room import Room
from noderemedy.model.time import Now, Wall


def decide(view: View, now: Now) -> Decision:
    """What to do for one Machine that waits for its owner, or is being replaced."""
    decision = stage(view, now)
    if decision == NOTHING:
        return NOTHING
    decision = settled(decision, view.need, now)
    return replace(decision, episode=hashlib.sha256(view.machine.uid.encode()).hexdigest()[:10])


def stage(view: View, now: Now) -> Decision:
    is_begun = view.machine.replacement is not None or FINALIZER in view.machine.finalizers
    if not is_begun:
        return begin(view, now) if view.is_asked and not view.machine.deleting else NOTHING
    if view.machine.deleting:
        return with_need(aftermath.after_deletion(view, now), view)
    if not view.is_asked or not view.is_ours:
        return call_off(view, now)
    return go_on(view, now)


# --- begin -------------------------------------------------------------------------------------------------------


def begin(view: View, now: Now) -> Decision:
    """All gates, then the record: the name of the successor, and our finalizer."""
    if blocked := first(gates.BEFORE_ASKING, view, now):
        return blocked.decision(now, resting.kept(waiting(view, Turn()), view.need))
    blocked = first(gates.BEFORE_BEGINNING, view, now)
    begun = Decision((record(view, now),), (ReplacementBegun(view.successor_at.name),))
    wanted = blocked.decision(now) if blocked else begun
    since, is_granted = view.asked_since, gates.budget(view, now) is None
    found, stands = resting.begin(wanted, view.need, since, now, view.ref.name, is_granted=is_granted)
    return replace(found, facts=(waiting(view, stands),))


def rest(view: View, stands: Turn) -> Decision:
    """Nothing is tried meanwhile, and a person has to look."""
    return Decision(because=(RepairStuck(view.ref.name),), wake_at=stands.rests_until)


def record(view: View, now: Now) -> RecordReplacement:
    """The first record; where nothing can be drained the drain is left out."""
    step = Step.DRAIN if can_drain(view) else Step.DELETE
    intent = Replacement(view.successor_at.name, now.wall, step)
    return RecordReplacement(view.ref, machine_guard(view), intent, (*view.keepers, FINALIZER))


def waiting(view: View, stands: Turn, again: Wall | None = None) -> Fact:
    """The need of what has not begun, and asks, is tried, or rests."""
    asks = need(view.ref, NAME, view.asked_since, is_running=False, node=view.node_at, begins=view.begins)
    return replace(stands, again=stands.again or again).upon(asks)


def running(view: View) -> Fact:
    return need(view.ref, NAME, view.asked_since, is_running=True, node=view.node_at)


def halted(view: View) -> Fact:
    """The need of what has begun and is held by more than the budget: a rest goes on, and who came last comes last."""
    before, found = view.need, running(view)
    assert isinstance(found.value, Need)
    rested_since = before.tried if before is not None and before.is_stuck else None
    again = before.again if before is not None else None
    return Fact(found.ref, replace(found.value, is_stuck=is_without_place(view), again=again, tried=rested_since))


# --- until the Machine is deleted --------------------------------------------------------------------------------


def go_on(view: View, now: Now) -> Decision:
    """The step that the record names."""
    if blocked := first(gates.BEFORE_ACTING, view, now):
        return blocked.decision(now, (halted(view),))
    if isinstance(view.machine.replacement, Malformed) or view.record is None:
        problem = view.machine.replacement.problem if isinstance(view.machine.replacement, Malformed) else "missing"
        return with_need(Decision((record(view, now),), (ReplacementUnreadable(problem),)), view)
    if view.record.step is Step.DRAIN:
        return with_need(draining(view, now), view)
    return deleting(view, now)


def draining(view: View, now: Now) -> Decision:
    """Empty the node; when it is empty, or nobody is there to empty it, write down that deletion comes next."""
    assert view.record is not None
    wanted = drain(view, now) if can_drain(view) else None
    if wanted is None:
        following = replace(view.record, step=Step.DELETE, at=now.wall)
        keep = RecordReplacement(view.ref, machine_guard(view), following, view.machine.finalizers)
        return Decision((keep,), (DeletingMachine(view.successor_at.name),))
    assert view.node_at is not None
    overdue = DrainOverdue(view.node_at.name, view.record.begun, who_is_left(view), who_keeps(view))
    return told(view, wanted, overdue, now)


def deleting(view: View, now: Now) -> Decision:
    """Read the request live, once more, and delete that very version of the Machine.

    Nothing is off yet, so this is a beginning: it waits in its place while the budget lets nothing begin. One that is
    refused for long gives its place back, rests and asks: otherwise all of them would go at once when whoever refuses
    them is mended.
    """
    assert view.record is not None
    if FINALIZER not in view.machine.finalizers:
        return with_need(Decision((record(view, now),), (ReplacementUnreadable("without its finalizer"),)), view)
    overdue, has_failed = deletion(view), is_said_to_fail(view)  # a successor knows by the words that it was tried
    blocked = gates.budget(view, now)
    stands = turn(view.need, view.record.begun, now, is_tried=blocked is None)
    asks = waiting(view, stands, again=now.wall if has_failed and stands.tried is None else None)
    if stands.is_rest:
        rests = rest(view, stands)
        return replace(held(rests, overdue, now) if has_failed else told(view, rests, overdue, now), facts=(asks,))
    if blocked:
        waits = blocked.decision(now, (asks,))
        return held(waits, overdue, now) if has_failed else waits
    asked = confirm_first(now, (view.ref, view.entry))
    reason = DeletingMachine(view.successor_at.name)
    wanted = asked or Decision((DeleteMachine(view.ref, machine_guard(view)),), (reason,))
    tried = None if has_failed or stands.tried is None else now.shown_at(stands.tried)
    tries = told(view, wanted, overdue, now, tried=tried)
    return replace(tries, wake_at=soonest(tries.wake_at, stands.due), facts=(asks,))


def call_off(view: View, now: Now) -> Decision:
    """The request is gone, or the machine is not ours any more: undo what we did, and forget it."""
    if blocked := gates.cluster_paused(view, now):
        return blocked.decision(now, (halted(view),))
    reason = ReplacementCalledOff()
    if view.node is not None and view.node_at is not None and is_cordoned_by_us(view.node):
        return Decision((UncordonNode(view.node_at, node_guard(view)),), (reason,))
    if back := taken_back(view, now):
        return Decision((back,), (reason,))
    return aftermath.forget(view, view.keepers, reason, now)


def with_need(decision: Decision, view: View) -> Decision:
    """A repair that runs is known to the budget until it is over."""
    return replace(decision, facts=(running(view), *decision.facts))


def is_without_place(view: View) -> bool:
    """Whether it asked for its deletion, or rested, and has no grant: it gets no place by being halted."""
    before = view.need
    is_waiting = before is not None and (before.is_stuck or (bool(before.begins) and not before.is_running))
    return is_waiting and not isinstance(view.answer, Granted)


def machine_guard(view: View) -> Guard:
    return Guard(view.machine.uid, view.entry.resource_version)


MAY: tuple[type[Action], ...] = (
    Confirm,
    ListPods,
    EvictPod,
    CordonNode,
    UncordonNode,
    RecordReplacement,
    ForgetReplacement,
    DeleteMachine,
    DeleteNode,
    CreateMachine,
    WriteMachineConditions,
    ClaimRepair,
)
ROOM = Room(
    name=NAME,
    watches=WATCHES,
    indexes=INDEXES,
    wakes=wakes,
    secondary=(NODE,),
    sees=sees,
    decide=decide,
    may=frozenset(MAY),
    explains=lambda view, now: passages(gates.GATES, view, now),
)
