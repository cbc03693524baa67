"""The gates of a NodeFence, in order: `decide` stops at the first that blocks, `explain` lists them all."""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.core import keeping
from noderemedy.core.claim import claimed
from noderemedy.core.fencing import hostpower
from noderemedy.core.fencing.view import NAME, FenceView, what_is_waited_for
from noderemedy.core.gates import (
    Blocked,
    budgeted_anew,
    budgeted_to_begin,
    nobody_left_it,
    nobody_paused,
    node_in_sight,
    passages,
)
from noderemedy.core.removers import remover_of
from noderemedy.model.ids import NODE_FENCE
from noderemedy.model.nodefence import State
from noderemedy.model.reasons import (
    CannotSeeNode,
    FencedNodeMissing,
    FenceInvalid,
    FencePlanBroken,
    FencePlanMissing,
    FencePlanPending,
    FenceStopped,
    HostUnreadable,
    LeftToOther,
    MachineDeleting,
    ObserverNew,
    WaitingForBudget,
)
from noderemedy.model.room import Passage, Unreadable
from noderemedy.model.time import MINUTE, Now

Gate = Callable[[FenceView, Now], Blocked | None]
CONTACT = MINUTE  # who has just come cannot tell how long a node has been silent


def fence_is_valid(view: FenceView, now: Now) -> Blocked | None:
    problems = view.fence.problems
    return Blocked(FenceInvalid(view.ref.name, "; ".join(problems))) if problems else None


def nobody_stopped_it(view: FenceView, now: Now) -> Blocked | None:
    return Blocked(FenceStopped(view.name)) if view.fence.spec.stopped else None


def nobody_paused_it(view: FenceView, now: Now) -> Blocked | None:
    """`node-remedy.dev/paused` on the NodeFence, the Node or its Machine: nothing new starts."""
    of_node, of_machine = view.node.paused if view.node else None, view.machine.paused if view.machine else None
    return nobody_paused(now, (view.ref, view.fence.paused), (view.node_at, of_node), (view.target, of_machine))


def cluster_is_not_paused(view: FenceView, now: Now) -> Blocked | None:
    """Not a single write then, wherever the fence is; what is off stays off (invariant S8). Nor where nobody knows yet
    whether a Machine, and with it a Cluster, is that of the node.
    """
    return Blocked(view.unplaced) if view.unplaced else nobody_left_it(view.left_alone)


def held_host_is_readable(view: FenceView, now: Now) -> Blocked | None:
    """Whether it is held, or off, nobody can tell otherwise, and nobody can release it: all else waits for that."""
    at, entry = view.host.at, view.host.entry
    if at is None or not isinstance(entry, Unreadable) or not hostpower.may_be_held(view):
        return None
    return Blocked(HostUnreadable(f"{at.namespace}/{at.name}", entry.problem))


def node_is_seen(view: FenceView, now: Now) -> Blocked | None:
    return node_in_sight(view.name, view.node_entry) if view.is_in_sight else Blocked(CannotSeeNode(view.name))


def node_is_there(view: FenceView, now: Now) -> Blocked | None:
    return None if view.node is not None else Blocked(FencedNodeMissing(view.name))


def plan_is_there(view: FenceView, now: Now) -> Blocked | None:
    return None if view.plan is not None else Blocked(FencePlanMissing(view.name))


def plan_is_sound(view: FenceView, now: Now) -> Blocked | None:
    """A plan with problems fences nothing: neither does an empty one (race R51)."""
    if view.plan is None:
        return None
    if view.plan.is_pending:
        return Blocked(FencePlanPending(view.name))
    if view.plan.problems:
        return Blocked(FencePlanBroken(view.name, str(view.plan.problems[0]), len(view.plan.problems)))
    if not view.plan.isolation or not view.plan.power_management:
        step = "isolation" if not view.plan.isolation else "power_management"
        return Blocked(FencePlanBroken(view.name, f"{view.plan.source}: {step} names no method", 1))
    return None


def nobody_removes_it(view: FenceView, now: Now) -> Blocked | None:
    """A node that somebody else is about to remove is left to them."""
    node = view.node
    if node is None:
        return None
    if view.machine is not None and view.machine.deleting:
        return Blocked(MachineDeleting())
    if node.deleting:
        return Blocked(LeftToOther(view.name, "whoever deletes its Node"))
    remover = remover_of(node)
    return Blocked(LeftToOther(view.name, remover)) if remover else None


def record_is_kept(view: FenceView, now: Now) -> Blocked | None:
    """What a run did, and what a node was, is proof later: of an older definition's fences nothing new is switched."""
    return keeping.sure(NODE_FENCE, view.unkept)


def document_lets_it_begin(view: FenceView, now: Now) -> Blocked | None:
    """The storm policies of the document that governs the node hold for fences, too, whoever asked for them."""
    if view.node is None or not view.is_governed:
        return None
    if view.permit is None:
        return Blocked(WaitingForBudget())
    reason = view.permit.closed or view.permit.forbids(view.node)
    return Blocked(reason) if reason else None


def not_parked(view: FenceView, now: Now) -> Blocked | None:
    """`parkAfter` of that document: a node that was repaired again and again is a person's business."""
    return Blocked(view.parked.parked, view.parked.until) if view.parked is not None else None


def observer_is_in_contact(view: FenceView, now: Now) -> Blocked | None:
    since = view.contact_since
    if since is not None and now.mono.since(since) >= CONTACT:
        return None
    until = now.wall + (CONTACT - now.mono.since(since)) if since is not None else None
    return Blocked(ObserverNew(CONTACT), until)


def its_turn(view: FenceView, now: Now) -> Blocked | None:
    """`oneAtATime` of that document."""
    reason = view.permit.waits(view.node_at) if view.permit is not None else None
    return Blocked(reason) if reason else None


def budget_allows(view: FenceView, now: Now) -> Blocked | None:
    """What begins asks, and what begins anew, also in a place of its own, which may be of before a storm or a pause.

    A repair that runs goes on.
    """
    if not view.fence.is_begun:
        return budgeted_anew(view.answer, view.need, NAME, now)
    if view.status.state is not State.ERROR:
        return None
    return budgeted_to_begin(view.answer, view.need, what_is_waited_for(view.fence), now)


def one_repair_per_node(view: FenceView, now: Now) -> Blocked | None:
    return claimed(view.claim, now)


BEFORE_LEAVING: tuple[Gate, ...] = (cluster_is_not_paused, held_host_is_readable)
BEFORE_ANYTHING: tuple[Gate, ...] = (*BEFORE_LEAVING, fence_is_valid, node_is_seen)
USABLE: tuple[Gate, ...] = (plan_is_there, plan_is_sound)
BEFORE_POWER_OFF: tuple[Gate, ...] = (
    *(record_is_kept, nobody_stopped_it, nobody_paused_it),
    *(nobody_removes_it, one_repair_per_node),
)
BEFORE_THE_PLAN: tuple[Gate, ...] = (
    cluster_is_not_paused,
    fence_is_valid,
    node_is_seen,
    nobody_stopped_it,
    nobody_paused_it,
    node_is_there,
)
BEFORE_THE_BUDGET: tuple[Gate, ...] = (
    *BEFORE_THE_PLAN,
    record_is_kept,
    *USABLE,
    nobody_removes_it,
    document_lets_it_begin,
    not_parked,
    observer_is_in_contact,
)
POLICIES: tuple[Gate, ...] = (document_lets_it_begin, its_turn)
BEFORE_ANEW: tuple[Gate, ...] = (
    *(record_is_kept, nobody_stopped_it, nobody_paused_it),
    *(nobody_removes_it, node_is_there, observer_is_in_contact),
    *POLICIES,
)
BEFORE_THE_START: tuple[Gate, ...] = (*BEFORE_THE_BUDGET, its_turn, budget_allows, one_repair_per_node)


def explain(view: FenceView, now: Now) -> tuple[Passage, ...]:
    """All gates between a NodeFence and its start, for people; none where it is over or leaves."""
    return () if view.fence.is_final or view.fence.deleting else passages(BEFORE_THE_START, view, now)
