"""Nodes without Machines have records, too; from them repeats are counted: alarms, and nodes that are parked."""

from __future__ import annotations

import pytest
from tests.core.fencing.fences import a_plan
from tests.core.remedy.scene import RECORDING, TEXT, Scene, and_more, text

from noderemedy.core.fencing import fence
from noderemedy.core.traces import diary_ref
from noderemedy.model.budget import Granted, Refused, answer_ref
from noderemedy.model.fenceplan import plan_ref
from noderemedy.model.ids import CONFIG_MAP, INCIDENT, NODE, NODE_FENCE, SYSTEM, ref
from noderemedy.model.incident import Ending, Incident
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import MachineDeleting
from noderemedy.model.room import known
from noderemedy.model.time import Wall
from noderemedy.rooms import ROOMS
from noderemedy.wire.objects import convert

PARKS = and_more("parkAfter: {count: 2, within: 24h}")
FENCED = PARKS.replace("nodeConditionPeriod: 60s", "nodeConditionPeriod: 100h")  # no remedy comes into it
FENCE = "node-fence-n0"
RINGS = and_more("alarms: [{conditionType: Ready, count: 2, within: 24h}]")


def incidents(scene: Scene) -> list[Incident]:
    found = [convert(INCIDENT, tree).obj for tree in scene.api.list(INCIDENT)]
    return sorted(found, key=lambda one: one.found.detected)


def told(incident: Incident) -> list[str]:
    return [f"{step.what} {step.value}".strip() for step in incident.record.steps]


def an_episode(scene: Scene) -> None:
    """The node falls sick, is repaired and recovers; its record is closed."""
    scene.falls_sick()
    scene.wait(70)
    if scene.running_jobs():
        scene.end_job()
    scene.recovers()
    scene.wait(30)
    if scene.running_jobs():
        scene.end_job()
    scene.wait(900)


def test_a_node_without_a_machine_has_a_record() -> None:
    """What was found, each remedy with its end, and how it ended."""
    scene = Scene(rooms=RECORDING)
    an_episode(scene)
    [only] = incidents(scene)

    assert (ref(NODE, "n0"), ("Ready",), Ending.RECOVERED) == (
        only.found.target,
        only.found.conditions,
        only.record.ending,
    )
    steps = [one for one in told(only) if one.startswith(("verdict", "remedy"))]
    assert [
        *("verdict unhealthy", "remedy remedy 1 repair running", "remedy remedy 1 repair waiting succeeded"),
        *("verdict healthy", "remedy recovery welcome recovering", "remedy"),
    ] == steps


DOCUMENT = "ConfigMap/node-remedy-system/workers"


def test_its_steps_name_the_document_in_the_version_that_decided() -> None:
    """A ConfigMap has no generation. An edit in the middle changes no step, and the next ones name the new version."""
    scene = Scene(rooms=RECORDING)
    first = scene.api.get(CONFIG_MAP, "workers", SYSTEM)["metadata"]["resourceVersion"]
    scene.falls_sick()
    scene.wait(70)
    scene.write_document(text(("nodeConditionPeriod: 60s", "nodeConditionPeriod: 61s")))
    second = scene.api.get(CONFIG_MAP, "workers", SYSTEM)["metadata"]["resourceVersion"]
    scene.end_job()
    scene.recovers()
    scene.wait(900)
    [only] = incidents(scene)

    steps = [one for one in only.record.steps if one.by]
    assert {(DOCUMENT, 0)} == {(one.by, one.generation) for one in steps}
    versions = [one.versions.removeprefix(f"{DOCUMENT}@") for one in steps]
    assert ([first, first], {second}) == (versions[:2], set(versions[2:]))


def test_the_budgets_word_on_it_names_the_budget() -> None:
    """As on a Machine: by which generation of its limits a remedy had to wait, or could begin."""
    scene = Scene(rooms=RECORDING)
    scene.limit_pods(5)
    at = ref(NODE, "n0")
    scene.falls_sick()
    scene.wait(20)
    told = []
    for answer in (Refused(at, MachineDeleting()), Granted(at, Wall(0))):
        scene.engine.seen(Seen(answer_ref(at), "", "", answer), scene.now)
        scene.step()
        last = known(scene.engine.cache.read(diary_ref(at))).record.steps[-1]
        told.append((last.what, last.by, last.generation))

    assert [("budget", "RemediationBudget//cluster", 1)] * 2 == told


def test_what_passes_by_itself_is_recorded_as_such() -> None:
    """A sign that lasted for a while and nothing was done about."""
    scene = Scene(rooms=RECORDING)
    scene.falls_sick()
    scene.wait(50)
    scene.recovers()
    scene.wait(900)

    assert [Ending.SELF_RECOVERED] == [one.record.ending for one in incidents(scene)]


def test_what_lasted_for_seconds_is_recorded_whatever_its_lot() -> None:
    """Ten nodes that are sick for five seconds each have ten records; ten that blink have none."""
    scene = Scene(rooms=RECORDING, nodes=10)
    for lasts in (1, 5):
        for number in range(10):
            scene.falls_sick(f"n{number}")
            scene.wait(lasts)
            scene.recovers(f"n{number}")
        scene.wait(900)

    assert [Ending.SELF_RECOVERED] * 10 == [one.record.ending for one in incidents(scene)]
    assert 10 == len({one.found.node for one in incidents(scene)})


@pytest.mark.parametrize("answer", ["approve", "deny"])
def test_a_person_answers_in_the_record(answer: str) -> None:
    """A document that asks for approval repairs what was approved, and nothing else."""
    scene = Scene(TEXT, notes={"approval": "required"}, rooms=RECORDING)
    scene.falls_sick()
    scene.wait(90)
    before = scene.jobs()
    [name] = [one["metadata"]["name"] for one in scene.api.list(INCIDENT)]
    scene.api.patch(INCIDENT, name, SYSTEM, {"spec": {"approval": {"decision": answer, "by": "ann"}}})
    scene.look()
    scene.wait(10)

    assert [] == before
    assert (["repair"] if answer == "approve" else []) == scene.ordered()


def test_repeat_offenders_are_parked() -> None:
    """After so many repairs the next one is left to a person, until the oldest of them is old enough."""
    scene = Scene(PARKS, rooms=RECORDING)
    an_episode(scene)
    an_episode(scene)
    jobs = len(scene.jobs())
    scene.falls_sick()
    scene.wait(600)
    held = scene.reasons()
    scene.wait(24 * 3600)

    assert ["NodeParked"] == held
    assert jobs < len(scene.jobs())


def a_fence(scene: Scene, state: str = "") -> None:
    """Somebody has the node fenced; with a state that is how far the flow has come."""
    if not state:
        body = {"metadata": {"name": FENCE}, "spec": {"node": "n0", "powerManagementDelay": "10h"}}
        scene.api.create({"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", **body})
        scene.look()
        return
    told = {"state": state, "step": "recovery", "started": str(scene.now.wall), "since": str(scene.now.wall)}
    scene.patch(NODE_FENCE, FENCE, {"status": told}, "status")


def a_fenced_episode(scene: Scene) -> None:
    """A node that falls sick is fenced by somebody, and recovers; nothing of that is left but its record."""
    scene.falls_sick()
    scene.wait(70)
    a_fence(scene)
    a_fence(scene, "done")
    scene.wait(10)
    scene.recovers()
    a_fence(scene, "final")
    scene.wait(30)
    scene.delete(NODE_FENCE, FENCE)
    scene.wait(900)


def test_a_node_that_was_fenced_again_and_again_is_parked() -> None:
    """Whoever asked for its fences: the next one does not begin, and says until when; then it does."""
    scene = Scene(FENCED, rooms=(*RECORDING, fence.ROOM))
    node = ref(NODE, "n0")
    scene.engine.seen(Seen(plan_ref(node), "", "", a_plan(node=node)), scene.now)
    a_fenced_episode(scene)
    a_fenced_episode(scene)
    scene.falls_sick()
    scene.wait(70)
    a_fence(scene)
    scene.wait(600)
    at = ref(NODE_FENCE, FENCE)
    held = (scene.reasons("node-fence", at), "started" in scene.api.get(NODE_FENCE, FENCE).get("status", {}))
    scene.wait(24 * 3600)

    assert (["NodeParked"], False) == held
    assert "started" in scene.api.get(NODE_FENCE, FENCE)["status"]


def test_alarms_count_every_problem() -> None:
    """The second problem with the same condition calls a person, once; what passed by itself counts, too."""
    scene = Scene(RINGS, rooms=RECORDING)
    an_episode(scene)
    before = list(scene.told)
    scene.falls_sick()
    scene.wait(50)
    scene.recovers()
    scene.wait(900)

    assert "RepeatedProblem" not in before
    assert 1 == scene.told.count("RepeatedProblem")


def test_an_alarm_ends_with_its_time() -> None:
    """A day later nothing is told any more."""
    scene = Scene(RINGS, rooms=RECORDING)
    an_episode(scene)
    an_episode(scene)
    rings = scene.reasons("repeats")
    scene.wait(25 * 3600)

    assert (["RepeatedProblem"], []) == (rings, scene.reasons("repeats"))


def test_repeats_survive_a_restart() -> None:
    """They are counted from records, not from memory."""
    scene = Scene(PARKS, rooms=RECORDING)
    an_episode(scene)
    an_episode(scene)
    scene.start()
    scene.wait(300)
    scene.falls_sick()
    scene.wait(600)

    assert ["NodeParked"] == scene.reasons()


def test_all_rooms_together() -> None:
    """With every room of the manager the story is the same: nobody stumbles over a target that is a Node."""
    scene = Scene(PARKS, rooms=ROOMS)
    an_episode(scene)

    assert ["repair", "welcome"] == scene.ordered()
    assert [Ending.RECOVERED] == [one.record.ending for one in incidents(scene)]


def test_the_record_stays_until_its_incident_tells_of_it() -> None:
    """When it goes from the Node, the Incident tells of the recovery already."""
    scene = Scene(rooms=RECORDING)
    scene.falls_sick()
    scene.wait(70)
    scene.end_job()
    scene.recovers()
    scene.wait(30)
    scene.end_job()
    [only] = incidents(scene)

    assert "remedy recovery welcome recovering" in told(only)
    assert {} == scene.notes()
