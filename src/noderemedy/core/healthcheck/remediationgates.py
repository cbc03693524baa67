"""What must be so before a health check asks for a repair: an ordered list of small questions. Seeds 003, 004.

Used by the remediation room to decide and by `explain` to list. The order is that of the reasons' worth: what makes the
question meaningless comes first, what only takes time comes late, and the budget, which others share, comes last.
Those in `SILENT` also keep us from telling anything on the Machine.
"""

from __future__ import annotations

from noderemedy.core import leftalone
from noderemedy.core.approvals import unapproved
from noderemedy.core.claim import holder_name
from noderemedy.core.gates import Blocked, budgeted_anew, nobody_left_it, nobody_paused
from noderemedy.core.healthcheck.modes import Way, way_of
from noderemedy.core.healthcheck.remediationview import NAME, RemediationView
from noderemedy.core.safety import is_confirmed
from noderemedy.model.actions import Confirm
from noderemedy.model.healthcheck import HealthCheck, Healthy, Unhealthy
from noderemedy.model.host import Hold
from noderemedy.model.reasons import (
    CheckInvalid,
    CheckLeaving,
    CheckOfAnother,
    CheckPaused,
    ClaimedByOther,
    ClusterObjectPaused,
    ConfirmFirst,
    HoldLeft,
    HostExternallyProvisioned,
    InvalidCheckGoverns,
    LimitOfCheck,
    NoControllerOwner,
    ObserveOnly,
    ObserverNew,
    RequestNotOurs,
    TargetHealthy,
    TargetLeaving,
    TargetOfNobody,
    TargetSkipped,
)
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import Now, Span

OF_MARKS = "annotation"  # the room that power cycles what is marked


def check_is_valid(view: RemediationView, now: Now) -> Blocked | None:
    if view.governing is None:
        return unjudged(view)
    check = view.governing.check
    if check.deleting:
        return Blocked(CheckLeaving())
    return None if check.is_valid else Blocked(InvalidCheckGoverns(view.governing.at.name, check.trouble))


def unjudged(view: RemediationView) -> Blocked | None:
    """No check judges it: why the oldest one that means it does not; what is on the Machine is said by its own gate."""
    if not view.aside:
        return Blocked(TargetOfNobody())
    reason = view.aside[0].reason
    return Blocked(reason) if isinstance(reason, CheckInvalid | CheckLeaving) else None


def no_other_controller(view: RemediationView, now: Now) -> Blocked | None:
    governing = view.governing
    permit = governing.permit if governing else None
    return Blocked(CheckOfAnother(governing.at.name, permit.other)) if governing and permit and permit.other else None


def cluster_is_not_paused(view: RemediationView, now: Now) -> Blocked | None:
    """`cluster.x-k8s.io/paused`: the objects may be on their way to another cluster, so nothing is written at all."""
    pause, governing = leftalone.pause(view.at, view.machine, view.cluster), view.governing
    if governing is not None and governing.check.cluster_paused and not isinstance(pause, ClusterObjectPaused):
        return Blocked(CheckPaused(governing.at.in_words))
    return nobody_left_it(pause)


def machine_is_not_skipped(view: RemediationView, now: Now) -> Blocked | None:
    return Blocked(TargetSkipped()) if view.machine.skips_remediation else None


def nobody_paused_it(view: RemediationView, now: Now) -> Blocked | None:
    """`node-remedy.dev/paused` on the check, the Machine or the Node."""
    of_check = ((view.governing.at, view.governing.check.paused),) if view.governing else ()
    of_node = view.node.obj.paused if isinstance(view.node, Present) else None
    return nobody_paused(now, *of_check, (view.at, view.machine.paused), (view.node_at, of_node))


def check_may_act(view: RemediationView, now: Now) -> Blocked | None:
    governing = view.governing
    is_observing = governing is not None and governing.check.observes_only
    return Blocked(ObserveOnly(governing.at.name)) if governing and is_observing else None


def machine_stays(view: RemediationView, now: Now) -> Blocked | None:
    return Blocked(TargetLeaving()) if view.machine.deleting else None


def machine_is_unhealthy(view: RemediationView, now: Now) -> Blocked | None:
    verdict = view.governing.found.verdict if view.governing else None
    if verdict is None or isinstance(verdict, Unhealthy):
        return None
    if isinstance(verdict, Healthy):
        return Blocked(TargetHealthy())
    return Blocked(verdict.because[0], until=getattr(verdict, "until", None))


def limit_is_kept(view: RemediationView, now: Now) -> Blocked | None:
    """The check's own gate; without its answer it counts as closed."""
    if view.governing is None or (view.governing.permit is not None and view.governing.permit.is_open):
        return None
    at, found = view.governing.at.name, view.governing.counted
    if found is None:
        return Blocked(LimitOfCheck(at))
    return Blocked(LimitOfCheck(at, found.count.not_healthy, found.count.total, found.gate.limit))


def watched_long_enough(view: RemediationView, now: Now) -> Blocked | None:
    """Longer than the shortest timeout, without a gap: who has just come cannot tell who is sick."""
    needed = shortest_timeout(view.governing.check) if view.governing else Span(0)
    if view.contact_since is None:
        return Blocked(ObserverNew(needed))
    left = needed - now.mono.since(view.contact_since)
    return Blocked(ObserverNew(needed), until=now.wall + left) if left > Span(0) else None


def shortest_timeout(check: HealthCheck) -> Span:
    spans = [criterion.timeout for criterion in (*check.node_criteria, *check.machine_criteria)]
    if isinstance(check.startup_timeout, Span) and check.startup_timeout.ms:
        spans.append(check.startup_timeout)
    return min(spans, default=Span(0))


def no_hold_is_left(view: RemediationView, now: Now) -> Blocked | None:
    """A hold that nobody asks for any more goes first: a mark beside it would take over whatever that hold has seen."""
    host = view.host.obj if isinstance(view.host, Present) else None
    is_left = host is not None and isinstance(host.hold, Hold) and not view.machine.needs_remediation
    return Blocked(HoldLeft()) if is_left else None


def nobody_else_repairs_it(view: RemediationView, now: Now) -> Blocked | None:
    """One machine, one repair: whoever is asked may know nothing of claims. What ends it wakes us.

    A check that marks machines waits for no power cycle of a mark: that is its own, and two marks are one. A repair
    whose object cannot be read states nothing, and may be in the middle.
    """
    if view.unread is not None:
        return Blocked(RequestNotOurs(str(view.unread.at), f"cannot be read: {view.unread.problem}"))
    is_marking = view.governing is not None and way_of(view.governing.check, view.machine) is Way.ANNOTATION
    other = next((one for one in view.others if not (is_marking and one.room == OF_MARKS)), None)
    if other is None:
        return None
    return Blocked(ClaimedByOther((view.node_at or view.at).name, holder_name(other.room, other.target)))


def somebody_replaces_it(view: RemediationView, now: Now) -> Blocked | None:
    """What is to be deleted needs a controller owner, and a host that its provider gives to a new machine.

    Before the budget: what can never begin reserves nothing.
    """
    if view.governing is None or way_of(view.governing.check, view.machine) is not Way.DELETION:
        return None
    if view.machine.controller is None:
        return Blocked(NoControllerOwner())
    is_lost = isinstance(view.host, Present) and view.host.obj.externally_provisioned
    return Blocked(HostExternallyProvisioned(view.at.name)) if is_lost else None


def person_approved(view: RemediationView, now: Now) -> Blocked | None:
    """`node-remedy.dev/approval: required` on the check: somebody has to answer in the open Incident."""
    is_needed = view.governing is not None and view.governing.check.needs_approval
    return unapproved(view.asked, now) if is_needed else None


def budget_allows(view: RemediationView, now: Now) -> Blocked | None:
    return budgeted_anew(view.answer, view.need, NAME, now)


def node_is_read_live(view: RemediationView, now: Now) -> Blocked | None:
    """A watch that lags shows a node as sick that has long been well (invariant S9): what is judged is read once more.

    What the read shows is judged before this room looks again. A node out of sight is the verdict's business.
    """
    at, entry = view.node_at, view.node
    if at is None or not isinstance(entry, Present | Absent) or is_confirmed(entry, now):
        return None
    return Blocked(ConfirmFirst(str(at)), actions=(Confirm(at),))


SILENT = (check_is_valid, no_other_controller, cluster_is_not_paused, check_may_act)
BEFORE_BUDGET = (
    check_is_valid,
    no_other_controller,
    cluster_is_not_paused,
    machine_is_not_skipped,
    nobody_paused_it,
    check_may_act,
    machine_stays,
    machine_is_unhealthy,
    limit_is_kept,
    watched_long_enough,
    no_hold_is_left,
    nobody_else_repairs_it,
    somebody_replaces_it,
    person_approved,
)
AFTER_BUDGET = (budget_allows, node_is_read_live)
GATES = (*BEFORE_BUDGET, *AFTER_BUDGET)
# Those that can be answered where no check judges the machine: all others would pass, since nobody has asked.
WITHOUT_CHECK = (check_is_valid, cluster_is_not_paused, machine_is_not_skipped)
