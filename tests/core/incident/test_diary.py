"""The record of an episode: when it begins, what it says, how it ends, and how few writes that takes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, NODE_AT, NOW, a_backup, a_hold, a_node, ago, later
from tests.core.incident.scene import CHECK_AT, Scene, a_check

from noderemedy.core import traces
from noderemedy.core.incident import records, recordview
from noderemedy.core.remedy.facts import Problem, Problems, problems_ref
from noderemedy.model.actions import WriteIncident
from noderemedy.model.budget import Granted, Refused, answer_ref
from noderemedy.model.healthcheck import Criterion, TemplateRef
from noderemedy.model.host import Consumer, Power
from noderemedy.model.ids import CONFIG_MAP, INCIDENT, REMEDIATION, SYSTEM, Kind, ref
from noderemedy.model.incident import STEPS_MAX, Detection, Ending, Incident, Record, Step
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Condition, Taint
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import MachineDeleting
from noderemedy.model.remediation import Evidence, Metal3Remediation, Phase, Progress
from noderemedy.model.replacement import Replacement
from noderemedy.model.request import ExternalRequest
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import Span, Wall
from noderemedy.model.workload import FreeBy
from noderemedy.wire.incidents import incident_body

REMEDIATION_AT = ref(REMEDIATION, MACHINE_AT.name, MACHINE_AT.namespace)
OUT_OF_SERVICE = Taint("node.kubernetes.io/out-of-service", "NoExecute", "nodeshutdown")


def a_sick_scene() -> Scene:
    """A node that fell sick half a minute ago, and its record: opened at once, for somebody is to answer in it."""
    scene = Scene(check=a_check(needs_approval=True))
    scene.falls_sick()
    scene.wait(40)
    return scene


def a_repair(scene: Scene) -> None:
    """A whole repair by annotation, as its room and the baremetal operator put it on the objects."""
    scene.change(machine={"needs_remediation": True})
    scene.change(host={"held": True, "hold": a_hold(since=scene.now.wall)})
    scene.wait(30)
    scene.change(host={"power": Power.OFF})
    scene.change(machine={"backup": a_backup(scene.node.uid), "node_deleted_at": scene.now.wall})
    scene.loses(NODE_AT, scene.node.uid)
    scene.change(machine={"needs_remediation": False})
    scene.change(host={"held": False, "hold": None})
    scene.wait(120)
    scene.change(host={"power": Power.ON})
    scene.set_node(replace(a_node("node-uid-2", boot_id="boot-2")))
    scene.change(machine={"backup": None, "node_deleted_at": None})


# --- beginning ---------------------------------------------------------------------------------------------------


def test_a_record_begins_when_a_target_leaves_healthy() -> None:
    """A node that is not ready, within its timeout, is an incident: what was found is in it."""
    scene = Scene(check=a_check(node_criteria=(Criterion("Ready", "Unknown", Span.seconds(3_600)),)))
    begun = scene.now.wall
    scene.falls_sick()
    scene.wait(32)

    found = scene.incident().found
    assert (MACHINE_AT, "machine-uid-1") == (found.target, found.target_uid)
    assert ("worker-0", "node-uid-1", "boot-1") == (found.node, found.node_uid, found.boot_id)
    assert ("MachineHealthCheck/metal/workers", begun) == (found.check, found.detected)
    [sign] = found.signs
    assert "Ready of node worker-0 is Unknown" in sign


def test_an_episode_is_named_by_node_boot_and_first_sign() -> None:
    """Ten digits that are the same whoever computes them, and the node's name before them."""
    scene = a_sick_scene()
    expected = hashlib.sha256(f"node-uid-1 boot-1 {NOW.wall.ms // 1000}".encode()).hexdigest()[:10]

    assert expected == scene.incident().found.episode
    diary = scene.diary()
    assert diary is not None
    assert ("node-remedy-system", f"worker-0-{expected}") == (diary.name.namespace, diary.name.name)


def test_a_record_is_opened_with_what_was_done() -> None:
    """One write, a few seconds after the first act, tells of all that was done by then."""
    scene = Scene()
    scene.change(machine={"needs_remediation": True})
    scene.change(host={"held": True, "hold": a_hold(since=scene.now.wall)})
    held = scene.now.wall
    scene.wait(6)

    assert ["verdict healthy", "request marked", f"hold held since {held}"] == scene.told()
    assert 1 == len(scene.writes)


def test_a_sign_that_passes_is_written_down_in_the_end() -> None:
    """What-if needs those as well: opened while it lasts, closed when it was well for a minute."""
    scene = Scene()
    scene.falls_sick()
    scene.wait(60)
    scene.recovers()
    well = scene.now.wall
    scene.wait(59)
    assert scene.incident().is_open
    scene.wait(2)

    incident = scene.incident()
    assert (NOW.wall, Ending.SELF_RECOVERED, well) == (
        incident.found.detected,
        incident.record.ending,
        incident.record.closed,
    )
    assert 2 == len(scene.writes)


def test_the_story_of_a_machine_that_was_made_anew_is_not_lost() -> None:
    """It was not written down yet when another one of that name came: it is told to its end first."""
    scene = Scene()
    scene.change(machine={"needs_remediation": True})
    scene.change(machine={"uid": "machine-uid-2"})
    scene.wait(160)

    assert [("machine-uid-1", Ending.GONE), ("machine-uid-2", None)] == sorted(
        (one.found.target_uid, one.record.ending) for one in scene.incidents()
    )


def test_a_machine_that_starts_is_no_incident() -> None:
    """No node yet, and time left: in order."""
    scene = Scene()
    scene.change(machine={"node_name": None, "created": ago(60)})
    scene.wait(60)

    assert ([], None) == (scene.incidents(), scene.diary())


def test_a_machine_that_leaves_is_no_incident() -> None:
    """A machine on its way out is no sick one."""
    scene = Scene()
    scene.change(machine={"deleting": True})
    scene.wait(60)

    assert ([], None) == (scene.incidents(), scene.diary())


def test_a_blink_is_not_written_down() -> None:
    """A sign that is gone before the record began costs no write."""
    scene = Scene()
    scene.falls_sick("False")
    scene.wait(1)
    scene.recovers()
    scene.wait(300)

    assert ([], [], None) == (scene.incidents(), scene.writes, scene.diary())


@pytest.mark.parametrize("lasts", [3, 20])
def test_what_lasted_for_seconds_is_written_down_whatever_its_lot(lasts: int) -> None:
    """Half a minute may pass before it is written, in which it is over: it is written all the same."""
    for number in range(10):
        scene = Scene()
        scene.wait(60 + number * 7)
        began = scene.now.wall
        scene.falls_sick("False")
        scene.wait(lasts)
        scene.recovers()
        well = scene.now.wall
        scene.wait(300)

        incident = scene.incident()
        assert (began, Ending.SELF_RECOVERED, well) == (
            incident.found.detected,
            incident.record.ending,
            incident.record.closed,
        )
        assert (2, None) == (len(scene.writes), scene.diary())


def test_a_machine_that_goes_before_its_record_was_begun_has_one() -> None:
    """Sick for some seconds, and then taken away."""
    scene = Scene()
    scene.falls_sick()
    scene.wait(5)
    scene.loses(MACHINE_AT, "machine-uid-1")
    scene.wait(300)

    assert ("machine-uid-1", Ending.GONE) == (scene.incident().found.target_uid, scene.incident().record.ending)
    assert scene.diary() is None


def test_a_target_that_blinks_for_long_is_one_record() -> None:
    """Ten seconds sick, ten seconds well, again and again: opened once, closed once."""
    scene = Scene()
    for _ in range(20):
        scene.falls_sick("False")
        scene.wait(10)
        scene.recovers()
        scene.wait(10)
    scene.wait(300)

    assert Ending.SELF_RECOVERED is scene.incident().record.ending
    assert len(scene.writes) <= 3


def test_what_an_alarm_counts_is_in_the_record_of_the_machine() -> None:
    """A condition that only a Configuration's alarm names: found, noted, and over, whatever the health check says."""
    scene = Scene()
    at, document = problems_ref(NODE_AT), ref(CONFIG_MAP, "workers", SYSTEM)
    found = Problem("KernelDeadlock", "True", scene.now.wall, is_alarmed=True)
    scene.engine.seen(Seen(at, "", "", Problems(document, (found,))), scene.now)
    scene.step()
    scene.wait(60)
    begun = scene.incident()
    scene.loses(at, "")
    scene.wait(120)

    assert (("KernelDeadlock",), True) == (begun.found.conditions, begun.is_open)
    assert ["problem KernelDeadlock True", "verdict healthy", "problem KernelDeadlock"] == scene.told()
    assert Ending.SELF_RECOVERED is scene.incident().record.ending


def test_a_repair_that_nobody_judges_is_an_incident() -> None:
    """Somebody marks a machine that no check selects: what is done to it is written down all the same."""
    scene = Scene()
    scene.change(machine={"labels": ()})
    scene.change(machine={"needs_remediation": True})
    scene.wait(160)

    assert ("", ()) == (scene.incident().found.check, scene.incident().found.signs)
    assert ["request marked"] == scene.told()


def test_what_cannot_be_judged_is_no_incident() -> None:
    """Neither health nor sickness: an invalid check opens nothing."""
    scene = Scene(check=a_check(problems=("spec.maxUnhealthy: garbage",)))
    scene.falls_sick()
    scene.wait(60)

    assert [] == scene.incidents()


# --- steps -------------------------------------------------------------------------------------------------------


def test_one_record_explains_a_whole_repair() -> None:
    """Every act of the annotation room and what came of it, in order, with evidence."""
    scene = a_sick_scene()
    began = scene.now.wall
    a_repair(scene)
    scene.wait(120)

    [incident] = scene.incidents()
    assert [
        "request marked",
        f"hold held since {began}",
        "power off",
        "backup stored",
        f"deletion of the Node decided at {began + Span.seconds(30)}",
        "node gone",
        "request",
        "hold",
        "power on",
        "verdict healthy",
        "node node-uid-2 boot boot-2",
        "backup",
        "deletion of the Node",
    ] == scene.told()
    assert (Ending.RECOVERED, incident.record.steps[-1].at) == (incident.record.ending, incident.record.closed)
    hold = incident.record.steps[1]
    assert "for node node-uid-1 boot boot-1, leadership 7" == hold.evidence
    assert hold.versions.startswith("BareMetalHost/metal/rack1-u07@")


def test_a_whole_repair_takes_few_writes() -> None:
    """Thirteen steps are one creation and at most three writes, and then there is silence."""
    scene = a_sick_scene()
    a_repair(scene)
    scene.wait(120)
    written = len(scene.writes)
    scene.wait(3_600)

    assert written == len(scene.writes)
    assert 3 <= written <= 4


def test_a_repair_that_nobody_waits_for_is_three_writes() -> None:
    """Opened when it begins, brought up to date once, closed."""
    scene = Scene()
    a_repair(scene)
    scene.wait(120)

    assert (3, Ending.RECOVERED) == (len(scene.writes), scene.incident().record.ending)
    assert "node node-uid-2 boot boot-2" in scene.told()


def test_writes_of_one_record_are_apart() -> None:
    """Whatever happens in two minutes is written at once."""
    scene = a_sick_scene()
    scene.change(machine={"needs_remediation": True})
    scene.wait(5)
    written = len(scene.writes)
    for _ in range(4):
        scene.change(machine={"needs_remediation": False})
        scene.wait(1)
        scene.change(machine={"needs_remediation": True})
        scene.wait(1)

    assert len(scene.writes) <= written + 1
    scene.wait(130)
    assert ["request marked", "request"] * 4 + ["request marked"] == scene.told()


def test_a_person_who_writes_in_it_delays_nothing() -> None:
    """Answers come every minute; what was done is told after two all the same."""
    scene = a_sick_scene()
    scene.wait(60)
    scene.change(machine={"needs_remediation": True})
    for turn in range(4):
        scene.answer(by=f"person-{turn}", decision="approve")
        scene.wait(50)

    assert "request marked" in scene.told()


def test_what_was_merely_seen_goes_along_with_the_next_write() -> None:
    """Observations alone are written after ten minutes; what is done is not kept back for so long."""
    scene = a_sick_scene()
    scene.change(machine={"needs_remediation": True})
    scene.wait(130)
    scene.change(machine={"needs_remediation": False})
    scene.wait(130)
    seen = scene.told()
    scene.change(host={"held": True, "hold": Malformed("garbage")})
    scene.wait(130)

    assert ["request marked"] == seen
    assert ["request marked", "request", "hold held"] == scene.told()[:3]


MARK, UNMARK = (Step(NOW.wall, "annotation", "request", value) for value in ("marked", ""))
SEEN = Step(NOW.wall, "verdict", "node", "node-uid-1 boot boot-1")
ALONE: dict[str, tuple[tuple[Step, ...], bool]] = {
    "nothing": ((), False),
    "it still stands there": ((MARK,), False),
    "it is gone": ((MARK, UNMARK), True),
    "it is gone, and something was seen since": ((MARK, UNMARK, SEEN), True),
    "it was told before it went": ((UNMARK,), False),
    "it came back": ((UNMARK, MARK), False),
}


@pytest.mark.parametrize("name", ALONE)
def test_what_only_we_know_is_written_soon(name: str) -> None:
    """A trace that went while nothing could be written would be lost with whoever remembers it."""
    fresh, expected = ALONE[name]

    assert expected == records.is_ours_alone(fresh)


def test_a_mark_that_went_untold_is_told_half_a_minute_later() -> None:
    """Nothing else tells of it: it does not wait for two minutes."""
    scene = a_sick_scene()
    scene.wait(60)
    scene.change(machine={"needs_remediation": True})
    scene.wait(1)
    scene.change(machine={"needs_remediation": False})
    scene.wait(3)

    assert ["request marked", "request"] == scene.told()[-2:]


def test_the_verdict_is_a_step() -> None:
    """When the target was judged unhealthy it was decided, and by which check."""
    scene = a_sick_scene()
    scene.wait(280)

    [step] = scene.incident().record.steps
    assert ("verdict", "unhealthy", "MachineHealthCheck/metal/workers") == (step.what, step.value, step.by)
    assert NOW.wall + Span.seconds(301) == scene.incident().record.decided


ASPECTS: dict[str, tuple[dict[str, Any], str]] = {
    "a hold whose record cannot be read": (
        {"host": {"held": True, "hold": Malformed("garbage")}},
        "hold held",
    ),
    "a time of deletion that cannot be read": (
        {"machine": {"node_deleted_at": Malformed("garbage")}},
        "deletion of the Node unreadable",
    ),
    "the owner is asked": (
        {"machine": {"conditions": (Condition("OwnerRemediated", "False", NOW.wall),)}},
        "OwnerRemediated False",
    ),
    "a check has failed": (
        {"machine": {"conditions": (Condition("HealthCheckSucceeded", "False", NOW.wall),)}},
        "HealthCheckSucceeded False",
    ),
    "an external repair": (
        {"machine": {"conditions": (Condition("ExternallyRemediated", "False", NOW.wall),)}},
        "ExternallyRemediated False",
    ),
    "a hold for a Metal3Remediation": (
        {"host": {"held_for": (("remediation-uid", a_hold(since=NOW.wall)),)}},
        f"hold of the remediation held since {NOW.wall}",
    ),
    "its owner replaces it": ({"machine": {"replacement": Replacement("worker-9", NOW.wall)}}, "replacement drain"),
    "a replacement that cannot be read": (
        {"machine": {"replacement": Malformed("garbage")}},
        "replacement unreadable",
    ),
    "the machine goes": ({"machine": {"deleting": True}}, "machine deleting"),
}


@pytest.mark.parametrize("name", ASPECTS)
def test_each_aspect_is_a_step(name: str) -> None:
    """What a room puts on its objects is told in the record."""
    change, expected = ASPECTS[name]
    scene = a_sick_scene()
    scene.change(**change)
    scene.wait(130)

    assert [expected] == scene.noted()


def a_remediation(phase: Phase, **evidence: Any) -> Metal3Remediation:
    return Metal3Remediation("remediation-uid", progress=Progress(phase, evidence=Evidence(**evidence)))


def test_the_phases_of_a_remediation_are_steps() -> None:
    """Each with the evidence that its room put into the object; in the end it is gone."""
    scene = a_sick_scene()
    phases = (a_remediation(Phase.NEW), a_remediation(Phase.FREEING, node_uid="n", off_at=NOW.wall, proof="PoweredOff"))
    for one in phases:
        scene.put(REMEDIATION_AT, one)
        scene.wait(20)
    scene.loses(REMEDIATION_AT, "remediation-uid")
    scene.wait(120)

    assert ["remediation requested", "remediation freeing", "remediation"] == scene.told()
    assert f"node n, off at {NOW.wall}, proof PoweredOff" == scene.incident().record.steps[1].evidence


def test_pods_that_a_remediation_deletes_are_a_step() -> None:
    """Told at once, with the proof: a request that is torn away never comes to its next phase (dense seed 7084)."""
    scene = a_sick_scene()
    freed = {"proof": "PoweredOff", "off_at": NOW.wall}
    for by in (None, FreeBy.TAINT, FreeBy.PODS):
        scene.put(REMEDIATION_AT, a_remediation(Phase.FREEING, free_by=by, **freed))
        scene.wait(20)
    scene.loses(REMEDIATION_AT, "remediation-uid")
    scene.wait(120)

    assert ["remediation freeing", "pods deleted", "remediation"] == scene.told()
    assert "PoweredOff" == scene.incident().record.steps[1].evidence


def test_a_remediation_that_gives_the_machine_to_its_owner_is_an_escalation() -> None:
    """The machine is gone after that: escalated."""
    scene = a_sick_scene()
    scene.put(REMEDIATION_AT, a_remediation(Phase.DELETING_MACHINE))
    scene.wait(130)
    scene.loses(MACHINE_AT, scene.machine.uid)

    assert Ending.ESCALATED == scene.incident().record.ending


def test_a_request_of_any_kind_is_a_step() -> None:
    """A template of somebody else's: its request is noted by kind and uid, and when it is gone."""
    scene = Scene(check=a_check(template=TemplateRef("example.com/v1", "DoctorTemplate", "t", "metal")))
    kind = Kind("example.com", "Doctor")
    scene.engine.listing(kind, scene.now)
    scene.engine.listed(kind, scene.now)
    scene.engine.followed(kind, scene.now)
    at = ref(kind, MACHINE_AT.name, MACHINE_AT.namespace)
    scene.falls_sick()
    scene.wait(40)
    scene.put(at, ExternalRequest("doctor-uid", owner_uid=scene.machine.uid))
    scene.step()
    scene.wait(130)
    scene.loses(at, "doctor-uid")
    scene.wait(130)

    assert ["external request Doctor doctor-uid", "external request"] == scene.noted()


def test_what_is_not_in_sight_yet_is_not_gone() -> None:
    """A manager that has just come has not listed the requests of a template: their record says nothing new."""
    scene = Scene(check=a_check(template=TemplateRef("example.com/v1", "DoctorTemplate", "t", "metal")))
    kind = Kind("example.com", "Doctor")
    scene.engine.listing(kind, scene.now)
    scene.engine.listed(kind, scene.now)
    scene.engine.followed(kind, scene.now)
    scene.falls_sick()
    scene.put(
        ref(kind, MACHINE_AT.name, MACHINE_AT.namespace), ExternalRequest("doctor-uid", owner_uid=scene.machine.uid)
    )
    scene.step()
    scene.wait(200)
    before = scene.told()
    scene.start()
    scene.wait(200)

    assert ["external request Doctor doctor-uid"] == before
    assert [*before, "verdict unhealthy"] == scene.told()


def test_a_record_without_a_step_ends_all_the_same() -> None:
    """Its manager died before it noted anything, and the one who came found the target well."""
    scene = Scene()
    scene.machine = replace(scene.machine, labels=())
    found = Detection(MACHINE_AT, "machine-uid-1", "0123456789", scene.now.wall, "worker-0", "node-uid-1", "boot-1")
    scene.api.create(incident_body(ref(INCIDENT, "worker-0-0123456789", SYSTEM), "v1alpha1", found))
    scene.start()
    scene.wait(120)

    assert (Ending.UNWATCHED, []) == (scene.incident().record.ending, scene.told())


def test_a_taint_is_a_step() -> None:
    """Out of service, and in service again."""
    scene = a_sick_scene()
    scene.set_node(replace(scene.node, taints=(OUT_OF_SERVICE,)))
    scene.wait(130)
    scene.set_node(replace(scene.node, taints=()))
    scene.wait(130)

    assert ["taint out-of-service nodeshutdown:NoExecute", "taint out-of-service"] == scene.noted()


def test_the_budgets_answer_is_a_step() -> None:
    """Refused with its reason, then granted."""
    scene = a_sick_scene()
    for answer in (Refused(MACHINE_AT, MachineDeleting()), Granted(MACHINE_AT, Wall(0))):
        scene.engine.seen(Seen(answer_ref(MACHINE_AT), "", "", answer), scene.now)
        scene.wait(130)

    assert ["budget MachineDeleting", "budget granted at 1970-01-01T00:00:00Z"] == scene.noted()


def test_the_hold_of_another_consumer_is_not_ours() -> None:
    """A host that names another machine back, and is held for it, tells nothing about this one."""
    scene = a_sick_scene()
    other = replace(a_hold(), machine_uid="machine-uid-9")
    scene.change(host={"held": True, "hold": other, "consumer": Consumer("Machine", "metal", "worker-9")})
    scene.wait(130)

    assert [] == scene.told()


def test_a_hold_for_this_machine_is_ours_whoever_is_named() -> None:
    """Machine and host lost each other while the host was held: the record still tells of the hold."""
    scene = a_sick_scene()
    scene.change(host={"held": True, "hold": a_hold(), "consumer": Consumer("Machine", "metal", "worker-9")})
    scene.wait(130)

    assert [traces.held(a_hold())] == [step.removeprefix("hold ") for step in scene.told() if step.startswith("hold ")]


def test_evidence_holds_no_foreign_text() -> None:
    """Annotations of the node, which may hold anything, are in no record."""
    scene = a_sick_scene()
    scene.set_node(replace(scene.node, annotations=(("example.com/token", "s3cret"),)))
    a_repair(scene)
    scene.wait(120)

    assert all("s3cret" not in repr(tree) for tree in scene.api.list(INCIDENT))


# --- ending ------------------------------------------------------------------------------------------------------


def test_a_target_may_recover_by_itself() -> None:
    """Nothing was done, and it is well again: that is worth knowing for the next policy."""
    scene = a_sick_scene()
    scene.recovers()
    well = scene.now.wall
    scene.wait(59)
    assert scene.incident().is_open
    scene.wait(2)

    assert (Ending.SELF_RECOVERED, well) == (scene.incident().record.ending, scene.incident().record.closed)
    assert ["verdict healthy"] == scene.told()
    assert scene.diary() is None


def test_a_target_that_flaps_goes_on_with_its_record() -> None:
    """Sick again within a minute: the same incident."""
    scene = a_sick_scene()
    scene.recovers()
    scene.wait(30)
    scene.falls_sick()
    scene.wait(120)

    assert ["verdict healthy", "verdict waiting"] == scene.noted()
    assert scene.incident().is_open


def test_the_next_episode_has_a_record_of_its_own() -> None:
    """An hour later it is another incident."""
    scene = a_sick_scene()
    scene.recovers()
    scene.wait(3_600)
    scene.falls_sick()
    scene.wait(60)

    assert [False, True] == [one.is_open for one in scene.incidents()]


ENDS: dict[str, tuple[dict[str, Any], Ending]] = {
    "somebody took the machine away": ({}, Ending.GONE),
    "its owner was asked to": ({"conditions": (Condition("OwnerRemediated", "False", NOW.wall),)}, Ending.REPLACED),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_machine_that_is_gone_ends_its_record(name: str) -> None:
    """Whether that is a replacement depends on who asked for it."""
    change, expected = ENDS[name]
    scene = a_sick_scene()
    scene.change(machine=change)
    scene.wait(130)
    scene.loses(MACHINE_AT, scene.machine.uid)

    assert expected == scene.incident().record.ending


def test_another_machine_of_that_name_is_another_story() -> None:
    """A machine that was made anew does not go on with the record of its predecessor."""
    scene = a_sick_scene()
    scene.change(machine={"uid": "machine-uid-2"})
    scene.wait(60)

    assert [Ending.GONE, None] == sorted((one.record.ending for one in scene.incidents()), key=str, reverse=False)
    assert {"machine-uid-1", "machine-uid-2"} == {one.found.target_uid for one in scene.incidents()}


def test_a_target_that_nobody_judges_any_more() -> None:
    """The check goes, nothing was done: the record says that nobody watches."""
    scene = a_sick_scene()
    scene.loses(CHECK_AT, scene.check.uid)
    scene.wait(70)

    assert Ending.UNWATCHED == scene.incident().record.ending


def test_a_repair_that_nobody_judges_ends_with_a_ready_node() -> None:
    """Without a check the node itself tells; one that does not get ready in ten minutes is a failure."""
    for status, expected in (("True", Ending.RECOVERED), ("False", Ending.FAILED)):
        scene = Scene()
        scene.change(machine={"labels": ()})
        a_repair(scene)
        scene.set_node(replace(scene.node, conditions=(Condition("Ready", status, scene.now.wall),)))
        scene.wait(90)
        assert (status == "True") == (scene.incident().record.ending is not None)
        scene.wait(600)

        assert expected == scene.incident().record.ending


def test_a_full_record_is_followed_by_another() -> None:
    """A repair that is tried for ever does not make a record without end."""
    scene = a_sick_scene()
    for turn in range(STEPS_MAX):
        scene.change(machine={"needs_remediation": turn % 2 == 0})
    scene.wait(60)

    first, second = scene.incidents()
    assert (Ending.CONTINUED, None) == (first.record.ending, second.record.ending)
    assert STEPS_MAX <= len(first.record.steps) <= STEPS_MAX + 20


# --- restarts, and clusters without Incidents --------------------------------------------------------------------


def test_a_restart_repeats_nothing() -> None:
    """A new manager finds the record, and has nothing to add."""
    scene = a_sick_scene()
    scene.change(machine={"needs_remediation": True})
    scene.wait(130)
    before, written = scene.incident(), len(scene.writes)
    scene.start()
    scene.wait(100)

    assert (before.found, before.record, written) == (
        scene.incident().found,
        scene.incident().record,
        len(scene.writes),
    )


def test_what_happened_while_nobody_looked_is_told_by_what_is_there() -> None:
    """The manager died after the hold was written down; its successor sees that the node is gone and the host free."""
    scene = a_sick_scene()
    scene.change(machine={"needs_remediation": True}, host={"held": True, "hold": a_hold(since=scene.now.wall)})
    scene.wait(125)
    scene.machine = replace(scene.machine, needs_remediation=False, backup=a_backup(), node_deleted_at=scene.now.wall)
    scene.host = replace(scene.host, held=False, hold=None, power=Power.OFF)
    scene.node = replace(scene.node, uid="node-uid-2", boot_id="boot-2")
    scene.start()
    scene.wait(125)

    assert [
        "request",
        "hold",
        "power off",
        "backup stored",
        f"deletion of the Node decided at {scene.machine.node_deleted_at}",
        "node node-uid-2 boot boot-2",
    ] == scene.told()[2:]


def test_without_incidents_nothing_is_written_and_nothing_disturbed() -> None:
    """Where the kind is not installed, the rest goes on."""
    scene = Scene(is_served=False)
    scene.falls_sick()
    a_repair(scene)
    scene.wait(120)

    assert ([], []) == (scene.writes, scene.incidents())


def test_incidents_that_are_installed_later_are_written() -> None:
    """The diary was kept meanwhile."""
    scene = Scene(is_served=False)
    scene.change(machine={"needs_remediation": True})
    scene.wait(30)
    scene.engine.listing(INCIDENT, scene.now)
    scene.engine.listed(INCIDENT, scene.now)
    scene.step()
    scene.wait(150)

    assert ["verdict healthy", "request marked"] == scene.told()


def test_a_machine_that_cannot_be_read_keeps_its_diary() -> None:
    """An object that does not decode is neither gone nor changed."""
    scene = a_sick_scene()
    scene.change(machine={"needs_remediation": True})
    kept = scene.diary()
    scene.engine.unreadable(MACHINE_AT, "machine-uid-1", "9999999", "garbage", scene.now)
    scene.wait(30)

    assert kept is not None
    assert kept == scene.diary()
    assert isinstance(scene.incident(), Incident)


def test_a_node_that_cannot_be_read_is_not_gone() -> None:
    """Nobody knows what became of it: a record that says that it is gone tells of a deletion that nobody saw."""
    scene = a_sick_scene()
    scene.engine.unreadable(NODE_AT, "node-uid-1", "9999999", "garbage", scene.now)
    scene.step()
    assert "node gone" not in scene.noted()

    scene.loses(NODE_AT, "node-uid-1")
    assert "node gone" in scene.noted()


def test_events_of_hosts_wake_their_machine() -> None:
    """A hold is noted although nothing else changes."""
    scene = a_sick_scene()
    scene.change(host={"held": True, "hold": a_hold(since=scene.now.wall)})

    assert scene.diary() is not None
    assert HOST_AT.name in str(scene.diary())


def test_what_another_leader_wrote_is_never_written_over() -> None:
    """A diary from before that is not written under the new version: it is made anew first."""
    scene = a_sick_scene()
    scene.change(machine={"needs_remediation": True})
    diary = scene.diary()
    assert diary is not None
    foreign = Step(scene.now.wall, "annotation", "hold", "held since then")
    stored = replace(scene.incident(), record=Record((foreign,)))
    view = recordview.RecordView(diary, scene.now.mono, Present(stored, "9", scene.now.mono), Absent())

    assert () == records.decide(view, later(60, scene.now)).actions
    mine = replace(stored, record=Record())
    view = recordview.RecordView(diary, scene.now.mono, Present(mine, "9", scene.now.mono), Present(0, "", NOW.mono))
    assert [WriteIncident] == [type(action) for action in records.decide(view, later(60, scene.now)).actions]
