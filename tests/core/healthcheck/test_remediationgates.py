"""Every gate before a repair: what closes it, with which reason, until when, and what it keeps quiet."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, a_hold, a_host, a_node, absent, later, present
from tests.core.external.test_lifecycle import a_request_view
from tests.core.healthcheck.remediations import CHECK_AT, SICK, TEMPLATE, WELL, a_view, decide, names, reasons
from tests.core.healthcheck.targets import FALSE, UNKNOWN, a_check

from noderemedy.core.gates import Blocked, first, passages
from noderemedy.core.healthcheck import remediationgates
from noderemedy.core.healthcheck.aside import Aside
from noderemedy.core.healthcheck.facts import GateFact
from noderemedy.core.healthcheck.remediation import ROOM
from noderemedy.core.healthcheck.remediationgates import GATES, SILENT, limit_is_kept
from noderemedy.core.healthcheck.remediationview import RemediationView, Unread
from noderemedy.model.budget import Need, Refused
from noderemedy.model.cluster import Cluster
from noderemedy.model.healthcheck import Criterion, Dialect, Gate, HealthCheck, Tally, Unjudged, Waiting
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.reasons import (
    CannotSeeNode,
    CheckInvalid,
    CheckLeaving,
    ClaimedByOther,
    LimitOfCheck,
    NodeStarting,
    WaitingForBudget,
)
from noderemedy.model.time import Mono, Span, Wall

OPENSHIFT = Dialect.OPENSHIFT
LATER = later(900).wall
FOR_NOW, FOR_EVER = Paused(LATER), Paused()
OVER = Paused(Wall(NOW.wall.ms - 1))
STARTING = Waiting(LATER, (NodeStarting(NOW.wall, Span(600_000)),))
UNSEEN = Unjudged((CannotSeeNode("worker-0"),))
OUTSIDE = present(replace(a_host(), externally_provisioned=True))
GIVEN_UP = {"phase": "Failed", "controller": None}  # past power cycling
FENCING, CYCLING = (Need(MACHINE_AT, room, NOW.wall, is_running=True) for room in ("node-fence", "annotation"))
NEW = Mono(NOW.mono.ms - 299_000)
INVALID, LEAVING = Aside(CHECK_AT, CheckInvalid("spec.x: no")), Aside(CHECK_AT, CheckLeaving())

# what is so, the gate that closes, its reason, until when
CLOSED: list[tuple[RemediationView, str, str, Wall | None]] = [
    (a_view(governing=None), "check is valid", "TargetOfNobody", None),
    # without a check that judges, as `sees` shows them: test_aside.py
    (a_view(governing=None, aside=(INVALID,)), "check is valid", "CheckInvalid", None),
    (a_view(governing=None, aside=(LEAVING, INVALID)), "check is valid", "CheckLeaving", None),
    (a_view(governing=None, machine={"cluster_paused": True}), "cluster is not paused", "ClusterPaused", None),
    (a_view(governing=None, machine={"skips_remediation": True}), "machine is not skipped", "TargetSkipped", None),
    # in the moment in which a verdict is older than what it was judged by
    (a_view(a_check(deleting=True)), "check is valid", "CheckLeaving", None),
    (a_view(a_check(problems=("spec.x: no",))), "check is valid", "InvalidCheckGoverns", None),
    (a_view(other="capi"), "no other controller", "CheckOfAnother", None),
    (a_view(cluster=Cluster("u", paused=True)), "cluster is not paused", "ClusterObjectPaused", None),
    (a_view(a_check(cluster_paused=True)), "cluster is not paused", "CheckPaused", None),
    (a_view(machine={"cluster_paused": True}), "cluster is not paused", "ClusterPaused", None),
    (a_view(machine={"skips_remediation": True}), "machine is not skipped", "TargetSkipped", None),
    (a_view(a_check(paused=FOR_NOW)), "nobody paused it", "PausedByPerson", LATER),
    (a_view(machine={"paused": FOR_EVER}), "nobody paused it", "PausedByPerson", None),
    (a_view(machine={"paused": Malformed("soon")}), "nobody paused it", "PauseUnreadable", None),
    (a_view(node=present(replace(a_node(), paused=FOR_NOW))), "nobody paused it", "PausedByPerson", LATER),
    (a_view(node=present(replace(a_node(), paused=Malformed("x")))), "nobody paused it", "PauseUnreadable", None),
    (a_view(a_check(observes_only=True)), "check may act", "ObserveOnly", None),
    (a_view(machine={"deleting": True}), "machine stays", "TargetLeaving", None),
    (a_view(verdict=WELL), "machine is unhealthy", "TargetHealthy", None),
    (a_view(verdict=STARTING), "machine is unhealthy", "NodeStarting", LATER),
    (a_view(verdict=UNSEEN), "machine is unhealthy", "CannotSeeNode", None),
    (a_view(is_open=False), "limit is kept", "LimitOfCheck", None),
    (a_view(is_open=None), "limit is kept", "LimitOfCheck", None),
    (a_view(contact_since=NEW), "watched long enough", "ObserverNew", later(1).wall),
    (a_view(contact_since=None), "watched long enough", "ObserverNew", None),
    (a_view(host=present(a_host(held=True, hold=a_hold()))), "no hold is left", "HoldLeft", None),
    (a_view(others=(FENCING,)), "nobody else repairs it", "ClaimedByOther", None),
    (
        a_view(a_check(annotation_mode=True), others=(CYCLING, FENCING)),
        "nobody else repairs it",
        "ClaimedByOther",
        None,
    ),
    (
        a_view(a_check(annotation_mode=True), unread=Unread(MACHINE_AT, "status: a list")),
        "nobody else repairs it",
        "RequestNotOurs",
        None,
    ),
    (a_view(a_check(OPENSHIFT), machine=GIVEN_UP), "somebody replaces it", "NoControllerOwner", None),
    (
        a_view(a_check(OPENSHIFT), machine={"phase": "Failed"}, host=OUTSIDE),
        "somebody replaces it",
        "HostExternallyProvisioned",
        None,
    ),
    (a_view(a_check(needs_approval=True)), "person approved", "ApprovalAwaited", None),
    (a_view(answer=Refused(MACHINE_AT, WaitingForBudget(), LATER)), "budget allows", "WaitingForBudget", LATER),
    (a_view(answer=None), "budget allows", "WaitingForBudget", None),
    (a_view(node=present(a_node(), confirmed=False)), "node is read live", "ConfirmFirst", None),
    (a_view(node=absent(confirmed=False)), "node is read live", "ConfirmFirst", None),
    (a_view(node=present(a_node(), now=later(-6))), "node is read live", "ConfirmFirst", None),
]


@pytest.mark.parametrize(("view", "name", "reason", "until"), CLOSED)
def test_each_gate_closes_with_its_reason(view: RemediationView, name: str, reason: str, until: Wall | None) -> None:
    """Named as a person reads it, with the time at which it opens by itself, if there is one."""
    found = {passage.gate: passage for passage in passages(GATES, view, NOW) if passage.reason is not None}

    assert (reason, until) == (type(found[name].reason).__name__, found[name].until)


@pytest.mark.parametrize(("view", "name", "reason", "until"), [row for row in CLOSED if row[0].governing])
def test_behind_a_closed_gate_nothing_is_asked_for(
    view: RemediationView, name: str, reason: str, until: Wall | None
) -> None:
    """Neither marks nor deletions nor requests to the owner; at most the verdict is told."""
    asking = decide(replace_mode(view))

    assert not {"MarkMachine", "DeleteMachine"} & set(names(asking.actions))
    assert "RemediationAsked" not in reasons(asking)


def replace_mode(view: RemediationView) -> RemediationView:
    assert view.governing is not None
    return replace(view, governing=replace(view.governing, check=replace(view.governing.check, annotation_mode=True)))


def test_every_gate_has_a_row() -> None:
    """No gate without a case, and with none of them closed all pass."""
    assert {gate.__name__.replace("_", " ") for gate in GATES} == {name for _, name, _, _ in CLOSED}
    assert None is first(GATES, a_view(), NOW)
    assert set(SILENT) <= set(GATES)


def test_the_first_closed_gate_is_the_one_that_is_told() -> None:
    """In the order of the list, whatever else is closed behind it."""
    view = a_view(a_check(paused=FOR_EVER, observes_only=True), is_open=False, answer=None, other="capi")

    assert ["CheckOfAnother"] == reasons(decide(view))


def test_the_limit_tells_its_numbers() -> None:
    """As the check counted them; before it has, that."""
    view = a_view(is_open=False)
    assert view.governing is not None
    count = Tally(total=5, healthy=3, unhealthy=1)
    counted = replace(view.governing, counted=GateFact(Gate(False, 0, "40%"), count))

    assert Blocked(LimitOfCheck("workers", 2, 5, "40%")) == limit_is_kept(replace(view, governing=counted), NOW)
    assert Blocked(LimitOfCheck("workers")) == limit_is_kept(view, NOW)
    assert "it has not counted its machines yet" in LimitOfCheck("workers").note()


def test_explain_lists_all_gates() -> None:
    """One that is closed hides none behind it."""
    assert ROOM.explains is not None
    told = ROOM.explains(a_view(is_open=False, answer=None), NOW)

    assert len(GATES) == len(told)
    assert ["limit is kept", "budget allows"] == [passage.gate for passage in told if passage.reason]


def test_a_pause_that_is_over_closes_nothing() -> None:
    """A moment after its end, on check, machine and node."""
    node = present(replace(a_node(), paused=OVER))

    assert None is first(GATES, a_view(a_check(paused=OVER), machine={"paused": OVER}, node=node), NOW)


def test_whoever_repairs_it_is_named() -> None:
    """The room and its target, as its claim says it."""
    [passage] = [one for one in passages(GATES, a_view(others=(FENCING,)), NOW) if one.reason is not None]

    assert ClaimedByOther("worker-0", f"node-fence {MACHINE_AT.kind} metal/worker-0") == passage.reason


@pytest.mark.parametrize(
    "check", [a_check(), a_check(annotation_mode=True), a_check(template=TEMPLATE), a_check(OPENSHIFT)]
)
def test_in_no_way_is_a_second_repair_begun(check: HealthCheck) -> None:
    """Not by the owner, a mark, a request or a deletion; that the machine is sick is told, and nothing is asked for."""
    decision = decide(a_view(check, others=(FENCING,), requests=a_request_view()))

    assert {"WriteMachineConditions"} >= set(names(decision.actions))
    assert {"ClaimedByOther", "HealthTold"} >= set(reasons(decision))
    assert [] == [fact for fact in decision.facts if isinstance(fact.value, Need)]


def test_a_check_that_marks_waits_for_no_power_cycle_of_a_mark() -> None:
    """The mark is gone, its node starts and takes longer than the check bears: that is its own repair."""
    assert None is first(GATES, a_view(a_check(annotation_mode=True), others=(CYCLING,)), NOW)
    assert "ClaimedByOther" == reasons(decide(a_view(others=(CYCLING,))))[0]


def test_a_pause_wakes_at_its_end() -> None:
    """Nobody has to touch anything: the room looks again when the pause is over."""
    assert later(900).mono == decide(a_view(a_check(paused=FOR_NOW))).wake_at
    assert later(1).mono == decide(a_view(contact_since=NEW)).wake_at


@pytest.mark.parametrize(
    ("more", "seconds"),
    [
        ({}, 300),
        ({"node_criteria": (UNKNOWN, replace(FALSE, timeout=Span.seconds(60)))}, 60),
        ({"machine_criteria": (Criterion("InfrastructureReady", "False", Span.seconds(20)),)}, 20),
        ({"startup_timeout": Span.seconds(120)}, 120),
        ({"startup_timeout": Span(0)}, 300),
        ({"node_criteria": (), "startup_timeout": Span(0)}, 0),
        ({"node_criteria": (replace(UNKNOWN, timeout=Span(0)),)}, 0),
    ],
)
def test_who_has_just_come_waits_for_the_shortest_timeout(more: dict[str, Any], seconds: int) -> None:
    """Of all criteria and of the startup, unless that is disabled."""
    assert Span.seconds(seconds) == remediationgates.shortest_timeout(a_check(**more))


@pytest.mark.parametrize(
    ("view", "tells"),
    [
        (a_view(is_open=False), True),
        (a_view(answer=None), True),
        (a_view(a_check(paused=FOR_EVER)), True),
        (a_view(a_check(needs_approval=True)), True),
        (a_view(contact_since=None), True),
        (a_view(a_check(observes_only=True)), False),
        (a_view(other="capi"), False),
        (a_view(a_check(cluster_paused=True)), False),
        (a_view(cluster=Cluster("u", paused=True)), False),
        (a_view(machine={"cluster_paused": True}), False),
    ],
)
def test_only_some_gates_keep_the_verdict_quiet(view: RemediationView, tells: bool) -> None:
    """A closed limit hides nobody's sickness; what is paused with its cluster, observed or another's is not touched."""
    assert (["WriteMachineConditions"] if tells else []) == names(decide(view).actions)


def test_what_waits_for_the_budget_only_states_its_need() -> None:
    """The oldest sign first; whoever stands before another gate does not ask for anything."""
    [fact] = decide(a_view(answer=None)).facts

    assert Need(MACHINE_AT, "remediation", SICK.since, False, NODE_AT, is_claimant=False) == fact.value
    assert () == decide(a_view(is_open=False, answer=None)).facts
