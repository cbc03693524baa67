"""Emptying a node before its Machine goes: cordon, then evictions within disruption budgets, until nothing is left.

Pods of DaemonSets and mirrors of files stay: they belong to the node. The pods of a node whose kubelet is silent cannot
be ended by anybody, so they are not asked to go: they go with the instance. A drain is never forced; what keeps it too
long is told, and it goes on with growing pauses.
"""

from __future__ import annotations

from noderemedy.core import safety
from noderemedy.core.owner.view import OURS, View
from noderemedy.model.actions import Action, CordonNode, EvictPod, Guard, ListPods
from noderemedy.model.decision import Decision
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node
from noderemedy.model.reasons import DrainingNode
from noderemedy.model.refusal import Refusal
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Now, Span
from noderemedy.model.workload import Pod

CORDONED = "node-remedy.dev/cordoned"
PAUSE_MIN, PAUSE_MAX = Span.seconds(5), Span.seconds(300)
SHARE = 10  # of the time that it took so far goes by until the next try
NAMES_MAX = 3


def can_drain(view: View) -> bool:
    """Whether there is a kubelet that would end pods, and nobody wants it otherwise."""
    return view.node is not None and view.node.is_heard and not view.machine.excludes_drain


def is_cordoned_by_us(node: Node) -> bool:
    return node.unschedulable and dict(node.annotations).get(CORDONED) == OURS


def drain(view: View, now: Now) -> Decision | None:
    """The next thing that empties the node; None if it is empty."""
    node, node_at = view.node, view.node_at
    assert node is not None
    assert node_at is not None
    reason = DrainingNode(node_at.name)
    if not node.unschedulable:
        return Decision((CordonNode(node_at, node_guard(view)),), (reason,))
    if not isinstance(view.pods_entry, Present):
        return Decision((ListPods(node_at),), (reason,))
    left = leaving(view)
    if not left:
        is_sure = safety.is_confirmed(view.pods_entry, now)
        return None if is_sure else Decision((ListPods(node_at),), (reason,))
    due = next_try(view, now)
    if now.mono < due and not is_refused(view):
        return Decision((), (reason,), due)
    evictions: tuple[Action, ...] = tuple(EvictPod(at, Guard(pod.uid)) for at, pod in left if not pod.deleting)
    return Decision((*evictions, ListPods(node_at)), (reason,))


def is_refused(view: View) -> bool:
    """Whether the API will not have it: the engine's own pause is long enough then, and a refusal is kept by trying."""
    refused = view.refusal
    return (
        refused is not None and refused.action in (EvictPod.__name__, ListPods.__name__) and not is_past(view, refused)
    )


def is_past(view: View, refused: Refusal) -> bool:
    """Whether what was refused has come about without us."""
    if refused.action == CordonNode.__name__:
        return view.node is None or view.node.unschedulable
    if refused.action == EvictPod.__name__:
        return refused.at not in [at for at, pod in leaving(view) if not pod.deleting]
    return False


def leaving(view: View) -> list[tuple[Ref, Pod]]:
    """The pods that have to go before the node is empty."""
    pods = view.pods.pods if view.pods else ()
    return [(at, pod) for at, pod in pods if not pod.stays and not pod.is_finished]


def next_try(view: View, now: Now) -> Mono:
    """The longer it takes, the longer until the next try, counted from the last list."""
    assert isinstance(view.pods_entry, Present)
    assert view.record is not None
    listed = view.pods_entry.confirmed_at or view.pods_entry.changed_at
    took = now.wall.since(view.record.begun).ms - now.mono.since(listed).ms
    return listed + Span(min(max(took // SHARE, PAUSE_MIN.ms), PAUSE_MAX.ms))


def who_is_left(view: View) -> str:
    """Some names, for a person."""
    names = [f"{at.namespace}/{at.name}" for at, _ in leaving(view)]
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return ", ".join(names[:NAMES_MAX]) + more


def who_keeps(view: View) -> str:
    """What the API says of the first pod that its disruption budget keeps; "" if none is kept."""
    return next((f"{at.namespace}/{at.name} is kept: {why}" for at, why in view.kept), "")


def node_guard(view: View) -> Guard:
    assert isinstance(view.node_entry, Present)
    return Guard(view.node_entry.obj.uid, view.node_entry.resource_version)
