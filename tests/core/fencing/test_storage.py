"""Storage fencing: only pods all of whose volumes were cut off are freed; the fence is lifted for another boot only."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import NODE_AT, NOW, a_node
from tests.core.fencing.fences import CORDON, FENCE_AT, IPMI, UNCORDON, a_fence, a_job, a_plan, an_agent
from tests.core.fencing.story import SWITCH, Story, obeys, refuses
from tests.core.fencing.test_gates import a_view
from tests.core.fencing.test_hostpower import HOST_POWER

from noderemedy.core.fencing.devices import identity
from noderemedy.core.fencing.fence import decide
from noderemedy.core.fencing.storage import is_covered
from noderemedy.model.actions import StartRun
from noderemedy.model.attestation import Attestation
from noderemedy.model.fenceplan import FencePlan, Scope, Step
from noderemedy.model.ids import NODE, NODE_FENCE, ref
from noderemedy.model.nodefence import State
from noderemedy.model.run import Deed, Order, Power, RunState
from noderemedy.model.workload import ATTACHMENT, PERSISTENT_VOLUME, POD, Pod, StorageOfNode, Volume
from noderemedy.wire import names
from noderemedy.wire.attestations import attestation_text

FC_OFF = an_agent("fc-off", Deed.OFF, agent=SWITCH, scope=Scope.STORAGE, covers=("storageClass/fc",))
FC_ON = an_agent("fc-on", Deed.ON, agent=SWITCH, scope=Scope.STORAGE, covers=("storageClass/fc",))
PLAN = a_plan(isolation=(CORDON, FC_OFF), recovery=(FC_ON, UNCORDON))
PLUGS = ("fence_ipmilan", SWITCH)


def cut_off(plan: FencePlan = PLAN, **spec: Any) -> Story:
    """A silent node with a pod on fibre channel, one on another storage, one on both, and one on none."""
    story = Story(plan, plugs=PLUGS)
    for name, kind in (("fast", "fc"), ("slow", "nfs")):
        bound(story, a_volume(name, kind))
    story.pods("db", volumes=[claimed("fast")])
    story.pods("files", volumes=[claimed("slow")])
    story.pods("both", volumes=[claimed("fast"), claimed("slow")])
    story.pods("web")
    story.hang()
    story.run(65)
    story.ask(**spec)
    return story


def a_volume(name: str, kind: str) -> dict[str, Any]:
    claim = {"namespace": "default", "name": name, "kind": "PersistentVolumeClaim"}
    spec = {"claimRef": claim, "storageClassName": kind, "csi": {"driver": f"{kind}.example.com", "volumeHandle": name}}
    more = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}"},
        "spec": {**spec, **more},
    }


def bound(story: Story, volume: dict[str, Any], phase: str = "Bound") -> None:
    """A volume as its controller leaves it."""
    story.api.create(volume)
    body = {"status": {"phase": phase}}
    story.api.patch(PERSISTENT_VOLUME, volume["metadata"]["name"], "", body, "merge", subresource="status")


def claimed(name: str) -> dict[str, Any]:
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def attached(story: Story, name: str) -> None:
    spec = {"attacher": "x", "nodeName": NODE_AT.name, "source": {"persistentVolumeName": f"pv-{name}"}}
    meta = {"name": f"csi-{name}"}
    story.api.create({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": meta, "spec": spec})


def pods(story: Story) -> list[str]:
    return [pod["metadata"]["name"] for pod in story.api.list(POD)]


def test_only_what_was_cut_off_is_freed_before_power_management() -> None:
    """The switch is off and says so: the pod on fibre channel goes, those with other volumes or none stay."""
    story = cut_off(powerManagementDelay="5m")
    story.run(40)

    assert ("running", ["both", "files", "web"], []) == (story.state, pods(story), story.freed_early)
    assert [("fc-off", "off"), ("fc-off", "status")] == story.orders
    assert "StorageFenced by fc-off" in story.status.evidence.proof


def test_attachments_of_what_was_cut_off_go_too_unless_somebody_uses_them() -> None:
    """A volume that a pod which stays still mounts is not detached."""
    story = cut_off(powerManagementDelay="5m")
    bound(story, a_volume("alone", "fc"))
    story.pods("solo", volumes=[claimed("alone")])
    for name in ("fast", "slow", "alone"):
        attached(story, name)
    story.run(40)

    assert ["csi-fast", "csi-slow"] == [one["metadata"]["name"] for one in story.api.list(ATTACHMENT)]


def moved(name: str, kind: str) -> dict[str, Any]:
    """One of the volumes that a claim which was moved has had."""
    return {**a_volume("moved", kind), "metadata": {"name": name}}


@pytest.mark.parametrize(
    ("phase", "kind", "expected"),
    [
        ("Released", "nfs", ["both", "files", "moved", "web"]),
        ("Released", "fc", ["both", "files", "web"]),
        ("Bound", "nfs", ["both", "files", "moved", "web"]),
        ("Bound", "fc", ["both", "files", "web"]),
    ],
)
def test_a_pod_goes_by_the_volume_that_its_claim_has_now(phase: str, kind: str, expected: list[str]) -> None:
    """A kept volume of a claim of that name was on fibre channel; where both are called bound, both must be cut off."""
    story = cut_off(powerManagementDelay="5m")
    bound(story, moved("pv-a-old", "fc"), phase)
    bound(story, moved("pv-b-new", kind))
    story.pods("moved", volumes=[claimed("moved")])
    story.run(40)

    assert ("running", expected, []) == (story.state, pods(story), story.freed_early)


def test_the_storage_comes_back_after_another_boot() -> None:
    """Power management frees the rest; the switch is opened again at recovery."""
    story = cut_off()
    story.run_until(lambda: story.state == "final", 400)

    assert ("fc-on", "on") == story.orders[-1]
    assert ([], {"fence_ipmilan": True, SWITCH: True}, []) == (pods(story), story.plugs, story.freed_early)


def test_the_fence_is_not_lifted_while_the_same_boot_may_write() -> None:
    """The node reports again before it was powered off: it is power cycled first, since its pods run elsewhere."""
    story = cut_off(powerManagementDelay="2m")
    story.run(40)
    story.ready("True")
    story.run(60)
    assert not story.plugs[SWITCH]
    story.run_until(lambda: story.state == "final", 600)

    assert ([("ipmi", "off")], 2) == ([one for one in story.orders if one[1] == "off"][1:], story.boots)


def test_releasing_keeps_the_fence_until_the_node_boots() -> None:
    """Who releases a node whose pods were freed gets its storage back with the next boot, not before."""
    story = cut_off(powerManagementDelay="30m")
    story.run(40)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(60)
    assert (False, "StorageStaysFenced") == (story.plugs[SWITCH], story.told[-1])
    story.ready("True", "boot-9")
    story.run(60)

    assert (True, None) == (story.plugs[SWITCH], story.api.find(NODE_FENCE, FENCE_AT.name))


def behind(plan: FencePlan = PLAN, **spec: Any) -> Story:
    """The pod on fibre channel was freed behind the switch, and its node runs on."""
    story = cut_off(plan, **{"powerManagementDelay": "30m", **spec})
    story.run(40)
    assert "db" not in pods(story)
    return story


def released(story: Story, seconds: int = 120) -> tuple[bool, bool]:
    """Whether the switch is open, and the fence gone, so long after a person has released it."""
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(seconds)
    return story.plugs[SWITCH], story.api.find(NODE_FENCE, FENCE_AT.name) is None


def test_a_plug_that_was_contradicted_ended_no_boot() -> None:
    """The plug said off, and the node reported on: its storage stays cut off, also when it falls silent later."""
    story = behind(powerManagementDelay="60s")
    story.is_wired_right = False
    story.ready("True")
    story.run_until(lambda: "PlugContradicted" in story.told, 1_200)
    heard = released(story)
    story.hang()
    story.run(120)

    assert ((False, False), False) == (heard, story.plugs[SWITCH])
    assert "StorageStaysFenced" in story.told


def test_a_node_that_is_gone_has_not_booted() -> None:
    """Somebody deleted the Node, and its boot runs on: the fence is lifted when another boot reports."""
    story = behind()
    story.api.delete(NODE, NODE_AT.name)
    gone = released(story)
    story.ready("True", "boot-9")
    story.run(60)

    assert ((False, False), True) == (gone, "StorageStaysFenced" in story.told)
    assert (True, None) == (story.plugs[SWITCH], story.api.find(NODE_FENCE, FENCE_AT.name))


def test_a_node_that_cannot_be_read_has_not_booted() -> None:
    """Nobody knows what it shows."""
    story = behind()
    story.engine.unreadable(NODE_AT, "x", "", "garbled", story.now)

    assert (False, False) == released(story)


def test_a_node_that_registers_again_has_not_booted() -> None:
    """A kubelet that restarts makes its Node anew, with another uid: the boot is the same."""
    story = behind()
    story.api.delete(NODE, NODE_AT.name)
    story.run(5)
    story.ready("True", "boot-1")
    story.run(120)
    before = story.plugs[SWITCH], "StorageStaysFenced" in story.told
    story.ready("True", "boot-9")
    story.run_until(story.is_final, 120)

    assert ((False, True), True) == (before, story.plugs[SWITCH])


def test_one_of_two_supplies_that_is_off_ended_no_boot() -> None:
    """A plug is off, and the host is not yet: who releases the node then does not open its storage."""
    plan = a_plan(isolation=(CORDON, FC_OFF), power_management=(IPMI, HOST_POWER), recovery=(FC_ON, UNCORDON))
    story = Story(plan, plugs=(*PLUGS, "host"))
    story.bare_metal()
    bound(story, a_volume("fast", "fc"))
    story.pods("db", volumes=[claimed("fast")])
    story.hang()
    story.run(65)
    story.ask()
    story.run_until(lambda: not story.plugs["fence_ipmilan"], 120)
    story.run(2)

    assert ((False, False), 1) == (released(story), story.boots)


def test_a_boot_that_was_proven_off_gets_no_storage() -> None:
    """The whole node was freed on proof: its storage is opened also if the node never comes back."""
    story = cut_off()
    story.run_until(lambda: bool(story.status.evidence.freed_at), 400)
    story.is_dead = True

    assert (True, True) == released(story)


def test_the_word_of_a_person_opens_the_storage_of_a_node_that_never_comes_back() -> None:
    """The way out of a release that waits for a boot."""
    story = behind()
    story.api.delete(NODE, NODE_AT.name)
    before = released(story)
    status = story.status
    word = Attestation("alice", story.now.wall, status.node_uid, status.boot_id)
    story.patch(FENCE_AT, {"metadata": {"annotations": {names.ATTESTED_OFF: attestation_text(word)}}})
    story.run(60)

    assert ((False, False), True) == (before, story.plugs[SWITCH])
    assert story.api.find(NODE_FENCE, FENCE_AT.name) is None


def test_a_fence_that_was_lifted_waits_for_no_boot() -> None:
    """The node booted by itself and has its storage again: that it is gone by now keeps no fence."""
    story = behind(ttlAfterFinal="30m")
    story.ready("True", "boot-9")
    story.run_until(story.is_final, 120)
    story.api.delete(NODE, NODE_AT.name)

    assert (True, True) == released(story)


def test_a_switch_that_refuses_frees_nothing() -> None:
    """Isolation fails, and so does the flow."""
    story = cut_off(stepRetries=0, maxRestarts=0)
    story.devices[SWITCH] = refuses
    story.run(300)

    assert ("error", 4, []) == (story.state, len(pods(story)), story.freed_early)


def test_without_covers_a_storage_fence_frees_nothing() -> None:
    """Nobody said which volumes it keeps the node from."""
    bare = an_agent("fc-off", Deed.OFF, agent=SWITCH, scope=Scope.STORAGE)
    story = cut_off(a_plan(isolation=(bare,), power_management=(IPMI,)), powerManagementDelay="5m")
    story.run(40)

    assert ("running", 4) == (story.state, len(pods(story)))


def test_a_manager_may_die_behind_the_fence() -> None:
    """Whoever takes over asks the switch anew before it frees anything more."""
    for second in (6, 9, 12, 15):
        story = cut_off(powerManagementDelay="1m")
        story.run(second)
        story.dies()
        story.run_until(story.is_final, 1_200)

        assert ([], True) == (story.freed_early, story.plugs[SWITCH])


@pytest.mark.parametrize(
    ("is_of_the_node", "deed", "step", "expected"),
    [
        (True, Deed.ON, Step.RECOVERY, True),
        (True, Deed.OFF, Step.ISOLATION, False),
        (False, Deed.ON, Step.RECOVERY, False),
    ],
)
def test_only_what_registers_the_node_itself_runs_there(
    is_of_the_node: bool, deed: Deed, step: Step, expected: bool
) -> None:
    """Whatever the agent: the node is cut off from elsewhere, and lets itself in when it is back."""
    disk = an_agent("disk", scope=Scope.STORAGE, on_target=is_of_the_node)
    plan = a_plan(isolation=(CORDON, disk), recovery=(disk, UNCORDON))
    job = a_job("disk", deed, step=step, device=identity(disk))
    state, boot = (State.DONE, "boot-2") if step is Step.RECOVERY else (State.NEW, "boot-1")
    [start] = decide(a_view(fence=a_fence(state, jobs=(job,)), plan=plan, node=a_node(boot_id=boot)), NOW).actions

    assert isinstance(start, StartRun)
    assert ("worker-0" if expected else "") == start.order.bound_to


def test_a_node_registers_itself_when_it_is_back() -> None:
    """Not before it has booted: there is nobody to run it."""
    disk = an_agent("disk", agent=SWITCH, scope=Scope.STORAGE, covers=("storageClass/fc",), on_target=True)
    story = cut_off(a_plan(isolation=(CORDON, disk), recovery=(disk, UNCORDON)))
    there: list[tuple[str, int]] = []

    def notes(story: Story, order: Order) -> tuple[RunState, Power, str]:
        if order.bound_to == "worker-0":
            there.append((order.deed.value, story.boots))
        return obeys(story, order)

    story.devices[SWITCH] = notes
    story.run_until(story.is_final, 400)

    assert ([("on", 2)], True) == (there, story.plugs[SWITCH])


STORAGE = StorageOfNode(
    (
        Volume("default/a", "pv-a", "fc", "d1"),
        Volume("default/b", "pv-b", "", "d2"),
        Volume("default/two", "pv-c", "fc", "d1"),
        Volume("default/two", "pv-d", "", "d2"),
    )
)


@pytest.mark.parametrize(
    ("pod", "covers", "expected"),
    [
        (Pod("p", claims=("a",)), ("storageClass/fc",), True),
        (Pod("p", claims=("a",)), ("driver/d1",), True),
        (Pod("p", claims=("a",)), ("volume/pv-a",), True),
        (Pod("p", claims=("a",)), ("volume/pv-b",), False),
        (Pod("p", claims=("a", "b")), ("driver/d1",), False),
        (Pod("p", claims=("a", "b")), ("driver/d1", "driver/d2"), True),
        (Pod("p", claims=("b",)), ("storageClass/",), False),
        (Pod("p", claims=("unknown",)), ("driver/d1",), False),
        (Pod("p", claims=("two",)), ("driver/d1",), False),
        (Pod("p", claims=("two",)), ("driver/d2",), False),
        (Pod("p", claims=("two",)), ("driver/d1", "driver/d2"), True),
        (Pod("p"), ("driver/d1",), False),
        (Pod("p", claims=("a",), has_other_storage=True), ("driver/d1",), False),
        (Pod("p", claims=("a",), stays=True), ("driver/d1",), False),
    ],
)
def test_which_pods_are_covered(pod: Pod, covers: tuple[str, ...], expected: bool) -> None:
    """All volumes, by class, driver or name; what is unknown, or reached otherwise, is not covered."""
    assert expected == is_covered(ref(POD, "p", "default"), pod, STORAGE, covers)
