"""Is the trouble over? What must be so before a node counts as recovered, and what then follows. Seed 002.

Rule 1: silence is not health. A condition that has turned Unknown is over for nobody: the chain goes on.
Rule 2: a node that has just come back may go again: it must have been well for a moment (race R52).
Rule 3: what was freed while the node was silent is opened again, and its recovery run, only at another boot (race R38):
what ran in the boot that was freed may still write, whatever its kubelet reports by now.
Rule 4: events tell of the past. Once the node was repaired, by a remedy that succeeded or by another boot, only those
that happened since say that it is in trouble; and that there are none is only known when the remedy's period is over.
The moment stands on the Node, and stays there when the record goes: whoever comes next judges by the same events.
"""

from __future__ import annotations

from noderemedy.core.remedy.view import RemedyView
from noderemedy.model.configuration import Threshold
from noderemedy.model.node import Node
from noderemedy.model.remedy import RemedyRecord
from noderemedy.model.time import Mono, Now, Span, Wall

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


def can_tell(threshold: Threshold, due: Wall, now: Now) -> bool:
    """Whether it is time to call the trouble over: a condition says so itself, events have to stay away for long."""
    return threshold.event is None or now.wall >= due


def has_booted(view: RemedyView, record: RemedyRecord) -> bool:
    """Whether the node shows another boot than the one for which the remedy was ordered. An unknown one is no other."""
    known = record.boot_id and view.node.boot_id
    return bool(known) and record.boot_id != view.node.boot_id


def is_left_over(view: RemedyView, record: RemedyRecord) -> bool:
    """Whether what reports is the boot that was freed while it was silent."""
    return bool(record.freed_boot) and view.node.boot_id == record.freed_boot


def counts_events(view: RemedyView) -> bool:
    """Whether anybody asks when the node was repaired."""
    return view.document is not None and view.document.document.configuration.counts_events


def settles_at(view: RemedyView) -> Mono:
    """When the node will have been as it is now for long enough."""
    return view.entry.changed_at + HEALTHY_DELAY


def is_settled(view: RemedyView, now: Now) -> bool:
    return now.mono >= settles_at(view)
