"""`nodeFence: {}`: the remedy asks for a fence flow, waits for it, and leaves the claim to it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.core.remedy.scene import POD_OF_REMEDY, Scene, text

from noderemedy.model.budget import need, need_ref
from noderemedy.model.ids import LEASE, NODE, NODE_FENCE, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remedy import Outcome, Phase
from noderemedy.wire.names import REMEDY

FENCES = text(
    (f"{{name: repair, podTemplate: {POD_OF_REMEDY}}}", "{name: repair, nodeFence: {}}"),
)
CLEANS = FENCES.replace("{name: repair, period: 3m}", "{name: repair, period: 3m, clean-resource: true}")
DEADLOCK = CLEANS.replace("nodeConditionType: Ready", "nodeConditionType: KernelDeadlock").replace(
    "nodeConditionStatus: [false, Unknown]", "nodeConditionStatus: [true]"
)
DELAYS = "{powerManagementDelay: 0s, stepRetries: 5}"
NAME = "node-fence-n0"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def sick(document: str = FENCES) -> Scene:
    scene = Scene(document)
    scene.falls_sick()
    scene.wait(61)
    return scene


def fences(scene: Scene) -> list[dict[str, Any]]:
    return list(scene.api.list(NODE_FENCE))


def state(scene: Scene, state: str, **more: Any) -> None:
    scene.patch(NODE_FENCE, NAME, {"status": {"state": state, "step": "power-management", **more}}, "status")


def test_a_fence_flow_is_asked_for() -> None:
    """One NodeFence, that names the node and who asked; no Job, and no claim of ours."""
    scene = sick()
    [fence] = fences(scene)

    assert (NAME, "n0") == (fence["metadata"]["name"], fence["spec"]["node"])
    assert "ConfigMap/node-remedy-system/workers" in fence["metadata"]["annotations"].values()
    assert ([], []) == (scene.jobs(), scene.api.list(LEASE))


def test_the_document_says_how_long_the_flow_waits() -> None:
    """What `nodeFence` says is in the NodeFence; all else is at its default."""
    usual, hasty = (sick(FENCES.replace("nodeFence: {}", f"nodeFence: {said}")) for said in ("{}", DELAYS))
    [before], [after] = fences(usual), fences(hasty)

    assert ("300s", "0s") == tuple(one["spec"]["powerManagementDelay"] for one in (before, after))
    assert before["spec"] | {"powerManagementDelay": "0s", "stepRetries": 5} == after["spec"]


def test_a_final_fence_is_a_success() -> None:
    """Then the period runs, as after any remedy."""
    scene = sick()
    state(scene, "final")

    record = scene.record()
    assert record is not None
    assert (Phase.WAITING, Outcome.SUCCEEDED) == (record.phase, record.outcome)


# the document, and how the node is when its fence flow has ended without fencing anything
UNFENCED = {
    "silent once more": (CLEANS, "Unknown"),
    "silent once more, pod by pod": (CLEANS + "freeBy: pods\n", "Unknown"),
    "Ready with another trouble": (DEADLOCK, "True"),
    "Ready with another trouble, pod by pod": (DEADLOCK + "freeBy: pods\n", "True"),
}


@pytest.mark.parametrize("case", UNFENCED)
def test_the_end_of_a_fence_flow_frees_nothing(case: str) -> None:
    """A flow also ends because the node came back by itself: what it proves it frees itself, and its end is no word."""
    document, ready = UNFENCED[case]
    scene = Scene(document)
    scene.add_pod("pod-0")
    scene.falls_sick()
    scene.set_condition("KernelDeadlock", "True")
    scene.wait(61)
    scene.set_condition("Ready", ready)
    state(scene, "final")
    scene.wait(60)

    record, node = scene.record(), scene.api.get(NODE, "n0", "")
    assert record is not None
    assert (Phase.WAITING, Outcome.SUCCEEDED) == (record.phase, record.outcome)
    assert ["pod-0"] == scene.pods()
    assert OUT_OF_SERVICE not in [one["key"] for one in node["spec"].get("taints", [])]
    assert "NothingToClean" in scene.told


def test_a_fence_flow_that_an_earlier_release_took_for_a_word_frees_nothing() -> None:
    """A record that says *freeing* for a fence flow was written by a manager that knew no better."""
    scene = sick(CLEANS + "freeBy: pods\n")
    scene.add_pod("pod-0")
    text = scene.notes()[REMEDY].replace('"running"', '"freeing"')
    scene.patch(NODE, "n0", {"metadata": {"annotations": {REMEDY: text}}})
    scene.wait(60)

    record = scene.record()
    assert record is not None
    assert (Phase.WAITING, ["pod-0"]) == (record.phase, scene.pods())


def test_a_fence_that_gave_up_has_failed() -> None:
    """The next remedy follows after the period."""
    scene = sick()
    state(scene, "error", restarts=3)
    scene.wait(181)

    assert ["reset"] == scene.ordered()


def test_a_flow_that_is_stuck_keeps_no_slot_by_us() -> None:
    """The slot is given back only if all who are about the node say so: we say what the flow says."""
    scene = sick()
    at, found = ref(NODE, "n0"), []
    for is_stuck in (True, False):
        told = need(at, "node-fence", scene.now.wall, is_running=True, node=at, is_stuck=is_stuck)
        scene.engine.seen(Seen(told.ref, "", "", told.value), scene.now)
        scene.step()
        found.append(scene.fact(need_ref(at, "remedy-fence")).is_stuck)

    assert [True, False] == found


def test_a_fence_of_an_earlier_episode_goes_first() -> None:
    """One that is final and older than the order is replaced."""
    scene = Scene(FENCES)
    meta = {"name": NAME}
    scene.api.create({"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": meta, "spec": {"node": "n0"}})
    state(scene, "final")
    old = fences(scene)[0]["metadata"]["uid"]
    scene.falls_sick()
    scene.wait(61)

    [fence] = fences(scene)
    assert old != fence["metadata"]["uid"]


def test_without_the_kind_the_remedy_fails() -> None:
    """A cluster without NodeFence goes on with the next remedy, and says what to install."""
    scene = Scene(FENCES)
    scene.engine.unserved(NODE_FENCE, scene.now)
    scene.falls_sick()
    scene.wait(61)

    record = scene.record()
    assert record is not None
    assert (Phase.WAITING, Outcome.FAILED) == (record.phase, record.outcome)
