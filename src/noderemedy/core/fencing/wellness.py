"""Is the node back? Asked before it is powered off, before recovery, and after an error.

Ready alone is not enough (race R52): the node must be Ready and whole for a moment, and if anything was switched off or
freed, it must be another boot than the one that was ended (race R38). A Ready that is left over from before is none.
"""

from __future__ import annotations

from noderemedy.core.fencing import devices
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.node import Node
from noderemedy.model.room import Present
from noderemedy.model.time import MINUTE, Mono, Now, Span

HEALTHY_FOR = Span.seconds(10)
HEARD_FOR = MINUTE * 2  # so long may a node that was switched off still be called Ready


def is_well(view: FenceView, now: Now) -> bool:
    return may_be_well(view, now) and well_at(view, now) <= now.mono


def may_be_well(view: FenceView, now: Now) -> bool:
    """Whether it only has to stay as it is for a moment."""
    node = view.node
    return node is not None and is_whole(node) and not is_left_over(view, now)


def well_at(view: FenceView, now: Now) -> Mono:
    """When the moment is over."""
    assert isinstance(view.node_entry, Present)
    return steady_at(view.node_entry, now)


def steady_at(entry: Present, now: Now) -> Mono:
    """When it has been so for a moment: from when it is Ready, or from when we know it as it is, whichever is earlier.

    The latter alone would begin anew with every label, and with our own uncordon. Nothing is freed by it.
    """
    since = next((one.since for one in entry.obj.conditions if one.type == "Ready" and one.since), None)
    known = entry.changed_at + HEALTHY_FOR
    return min(known, now.until(since + HEALTHY_FOR)) if since is not None else known


def is_whole(node: Node) -> bool:
    has_no_network = any((one.type, one.status) == ("NetworkUnavailable", "True") for one in node.conditions)
    return node.is_ready and not node.deleting and not has_no_network


def is_left_over(view: FenceView, now: Now) -> bool:
    """Whether this Ready says nothing about a recovery."""
    if not view.fence.is_begun:
        return view.fence.spec.even_if_ready
    evidence = view.status.evidence
    if evidence.storage_freed_at is not None and not view.has_booted:
        return True  # a Node that the same boot made anew: its pods run elsewhere all the same
    if not view.is_same_boot:
        return False
    was_ended = evidence.off_at or evidence.freed_at or evidence.storage_freed_at
    was_sick_otherwise = view.fence.spec.even_if_ready and evidence.was_ready
    return bool(was_ended or was_sick_otherwise) or devices.is_unsure(view, now, HEARD_FOR)
