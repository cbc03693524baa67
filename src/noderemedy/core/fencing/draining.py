"""Emptying a node that still answers before it is powered off: evictions within disruption budgets, for a bounded time.

A node whose kubelet is silent cannot end its pods, so nobody asks it to. What has not gone in time goes with the power.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import freeing, safety
from noderemedy.core.fencing import devices, patience
from noderemedy.core.fencing.moves import noted
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.actions import Action, CordonNode, EvictPod, Guard, ListPods
from noderemedy.model.decision import Decision
from noderemedy.model.reasons import DrainingNode
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import MINUTE, Mono, Now, Span

DRAIN_WITHIN = MINUTE * 2
PACE = Span.seconds(5)


def drain(view: FenceView, now: Now) -> Decision | None:
    """The next thing that empties the node; None if it is empty, silent, or out of time."""
    node, work, evidence = view.node, view.work, view.status.evidence
    if node is None or work is None or not node.is_heard or devices.is_touched(view):
        return None
    reason = DrainingNode(view.name)
    if evidence.drained_since is None:
        return noted(view, structs.replace(evidence, drained_since=now.wall), reason)
    if patience.is_over(view, evidence.drained_since, DRAIN_WITHIN, now):
        return None
    if not node.unschedulable:
        return Decision((CordonNode(view.node_at, view.node_guard),), (reason,))
    return evict(view, work, now)


def evict(view: FenceView, work: freeing.Workload, now: Now) -> Decision | None:
    reason, listing = DrainingNode(view.name), ListPods(view.node_at)
    if not isinstance(work.pods, Present | Absent) or not safety.is_confirmed(work.pods, now):
        return Decision((listing,), (reason,))
    left = [(at, pod) for at, pod in freeing.pods_of(work) if not pod.stays and not pod.is_finished]
    if not left:
        return None
    evictions: tuple[Action, ...] = tuple(EvictPod(at, Guard(pod.uid)) for at, pod in left if not pod.deleting)
    due = next_look(work, now)
    if now.mono < due:
        return Decision((), (reason,), due)
    return Decision((*evictions, listing), (reason,))


def next_look(work: freeing.Workload, now: Now) -> Mono:
    """A list that is new is acted on a moment later, so that pods that just went are not asked again."""
    assert isinstance(work.pods, Present | Absent)
    assert work.pods.confirmed_at is not None
    return work.pods.confirmed_at + Span(PACE.ms - 1000)
