"""The storm policies of a document hold for the fences of its nodes, whoever asks for them."""

from __future__ import annotations

import pytest
from tests.core.fencing.fences import a_plan
from tests.core.remedy.scene import ROOMS, Scene, and_more

from noderemedy.core.fencing import fence
from noderemedy.model.fenceplan import plan_ref
from noderemedy.model.ids import NODE, NODE_FENCE, ref
from noderemedy.model.outcome import Seen

POLICY = "policy: {%s}"
AT = {name: ref(NODE_FENCE, f"node-fence-{name}") for name in ("n0", "n1")}


def a_scene(policy: str, *sick: str) -> Scene:
    """Nodes with a plan each, under a document with this policy; these have just fallen silent."""
    scene = Scene(and_more(POLICY % policy), nodes=12, rooms=(*ROOMS, fence.ROOM))
    for name in AT:
        node = ref(NODE, name)
        scene.engine.seen(Seen(plan_ref(node), "", "", a_plan(node=node)), scene.now)
    for name in sick:
        scene.falls_sick(name)
    return scene


def ask(scene: Scene, name: str = "n0") -> None:
    """A person has a node fenced; nothing is switched off within the next hours."""
    meta = {"name": AT[name].name}
    scene.api.create(
        {
            "apiVersion": "ha.k8s.io/v1",
            "kind": "NodeFence",
            "metadata": meta,
            "spec": {"node": name, "powerManagementDelay": "10h"},
        }
    )
    scene.look()


def begun(scene: Scene, name: str = "n0") -> bool:
    return bool(scene.api.get(NODE_FENCE, AT[name].name, "").get("status", {}).get("started"))


def test_without_a_policy_it_begins() -> None:
    """The document speaks for the node and holds nothing back."""
    scene = a_scene("podsPerMinute: 60", "n0")
    ask(scene)

    assert begun(scene)


def test_a_condition_of_the_node_holds_its_fence() -> None:
    """skipWhenNodeCondition: it waits, says why, and begins when the condition is over."""
    scene = a_scene("skipWhenNodeCondition: [StorageLost]", "n0")
    scene.set_condition("StorageLost", "True")
    ask(scene)
    held = (begun(scene), scene.reasons("node-fence", AT["n0"]))
    scene.set_condition("StorageLost", "False")

    assert (False, ["SkippedByNodeCondition"]) == held
    assert begun(scene)


def test_a_storm_holds_a_fence() -> None:
    """skipWhenUnresponsive: while that share of the document's nodes is silent nothing begins."""
    scene = a_scene("skipWhenUnresponsive: 10%", "n0", "n1")
    ask(scene)
    held = (begun(scene), scene.reasons("node-fence", AT["n0"]))
    scene.recovers("n1")

    assert (False, ["SkippedUnresponsive"]) == held
    assert begun(scene)


@pytest.mark.parametrize("other", ["a fence", "a remedy"])
def test_fences_and_remedies_share_one_turn(other: str) -> None:
    """oneAtATime: a fence waits for another node's fence or remedy."""
    scene = a_scene("oneAtATime: true", "n1")
    if other == "a fence":
        ask(scene, "n1")
    else:
        scene.wait(61)
    scene.falls_sick("n0")
    ask(scene)

    assert (False, ["OneAtATime"]) == (begun(scene), scene.reasons("node-fence", AT["n0"]))


def test_a_fence_learns_how_many_pods_may_go() -> None:
    """podsPerMinute of the document as it is written now; what it means for freeing is told in the fence's stories."""
    scene = a_scene("podsPerMinute: 7", "n0")
    ask(scene)
    views = [fence.ROOM.sees(AT["n0"], scene.engine.cache)]
    scene.write_document(and_more(POLICY % "podsPerMinute: 3"))
    views.append(fence.ROOM.sees(AT["n0"], scene.engine.cache))

    assert [7, 3] == [view.work.pace.of_document for view in views]


def fail(scene: Scene, name: str) -> None:
    """The flow of this node has failed once."""
    status = {"state": "error", "step": "power-management", "since": str(scene.now.wall)}
    scene.patch(NODE_FENCE, AT[name].name, {"status": status}, "status")


def starts(scene: Scene, name: str = "n0") -> int:
    return int(scene.api.get(NODE_FENCE, AT[name].name, "")["status"].get("restarts", 0))


@pytest.mark.parametrize("policy", ["skipWhenNodeCondition: [StorageLost]", "skipWhenUnresponsive: 10%"])
def test_a_fence_begins_anew_when_its_document_lets_it(policy: str) -> None:
    """What began in good weather fails; the next start waits for the end of the storm."""
    scene = a_scene(policy, "n0")
    ask(scene)
    fail(scene, "n0")
    scene.set_condition("StorageLost", "True")
    scene.falls_sick("n1")
    scene.wait(600)
    stormy = (begun(scene), starts(scene))
    scene.set_condition("StorageLost", "False")
    scene.recovers("n1")

    assert ((True, 0), 1) == (stormy, starts(scene))


def test_a_fence_that_is_held_gives_its_turn_back() -> None:
    """oneAtATime: another node is fenced meanwhile, and the first one goes on when that is over."""
    scene = a_scene("oneAtATime: true, skipWhenNodeCondition: [StorageLost]", "n0", "n1")
    ask(scene)
    ask(scene, "n1")
    before = begun(scene, "n1")
    fail(scene, "n0")
    scene.set_condition("StorageLost", "True")
    meanwhile = begun(scene, "n1")
    scene.set_condition("StorageLost", "False")
    scene.wait(200)
    waits = (starts(scene), scene.reasons("node-fence", AT["n0"]))
    scene.patch(NODE_FENCE, AT["n1"].name, {"status": {"state": "final"}}, "status")

    assert (False, True) == (before, meanwhile)
    assert ((0, ["OneAtATime"]), 1) == (waits, starts(scene))


def test_a_remedy_waits_for_a_fence() -> None:
    """The other way round: a fence has the turn, and the remedy of another node waits; alone it would have run."""
    scene = a_scene("oneAtATime: true", "n1")
    ask(scene, "n1")
    scene.falls_sick("n0")
    scene.wait(61)

    assert (True, ["OneAtATime"]) == (begun(scene, "n1"), scene.reasons())
