"""What people are told of a gate: one Event when it closes, one when it opens, however the counts go meanwhile."""

from __future__ import annotations

import pytest
from tests.builders import NOW, later
from tests.core.healthcheck.test_rooms import AT, Stage, a_check

from noderemedy.core.healthcheck import checks
from noderemedy.core.healthcheck.facts import GateFact
from noderemedy.core.healthcheck.gate import gate
from noderemedy.engine.telling import Notice
from noderemedy.manager.notices import event_name
from noderemedy.model.checkstatus import REMEDIATION_ALLOWED, CheckStatus, Told
from noderemedy.model.healthcheck import Count, Tally
from noderemedy.model.reasons import Reason, RemediationAllowedAgain, TooManyUnhealthy

EARLIER = "2030-03-17T12:00:00Z"


def of_the_gate(stage: Stage) -> list[Notice]:
    return [notice for notice in stage.notices if notice.room == "check"]


def told(stage: Stage) -> list[Reason]:
    return [notice.reason for notice in of_the_gate(stage)]


def a_storm(stage: Stage, size: int) -> None:
    """One node after the other falls silent, until its machine is sick; then one after the other is back."""
    for ready in ("Unknown", "True"):
        for number in range(size):
            stage.node(number, ready)
            stage.step(301)


def test_a_storm_is_two_events() -> None:
    """Twelve of twenty fall sick and recover one by one: told when the third is too many, and when it no longer is."""
    stage = Stage(20, (AT, a_check(max_unhealthy=Count(3))))
    a_storm(stage, 12)

    assert [TooManyUnhealthy(3, 20, "3"), RemediationAllowedAgain(2, 20, "3")] == told(stage)


def test_the_counts_go_on_in_the_status() -> None:
    """What is not told again is up to date where the status takes it from."""
    stage = Stage(20, (AT, a_check(max_unhealthy=Count(3))))
    for number in range(5):
        stage.node(number, "Unknown")
        stage.step(301)

    assert TooManyUnhealthy(5, 20, "3") == stage.gate().gate.reason
    assert [TooManyUnhealthy(3, 20, "3")] == told(stage)


def test_each_storm_has_events_of_its_own() -> None:
    """Closed and opened twice within an hour: four Events, which have four names."""
    stage = Stage(4, (AT, a_check(max_unhealthy=Count(1))))
    a_storm(stage, 1)
    a_storm(stage, 1)

    assert 4 == len(told(stage))
    assert 4 == len({event_name(notice) for notice in of_the_gate(stage)})


def test_who_was_told_nothing_is_told_no_end() -> None:
    """A gate that was closed while all had time left, and opens before anybody was kept from a repair, is no news."""
    stage = Stage(4, (AT, a_check(max_unhealthy=Count(1))))
    for ready in ("Unknown", "True"):
        stage.node(0, ready)
        stage.step(60)

    assert stage.gate().gate.is_open
    assert [] == told(stage)


def test_what_was_told_stands_until_the_gate_opens() -> None:
    """The sick one recovers and others, not sick yet, keep the gate closed: it was told, and is not told anew."""
    stage = Stage(4, (AT, a_check(max_unhealthy=Count(1))))
    stage.node(0, "Unknown")
    stage.step(301)
    stage.node(1, "Unknown")
    stage.node(0, "True")
    stage.step()
    stage.step(301)
    stage.node(1, "True")
    stage.step()

    assert [TooManyUnhealthy, RemediationAllowedAgain] == [type(reason) for reason in told(stage)]


CLOSED, OPEN = Tally(4, 1, 3), Tally(4, 4)
SINCE = [
    (CLOSED, "", None, str(NOW.wall)),
    (CLOSED, "", CLOSED, "before"),
    (CLOSED, "", OPEN, str(NOW.wall)),
    (CLOSED, "True", OPEN, str(NOW.wall)),
    (CLOSED, "True", CLOSED, "before"),
    (CLOSED, "False", None, EARLIER),
    (CLOSED, "False", CLOSED, EARLIER),
    (OPEN, "False", CLOSED, str(NOW.wall)),
    (OPEN, "False", OPEN, "before"),
    (OPEN, "True", None, EARLIER),
]


@pytest.mark.parametrize(("count", "status", "was", "since"), SINCE)
def test_the_moment_names_the_episode(count: Tally, status: str, was: Tally | None, since: str) -> None:
    """As the status says, if it says the same; else since the look at which it changed. So restarts repeat no Event."""
    conditions = (Told(REMEDIATION_ALLOWED, status, since=EARLIER),) if status else ()
    check = a_check(max_unhealthy=Count(1), status=CheckStatus(conditions=conditions))
    before = GateFact(gate(check, was), was, since="before") if was else None
    decision = checks.decide(checks.CheckView(AT, check, count, 0, before=before), NOW)
    fact = decision.facts[0].value

    assert isinstance(fact, GateFact)
    assert (since, since) == (decision.episode, fact.since)


def test_a_look_at_what_was_found_changes_nothing() -> None:
    """With its own answer before it, the room gives the same answer, an hour later as well."""
    check = a_check(max_unhealthy=Count(1))
    view = checks.CheckView(AT, check, CLOSED, 0)
    first = checks.decide(view, NOW)
    fact = first.facts[0].value
    assert isinstance(fact, GateFact)
    again = checks.CheckView(AT, check, CLOSED, 0, before=fact)

    assert first == checks.decide(again, later(3600))
