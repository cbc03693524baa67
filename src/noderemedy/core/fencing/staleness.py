"""Whether a run that is about to begin is still wanted. The last question before anything is sent to a device.

Asked by the manager and by the runner in a Job, each with what it has just read live. A run that comes late does
nothing (races R34, R50): the node may have recovered, or be somebody else's by now.
"""

from __future__ import annotations

from noderemedy.core.fencing.results import NOT_BEGUN
from noderemedy.model.node import Node
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.run import Deed, Order
from noderemedy.model.time import Wall

STALE = "stale"  # every such answer begins with this word: nothing was sent


def belongs_to_a_fence(order: Order) -> bool:
    """Whether a NodeFence has to confirm it. A drill belongs to none, and only asks."""
    return not order.is_drill


def unasked(problem: str) -> str:
    """The same of what kept a run from being asked, and says nothing about its device; "" if nothing did."""
    return f"{STALE}: {problem}" if problem else ""


def too_late(order: Order, now: Wall) -> str:
    """Why it may not begin any more by the clock; "" if it may."""
    return f"{STALE}: it should have begun by {order.not_after}" if now > order.not_after else ""


def came_late(said: str) -> bool:
    """Whether these words of a run say that it was stale: then they say nothing about the device."""
    return said.startswith(f"{NOT_BEGUN}: ") and f": {STALE}: " in said


def superseded(order: Order, token: int) -> str:
    """Why it may not begin under the leadership of now."""
    if token == order.token:
        return ""
    return f"{STALE}: it was ordered under leadership {order.token}, and {token} leads now"


def unwanted(order: Order, fence: NodeFence | None) -> str:
    """Why the NodeFence does not want it any more; None: there is no such NodeFence."""
    if fence is None:
        return f"{STALE}: {order.fence} is gone"
    if fence.uid != order.fence_uid:
        return f"{STALE}: {order.fence} is another one by now"
    if order.id not in [job.id for job in fence.status.jobs if job.is_open]:
        return f"{STALE}: {order.fence} lists no open run {order.id}"
    if (fence.status.node_uid, fence.status.boot_id) != (order.node_uid, order.boot_id):
        return f"{STALE}: {order.fence} is about another boot by now"
    if order.deed is Deed.OFF and fence.deleting:
        return f"{STALE}: {order.fence} is being deleted"
    if order.deed is Deed.OFF and fence.spec.stopped:
        return f"{STALE}: {order.fence} was stopped"
    return ""


def needs_node(order: Order, fence: NodeFence | None) -> bool:
    """Whether the Node of now has a say: a node of elsewhere is not here."""
    return order.deed is Deed.OFF and fence is not None and not fence.spec.cluster


def another_boot(order: Order, node: Node | None) -> str:
    """Why the Node of now is none of its business. A Node that is not there says nothing against it."""
    if order.deed is not Deed.OFF or node is None:
        return ""
    if node.uid != order.node_uid:
        return f"{STALE}: Node {order.node} is another one by now"
    if node.boot_id and order.boot_id and node.boot_id != order.boot_id:
        return f"{STALE}: node {order.node} has booted again meanwhile"
    return ""
