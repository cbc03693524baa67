"""clean-resource: only a remedy that succeeded frees anything, only for the boot that it was ordered for."""

from __future__ import annotations

import pytest
from tests.core.remedy.scene import Scene, text

from noderemedy.model.ids import CONFIG_MAP, NODE
from noderemedy.model.remedy import Phase

CLEANS = text(("remedy1: {name: repair, period: 3m}", "remedy1: {name: repair, period: 3m, clean-resource: true}"))
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
    """The document goes while the node is out of service: the taint is ours, and goes when the node is heard."""
    scene = sick(CLEANS)
    scene.end_job()
    scene.wait(20)
    scene.delete(CONFIG_MAP, "workers")
    scene.wait(600)
    still = (taints(scene), scene.reasons())
    scene.recovers()
    scene.wait(25)

    assert ([OUT], ["TaintTakenBack"]) == still
    assert ([], {}) == (taints(scene), scene.notes())
