"""Which object each step of a record is due to, and by which generation of it: as it was then, and never changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, a_hold, later
from tests.core.incident.scene import CHECK_AT, Scene, a_check

from noderemedy import crds
from noderemedy.core.fencing import requestgates
from noderemedy.core.healthcheck import words
from noderemedy.core.incident.diary import appended, step
from noderemedy.core.incident.observed import Decider, Observed
from noderemedy.core.metal3 import remediationgates
from noderemedy.core.remedy.facts import DocumentFact, Problem, Problems, document_ref, problems_ref
from noderemedy.core.traces import Erasing, erasing_ref
from noderemedy.model.budget import Granted, Refused, answer_ref
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.configuration import Configuration, Document
from noderemedy.model.fenceplan import Step as FenceStep
from noderemedy.model.fenceremediation import FencePhase, FenceRemediation, RequestStatus
from noderemedy.model.healthcheck import TemplateRef
from noderemedy.model.ids import (
    CONFIG_MAP,
    FENCE_REMEDIATION,
    INCIDENT,
    REMEDIATION,
    SYSTEM,
    Kind,
    Ref,
    ref,
)
from noderemedy.model.incident import TEXT_MAX, Record, Step
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.node import Condition, Taint
from noderemedy.model.nodefence import FenceEvidence, FenceSpec, FenceStatus, NodeFence, State, fence_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import MachineDeleting
from noderemedy.model.remediation import Evidence, Metal3Remediation, Phase, Progress
from noderemedy.model.remediationbudget import BUDGET_AT, RemediationBudget
from noderemedy.model.request import ExternalRequest
from noderemedy.model.term import TERM_AT, Term
from noderemedy.model.time import Wall
from noderemedy.model.workload import FreeBy

CHECK, OTHER = "MachineHealthCheck/metal/workers", "MachineHealthCheck/metal/others"
BUDGET = "RemediationBudget//cluster"
REMEDIATION_AT = ref(REMEDIATION, MACHINE_AT.name, MACHINE_AT.namespace)
FENCE_AT = ref(FENCE_REMEDIATION, MACHINE_AT.name, MACHINE_AT.namespace)
DOCUMENT_AT = ref(CONFIG_MAP, "workers", SYSTEM)
ANSWER_AT = answer_ref(MACHINE_AT)
MARKED = {"needs_remediation": True, "marked_by": "workers"}


def a_sick_scene(**check: Any) -> Scene:
    """Sick for half a minute, under the third generation of its check; opened at once, for somebody is to answer."""
    scene = Scene(check=a_check(needs_approval=True, generation=3, **check))
    scene.falls_sick()
    scene.wait(40)
    return scene


def edited(scene: Scene, generation: int = 4) -> None:
    """Somebody edits the check."""
    scene.check = replace(scene.check, generation=generation)
    scene.put(CHECK_AT, scene.check)
    scene.step()


def by(scene: Scene) -> dict[str, tuple[str, int]]:
    """The last step of each aspect: whose it was, and by which generation."""
    diary = scene.diary()
    return {one.what: (one.by, one.generation) for one in diary.record.steps} if diary else {}


def states(scene: Scene, at: Ref, fact: Any) -> None:
    scene.engine.seen(Seen(at, "", "", fact), scene.now)
    scene.step()


# --- which generation --------------------------------------------------------------------------------------------


def test_a_verdict_names_its_check_and_generation() -> None:
    """By which version of the policy the machine was called sick."""
    scene = a_sick_scene()
    scene.wait(280)

    [only] = scene.incident().record.steps
    assert ("unhealthy", CHECK, 3) == (only.value, only.by, only.generation)


def test_a_record_stays_as_it_is_when_its_check_is_edited() -> None:
    """An edit is no step, and no write: only what is decided afterwards names the new generation."""
    scene = a_sick_scene()
    scene.wait(280)
    before, written = scene.incident().record, len(scene.writes)
    edited(scene)
    scene.wait(700)
    assert (before, written) == (scene.incident().record, len(scene.writes))

    scene.recovers()
    assert {"verdict": (CHECK, 4)} == by(scene)
    scene.wait(120)
    assert [("unhealthy", 3), ("healthy", 4)] == [(one.value, one.generation) for one in scene.incident().record.steps]


def test_a_mark_names_the_check_that_made_it() -> None:
    """A check's own mark only: what a person marks, or another check did, no generation of this one decided."""
    told = []
    for marked_by in ("workers", "others", ""):
        scene = a_sick_scene()
        scene.change(machine={**MARKED, "marked_by": marked_by})
        told.append(by(scene)["request"])

    assert [(CHECK, 3), ("", 0), ("", 0)] == told


def test_who_comes_later_does_not_guess_a_generation() -> None:
    """The mark was there before this manager, and the check was edited meanwhile: whose it is, and no more."""
    scene = a_sick_scene()
    scene.machine = replace(scene.machine, **MARKED)
    scene.check = replace(scene.check, generation=4)
    scene.start()

    assert (CHECK, 0) == by(scene)["request"]
    scene.change(machine={"needs_remediation": False, "marked_by": ""})
    scene.change(machine=MARKED)
    assert (CHECK, 4) == by(scene)["request"], "this one it saw come"


def test_who_leads_again_does_not_guess_either() -> None:
    """What came while another one led was decided by what that one knew."""
    scene = a_sick_scene()
    scene.wait(1)
    scene.engine.seen(Seen(TERM_AT, "", "", Term(7, scene.now.mono)), scene.now)
    scene.change(machine=MARKED)

    assert (CHECK, 0) == by(scene)["request"]


# --- whose step --------------------------------------------------------------------------------------------------


def test_the_budgets_answer_names_the_budget() -> None:
    """With its generation where there is an object; the defaults are nobody's."""
    scene = a_sick_scene()
    states(scene, ANSWER_AT, Refused(MACHINE_AT, MachineDeleting()))
    without = by(scene)["budget"]
    scene.put(BUDGET_AT, RemediationBudget("budget-uid", generation=5))
    states(scene, ANSWER_AT, Granted(MACHINE_AT, Wall(0)))

    assert [("", 0), (BUDGET, 5)] == [without, by(scene)["budget"]]


def test_a_phase_names_the_generation_that_its_status_was_written_for() -> None:
    """Also where the request was edited since, and whoever reads it: `observedGeneration` is the phase's own."""
    scene = a_sick_scene()
    evidence = Evidence(proof="PoweredOff", free_by=FreeBy.PODS, tainted_at=scene.now.wall)
    progress = Progress(Phase.FREEING, generation=2, evidence=evidence)
    scene.put(REMEDIATION_AT, Metal3Remediation("remediation-uid", progress=progress, generation=6))
    scene.change(host={"held_for": (("remediation-uid", a_hold()), ("other-uid", a_hold()))})
    scene.set_node(replace(scene.node, taints=(Taint("node.kubernetes.io/out-of-service", "NoExecute", "shut"),)))

    mine = ("Metal3Remediation/metal/worker-0", 2)
    found = by(scene)
    assert dict.fromkeys(("remediation", "pods", "hold of the remediation", "taint out-of-service"), mine) == found


def test_a_hold_for_another_request_is_not_this_ones() -> None:
    """A request of a former Machine of that name may still hold the host."""
    scene = a_sick_scene()
    scene.put(REMEDIATION_AT, Metal3Remediation("remediation-uid", progress=Progress(Phase.FREEING, generation=2)))
    scene.change(host={"held_for": (("other-uid", a_hold()),)})

    assert ("", 0) == by(scene)["hold of the remediation"]


@pytest.mark.parametrize(("cloned_from", "expected"), [("template", (CHECK, 3)), ("", ("", 0))])
def test_a_request_is_its_checks_if_a_template_made_it(cloned_from: str, expected: tuple[str, int]) -> None:
    """One that nobody has begun with; what a person made by hand no check decided."""
    scene = a_sick_scene()
    scene.put(REMEDIATION_AT, Metal3Remediation("remediation-uid", cloned_from=cloned_from, generation=1))
    scene.step()

    assert expected == by(scene)["remediation"]


@pytest.mark.parametrize(("cloned_from", "expected"), [("template", (CHECK, 3)), ("", ("", 0))])
def test_so_is_a_request_to_others(cloned_from: str, expected: tuple[str, int]) -> None:
    """Of a kind that only its template is known of."""
    scene = a_sick_scene(template=TemplateRef("example.com/v1", "DoctorTemplate", "t", "metal"))
    kind = Kind("example.com", "Doctor")
    scene.engine.listing(kind, scene.now)
    scene.engine.listed(kind, scene.now)
    scene.engine.followed(kind, scene.now)
    at = ref(kind, MACHINE_AT.name, MACHINE_AT.namespace)
    scene.put(at, ExternalRequest("doctor-uid", owner_uid=scene.machine.uid, cloned_from=cloned_from))
    scene.step()

    assert expected == by(scene)["external request"]


METAL3, FENCING = remediationgates.ASKED, requestgates.ASKED
ALONG = Graded("HealthCheckSucceeded", "False", "UnhealthyNode", f"its owner is asked to replace it: {METAL3.message}")
SAID: dict[str, tuple[Graded, tuple[str, int]]] = {
    "a check that asks the owner": (words.owner_asked("workers"), (CHECK, 3)),
    "another check that did": (words.owner_asked("others"), ("", 0)),
    "a check whose machine is sick": (
        Graded("HealthCheckSucceeded", "False", "UnhealthyNode", f"{words.FAILED}\n* silent"),
        (CHECK, 3),
    ),
    "a request for which there is no template": (
        Graded("ExternallyRemediated", "False", "RemediationTemplateNotFound", "no such template"),
        (CHECK, 3),
    ),
    "a Metal3Remediation that gave up": (METAL3, ("Metal3Remediation/metal/worker-0", 2)),
    "what it said along": (ALONG, ("Metal3Remediation/metal/worker-0", 2)),
    "a FenceRemediation that gave up": (FENCING, ("FenceRemediation/metal/worker-0", 5)),
    "somebody else": (Graded("OwnerRemediated", "False", "Foreign", "another controller"), ("", 0)),
}


@pytest.mark.parametrize("who", SAID)
def test_a_word_on_a_machine_names_who_said_it(who: str) -> None:
    """Its owner acts on it, so by whose policy it was said is worth knowing."""
    said, expected = SAID[who]
    scene = a_sick_scene()
    scene.put(REMEDIATION_AT, Metal3Remediation("m", progress=Progress(Phase.DELETING_MACHINE, generation=2)))
    scene.put(
        FENCE_AT,
        FenceRemediation(
            "f", status=RequestStatus(FencePhase.DELETING_MACHINE, machine_uid="machine-uid-1", generation=5)
        ),
    )
    condition = Condition(said.type, "False", scene.now.wall)
    scene.change(machine={"conditions": (condition,), "told": MachineConditions((said,), None, is_current=True)})

    assert expected == by(scene)[said.type]


def test_an_intent_of_a_check_names_it() -> None:
    """A Machine that its check is about to delete; the reference owner has no policy of its own."""
    told = []
    for room in ("remediation", "owner"):
        scene = a_sick_scene()
        states(scene, erasing_ref(room, MACHINE_AT), Erasing(MACHINE_AT, room, "delete the Machine"))
        told.append(by(scene)["intent"])

    assert [(CHECK, 3), ("", 0)] == told


def test_a_fence_flow_names_its_fence() -> None:
    """With the generation that its status was written for."""
    scene = a_sick_scene()
    status = FenceStatus(State.RUNNING, FenceStep.ISOLATION, started=scene.now.wall, generation=7)
    fence = NodeFence("fence-uid", FenceSpec("worker-0"), status, generation=9)
    scene.put(fence_ref(NODE_AT), fence)
    scene.step()
    assert ("NodeFence//node-fence-worker-0", 7) == by(scene)["fence"]

    tainted = replace(status, evidence=FenceEvidence(tainted_at=scene.now.wall))
    scene.put(fence_ref(NODE_AT), replace(fence, status=tainted))
    scene.set_node(replace(scene.node, taints=(Taint("node.kubernetes.io/out-of-service", "NoExecute", "shut"),)))
    assert ("NodeFence//node-fence-worker-0", 7) == by(scene)["taint out-of-service"]


@pytest.mark.parametrize(("is_last_good", "expected"), [(False, "workers"), (True, "last-good-workers")])
def test_a_document_has_a_version_instead(is_last_good: bool, expected: str) -> None:
    """A ConfigMap has no generation: its resourceVersion stands with the step, or that of the last good one."""
    scene = Scene()
    at = replace(DOCUMENT_AT, name=expected)
    scene.put(at, ConfigMap("document-uid"))
    fact = DocumentFact(DOCUMENT_AT, "document-uid", Document(Configuration(), ""), is_last_good)
    scene.engine.seen(Seen(document_ref(DOCUMENT_AT), "", "", fact), scene.now)
    problem = Problem("KernelDeadlock", "True", scene.now.wall, is_alarmed=True)
    states(scene, problems_ref(NODE_AT), Problems(DOCUMENT_AT, (problem,)))

    diary = scene.diary()
    assert diary is not None
    first = diary.record.steps[0]
    assert ("ConfigMap/node-remedy-system/workers", 0) == (first.by, first.generation)
    assert f"{at}@{scene.version}" == first.versions


def test_what_nobody_decided_names_nobody() -> None:
    """A Node that goes, a power state that was read back."""
    scene = a_sick_scene()
    scene.loses(NODE_AT, "node-uid-1")
    scene.change(machine={"deleting": True})

    assert {"node": ("", 0), "machine": ("", 0)} == {what: by(scene)[what] for what in ("node", "machine")}


# --- as it is kept -----------------------------------------------------------------------------------------------


def test_whoever_decided_is_cut_to_what_the_schema_bears() -> None:
    """Names have lengths that Kubernetes bounds; what is written is bounded all the same."""
    long = step(Observed("verdict", "verdict", by=Decider(ref(CHECK_AT.kind, "n" * 900, "metal"), 3)), NOW)

    assert (TEXT_MAX, 3) == (len(long.by), long.generation)


def unkept(scene: Scene) -> None:
    """The definition of Incidents is that of an older version: the API drops what it does not have."""
    definition = copy.deepcopy(next(one for one in crds.ours() if one["spec"]["names"]["kind"] == INCIDENT.kind))
    fields = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    for steps in (
        fields["spec"]["properties"]["begun"]["properties"]["steps"],
        fields["status"]["properties"]["steps"],
    ):
        del steps["items"]["properties"]["by"], steps["items"]["properties"]["generation"]
    body = {"spec": {"versions": definition["spec"]["versions"]}}
    kind = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
    scene.api.patch(kind, definition["metadata"]["name"], "", body, "merge")


def test_under_an_older_definition_records_are_kept_without_it() -> None:
    """Nothing is written again and again, and nothing of what came meanwhile is lost."""
    scene = Scene(check=a_check(needs_approval=True, generation=3))
    unkept(scene)
    scene.falls_sick()
    scene.wait(340)
    scene.change(machine=MARKED)
    scene.change(machine={"needs_remediation": False, "marked_by": ""})
    scene.wait(200)
    written = len(scene.writes)
    scene.wait(3_600)

    assert ["verdict unhealthy", "request marked", "request"] == scene.told()
    assert [("", 0)] * 3 == [(one.by, one.generation) for one in scene.incident().record.steps]
    assert written == len(scene.writes)


MINE = Step(NOW.wall, "verdict", "verdict", "unhealthy", by=CHECK, generation=3)
PLAIN = replace(MINE, by="", generation=0)
MARK = Step(later(9).wall, "annotation", "request", "marked", by=CHECK, generation=3)
APPENDED: dict[str, tuple[tuple[Step, ...], tuple[Step, ...], tuple[Step, ...]]] = {
    "as it is stored": ((MINE,), (MINE, MARK), (MINE, MARK)),
    "stored without": ((PLAIN,), (MINE, MARK), (PLAIN, MARK)),
    "stored by another leader": ((MARK,), (MINE, MARK), (MARK,)),
    "nothing is stored": ((), (MINE,), (MINE,)),
    "more is stored": ((MINE, MARK), (MINE,), (MINE, MARK)),
}


@pytest.mark.parametrize("name", APPENDED)
def test_what_is_stored_stands(name: str) -> None:
    """Word for word; what was noted since goes behind it, if it is the same story."""
    stored, noted, expected = APPENDED[name]

    assert expected == appended(Record(stored), Record(noted)).steps
