"""A host that is held off for a NodeFence that is gone: somebody tore its finalizer off. The hold goes, nothing more.

Keyed by the host. That the NodeFence is gone is read live first: our view of it may be old.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core.fencing.moves import confirm
from noderemedy.core.fencing.view import BY_UID
from noderemedy.model.actions import Guard, ReleaseHost
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.host import Hold, Host
from noderemedy.model.ids import NODE_FENCE, Ref
from noderemedy.model.reasons import HoldOrphaned
from noderemedy.model.room import Absent, Entry, Present, Reader
from noderemedy.model.time import Now


class RelicView(Struct, frozen=True):
    """A host with a hold for a NodeFence that nobody knows, and what bears its name now."""

    ref: Ref
    entry: Present
    uid: str
    fence_at: Ref | None
    fence: Entry


def see(key: Ref, entry: Present, reader: Reader) -> RelicView | None:
    host: Host = entry.obj
    lost = [(uid, record) for uid, record in host.fenced_for if not reader.find(BY_UID, uid)]
    if not lost:
        return None
    uid, record = lost[0]
    name = record.owner.rpartition("/")[2] if isinstance(record, Hold) else ""
    at = Ref("", NODE_FENCE, "", name) if name else None
    return RelicView(key, entry, uid, at, reader.read(at) if at else Absent())


def decide(view: RelicView, now: Now) -> Decision:
    if not isinstance(view.fence, Present | Absent):
        return NOTHING  # it cannot be read just now: it may be there
    if view.fence_at is not None and (asked := confirm(now, (view.fence_at, view.fence))):
        return asked
    guard = Guard(view.entry.obj.uid, view.entry.resource_version)
    release = ReleaseHost(view.ref, guard, view.uid, is_fence=True)
    return Decision((release,), (HoldOrphaned(f"{view.ref.namespace}/{view.ref.name}"),))
