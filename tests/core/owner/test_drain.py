"""Draining: cordon, evictions within disruption budgets, growing pauses, and what is said when it takes too long."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node, ago, later, present
from tests.core.owner.scene import AT, CORDONED, SUCCESSOR, WELL, a_list, a_scene, kinds, reasons, recorded

from noderemedy.core.owner.drain import who_is_left
from noderemedy.core.owner.replacing import decide
from noderemedy.core.owner.view import FINALIZER, kept_of
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import (
    Confirm,
    CordonNode,
    DeleteMachine,
    EvictPod,
    ForgetReplacement,
    Guard,
    ListPods,
    RecordReplacement,
    UncordonNode,
    WriteMachineConditions,
)
from noderemedy.model.budget import Need
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import ref
from noderemedy.model.machine import ControllerOwner, Machine
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import (
    ClusterObjectPaused,
    ClusterPaused,
    DeletingMachine,
    DeletionOverdue,
    DrainingNode,
    DrainOverdue,
    PausedByPerson,
    RepairStuck,
    ReplacementCalledOff,
    ReplacementUnreadable,
)
from noderemedy.model.replacement import Replacement, Step
from noderemedy.model.time import Mono, Now
from noderemedy.model.workload import POD, KeptPod, Pod, kept_at

SICK = a_node(ready="False")
EMPTYING = a_node(ready="False", unschedulable=True, annotations=CORDONED)
OVERDUE = recorded(seconds=601)
POD_AT = ref(POD, "pod-0", "default")


def test_the_node_is_cordoned_first() -> None:
    """Nothing new is scheduled to a node that is being emptied, and it says that this was us."""
    decision = decide(a_scene(recorded(), SICK), NOW)

    assert (CordonNode(NODE_AT, Guard("node-uid-1", "103")),) == decision.actions
    assert (DrainingNode("worker-0"),) == decision.because


def test_the_pods_are_listed_live() -> None:
    """Pods are not watched: they are listed once the cordon was seen."""
    assert (ListPods(NODE_AT),) == decide(a_scene(recorded(), EMPTYING), NOW).actions


def test_pods_are_evicted_when_their_time_has_come() -> None:
    """All that have to go are asked at once, by their very uids; then the list is looked at again."""
    pods = a_list("a", Pod("uid-b", deleting=True), Pod("uid-c", stays=True), Pod("uid-d", is_finished=True), "e")
    view = a_scene(recorded(), EMPTYING, pods=pods)

    waits, acts = decide(view, later(4.999)), decide(view, later(5))

    assert ((), later(5).mono) == (waits.actions, waits.wake_at)
    assert [EvictPod, EvictPod, ListPods] == kinds(acts)
    assert [Guard("uid-a"), Guard("uid-e")] == [one.guard for one in acts.actions if isinstance(one, EvictPod)]


def test_pods_that_are_on_their_way_are_only_looked_at() -> None:
    """A pod that was asked to go is not asked again."""
    view = a_scene(recorded(), EMPTYING, pods=a_list(Pod("uid-a", deleting=True)))

    assert (ListPods(NODE_AT),) == decide(view, later(5)).actions


@pytest.mark.parametrize(("seconds", "pause"), [(10, 5), (50, 5), (300, 30), (3_000, 300), (90_000, 300)])
def test_the_pauses_grow(seconds: float, pause: float) -> None:
    """A tenth of the time that it took so far passes until the next try: at least 5 s, at most 5 min."""
    failed = Graded("OwnerRemediated", "False", "DrainFailed", note(seconds), str(ago(60)), severity="Error")
    says = MachineConditions(older=(failed,))
    machine = recorded(seconds=seconds, told=says if seconds > 600 else recorded().told)

    decision = decide(a_scene(machine, EMPTYING, pods=a_list("a")), NOW)

    assert ((), later(pause).mono) == (decision.actions, decision.wake_at)


def note(seconds: float) -> str:
    return DrainOverdue("worker-0", ago(seconds), "default/pod-0").note()


def test_an_empty_node_is_recorded_before_its_machine_goes() -> None:
    """Only what belongs to the node is left, by a list of this very moment: the next step is written down."""
    pods = a_list(Pod("uid-a", stays=True), Pod("uid-b", is_finished=True))
    machine = recorded()

    decision = decide(a_scene(machine, EMPTYING, pods=pods), NOW)

    assert isinstance(machine.replacement, Replacement)
    following = replace(machine.replacement, step=Step.DELETE, at=NOW.wall)
    write = RecordReplacement(AT, Guard("machine-uid-1", "101"), following, machine.finalizers)
    assert ((write,), (DeletingMachine(SUCCESSOR),)) == (decision.actions, decision.because)


def test_an_old_list_does_not_make_a_node_empty() -> None:
    """A list from before is looked at again before the node counts as empty."""
    assert (ListPods(NODE_AT),) == decide(a_scene(recorded(), EMPTYING, pods=a_list()), later(5.001)).actions


def test_a_node_that_falls_silent_is_drained_no_more() -> None:
    """Nobody would end its pods any more: they go with the instance."""
    view = a_scene(recorded(), replace(EMPTYING, conditions=()), pods=a_list("a"))

    assert [RecordReplacement] == kinds(decide(view, NOW))


def test_a_drain_that_takes_too_long_is_told() -> None:
    """After 10 minutes the Machine says so with severity Error and the cause, and a person is told; then it goes on."""
    view = a_scene(OVERDUE, EMPTYING, pods=a_list("a"))
    overdue = DrainOverdue("worker-0", ago(601), "default/pod-0")

    decision = decide(view, NOW)
    (write,) = decision.actions
    assert isinstance(write, WriteMachineConditions)
    assert write.older is not None
    (said,) = write.older
    assert isinstance(said, Graded)
    assert ("False", "DrainFailed", overdue.note(), "Error") == (said.status, said.reason, said.message, said.severity)
    assert (overdue, DrainingNode("worker-0")) == decision.because
    told = replace(OVERDUE, told=MachineConditions(write.current, write.older))
    assert [EvictPod, ListPods] == kinds(decide(a_scene(told, EMPTYING, pods=a_list("a")), later(61)))
    assert DrainOverdue.alert


def test_a_drain_that_a_budget_holds_up_names_it() -> None:
    """The Machine and the alert have the API's words about the first pod that is kept."""
    view = replace(a_scene(OVERDUE, EMPTYING, pods=a_list("a", "b")), kept=((POD_AT, "budget web needs 2"),))

    decision = decide(view, NOW)

    cause = "default/pod-0 is kept: budget web needs 2"
    assert DrainOverdue("worker-0", ago(601), "default/pod-0, default/pod-1", cause) == decision.because[0]
    assert cause in decision.because[0].note()
    (write,) = decision.actions
    assert isinstance(write, WriteMachineConditions)
    assert [decision.because[0].note()] == [getattr(one, "message", "") for one in write.older or ()]


def test_what_the_api_said_of_pods_is_seen() -> None:
    """Of those on the list that are not on their way yet."""
    cache = Cache(())
    for name in ("pod-0", "pod-1", "gone"):
        cache.put(Seen(kept_at(ref(POD, name, "default")), "", "", KeptPod(f"words for {name}")), NOW.mono)

    found = kept_of(a_list("a", Pod("uid-b", deleting=True), "c"), cache)

    assert ((POD_AT, "words for pod-0"),) == found


def test_a_drain_is_looked_at_again_when_it_is_overdue() -> None:
    """Whatever else is waited for, the moment at which people are told is not missed."""
    machine = recorded(seconds=599)

    assert later(1).mono == decide(a_scene(machine, EMPTYING, pods=a_list("a")), NOW).wake_at


def test_a_few_names_are_enough() -> None:
    """What keeps a node from being empty is named, but not all of it."""
    view = a_scene(recorded(), EMPTYING, pods=a_list("a", "b", "c", "d", "e"))

    assert "default/pod-0, default/pod-1, default/pod-2 and 2 more" == who_is_left(view)


# --- deletion ----------------------------------------------------------------------------------------------------


def test_the_machine_is_deleted_on_a_live_read() -> None:
    """The request is read once more, and that very version of the Machine is deleted."""
    view = a_scene(recorded(Step.DELETE), confirmed=False)

    assert (Confirm(AT),) == decide(view, NOW).actions
    granted = a_scene(recorded(Step.DELETE))
    decision = decide(granted, NOW)
    assert (DeleteMachine(AT, Guard("machine-uid-1", "101")),) == decision.actions
    need = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT, begins=granted.begins, tried=NOW.mono)
    assert [need] == [fact.value for fact in decision.facts]


def test_a_machine_without_our_finalizer_is_not_deleted() -> None:
    """It would vanish, and its record with it: the finalizer is put back first."""
    decision = decide(a_scene(recorded(Step.DELETE, finalizers=("x",))), NOW)

    (write,) = decision.actions
    assert isinstance(write, RecordReplacement)
    assert ("x", FINALIZER) == write.finalizers
    assert [ReplacementUnreadable] == reasons(decision)


def test_a_deletion_that_takes_too_long_is_told() -> None:
    """If it fails for ten minutes without a refusal the Machine says so with severity Error, and it rests."""
    need = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT, tried=Mono(NOW.mono.ms - 600_000))
    view = replace(a_scene(recorded(Step.DELETE, seconds=601)), need=need)

    decision = decide(view, NOW)

    (write,) = decision.actions
    assert isinstance(write, WriteMachineConditions)
    assert write.older is not None
    (said,) = write.older
    assert isinstance(said, Graded)
    overdue = DeletionOverdue(ago(601))
    assert ("False", "DeletionFailed", overdue.note(), "Error") == (
        said.status,
        said.reason,
        said.message,
        said.severity,
    )
    assert (overdue, RepairStuck(AT.name)) == decision.because
    assert DeletionOverdue.alert


# --- calling it off, and what was edited --------------------------------------------------------------------------

ABANDONED = [
    {"told": WELL},
    {"owner": ""},
    {"controller": ControllerOwner("v1", "MachineSet", "set", "uid")},
]


@pytest.mark.parametrize("changes", ABANDONED)
@pytest.mark.parametrize("step", list(Step))
def test_it_is_called_off_until_the_machine_is_deleted(changes: dict[str, Any], step: Step) -> None:
    """A node that recovered keeps its machine: our cordon goes first, then record and finalizer."""
    machine = recorded(step, **changes)

    first = decide(a_scene(machine, EMPTYING), NOW)
    second = decide(a_scene(machine, SICK), NOW)

    assert (UncordonNode(NODE_AT, Guard("node-uid-1", "103")),) == first.actions
    assert [ForgetReplacement] == kinds(second)
    assert (ReplacementCalledOff(),) == second.because
    assert ((), ()) == (first.facts, second.facts)


@pytest.mark.parametrize("changes", ABANDONED)
def test_a_paused_cluster_keeps_even_what_is_called_off(changes: dict[str, Any]) -> None:
    """With `cluster.x-k8s.io/paused` nothing is written, and what has begun still counts."""
    paused = decide(a_scene(recorded(**changes, cluster_paused=True), EMPTYING), NOW)
    member = recorded(**changes, cluster_name="c")
    cluster = decide(a_scene(member, EMPTYING, cluster=Cluster("c", paused=True)), NOW)

    pauses = (ClusterPaused(AT.in_words), ClusterObjectPaused("cloud/c"))
    assert [((), (pause,), 1) for pause in pauses] == [
        (one.actions, one.because, len(one.facts)) for one in (paused, cluster)
    ]


def test_our_words_are_taken_back() -> None:
    """A node that recovers while its drain is overdue: what we said goes, what a health check says stays."""
    well = Graded("HealthCheckSucceeded", "True")
    failed = Graded("OwnerRemediated", "False", "DrainFailed", "pods", severity="Error")
    machine = recorded(told=MachineConditions(older=(well, failed)))

    (write,) = decide(a_scene(machine, SICK), NOW).actions

    assert isinstance(write, WriteMachineConditions)
    assert (well,) == write.older
    after = replace(machine, told=MachineConditions(older=(well,)))
    assert [ForgetReplacement] == kinds(decide(a_scene(after, SICK), NOW))


def test_a_health_check_that_passes_calls_it_off() -> None:
    """Whoever asked, a machine that is well again is not replaced; what others said is left to them."""
    asked = Graded("OwnerRemediated", "False", "WaitingForRemediation")
    machine = recorded(told=MachineConditions(older=(Graded("HealthCheckSucceeded", "True"), asked)))

    assert [ForgetReplacement] == kinds(decide(a_scene(machine, SICK), NOW))


def test_a_persons_cordon_survives() -> None:
    """Only a cordon that says that it is ours is undone."""
    machine = recorded(told=WELL)
    node = a_node(ready="False", unschedulable=True)

    decision = decide(a_scene(machine, node), NOW)

    write = ForgetReplacement(AT, Guard("machine-uid-1", "101"), ("provider.example/instance",))
    assert (write,) == decision.actions


def test_a_pause_holds_it_before_the_deletion() -> None:
    """What can still be called off can be paused."""
    machine = recorded(Step.DELETE, paused=Paused())

    decision = decide(a_scene(machine), NOW)

    assert ((), (PausedByPerson(None, AT.in_words),)) == (decision.actions, decision.because)


@pytest.mark.parametrize("record", [None, Malformed("not JSON")])
def test_an_edited_record_is_written_again(record: Malformed | None) -> None:
    """Somebody edited it: it begins again, with the same successor."""
    machine: Machine = recorded(replacement=record)

    decision = decide(a_scene(machine, SICK), NOW)

    (write,) = decision.actions
    assert isinstance(write, RecordReplacement)
    assert (SUCCESSOR, Step.DRAIN) == (write.record.name, write.record.step)
    assert [ReplacementUnreadable] == reasons(decision)
    assert ReplacementUnreadable.alert


def test_a_stale_list_is_of_no_use_without_its_moment() -> None:
    """A list that was never read live counts from the moment in which it was seen."""
    pods = present(a_list("a").obj, confirmed=False)  # type: ignore[union-attr]
    moment: Now = NOW

    assert [EvictPod, ListPods] == kinds(decide(a_scene(recorded(), EMPTYING, pods=pods), moment))
