"""The ways to have a machine repaired, by dialect: what is asked for, what is told, and what is taken back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NOW, a_backup, a_hold, a_host, absent, ago, later, present
from tests.core.healthcheck.remediations import (
    SICK,
    TEMPLATE,
    WELL,
    a_patient,
    a_view,
    decide,
    names,
    reasons,
)
from tests.core.healthcheck.targets import a_check

from noderemedy.core.healthcheck.modes import Way, told_by, way_of
from noderemedy.core.healthcheck.words import owner_asked, sick
from noderemedy.model.actions import (
    DeleteMachine,
    Guard,
    MarkMachine,
    RemoveRemediationAnnotation,
    WriteMachineConditions,
)
from noderemedy.model.budget import Need
from noderemedy.model.healthcheck import Dialect, Unhealthy
from noderemedy.model.lease import Lease
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    ConditionPending,
    ConditionTimedOut,
    MachineConditionPending,
    MachineConditionTimedOut,
    MachineFailed,
    NodeMissing,
    NodeStarting,
    NodeStartupTimedOut,
    Reason,
    RemediateAnnotated,
    RepairNow,
)
from noderemedy.model.time import Span

SEED, CAPI, OPENSHIFT = Dialect.SEED, Dialect.CAPI, Dialect.OPENSHIFT
BOTH = ("HealthCheckSucceeded", "OwnerRemediated")
EXTERNAL = ("HealthCheckSucceeded", "ExternallyRemediated")
# dialect, template, annotation mode, phase, the way, the conditions that are told
WAYS: list[tuple[Dialect, bool, bool, str, Way, tuple[str, ...]]] = [
    (SEED, False, False, "", Way.CONDITIONS, BOTH),
    (SEED, False, True, "", Way.ANNOTATION, ()),
    (SEED, True, False, "", Way.EXTERNAL, ()),
    (SEED, True, True, "", Way.EXTERNAL, ()),
    (SEED, False, True, "Failed", Way.ANNOTATION, ()),
    (CAPI, False, False, "", Way.CONDITIONS, BOTH),
    (CAPI, False, True, "", Way.CONDITIONS, BOTH),
    (CAPI, True, False, "", Way.EXTERNAL, EXTERNAL),
    (OPENSHIFT, False, False, "", Way.DELETION, ()),
    (OPENSHIFT, False, True, "", Way.ANNOTATION, ()),
    (OPENSHIFT, False, True, "Failed", Way.DELETION, ()),
    (OPENSHIFT, True, True, "Failed", Way.EXTERNAL, ()),
]


@pytest.mark.parametrize(("dialect", "template", "annotation", "phase", "way", "told"), WAYS)
def test_which_way_a_check_means(
    dialect: Dialect, template: bool, annotation: bool, phase: str, way: Way, told: tuple[str, ...]
) -> None:
    """A template first, then the annotation where the dialect has it, then its default; what failed is replaced."""
    check = a_check(dialect, template=TEMPLATE if template else None, annotation_mode=annotation)

    assert (way, told) == (way_of(check, a_patient(dialect, phase=phase)), told_by(check, way))


@pytest.mark.parametrize(
    ("dialect", "more", "expected"),
    [
        (SEED, {}, ["WriteMachineConditions"]),
        (CAPI, {}, ["WriteMachineConditions"]),
        (SEED, {"annotation_mode": True}, ["MarkMachine"]),
        (OPENSHIFT, {"annotation_mode": True}, ["MarkMachine"]),
        (OPENSHIFT, {}, ["DeleteMachine"]),
    ],
)
def test_what_is_asked_for(dialect: Dialect, more: dict[str, Any], expected: list[str]) -> None:
    """One write, with a reason that names the check and the way."""
    decision = decide(a_view(a_check(dialect, **more)))

    assert expected == names(decision.actions)
    assert "RemediationAsked" == reasons(decision)[0]
    assert 1 == len(decision.facts)


# --- conditions --------------------------------------------------------------------------------------------------


def written(view: Any) -> WriteMachineConditions:
    [action] = decide(view).actions
    assert isinstance(action, WriteMachineConditions)
    return action


def told(conditions: Any) -> dict[str, tuple[str, str]]:
    return {one.type: (one.status, one.reason) for one in conditions or () if isinstance(one, Graded)}


def test_the_seed_writes_one_generation_and_cluster_api_both() -> None:
    """The same words, in every place where the owner of the API looks for them."""
    seed, capi = written(a_view()), written(a_view(a_check(CAPI)))
    wanted = {"HealthCheckSucceeded": ("False", "UnhealthyNode"), "OwnerRemediated": ("False", "WaitingForRemediation")}

    assert (None, wanted) == (seed.current, told(seed.older))
    assert [wanted, wanted] == [told(capi.current), told(capi.older)]
    assert Guard("machine-uid-1", "7") == capi.guard


def test_a_closed_gate_tells_the_sickness_and_asks_nobody() -> None:
    """HealthCheckSucceeded is False, OwnerRemediated is not there: no owner acts."""
    assert {"HealthCheckSucceeded"} == set(told(written(a_view(is_open=False)).older))


OWNERS = Graded("OwnerRemediated", "False", "RemediationDeferred", "later", "t")
DONE = Graded("OwnerRemediated", "True", "Remediated", "", "t")
OURS = replace(owner_asked("workers"), since="t")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ((), ("False", "WaitingForRemediation")),
        ((DONE,), ("False", "WaitingForRemediation")),
        ((OWNERS,), ("False", "RemediationDeferred")),
    ],
)
def test_the_owner_is_asked_only_where_it_has_not_spoken(known: Any, expected: tuple[str, str]) -> None:
    """Absent or True: asked. What the owner answered is the owner's."""
    action = written(a_view(machine={"told": MachineConditions(None, known)}))

    assert expected == told(action.older)["OwnerRemediated"]


def test_what_was_asked_stays_asked_until_it_is_over() -> None:
    """Gate closed, budget gone, check paused meanwhile: a repair that runs goes on, and counts."""
    sick_now = replace(sick(SICK), since="t")
    machine = {"told": MachineConditions(None, (sick_now, OURS))}
    for view in (a_view(machine=machine), a_view(machine=machine, is_open=False, answer=None, contact_since=None)):
        decision = decide(view)

        assert ([], ["RemediationGoesOn"]) == (names(decision.actions), reasons(decision))
        assert decision.facts[0].value.is_running  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (ConditionTimedOut("n", "Ready", "Unknown", None, Span(1)), "UnhealthyNode"),
        (ConditionPending("n", "Ready", "Unknown", None, Span(1)), "UnhealthyNode"),
        (MachineConditionTimedOut("Ready", "False", None, Span(1)), "UnhealthyMachine"),
        (MachineConditionPending("Ready", "False", None, Span(1)), "UnhealthyMachine"),
        (MachineFailed(), "UnhealthyMachine"),
        (NodeStartupTimedOut(None, Span(1)), "NodeStartupTimeout"),
        (NodeStarting(None, Span(1)), "NodeStartupTimeout"),
        (NodeMissing("n"), "NodeDeleted"),
        (RemediateAnnotated(), "HasRemediateAnnotation"),
        (RepairNow(), "UnhealthyNode"),
    ],
)
def test_each_finding_has_the_word_that_owners_know(reason: Reason, word: str) -> None:
    """The reason of HealthCheckSucceeded, and a line of its message."""
    found = sick(Unhealthy(NOW.wall, (reason,)))

    assert (word, "Warning") == (found.reason, found.severity)
    assert f"* {reason.note()}" in found.message


def test_the_machines_own_trouble_names_the_reason() -> None:
    """As in Cluster API; all findings are in the message."""
    both = (NodeMissing("n"), MachineConditionTimedOut("Ready", "False", None, Span(1)))

    assert "UnhealthyMachine" == sick(Unhealthy(NOW.wall, both)).reason
    assert 3 == len(sick(Unhealthy(NOW.wall, both)).message.splitlines())


# --- recovery ----------------------------------------------------------------------------------------------------


def test_a_healthy_machine_is_told_so_once() -> None:
    """True in both generations; then nothing more."""
    view = a_view(a_check(CAPI), WELL)
    action = written(view)
    again = a_view(a_check(CAPI), WELL, machine={"told": MachineConditions(action.current, action.older)})

    assert ["HealthTold"] == reasons(decide(view))
    assert {"HealthCheckSucceeded": ("True", "HealthCheckSucceeded")} == told(action.current)
    assert {"HealthCheckSucceeded": ("True", "")} == told(action.older)
    assert () == decide(again, later(3_600)).actions


@pytest.mark.parametrize(
    ("check", "tells"),
    [
        (a_check(), True),
        (a_check(annotation_mode=True), False),
        (a_check(template=TEMPLATE), False),
        (a_check(CAPI, template=TEMPLATE), True),
        (a_check(OPENSHIFT), False),
        (a_check(observes_only=True), False),
    ],
)
def test_who_is_healthy_is_told_where_the_dialect_tells_anything(check: Any, tells: bool) -> None:
    """No write at all where nothing is ever told."""
    assert tells == bool(decide(a_view(check, WELL)).actions)


def test_on_recovery_our_own_request_goes_and_the_owners_word_stays() -> None:
    """HealthCheckSucceeded is True, OwnerRemediated is removed if it was ours; gate and budget are not asked."""
    bad = replace(sick(SICK), since="t")
    ours = written(a_view(verdict=WELL, is_open=False, machine={"told": MachineConditions(None, (bad, OURS))}))
    theirs = written(a_view(verdict=WELL, machine={"told": MachineConditions(None, (bad, OWNERS))}))

    assert {"HealthCheckSucceeded": ("True", "")} == told(ours.older)
    assert ("False", "RemediationDeferred") == told(theirs.older)["OwnerRemediated"]


def test_a_mode_that_tells_nothing_still_takes_back_what_another_told() -> None:
    """The check was edited in the middle: from conditions to the annotation."""
    bad = replace(sick(SICK), since="t")
    machine = {"told": MachineConditions(None, (bad, OURS))}

    assert {"HealthCheckSucceeded": ("True", "")} == told(
        written(a_view(a_check(annotation_mode=True), WELL, machine=machine)).older
    )


# --- the annotation ----------------------------------------------------------------------------------------------

MARKED = {"needs_remediation": True, "marked_by": "workers"}


def test_a_mark_names_its_check() -> None:
    """Guarded by uid and version, so that a mark that was just taken off does not come back."""
    view = a_view(a_check(annotation_mode=True))

    assert (MarkMachine(view.at, Guard("machine-uid-1", "7"), "workers", NOW.wall),) == decide(view).actions


@pytest.mark.parametrize("way", [a_check(annotation_mode=True), a_check(CAPI), a_check(template=TEMPLATE)])
def test_nothing_begins_beside_a_hold_that_is_left(way: Any) -> None:
    """It goes first: with a new mark it would stand for what it has seen before, whoever was wrong then."""
    left = present(a_host(held=True, hold=a_hold()))
    decision = decide(a_view(way, host=left))

    assert ["HoldLeft"] == reasons(decision)[:1]
    assert not {"MarkMachine", "CreateRequest", "DeleteMachine"} & set(names(decision.actions))


@pytest.mark.parametrize("machine", [MARKED, {"needs_remediation": True}])
def test_a_marked_machine_is_not_marked_again(machine: dict[str, Any]) -> None:
    """By whomever: it is under repair, and that counts."""
    decision = decide(a_view(a_check(annotation_mode=True), machine=machine))

    assert ([], ["RemediationGoesOn"]) == (names(decision.actions), reasons(decision))
    assert decision.facts[0].value.is_running  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("machine", "host", "is_taken_off"),
    [
        (MARKED, a_host(), True),
        ({"needs_remediation": True}, a_host(), False),
        (MARKED, a_host(held=True, hold=a_hold()), False),
        ({**MARKED, "backup": a_backup()}, a_host(), False),
        ({**MARKED, "node_deleted_at": NOW.wall}, a_host(), False),
        ({**MARKED, "node_deleted_at": ago(60), "asked_at": ago(60)}, a_host(), False),
        ({**MARKED, "node_deleted_at": ago(600), "asked_at": ago(60), "backup": a_backup()}, a_host(), True),
        ({**MARKED, "node_deleted_at": ago(600), "asked_at": ago(60)}, a_host(held=True, hold=a_hold()), False),
        ({**MARKED, "node_deleted_at": ago(600), "asked_at": Malformed("soon")}, a_host(), False),
    ],
)
def test_on_recovery_a_mark_goes_unless_the_repair_has_begun(
    machine: dict[str, Any], host: Any, is_taken_off: bool
) -> None:
    """Only our own, and never once the host is held: then it is finished. What an earlier one left is no beginning."""
    view = a_view(a_check(annotation_mode=True), WELL, machine=machine, host=present(host))
    decision = decide(view)
    wanted = (RemoveRemediationAnnotation(view.at, Guard("machine-uid-1", "7")),) if is_taken_off else ()

    assert HOST_AT.name
    assert wanted == decision.actions
    assert (["RemediationWithdrawn"] if is_taken_off else []) == reasons(decision)


@pytest.mark.parametrize("check", [a_check(), a_check(CAPI), a_check(template=TEMPLATE)])
def test_no_second_repair_beside_a_mark(check: Any) -> None:
    """A check that was edited from the annotation to something else waits for the end of the first repair."""
    decision = decide(a_view(check, machine=MARKED))

    assert "AnotherRepair" == reasons(decision)[0]
    assert "OwnerRemediated" not in str(decision.actions)


# --- deletion ----------------------------------------------------------------------------------------------------


def test_a_machine_is_deleted_only_if_somebody_replaces_it() -> None:
    """With a controller owner, guarded by uid and version; without one a person is called, and no slot is reserved."""
    view, alone = a_view(a_check(OPENSHIFT)), a_view(a_check(OPENSHIFT), machine={"controller": None})

    assert (DeleteMachine(view.at, Guard("machine-uid-1", "7")),) == decide(view).actions
    assert ([], ["NoControllerOwner"], ()) == (
        names(decide(alone).actions),
        reasons(decide(alone)),
        decide(alone).facts,
    )


def test_a_machine_whose_host_no_new_one_would_get_is_not_deleted() -> None:
    """Somebody else installed that host; where nothing is deleted that is nobody's business."""
    host = present(replace(a_host(), externally_provisioned=True))
    view, marked = a_view(a_check(OPENSHIFT), host=host), a_view(a_check(OPENSHIFT, annotation_mode=True), host=host)

    assert ([], ["HostExternallyProvisioned"], ()) == (
        names(decide(view).actions),
        reasons(decide(view)),
        decide(view).facts,
    )
    assert ["MarkMachine"] == names(decide(marked).actions)


def test_a_deletion_is_claimed_first() -> None:
    """It cannot be undone: whoever repairs this node is recorded before, and another one's claim is respected."""
    taken = a_view(a_check(OPENSHIFT))
    assert taken.claim is not None
    free = replace(taken, claim=replace(taken.claim, entry=absent()))
    other = replace(taken.claim, entry=present(Lease("u", "somebody")), is_other_about_it=True)

    assert (["ClaimRepair"], ["Claiming"]) == (names(decide(free).actions), reasons(decide(free)))
    assert ([], ["ClaimedByOther"]) == (
        names(decide(replace(taken, claim=other)).actions),
        reasons(decide(replace(taken, claim=other))),
    )


@pytest.mark.parametrize(
    ("check", "more", "expected"),
    [
        (a_check(OPENSHIFT), {}, True),
        (a_check(OPENSHIFT), {"answer": None}, True),
        (a_check(OPENSHIFT), {"machine": {"deleting": True}}, True),
        (a_check(OPENSHIFT), {"machine": MARKED}, False),
        (a_check(OPENSHIFT, annotation_mode=True), {"machine": MARKED}, False),
        (a_check(OPENSHIFT, annotation_mode=True), {"answer": None}, False),
        (a_check(), {"answer": None}, False),
    ],
)
def test_only_a_deletion_keeps_the_claim(check: Any, more: dict[str, Any], expected: bool) -> None:
    """All others leave the repair to somebody who claims the node, which a need of ours must not keep from it."""
    (stated,) = [fact.value for fact in decide(a_view(check, **more)).facts if isinstance(fact.value, Need)]

    assert expected == stated.is_claimant


def test_nobodys_target_loses_what_was_asked_for() -> None:
    """The mark, or our own word to the owner; what somebody else said stays."""
    bad = replace(sick(SICK), since="t")
    marked = a_view(governing=None, machine=MARKED)
    asked = a_view(governing=None, machine={"told": MachineConditions(None, (bad, OURS))})

    assert (["RemoveRemediationAnnotation"], ["RemediationWithdrawn"]) == (
        names(decide(marked).actions),
        reasons(decide(marked)),
    )
    assert {"HealthCheckSucceeded"} == set(told(written(asked).older))
    assert () == decide(a_view(governing=None)).actions
