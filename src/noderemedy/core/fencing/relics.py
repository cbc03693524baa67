"""A host that is held off for a NodeFence that is gone: somebody tore its finalizer off. The hold goes, nothing more.

Keyed by the host. That the NodeFence is gone is read live first: our view of it may be old. One that is there and
cannot be read keeps its hold; a minute later it may be gone, and its end does not say whose host it was.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core import leftalone
from noderemedy.core.fencing.moves import confirm
from noderemedy.core.fencing.view import BY_UID
from noderemedy.model.actions import Guard, ReleaseHost
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Host
from noderemedy.model.ids import NODE_FENCE, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import HolderUnreadable, HoldOrphaned
from noderemedy.model.room import Absent, Entry, Present, Reader, Unreadable, Unseen
from noderemedy.model.time import MINUTE, Now


class RelicView(Struct, frozen=True):
    """A host with a hold for a NodeFence that nobody knows, and what bears its name now."""

    ref: Ref
    entry: Present
    uid: str
    fence_at: Ref | None
    fence: Entry
    left_alone: leftalone.Pause | None = None  # of the Machine that the host belongs to


def see(key: Ref, entry: Present, reader: Reader) -> RelicView | None:
    host: Host = entry.obj
    lost = [(uid, record) for uid, record in host.fenced_for if not reader.find(BY_UID, uid)]
    left_alone = leftalone.pause_of_host(key, host, reader) if lost else None
    views = [RelicView(key, entry, uid, *suspect(record, reader), left_alone) for uid, record in lost]
    return next((one for one in views if not is_unread(one)), views[0] if views else None)


def suspect(record: Hold | Malformed | None, reader: Reader) -> tuple[Ref | None, Entry]:
    """The NodeFence that a hold was made for, by the name in its record."""
    name = record.owner.rpartition("/")[2] if isinstance(record, Hold) else ""
    at = Ref("", NODE_FENCE, "", name) if name else None
    return at, reader.read(at) if at else Absent()


def decide(view: RelicView, now: Now) -> Decision:
    name = f"{view.ref.namespace}/{view.ref.name}"
    if is_unread(view):
        return Decision(because=(HolderUnreadable(name),), wake_at=now.mono + MINUTE)  # nobody tells us when it goes
    if view.left_alone is not None:
        return leftalone.until_unpaused(view.left_alone, now)
    is_readable = isinstance(view.fence, Present | Absent)
    if view.fence_at is not None and is_readable and (asked := confirm(now, (view.fence_at, view.fence))):
        return asked
    guard = Guard(view.entry.obj.uid, view.entry.resource_version)
    release = ReleaseHost(view.ref, guard, view.uid, is_fence=True)
    return Decision((release,), (HoldOrphaned(name),))


def is_unread(view: RelicView) -> bool:
    """Whether the NodeFence of this hold is there, for all we know, and cannot be read: it may be freeing."""
    return isinstance(view.fence, Unseen) or (isinstance(view.fence, Unreadable) and view.fence.uid == view.uid)
