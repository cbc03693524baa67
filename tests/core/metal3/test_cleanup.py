"""A node that is back: what its predecessor carried is restored, then the backup is dropped."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import (
    MACHINE_AT,
    NODE_AT,
    NOW,
    a_backup,
    a_host,
    a_machine,
    a_node,
    a_view,
    ago,
    later,
    present,
)

from noderemedy.core.metal3.annotation import decide
from noderemedy.model.actions import Confirm, DropBackup, Guard, RestoreNode
from noderemedy.model.host import Consumer, Power
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Taint
from noderemedy.model.reasons import BackupUnneeded, BackupUnreadable, ConfirmFirst, NodeWhole, RestoringNode
from noderemedy.model.time import Span, Wall

DROP = DropBackup(MACHINE_AT, Guard("machine-uid-1", "101"))
WAITING = a_machine(backup=a_backup(labels={"rack": "1", "zone": "b"}), node_deleted_at=ago(300))


def test_a_returned_node_gets_its_labels_back() -> None:
    """The new node lacks a label of its predecessor: it is written, guarded by the new node's uid and version."""
    decision = decide(a_view(WAITING, node=a_node("node-uid-2")), NOW)

    write = RestoreNode(NODE_AT, Guard("node-uid-2", "103"), (("zone", "b"),), (), (), unschedulable=False)
    assert ((write,), (RestoringNode("worker-0"),)) == (decision.actions, decision.because)


def test_a_whole_node_loses_its_backup() -> None:
    """Only when the returned node carries all of it, the backup is dropped."""
    decision = decide(a_view(WAITING, node=a_node("node-uid-2", labels={"rack": "7", "zone": "b"})), NOW)

    assert ((DROP,), (NodeWhole("worker-0"),)) == (decision.actions, decision.because)


@pytest.mark.parametrize(
    "host", [None, a_host(paused=True), a_host(power=Power.UNKNOWN), a_host(consumer=Consumer("X", "", ""))]
)
def test_the_restore_does_not_need_the_host(host: object) -> None:
    """Whatever became of the host, a node that is back is made whole."""
    decision = decide(a_view(WAITING, host, a_node("node-uid-2"), is_consumer=False), NOW)  # type: ignore[arg-type]

    assert [RestoreNode] == [type(action) for action in decision.actions]


def test_nothing_is_restored_while_the_host_is_held() -> None:
    """A node object under a held host is not a returned node: the table comes first."""
    view = a_view(WAITING, a_host(power=Power.OFF, held=True), a_node("node-uid-2"))

    assert RestoreNode not in [type(action) for action in decide(view, NOW).actions]


def test_a_node_that_does_not_come_back_is_looked_for_when_it_is_overdue() -> None:
    """Also where something else is in the way: the repair runs until then, and no longer."""
    view = a_view(WAITING, node=None, host=None)

    early, late = decide(view, NOW), decide(view, later(300))

    assert (NOW.mono + Span(300_000), 1) == (early.wake_at, len(early.facts))
    assert (None, 0) == (late.wake_at, len(late.facts))


def test_a_node_that_is_being_deleted_is_not_restored() -> None:
    """What is given to a node on its way out would be lost with the backup."""
    assert () == decide(a_view(WAITING, node=a_node("node-uid-2", deleting=True)), NOW).actions


def test_a_backup_that_was_never_needed_is_dropped_after_a_live_read() -> None:
    """The request was withdrawn before the deletion: the node is read live, then the backup goes."""
    machine = a_machine(backup=a_backup(), node_deleted_at=ago(10))

    unsure = decide(a_view(machine, node=present(a_node(), confirmed=False)), NOW)
    sure = decide(a_view(machine), NOW)

    assert ((Confirm(NODE_AT),), (ConfirmFirst("Node//worker-0"),)) == (unsure.actions, unsure.because)
    assert ((DROP,), (BackupUnneeded("worker-0"),)) == (sure.actions, sure.because)


@pytest.mark.parametrize("later_news", ["machine", "host"])
def test_a_live_read_from_before_the_news_drops_no_backup(later_news: str) -> None:
    """Another leader deleted the Node, then released Machine and host: a read from before that shows the old Node."""
    machine = a_machine(backup=a_backup(), node_deleted_at=ago(10))
    node = replace(present(a_node()), confirmed_at=NOW.mono + Span(-2_000))
    view = replace(a_view(machine), node_entry=node)
    news = replace(view.entry if later_news == "machine" else view.host_entry, changed_at=NOW.mono + Span(-1_000))
    view = replace(view, entry=news) if later_news == "machine" else replace(view, host_entry=news)

    assert (Confirm(NODE_AT),) == decide(view, NOW).actions
    assert (DROP,) == decide(replace(view, node_entry=replace(node, confirmed_at=NOW.mono)), NOW).actions


def test_a_backup_that_names_no_node_is_dropped_after_a_live_read() -> None:
    """Written by hand, it may be of the very node that an old view still shows: that node is read live first."""
    machine = a_machine(backup=a_backup(""), node_deleted_at=ago(10))

    unsure = decide(a_view(machine, node=present(a_node(), confirmed=False)), NOW)
    sure = decide(a_view(machine), NOW)

    assert ((Confirm(NODE_AT),), (ConfirmFirst("Node//worker-0"),)) == (unsure.actions, unsure.because)
    assert ((DROP,), (NodeWhole("worker-0"),)) == (sure.actions, sure.because)


@pytest.mark.parametrize("deleted_at", [ago(300), Malformed("'yesterday'")])
def test_a_time_of_deletion_without_a_backup_is_dropped(deleted_at: Wall | Malformed) -> None:
    """Somebody removed the backup by hand: the node is whole by definition, and the time goes, too."""
    decision = decide(a_view(a_machine(node_deleted_at=deleted_at), node=a_node("node-uid-2")), NOW)

    assert ((DROP,), (NodeWhole("worker-0"),)) == (decision.actions, decision.because)


def test_an_unreadable_backup_is_kept() -> None:
    """A node is back and its backup is garbage: a person is told, and nothing is thrown away."""
    machine = a_machine(backup=Malformed("unexpected end"), node_deleted_at=ago(300))

    decision = decide(a_view(machine, node=a_node("node-uid-2")), NOW)

    assert ((), (BackupUnreadable("unexpected end"),)) == (decision.actions, decision.because)


def test_a_persons_cordon_survives_the_power_cycle() -> None:
    """A node that was cordoned and tainted by hand is so again after its return."""
    taint = Taint("dedicated", "NoSchedule", "gpu")
    backup = a_backup()
    machine = a_machine(
        backup=backup.__class__(backup.node_uid, backup.labels, (), (taint,), unschedulable=True),
        node_deleted_at=ago(300),
    )

    decision = decide(a_view(machine, node=a_node("node-uid-2")), NOW)

    write = RestoreNode(NODE_AT, Guard("node-uid-2", "103"), (), (), (taint,), unschedulable=True)
    assert (write,) == decision.actions
