"""The gates before the truth table: each a small question, passed (None) or blocked with a reason.

`decide` stops at the first that blocks; `explain` lists them all, as far as each can be asked: without a host there is
nothing to ask about it. There is no second implementation.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.core import leftalone
from noderemedy.core.claim import claimed
from noderemedy.core.gates import Blocked, budgeted_anew, first, nobody_left_it, nobody_paused, passages
from noderemedy.core.machines import is_own
from noderemedy.core.metal3.links import consumer_text
from noderemedy.core.metal3.view import ROOM_NAME, HostView, MachineView
from noderemedy.core.safety import CLOCKS_WITHIN
from noderemedy.model.decision import Decision
from noderemedy.model.drill import host_identity, is_found_wrong
from noderemedy.model.host import Host, Power
from noderemedy.model.ids import Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.node import NodeBackup
from noderemedy.model.reasons import (
    CannotSeeCluster,
    ClaimedByOther,
    ConsumerUnreadable,
    DeviceMistaken,
    HostMissing,
    HostNameUnreadable,
    HostNotNamed,
    HostNotOurs,
    HostPaused,
    HostUnreadable,
    HostUnsettled,
    MachineDeleting,
    NodeNotOurs,
    NodeUnreadable,
    PowerOffDisabled,
    PowerUnknown,
    Reason,
    SoftShutdownAsked,
    StartingAnew,
)
from noderemedy.model.room import Absent, Entry, Passage, Unreadable, Unseen
from noderemedy.model.time import Now, Span, Wall

NODE_WITHIN = Span.seconds(600)  # what a node may take to come up after we deleted it
Gate = Callable[[MachineView, Now], Blocked | None]


def cluster_is_not_paused(view: MachineView, now: Now) -> Blocked | None:
    """`cluster.x-k8s.io/paused` on the Machine, or a paused Cluster: they may be on their way to another place."""
    return nobody_left_it(leftalone.pause(view.ref, view.machine, view.cluster))


def cluster_is_seen(view: MachineView, now: Now) -> Blocked | None:
    """A Node in a cluster that cannot be seen is neither there nor gone. As below, a hold without a request goes."""
    if not isinstance(view.node_entry, Unseen) or (view.holds and not view.machine.needs_remediation):
        return None
    assert view.node_at is not None
    return Blocked(CannotSeeCluster(view.node_at.cluster, view.remote.why if view.remote else ""))


def node_is_its_own(view: MachineView, now: Now) -> Blocked | None:
    """A Node of that name with another providerID is another machine's (invariant S7).

    A hold without a request is only released, whoever has the node's name by now: no Node is touched, and the host
    must not stay off.
    """
    if view.node is None or is_own(view.node, view.machine):
        return None
    if view.holds and not view.machine.needs_remediation:
        return None
    assert view.node_at is not None
    return Blocked(NodeNotOurs(view.node_at.name, view.node.provider_id, view.machine.provider_id))


def node_is_readable(view: MachineView, now: Now) -> Blocked | None:
    """A Node that cannot be read is there: the table's first column must not take it for gone.

    As above, a hold without a request is only released, whatever the Node is like.
    """
    if not isinstance(view.node_entry, Unreadable) or (view.holds and not view.machine.needs_remediation):
        return None
    assert view.node_at is not None
    return Blocked(NodeUnreadable(view.node_at.name, view.node_entry.problem))


def host_is_named(view: MachineView, now: Now) -> Blocked | None:
    if isinstance(view.host_named, Malformed):
        return Blocked(HostNameUnreadable(view.host_named.problem))
    return Blocked(HostNotNamed()) if view.host_at is None else None


def host_is_there(view: MachineView, now: Now) -> Blocked | None:
    return Blocked(HostMissing(name_of(view))) if isinstance(view.host_entry, Absent | Unseen) else None


def host_is_readable(view: MachineView, now: Now) -> Blocked | None:
    entry = view.host_entry
    return Blocked(HostUnreadable(name_of(view), entry.problem)) if isinstance(entry, Unreadable) else None


def consumer_is_readable(view: MachineView, now: Now) -> Blocked | None:
    return closed(consumer_unreadable(view.between))


def consumer_unreadable(entries: tuple[tuple[Ref, Entry], ...]) -> Reason | None:
    """Somebody may answer for the host whom we cannot hear."""
    for ref, entry in entries:
        if isinstance(entry, Unreadable):
            return ConsumerUnreadable(str(ref), entry.problem)
    return None


def host_is_its_own(view: MachineView, now: Now) -> Blocked | None:
    assert view.host is not None
    if view.is_consumer:
        return None
    return Blocked(HostNotOurs(name_of(view), consumer_text(view.host.consumer)))


def host_is_attended(view: MachineView, now: Now) -> Blocked | None:
    assert view.host is not None
    assert view.host_at is not None
    return closed(host_unattended(view.host_at, view.host))


def host_unattended(ref: Ref, host: Host) -> Reason | None:
    """A paused or detached host shows an old power state, and nobody acts on its annotations."""
    how = "paused" if host.paused else "detached" if host.detached else ""
    return HostPaused(f"{ref.namespace}/{ref.name}", how) if how else None


def power_is_known(view: MachineView, now: Now) -> Blocked | None:
    assert view.host is not None
    return Blocked(PowerUnknown(name_of(view), view.host.error)) if view.host.power is Power.UNKNOWN else None


def nobody_paused_it(view: MachineView, now: Now) -> Blocked | None:
    """On the Machine, or on its Node."""
    of_node = view.node.paused if view.node else None
    return nobody_paused(now, (view.ref, view.machine.paused), (view.node_at, of_node))


def machine_stays(view: MachineView, now: Now) -> Blocked | None:
    return Blocked(MachineDeleting()) if view.machine.deleting else None


def node_had_time_to_start(view: MachineView, now: Now) -> Blocked | None:
    """A health checker of somebody else marks a Machine the moment its Node is gone, in the middle of our own repair.

    Were that heeded at once, the host would be held off again before it has started, and so on without end.
    """
    until, since = starting_until(view, now), view.machine.node_deleted_at
    if until is None or not isinstance(since, Wall):
        return None
    return Blocked(StartingAnew(view.machine.node_name or "", since, until), until)


def starting_until(view: MachineView, now: Now) -> Wall | None:
    """Until when a mark waits for a node that we deleted; None: it counts, or there is none.

    Our own checks have waited before they mark. A time that no clock can have shown yet is believed by nobody.
    """
    machine, since = view.machine, view.machine.node_deleted_at
    if not machine.needs_remediation or machine.marked_by or view.holds or not isinstance(since, Wall):
        return None
    is_away = view.node is None or is_successor(view)
    is_believed = since <= now.wall + CLOCKS_WITHIN
    return since + NODE_WITHIN if is_away and is_believed and now.wall < since + NODE_WITHIN else None


def is_successor(view: MachineView) -> bool:
    """Whether the Node is another one than that which was backed up, and so deleted."""
    backup = view.machine.backup
    known = backup.node_uid if isinstance(backup, NodeBackup) else ""
    return view.node is not None and bool(known) and known != view.node.uid


def power_off_is_possible(view: MachineView, now: Now) -> Blocked | None:
    assert view.host is not None
    return Blocked(PowerOffDisabled(name_of(view))) if view.host.power_off_disabled else None


def host_is_settled(view: MachineView, now: Now) -> Blocked | None:
    assert view.host is not None
    return Blocked(HostUnsettled(name_of(view), view.host.unsettled)) if view.host.unsettled else None


def nobody_shuts_it_down(view: MachineView, now: Now) -> Blocked | None:
    """A host that shuts down by itself is called off before it is; a hold that comes then sends it no hard off."""
    assert view.host is not None
    return Blocked(SoftShutdownAsked(name_of(view), view.host.soft_reboot)) if view.host.soft_reboot else None


def host_is_not_mistaken(view: MachineView, now: Now) -> Blocked | None:
    """A drill of fencing found that this is another machine: it is neither switched nor believed."""
    if view.node is None or not is_found_wrong(view.node, host_identity(view.host_at)):
        return None
    return Blocked(DeviceMistaken(view.machine.node_name or "", f"BareMetalHost {name_of(view)}"))


def budget_allows(view: MachineView, now: Now) -> Blocked | None:
    return budgeted_anew(view.told, view.need, ROOM_NAME, now)


def one_repair_per_node(view: MachineView, now: Now) -> Blocked | None:
    assert view.claim is not None
    return claimed(view.claim, now)


def nobody_else_holds_it(view: MachineView, now: Now) -> Blocked | None:
    """One hold at a time (invariant S2): one whose request is gone is nobody's, until it is released (`relics.py`)."""
    return held_besides(view, "")


def held_besides(view: MachineView, owner: str) -> Blocked | None:
    if view.host is None or not view.host.is_held_besides(owner):
        return None
    return Blocked(ClaimedByOther(view.machine.node_name or "", f"whoever else holds host {name_of(view)}"))


BEFORE_ANYTHING: tuple[Gate, ...] = (cluster_is_not_paused, cluster_is_seen, node_is_readable, node_is_its_own)
BEFORE_THE_TABLE: tuple[Gate, ...] = (
    host_is_named,
    host_is_there,
    host_is_readable,
    consumer_is_readable,
    host_is_its_own,
    host_is_attended,
)
BEFORE_A_ROW: tuple[Gate, ...] = (power_is_known,)  # the table has no column for unknown
BEFORE_POWER_OFF: tuple[Gate, ...] = (
    nobody_paused_it,
    machine_stays,
    power_off_is_possible,
    host_is_settled,
    nobody_shuts_it_down,
    host_is_not_mistaken,
    node_had_time_to_start,
)
BEFORE_PROOF: tuple[Gate, ...] = (power_off_is_possible, host_is_settled, host_is_not_mistaken)
# Asked of all rooms before a new repair.
SHARED: tuple[Gate, ...] = (budget_allows, one_repair_per_node, nobody_else_holds_it)


WITHOUT_A_HOST = 3  # how many of BEFORE_THE_TABLE can be asked where there is none


def blocked(gates: tuple[Gate, ...], view: MachineView, now: Now) -> Decision | None:
    """The decision of the first gate that blocks, with the time of the next look if it is known; None if all pass."""
    found = first(gates, view, now)
    return found.decision(now) if found else None


def explain(view: MachineView | HostView, now: Now) -> tuple[Passage, ...]:
    """All gates between a request and power off, for people; none where nothing is asked for."""
    if isinstance(view, HostView) or not view.is_in_hand:
        return ()
    before = BEFORE_THE_TABLE[: 1 if view.host_at is None else WITHOUT_A_HOST]
    if view.host is None:
        return passages((*BEFORE_ANYTHING, *before), view, now)
    shared = SHARED if view.claim is not None and not view.host.held else ()  # what runs asks no more
    return passages((*BEFORE_ANYTHING, *BEFORE_THE_TABLE, *BEFORE_A_ROW, *BEFORE_POWER_OFF, *shared), view, now)


def closed(reason: Reason | None) -> Blocked | None:
    return Blocked(reason) if reason else None


def name_of(view: MachineView) -> str:
    """The host's name for a person."""
    assert view.host_at is not None
    return f"{view.host_at.namespace}/{view.host_at.name}"
