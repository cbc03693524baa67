"""The only maker of proofs (rule 3 of the architecture), and the rule of fresh reads.

Called by every room that frees a workload. A room asks "is this node safe?" with what it has read; the answer
is a proof, or None. Unknown is not off, a cached state is not a state: the host must have been read live within
the last five seconds, must be held off by us, and must be the host of that very node.
"""

from __future__ import annotations

from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.node import Node
from noderemedy.model.proof import PoweredOff, Subject
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import Mono, Now, Span

FRESH = Span.seconds(5)


def is_fresh(confirmed_at: Mono | None, now: Now) -> bool:
    """Whether a live read is recent enough to act irreversibly on."""
    return confirmed_at is not None and now.mono.since(confirmed_at) <= FRESH


def is_confirmed(entry: Present | Absent, now: Now) -> bool:
    """Whether what the cache says was read live just now."""
    return is_fresh(entry.confirmed_at, now)


def is_read_since(entry: Present, known: list[Mono]) -> bool:
    """Whether the last live read of an object began after we knew all these things."""
    return entry.confirmed_at is not None and all(entry.confirmed_at >= moment for moment in known)


def powered_off(node: Node, host_entry: Present, now: Now) -> PoweredOff | None:
    """Proof that `node` cannot write, because its host is held off by us and was seen off; else None.

    The caller has checked that this is the node's host (consumerRef, providerID). `poweredOn` may be a minute
    old, so it counts only while our hold is in place. Three things make it news then: our hold was written onto a
    version of the host that said "on"; the baremetal operator writes its status onto the version that it read, so
    a state from before the hold is refused after it; and it never powers a held host on.
    """
    host = host_entry.obj
    assert isinstance(host, Host)
    if not is_confirmed(host_entry, now):
        return None
    if host.power is not Power.OFF or not host.held or host.paused or host.detached:
        return None
    since = host.hold.since if isinstance(host.hold, Hold) else None
    return PoweredOff(
        subject=Subject(node.uid, node.boot_id),
        host_uid=host.uid,
        host_resource_version=host_entry.resource_version,
        seen_at=now.wall,
        held_since=since,
    )
