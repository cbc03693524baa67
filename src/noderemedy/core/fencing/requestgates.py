"""The gates of a FenceRemediation, in order: `decide` stops at the first that blocks, `explain` lists them all.

Two things begin here: a fence, which asks budget and claim itself, and the end of a Machine, for which this room asks.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.core import conditions, keeping, leftalone
from noderemedy.core.claim import claimed
from noderemedy.core.fencing.requestview import RequestView, what_is_waited_for
from noderemedy.core.fencing.wellness import HEALTHY_FOR, is_whole, steady_at
from noderemedy.core.gates import (
    Blocked,
    budgeted_to_begin,
    nobody_left_it,
    nobody_paused,
    node_in_sight,
    passages,
)
from noderemedy.model.fenceremediation import FencePhase, FenceStrategy
from noderemedy.model.ids import FENCE_REMEDIATION, OPENSHIFT_MACHINE
from noderemedy.model.machineconditions import OWNER_REMEDIATED, WARNING, Graded
from noderemedy.model.reasons import (
    AnotherRemediation,
    FenceInvalid,
    RemediatedMachineMissing,
    WaitingForFence,
    WaitingForReady,
)
from noderemedy.model.room import Passage, Present
from noderemedy.model.time import Now

Gate = Callable[[RequestView, Now], Blocked | None]
ASKED = Graded(
    OWNER_REMEDIATED, "False", "WaitingForRemediation", "fencing by a FenceRemediation did not help", severity=WARNING
)


def request_is_valid(view: RequestView, now: Now) -> Blocked | None:
    problems = view.request.problems
    return Blocked(FenceInvalid(str(view.ref), "; ".join(problems))) if problems else None


def machine_is_there(view: RequestView, now: Now) -> Blocked | None:
    return None if view.machine is not None else Blocked(RemediatedMachineMissing(str(view.machine_at)))


def cluster_is_not_paused(view: RequestView, now: Now) -> Blocked | None:
    """`cluster.x-k8s.io/paused` on the request or its machine, or a paused Cluster: not a single write."""
    return nobody_left_it(leftalone.marked(view.ref, view.request.cluster_paused), view.left_alone)


def record_is_kept(view: RequestView, now: Now) -> Blocked | None:
    """One that goes on would write again and again what does not stay."""
    return None if view.request.is_ended else keeping.kept(FENCE_REMEDIATION, view.unkept)


def definition_is_known(view: RequestView, now: Now) -> Blocked | None:
    return keeping.known(FENCE_REMEDIATION, view.unkept)


def nobody_paused_it(view: RequestView, now: Now) -> Blocked | None:
    """`node-remedy.dev/paused` on the request, its Machine or the Node: nothing new starts."""
    of_machine, of_node = view.machine.paused if view.machine else None, view.node.paused if view.node else None
    carriers = ((view.ref, view.request.paused), (view.machine_at, of_machine), (view.node_at, of_node))
    return nobody_paused(now, *carriers)


def node_is_seen(view: RequestView, now: Now) -> Blocked | None:
    return node_in_sight(view.node_at.name, view.node_entry) if view.node_at is not None else None


def nobody_releases_it(view: RequestView, now: Now) -> Blocked | None:
    """Whoever deletes the fence of a request that stays wants the node as it is; once it is gone, that is told."""
    fence = view.fence if view.is_ours else None
    return Blocked(WaitingForFence(fence.spec.node, "released")) if fence is not None and fence.deleting else None


def nobody_goes_first(view: RequestView, now: Now) -> Blocked | None:
    return Blocked(AnotherRemediation(view.rival)) if view.rival else None


def fencing_cannot_help(view: RequestView, now: Now) -> Blocked | None:
    """A fence that was given up lives again when its node comes back by itself: it has a moment to call it so.

    A machine that got its node after the owner's turn was recorded has not been fenced at all.
    """
    fence, entry = view.fence, view.node_entry
    if view.node_at is not None and not view.request.status.fence:
        return Blocked(WaitingForFence(view.node_at.name, "not made yet"))
    if fence is not None and view.is_ours and not fence.is_given_up:
        return Blocked(WaitingForFence(fence.spec.node, fence.status.state.value))
    due = steady_at(entry, now) + HEALTHY_FOR if isinstance(entry, Present) and is_whole(entry.obj) else now.mono
    if view.node_at is None or due <= now.mono:
        return None
    return Blocked(WaitingForReady(view.node_at.name), now.wall + due.since(now.mono))


def budget_allows(view: RequestView, now: Now) -> Blocked | None:
    """For the owner's turn by itself: the grant of a check, or of a fence, may be of before a storm or a pause."""
    return budgeted_to_begin(view.answer, view.need, what_is_waited_for(view.request), now)


def one_repair_per_node(view: RequestView, now: Now) -> Blocked | None:
    """Nobody else is about it. Whom we delete we claim; an owner that is asked may want the claim for itself."""
    blocked = claimed(view.claim, now) if view.claim is not None else None
    is_free = blocked is not None and bool(blocked.actions)
    return None if is_free and not is_deleted_by_us(view) else blocked


def is_deleted_by_us(view: RequestView) -> bool:
    """On OpenShift nobody reads conditions: there the Machine itself is deleted."""
    return view.machine_at is not None and view.machine_at.kind == OPENSHIFT_MACHINE


GATES: tuple[Gate, ...] = (request_is_valid, machine_is_there, cluster_is_not_paused, record_is_kept)
BEFORE_THE_FENCE: tuple[Gate, ...] = (definition_is_known, nobody_paused_it)
BEFORE_THE_BUDGET: tuple[Gate, ...] = (
    *(nobody_goes_first, nobody_paused_it, node_is_seen),
    *(nobody_releases_it, fencing_cannot_help),
)
BEFORE_THE_OWNER: tuple[Gate, ...] = (*BEFORE_THE_BUDGET, budget_allows, one_repair_per_node)


def explain(view: RequestView, now: Now) -> tuple[Passage, ...]:
    """All gates before what comes next, for people; none where it is over or leaves."""
    if view.request.is_ended or view.request.deleting:
        return ()
    if not is_owners_turn(view):
        return passages((*GATES, *BEFORE_THE_FENCE), view, now)
    return passages((*GATES, *(() if is_owner_asked(view, now) else BEFORE_THE_OWNER)), view, now)


def is_owners_turn(view: RequestView) -> bool:
    """Whether fencing cannot help, and the owner of the machine is asked, or will be."""
    phase = view.request.status.phase
    has_no_node = phase is FencePhase.NEW and view.node_at is None
    is_given_up = phase is FencePhase.FENCING and view.is_ours and view.fence is not None and view.fence.is_given_up
    is_its_turn = phase is FencePhase.DELETING_MACHINE or has_no_node or is_given_up
    return is_its_turn and view.request.strategy is FenceStrategy.ESCALATE


def is_owner_asked(view: RequestView, now: Now) -> bool:
    """Whether the machine goes, or its owner has been asked, in whosever words: an owner tells of itself there."""
    machine, entry = view.machine, view.machine_entry
    if machine is None or not isinstance(entry, Present) or machine.deleting:
        return machine is not None and machine.deleting
    if view.machine_at is None or is_deleted_by_us(view):
        return False
    is_said = conditions.is_said(machine.told, ASKED)
    return is_said or conditions.write(view.machine_at, entry, (ASKED,), now) is None
