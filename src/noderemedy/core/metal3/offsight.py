"""What the truth table makes of a node whose host is held and off: silent with it, still heard, or on another host.

A node that reports minutes after its host was seen off runs on another host (fault 55: a BMC's address that points
elsewhere), and so does one that registers or boots meanwhile. That stays so when it falls silent later: only a person
can mend it. All that is judged by is on record at the hold, so whoever takes over judges alike. Node and host were
read live before.

Rule 1: who fell silent before the hold, or soon after it, is off with its host.
Rule 2: who is still heard when the host is first seen off is put on record, with that moment and its boot: a boot that
        came while the host was still on is this host's own. It has to fall silent soon after that moment.
Rule 3: who is heard long after that moment, or boots or registers after it, contradicts the host, which goes on record.
Rule 4: who fell silent long after the hold, or is another boot and silent already, while nobody looked: nobody knows
        whether its host was off by then. Nothing is freed, power comes back, and it begins anew.
Rule 5: a host that is on again, held as it is (a person, another BMC's mistake), goes on record once its node is silent
        with it, or was deleted for that. Another boot that comes after that may be its own: it is seen as if the host
        had just been held. The same boot, with whatever Node, never is.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import structs

from noderemedy.core import safety
from noderemedy.core.metal3.view import MachineView
from noderemedy.model.host import Hold, Power
from noderemedy.model.node import Node
from noderemedy.model.remediation import Evidence
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Now, Wall


class Sight(Enum):
    """What is known of the node of a host that is off."""

    SILENT = auto()
    STILL_HEARD = auto()
    UNRECORDED = auto()  # heard, and the record does not say so yet
    CONTRADICTS = auto()  # the same
    CONTRADICTED = auto()
    UNSEEN = auto()


def sight(view: MachineView, node: Node, now: Now) -> Sight:
    hold = hold_of(view)
    if hold is not None and hold.contradicted_at is not None:
        return Sight.CONTRADICTED
    if hold is not None and hold.off_at is not None and not may_have_booted(hold, node):
        if speaks_against(hold, hold.off_at, node, seen_since(view, now), now):
            return Sight.CONTRADICTS
        return Sight.STILL_HEARD if node.is_heard else Sight.SILENT
    if node.is_heard:
        return Sight.UNRECORDED
    is_unseen = hold is not None and (is_another(hold, node) or safety.has_outlived(node, hold.since, now))
    return Sight.UNSEEN if is_unseen else Sight.SILENT


def speaks_against(hold: Hold, off_at: Wall, node: Node, since: Mono, now: Now) -> bool:
    """Whether this node was there after its host was off: another one, another boot, or heard long after that."""
    is_heard = node.is_heard and now.mono >= since + safety.SILENT_WITHIN
    return is_another(hold, node) or is_heard or safety.has_outlived(node, off_at, now)


def may_have_booted(hold: Hold, node: Node) -> bool:
    """Whether this is another boot than the one that went off, and its host was on again since then."""
    return hold.on_at is not None and is_another(hold, node) and not is_that_boot(hold, node)


def is_another(hold: Hold, node: Node) -> bool:
    """Another boot or another Node than the one on record."""
    has_booted = bool(hold.boot_id) and bool(node.boot_id) and hold.boot_id != node.boot_id
    return has_booted or (bool(hold.node_uid) and hold.node_uid != node.uid)


def is_that_boot(known: Hold | Evidence, node: Node) -> bool:
    """By the boot, whatever Node object it has by now; where boots are not told, by that object."""
    if known.boot_id and node.boot_id:
        return known.boot_id == node.boot_id
    return known.node_uid == node.uid


def seen_since(view: MachineView, now: Now) -> Mono:
    """When the host was off, on our own clock; not before we saw the record: the clock of its writer may be off."""
    hold, entry = hold_of(view), view.host_entry
    assert isinstance(entry, Present)
    off_at = hold.off_at if hold is not None else None
    return min(now.mono, max(entry.changed_at, now.until(off_at))) if off_at is not None else now.mono


def off_at(view: MachineView) -> Wall | None:
    """The moment that a proof is measured from; None where the record cannot be read."""
    hold = hold_of(view)
    return (hold.off_at or hold.since) if hold is not None else None


def record(view: MachineView, node: Node, seen: Sight, now: Now) -> Hold | None:
    """What goes on record; None: nothing new. A record that could not be read is made anew."""
    known = hold_of(view) or Hold(view.machine.uid, now.wall)
    if seen is Sight.UNRECORDED:
        return structs.replace(known, node_uid=node.uid, boot_id=node.boot_id, off_at=now.wall, on_at=None)
    return structs.replace(known, contradicted_at=now.wall) if seen is Sight.CONTRADICTS else None


def on_again(view: MachineView, now: Now) -> Hold | None:
    """What goes on record of a host that is on; None: nothing."""
    hold, host = hold_of(view), view.host
    if hold is None or host is None or host.power is not Power.ON:
        return None
    if hold.off_at is None or hold.contradicted_at is not None or hold.on_at is not None:
        return None
    return structs.replace(hold, on_at=now.wall) if went_off(view, hold, hold.off_at, now) else None


def went_off(view: MachineView, hold: Hold, off_at: Wall, now: Now) -> bool:
    """Whether the node was silent with its host. Whoever is heard did not go off with it, or is back."""
    if view.node is None:
        return has_deleted(view)  # on proof; of a Node that somebody else deleted nobody knows
    return not view.node.is_heard and not speaks_against(hold, off_at, view.node, seen_since(view, now), now)


def has_deleted(view: MachineView) -> bool:
    """Whether this very hold led to a deletion, which is still recorded on the Machine."""
    at, hold = view.machine.node_deleted_at, hold_of(view)
    return isinstance(at, Wall) and hold is not None and at >= hold.since


def hold_of(view: MachineView) -> Hold | None:
    hold = view.host.hold if view.host is not None else None
    return hold if isinstance(hold, Hold) else None
