"""What Metal3Remediations leave on hosts when they are gone: a hold that nobody answers for, a mark that is outlived.

A finalizer that somebody took off by hand must not leave a host off for ever (invariant S6); a host whose new node is
ready must not stay unhealthy for ever. A request that is there and cannot be read keeps its hold: it may be freeing.
So does a hold without our record, which is not ours: the provider's own controller uses the same key. Frees nothing.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import leftalone
from noderemedy.core.metal3.gates import host_unattended
from noderemedy.core.metal3.remediationview import RelicView, waits_as
from noderemedy.core.metal3.steps import is_confirmed
from noderemedy.core.slots import settled
from noderemedy.model.actions import Confirm, Guard, ReleaseHost, UnmarkHost
from noderemedy.model.budget import need
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.host import Power
from noderemedy.model.reasons import ConfirmFirst, HolderUnreadable, HoldOrphaned, HostUnmarked
from noderemedy.model.room import Absent, Entry, Unreadable, Unseen
from noderemedy.model.time import MINUTE, Now


def decide(view: RelicView, now: Now) -> Decision:
    """What is told; what is held for a request that cannot be read counts as the repair that it is."""
    decision = told(view, now)
    if not any(is_unread(uid, entry) for uid, _, entry in view.orphans):
        return decision
    return settled(structs.replace(decision, facts=held_need(view, now)), view.need, now)


def held_need(view: RelicView, now: Now) -> tuple[Fact, ...]:
    """In the stead of a request that states nothing: its place would be given to the next one within a minute."""
    since = view.need.since if view.need is not None else now.wall
    is_pending = view.host.power is not Power.OFF
    return (need(view.target or view.ref, waits_as(view.ref), since, is_running=True, is_off_pending=is_pending),)


def told(view: RelicView, now: Now) -> Decision:
    guard = Guard(view.host.uid, view.entry.resource_version)
    name = f"{view.ref.namespace}/{view.ref.name}"
    unread = [entry for uid, _, entry in view.orphans if is_unread(uid, entry)]
    if view.left_alone is not None and (len(unread) < len(view.orphans) or view.runs_a_node):
        return leftalone.until_unpaused(view.left_alone, now)
    for uid, at, entry in view.orphans:
        if is_unread(uid, entry):
            continue
        if reason := host_unattended(view.ref, view.host):
            return Decision(because=(reason,))
        if at is not None and isinstance(entry, Absent) and not is_confirmed(entry, now):
            return Decision((Confirm(at),), (ConfirmFirst(str(at)),))
        return Decision((ReleaseHost(view.ref, guard, uid),), (HoldOrphaned(name),))
    if view.marks and view.runs_a_node:
        return Decision((UnmarkHost(view.ref, guard, view.marks),), (HostUnmarked(name),))
    if unread:
        return Decision(because=(HolderUnreadable(name),), wake_at=now.mono + MINUTE)  # nobody tells us when it goes
    return NOTHING


def is_unread(uid: str, entry: Entry) -> bool:
    """Whether the request with this uid is there, for all we know, and cannot be read."""
    return isinstance(entry, Unseen) or (isinstance(entry, Unreadable) and entry.uid == uid)
