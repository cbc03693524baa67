"""Laws of backup and restore, over random nodes and backups."""

from __future__ import annotations

from hypothesis import given
from msgspec.structs import replace
from tests.builders import NODE_AT, a_backup, a_node
from tests.core.metal3.strategies import backups, nodes
from tests.core.metal3.world import restored

from noderemedy.core.backup import LIFECYCLE, back_up, kept, restore
from noderemedy.core.removers import REMOVERS
from noderemedy.model.node import Node, NodeBackup, Taint


@given(nodes, backups)
def test_backing_up_again_gives_the_same(node: Node, earlier: NodeBackup) -> None:
    """Idempotent: so the room can tell "stored" from "to be stored" by comparing."""
    once = back_up(node, earlier)

    assert once == back_up(node, once)
    assert back_up(node, None) == back_up(node, back_up(node, None))


@given(nodes, backups)
def test_restoring_again_changes_nothing(node: Node, backup: NodeBackup) -> None:
    """After one restore the node lacks nothing: the second look writes nothing."""
    write = restore(NODE_AT, "1", node, backup)
    whole = restored(node, write) if write else node

    assert restore(NODE_AT, "2", whole, backup) is None


@given(nodes, backups)
def test_keys_of_the_new_node_win(node: Node, backup: NodeBackup) -> None:
    """A restore adds what is missing; what the new node says itself stays as it is."""
    write = restore(NODE_AT, "1", node, backup)
    whole = restored(node, write) if write else node

    assert {**dict(backup.labels), **dict(node.labels)} == dict(whole.labels)
    assert {**dict(backup.annotations), **dict(node.annotations)} == dict(whole.annotations)
    assert set(node.taints) <= set(whole.taints)


@given(nodes, nodes)
def test_what_a_node_carried_comes_back(node: Node, successor: Node) -> None:
    """Deleted, registered again and restored, a node has every key, kept taint and the cordon that it had."""
    backup = back_up(node, None)
    write = restore(NODE_AT, "1", successor, backup)
    whole = restored(successor, write) if write else successor

    assert dict(node.labels).keys() <= dict(whole.labels).keys()
    assert dict(node.annotations).keys() <= dict(whole.annotations).keys()
    assert {(taint.key, taint.effect) for taint in kept(node.taints)} <= {(t.key, t.effect) for t in whole.taints}
    assert whole.unschedulable == (node.unschedulable or successor.unschedulable)


@given(nodes, backups)
def test_taints_of_the_lifecycle_are_not_restored(node: Node, backup: NodeBackup) -> None:
    """Whether a node is reachable is for the node lifecycle to say: neither backed up nor given back."""
    write = restore(NODE_AT, "1", node, backup)

    assert not [taint for taint in back_up(node, None).taints if taint.key.startswith(LIFECYCLE)]
    if write:
        added = set(write.taints) - set(node.taints)
        assert not [taint for taint in added if taint.key.startswith(LIFECYCLE)]


def test_the_word_of_a_remover_is_about_the_former_node() -> None:
    """The autoscaler took it back while there was no Node, and the new one kept it for ever (seed 391)."""
    taints = tuple(Taint(key, "NoSchedule") for key in (*REMOVERS, "example.com/gpu"))
    backup = back_up(replace(a_node(), taints=taints), None)
    old = NodeBackup("node-uid-0", taints=taints)  # written by a version that kept it
    write = restore(NODE_AT, "1", a_node(), old)

    assert ["example.com/gpu"] == [one.key for one in backup.taints]
    assert write is not None
    assert ["example.com/gpu"] == [one.key for one in write.taints]


@given(nodes, backups)
def test_an_unrestored_backup_is_carried_on(node: Node, earlier: NodeBackup) -> None:
    """A node that died again before its restore loses nothing of the earlier backup; its own keys win.

    A backup written by hand names no node, and stays so.
    """
    backup = back_up(node, earlier)

    assert (node.uid if earlier.node_uid else "") == backup.node_uid
    assert {**dict(earlier.labels), **dict(node.labels)} == dict(backup.labels)
    assert backup.unschedulable == (earlier.unschedulable or node.unschedulable)


def test_a_taint_is_known_by_key_and_effect() -> None:
    """Key and effect make a taint: of two values the node's wins, and another effect is another taint."""
    backup = NodeBackup("old", taints=(Taint("gpu", "NoExecute", "1"), Taint("gpu", "NoSchedule", "1")))
    node = a_node(labels={}, taints=(Taint("gpu", "NoSchedule", "2"),))

    write = restore(NODE_AT, "1", node, backup)

    assert write is not None
    assert (Taint("gpu", "NoExecute", "1"), Taint("gpu", "NoSchedule", "2")) == write.taints


def test_a_whole_node_needs_no_write() -> None:
    """Idle means zero writes: a node that lacks nothing gives no restore."""
    assert restore(NODE_AT, "1", a_node("node-uid-2"), a_backup()) is None


def test_a_backup_without_a_uid_counts_for_the_node_that_is_there() -> None:
    """A backup written by hand needs no uid: its content is compared, and the uid alone is no reason to write it."""
    node = a_node(labels={"rack": "a"})
    by_hand = NodeBackup("", labels=(("rack", "a"),))

    assert by_hand == back_up(node, by_hand)
    assert by_hand != back_up(a_node(labels={"rack": "b"}), by_hand)
