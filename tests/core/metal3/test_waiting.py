"""Rows that say *nothing*: what they wait for, when that is overdue, and the exact time of the next look."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_backup, a_hold, a_host, a_machine, a_node, a_view, ago, later

from noderemedy.core.metal3.annotation import decide
from noderemedy.core.slots import GIVEN_UP_AFTER
from noderemedy.model.budget import Need
from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node
from noderemedy.model.reasons import (
    HostOffOnPurpose,
    NodeOverdue,
    OffButNotHeld,
    PowerOffOverdue,
    PowerUnknown,
    Reason,
    WaitingForNode,
    WaitingForPowerOff,
)
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Now

HOST_NAME = "metal/rack1-u07"
ON_HELD = a_host(held=True, hold=a_hold(since=NOW.wall))
DELETED = a_machine(backup=a_backup(), node_deleted_at=NOW.wall)


def reasons(
    machine: Machine, host: object, node: Node | None, now: Now = NOW
) -> tuple[tuple[Reason, ...], Mono | None]:
    """The reasons after the table row, and the next look; that nothing is done is asserted here."""
    decision = decide(a_view(machine, host, node), now)  # type: ignore[arg-type]
    assert () == decision.actions
    return decision.because[1:], decision.wake_at


@pytest.mark.parametrize("needs", [True, False])
@pytest.mark.parametrize("node", [a_node(), None])
def test_power_off_is_waited_for_and_then_overdue(needs: bool, node: Node | None) -> None:
    """120 s after the hold a person is told, exactly then and not before; the request may be withdrawn or not."""
    machine = a_machine(needs=needs)

    assert ((WaitingForPowerOff(HOST_NAME),), later(120).mono) == reasons(machine, ON_HELD, node)
    assert ((WaitingForPowerOff(HOST_NAME),), later(120).mono) == reasons(machine, ON_HELD, node, later(119.999))
    overdue = (PowerOffOverdue(HOST_NAME, NOW.wall, ""),)
    assert (overdue, later(120).mono + GIVEN_UP_AFTER) == reasons(machine, ON_HELD, node, later(120))


@pytest.mark.parametrize(
    ("host", "is_pending"),
    [
        (ON_HELD, True),
        (replace(ON_HELD, power=Power.UNKNOWN), True),
        (replace(ON_HELD, power=Power.OFF), False),
    ],
)
@pytest.mark.parametrize("seconds", [1, 9_999])
def test_a_held_host_that_was_not_seen_off_may_go_off(host: Host, is_pending: bool, seconds: int) -> None:
    """However long it is held, and whether its node is well again or not; what is not known is not off."""
    decision = decide(a_view(a_machine(needs=True), host, a_node()), later(seconds))
    [stated] = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert (True, is_pending) == (stated.is_running, stated.is_off_pending)


def test_an_overdue_power_off_names_the_hosts_error() -> None:
    """The alert says what the baremetal operator says."""
    host = a_host(held=True, hold=a_hold(since=ago(500)), error="power management error: no route to BMC")

    (because, _) = reasons(a_machine(needs=True), host, a_node())

    assert (PowerOffOverdue(HOST_NAME, ago(500), "power management error: no route to BMC"),) == because
    assert "no route to BMC" in because[0].note()


@pytest.mark.parametrize("hold", [None, Malformed("not JSON")])
def test_a_hold_without_a_record_counts_from_what_we_saw(hold: Hold | Malformed | None) -> None:
    """Without a readable record the time since we first saw the host is counted, on our own clock."""
    view = a_view(a_machine(needs=True), Present(replace(ON_HELD, hold=hold), "1", NOW.mono))

    assert (WaitingForPowerOff(HOST_NAME),) == decide(view, NOW).because[1:]
    assert later(120).mono == decide(view, NOW).wake_at
    assert (PowerOffOverdue(HOST_NAME, None, ""),) == decide(view, later(120)).because[1:]
    assert "some time ago" in PowerOffOverdue(HOST_NAME, None, "").note()


def test_the_node_is_waited_for_and_then_overdue() -> None:
    """600 s after the deletion a person is told, exactly then; the backup is kept."""
    waits = (WaitingForNode("worker-0", NOW.wall),)

    assert (waits, later(600).mono) == reasons(DELETED, a_host(), None)
    assert (waits, later(600).mono) == reasons(DELETED, a_host(), None, later(599.999))
    overdue = (NodeOverdue("worker-0", NOW.wall, "on", ""),)
    assert (overdue, None) == reasons(DELETED, a_host(), None, later(600))


def test_a_failed_power_on_is_told() -> None:
    """A host that stays off after its release shows in the alert about the node, with the host's error."""
    host = a_host(power=Power.OFF, error="power on failed")

    assert ((NodeOverdue("worker-0", NOW.wall, "off", "power on failed"),), None) == reasons(
        DELETED, host, None, later(600)
    )


def test_a_failed_power_on_is_told_when_the_machine_was_marked_again() -> None:
    """A new request does not silence the alert about a host that does not come on: S6, never off without an alert."""
    machine = a_machine(needs=True, backup=a_backup(), node_deleted_at=NOW.wall)
    off = a_host(power=Power.OFF)

    soon, wake_at = reasons(machine, off, None)
    late, _ = reasons(machine, off, None, later(600))

    assert (OffButNotHeld(HOST_NAME), WaitingForNode("worker-0", NOW.wall)) == soon
    assert later(600).mono == wake_at
    assert (OffButNotHeld(HOST_NAME), NodeOverdue("worker-0", NOW.wall, "off", "")) == late


@pytest.mark.parametrize("node", [a_node(), None])
def test_off_but_not_held_is_no_proof(node: Node | None) -> None:
    """A host that is off without our hold may come on at any moment: the node stays, whoever switched it off."""
    assert ((OffButNotHeld(HOST_NAME),), None) == reasons(a_machine(needs=True), a_host(power=Power.OFF), node)


@pytest.mark.parametrize("needs", [True, False])
@pytest.mark.parametrize("node", [a_node(), None])
def test_a_host_switched_off_on_purpose_is_left_off(needs: bool, node: Node | None) -> None:
    """`spec.online: false` and off, not held: nothing is done and nobody is alarmed."""
    host = a_host(power=Power.OFF, online=False)
    machine = a_machine(needs=needs, node_deleted_at=None if node else ago(3_600), backup=Malformed("kept"))

    if node and not needs:
        return  # a node that is back is cleaned up after, whatever its host says: see test_cleanup.py
    assert ((HostOffOnPurpose(HOST_NAME),), None) == reasons(machine, host, node)


def test_a_running_repair_of_a_host_switched_off_on_purpose_ends() -> None:
    """The rows go on with `spec.online: false`: the hold is released, and the operator leaves the host off."""
    host = a_host(power=Power.OFF, held=True, online=False)

    assert 1 == len(decide(a_view(a_machine(), host, None), NOW).actions)


def test_unknown_power_of_a_held_host_is_overdue_too() -> None:
    """A BMC that dies under the hold is told after 120 s: unknown is not off, and nothing is freed."""
    host = a_host(power=Power.UNKNOWN, held=True, hold=a_hold(since=NOW.wall))
    machine = a_machine(needs=True, backup=a_backup(), node_deleted_at=ago(1))

    soon = decide(a_view(machine, host), NOW)
    late = decide(a_view(machine, host), later(120))

    assert ((), (PowerUnknown(HOST_NAME, ""), WaitingForPowerOff(HOST_NAME))) == (soon.actions, soon.because)
    assert later(120).mono == soon.wake_at
    assert ((), (PowerUnknown(HOST_NAME, ""), PowerOffOverdue(HOST_NAME, NOW.wall, ""))) == (late.actions, late.because)


def test_an_unreadable_time_of_deletion_is_waited_for_without_end() -> None:
    """What cannot be read gives no time to count from: no alert, no crash."""
    machine = a_machine(node_deleted_at=Malformed("'yesterday'"))

    assert ((), None) == reasons(machine, a_host(), None)


def test_a_machine_in_good_health_is_nobodys_business() -> None:
    """Without a request, a backup or a hold there is no decision at all, whatever host and node look like."""
    for host in (a_host(), a_host(power=Power.OFF), a_host(paused=True), None):
        for node in (a_node(), None):
            decision = decide(a_view(a_machine(), host, node), NOW)
            assert ((), (), None, "") == (decision.actions, decision.because, decision.wake_at, decision.episode)
