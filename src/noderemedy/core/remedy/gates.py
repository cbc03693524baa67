"""What must be so before a remedy runs: an ordered list of small questions. Seed 002, with the storm policies.

Used by the remedy room to decide and by `explain` to list. All are asked before the first remedy of an episode,
`BEFORE_NEXT` before every further one: a chain that runs needs no new grant, but no remedy begins in a storm, and
nobody may pause it in vain.
"""

from __future__ import annotations

from noderemedy.core.approvals import unapproved
from noderemedy.core.claim import claimed, holder_name
from noderemedy.core.gates import Blocked, budgeted_anew, nobody_left_it, nobody_paused
from noderemedy.core.remedy.view import NAME, RemedyView
from noderemedy.core.removers import remover_of
from noderemedy.core.safety import is_confirmed
from noderemedy.model.actions import Confirm
from noderemedy.model.configuration import Configuration
from noderemedy.model.reasons import (
    ClaimedByOther,
    ConfirmFirst,
    DocumentGone,
    NodeBeingRemoved,
    ObserveOnly,
    ObserverNew,
    RemedyRuns,
    ThresholdNotReached,
    WaitingForBudget,
)
from noderemedy.model.time import Now, Span


def document_is_there(view: RemedyView, now: Now) -> Blocked | None:
    is_there = view.document is not None and view.threshold is not None
    return None if is_there else Blocked(DocumentGone(view.record.document if view.record else ""))


def nobody_paused_it(view: RemedyView, now: Now) -> Blocked | None:
    """`node-remedy.dev/paused` on the document, the Node or its Machine, or a pause of its Machine or Cluster; where
    nobody knows yet which Machine that is, it may be paused.
    """
    if view.unplaced:
        return Blocked(view.unplaced)
    machine, document = view.machine, view.document
    of_document = ((document.at, document.document.paused),) if document else ()
    carriers = (*of_document, (view.at, view.node.paused), (view.target, machine.paused if machine else None))
    return nobody_left_it(view.left_alone) or nobody_paused(now, *carriers)


def document_may_act(view: RemedyView, now: Now) -> Blocked | None:
    document = view.document
    is_observing = document is not None and document.document.observes_only
    return Blocked(ObserveOnly(document.at.name)) if document and is_observing else None


def nobody_removes_it(view: RemedyView, now: Now) -> Blocked | None:
    """A node that somebody is removing already is left to them."""
    if view.node.deleting:
        return Blocked(NodeBeingRemoved(view.at.name, "somebody who deleted the Node"))
    if view.machine is not None and view.machine.deleting:
        return Blocked(NodeBeingRemoved(view.at.name, "the owner of its Machine"))
    remover = remover_of(view.node)
    return Blocked(NodeBeingRemoved(view.at.name, remover)) if remover else None


def former_one_has_ended(view: RemedyView, now: Now) -> Blocked | None:
    """A Job that runs is never stopped, also where somebody took its record off: no other works beside it."""
    return Blocked(RemedyRuns(view.at_work[0].name)) if view.at_work else None


def no_check_has_asked(view: RemedyView, now: Now) -> Blocked | None:
    """A health check has asked somebody for this very repair, who may know nothing of claims; that has its time."""
    other = next((one for one in view.others if one.is_running and not one.is_claimant and not one.is_stuck), None)
    return Blocked(ClaimedByOther(view.at.name, holder_name(other.room, other.target))) if other else None


def threshold_is_reached(view: RemedyView, now: Now) -> Blocked | None:
    is_over = view.trouble is not None and view.trouble.is_over
    return None if is_over else Blocked(ThresholdNotReached())


def no_condition_forbids_it(view: RemedyView, now: Now) -> Blocked | None:
    """`skipWhenNodeCondition` of its document."""
    reason = view.permit.forbids(view.node) if view.permit is not None else None
    return Blocked(reason) if reason else None


def not_parked(view: RemedyView, now: Now) -> Blocked | None:
    """A node that was repaired again and again is a person's business."""
    return Blocked(view.parked.parked, view.parked.until) if view.parked is not None else None


def no_storm(view: RemedyView, now: Now) -> Blocked | None:
    """The document's own policy; without its answer it counts as closed."""
    if view.permit is None:
        return Blocked(WaitingForBudget())
    return Blocked(view.permit.closed) if view.permit.closed else None


def watched_long_enough(view: RemedyView, now: Now) -> Blocked | None:
    """Longer than the shortest period, without a gap: who has just come cannot tell who is sick."""
    needed = shortest_period(view.document.document.configuration) if view.document else Span(0)
    if view.contact_since is None:
        return Blocked(ObserverNew(needed))
    left = needed - now.mono.since(view.contact_since)
    return Blocked(ObserverNew(needed), until=now.wall + left) if left > Span(0) else None


def shortest_period(read: Configuration) -> Span:
    return min((one.period for one in read.thresholds if one.condition), default=Span(0))


def person_approved(view: RemedyView, now: Now) -> Blocked | None:
    is_needed = view.document is not None and view.document.document.needs_approval
    return unapproved(view.asked, now) if is_needed else None


def its_turn(view: RemedyView, now: Now) -> Blocked | None:
    reason = view.permit.waits(view.at) if view.permit is not None else None
    return Blocked(reason) if reason else None


def budget_allows(view: RemedyView, now: Now) -> Blocked | None:
    return budgeted_anew(view.answer, view.need, NAME, now)


def nobody_else_repairs_it(view: RemedyView, now: Now) -> Blocked | None:
    return claimed(view.claim, now) if view.claim is not None else None


def node_is_read_live(view: RemedyView, now: Now) -> Blocked | None:
    """A watch that lags shows a node as sick that has long been well: what is judged is read once more."""
    if is_confirmed(view.entry, now):
        return None
    return Blocked(ConfirmFirst(str(view.at)), actions=(Confirm(view.at),))


GOING_ON = (
    document_is_there,
    nobody_paused_it,
    document_may_act,
    nobody_removes_it,
    no_condition_forbids_it,
)
BEFORE_NEXT = (*GOING_ON, no_storm, watched_long_enough, former_one_has_ended)
BEFORE_TURN = (
    *GOING_ON,
    threshold_is_reached,
    not_parked,
    no_storm,
    watched_long_enough,
    former_one_has_ended,
    no_check_has_asked,
    person_approved,
)
GATES = (*BEFORE_TURN, its_turn, budget_allows, nobody_else_repairs_it, node_is_read_live)
