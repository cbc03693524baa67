"""Backup and restore of what a Node carries besides its life: labels, annotations, taints, cordon.

Called by the truth table (seed 001) before a Node is deleted and after it came back. Keys already on the new Node
win; taints under `node.kubernetes.io/` belong to the node lifecycle and are neither kept nor restored, nor are those of
whoever was removing the Node.
"""

from __future__ import annotations

from noderemedy.core.removers import REMOVERS
from noderemedy.model.actions import Guard, RestoreNode
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node, NodeBackup, Taint

LIFECYCLE = "node.kubernetes.io/"


def back_up(node: Node, earlier: NodeBackup | None) -> NodeBackup:
    """What to store before `node` is deleted.

    An earlier backup that was never restored (the node died again first) is carried on: the node's own keys win.
    Backing up again gives the same value, so that the room can tell "stored" from "to be stored" by comparing.
    """
    base = earlier or NodeBackup(node.uid)
    is_unnamed = earlier is not None and not earlier.node_uid  # written by hand, or by another version
    return NodeBackup(
        node_uid="" if is_unnamed else node.uid,
        labels=merged(base.labels, node.labels),
        annotations=merged(base.annotations, node.annotations),
        taints=merged_taints(base.taints, kept(node.taints)),
        unschedulable=node.unschedulable or base.unschedulable,
    )


def restore(ref: Ref, resource_version: str, node: Node, backup: NodeBackup) -> RestoreNode | None:
    """The write that gives `node` what the backup holds and it lacks; None when it lacks nothing."""
    labels = missing(backup.labels, node.labels)
    annotations = missing(backup.annotations, node.annotations)
    taints = merged_taints(kept(backup.taints), node.taints)
    unschedulable = backup.unschedulable or node.unschedulable
    if not labels and not annotations and taints == tuple(sorted(node.taints)) and unschedulable == node.unschedulable:
        return None
    return RestoreNode(ref, Guard(node.uid, resource_version), labels, annotations, taints, unschedulable)


def merged(under: tuple[tuple[str, str], ...], over: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Both maps as one; where both have a key, `over` wins."""
    return tuple(sorted({**dict(under), **dict(over)}.items()))


def missing(wanted: tuple[tuple[str, str], ...], has: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """What of `wanted` has a key that `has` does not know."""
    known = {key for key, _ in has}
    return tuple((key, value) for key, value in wanted if key not in known)


def merged_taints(under: tuple[Taint, ...], over: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Both lists as one; a taint is known by its key and effect, and `over` wins."""
    return tuple(sorted({(taint.key, taint.effect): taint for taint in (*under, *over)}.values()))


def kept(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """The taints that somebody put there on purpose."""
    return tuple(one for one in taints if not one.key.startswith(LIFECYCLE) and one.key not in REMOVERS)
