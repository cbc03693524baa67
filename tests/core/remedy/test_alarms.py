"""Alarms track what they name: a condition or events that no threshold is about are counted, and nothing is done."""

from __future__ import annotations

import pytest
from tests.core.remedy.scene import DOCUMENT_AT, RECORDING, Scene, and_more, text
from tests.core.remedy.test_events import OOPSES, happen

from noderemedy.core.budget.facts import health_ref
from noderemedy.core.remedy.facts import trouble_ref
from noderemedy.core.remedy.repeats import moments
from noderemedy.model.ids import INCIDENT, NODE, ref
from noderemedy.model.incident import Detection, Ending, Incident, Record, Step
from noderemedy.model.nodeevents import EventsWanted, events_wanted_ref
from noderemedy.model.time import Wall
from noderemedy.wire.objects import convert

NODE_AT = ref(NODE, "n0")
DEADLOCK = "alarms: [{conditionType: KernelDeadlock, count: 3, within: 24h}]"
RINGS = and_more(DEADLOCK)
OF_OOPSES = "alarms: [{nodeEventReason: KernelOops, count: 2, within: 24h}]"


def incidents(scene: Scene) -> list[Incident]:
    found = [convert(INCIDENT, tree).obj for tree in scene.api.list(INCIDENT)]
    return sorted(found, key=lambda one: one.found.detected)


def conditions(scene: Scene) -> list[tuple[str, ...]]:
    return [one.found.conditions for one in incidents(scene)]


def comes_and_goes(scene: Scene, kind: str, bad: str = "True", good: str = "False") -> None:
    scene.set_condition(kind, bad)
    scene.wait(120)
    scene.set_condition(kind, good)
    scene.wait(900)


def test_a_condition_that_only_an_alarm_names_is_counted() -> None:
    """Three deadlocks of a node are three records, and call a person; nothing is repaired."""
    scene = Scene(RINGS, rooms=RECORDING)
    comes_and_goes(scene, "KernelDeadlock")
    comes_and_goes(scene, "KernelDeadlock")
    before = list(scene.told)
    comes_and_goes(scene, "KernelDeadlock")

    assert "RepeatedProblem" not in before
    assert [("KernelDeadlock",)] * 3 == conditions(scene)
    assert {Ending.SELF_RECOVERED} == {one.record.ending for one in incidents(scene)}
    assert ["RepeatedProblem"] == scene.reasons("repeats")
    assert ([], {}) == (scene.jobs(), scene.notes())


def test_what_is_only_counted_makes_no_node_sick() -> None:
    """It is told, and neither a threshold nor the budget counts it."""
    scene = Scene(RINGS, rooms=RECORDING)
    scene.set_condition("KernelDeadlock", "True")
    scene.wait(3_600)

    assert ["ProblemCounted"] == scene.reasons("threshold")
    assert scene.fact(trouble_ref(NODE_AT)) is None
    assert not scene.fact(health_ref(NODE_AT)).is_sick
    assert [] == scene.reasons()


STATUSES = {
    "of any condition True": ("KernelDeadlock", "", "True", 1),
    "and nothing else": ("KernelDeadlock", "", "Unknown", 0),
    "of Ready what a dead node shows": ("Ready", "", "Unknown", 1),
    "or an ailing one": ("Ready", "", "False", 1),
    "what the alarm says": ("VolumesReady", ", conditionStatus: [false, Unknown]", "Unknown", 1),
    "and not the other one": ("VolumesReady", ", conditionStatus: false", "True", 0),
}


@pytest.mark.parametrize(("kind", "more", "status", "problems"), STATUSES.values(), ids=STATUSES)
def test_which_status_is_a_problem(kind: str, more: str, status: str, problems: int) -> None:
    """True, and of Ready that it is not; an alarm may say otherwise."""
    alarm = f"alarms: [{{conditionType: {kind}, count: 1, within: 24h{more}}}]\n"
    scene = Scene(text(("nodeConditionType: Ready", "nodeConditionType: Other")) + alarm, rooms=RECORDING)
    scene.set_condition(kind, status)
    scene.wait(120)

    assert [(kind,)] * problems == conditions(scene)


def test_what_a_threshold_tracks_is_counted_by_its_statuses() -> None:
    """An alarm adds no statuses to those of the threshold."""
    alarm = "alarms: [{conditionType: Ready, count: 1, within: 24h}]\n"
    scene = Scene(text(("[false, Unknown]", "false")) + alarm, rooms=RECORDING)
    scene.falls_sick(status="Unknown")
    scene.wait(120)

    assert [] == incidents(scene)


def test_problems_by_events_are_counted_by_their_reason() -> None:
    """What a threshold of events found has its reason in the record, and alarms can name it."""
    scene = Scene(OOPSES + OF_OOPSES, rooms=RECORDING)
    for _ in range(2):
        happen(scene, 20, 10, 5)
        scene.wait(60)
        scene.end_job()
        scene.wait(7_200)
        for name in scene.running_jobs():
            scene.end_job(name=name)
        scene.wait(900)

    assert [("KernelOops",)] * 2 == conditions(scene)
    assert ["RepeatedProblem"] == scene.reasons("repeats")


def test_events_that_only_an_alarm_names_are_counted() -> None:
    """They are asked for; those within ten minutes are one problem, and no remedy follows."""
    scene = Scene(and_more(OF_OOPSES), rooms=RECORDING)
    happen(scene, 5)
    scene.wait(300)
    happen(scene, 305, 5)
    scene.wait(3_600)
    first = conditions(scene)
    happen(scene, 5)
    scene.wait(3_600)

    assert EventsWanted(("KernelOops",)) == scene.fact(events_wanted_ref(DOCUMENT_AT))
    assert [("KernelOops",)] == first
    assert [("KernelOops",)] * 2 == conditions(scene)
    assert "RepeatedProblem" in scene.told
    assert [] == scene.jobs()


def test_all_that_was_found_is_in_the_record() -> None:
    """Not only the threshold whose remedies follow: both problems are counted."""
    scene = Scene(RINGS, rooms=RECORDING)
    told = {"lastTransitionTime": str(scene.now.wall)}
    found = [{"type": "KernelDeadlock", "status": "True", **told}, {"type": "Ready", "status": "Unknown", **told}]
    scene.patch(NODE, "n0", {"status": {"conditions": found}}, "status")
    scene.wait(90)

    assert [("Ready", "KernelDeadlock")] == conditions(scene)
    assert ["repair"] == scene.ordered()


def test_a_problem_that_stays_hides_no_other() -> None:
    """A deadlock that only a boot ends keeps its record open; what comes and goes meanwhile is counted in it."""
    both = (
        "alarms: [{conditionType: KernelDeadlock, count: 3, within: 24h}, {conditionType: Disk, count: 2, within: 24h}]"
    )
    scene = Scene(and_more(both), rooms=RECORDING)
    scene.set_condition("KernelDeadlock", "True")
    scene.wait(900)
    comes_and_goes(scene, "Disk")
    before = list(scene.told)
    comes_and_goes(scene, "Disk")

    assert [("KernelDeadlock",)] == conditions(scene)
    assert "RepeatedProblem" not in before
    assert ["RepeatedProblem"] == scene.reasons("repeats")


def at(seconds: int) -> Wall:
    return Wall(seconds * 1000)


COURSES: dict[str, tuple[tuple[str, ...], tuple[tuple[int, str], ...], list[int]]] = {
    "at detection": (("Disk",), (), [0]),
    "of another one": (("Ready",), (), []),
    "noted as it was found": (("Disk",), ((1, "True"),), [0]),
    "later than what was found": (("Ready",), ((90, "True"),), [90]),
    "over, and again": (("Disk",), ((1, "True"), (100, ""), (300, "True")), [0, 300]),
    "again within a minute": (("Disk",), ((1, "True"), (100, ""), (159, "True")), [0]),
    "with another status": (("Ready",), ((90, "False"), (200, "Unknown")), [90]),
}


@pytest.mark.parametrize(("found", "steps", "expected"), COURSES.values(), ids=COURSES)
def test_how_often_a_record_tells_of_a_problem(
    found: tuple[str, ...], steps: tuple[tuple[int, str], ...], expected: list[int]
) -> None:
    """Once when it was found, and whenever it came back after a quiet minute."""
    detection = Detection(NODE_AT, "u", "0123456789", at(0), conditions=found)
    noted = tuple(Step(at(when), "threshold", "problem Disk", value) for when, value in steps)

    assert [at(one) for one in expected] == moments(Incident("i", detection, Record(noted)), "Disk")
