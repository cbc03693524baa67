"""clean-resource: only a remedy that succeeded frees anything, only for the boot that it was ordered for."""

from __future__ import annotations

import json

import pytest
from tests.core.remedy.scene import Scene, text

from noderemedy.model.ids import CONFIG_MAP, JOB, NODE
from noderemedy.model.remedy import Phase
from noderemedy.model.workload import POD

CLEANS = text(("remedy1: {name: repair, period: 3m}", "remedy1: {name: repair, period: 3m, clean-resource: true}"))
HEARD = CLEANS.replace("Ready", "KernelDeadlock").replace("[false, Unknown]", "[true]")
BY_PODS = CLEANS + "freeBy: pods\n"
OUT = "node.kubernetes.io/out-of-service"


def sick(document: str, pods: int = 3) -> Scene:
    scene = Scene(document)
    for number in range(pods):
        scene.add_pod(f"pod-{number}")
    scene.falls_sick()
    scene.wait(61)
    return scene


def taints(scene: Scene) -> list[str]:
    """Those that say out of service; the API itself taints a node that is not ready."""
    found = scene.api.get(NODE, "n0", "").get("spec", {}).get("taints", [])
    return [one["key"] for one in found if one["key"] == OUT]


def test_success_frees_by_a_taint() -> None:
    """The record says so first; then the node is out of service, until it is back."""
    scene = sick(CLEANS)
    scene.end_job()
    tainted = taints(scene)
    scene.set_status(boot="boot-2")
    scene.recovers()
    scene.wait(25)

    assert [OUT] == tainted
    order = [one for one in scene.done if one in ("CreateJob", "TaintOutOfService", "UntaintOutOfService")]
    assert ["CreateJob", "TaintOutOfService", "UntaintOutOfService", "CreateJob"] == order
    assert [] == taints(scene)


def test_success_frees_by_pods() -> None:
    """Where the document says so each pod is removed."""
    scene = sick(BY_PODS)
    scene.end_job()
    scene.wait(20)

    assert [] == scene.pods()
    record = scene.record()
    assert record is not None
    assert (Phase.WAITING, "pods") == (record.phase, record.freed_by)


@pytest.mark.parametrize("document", [CLEANS, BY_PODS])
def test_a_failed_remedy_frees_nothing(document: str) -> None:
    """Failure is nobody's word."""
    scene = sick(document)
    scene.end_job(False)
    scene.wait(60)

    assert (["pod-0", "pod-1", "pod-2"], []) == (scene.pods(), taints(scene))


def test_without_clean_resource_nothing_is_freed() -> None:
    """A remedy that succeeds is no proof by itself."""
    scene = sick(text())
    scene.end_job()
    scene.wait(60)

    assert (["pod-0", "pod-1", "pod-2"], []) == (scene.pods(), taints(scene))


@pytest.mark.parametrize("document", [CLEANS, BY_PODS])
def test_another_boot_keeps_what_it_has(document: str) -> None:
    """A node that has booted since the remedy was ordered runs its pods anew: they are not taken from it."""
    scene = sick(document)
    scene.set_status(boot="boot-2")
    scene.end_job()
    scene.wait(60)

    assert (["pod-0", "pod-1", "pod-2"], []) == (scene.pods(), taints(scene))
    assert ["RemedyWaits"] == scene.reasons()


def test_a_node_that_is_well_again_keeps_what_it_has() -> None:
    """The trouble was over before the remedy had ended: nothing waits to be freed."""
    scene = sick(BY_PODS)
    scene.recovers()
    scene.end_job()
    scene.wait(60)

    assert ["pod-0", "pod-1", "pod-2"] == scene.pods()


def test_pods_are_freed_at_the_documents_pace() -> None:
    """podsPerMinute: 12 are freed in a minute, not at once, and all of them in the end."""
    scene = sick(CLEANS + "policy: {podsPerMinute: 12}\n", pods=18)
    scene.end_job()
    counts = []
    for _ in range(12):
        scene.wait(10)
        counts.append(18 - len(scene.pods()))

    assert all(freed <= 2 + 12 * (number + 1) * 10 / 60 for number, freed in enumerate(counts)), counts
    assert 18 == counts[-1]


# podsPerMinute of the document, of the RemediationBudget -> what is gone 5, 25 and 125 s later
PACES = {
    "the budget is stricter": (60, 6, (6, 6, 18)),
    "the document is stricter": (12, 60, (2, 6, 18)),
    "only the budget counts": (None, 6, (6, 6, 18)),
}


@pytest.mark.parametrize("case", PACES)
def test_the_stricter_pace_wins(case: str) -> None:
    """What the RemediationBudget lets go in a minute holds for remedies, too, beside what the document says."""
    own, budgets, expected = PACES[case]
    scene = sick(BY_PODS + (f"policy: {{podsPerMinute: {own}}}\n" if own else ""), pods=18)
    scene.limit_pods(budgets)
    scene.end_job()
    gone = []
    for seconds in (5, 20, 100):
        scene.wait(seconds)
        gone.append(18 - len(scene.pods()))

    assert expected == tuple(gone)


@pytest.mark.parametrize(
    ("document", "limit", "freed"),
    [
        (CLEANS, 2, ["DeletePod"] * 5),
        (CLEANS, 5, ["TaintOutOfService"]),
        (CLEANS + "freeBy: taint\n", 2, ["TaintOutOfService"]),
    ],
    ids=["more than fit", "as many as fit", "somebody named a way"],
)
def test_more_pods_than_the_budget_lets_go_are_freed_one_by_one(document: str, limit: int, freed: list[str]) -> None:
    """To the last one, though fewer than the limit are left by then; who names a way has it so, and is told."""
    scene = sick(document, pods=5)
    scene.limit_pods(limit)
    scene.end_job()
    scene.wait(240)

    assert freed == [act for act in scene.done if act in ("DeletePod", "TaintOutOfService")]
    assert ("freeBy" in document) == ("FreedAtOnce" in scene.told)


def test_a_whole_node_waits_for_the_minute() -> None:
    """By a taint all pods go at once: two nodes that share one minute wait for each other."""
    scene = Scene(CLEANS, nodes=6)
    for name in ("n0", "n1"):
        scene.add_pod(f"pod-{name}", name)
        scene.falls_sick(name)
    scene.wait(61)
    scene.limit_pods(1)
    for job in scene.running_jobs():
        scene.end_job(name=job)
    scene.wait(30)
    early = scene.done.count("TaintOutOfService")
    scene.wait(60)

    assert (1, 2) == (early, scene.done.count("TaintOutOfService"))


def test_a_taint_of_somebody_else_stays() -> None:
    """Who tainted the node before us takes the taint away."""
    scene = sick(CLEANS)
    spec = {"taints": [{"key": OUT, "effect": "NoExecute", "value": "somebody"}]}
    scene.patch(NODE, "n0", {"spec": spec})
    scene.end_job()
    scene.wait(20)
    scene.set_status(boot="boot-2")
    scene.recovers()
    scene.wait(20)

    assert [OUT] == taints(scene)


def test_people_are_told_on_whose_word() -> None:
    """The word, what was freed, and that the taint goes: told; the pace is nobody's news."""
    scene = sick(BY_PODS + "policy: {podsPerMinute: 60}\n", pods=18)
    scene.end_job()
    paced = scene.reasons()
    scene.wait(60)

    assert {"VouchedFor", "WorkloadCleaned"} <= set(scene.told)
    assert "PodsPaced" not in scene.told
    assert ["RemedyWaits"] == scene.reasons()
    assert ["PodsPaced", "VouchedFor"] == paced


def test_what_is_kept_is_told() -> None:
    """Why nothing was freed, too; and a taint of ours waits for the node."""
    scene = sick(CLEANS)
    scene.set_status(boot="boot-2")
    scene.end_job()

    assert "NothingToClean" in scene.told


def test_a_taint_outlives_its_document() -> None:
    """The document goes while the node is out of service: the taint is ours, and goes when the node has booted."""
    scene = sick(CLEANS)
    scene.end_job()
    scene.wait(20)
    scene.delete(CONFIG_MAP, "workers")
    scene.wait(600)
    still = (taints(scene), scene.reasons())
    scene.recovers()
    scene.wait(25)
    assert ([OUT], ["TaintTakenBack"]) == still
    assert ([OUT], "FreedBootIsBack") == (taints(scene), scene.reasons()[0])

    scene.set_status(boot="boot-2")
    scene.wait(25)
    assert ([], {}) == (taints(scene), scene.notes())


# --- whose success it is -----------------------------------------------------------------------------------------

RECORD = "node-remedy.dev/remedy"
RECORDS = (RECORD, "node-remedy.dev/remediation-timestamp", "node-remedy.dev/remediation-podname")


def drop_record(scene: Scene) -> None:
    """A person has the chain begin anew, as the guide says."""
    scene.patch(NODE, "n0", {"metadata": {"annotations": dict.fromkeys(RECORDS)}})


def test_a_chain_that_begins_anew_runs_anew() -> None:
    """Yesterday's success frees nothing of today: the remedy is run again, and its own end counts."""
    scene = sick(BY_PODS)
    scene.end_job()
    scene.wait(20)
    drop_record(scene)
    scene.add_pod("pod-new")
    scene.wait(61)
    assert (["repair"] * 2, ["pod-new"]) == (scene.ordered()[-2:], scene.pods())

    scene.end_job()
    scene.wait(20)
    assert [] == scene.pods()


def test_an_exhausted_chain_that_begins_anew_runs_anew() -> None:
    """The Jobs that failed are not read back."""
    scene = sick(text())
    while "RemediesExhausted" not in scene.reasons():
        for _ in scene.running_jobs():
            scene.end_job(False)
        scene.wait(60)
    before = len(scene.jobs())
    drop_record(scene)
    scene.wait(61)

    assert (before + 1, 1) == (len(scene.jobs()), len(scene.running_jobs()))


def test_no_remedy_begins_beside_one_that_runs() -> None:
    """Its record was dropped, or says that it is over: its Job goes on all the same, and the next one waits for it."""
    scene = sick(text())
    job = scene.running_jobs()
    drop_record(scene)
    scene.wait(300)
    assert job == scene.running_jobs()

    scene.end_job(False)
    scene.wait(20)
    [again] = scene.running_jobs()
    edited(scene, phase="waiting", outcome="failed")
    scene.wait(600)
    assert ([again], "RemedyRuns") == (scene.running_jobs(), scene.reasons()[0])


def test_another_remedy_under_the_same_number_has_its_own_success() -> None:
    """The document is deleted and written anew, with another remedy that cleans: that one must succeed."""
    scene = sick(text())
    scene.end_job()
    scene.wait(20)
    scene.delete(CONFIG_MAP, "workers")
    scene.wait(20)
    other = BY_PODS.replace("{name: repair", "{name: cut-off")
    scene.write_document(other)
    scene.wait(61)

    assert (["pod-0", "pod-1", "pod-2"], "cut-off") == (scene.pods(), scene.ordered()[-1])


def edited(scene: Scene, **fields: object) -> None:
    """Somebody who may edit the Node changes the record by hand."""
    told = json.loads(scene.notes()[RECORD]) | fields
    scene.patch(NODE, "n0", {"metadata": {"annotations": {RECORD: json.dumps(told)}}})
    scene.wait(60)


@pytest.mark.parametrize("document", [text(), CLEANS, BY_PODS])
def test_a_record_is_no_proof_by_itself(document: str) -> None:
    """Who writes "freeing" on the Node while the Job runs frees nothing, whatever the document says."""
    scene = sick(document)
    edited(scene, phase="freeing", outcome="succeeded")

    assert (["pod-0", "pod-1", "pod-2"], []) == (scene.pods(), taints(scene))


def test_a_record_that_names_another_job_is_no_proof() -> None:
    """A Job that succeeded for another node says nothing about this one."""
    scene = Scene(BY_PODS, nodes=2)
    scene.add_pod("pod-0")
    scene.falls_sick("n1")
    scene.wait(61)
    other = scene.running_jobs()[0]
    scene.end_job()
    scene.set_status("n1", boot="boot-2")
    scene.recovers("n1")
    scene.wait(61)
    scene.end_job()
    scene.falls_sick()
    scene.wait(200)
    edited(scene, phase="freeing", job=other)

    assert ["pod-0"] == scene.pods()


def test_the_word_may_be_taken_back() -> None:
    """Its document says clean-resource no more: what is left stays, although some has gone."""
    scene = sick(BY_PODS + "policy: {podsPerMinute: 6}\n", pods=12)
    scene.end_job()
    scene.wait(15)
    left = scene.pods()
    scene.write_document(BY_PODS.replace(", clean-resource: true", "") + "policy: {podsPerMinute: 6}\n")
    scene.wait(120)

    assert 0 < len(left) < 12
    assert left == scene.pods()


def test_the_word_is_about_what_ran() -> None:
    """It is said after the Job was made, and of another command: this Job's success is not meant."""
    scene = sick(text() + "freeBy: pods\n")
    scene.write_document(BY_PODS)
    scene.end_job()
    scene.wait(60)

    assert ["pod-0", "pod-1", "pod-2"] == scene.pods()
    assert "NothingToClean" in scene.told


def test_a_job_that_is_gone_vouches_for_nothing() -> None:
    """Somebody cleared it away in the middle: what is left stays."""
    scene = sick(BY_PODS + "policy: {podsPerMinute: 6}\n", pods=12)
    job = scene.running_jobs()[0]
    scene.end_job()
    scene.wait(15)
    left = scene.pods()
    scene.delete(JOB, job)
    scene.wait(120)

    assert 0 < len(left) < 12
    assert left == scene.pods()


# --- the boot that was freed -------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [CLEANS, BY_PODS])
def test_the_boot_that_was_freed_is_not_opened_again(document: str) -> None:
    """It was silent, and reports again: what ran there may still write, so storage stays cut off until it boots."""
    scene = sick(document)
    scene.end_job()
    scene.wait(20)
    tainted, jobs = taints(scene), len(scene.jobs())
    scene.recovers()
    scene.wait(900)
    assert (tainted, jobs) == (taints(scene), len(scene.jobs()))
    assert "FreedBootIsBack" in scene.reasons()

    scene.set_status(boot="boot-2")
    scene.wait(25)
    assert ([], "welcome") == (taints(scene), scene.ordered()[-1])


def test_a_node_that_falls_silent_behind_its_taint_is_not_opened_again() -> None:
    """It was heard when the taint came; then its pods went by force: that boot may still write."""
    scene = Scene(HEARD)
    scene.add_pod("pod-0", volume=True)
    scene.set_condition("KernelDeadlock", "True")
    scene.wait(61)
    scene.end_job()
    scene.wait(5)
    assert [OUT] == taints(scene)
    scene.falls_sick()
    scene.wait(20)
    scene.api.delete(POD, "pod-0", "default")  # the API does, where a node is silent and out of service
    scene.wait(20)
    jobs = len(scene.jobs())
    scene.set_condition("KernelDeadlock", "False")
    scene.recovers()
    scene.wait(900)
    assert ([OUT], jobs) == (taints(scene), len(scene.jobs()))
    assert "FreedBootIsBack" in scene.reasons()

    scene.set_status(boot="boot-2")
    scene.wait(25)
    assert ([], "welcome") == (taints(scene), scene.ordered()[-1])


def test_a_node_that_was_heard_all_along_ends_its_pods_itself() -> None:
    """Its kubelet reports while it is freed: no other boot is asked for."""
    scene = Scene(HEARD + "freeBy: pods\n")
    scene.add_pod("pod-0")
    scene.set_condition("KernelDeadlock", "True")
    scene.wait(61)
    scene.end_job()
    scene.wait(20)
    assert [] == scene.pods()
    scene.set_condition("KernelDeadlock", "False")
    scene.wait(25)

    assert "welcome" == scene.ordered()[-1]
