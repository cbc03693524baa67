"""Before a replacement begins: who is replaced at all, the gates, and the record that comes before anything else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node, ago, later, present, unreadable
from tests.core.owner.scene import (
    AT,
    GRANTED,
    MINE,
    PROVIDER,
    SUCCESSOR,
    WELL,
    a_scene,
    a_sick_machine,
    kinds,
    reasons,
)

from noderemedy.core.owner.gates import GATES
from noderemedy.core.owner.replacing import ROOM, decide
from noderemedy.core.owner.view import FINALIZER, View
from noderemedy.model.actions import Guard, RecordReplacement
from noderemedy.model.budget import Need, Refused
from noderemedy.model.cluster import Cluster
from noderemedy.model.decision import NOTHING
from noderemedy.model.lease import Lease
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.reasons import (
    CannotSeeNode,
    ClaimedByOther,
    ClusterObjectPaused,
    ClusterPaused,
    NodeUnreadable,
    NoOwner,
    PausedByPerson,
    PauseUnreadable,
    Reason,
    ReplacementBegun,
    SpecNotReusable,
    WaitingForBudget,
)
from noderemedy.model.replacement import Replacement, Step, successor_name
from noderemedy.model.room import Present, Unseen

OTHER = replace(MINE, entry=present(Lease("lease-uid", "metal3")), is_other_about_it=True)


def test_the_intent_is_recorded_before_anything_else() -> None:
    """The name of the successor and our finalizer are written on the version of the Machine that was looked at."""
    decision = decide(a_scene(node=a_node(ready="False")), NOW)

    record = Replacement(SUCCESSOR, NOW.wall, Step.DRAIN)
    write = RecordReplacement(AT, Guard("machine-uid-1", "101"), record, (PROVIDER, FINALIZER))
    assert ((write,), (ReplacementBegun(SUCCESSOR),)) == (decision.actions, decision.because)


@pytest.mark.parametrize("node", [None, a_node(ready="Unknown")])
def test_where_nobody_ends_pods_there_is_no_drain(node: object) -> None:
    """The pods of a silent node, or of none, go with the instance: the record begins with the deletion."""
    (write,) = decide(a_scene(node=node), NOW).actions  # type: ignore[arg-type]

    assert isinstance(write, RecordReplacement)
    assert Step.DELETE is write.record.step


def test_a_drain_that_nobody_wants_is_left_out() -> None:
    """Cluster API's own annotation on the Machine skips the drain."""
    view = a_scene(a_sick_machine(excludes_drain=True), a_node(ready="False"))

    (write,) = decide(view, NOW).actions

    assert isinstance(write, RecordReplacement)
    assert Step.DELETE is write.record.step


BLOCKED: list[tuple[View, Reason]] = [
    (a_scene(a_sick_machine(owner="")), NoOwner("")),
    (a_scene(a_sick_machine(owner="somebody")), NoOwner("somebody")),
    (a_scene(a_sick_machine(controller=ControllerOwner("v1", "MachineSet", "s", "u"))), NoOwner("node-remedy")),
    (a_scene(a_sick_machine(cluster_paused=True)), ClusterPaused(AT.in_words)),
    (a_scene(a_sick_machine(cluster_name="c"), cluster=Cluster("c", paused=True)), ClusterObjectPaused("cloud/c")),
    (a_scene(a_sick_machine(paused=Paused(later(60).wall))), PausedByPerson(later(60).wall, AT.in_words)),
    (a_scene(node=replace(a_node(), paused=Paused(later(60).wall))), PausedByPerson(later(60).wall, "Node worker-0")),
    (a_scene(a_sick_machine(paused=Malformed("maybe"))), PauseUnreadable("maybe", AT.in_words)),
    (a_scene(a_sick_machine(own_parts=("spec.infrastructureRef (X)",))), SpecNotReusable("spec.infrastructureRef (X)")),
    (a_scene(node=unreadable()), NodeUnreadable("worker-0", "garbage")),
    (a_scene(node=Unseen()), CannotSeeNode("worker-0")),
]


@pytest.mark.parametrize(("view", "reason"), BLOCKED)
def test_what_holds_a_replacement_back_before_the_budget_is_asked(view: View, reason: Reason) -> None:
    """Nothing is written and nothing is asked of the budget; the reason is told."""
    decision = decide(view, NOW)

    assert ((), (reason,), ()) == (decision.actions, decision.because, decision.facts)
    assert [reason] == [one.reason for one in ROOM.explains(view, NOW) if one.reason]  # type: ignore[misc]


def test_a_pause_ends() -> None:
    """The key is looked at again when the pause is over."""
    view = a_scene(a_sick_machine(paused=Paused(later(60).wall)))

    assert later(60).mono == decide(view, NOW).wake_at
    assert [RecordReplacement] == kinds(decide(view, later(60)))


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        (a_scene(answer=None), WaitingForBudget()),
        (a_scene(answer=Refused(AT, ClusterPaused(), later(9).wall)), ClusterPaused()),
        (a_scene(claim=OTHER), ClaimedByOther("worker-0", "metal3")),
    ],
)
def test_what_holds_it_back_after_the_budget_was_asked(view: View, reason: Reason) -> None:
    """The need stays stated while the answer, or the end of somebody else's repair, is waited for."""
    decision = decide(view, NOW)

    assert ((), (reason,)) == (decision.actions, decision.because)
    assert [Need(AT, "owner", ago(60), is_running=False, node=NODE_AT)] == [fact.value for fact in decision.facts]


def test_a_free_node_is_claimed_first() -> None:
    """One repair per node: the claim is written, and nothing else."""
    absent = replace(MINE, entry=a_scene().successor)

    decision = decide(a_scene(claim=absent), NOW)

    assert ["ClaimRepair"] == [kind.__name__ for kind in kinds(decision)]


@pytest.mark.parametrize(
    "machine", [a_sick_machine(told=WELL), a_sick_machine(deleting=True), a_sick_machine(told=type(WELL)())]
)
def test_nobody_asks_for_it(machine: object) -> None:
    """A machine that does not wait for its owner, or that somebody deletes, is not our business."""
    assert NOTHING == decide(a_scene(machine), NOW)  # type: ignore[arg-type]


def test_every_gate_is_explained() -> None:
    """All of them are listed, in order, open or not."""
    assert ROOM.explains is not None
    assert [gate.__name__.replace("_", " ") for gate in GATES] == [one.gate for one in ROOM.explains(a_scene(), NOW)]


@pytest.mark.parametrize(
    ("name", "uid", "is_successor", "expected"),
    [
        ("pool-a", "machine-uid-1", False, SUCCESSOR),
        (SUCCESSOR, "machine-uid-2", True, "pool-a-c142f"),
        ("pool", "machine-uid-1", True, "pool-df8f6"),
        ("x" * 80, "machine-uid-1", False, "x" * 57 + "-df8f6"),
    ],
)
def test_a_machine_has_one_possible_successor(name: str, uid: str, is_successor: bool, expected: str) -> None:
    """Its name follows from name and uid, does not grow from one to the next, and fits into a label."""
    assert expected == successor_name(name, uid, is_successor)


def test_an_alert_is_an_alert() -> None:
    """A machine that cannot be replaced although it asks for it needs a person."""
    assert (True, False) == (SpecNotReusable.alert, NoOwner.alert)
    assert isinstance(MINE.entry, Present)
    assert [ReplacementBegun] == reasons(decide(a_scene(answer=GRANTED), NOW))
