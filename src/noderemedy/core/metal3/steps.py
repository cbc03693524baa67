"""Small steps that the phases of a Metal3Remediation share: record, confirm, hold, release, untaint, wait."""

from __future__ import annotations

from noderemedy.core import freeing, safety
from noderemedy.core.metal3 import patience
from noderemedy.core.metal3.remediationview import RemediationView
from noderemedy.model.actions import (
    Confirm,
    Guard,
    HoldHost,
    PublishRemediationStatus,
    ReleaseHost,
    UntaintOutOfService,
)
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Power
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node
from noderemedy.model.reasons import ConfirmFirst, HoldingHost, PhaseBegins, Reason, ReleasingHost, UntaintingNode
from noderemedy.model.remediation import Progress
from noderemedy.model.room import Absent, Entry, Present
from noderemedy.model.time import Now, Wall


def publish(view: RemediationView, progress: Progress, *reasons: Reason) -> Decision:
    """Record how far it has come."""
    begins = PhaseBegins(progress.phase.value, progress.retry_count + 1)
    write = PublishRemediationStatus(view.ref, view.guard, progress)
    return Decision((write,), (*reasons, begins) if progress.phase is not view.remediation.progress.phase else reasons)


def confirm_first(
    view: RemediationView, now: Now, *, machine: bool = False, host: bool = False, node: bool = False
) -> Decision | None:
    """Ask for a live read of what was not read live just now; None if all was. The request itself always counts."""
    assert view.machine is not None
    of = view.machine
    entries: list[tuple[Ref | None, Entry]] = [(view.ref, view.entry)] if machine else []
    entries += [(of.ref, of.entry)] if machine else []
    entries += [(of.node_at, of.node_entry)] if node else []
    entries += [(of.host_at, of.host_entry)] if host else []
    stale = [ref for ref, entry in entries if ref is not None and not is_confirmed(entry, now)]
    if not stale:
        return None
    return Decision(tuple(Confirm(ref) for ref in stale), tuple(ConfirmFirst(str(ref)) for ref in stale))


def is_confirmed(entry: Entry, now: Now) -> bool:
    return isinstance(entry, Present | Absent) and safety.is_confirmed(entry, now)


def is_held(view: RemediationView) -> bool:
    """Whether our hold is on the host, with a record that can be read."""
    records = view.host.holds_of(view.remediation.uid)
    return bool(records) and all(isinstance(record, Hold) for record in records)


def hold(view: RemediationView, now: Now) -> Decision:
    """Hold the host off. What it says of its power in that very version is part of the record."""
    if asked := confirm_first(view, now, machine=True):
        return asked
    assert view.machine is not None
    assert view.machine.host_at is not None
    evidence = view.remediation.progress.evidence
    record = Hold(
        machine_uid=view.machine.machine.uid,
        since=now.wall,
        node_uid=evidence.node_uid,
        boot_id=evidence.boot_id,
        owner=f"{view.ref.namespace}/{view.ref.name}",
        was_on=view.host.power is Power.ON,
    )
    action = HoldHost(view.machine.host_at, host_guard(view), view.remediation.uid, record)
    return Decision((action,), (HoldingHost(view.host_name),))


def release(view: RemediationView, *reasons: Reason) -> Decision | None:
    """Take our hold off whichever host carries it; None if none does."""
    if not view.held:
        return None
    at, entry = view.held[0]
    action = ReleaseHost(at, Guard(entry.obj.uid, entry.resource_version), view.remediation.uid)
    return Decision((action,), (*reasons, ReleasingHost(f"{at.namespace}/{at.name}")))


def untaint(view: RemediationView) -> Decision | None:
    """Take our own taint off the node, and nobody else's; None if it is not there."""
    work = view.work
    if work is None or freeing.mark_of(work.node, view.remediation.uid) is None:
        return None
    guard = Guard(work.node.uid, work.version)
    action = UntaintOutOfService(work.node_at, guard, freeing.without_taint(work.node))
    return Decision((action,), (UntaintingNode(work.node_at.name),))


def is_back(view: RemediationView) -> bool:
    """Whether the node is ready, and not merely called so since before its host was seen off.

    By the boot, whatever Node object it has by now: one that the same boot has made anew was never off.
    """
    node, evidence = view.node, view.remediation.progress.evidence
    if node is None or node.deleting or not node.is_ready:
        return False
    if evidence.off_at is None:
        return True
    if node.boot_id and evidence.boot_id:
        return node.boot_id != evidence.boot_id
    if node.uid != evidence.node_uid:
        return True
    return view.host.power is Power.ON and ready_since(node) != evidence.ready_since


def ready_since(node: Node) -> Wall | None:
    """Since when it says Ready; None: it does not. Where there are no boot ids, another moment is another boot."""
    return next((one.since for one in node.conditions if (one.type, one.status) == ("Ready", "True")), None)


def host_guard(view: RemediationView) -> Guard:
    assert view.machine is not None
    assert isinstance(view.machine.host_entry, Present)
    return Guard(view.machine.host_entry.obj.uid, view.machine.host_entry.resource_version)


def wait(view: RemediationView, now: Now, *reasons: Reason) -> Decision:
    """Nothing to do until the deadline of this phase. One that is over is no time to look again at."""
    due = patience.due(view, now)
    return Decision((), reasons, due if due is not None and now.mono < due else None)
