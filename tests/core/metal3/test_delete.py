"""The row *delete node*: live reads, then the backup, then the deletion on proof; and the other rows' live reads."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    MACHINE_AT,
    NODE_AT,
    NOW,
    a_backup,
    a_hold,
    a_host,
    a_machine,
    a_node,
    a_view,
    absent,
    ago,
    later,
    mistaken,
    present,
)

from noderemedy.core.freeing import Workload
from noderemedy.core.metal3.annotation import decide
from noderemedy.core.metal3.view import ROOM_NAME
from noderemedy.core.pacing import Pace
from noderemedy.core.slots import GIVEN_UP_AFTER
from noderemedy.model.actions import (
    AddRebootAnnotation,
    BackUpNode,
    Confirm,
    DeleteNode,
    Guard,
    ListPods,
    RecordSight,
    RemoveRemediationAnnotation,
)
from noderemedy.model.budget import Need
from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.ids import ref
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node
from noderemedy.model.pace import Leave, Wish
from noderemedy.model.proof import PoweredOff, Subject
from noderemedy.model.reasons import (
    BackupFirst,
    BackupReplaced,
    ConfirmFirst,
    DeviceMistaken,
    FreeingPaced,
    HostContradicted,
    NodeFinalizing,
    NodeFinalizingOverdue,
    NodeStillHeard,
    ProvenOff,
    TableRow,
)
from noderemedy.model.room import Present
from noderemedy.model.time import Wall
from noderemedy.model.workload import POD, Pod, PodsOfNode

DELETE_ROW = TableRow(1, 1, 0, 1, "Delete node")
OFF = a_host(power=Power.OFF, held=True)
STORED = a_machine(needs=True, backup=a_backup(), node_deleted_at=ago(1))


def held_for(node: Node) -> Host:
    return replace(OFF, hold=replace(a_hold(), node_uid=node.uid))


def test_the_node_is_deleted_on_proof() -> None:
    """Held, seen off just now and backed up: the node goes, with a proof for its very uid and boot."""
    decision = decide(a_view(STORED, OFF), NOW)

    proof = PoweredOff(Subject("node-uid-1", "boot-1"), "host-uid-1", "102", NOW.wall, a_hold().since)
    assert (DeleteNode(NODE_AT, Guard("node-uid-1", "103"), "boot-1", proof),) == decision.actions
    assert (DELETE_ROW, ProvenOff("metal/rack1-u07")) == decision.because


def test_a_host_that_a_drill_found_to_be_another_machine_proves_nothing() -> None:
    """The word came after the hold: nothing goes, and a person is told."""
    told = decide(a_view(STORED, OFF, mistaken(a_node(ready="Unknown"))), NOW)

    assert ((), (DELETE_ROW, DeviceMistaken("worker-0", "BareMetalHost metal/rack1-u07"))) == (
        told.actions,
        told.because,
    )


@pytest.mark.parametrize(
    ("node_confirmed", "host_confirmed", "asked"),
    [(False, False, (NODE_AT, HOST_AT)), (True, False, (HOST_AT,)), (False, True, (NODE_AT,))],
)
def test_node_and_host_are_read_live_first(
    node_confirmed: bool, host_confirmed: bool, asked: tuple[object, ...]
) -> None:
    """What was not read live just now is read first, and nothing else is asked for."""
    host = present(OFF, confirmed=host_confirmed)
    node = present(a_node(), confirmed=node_confirmed)

    decision = decide(a_view(STORED, host, node), NOW)

    assert tuple(Confirm(at) for at in asked) == decision.actions  # type: ignore[arg-type]
    assert tuple(ConfirmFirst(str(at)) for at in asked) == decision.because


@pytest.mark.parametrize("ready", ["True", "False"])
def test_a_node_that_reports_is_waited_for_and_then_a_person_is_called(ready: str) -> None:
    """Kubernetes needs a moment to notice that it is off; who still reports after minutes runs on another host."""
    view = a_view(STORED, OFF, a_node(ready=ready))
    late = later(600)
    waits = decide(view, NOW)
    [noted] = waits.actions
    assert isinstance(noted, RecordSight)
    host = present(replace(OFF, hold=noted.hold), now=late)
    told = decide(replace(view, host_entry=host, node_entry=present(a_node(ready=ready), now=late)), late)

    assert (DELETE_ROW, NodeStillHeard("worker-0")) == waits.because
    assert waits.wake_at is not None
    assert (DELETE_ROW, HostContradicted("metal/rack1-u07", "worker-0")) == told.because
    assert [RecordSight] == [type(action) for action in told.actions]


def test_a_live_read_goes_stale() -> None:
    """Five seconds after the live reads the node may still go; a moment later both are read again."""
    view = a_view(STORED, OFF)

    assert [DeleteNode] == [type(action) for action in decide(view, later(5)).actions]
    assert (Confirm(NODE_AT), Confirm(HOST_AT)) == decide(view, later(5.001)).actions


def test_the_backup_comes_first() -> None:
    """Without a stored backup the row stores it, with the time of deletion, in one write on the Machine."""
    node = a_node(labels={"rack": "1", "zone": "b"}, unschedulable=True, ready="Unknown")

    decision = decide(a_view(a_machine(needs=True), OFF, node), NOW)

    backup = msgspec.structs.replace(a_backup(labels={"rack": "1", "zone": "b"}), unschedulable=True)
    assert (BackUpNode(MACHINE_AT, Guard("machine-uid-1", "101"), backup, NOW.wall),) == decision.actions
    assert (DELETE_ROW, BackupFirst("worker-0")) == decision.because


@pytest.mark.parametrize(
    "node",
    [
        a_node(labels={"rack": "1", "new": "label"}, ready="Unknown"),
        a_node(annotations={"new": "annotation"}, ready="Unknown"),
        a_node(unschedulable=True, ready="Unknown"),
        a_node("node-uid-2", ready="Unknown"),  # registered anew before its host was held
    ],
)
def test_a_backup_of_another_state_is_stored_again(node: Node) -> None:
    """The node goes only when the stored backup is that of the node as it is now."""
    assert [BackUpNode] == [type(action) for action in decide(a_view(STORED, held_for(node), node), NOW).actions]


@pytest.mark.parametrize("deleted_at", [None, Malformed("not a time")])
def test_the_time_of_deletion_is_part_of_the_backup(deleted_at: Wall | Malformed | None) -> None:
    """A backup without a readable time of deletion is stored again: health checks count from that time."""
    machine = a_machine(needs=True, backup=a_backup(), node_deleted_at=deleted_at)

    assert [BackUpNode] == [type(action) for action in decide(a_view(machine, OFF), NOW).actions]


def test_an_unreadable_backup_is_replaced_loudly() -> None:
    """A garbled backup does not keep a workload from being freed: it is replaced, and a person is told."""
    machine = a_machine(needs=True, backup=Malformed("not JSON"), node_deleted_at=ago(1))

    decision = decide(a_view(machine, OFF), NOW)

    assert [BackUpNode] == [type(action) for action in decision.actions]
    assert BackupReplaced("not JSON") in decision.because
    assert BackupReplaced.alert


def test_a_node_waits_for_its_share_of_freed_pods() -> None:
    """Under a limit its pods are counted first, then it waits for leave; with it the Node goes on the same proof."""
    pods = present(PodsOfNode(((ref(POD, "db-0", "default"), Pod("pod-1")),)))
    view = a_view(STORED, OFF)
    assert isinstance(view.node_entry, Present)
    pace = Pace(ROOM_NAME, MACHINE_AT, 5)
    work = Workload(NODE_AT, view.node_entry.obj, "103", absent(), absent(), pace)
    leave = Leave(ROOM_NAME, MACHINE_AT, "node-uid-1", 1)

    unknown = decide(replace(view, work=work), NOW)
    none = replace(leave, pods=0)
    waits = decide(replace(view, work=replace(work, pods=pods, pace=replace(pace, leave=none))), NOW)
    goes = decide(replace(view, work=replace(work, pods=pods, pace=replace(pace, leave=leave))), NOW)

    assert (ListPods(NODE_AT),) == unknown.actions
    assert ((), (DELETE_ROW, FreeingPaced("worker-0", 1, 5))) == (waits.actions, waits.because)
    assert {Need, Wish} <= {type(fact.value) for fact in waits.facts}
    assert [DeleteNode] == [type(action) for action in goes.actions]


def test_a_node_with_finalizers_is_waited_for() -> None:
    """A node that is being deleted is not deleted again; its finalizers are waited for, and then a person is told."""
    view = a_view(STORED, OFF, a_node(deleting=True))

    waits = decide(view, NOW)
    overdue = decide(view, later(599))

    assert ((), (DELETE_ROW, NodeFinalizing("worker-0"))) == (waits.actions, waits.because)
    assert later(599).mono == waits.wake_at
    assert ((), (DELETE_ROW, NodeFinalizingOverdue("worker-0", ago(1)))) == (overdue.actions, overdue.because)
    assert later(599).mono + GIVEN_UP_AFTER == overdue.wake_at


def test_a_node_that_somebody_else_deletes_is_waited_for() -> None:
    """Without a time of deletion of ours there is nothing to count from: just a reason."""
    decision = decide(a_view(a_machine(needs=True), OFF, a_node(deleting=True)), NOW)

    assert ((), (DELETE_ROW, NodeFinalizing("worker-0"))) == (decision.actions, decision.because)
    assert decision.wake_at is None


def test_the_hold_records_for_whom_it_is() -> None:
    """The hold names the machine, the node and its boot, and the moment; the host's version guards the write."""
    decision = decide(a_view(), NOW)

    hold = Hold("machine-uid-1", NOW.wall, "node-uid-1", "boot-1")
    assert (AddRebootAnnotation(HOST_AT, Guard("host-uid-1", "102"), hold),) == decision.actions


def test_the_hold_of_a_machine_without_a_node_names_none() -> None:
    """A machine whose node never came is power cycled as well, for no node."""
    decision = decide(a_view(a_machine(needs=True, node_name=None), node=None), NOW)

    hold = Hold("machine-uid-1", NOW.wall)
    assert (AddRebootAnnotation(HOST_AT, Guard("host-uid-1", "102"), hold),) == decision.actions


def test_the_request_is_read_live_before_power_off() -> None:
    """The hold is written on the host, so the Machine that asks for it is read live first."""
    assert (Confirm(MACHINE_AT),) == decide(a_view(machine_confirmed=False), NOW).actions


def test_absence_of_the_node_is_read_live() -> None:
    """A node that the cache does not know is read live before the request counts as fulfilled."""
    machine = a_machine(needs=True)

    unsure = decide(a_view(machine, OFF, absent(confirmed=False)), NOW)
    sure = decide(a_view(machine, OFF, absent()), NOW)

    assert (Confirm(NODE_AT),) == unsure.actions
    assert [RemoveRemediationAnnotation] == [type(action) for action in sure.actions]


def test_a_machine_without_a_node_needs_no_live_read_of_one() -> None:
    """Without a nodeRef there is no node to read: the request is fulfilled by the power cycle."""
    decision = decide(a_view(a_machine(needs=True, node_name=None), OFF, None), NOW)

    assert [RemoveRemediationAnnotation] == [type(action) for action in decision.actions]


def test_a_node_created_again_under_the_same_name_is_backed_up_anew() -> None:
    """The backup of a former node is carried on under the uid of the node that is there; its own keys win."""
    machine = a_machine(needs=True, backup=a_backup("node-uid-0", labels={"rack": "0", "old": "1"}))

    node = a_node("node-uid-2", ready="Unknown")

    decision = decide(a_view(machine, held_for(node), node), NOW)

    expected = a_backup("node-uid-2", labels={"rack": "1", "old": "1"})
    assert [expected] == [action.backup for action in decision.actions if isinstance(action, BackUpNode)]


def test_one_repair_keeps_its_name() -> None:
    """From the hold to the restore all decisions carry one episode; the next node's repair has another."""
    hold = decide(a_view(), NOW)
    delete = decide(a_view(STORED, OFF), NOW)
    back = decide(a_view(a_machine(backup=a_backup(), node_deleted_at=ago(300)), node=a_node("node-uid-2")), NOW)
    following = decide(a_view(node=a_node("node-uid-2")), NOW)

    assert {hold.episode} == {hold.episode, delete.episode, back.episode}
    assert hold.episode != following.episode
    assert 10 == len(hold.episode)
