"""Annotation-triggered power cycling: the truth table of seed 001 (001_7b3e72bb3955c36c), and what surrounds it.

Called by the engine for every Machine, and for every host that carries our hold. The table is implemented as
printed, all sixteen rows; gates before it refuse to touch what is paused or not ours, and clean-up after it gives a
returned Node back what its predecessor carried.

Rule 1: the table decides; nothing else here powers a host off or deletes a Node.
Rule 2: an act that cannot be undone is decided on objects that were read live within five seconds.
Rule 3: the Node goes only with a proof from `core/safety.py`, and only after its backup was stored and seen.
Rule 4: a host that carries our hold is always somebody's business: its Machine's, or its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import Enum
from typing import Any

from msgspec import Struct, structs

from noderemedy.core import freeing, leftalone, safety, traces
from noderemedy.core.backup import back_up
from noderemedy.core.gates import first, meanwhile
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.metal3 import gates, links, offsight
from noderemedy.core.metal3.cleanup import returned_node
from noderemedy.core.metal3.needs import held_need, overdue_at, running_need, wanted_need
from noderemedy.core.metal3.offsight import Sight
from noderemedy.core.metal3.view import ROOM_NAME, HostView, MachineView, sees, waits_as
from noderemedy.core.metal3.waiting import for_finalizers, for_silence, waiting
from noderemedy.core.resting import rested
from noderemedy.core.slots import settled, soonest
from noderemedy.model.actions import (
    AddRebootAnnotation,
    BackUpNode,
    ClaimRepair,
    Confirm,
    DeleteNode,
    DropBackup,
    Guard,
    ListPods,
    RecordSight,
    RemoveRebootAnnotation,
    RemoveRemediationAnnotation,
    RestoreNode,
)
from noderemedy.model.budget import ANSWER, NEED
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.host import Hold, Power
from noderemedy.model.ids import CLUSTER, HOST, INCIDENT, LEASE, METAL3_MACHINE, NODE, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node, NodeBackup
from noderemedy.model.pace import LEAVE
from noderemedy.model.reasons import (
    BackupFirst,
    BackupReplaced,
    ConfirmFirst,
    HoldOrphaned,
    OffUnseen,
    ProvenOff,
    Reason,
    TableRow,
)
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Entry, Present, Reader, Room
from noderemedy.model.time import Now, Span, Wall


class Says(Enum):
    """The five things that the table can say, in the seed's words."""

    ADD = "Add reboot annotation"
    DELETE = "Delete node"
    NOTHING = "nothing"
    UNMARK = "Remove needs-remediation annotation"
    RELEASE = "Remove reboot annotation"


class Row(Struct, frozen=True, order=True):
    """The four columns: does the Node exist, is remediation needed, is the host on, do we hold it off?"""

    node: bool
    needs: bool
    on: bool
    held: bool


def row(node: int, needs: int, on: int, held: int) -> Row:
    return Row(bool(node), bool(needs), bool(on), bool(held))


# In the seed's order. The seed prints fifteen rows; the last one is the missing one.
TABLE: dict[Row, Says] = {
    row(0, 1, 1, 0): Says.ADD,
    row(1, 1, 1, 0): Says.ADD,
    row(1, 1, 0, 1): Says.DELETE,
    row(0, 0, 1, 0): Says.NOTHING,
    row(0, 0, 1, 1): Says.NOTHING,
    row(0, 1, 0, 0): Says.NOTHING,
    row(0, 1, 1, 1): Says.NOTHING,
    row(1, 0, 0, 0): Says.NOTHING,
    row(1, 0, 1, 0): Says.NOTHING,
    row(1, 0, 1, 1): Says.NOTHING,
    row(1, 1, 0, 0): Says.NOTHING,
    row(1, 1, 1, 1): Says.NOTHING,
    row(0, 1, 0, 1): Says.UNMARK,
    row(0, 0, 0, 1): Says.RELEASE,
    row(1, 0, 0, 1): Says.RELEASE,
    row(0, 0, 0, 0): Says.NOTHING,
}


def decide(view: MachineView | HostView, now: Now) -> Decision:
    """What to do for one Machine, or for one held host that no Machine names back."""
    return orphan(view, now) if isinstance(view, HostView) else machine(view, now)


def machine(view: MachineView, now: Now) -> Decision:
    """Gates, then clean-up of a node that is back, then the table."""
    if not view.is_in_hand:
        return NOTHING
    decision = (
        gates.blocked(gates.BEFORE_ANYTHING, view, now)
        or returned_node(view, now)
        or gates.blocked(gates.BEFORE_THE_TABLE, view, now)
        or table(view, now)
    )
    asks = any(fact.ref.kind == NEED for fact in decision.facts)  # a mark in the middle of a repair begins another one
    facts = decision.facts if asks else (*running_need(view, now), *decision.facts)
    wake_at = soonest(decision.wake_at, overdue_at(view, now))
    whole = Decision(decision.actions, decision.because, wake_at, episode=episode(view), facts=facts)
    return settled(whole, view.need, now)


def table(view: MachineView, now: Now) -> Decision:
    """The row that applies, and what it says."""
    assert view.host is not None
    if blocked := gates.blocked(gates.BEFORE_A_ROW, view, now):
        return waited_for(blocked.because, view, now)
    found = Row(view.node is not None, view.machine.needs_remediation, view.host.power is Power.ON, view.host.held)
    says = TABLE[found]
    reason = TableRow(int(found.node), int(found.needs), int(found.on), int(found.held), says.value)
    return ANSWERS[says](view, reason, now)


def add(view: MachineView, reason: TableRow, now: Now) -> Decision:
    """Hold the host off, within the budget and under our claim; what is refused for long keeps no place."""
    if blocked := gates.blocked(gates.BEFORE_POWER_OFF, view, now):
        return blocked
    has_place = gates.budget_allows(view, now) is None
    found, needs = rested(hold(view, reason, now), wanted_need(view, now), view.need, now, has_place=has_place)
    return structs.replace(found, facts=needs)


def hold(view: MachineView, reason: TableRow, now: Now) -> Decision:
    """The shared gates, a live read, and the hold. The version that said "on" is part of the guard."""
    asked = confirm_first(now, (view.ref, view.entry))
    if closed := first(gates.SHARED, view, now):
        return meanwhile(closed, asked.actions if asked else ()).decision(now)
    if asked:
        return asked
    assert view.host is not None
    assert view.host_at is not None
    record = Hold(
        machine_uid=view.machine.uid,
        since=now.wall,
        node_uid=view.node.uid if view.node else "",
        boot_id=view.node.boot_id if view.node else "",
    )
    return Decision((AddRebootAnnotation(view.host_at, host_guard(view), record),), (reason,))


def delete(view: MachineView, reason: TableRow, now: Now) -> Decision:
    """Read node and host live, wait until nobody hears it, store the backup, and delete the Node on proof."""
    node, node_at, host_at = view.node, view.node_at, view.host_at
    assert node is not None
    assert node_at is not None
    assert host_at is not None
    if node.deleting:
        waits = for_finalizers(view, node_at.name, now)
        return Decision((), (reason, *waits.because), waits.wake_at)
    seen = offsight.sight(view, node, now)
    asked = confirm_first(now, (node_at, view.node_entry), (host_at, view.host_entry))
    if asked and seen is not Sight.CONTRADICTED:  # no read mends that
        return asked
    if seen is not Sight.SILENT:
        return unproven(view, node, seen, reason, now)
    if doubted := first(gates.BEFORE_PROOF, view, now):
        return Decision((), (reason, doubted.reason))
    earlier = view.machine.backup if isinstance(view.machine.backup, NodeBackup) else None
    wanted = back_up(node, earlier)
    if earlier != wanted or not isinstance(view.machine.node_deleted_at, Wall):
        store = BackUpNode(view.ref, machine_guard(view), wanted, now.wall)
        return Decision((store,), (reason, *replaced(view), BackupFirst(node_at.name)))
    assert isinstance(view.host_entry, Present)
    assert isinstance(view.node_entry, Present)
    proof = safety.powered_off(node, view.host_entry, now, off_at=offsight.off_at(view))
    assert proof is not None, "the row says off and held, and the host was just confirmed"
    if view.work is not None and (held := freeing.held_back(view.work, now)):
        return Decision(held.actions, (reason, *held.because), facts=held.facts)
    guard = Guard(node.uid, view.node_entry.resource_version)
    return Decision(
        (DeleteNode(node_at, guard, node.boot_id, proof),),
        (reason, ProvenOff(f"{host_at.namespace}/{host_at.name}")),
    )


def unproven(view: MachineView, node: Node, seen: Sight, reason: TableRow, now: Now) -> Decision:
    """Held and off, and that proves nothing yet, or nothing at all."""
    assert view.host_at is not None
    assert view.node_at is not None
    if seen is Sight.UNSEEN:
        return release(view, OffUnseen(gates.name_of(view), view.node_at.name), now)
    waits, record = for_silence(view, view.node_at.name, seen, now), offsight.record(view, node, seen, now)
    write = (RecordSight(view.host_at, host_guard(view), record),) if record is not None else ()
    return Decision(write, (reason, *waits.because), waits.wake_at)


def replaced(view: MachineView) -> tuple[Reason, ...]:
    """A backup that cannot be read keeps no workload from being freed, but a person is told that it goes."""
    backup = view.machine.backup
    return (BackupReplaced(backup.problem),) if isinstance(backup, Malformed) else ()


def unmark(view: MachineView, reason: TableRow, now: Now) -> Decision:
    """The node is gone, and that was read live: the request on the Machine is fulfilled."""
    if view.node_at and (asked := confirm_first(now, (view.node_at, view.node_entry))):
        return asked
    mark = traces.Trace(traces.REQUEST, traces.MARKED)
    if view.machine.marked_by and (waits := untold(view, now, mark, traces.PATIENCE)):
        return waits
    return Decision((RemoveRemediationAnnotation(view.ref, machine_guard(view)),), (reason,))


def release(view: MachineView, reason: Reason, now: Now) -> Decision:
    """Let the baremetal operator power the host on. A hold that led to no deletion has no other trace: it is told."""
    assert view.host_at is not None
    assert view.host is not None
    within = traces.SHORTLY if offsight.has_deleted(view) else traces.PATIENCE
    if waits := untold(view, now, traces.trace(traces.HOLD, traces.held(view.host.hold)), within):
        return waits
    return Decision((RemoveRebootAnnotation(view.host_at, host_guard(view)),), (reason,))


def nothing(view: MachineView, reason: TableRow, now: Now) -> Decision:
    """Nothing to do now, but for the record; say what is waited for, and look again when that is overdue."""
    waits, record = waited_for((reason,), view, now), offsight.on_again(view, now)
    if record is None or view.host_at is None:
        return waits
    return structs.replace(waits, actions=(RecordSight(view.host_at, host_guard(view), record),))


def waited_for(reasons: tuple[Reason, ...], view: MachineView, now: Now) -> Decision:
    waits = waiting(view, now)
    return Decision((), (*reasons, *waits.because), waits.wake_at)


ANSWERS: dict[Says, Callable[[MachineView, TableRow, Now], Decision]] = {
    Says.ADD: add,
    Says.DELETE: delete,
    Says.NOTHING: nothing,
    Says.UNMARK: unmark,
    Says.RELEASE: release,
}


def untold(view: MachineView, now: Now, what: traces.Trace, within: Span) -> Decision | None:
    """Wait until the record tells of a trace that is about to go; None: it does."""
    return traces.recorded(view.record, traces.Erasing(view.ref, ROOM_NAME), now, (what,), within)


def orphan(view: HostView, now: Now) -> Decision:
    """Release a hold of ours that no living Machine answers for; free nothing."""
    if view.is_named_back:
        return NOTHING
    if unread := gates.consumer_unreadable(view.suspects):
        left = leftalone.until_unpaused(view.left_alone, now) if view.left_alone else Decision(because=(unread,))
        return settled(structs.replace(left, facts=held_need(view, now)), view.need, now)
    if view.left_alone:
        return leftalone.until_unpaused(view.left_alone, now)
    if reason := gates.host_unattended(view.ref, view.host):
        return Decision(because=(reason,))
    if asked := confirm_first(now, *view.suspects):
        return asked
    held = traces.trace(traces.HOLD, traces.held(view.host.hold))
    erasing = traces.Erasing(view.held_for or view.ref, waits_as(view.ref))
    if waits := traces.recorded(view.record, erasing, now, (held,)):
        return waits
    guard = Guard(view.host.uid, view.entry.resource_version)
    reason = HoldOrphaned(f"{view.ref.namespace}/{view.ref.name}")
    return Decision((RemoveRebootAnnotation(view.ref, guard),), (reason,))


def confirm_first(now: Now, *entries: tuple[Ref, Entry]) -> Decision | None:
    """Ask for a live read of everything that was not read live just now; None if all was."""
    stale = [ref for ref, entry in entries if not _is_confirmed(entry, now)]
    if not stale:
        return None
    reasons: tuple[Reason, ...] = tuple(ConfirmFirst(str(ref)) for ref in stale)
    return Decision(tuple(Confirm(ref) for ref in stale), reasons)


def _is_confirmed(entry: Entry, now: Now) -> bool:
    return isinstance(entry, Present | Absent) and safety.is_confirmed(entry, now)


def host_guard(view: MachineView) -> Guard:
    assert isinstance(view.host_entry, Present)
    return Guard(view.host_entry.obj.uid, view.host_entry.resource_version)


def machine_guard(view: MachineView) -> Guard:
    return Guard(view.machine.uid, view.entry.resource_version)


def episode(view: MachineView) -> str:
    """Names this repair by the Machine and the Node object that it is about; the same after a restart."""
    backup = view.machine.backup
    node_uid = backup.node_uid if isinstance(backup, NodeBackup) else view.node.uid if view.node else ""
    return hashlib.sha256(f"{view.machine.uid} {node_uid}".encode()).hexdigest()[:10]


def wakes(ref: Ref, obj: Any, reader: Reader) -> tuple[Ref, ...]:
    if ref.kind != INCIDENT:
        return links.concerned(ref, obj, reader)
    hosts = reader.find(links.HELD_FOR, obj.found.target_uid) if obj is not None else ()
    return (*traces.waiting(ROOM_NAME, obj, reader), *hosts)


ROOM = Room(
    name=ROOM_NAME,
    watches=(NODE, REMOTE, CLUSTER, *MACHINE_KINDS, HOST, METAL3_MACHINE, LEASE, ANSWER, INCIDENT, LEAVE),
    indexes=(*links.INDEXES, *traces.INDEXES),
    wakes=wakes,
    secondary=(NODE,),
    sees=sees,
    decide=decide,
    may=frozenset(
        {
            Confirm,
            ClaimRepair,
            AddRebootAnnotation,
            RecordSight,
            RemoveRebootAnnotation,
            BackUpNode,
            DeleteNode,
            ListPods,
            RemoveRemediationAnnotation,
            RestoreNode,
            DropBackup,
        }
    ),
    explains=gates.explain,
)
