"""The condition `Acting` of a check: what a person steers it with is told on the check itself, in the same write."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, later
from tests.core.healthcheck.remediations import a_view
from tests.core.healthcheck.targets import a_check as a_steered_check
from tests.core.healthcheck.test_status import AT, FOREIGN, ONE_IS_SICK, Stage, a_check, decide, told

from noderemedy.core.gates import first
from noderemedy.core.healthcheck.remediationgates import check_is_valid, check_may_act, nobody_paused_it
from noderemedy.model.actions import PublishCheckStatus
from noderemedy.model.checkstatus import ACTING, CheckStatus, Told
from noderemedy.model.decision import NOTHING
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.time import Span

WRONG = "spec.maxUnhealthy: write 40%"
FOR_NOW, FOR_EVER, OVER = Paused(NOW.wall + Span(60_000)), Paused(), Paused(NOW.wall)

# what is on the check, what the condition says, and words of its message
SAID: list[tuple[dict[str, Any], str, str, str]] = [
    ({}, "True", "Acting", ""),
    (
        {"paused": FOR_EVER},
        "False",
        "PausedByPerson",
        "MachineHealthCheck metal/workers is paused by node-remedy",
    ),
    ({"paused": FOR_NOW}, "False", "PausedByPerson", f"until {FOR_NOW.until}"),
    ({"paused": OVER}, "True", "Acting", ""),
    ({"observes_only": True}, "False", "ObserveOnly", "check workers only observes: remove node-remedy.dev/mode"),
    ({"needs_approval": True}, "False", "ApprovalRequired", "node-remedy.dev/approval: required"),
    ({"problems": (WRONG,)}, "False", "CheckInvalid", WRONG),
    ({"problems": ("x",), "paused": Malformed("soon")}, "False", "CheckInvalid", "soon"),
    # of several the first of the gates
    ({"paused": FOR_EVER, "observes_only": True}, "False", "PausedByPerson", "only observes"),
    ({"observes_only": True, "needs_approval": True}, "False", "ObserveOnly", "node-remedy.dev/approval"),
    # what is not up to the check
    ({"governs": True}, "True", "Acting", ""),
    ({"annotation_mode": True}, "True", "Acting", ""),
]


@pytest.mark.parametrize(("more", "status", "reason", "words"), SAID)
def test_what_a_check_says_of_itself(more: dict[str, Any], status: str, reason: str, words: str) -> None:
    """False with the reason, and with what to do about it; True without a word."""
    found = told(a_check(**more), "Acting")

    assert found is not None
    assert (status, reason) == (found.status, found.reason)
    assert words in found.message
    assert bool(words) is bool(found.message)


def test_all_that_holds_it_is_named() -> None:
    """Who takes one thing away must not wonder why still nothing happens."""
    found = told(a_check(paused=FOR_EVER, observes_only=True, needs_approval=True), "Acting")

    assert found is not None
    assert [True] * 3 == [word in found.message for word in ("/paused", "only observes", "/approval")]


@pytest.mark.parametrize(("more", "status"), [(more, status) for more, status, _, _ in SAID])
def test_it_says_what_the_gates_say(more: dict[str, Any], status: str) -> None:
    """A check that acts is not kept from it by its own gates; one that does not is, or asks a person first."""
    check = a_steered_check(**more)
    blocked = first((check_is_valid, nobody_paused_it, check_may_act), a_view(check), NOW)

    assert (status == "True") is (blocked is None and not check.needs_approval)


def test_a_limit_is_not_its_business() -> None:
    """A gate that is closed has a condition of its own."""
    found = told(a_check(problems=()), "Acting", replace(ONE_IS_SICK, healthy=0))

    assert found is not None
    assert "True" == found.status


def test_each_change_is_one_write() -> None:
    """A person pauses and ends it: told at once, with what else is new, and not again; conditions of others stay."""
    stage = Stage(3, a_check(status=CheckStatus(conditions=(FOREIGN,))))
    assert (1, "True") == (stage.writes, acts(stage))
    stage.node(1, "Unknown")
    edit(stage, paused=FOR_EVER)
    assert (2, "False", 2) == (stage.writes, acts(stage), stage.stored.status.healthy)
    stage.step(3_600)
    stage.restart()
    assert 2 == stage.writes
    edit(stage, paused=None)

    assert (3, "True") == (stage.writes, acts(stage))
    assert FOREIGN == stage.stored.status.conditions[0]


def test_a_pause_that_ends_by_itself_is_told() -> None:
    """At its very end, by a timer, in one write."""
    stage = Stage(3, a_check(paused=FOR_NOW))
    assert (1, "False", later(60).mono) == (stage.writes, acts(stage), stage.engine.next_wake())
    stage.step(59)
    assert 1 == stage.writes
    stage.step(1)

    assert (2, "True", None) == (stage.writes, acts(stage), stage.engine.next_wake())


def test_the_end_of_a_pause_is_looked_for_whatever_else_is_written() -> None:
    """Also from a look at which something is written, or waits a moment."""
    right = told_all(a_check(paused=FOR_NOW))

    assert later(60).mono == decide(a_check(paused=FOR_NOW)).wake_at
    assert later(60).mono == decide(a_check(paused=FOR_NOW, status=right)).wake_at


@pytest.mark.parametrize("pause", [None, FOR_EVER, OVER])
def test_nothing_is_looked_for_that_needs_no_look(pause: Paused | None) -> None:
    """No timer without an end, and none for one that is over: a status that is right is nothing to do."""
    right = told_all(a_check(paused=pause))

    assert NOTHING == decide(a_check(paused=pause, status=right))


def test_a_check_in_the_hands_of_another_is_not_told() -> None:
    """Whose status we do not write has no word of ours."""
    assert () == decide(a_check(cluster_paused=True, paused=FOR_EVER)).actions


def told_all(check: HealthCheck) -> CheckStatus:
    """The status that such a check gets."""
    [action] = decide(check).actions
    assert isinstance(action, PublishCheckStatus)
    return action.status


def edit(stage: Stage, **more: Any) -> None:
    stage.stored = replace(stage.stored, **more)
    stage.put(AT, stage.stored)
    stage.step()


def acts(stage: Stage) -> str:
    found = [one for one in stage.stored.status.conditions if isinstance(one, Told)]
    return next(one.status for one in found if one.type == ACTING)
