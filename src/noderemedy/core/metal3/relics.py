"""What Metal3Remediations leave on hosts when they are gone: a hold that nobody answers for, a mark that is outlived.

A finalizer that somebody took off by hand must not leave a host off for ever (invariant S6); a host whose new node is
ready must not stay unhealthy for ever. A request that is there and cannot be read keeps its hold: it may be freeing.
So does a hold without our record, which is not ours: the provider's own controller uses the same key. Frees nothing.
"""

from __future__ import annotations

from noderemedy.core import leftalone
from noderemedy.core.metal3.gates import host_unattended
from noderemedy.core.metal3.remediationview import RelicView
from noderemedy.core.metal3.steps import is_confirmed
from noderemedy.model.actions import Confirm, Guard, ReleaseHost, UnmarkHost
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.reasons import ConfirmFirst, HolderUnreadable, HoldOrphaned, HostUnmarked
from noderemedy.model.room import Absent, Entry, Unreadable, Unseen
from noderemedy.model.time import MINUTE, Now


def decide(view: RelicView, now: Now) -> Decision:
    guard = Guard(view.host.uid, view.entry.resource_version)
    name = f"{view.ref.namespace}/{view.ref.name}"
    unread = [entry for uid, _, entry in view.orphans if is_unread(uid, entry)]
    if view.is_left_alone and (len(unread) < len(view.orphans) or view.runs_a_node):
        return leftalone.until_unpaused(now)
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
