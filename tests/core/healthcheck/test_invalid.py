"""A check that is invalid keeps the machines that it selects: nothing begins for them, and what runs goes on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_machine, a_node
from tests.core.healthcheck.remediations import CHECK_AT
from tests.core.healthcheck.targets import a_check, a_target
from tests.core.healthcheck.test_remediation import YOUNGER_AT, Stage, at
from tests.core.healthcheck.test_rooms import AT as WORKERS_AT
from tests.core.healthcheck.test_rooms import Stage as Rooms
from tests.core.healthcheck.test_rooms import a_check as a_rooms_check

from noderemedy.core.external import kinds
from noderemedy.core.healthcheck.aside import standing_aside
from noderemedy.core.healthcheck.facts import blindness
from noderemedy.core.healthcheck.invalid import unjudged
from noderemedy.core.healthcheck.remediation import ROOM
from noderemedy.core.healthcheck.selector import is_target, selects
from noderemedy.model.healthcheck import Count, HealthCheck, TemplateRef, Unjudged
from noderemedy.model.ids import REMEDIATION, Kind, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Key
from noderemedy.model.reasons import CheckInvalid, CheckYounger, InvalidCheckGoverns
from noderemedy.model.remediation import Metal3Remediation
from noderemedy.model.remote import Remote, Sight
from noderemedy.model.request import Wanted
from noderemedy.model.room import Unreadable
from noderemedy.model.selector import Selector
from noderemedy.model.time import Wall

WRONG = "spec.maxUnhealthy: write 40%"
OTHERS = Selector(match_labels=(("role", "of another kind"),))

# what is wrong with the elder check, and whether the younger one acts all the same
ELDERS: list[tuple[dict[str, Any], bool]] = [
    ({}, False),  # nothing: it observes, and the younger one is told so
    ({"problems": (WRONG,)}, False),
    ({"problems": (WRONG,), "max_unhealthy": Malformed(WRONG)}, False),
    ({"problems": (WRONG,), "node_criteria": ()}, False),  # its timeout was garbage
    ({"problems": (WRONG,), "startup_timeout": Malformed(WRONG)}, False),
    ({"problems": (WRONG,), "template": Malformed(WRONG)}, False),
    ({"problems": (WRONG,), "observes_only": False}, False),  # the typo is in `mode` itself
    ({"problems": (WRONG,), "selector": Malformed(WRONG)}, True),  # nobody knows whom it means
    ({"problems": (WRONG,), "cluster_name": Malformed(WRONG)}, True),
    ({"problems": (WRONG,), "selector": OTHERS}, True),
    ({"problems": (WRONG,), "deleting": True}, True),
]


def overlapping(elder: dict[str, Any]) -> Stage:
    """A sick machine of two checks: the elder observes and is wrong somehow, the younger would have it marked."""
    stage = Stage(a_check(**{"observes_only": True, **elder}), size=1)
    stage.put(YOUNGER_AT, a_check(uid="younger", created=Wall(3), annotation_mode=True))
    stage.grant(0)
    stage.node(0, "Unknown")
    stage.step(301)
    return stage


@pytest.mark.parametrize(("elder", "does_act"), ELDERS)
def test_a_mistake_hands_no_machine_to_the_next_check(elder: dict[str, Any], does_act: bool) -> None:
    """Whom an elder check selects waits for it to be mended; only one that cannot say whom it means is no rival."""
    assert does_act is ("MarkMachine worker-0" in overlapping(elder).did)


def test_mended_it_decides_again() -> None:
    """The elder check acts as soon as it can be understood, in its own way."""
    stage = overlapping({"problems": (WRONG,)})
    stage.edit(problems=(), observes_only=False, annotation_mode=True)
    stage.step()

    assert ["MarkMachine worker-0"] == stage.did
    assert CHECK_AT.name == stage.machine(0).marked_by


def test_the_machine_names_the_check_and_what_is_wrong() -> None:
    """As its verdict, at the gate that `explain` shows, and beside the younger check: quietly, the check says it."""
    stage = overlapping({"problems": (WRONG,)})
    reason = InvalidCheckGoverns(CHECK_AT.name, WRONG)
    decision = stage.engine.decisions[Key("verdict", at(0))]
    view = ROOM.sees(at(0), stage.engine.cache)
    assert view is not None
    assert ROOM.explains is not None
    [gate] = [one for one in ROOM.explains(view, stage.now) if one.gate == "check is valid"]

    assert ((reason,), reason) == (decision.because, gate.reason)
    assert (CHECK_AT.name in reason.note(), WRONG in reason.note(), reason.quiet) == (True, True, True)
    [aside] = standing_aside(at(0), stage.machine(0), stage.engine.cache)
    assert (YOUNGER_AT, CheckYounger(CHECK_AT.name)) == (aside.at, aside.reason)


def test_an_invalid_younger_check_is_named_and_governs_nobody() -> None:
    """The elder one goes on; both are told that they overlap."""
    stage = Rooms(2, (WORKERS_AT, a_rooms_check()))
    younger = replace(WORKERS_AT, name="younger")
    stage.put(younger, a_rooms_check(uid="younger", created=Wall(2), problems=(WRONG,)))
    stage.step()

    assert (WORKERS_AT, (younger,)) == (stage.verdict(1).check, stage.verdict(1).others)
    assert ["ChecksOverlap"] == stage.reasons(WORKERS_AT, "check")
    assert ["CheckInvalid", "ChecksOverlap"] == stage.reasons(younger, "check")


# --- what runs ---------------------------------------------------------------------------------------------------


def test_a_mark_stays_and_nothing_else_is_asked_for() -> None:
    """The check breaks in the middle of a repair: that goes on, counts, and is not called forgotten."""
    stage = Stage(a_check(annotation_mode=True), size=1)
    stage.grant(0)
    stage.node(0, "Unknown")
    stage.step(301)
    stage.edit(problems=(WRONG,))
    stage.step(60)

    assert (["MarkMachine worker-0"], True) == (stage.did, stage.machine(0).needs_remediation)
    stage.node(0, "True")
    stage.step(60)
    assert stage.machine(0).needs_remediation, "nothing is taken back before the check is mended"
    stage.edit(problems=())
    stage.step()
    assert not stage.machine(0).needs_remediation


def test_a_request_of_an_invalid_check_is_not_left_by_all() -> None:
    """It stands, a check speaks for its machine, and it keeps its place in the budget; late, a person is told."""
    stage = Stage(a_check(problems=(WRONG,)), size=1)
    where = Ref("", REMEDIATION, at(0).namespace, at(0).name)
    stage.put(where, Metal3Remediation("request-uid", owner_uid="m0", cloned_from="power-cycle"))
    stage.change(0, phase="Running")
    stage.step()
    assert ([], []) == (stage.why(0), stage.did)
    stage.step(1_801)

    assert "RepairOverdue" in stage.why(0)
    assert [] == stage.did


def test_its_requests_stay_in_sight() -> None:
    """A manager that begins while the check is invalid has to know what runs."""
    kind, where = Kind("example.com", "Nurse"), TemplateRef("example.com/v1", "NurseTemplate", "night", "metal")

    found = kinds.wanted(CHECK_AT, a_check(template=where, problems=(WRONG,)))

    assert [Wanted(kind, "v1")] == [fact.value for fact in found]


# --- what is counted ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_unhealthy": Malformed(WRONG)},
        {"startup_timeout": Malformed(WRONG)},
        {"node_criteria": ()},  # garbage in one: what is not ready is not called healthy for that
    ],
)
def test_the_counts_stay_as_they_were(wrong: dict[str, Any]) -> None:
    """By what can be read of it: all of its machines are expected, and those in order are healthy; none may begin."""
    check = a_rooms_check(max_unhealthy=Count(3))
    stage = Rooms(5, (WORKERS_AT, check))
    stage.node(1, "Unknown")
    stage.step()
    before = stage.gate().count
    stage.put(WORKERS_AT, replace(check, problems=(WRONG,), **wrong))
    stage.step()
    assert (5, 4) == (before.total, before.healthy) == (stage.gate().count.total, stage.gate().count.healthy)
    stage.node(2, "False")
    stage.node(1, "True")
    stage.node(3, "Unknown")
    stage.step(301)

    found = stage.gate()
    assert (5, 3, 0) == (found.count.total, found.count.healthy, found.count.unhealthy)
    assert (False, 0, CheckInvalid(WRONG)) == (found.gate.is_open, found.gate.allowed, found.gate.reason)


def test_the_verdict_is_none_whatever_is_counted() -> None:
    """Neither healthy nor sick, also of a machine that is counted: nothing is taken back on it."""
    check = a_check(problems=(WRONG,))
    verdict = unjudged(CHECK_AT, a_target(a_node()), check, NOW)

    assert Unjudged((InvalidCheckGoverns("workers", WRONG),), counts_as_healthy=True) == verdict


def test_what_is_out_of_sight_is_still_told_so() -> None:
    """The condition of the check that counts such machines stays true while the check is invalid."""
    target = replace(a_target(a_node()), remote=Remote(Sight.LOST, "timed out"))
    verdict = unjudged(CHECK_AT, target, a_check(problems=(WRONG,)), NOW)

    assert blindness(verdict) is not None
    assert not verdict.counts_as_healthy


def test_an_invalid_check_judges_nobody() -> None:
    """A rejected policy changes nothing (S18), and says what is wrong with it, as much as an event may hold."""
    stage = Rooms(2, (WORKERS_AT, a_rooms_check(problems=tuple(f"spec.x{number}: wrong" for number in range(5)))))
    stage.node(1, "Unknown")
    stage.step(301)

    because = InvalidCheckGoverns("workers", "spec.x0: wrong; spec.x1: wrong; spec.x2: wrong; and 2 more")
    assert Unjudged((because,)) == stage.verdict(1).verdict


def test_a_verdict_waits_for_no_time() -> None:
    """What the check would have said later is nobody's business: no timer runs for it."""
    stage = Rooms(2, (WORKERS_AT, a_rooms_check(problems=(WRONG,))))
    stage.node(1, "Unknown")
    stage.step(121)

    assert None is stage.engine.next_wake()


# --- whom it selects ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "is_selected"),
    [
        (a_check(problems=(WRONG,)), True),
        (a_check(problems=(WRONG,), selector=OTHERS), False),
        (a_check(problems=(WRONG,), selector=Malformed(WRONG)), False),
        (a_check(problems=(WRONG,), cluster_name=Malformed(WRONG)), False),
        (a_check(problems=(WRONG,), cluster_name="another"), False),
    ],
)
def test_whom_an_invalid_check_selects(check: HealthCheck, is_selected: bool) -> None:
    """As far as that can be read; one whose words about it cannot be read selects nobody."""
    machine = replace(a_machine(), labels=(("role", "worker"),))

    assert (is_selected, is_selected) == (selects(check, machine), is_target(check, machine))


def test_a_check_that_does_not_decode_governs_as_it_was() -> None:
    """The same for an object that cannot be read at all: the last good one stands, and it begins nothing."""
    stage = overlapping({})
    stage.engine.unreadable(CHECK_AT, stage.check.uid, "999", "garbled", stage.now)
    stage.step(60)

    assert isinstance(stage.engine.cache.read(CHECK_AT), Unreadable)
    assert [] == stage.did
