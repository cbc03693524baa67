"""After the deletion: the provider's turn, the Node on proof only, exactly one successor, and the end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, PROVIDER_ID, a_node, ago, later, unreadable
from tests.core.owner.scene import (
    AT,
    GONE,
    PROVIDER,
    SUCCESSOR,
    SUCCESSOR_AT,
    TEMPLATE,
    WELL,
    a_list,
    a_scene,
    a_sick_machine,
    deleted,
    kinds,
    reasons,
)

from noderemedy.core.owner.replacing import decide
from noderemedy.core.owner.view import FINALIZER, View
from noderemedy.core.pacing import Pace
from noderemedy.model.actions import (
    Confirm,
    CreateMachine,
    DeleteNode,
    ForgetReplacement,
    Guard,
    WriteMachineConditions,
)
from noderemedy.model.budget import Need
from noderemedy.model.machine import ControllerOwner, Machine
from noderemedy.model.node import Condition, Node
from noderemedy.model.pace import Leave, Wish
from noderemedy.model.proof import InstanceGone, Subject
from noderemedy.model.reasons import (
    CannotSeeNode,
    ClusterPaused,
    FreeingPaced,
    InstanceOverdue,
    InstanceUnproven,
    NodeFinalizing,
    NodeUnreadable,
    NotReplaced,
    ProvenGone,
    Reason,
    Replaced,
    Replacing,
    SuccessorTaken,
    WaitingForInstance,
)
from noderemedy.model.room import Unseen

LET_GO = ForgetReplacement(AT, Guard("machine-uid-1", "101"), ())
FOLLOWS = a_sick_machine(uid="machine-uid-2", replaces="machine-uid-1", told=WELL)
SILENT = a_node(ready="Unknown")


def test_the_provider_ends_the_instance_first() -> None:
    """While anybody else keeps the Machine, Node and pods stay as they are."""
    decision = decide(a_scene(deleted(finalizers=(PROVIDER, FINALIZER))), NOW)

    assert ((), (WaitingForInstance(PROVIDER),)) == (decision.actions, decision.because)
    assert later(570).mono == decision.wake_at
    (need,) = (fact.value for fact in decision.facts)
    assert isinstance(need, Need)
    assert (AT, "owner", True, NODE_AT) == (need.target, need.room, need.is_running, need.node)


def test_an_instance_that_lingers_is_told() -> None:
    """Ten minutes after the deletion the Machine says so with severity Error, and a person is told."""
    decision = decide(a_scene(deleted(601, finalizers=(PROVIDER, FINALIZER))), NOW)

    assert [WriteMachineConditions] == kinds(decision)
    assert [InstanceOverdue, WaitingForInstance] == reasons(decision)
    assert InstanceOverdue.alert


def test_the_node_goes_on_proof() -> None:
    """The provider says Deleted and has let go, in a live read; the node is silent: the Node goes."""
    decision = decide(a_scene(deleted()), NOW)

    proof = InstanceGone(Subject("node-uid-1", "boot-1"), "machine-uid-1", "101", PROVIDER_ID, NOW.wall)
    assert (DeleteNode(NODE_AT, Guard("node-uid-1", "103"), "boot-1", proof),) == decision.actions
    assert (ProvenGone(PROVIDER_ID),) == decision.because


def test_the_node_waits_for_its_share_of_freed_pods() -> None:
    """The provider has ended the instance; its pods are freed with the Node, and count like all others."""
    limited = Pace("owner", AT, 5)
    view = replace(a_scene(deleted(), pods=a_list("db-0")), pace=limited)
    refused, allowed = (
        replace(view, pace=replace(limited, leave=Leave("owner", AT, "node-uid-1", pods))) for pods in (0, 1)
    )

    waits = decide(refused, NOW)

    assert ([], [FreeingPaced]) == (kinds(waits), reasons(waits))
    assert [Need, Wish] == [type(fact.value) for fact in waits.facts]
    assert [DeleteNode] == kinds(decide(allowed, NOW))


@pytest.mark.parametrize(
    ("confirmed", "node_confirmed", "asked"),
    [(False, False, (NODE_AT, AT)), (True, False, (NODE_AT,)), (False, True, (AT,))],
)
def test_node_and_machine_are_read_live_first(confirmed: bool, node_confirmed: bool, asked: tuple[object, ...]) -> None:
    """What was not read live just now is read first, and nothing else is asked for."""
    decision = decide(a_scene(deleted(), confirmed=confirmed, node_confirmed=node_confirmed), NOW)

    assert tuple(Confirm(at) for at in asked) == decision.actions  # type: ignore[arg-type]


UNPROVEN: list[tuple[Machine, Node, Reason]] = [
    (
        deleted(conditions=()),
        SILENT,
        InstanceUnproven("worker-0", "its provider has not said that it is deleted"),
    ),
    (
        deleted(conditions=(Condition("InfrastructureReady", "False", ago(5), "Deleting"),)),
        SILENT,
        InstanceUnproven("worker-0", "its provider has not said that it is deleted"),
    ),
    (
        deleted(older_conditions=(Condition("InfrastructureReady", "True"),)),
        SILENT,
        InstanceUnproven("worker-0", "its provider has not said that it is deleted"),
    ),
    (
        deleted(),
        a_node(ready="Unknown", provider_id=""),
        InstanceUnproven("worker-0", "its providerID is not the Machine's"),
    ),
    (deleted(), a_node(ready="True"), WaitingForInstance("node worker-0, which still reports")),
    (deleted(), a_node(ready="Unknown", deleting=True), NodeFinalizing("worker-0")),
]


@pytest.mark.parametrize(("machine", "node", "reason"), UNPROVEN)
def test_without_a_proof_the_node_stays(machine: Machine, node: Node, reason: Reason) -> None:
    """A finalizer that somebody removed by hand is no statement, and a node that reports contradicts one."""
    decision = decide(a_scene(machine, node), NOW)

    assert ((), (reason,)) == (decision.actions, decision.because)
    assert InstanceUnproven.alert


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        (a_scene(deleted(), unreadable()), NodeUnreadable("worker-0", "garbage")),
        (a_scene(deleted(), Unseen()), CannotSeeNode("worker-0")),
        (a_scene(deleted(cluster_paused=True)), ClusterPaused(AT.in_words)),
    ],
)
def test_what_cannot_be_seen_is_waited_for(view: View, reason: Reason) -> None:
    """Neither a Node that cannot be read nor a cluster that cannot be seen counts as gone; a pause holds all."""
    decision = decide(view, NOW)

    assert ((), (reason,)) == (decision.actions, decision.because)


@pytest.mark.parametrize("node", [None, a_node(provider_id="cloud://another")])
def test_the_successor_is_made_when_the_node_is_gone(node: Node | None) -> None:
    """Whoever removed the Node, and also if another machine has its name by now."""
    decision = decide(a_scene(deleted(), node), NOW)

    assert (CreateMachine(SUCCESSOR_AT, "machine-uid-1", TEMPLATE),) == decision.actions
    assert (Replacing(SUCCESSOR),) == decision.because


def test_a_machine_that_never_had_a_node_is_replaced() -> None:
    """Its provider has ended the instance: there is nothing to free."""
    assert [CreateMachine] == kinds(decide(a_scene(deleted(node_name=None), None), NOW))


def test_the_old_machine_is_read_live_before_the_successor_is_made() -> None:
    """A view from before the end would make a second one."""
    assert (Confirm(AT),) == decide(a_scene(deleted(node_name=None), None, confirmed=False), NOW).actions


def test_the_old_machine_is_let_go_when_the_successor_is_there() -> None:
    """Our finalizer goes last."""
    decision = decide(a_scene(deleted(), None, successor=FOLLOWS), NOW)

    assert ((LET_GO,), (Replaced(SUCCESSOR),)) == (decision.actions, decision.because)


@pytest.mark.parametrize("successor", [replace(FOLLOWS, replaces=""), replace(FOLLOWS, replaces="x"), unreadable()])
def test_a_stranger_of_that_name_is_told(successor: object) -> None:
    """It is not the successor, and is not touched."""
    decision = decide(a_scene(deleted(), None, successor=successor), NOW)  # type: ignore[arg-type]

    assert ((), (SuccessorTaken(SUCCESSOR),)) == (decision.actions, decision.because)
    assert SuccessorTaken.alert


@pytest.mark.parametrize("changes", [{"owner": ""}, {"controller": ControllerOwner("v1", "MachineSet", "set", "uid")}])
def test_a_machine_that_is_not_ours_any_more_has_no_successor_of_ours(changes: dict[str, Any]) -> None:
    """Its controller makes one, or nobody wants one: it is let go."""
    decision = decide(a_scene(deleted(**changes), None), NOW)

    assert ((LET_GO,), (NotReplaced(),)) == (decision.actions, decision.because)


def test_nothing_is_called_off_after_the_deletion() -> None:
    """The request does not matter any more: the machine is gone, and its successor is made."""
    assert [CreateMachine] == kinds(decide(a_scene(deleted(told=WELL), None), NOW))


def test_a_machine_that_was_let_go_is_over() -> None:
    """Until the watch tells that it is gone there is nothing left to do."""
    assert () == decide(a_scene(deleted(finalizers=()), None), NOW).actions


def test_one_replacement_keeps_its_name() -> None:
    """All its decisions are one episode; that of the successor is another."""
    one, other = decide(a_scene(), NOW), decide(a_scene(deleted()), NOW)

    assert one.episode == other.episode
    assert decide(a_scene(a_sick_machine(uid="machine-uid-2")), NOW).episode != one.episode
    assert GONE.reason == "Deleted"
