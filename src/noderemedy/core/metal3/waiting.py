"""What a row that says *nothing* waits for, and when that is overdue. The room has no deadlines: it alerts."""

from __future__ import annotations

from noderemedy.core.metal3.gates import NODE_WITHIN, name_of
from noderemedy.core.metal3.offsight import Sight, seen_since
from noderemedy.core.metal3.view import MachineView
from noderemedy.core.safety import SILENT_WITHIN
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.host import Hold, Power
from noderemedy.model.reasons import (
    HostContradicted,
    HostOffOnPurpose,
    NodeFinalizing,
    NodeFinalizingOverdue,
    NodeOverdue,
    NodeStillHeard,
    OffButNotHeld,
    PowerOffOverdue,
    WaitingForNode,
    WaitingForPowerOff,
)
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Now, Span, Wall

OFF_WITHIN = Span.seconds(120)


def waiting(view: MachineView, now: Now) -> Decision:
    """The reasons and the next look of a state in which nothing is done."""
    host = view.host
    assert host is not None
    if host.held:
        return _for_power_off(view, now)
    if host.power is Power.OFF and not host.online:
        return Decision(because=(HostOffOnPurpose(name_of(view)),))
    waits = _for_node(view, now)
    if host.power is Power.OFF and view.machine.needs_remediation:
        return Decision(because=(OffButNotHeld(name_of(view)), *waits.because), wake_at=waits.wake_at)
    return waits


def _for_power_off(view: MachineView, now: Now) -> Decision:
    """Held and still on."""
    assert view.host is not None
    due = _held_at(view, now) + OFF_WITHIN
    if now.mono >= due:
        return Decision(because=(PowerOffOverdue(name_of(view), _held_since(view), view.host.error),))
    return Decision(because=(WaitingForPowerOff(name_of(view)),), wake_at=due)


def for_silence(view: MachineView, name: str, seen: Sight, now: Now) -> Decision:
    """Held and off, so nobody may hear the node: Kubernetes needs a moment to notice."""
    if seen in (Sight.CONTRADICTS, Sight.CONTRADICTED):  # also if it is silent by now: the host is another node's
        return Decision(because=(HostContradicted(name_of(view), name),))
    return Decision(because=(NodeStillHeard(name),), wake_at=seen_since(view, now) + SILENT_WITHIN)


def _held_at(view: MachineView, now: Now) -> Mono:
    """Without a record of the hold, what we ourselves have seen is the lower bound."""
    assert isinstance(view.host_entry, Present)
    since = _held_since(view)
    return now.until(since) if since else view.host_entry.first_seen


def _held_since(view: MachineView) -> Wall | None:
    hold = view.host.hold if view.host is not None else None
    return hold.since if isinstance(hold, Hold) else None


def for_finalizers(view: MachineView, name: str, now: Now) -> Decision:
    """A Node on its way out. We count from our own deletion; somebody else's gives no time to count from."""
    since = view.machine.node_deleted_at
    if not isinstance(since, Wall):
        return Decision(because=(NodeFinalizing(name),))
    due = now.until(since + NODE_WITHIN)
    if now.mono >= due:
        return Decision(because=(NodeFinalizingOverdue(name, since),))
    return Decision(because=(NodeFinalizing(name),), wake_at=due)


def _for_node(view: MachineView, now: Now) -> Decision:
    """A node that we deleted and that is not back. A new request does not silence this: its host may stay off."""
    assert view.host is not None
    since = view.machine.node_deleted_at
    if view.node is not None or not isinstance(since, Wall):
        return NOTHING
    name = view.machine.node_name or ""
    due = now.until(since + NODE_WITHIN)
    if now.mono >= due:
        return Decision(because=(NodeOverdue(name, since, view.host.power.value, view.host.error),))
    return Decision(because=(WaitingForNode(name, since),), wake_at=due)
