"""A mark of somebody else on a Machine whose node we deleted: until when it waits, and when it is fulfilled."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import (
    ASKED,
    HOST_AT,
    MACHINE_AT,
    NODE_AT,
    NOW,
    a_backup,
    a_host,
    a_machine,
    a_node,
    a_view,
    ago,
    later,
)

from noderemedy.core.metal3.annotation import ROOM, decide
from noderemedy.core.metal3.view import MachineView
from noderemedy.core.safety import CLOCKS_WITHIN
from noderemedy.model.actions import (
    AddRebootAnnotation,
    Confirm,
    RemoveRebootAnnotation,
    RemoveRemediationAnnotation,
)
from noderemedy.model.budget import Need
from noderemedy.model.host import Power
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node
from noderemedy.model.reasons import MarkFulfilled, StartingAnew
from noderemedy.model.time import Now, Span, Wall

BACK = a_node("node-uid-2", boot_id="boot-2")
BACK_SICK = a_node("node-uid-2", boot_id="boot-2", ready="False")


def marked(deleted_at: object = NOW.wall, **known: object) -> Machine:
    """Marked by somebody else, after we deleted its node."""
    return replace(a_machine(needs=True, backup=a_backup()), node_deleted_at=deleted_at, **known)


def acts(machine: Machine, node: Node | None = None, now: Now = NOW, **host: object) -> list[type]:
    decision = decide(fresh(a_view(machine, a_host(**host), node), now), now)  # type: ignore[arg-type]
    return [type(action) for action in decision.actions]


def fresh(view: MachineView, now: Now) -> MachineView:
    """The same, as if everything was read live just now."""
    entries = {
        name: replace(entry, confirmed_at=now.mono)
        for name in ("entry", "host_entry", "node_entry")
        if hasattr(entry := getattr(view, name), "confirmed_at")
    }
    return replace(view, **entries)


COUNTS: dict[str, tuple[Machine, Node | None, float, bool]] = {
    "just deleted": (marked(), None, 0, False),
    "just before the limit": (marked(), None, 599.999, False),
    "at the limit": (marked(), None, 600, True),
    "days later": (marked(), None, 300_000, True),
    "a node that is back and not ready": (marked(), BACK_SICK, 599.999, False),
    "a node that is back and not ready at the limit": (marked(), BACK_SICK, 600, True),
    "without a backup": (marked(backup=None), None, 10, False),
    "the Node that was never deleted": (marked(), a_node(), 10, True),
    "a Node and no backup": (marked(backup=None), BACK, 10, True),
    "a Node and a backup that cannot be read": (marked(backup=Malformed("'?'")), BACK, 10, True),
    "a Node and a backup that names none": (marked(backup=a_backup("")), BACK, 10, True),
    "nothing was deleted": (marked(None), None, 10, True),
    "a time that cannot be read": (marked(Malformed("'yesterday'")), None, 10, True),
    "a clock that is ahead": (marked(NOW.wall + CLOCKS_WITHIN), None, 0, False),
    "a time that no clock has shown": (marked(NOW.wall + CLOCKS_WITHIN + Span(1)), None, 0, True),
    "marked by our own check": (marked(marked_by="workers"), None, 10, True),
}


def test_a_mark_of_our_check_in_the_middle_of_a_repair_asks_the_budget() -> None:
    """The next power cycle is a beginning: what was granted to the last one, which runs, is none for it."""
    ran = replace(ASKED, is_running=True)
    view = replace(fresh(a_view(marked(marked_by="workers"), node=None), later(10)), need=ran)
    first = decide(view, later(10))
    [asks] = [fact.value for fact in first.facts if isinstance(fact.value, Need)]
    then = decide(replace(view, need=asks), later(10))

    assert ((), False, later(10).mono) == (first.actions, asks.is_running, first.wake_at)
    assert [AddRebootAnnotation] == [type(action) for action in then.actions]


@pytest.mark.parametrize("name", COUNTS)
def test_a_mark_counts_when_the_node_had_its_time(name: str) -> None:
    """Before, nothing is done, and the next look is exactly when the time is over; then the row says what it says."""
    machine, node, seconds, counts = COUNTS[name]
    now = later(seconds)

    decision = decide(fresh(a_view(machine, a_host(), node), now), now)

    since = machine.node_deleted_at
    assert ([AddRebootAnnotation] if counts else []) == [type(action) for action in decision.actions]
    if not counts:
        assert isinstance(since, Wall)
        until = since + Span.seconds(600)
        assert (StartingAnew("worker-0", since, until),) == decision.because
        assert now.until(until) == decision.wake_at
        assert str(until) in decision.because[0].note()


@pytest.mark.parametrize("node", [None, BACK_SICK])
def test_nothing_is_reserved_while_a_mark_waits(node: Node | None) -> None:
    """The repair that deleted the node runs on until it is back; the mark asks for no place and no claim."""
    decision = decide(a_view(marked(), a_host(), node), NOW)

    needs = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]
    assert ([True] if node is None else []) == [need.is_running for need in needs]


def test_a_hold_is_finished_whatever_the_time() -> None:
    """A host that is held already goes through its rows: the mark is taken off, and then the hold."""
    assert [RemoveRemediationAnnotation] == acts(marked(), held=True, power=Power.OFF)
    assert [RemoveRebootAnnotation] == acts(marked(needs_remediation=False), held=True, power=Power.OFF)


def test_a_mark_is_fulfilled_when_the_node_is_back_and_ready() -> None:
    """It is taken off, guarded by the version that was seen, and with a reason; nothing else is done."""
    decision = decide(a_view(marked(ago(90)), a_host(), BACK), NOW)

    [unmark] = decision.actions
    assert isinstance(unmark, RemoveRemediationAnnotation)
    assert (MACHINE_AT, "101") == (unmark.ref, unmark.guard.resource_version)
    assert (MarkFulfilled("worker-0"),) == decision.because


def test_it_is_fulfilled_by_a_live_read_only() -> None:
    """An old view may show a node as ready that is not."""
    decision = decide(a_view(marked(ago(90)), a_host(), BACK, confirmed=False), NOW)

    assert (Confirm(NODE_AT),) == decision.actions


@pytest.mark.parametrize(
    ("machine", "seconds"),
    [(marked(), 600), (marked(marked_by="workers"), 90), (marked(None), 90), (marked(Malformed("'?'")), 90)],
)
def test_any_other_mark_of_a_ready_node_counts(machine: Machine, seconds: float) -> None:
    """Of our own check, from after the node's time, or where we have deleted nothing."""
    assert [AddRebootAnnotation] == acts(machine, BACK, later(seconds))


def test_a_mark_is_not_fulfilled_while_others_hold_the_host() -> None:
    """The node is the business of who holds its host."""
    host = replace(a_host(), held_for=(("uid-9", None),))

    assert () == decide(a_view(marked(ago(90)), host, BACK), NOW).actions


def test_explain_shows_the_gate() -> None:
    """With its reason and its time; open where nothing is asked, or the host is held already."""
    assert ROOM.explains is not None
    views = [
        a_view(marked(), a_host(), None),
        a_view(marked(needs_remediation=False), a_host(), None),
        a_view(marked(), a_host(held=True), None),
    ]

    found = [{one.gate: one for one in ROOM.explains(view, NOW)}["node had time to start"] for view in views]

    until = NOW.wall + Span.seconds(600)
    assert (StartingAnew("worker-0", NOW.wall, until), until) == (found[0].reason, found[0].until)
    assert [None, None] == [one.reason for one in found[1:]]
    assert HOST_AT == views[0].host_at
