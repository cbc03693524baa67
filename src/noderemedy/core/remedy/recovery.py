"""Is the trouble over? What must be so before a node counts as recovered, and what then follows. Seed 002.

Rule 1: silence is not health. A condition that has turned Unknown is over for nobody: the chain goes on.
Rule 2: a node that has just come back may go again: it must have been well for a moment (race R52).
"""

from __future__ import annotations

from noderemedy.core.remedy.view import RemedyView
from noderemedy.model.configuration import Threshold
from noderemedy.model.node import Node
from noderemedy.model.time import Mono, Now, Span

HEALTHY_DELAY = Span.seconds(10)
UNKNOWN = "Unknown"


def is_well(node: Node, threshold: Threshold) -> bool:
    """Whether what the threshold tracks is in order: said so, or not said any more by a node that is Ready."""
    if not threshold.condition:
        return node.is_ready
    told = [one.status for one in node.conditions if one.type == threshold.condition]
    if not told:
        return node.is_ready
    return all(status != UNKNOWN and status not in threshold.statuses for status in told)


def is_over(view: RemedyView, threshold: Threshold) -> bool:
    return is_well(view.node, threshold) and (view.trouble is None or view.trouble.threshold != threshold.name)


def settles_at(view: RemedyView) -> Mono:
    """When the node will have been as it is now for long enough."""
    return view.entry.changed_at + HEALTHY_DELAY


def is_settled(view: RemedyView, now: Now) -> bool:
    return now.mono >= settles_at(view)
