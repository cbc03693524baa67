"""What the annotation room asks of the budget: a need while it wants to hold a host off, and while its repair runs.

A repair runs from our hold until the node that we deleted is back. One that is overdue is a person's business by then:
nothing more will be done for it, so it does not stand in the way of the others any more; its node still counts as sick.
A host that is held and not off may go off at any moment, however long that is: the budget is told so.
A Machine that cannot be read states nothing: as long as its host is held, the host does, or its place would be given
to the next one within a minute. Nor is anything seen of a host that cannot be read: what was under way still is.
"""

from __future__ import annotations

from noderemedy.core.claim import is_ours
from noderemedy.core.metal3.gates import NODE_WITHIN
from noderemedy.core.metal3.view import ROOM_NAME, HostView, MachineView, waits_as
from noderemedy.model.budget import need
from noderemedy.model.decision import Fact
from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.room import Unreadable
from noderemedy.model.time import Mono, Now, Wall


def wanted_need(view: MachineView, now: Now) -> tuple[Fact, ...]:
    """Before the first act. The time of the first sign orders those who wait, and stays the same."""
    since = asked_since(view) or sick_since(view) or now.wall
    return (need(view.ref, ROOM_NAME, since, is_running=False, node=view.node_at),)


def running_need(view: MachineView, now: Now) -> tuple[Fact, ...]:
    """After it, until the node is back or overdue; nothing otherwise."""
    since = running_since(view, now)
    if since is None:
        return ()
    is_pending = is_off_pending(view)
    asked = asked_since(view) or since
    return (need(view.ref, ROOM_NAME, asked, is_running=True, node=view.node_at, is_off_pending=is_pending),)


def held_need(view: HostView, now: Now) -> tuple[Fact, ...]:
    """The same in the stead of a Machine that cannot be asked, by what is seen on the host itself."""
    since = view.need.since if view.need is not None else held_since(view.host, now)
    is_pending = view.host.power is not Power.OFF
    return (need(view.target, waits_as(view.ref), since, is_running=True, is_off_pending=is_pending),)


def is_off_pending(view: MachineView) -> bool:
    """Whether our hold has not led to a host that is off. One whose power nobody knows has not been seen off."""
    if is_hidden(view):
        return view.need.is_off_pending if view.need is not None and view.need.is_running else True
    return view.holds and view.host is not None and view.host.power is not Power.OFF


def is_hidden(view: MachineView) -> bool:
    """Whether our hold may be on a host that cannot be read: it was at the last look, or the claim is ours."""
    if not isinstance(view.host_entry, Unreadable):
        return False
    is_known = view.need is not None and view.need.is_running
    return is_known or (view.claim is not None and is_ours(view.claim))


def held_since(host: Host, now: Now) -> Wall:
    return host.hold.since if isinstance(host.hold, Hold) else now.wall


def running_since(view: MachineView, now: Now) -> Wall | None:
    if view.holds:
        assert view.host is not None
        return held_since(view.host, now)
    if is_hidden(view):
        return asked_since(view) or now.wall
    deleted_at = view.machine.node_deleted_at
    return deleted_at if isinstance(deleted_at, Wall) and overdue_at(view, now) is not None else None


def overdue_at(view: MachineView, now: Now) -> Mono | None:
    """When a deleted Node that is still expected is expected no more: the repair runs no longer then."""
    deleted_at = view.machine.node_deleted_at
    if not isinstance(deleted_at, Wall) or view.node is not None or now.wall >= deleted_at + NODE_WITHIN:
        return None
    return now.until(deleted_at + NODE_WITHIN)


def asked_since(view: MachineView) -> Wall | None:
    return view.need.since if view.need is not None else None


def sick_since(view: MachineView) -> Wall | None:
    conditions = view.node.conditions if view.node else ()
    return next((one.since for one in conditions if one.type == "Ready" and one.status != "True"), None)
