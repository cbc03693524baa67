"""Approval: a check that asks for it waits for a person's answer in the open Incident."""

from __future__ import annotations

import pytest
from tests.builders import MACHINE_AT, NOW, a_machine, later
from tests.core.incident.scene import Scene, a_check

from noderemedy.core.approvals import Asked, asked, unapproved
from noderemedy.model.incident import Answer, Approval
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    ApprovalAwaited,
    ApprovalDenied,
    ApprovalSnoozed,
    ApprovalUnavailable,
    ApprovalUnreadable,
    Reason,
)
from noderemedy.model.time import Span, Wall

SOON, EARLIER = NOW.wall + Span.seconds(60), Wall(NOW.wall.ms - 1)
ANSWERS: dict[str, tuple[Asked, Reason | None]] = {
    "approved": (Asked(True, "i", Approval(Answer.APPROVE, None, "ann")), None),
    "approved until later": (Asked(True, "i", Approval(Answer.APPROVE, SOON)), None),
    "an approval that is over": (Asked(True, "i", Approval(Answer.APPROVE, EARLIER)), ApprovalAwaited("i")),
    "denied": (Asked(True, "i", Approval(Answer.DENY, None, "ann")), ApprovalDenied("i", "ann")),
    "a denial has no end": (Asked(True, "i", Approval(Answer.DENY, EARLIER)), ApprovalDenied("i", "")),
    "snoozed": (Asked(True, "i", Approval(Answer.SNOOZE, SOON, "ann")), ApprovalSnoozed("i", SOON, "ann")),
    "a snooze that is over": (Asked(True, "i", Approval(Answer.SNOOZE, EARLIER)), ApprovalAwaited("i")),
    "no answer": (Asked(True, "i"), ApprovalAwaited("i")),
    "no incident yet": (Asked(True), ApprovalAwaited("")),
    "garbage": (
        Asked(True, "i", Malformed("spec.approval: garbage")),
        ApprovalUnreadable("i", "spec.approval: garbage"),
    ),
    "no kind to answer in": (Asked(False), ApprovalUnavailable()),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_has_its_meaning(name: str) -> None:
    """Approve passes; everything else blocks, with a reason."""
    question, expected = ANSWERS[name]
    blocked = unapproved(question, NOW)

    assert expected == (blocked.reason if blocked else None)


def test_a_snooze_is_asked_again_when_it_ends() -> None:
    """The gate says until when it is closed."""
    blocked = unapproved(ANSWERS["snoozed"][0], NOW)

    assert blocked is not None
    assert SOON == blocked.until
    later_on = unapproved(ANSWERS["snoozed"][0], later(60))
    assert later_on is not None
    assert ApprovalAwaited("i") == later_on.reason


def test_an_incident_that_somebody_waits_for_is_opened_at_once() -> None:
    """Where approval is required, there is something to answer in with the first sign."""
    scene = Scene(check=a_check(needs_approval=True))
    scene.falls_sick()

    assert scene.incident().is_open
    assert Asked(True, scene_name(scene)) == asked(MACHINE_AT, a_machine().uid, scene.engine.cache)


def test_a_persons_answer_is_read_and_noted() -> None:
    """Written into the object as kubectl would, it opens the gate, and the record says who."""
    scene = Scene(check=a_check(needs_approval=True))
    scene.falls_sick()
    scene.answer(decision="approve", by="ann")
    scene.wait(130)

    assert None is unapproved(asked(MACHINE_AT, a_machine().uid, scene.engine.cache), scene.now)
    [step] = scene.incident().record.steps
    assert ("approval", "approve", "by ann") == (step.what, step.value, step.evidence)


def test_an_answer_is_to_one_incident() -> None:
    """The next incident asks again."""
    scene = Scene(check=a_check(needs_approval=True))
    scene.falls_sick()
    scene.answer(decision="approve")
    scene.recovers()
    scene.wait(120)
    scene.falls_sick()

    blocked = unapproved(asked(MACHINE_AT, a_machine().uid, scene.engine.cache), scene.now)
    assert blocked is not None
    assert isinstance(blocked.reason, ApprovalAwaited)


def test_an_answer_is_to_one_machine() -> None:
    """A Machine that is made again under the same name inherits no approval, also before the old Incident is closed."""
    scene = Scene(check=a_check(needs_approval=True))
    scene.falls_sick()
    scene.answer(decision="approve")

    assert None is unapproved(asked(MACHINE_AT, a_machine().uid, scene.engine.cache), scene.now)
    assert Asked(True) == asked(MACHINE_AT, "another-uid", scene.engine.cache)


def test_without_the_kind_nobody_can_answer() -> None:
    """The gate knows that, and says what to do."""
    scene = Scene(is_served=False, check=a_check(needs_approval=True))

    assert Asked(is_kept=False) == asked(MACHINE_AT, a_machine().uid, scene.engine.cache)


def scene_name(scene: Scene) -> str:
    diary = scene.diary()
    assert diary is not None
    return diary.name.name
