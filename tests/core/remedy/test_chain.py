"""The chain of remedies in virtual time: each remedy runs once, its end decides, its period runs from its end."""

from __future__ import annotations

import pytest
from tests.core.remedy.scene import POD_OF_REMEDY, TEXT, Scene, environment, text

from noderemedy.model.ids import CONFIG_MAP, JOB, NODE, ref
from noderemedy.model.remedy import Outcome, Phase
from noderemedy.model.time import MINUTE

MINUTES_11 = MINUTE * 11


def sick(document: str = TEXT) -> Scene:
    """A node that has been silent for longer than it may: its first remedy is under way."""
    scene = Scene(document)
    scene.falls_sick()
    scene.wait(61)
    return scene


def phase(scene: Scene) -> Phase | None:
    record = scene.record()
    return record.phase if record else None


def test_a_threshold_runs_its_first_remedy() -> None:
    """After its period, and not before, the Job of remedy1 is there, once, and the Node names it."""
    scene = Scene()
    scene.falls_sick()
    scene.wait(60)
    before = scene.jobs()
    scene.wait(1)

    assert [] == before
    assert ["repair"] == scene.ordered()
    [job] = scene.jobs()
    assert job["metadata"]["name"] == scene.notes()["node-remedy.dev/remediation-podname"]
    assert "node-remedy.dev/remediation-timestamp" in scene.notes()


def test_the_record_is_written_before_the_job() -> None:
    """Who crashes between the two finds the record, and makes that very Job."""
    scene = sick()

    assert ["KeepDocument", "WriteLedger", "ClaimRepair", "WriteRemedyRecord", "CreateJob"] == scene.done


def test_a_condition_that_passes_in_time_runs_nothing() -> None:
    """A node that is silent for less than its period is nobody's patient."""
    scene = Scene()
    scene.falls_sick()
    scene.wait(50)
    scene.recovers()
    scene.wait(600)

    assert [] == scene.jobs()
    assert {} == {key: value for key, value in scene.notes().items() if "remed" in key}


def test_the_pod_is_told_about_the_node() -> None:
    """Name, uid, boot, addresses, episode, threshold and the leader's token are in its environment."""
    scene = sick()

    told = environment(scene.jobs()[0])
    uid = scene.api.get(NODE, "n0", "")["metadata"]["uid"]
    record = scene.record()
    assert record is not None
    assert ("n0", uid, "boot-1", "192.0.2.7") == tuple(
        told[name] for name in ("NODE_NAME", "NODE_UID", "NODE_BOOT_ID", "NODE_ADDRESSES")
    )
    assert (record.episode, "repair", "Ready=False|Unknown", "7") == tuple(
        told[name] for name in ("EPISODE", "REMEDY", "THRESHOLD", "TOKEN")
    )


def test_the_pod_never_runs_on_the_node_that_it_repairs() -> None:
    """Whatever affinity its author wrote, every alternative excludes the sick node."""
    affinity = (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
        "{matchExpressions: [{key: a, operator: Exists}]}, {matchExpressions: [{key: b, operator: Exists}]}]}}}"
    )
    pod = POD_OF_REMEDY.replace("spec: {", "spec: {" + affinity + ", ")
    scene = sick(text((POD_OF_REMEDY, pod)))

    spec = scene.jobs()[0]["spec"]["template"]["spec"]
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    never = [{"key": "metadata.name", "operator": "NotIn", "values": ["n0"]}]
    assert [never, never] == [term["matchFields"] for term in terms]
    assert [] == [one for one in spec.get("tolerations", []) if one.get("operator") == "Exists"]


def test_a_remedy_that_helps_is_the_last_one() -> None:
    """The node comes back within the period: the recovery runs, and nothing is left on the Node."""
    scene = sick()
    scene.end_job()
    scene.wait(60)
    scene.recovers()
    scene.wait(9)
    early = scene.ordered()
    scene.wait(2)
    recovering = phase(scene)
    scene.end_job()

    assert ["repair"] == early
    assert Phase.RECOVERING is recovering
    assert ["repair", "welcome"] == scene.ordered()
    assert {} == scene.notes()


@pytest.mark.parametrize("is_good", [True, False])
def test_the_period_runs_from_the_end_of_a_remedy(is_good: bool) -> None:
    """Whether it succeeded or failed, the next remedy comes when its period is over, and not before."""
    scene = sick()
    scene.wait(120)
    scene.end_job(is_good)
    scene.wait(178)
    before = scene.ordered()
    scene.wait(3)

    assert ["repair"] == before
    assert ["repair", "reset"] == scene.ordered()


def test_when_nothing_helps_a_person_is_called() -> None:
    """After the last period the remedies are exhausted: told once, nothing more is run, and no budget is held."""
    scene = sick()
    for _ in range(2):
        scene.end_job(False)
        scene.wait(301)
    writes = len(scene.done)
    scene.wait(86_400)

    assert Phase.EXHAUSTED is phase(scene)
    assert ["RemediesExhausted"] == scene.reasons()
    assert (["repair", "reset"], writes) == (scene.ordered(), len(scene.done))


def test_an_exhausted_node_that_comes_back_is_welcomed() -> None:
    """What a person repaired by hand recovers as any other."""
    scene = sick()
    for _ in range(2):
        scene.end_job(False)
        scene.wait(301)
    scene.recovers()
    scene.wait(11)
    scene.end_job()

    assert ["repair", "reset", "welcome"] == scene.ordered()
    assert {} == scene.notes()


def test_a_remedy_that_is_not_defined_is_skipped() -> None:
    """The next one runs at once, and both are told."""
    scene = sick(text(("remedy1: {name: repair", "remedy1: {name: nobody-knows")))

    record = scene.record()
    assert record is not None
    assert (2, "reset") == (record.number, record.remedy)
    assert ["reset"] == scene.ordered()


def test_without_any_defined_remedy_nothing_is_written() -> None:
    """A chain of names alone runs nothing, says so, and leaves the Node alone."""
    scene = sick(text(("name: repair, period", "name: x, period"), ("name: reset, period", "name: y, period")))

    assert (["KeepDocument"], {}) == (scene.done, scene.notes())
    assert ["RemedyUndefined", "RemedyUndefined", "RemediesExhausted"] == scene.reasons()


def test_silence_is_no_recovery() -> None:
    """A condition that turns from False to Unknown, which the threshold does not track, is over for nobody."""
    scene = Scene(text(("[false, Unknown]", "false")))
    scene.falls_sick(status="False")
    scene.wait(61)
    scene.end_job()
    scene.falls_sick(status="Unknown")
    scene.wait(181)

    assert ["repair", "reset"] == scene.ordered()


def test_a_job_that_somebody_deleted_has_failed() -> None:
    """It is not made a second time: the next remedy follows after the period."""
    scene = sick()
    scene.delete(JOB, scene.running_jobs()[0])
    record = scene.record()
    scene.wait(181)

    assert record is not None
    assert (Phase.WAITING, Outcome.FAILED) == (record.phase, record.outcome)
    assert ["reset"] == scene.ordered()


def test_a_job_without_an_end_calls_a_person() -> None:
    """Past deadline and margin it is told, and nothing else begins beside it."""
    scene = sick()
    scene.wait(11 * 60)
    before = scene.reasons()
    scene.wait(2 * 60)

    assert (["RemedyRuns"], ["RemedyOverdue", "RepairStuck"]) == (before, scene.reasons())
    assert ["repair"] == scene.ordered()


@pytest.mark.parametrize(("lasted", "is_late"), [(5 * 60, False), (10 * 60, True)])
def test_a_remedy_that_hung_is_told_from_one_that_failed(lasted: int, is_late: bool) -> None:
    """Of a pod that its kubelet ended at its deadline the Job knows only that it failed."""
    scene = sick()
    scene.wait(lasted)
    scene.end_job(False)

    [note] = [one for one in scene.said if one.startswith("remedy repair of node n0 failed")]
    assert is_late == ("its deadline of 600s has passed" in note)


def test_remedies_without_an_end_keep_no_other_node_waiting() -> None:
    """Two that are stuck fill the budget's slots until they are called so; one that ends after all goes on."""
    scene = Scene(nodes=12)
    for name in ("n0", "n1"):
        scene.falls_sick(name)
    scene.wait(10 * 60)
    scene.falls_sick("n2")
    scene.wait(90)
    early = (scene.record("n2"), scene.reasons(at=ref(NODE, "n2")))
    scene.wait(4 * 60)
    stuck, late = scene.reasons(), scene.record("n2")
    scene.end_job(name=scene.record("n0").job)  # type: ignore[union-attr]

    assert (None, ["TooManyInFlight"]) == early
    assert ["RemedyOverdue", "RepairStuck"] == stuck
    assert late is not None
    assert ["RemedyWaits"] == scene.reasons()


def test_a_new_manager_goes_on_where_the_record_is() -> None:
    """In every phase a manager that knows nothing but the API makes no second Job and misses none."""
    scene = sick()
    scene.start()
    scene.wait(5)
    scene.end_job(False)
    scene.start()
    scene.wait(181)
    scene.start()
    scene.end_job()
    scene.recovers()
    scene.start()
    scene.wait(15)
    scene.start()
    scene.end_job()

    assert ["repair", "reset", "welcome"] == scene.ordered()
    assert {} == scene.notes()


def test_an_order_that_nobody_carried_out_is_not_carried_out_late() -> None:
    """A record whose Job was never seen and which is older than ten minutes counts as failed."""
    scene = sick()
    [name] = scene.running_jobs()
    scene.api.delete(JOB, name, "node-remedy-system")
    scene.now = type(scene.now)(scene.now.wall + (MINUTES_11), scene.now.mono + (MINUTES_11))
    scene.start()

    record = scene.record()
    assert record is not None
    assert (Phase.WAITING, Outcome.FAILED) == (record.phase, record.outcome)
    assert [] == scene.jobs()


def test_a_document_that_goes_ends_the_chain() -> None:
    """The Job that runs is left to its end; then the record goes, and no recovery runs."""
    scene = sick()
    scene.delete(CONFIG_MAP, "workers")
    running = phase(scene)
    scene.end_job()
    scene.wait(600)

    assert Phase.RUNNING is running
    assert {} == scene.notes()
    assert ["repair"] == scene.ordered()


def test_a_record_that_somebody_edited_runs_nothing() -> None:
    """Garbage in the record is told, with the command that begins anew."""
    scene = Scene()
    scene.patch(NODE, "n0", {"metadata": {"annotations": {"node-remedy.dev/remedy": "{broken"}}})
    scene.falls_sick()
    scene.wait(600)

    assert ["RemedyRecordUnreadable"] == scene.reasons()
    assert [] == scene.jobs()


def test_idle_means_no_writes() -> None:
    """A healthy cluster with a document costs one write when the document comes, and none after that."""
    scene = Scene(nodes=3)
    scene.wait(86_400)

    assert ["KeepDocument"] == scene.done
    assert [] == scene.reasons(at=ref(NODE, "n1"))


def test_people_are_told_every_step_once() -> None:
    """Order, end, next order, recovery: one notice each; waiting and running are nobody's news."""
    scene = sick()
    scene.end_job(False)
    scene.wait(181)
    scene.end_job()
    scene.wait(60)
    scene.recovers()
    scene.wait(11)
    scene.end_job()

    ours = [name for name in scene.told if name.startswith(("Remed", "NodeRec"))]
    assert [
        *("RemedyOrdered", "RemedyEnded", "RemedyOrdered", "RemedyEnded"),
        *("NodeRecovered", "RemedyOrdered", "RemedyEnded"),
    ] == ours


def test_a_threshold_that_is_not_tracked_any_more_is_called_off() -> None:
    """Its record is taken off the Node when the Job has ended, and people are told."""
    scene = sick()
    scene.write_document(text(("nodeConditionType: Ready", "nodeConditionType: DiskPressure")))
    scene.end_job()

    assert {} == scene.notes()
    assert "RemedyCalledOff" in scene.told


def test_a_chain_without_its_document_makes_no_job() -> None:
    """Between the record and the Job the document went: what would run is not known any more."""
    scene = sick()
    [name] = scene.running_jobs()
    scene.api.delete(JOB, name, "node-remedy-system")
    scene.api.delete(CONFIG_MAP, "workers", "node-remedy-system")
    scene.start()

    assert [] == scene.jobs()
    assert "RemedyEnded" in scene.told
