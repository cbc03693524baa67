"""Since when the truth table's host is off, which boot of which Node went with it, and whether that is contradicted.

A node that reports minutes after its host was seen off runs on another host (fault 55: a BMC's address that points
elsewhere), and so does one that registers or boots meanwhile. That stays so when it falls silent later: only a person
can mend it. What was seen is a fact of the Machine, and measured by our own clock; whoever takes over judges by the
record of the hold and by when the silence began.

Rule 1: the first time that the host was seen off under a hold counts, also if it was on once more since. Two hosts that
name one BMC switch the same machine on and off in turn.
Rule 2: a boot that the first live read after that still hears may have come while the host was on, unseen by us (a
watch that lags, a former leader): whether it falls silent with its host tells.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import safety
from noderemedy.core.metal3.view import MachineView, OffSight, off_sight_ref
from noderemedy.model.decision import Fact
from noderemedy.model.host import Hold, Power
from noderemedy.model.node import Node
from noderemedy.model.room import Present
from noderemedy.model.time import Now


def sight(view: MachineView, now: Now) -> OffSight:
    """What is known of the present hold."""
    known = view.off_sight if view.off_sight is not None and view.off_sight.hold == hold_of(view) else None
    seen = as_read(known if known is not None and known.off_at is not None else at_first(view, known, now), view)
    is_late = view.node is not None and speaks_against(seen, view.node, now)
    return structs.replace(seen, is_contradicted=seen.is_contradicted or is_late)


def at_first(view: MachineView, known: OffSight | None, now: Now) -> OffSight:
    """Of a host that was not off at our last look, or that we see for the first time."""
    assert view.host is not None
    if view.host.power is not Power.OFF:
        return OffSight(hold_of(view))
    if known is None:
        return as_recorded(view, now)
    node = view.node  # it may have booted by itself, or registered, on its way off
    return OffSight(hold_of(view), now.wall, now.mono, node.uid if node else "", node.boot_id if node else "")


def as_recorded(view: MachineView, now: Now) -> OffSight:
    """Off already: since its hold, for the boot of then; but we ourselves know it since we see it so (race R5).

    A hold without a readable record tells neither: what we see from now on counts.
    """
    entry = view.host_entry
    assert isinstance(entry, Present)
    hold = entry.obj.hold
    if not isinstance(hold, Hold):
        return OffSight(hold_of(view), now.wall, now.mono)
    since = min(now.mono, max(entry.changed_at, now.until(hold.since)))
    return OffSight(hold_of(view), hold.since, since, hold.node_uid, hold.boot_id)


def as_read(seen: OffSight, view: MachineView) -> OffSight:
    """With what the first live read that began since then shows (rule 2); nothing is freed without one."""
    entry = view.node_entry
    if seen.is_read or seen.since is None or not isinstance(entry, Present) or entry.confirmed_at is None:
        return seen
    if entry.confirmed_at < seen.since:
        return seen
    node: Node = entry.obj
    went = (node.uid, node.boot_id) if node.is_heard else (seen.node_uid, seen.boot_id)
    return structs.replace(seen, node_uid=went[0], boot_id=went[1], is_read=True)


def hold_of(view: MachineView) -> str:
    """One hold of one host, told apart from every other."""
    assert view.host is not None
    hold = view.host.hold
    return f"{view.host.uid} {hold.since.ms if isinstance(hold, Hold) else ''}"


def speaks_against(seen: OffSight, node: Node, now: Now) -> bool:
    """Whether this node was there after its host was off: another one, another boot, or heard long after that."""
    if seen.off_at is None or seen.since is None:
        return False
    is_other = seen.is_read and bool(seen.node_uid) and seen.node_uid != node.uid
    has_booted = seen.is_read and bool(seen.boot_id) and bool(node.boot_id) and seen.boot_id != node.boot_id
    is_heard = node.is_heard and now.mono >= seen.since + safety.SILENT_WITHIN
    return is_other or has_booted or is_heard or safety.has_outlived(node, seen.off_at, now)


def memory(view: MachineView, now: Now) -> tuple[Fact, ...]:
    """What is stated so that the next look knows it."""
    return (Fact(off_sight_ref(view.ref), sight(view, now)),) if view.holds else ()
