"""Who holds a remedy back: people, policies, storms, the budget, other rooms, and whoever removes the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.builders import a_machine_tree
from tests.core.remedy.scene import DOCUMENT_AT, RECORDING, TEXT, Scene, and_more, text

from noderemedy.core.remedy import remedy
from noderemedy.core.remedy.view import sees
from noderemedy.model.budget import need
from noderemedy.model.cluster import Cluster
from noderemedy.model.decision import Fact
from noderemedy.model.ids import CLUSTER, INCIDENT, LEASE, MACHINE, NODE, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.ownnode import OWN_NODE_AT, OwnNodeFact
from noderemedy.model.remote import Remote, Sight, remote_ref
from noderemedy.model.time import Wall
from noderemedy.wire.objects import convert

POLICY = "policy: {%s}"
CLUSTER_AT = ref(CLUSTER, "metal", "metal")


def annotate(scene: Scene, **notes: str) -> None:
    body = {"metadata": {"annotations": {f"node-remedy.dev/{key}": value for key, value in notes.items()}}}
    scene.patch(NODE, "n0", body)


def taint(key: str) -> Callable[[Scene], None]:
    spec = {"taints": [{"key": key, "effect": "NoSchedule", "value": "1"}]}
    return lambda scene: scene.patch(NODE, "n0", {"spec": spec})


def delete_node(scene: Scene) -> None:
    """It goes as soon as its finalizer is off."""
    scene.patch(NODE, "n0", {"metadata": {"finalizers": ["example.com/last-words"]}})
    scene.api.delete(NODE, "n0", "")
    scene.look()


def delete_machine(scene: Scene) -> None:
    tree = a_machine_tree(node_name="n0")
    del tree["spec"]["clusterName"]  # no other cluster's
    tree["metadata"]["deletionTimestamp"] = str(scene.now.wall)
    scene.engine.seen(convert(MACHINE, tree), scene.now)
    scene.step()


def its_cluster(scene: Scene, *, is_paused: bool) -> None:
    cluster = Cluster("cluster-uid", paused=is_paused)
    scene.engine.seen(Seen(CLUSTER_AT, cluster.uid, "1" if is_paused else "2", cluster), scene.now)
    scene.step()


def pause_cluster(scene: Scene) -> None:
    scene.engine.seen(convert(MACHINE, a_machine_tree(node_name="n0")), scene.now)
    its_cluster(scene, is_paused=True)


def pause_another_machine(scene: Scene) -> None:
    """Two Machines name the node: nobody knows whose it is."""
    for name, notes in (("a", {}), ("b", {"cluster.x-k8s.io/paused": ""})):
        tree = a_machine_tree(name, uid=f"uid-{name}", node_name="n0", annotations=notes)
        del tree["spec"]["clusterName"]
        scene.engine.seen(convert(MACHINE, tree), scene.now)


def unplaced_cluster(scene: Scene) -> None:
    """A Machine names the node, and nobody knows yet in which cluster that is."""
    pause_cluster(scene)
    nodes_are(scene, Sight.UNKNOWN)


def nodes_are(scene: Scene, sight: Sight) -> None:
    """The follower says where the nodes of the Cluster are."""
    machine = convert(MACHINE, a_machine_tree(node_name="n0"))
    at = remote_ref(machine.ref.namespace, machine.obj.cluster_name)
    scene.engine.seen(Seen(at, "", "", Remote(sight)), scene.now)
    scene.step()


def sick_for(scene: Scene, seconds: float) -> None:
    scene.falls_sick()
    scene.wait(seconds)


def a_check_asks(scene: Scene, **more: Any) -> Fact:
    """A health check has asked the owner of its Machine."""
    tree = a_machine_tree(node_name="n0")
    del tree["spec"]["clusterName"]
    machine = convert(MACHINE, tree)
    scene.engine.seen(machine, scene.now)
    at = ref(NODE, "n0")
    said = {"is_running": True, "is_claimant": False, **more}
    fact = need(machine.ref, "remediation", scene.now.wall, node=at, **said)
    scene.engine.seen(Seen(fact.ref, "", "", fact.value), scene.now)
    scene.step()
    return fact


HELD: dict[str, tuple[dict[str, Any], Callable[[Scene], Any], str]] = {
    "paused document": ({"notes": {"paused": "true"}}, lambda it: None, "PausedByPerson"),
    "garbage in a pause": ({}, lambda it: it.write_document(TEXT, paused="maybe"), "PauseUnreadable"),
    "paused node": ({}, lambda it: annotate(it, paused="true"), "PausedByPerson"),
    "observing document": ({"notes": {"mode": "observe"}}, lambda it: None, "ObserveOnly"),
    "approval": ({"notes": {"approval": "required"}}, lambda it: None, "ApprovalAwaited"),
    "autoscaler": ({}, taint("ToBeDeletedByClusterAutoscaler"), "NodeBeingRemoved"),
    "a person who deleted the Node": ({}, delete_node, "NodeBeingRemoved"),
    "the owner of its Machine": ({}, delete_machine, "NodeBeingRemoved"),
    "whoever paused its Cluster": ({}, pause_cluster, "ClusterObjectPaused"),
    "whoever paused one of two Machines": ({}, pause_another_machine, "ClusterPaused"),
    "a start: whose Machine it is": ({}, unplaced_cluster, "CannotSeeCluster"),
    "whom a check has asked": ({}, a_check_asks, "ClaimedByOther"),
    "karpenter": ({}, taint("karpenter.sh/disrupted"), "NodeBeingRemoved"),
    "lost storage": (
        {"document": and_more(POLICY % "skipWhenNodeCondition: [StorageLost]")},
        lambda it: it.set_condition("StorageLost", "True"),
        "SkippedByNodeCondition",
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_what_holds_a_remedy_back(name: str) -> None:
    """It is told why, no Job runs, and nothing is written on the Node."""
    given, hinder, reason = HELD[name]
    scene = Scene(**given)
    hinder(scene)
    sick_for(scene, 300)

    assert [reason] == scene.reasons()
    assert ([], None) == (scene.jobs(), scene.record())


def test_it_goes_on_when_the_hindrance_ends() -> None:
    """What a policy held back begins when the condition is gone."""
    scene = Scene(and_more(POLICY % "skipWhenNodeCondition: StorageLost"))
    scene.set_condition("StorageLost", "True")
    sick_for(scene, 300)
    scene.set_condition("StorageLost", "False")

    assert ["repair"] == scene.ordered()


@pytest.mark.parametrize("ends", ["is over", "is stuck"])
def test_it_goes_on_when_whom_a_check_has_asked_is_done(ends: str) -> None:
    """Or had its time, and has not done anything: nobody has to touch the Node."""
    scene = Scene()
    fact = a_check_asks(scene)
    sick_for(scene, 300)
    before = scene.ordered()
    if ends == "is over":
        scene.engine.gone(Seen(fact.ref, "", "", None), scene.now)
        scene.step()
    else:
        a_check_asks(scene, is_stuck=True)

    assert ([], ["repair"]) == (before, scene.ordered())


def test_a_check_that_waits_is_waited_for_by_nobody() -> None:
    """It has asked nobody yet."""
    scene = Scene()
    a_check_asks(scene, is_running=False)
    sick_for(scene, 300)

    assert ["repair"] == scene.ordered()


def test_it_goes_on_when_its_cluster_is_paused_no_more() -> None:
    """Nobody touches the Node or its Machine then: the Cluster says it."""
    scene = Scene()
    pause_cluster(scene)
    sick_for(scene, 300)
    before = scene.ordered()
    its_cluster(scene, is_paused=False)

    assert ([], ["repair"]) == (before, scene.ordered())


@pytest.mark.parametrize("hinder", [pause_cluster, unplaced_cluster])
@pytest.mark.parametrize("seconds", [10, 200, 400, 700, 1_000])
def test_whoever_pauses_the_cluster_stops_a_chain_wherever_it_is(seconds: int, hinder: Callable[[Scene], None]) -> None:
    """Neither a Job nor a record is written meanwhile, whatever becomes of the node; then the chain goes on.

    Nor where nobody knows yet which cluster that is: it may be a paused one (dense fencing seed 7155).
    """
    scene = Scene()
    sick_for(scene, 61)
    for _ in range(seconds // 10):
        scene.wait(10)
        if scene.running_jobs():
            scene.end_job()
    hinder(scene)
    before = len(scene.done)
    scene.wait(600)
    scene.recovers("n0")
    scene.wait(600)
    during = scene.done[before:]
    nodes_are(scene, Sight.HOME)
    its_cluster(scene, is_paused=False)
    welcomed = scene.ordered()[-1]
    scene.end_job()

    assert ([], "welcome", None) == (during, welcomed, scene.record())


def test_whose_record_it_is_waits_until_the_cluster_of_its_machine_is_known() -> None:
    """That of its Machine, or of a node that no Machine has: two would be opened for one episode."""
    scene = Scene(rooms=RECORDING, notes={"mode": "observe"})
    unplaced_cluster(scene)
    sick_for(scene, 300)
    before = scene.api.list(INCIDENT)
    nodes_are(scene, Sight.SEEN)
    scene.wait(300)

    assert ([], ["Node"]) == (before, [one["spec"]["target"]["kind"] for one in scene.api.list(INCIDENT)])


def test_repair_now_skips_the_period_only() -> None:
    """A person who asks does not wait for the threshold."""
    scene = Scene()
    scene.falls_sick()
    annotate(scene, repair="")

    assert ["repair"] == scene.ordered()


def test_one_node_at_a_time() -> None:
    """The second node of a document waits until the first one is over, and then has its turn."""
    scene = Scene(and_more(POLICY % "oneAtATime: true"), nodes=12)
    for name in ("n0", "n1"):
        scene.falls_sick(name)
    scene.wait(61)
    first, held = len(scene.jobs()), scene.reasons(at=ref(NODE, "n1"))
    scene.end_job()
    scene.recovers("n0")
    scene.wait(11)
    scene.end_job()
    scene.wait(61)

    assert (1, ["OneAtATime"]) == (first, held)
    assert ["repair", "welcome", "repair"] == scene.ordered()


def test_a_remedy_that_is_stuck_gives_its_turn_back() -> None:
    """A Job without an end is a person's business: the next node has its turn."""
    scene = Scene(and_more(POLICY % "oneAtATime: true"), nodes=12)
    for name in ("n0", "n1"):
        scene.falls_sick(name)
    scene.wait(11 * 60)
    early = scene.record("n1")
    scene.wait(5 * 60)

    assert (None, ["RemedyOverdue", "RepairStuck"]) == (early, scene.reasons())
    assert scene.record("n1") is not None


def test_a_storm_holds_the_next_remedy() -> None:
    """The first one began before it; the second one waits for its end."""
    scene = Scene(and_more(POLICY % "skipWhenUnresponsive: 25%"), nodes=12)
    sick_for(scene, 61)
    for name in ("n1", "n2"):
        scene.falls_sick(name)
    scene.end_job(False)
    scene.wait(300)
    stormy = (scene.ordered(), scene.reasons())
    scene.recovers("n1")

    assert (["repair"], ["SkippedUnresponsive"]) == stormy
    assert "reset" in scene.ordered()


def test_the_managers_own_node_gets_no_remedy() -> None:
    """A person is told; nothing is written but what tells of it."""
    scene = Scene(nodes=3)
    scene.engine.seen(Seen(OWN_NODE_AT, "", "", OwnNodeFact("n0")), scene.now)
    scene.falls_sick()
    scene.wait(300)

    assert (["OwnNode"], [], None) == (scene.reasons(), scene.jobs(), scene.record())
    scene.wait(600)
    assert ["RepairStuck"] == scene.reasons(), "it keeps no place while nobody takes over"
    assert "OwnNode" in scene.told


def test_without_that_wish_two_run() -> None:
    """The budget, and not the document, limits them then."""
    scene = Scene(nodes=12)
    for name in ("n0", "n1"):
        scene.falls_sick(name)
    scene.wait(61)

    assert ["repair", "repair"] == scene.ordered()


@pytest.mark.parametrize(("sick", "is_held"), [(1, False), (2, False), (3, True)])
def test_a_share_of_silent_nodes_is_a_storm(sick: int, is_held: bool) -> None:
    """At the document's percentage nothing begins; one node below it does."""
    scene = Scene(and_more(POLICY % "skipWhenUnresponsive: 25%"), nodes=12)
    for number in range(sick):
        scene.falls_sick(f"n{number}")
    scene.wait(61)

    assert is_held == (not scene.jobs())
    assert (["SkippedUnresponsive"] if is_held else []) == scene.reasons("storm-policy", DOCUMENT_AT)


def test_one_silent_node_is_never_a_storm() -> None:
    """A share of a small document does not hold the only sick node."""
    scene = Scene(and_more(POLICY % "skipWhenUnresponsive: 10%"), nodes=3)
    sick_for(scene, 61)

    assert ["repair"] == scene.ordered()


def test_the_budget_is_the_stricter_one() -> None:
    """Two of three nodes are sick: the default budget holds both, whatever the document says."""
    scene = Scene(nodes=3)
    for name in ("n0", "n1"):
        scene.falls_sick(name)
    scene.wait(300)

    assert [] == scene.jobs()
    assert ["TooManyNodesUnhealthy"] == scene.reasons()


def test_an_observer_that_has_just_come_waits() -> None:
    """A manager that starts beside a node that has long been silent watches for a period first."""
    scene = Scene(notes={"mode": "observe"})
    sick_for(scene, 300)
    scene.write_document(TEXT)
    body = {"metadata": {"annotations": {"node-remedy.dev/mode": None}}}
    scene.api.patch(DOCUMENT_AT.kind, DOCUMENT_AT.name, DOCUMENT_AT.namespace, body)
    scene.start()
    early = scene.reasons()
    scene.wait(61)

    assert ["ObserverNew"] == early
    assert ["repair"] == scene.ordered()


def test_a_pause_holds_the_next_remedy() -> None:
    """The Job that runs ends, and the next one waits for the end of the pause."""
    scene = Scene()
    sick_for(scene, 61)
    annotate(scene, paused="true")
    scene.end_job(False)
    scene.wait(600)
    held = scene.ordered()
    scene.patch(NODE, "n0", {"metadata": {"annotations": {"node-remedy.dev/paused": None}}})

    assert ["repair"] == held
    assert ["repair", "reset"] == scene.ordered()


def test_the_oldest_document_governs() -> None:
    """Two documents select one node: one chain runs, by the older one, and both are told."""
    scene = Scene()
    scene.wait(10)
    scene.write_document(text(("name: repair, period", "name: reset, period")), "younger")
    sick_for(scene, 61)

    younger = ref(DOCUMENT_AT.kind, "younger", DOCUMENT_AT.namespace)
    assert ["repair"] == scene.ordered()
    assert ["DocumentOverlaps"] == scene.reasons("storm-policy", DOCUMENT_AT)
    assert ["DocumentOverlaps"] == scene.reasons("storm-policy", younger)


def test_a_document_without_nodes_is_told() -> None:
    """A selector that means nobody is a mistake that nobody would notice."""
    scene = Scene(text(("role=worker", "role=wroker")))

    assert ["DocumentWithoutNodes"] == scene.reasons("storm-policy", DOCUMENT_AT)


def test_the_first_sign_is_the_conditions_own_time() -> None:
    """The record says since when the node is in trouble, by the condition's own time."""
    scene = Scene()
    began = Wall(scene.now.wall.ms // 1000 * 1000)
    sick_for(scene, 61)

    record = scene.record()
    assert record is not None
    assert began == record.since
    assert ["repair-n0"] == [one["metadata"]["name"] for one in scene.api.list(LEASE)]


def shown(scene: Scene) -> list[str]:
    """The gates of the node that are closed, as `explain` shows them."""
    view = sees(ref(NODE, "n0"), scene.engine.cache)
    assert view is not None
    assert remedy.ROOM.explains is not None
    passages = remedy.ROOM.explains(view, scene.now)
    return [type(one.reason).__name__ for one in passages if one.reason is not None]


def test_explain_shows_every_gate() -> None:
    """One that is closed hides none behind it; what time alone opens is among them."""
    scene = Scene()
    annotate(scene, paused="true")
    sick_for(scene, 30)

    assert ["PausedByPerson", "ThresholdNotReached", "WaitingForBudget", "Claiming", "ConfirmFirst"] == shown(scene)


def test_explain_says_that_the_document_is_gone() -> None:
    """A record whose document is gone is explained by that."""
    scene = Scene()
    sick_for(scene, 61)
    scene.delete(DOCUMENT_AT.kind, DOCUMENT_AT.name)

    assert "DocumentGone" in shown(scene)
