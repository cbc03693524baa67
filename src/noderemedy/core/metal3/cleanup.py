"""After the node came back: restore what it carried, then drop the backup. Needs the node only, not the host.

A mark that somebody else put on the Machine while the node was starting goes first, once the node is ready.
"""

from __future__ import annotations

from noderemedy.core import safety, traces
from noderemedy.core.backup import restore
from noderemedy.core.metal3.gates import is_successor, starting_until
from noderemedy.core.metal3.view import ROOM_NAME, MachineView
from noderemedy.model.actions import Confirm, DropBackup, Guard, RemoveRemediationAnnotation
from noderemedy.model.decision import Decision
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    BackupUnneeded,
    BackupUnreadable,
    ConfirmFirst,
    MarkFulfilled,
    NodeWhole,
    Reason,
    RestoringNode,
)
from noderemedy.model.room import Present
from noderemedy.model.time import Now


def returned_node(view: MachineView, now: Now) -> Decision | None:
    """What a Node that is there, of a Machine that needs nothing and whose host nobody of us holds, still lacks."""
    machine, node = view.machine, view.node
    if node is None or node.deleting or view.holds or view.is_held_for_others:
        return None
    if machine.needs_remediation:
        return fulfilled(view, now)
    if machine.backup is None and machine.node_deleted_at is None:
        return None
    assert view.node_at is not None
    assert isinstance(view.node_entry, Present)
    name = view.node_at.name
    drop = DropBackup(view.ref, Guard(machine.uid, view.entry.resource_version))
    if isinstance(machine.backup, Malformed):
        return Decision(because=(BackupUnreadable(machine.backup.problem),))
    if machine.backup is None:
        return dropped(view, drop, NodeWhole(name), now)
    if machine.backup.node_uid == node.uid:
        return _never_deleted(view, drop, name, now)
    if write := restore(view.node_at, view.node_entry.resource_version, node, machine.backup):
        return Decision((write,), (RestoringNode(name),))
    is_unnamed = not machine.backup.node_uid  # written by hand: it may be of the Node that an old view still shows
    return (is_unnamed and _read_live(view, now)) or dropped(view, drop, NodeWhole(name), now)


def fulfilled(view: MachineView, now: Now) -> Decision | None:
    """Take off a mark from the time of the start: whoever put it there never does, and the next look would act on it.

    By a read of the node from after we knew the mark: one that fell ill since then is marked anew.
    """
    if starting_until(view, now) is None or not is_successor(view):
        return None
    assert view.node is not None
    if not view.node.is_ready:
        return None
    unmark = RemoveRemediationAnnotation(view.ref, Guard(view.machine.uid, view.entry.resource_version))
    return _read_live(view, now) or Decision((unmark,), (MarkFulfilled(view.machine.node_name or ""),))


def dropped(view: MachineView, drop: DropBackup, reason: Reason, now: Now) -> Decision:
    """The last that tells of the deletion: it goes when the record tells of it, too."""
    deletion = traces.trace(traces.DELETION, traces.deleted(view.machine.node_deleted_at))
    waits = traces.recorded(view.record, traces.Erasing(view.ref, ROOM_NAME), now, (deletion,))
    return waits or Decision((drop,), (reason,))


def _never_deleted(view: MachineView, drop: DropBackup, name: str, now: Now) -> Decision:
    """The backup is of the Node that is there: it was called off, or our view is old."""
    return _read_live(view, now) or dropped(view, drop, BackupUnneeded(name), now)


def _read_live(view: MachineView, now: Now) -> Decision | None:
    """A backup is not dropped on an old view: the Node is read after we knew Machine and host to be as they are.

    Another leader deletes the Node first, and releases the Machine and the host after that. Who has seen them released
    and reads the Node then cannot find the one that was deleted; a read from before, however fresh, may have.
    """
    assert view.node_at is not None
    assert isinstance(view.node_entry, Present)
    known = [entry.changed_at for entry in (view.entry, view.host_entry) if isinstance(entry, Present)]
    if safety.is_confirmed(view.node_entry, now) and safety.is_read_since(view.node_entry, known):
        return None
    return Decision((Confirm(view.node_at),), (ConfirmFirst(str(view.node_at)),))
