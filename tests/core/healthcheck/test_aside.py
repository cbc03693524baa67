"""Checks that mean a machine and do not judge it: `explain` names each of them, and why it stands aside."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.healthcheck.remediations import CHECK_AT
from tests.core.healthcheck.targets import a_check
from tests.core.healthcheck.test_remediation import YOUNGER_AT, Stage, at

from noderemedy.core.healthcheck import aside
from noderemedy.core.healthcheck.aside import Aside
from noderemedy.core.healthcheck.remediation import ROOM
from noderemedy.model.ids import OPENSHIFT_HEALTH_CHECK, ref
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import CheckInvalid, CheckLeaving, CheckYounger, ClusterPaused, Reason, TargetSkipped
from noderemedy.model.room import Passage
from noderemedy.model.selector import Selector
from noderemedy.model.time import Wall

WRONG = "spec.maxUnhealthy: write 40%"
UNREADABLE = "spec.selector: not a selector"
OTHERS = Selector(match_labels=(("role", "of another kind"),))

# what the check and the machine say, why the check does not judge it, which gate that closes
CLOSED: list[tuple[dict[str, Any], dict[str, Any], Reason, str]] = [
    (
        {"problems": (UNREADABLE,), "selector": Malformed(UNREADABLE)},
        {},
        CheckInvalid(UNREADABLE),
        "check is valid",
    ),
    ({"deleting": True}, {}, CheckLeaving(), "check is valid"),
    ({}, {"cluster_paused": True}, ClusterPaused(at(0).in_words), "cluster is not paused"),
    ({}, {"skips_remediation": True}, TargetSkipped(), "machine is not skipped"),
    # what the check itself says comes first: to end the pause would not help
    ({"problems": (WRONG,)}, {"cluster_paused": True}, CheckInvalid(WRONG), "check is valid"),
]


def a_stage(check: dict[str, Any], machine: dict[str, Any]) -> Stage:
    """A sick machine, its check, and what both say."""
    stage = Stage(a_check(annotation_mode=True, **check), size=1)
    stage.grant(0)
    stage.change(0, **machine)
    stage.node(0, "Unknown")
    stage.step(301)
    return stage


def found(stage: Stage) -> tuple[Aside, ...]:
    return aside.standing_aside(at(0), stage.machine(0), stage.engine.cache)


def closed(stage: Stage) -> list[Passage]:
    """The gates that `explain` shows as closed."""
    view = ROOM.sees(at(0), stage.engine.cache)
    assert ROOM.explains is not None
    assert view is not None
    return [one for one in ROOM.explains(view, stage.now) if one.reason is not None]


@pytest.mark.parametrize(("check", "machine", "reason", "gate"), CLOSED)
def test_a_check_that_means_a_machine_and_does_not_judge_it(
    check: dict[str, Any], machine: dict[str, Any], reason: Reason, gate: str
) -> None:
    """It is named with the reason, by the room's own view, and nothing is asked for or told on the machine."""
    stage = a_stage(check, machine)

    assert (Aside(CHECK_AT, reason),) == found(stage)
    assert Passage(gate, reason) == closed(stage)[0]
    assert ([], []) == (stage.did, stage.why(0))


@pytest.mark.parametrize(
    ("check", "machine"),
    [
        ({}, {}),  # it is judged
        ({"selector": OTHERS, "problems": (WRONG,)}, {}),
        ({"selector": OTHERS}, {"cluster_paused": True}),
        ({"cluster_name": "another", "problems": (UNREADABLE,), "selector": Malformed(UNREADABLE)}, {}),
    ],
)
def test_a_check_of_others_stands_not_aside(check: dict[str, Any], machine: dict[str, Any]) -> None:
    """One that judges the machine, or means others: that would be one name too many."""
    assert () == found(a_stage(check, machine))


def test_a_machine_of_nobody_is_still_nobodys() -> None:
    """No check means it, so the room has nothing to see."""
    assert None is ROOM.sees(at(0), a_stage({"selector": OTHERS}, {}).engine.cache)


def test_the_younger_check_stands_aside() -> None:
    """Beside it an invalid one, and one of another API: each with its own reason, the oldest first."""
    stage = Stage(a_check(), size=1)
    broken, foreign = ref(CHECK_AT.kind, "broken", "metal"), ref(OPENSHIFT_HEALTH_CHECK, "foreign", "metal")
    for where, check in (
        (YOUNGER_AT, a_check(uid="younger", created=Wall(3))),
        (broken, a_check(uid="broken", created=Wall(2), problems=(WRONG,))),
        (foreign, a_check(uid="foreign", created=Wall(2))),
    ):
        stage.put(where, check)
    stage.step()

    assert (Aside(broken, CheckInvalid(WRONG)), Aside(YOUNGER_AT, CheckYounger("workers"))) == found(stage)


def test_what_is_left_on_a_paused_machine_has_the_pause_for_a_reason() -> None:
    """A check marked it, and somebody paused it: it is not called nobody's."""
    stage = a_stage({}, {})
    assert ["MarkMachine worker-0"] == stage.did
    stage.change(0, cluster_paused=True)
    stage.step()

    assert [ClusterPaused(at(0).in_words)] == [one.reason for one in closed(stage)]


def test_without_a_check_only_what_can_be_answered_is_asked() -> None:
    """Nobody judged it, so no gate says that it is unhealthy, or that a limit is kept."""
    wrong = {"problems": (UNREADABLE,), "selector": Malformed(UNREADABLE)}
    view = ROOM.sees(at(0), a_stage(wrong, {}).engine.cache)
    assert view is not None
    assert ROOM.explains is not None
    shown = [one.gate for one in ROOM.explains(replace(view, aside=()), Stage(a_check()).now)]

    assert ["check is valid", "cluster is not paused", "machine is not skipped"] == shown
