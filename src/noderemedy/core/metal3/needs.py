"""What the annotation room asks of the budget: a need while it wants to hold a host off, and while its repair runs.

A repair runs from our hold until the node that we deleted is back. One that is overdue is a person's business by then:
nothing more will be done for it, so it does not stand in the way of the others any more; its node still counts as sick.
"""

from __future__ import annotations

from noderemedy.core.metal3.view import ROOM_NAME, MachineView
from noderemedy.core.metal3.waiting import NODE_WITHIN
from noderemedy.model.budget import need
from noderemedy.model.decision import Fact
from noderemedy.model.host import Hold
from noderemedy.model.time import Now, Wall


def wanted_need(view: MachineView, now: Now) -> tuple[Fact, ...]:
    """Before the first act. The time of the first sign orders those who wait, and stays the same."""
    since = asked_since(view) or sick_since(view) or now.wall
    return (need(view.ref, ROOM_NAME, since, is_running=False, node=view.node_at),)


def running_need(view: MachineView, now: Now) -> tuple[Fact, ...]:
    """After it, until the node is back or overdue; nothing otherwise."""
    since = running_since(view, now)
    if since is None:
        return ()
    return (need(view.ref, ROOM_NAME, asked_since(view) or since, is_running=True, node=view.node_at),)


def running_since(view: MachineView, now: Now) -> Wall | None:
    if view.holds:
        assert view.host is not None
        return view.host.hold.since if isinstance(view.host.hold, Hold) else now.wall
    deleted_at = view.machine.node_deleted_at
    is_ours = isinstance(deleted_at, Wall) and view.node is None
    return deleted_at if isinstance(deleted_at, Wall) and is_ours and now.wall < deleted_at + NODE_WITHIN else None


def asked_since(view: MachineView) -> Wall | None:
    return view.need.since if view.need is not None else None


def sick_since(view: MachineView) -> Wall | None:
    conditions = view.node.conditions if view.node else ()
    return next((one.since for one in conditions if one.type == "Ready" and one.status != "True"), None)
