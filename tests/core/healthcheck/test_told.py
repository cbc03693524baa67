"""What the rooms of health checks found comes out of their decisions: what only a helper says is told to nobody."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, OPENSHIFT_MACHINE_AT, a_node, ago, later, unreadable
from tests.core.healthcheck.remediations import CHECK_AT, a_view, decide
from tests.core.healthcheck.targets import a_check, a_cluster, a_sick_node, a_target

from noderemedy.core.approvals import Asked
from noderemedy.core.claim import Claim, holder_name
from noderemedy.core.healthcheck import checks, verdicts
from noderemedy.core.healthcheck.verdicts import TargetView
from noderemedy.model.healthcheck import Criterion, Dialect, HealthCheck, Tally, Target, Window
from noderemedy.model.incident import Answer, Approval
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Condition
from noderemedy.model.reasons import (
    ApprovalSnoozed,
    ApprovalUnavailable,
    ApprovalUnreadable,
    ClaimUnreadable,
    ClusterNotReady,
    DeletionTimeUnreadable,
    MachineConditionPending,
    MachineFailed,
    Reason,
    RemediateAnnotated,
    TimestampAhead,
    TooFewUnhealthy,
)
from noderemedy.model.time import Span

CAPI, OPENSHIFT = Dialect.CAPI, Dialect.OPENSHIFT
DRAINED = Criterion("Drained", "False", Span.seconds(60))
SOON = later(60).wall

FOUND: list[tuple[Target, HealthCheck, Reason]] = [
    (a_target(a_node(), remediate=True), a_check(), RemediateAnnotated()),
    (a_target(a_node(), phase="Failed"), a_check(OPENSHIFT), MachineFailed()),
    (a_target(None, node_deleted_at=Malformed("garbage")), a_check(), DeletionTimeUnreadable("garbage")),
    (a_target(a_node(), cluster=a_cluster()), a_check(CAPI), ClusterNotReady("ControlPlaneInitialized")),
    (
        a_target(a_sick_node("Unknown", -60)),
        a_check(),
        TimestampAhead(f"condition Ready of node {NODE_AT.name}", ago(-60)),
    ),
    (
        a_target(a_node(), conditions=(Condition("Drained", "False", ago(10)),)),
        a_check(CAPI, machine_criteria=(DRAINED,)),
        MachineConditionPending("Drained", "False", ago(10), DRAINED.timeout),
    ),
]


@pytest.mark.parametrize(("target", "check", "reason"), FOUND)
def test_what_a_verdict_rests_on_is_told(target: Target, check: HealthCheck, reason: Reason) -> None:
    """By the room that judges, whatever the verdict is."""
    assert reason in verdicts.decide(TargetView(target, ((CHECK_AT, check),)), NOW).because


def test_a_window_that_has_not_begun_is_told() -> None:
    """One is sick, and repairs begin with the second."""
    view = checks.CheckView(CHECK_AT, a_check(window=Window(2, 4)), Tally(total=9, healthy=8, unhealthy=1), 0)

    assert (TooFewUnhealthy(1, 9, "[2-4]"),) == checks.decide(view, NOW).because


ASKED: list[tuple[Asked, Reason]] = [
    (Asked(True, "i", Approval(Answer.SNOOZE, SOON, "ann")), ApprovalSnoozed("i", SOON, "ann")),
    (Asked(True, "i", Malformed("garbage")), ApprovalUnreadable("i", "garbage")),
    (Asked(False), ApprovalUnavailable()),
]


@pytest.mark.parametrize(("asked", "reason"), ASKED)
def test_an_answer_that_keeps_a_repair_back_is_told(asked: Asked, reason: Reason) -> None:
    """By the room that would ask for the repair."""
    assert reason in decide(a_view(a_check(needs_approval=True), asked=asked)).because


def test_a_claim_that_cannot_be_read_is_told() -> None:
    """Nothing is deleted before somebody knows who repairs the node."""
    claim = Claim(NODE_AT, unreadable(), holder_name("remediation", OPENSHIFT_MACHINE_AT))
    decision = decide(replace(a_view(a_check(OPENSHIFT), machine={"phase": "Failed"}), claim=claim))

    assert ClaimUnreadable("node-remedy-system/repair-worker-0", "garbage") in decision.because
    assert () == decision.actions
