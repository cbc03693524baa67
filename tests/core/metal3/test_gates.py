"""What keeps the annotation room from acting: each gate, its reason, and when it looks again."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    MACHINE_AT,
    METAL3_MACHINE_AT,
    NODE_AT,
    NOW,
    PROVIDER_ID,
    a_backup,
    a_host,
    a_machine,
    a_node,
    a_view,
    absent,
    ago,
    later,
    mistaken,
    unreadable,
)

from noderemedy.core.metal3 import gates
from noderemedy.core.metal3.annotation import decide
from noderemedy.core.metal3.view import MachineView
from noderemedy.model.actions import AddRebootAnnotation, Confirm, RemoveRebootAnnotation
from noderemedy.model.budget import Refused
from noderemedy.model.cluster import Cluster
from noderemedy.model.host import Consumer, Power
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.reasons import (
    CannotSeeCluster,
    ClaimedByOther,
    ClusterObjectPaused,
    ClusterPaused,
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
    PausedByPerson,
    PauseUnreadable,
    PowerOffDisabled,
    PowerUnknown,
    Reason,
    SoftShutdownAsked,
    StartingAnew,
    TableRow,
    TooManyInFlight,
    WaitingForBudget,
)
from noderemedy.model.remote import Remote, Sight
from noderemedy.model.room import Unseen
from noderemedy.model.time import Span, Wall

OTHER = Consumer("Machine", "metal", "worker-9")
UNTIL = NOW.wall + Span.seconds(90)
WORKER = "Machine metal/worker-0"
OTHERS = ClaimedByOther("worker-0", "whoever else holds host metal/rack1-u07")

BLOCKED: dict[str, tuple[MachineView, Reason]] = {
    "cluster paused": (a_view(a_machine(needs=True, cluster_paused=True)), ClusterPaused(WORKER)),
    "a paused Cluster": (
        replace(
            a_view(replace(a_machine(needs=True), cluster_name="site")), cluster=Cluster("cluster-uid-1", paused=True)
        ),
        ClusterObjectPaused("metal/site"),
    ),
    "other providerID": (
        a_view(node=a_node(provider_id="metal3://other")),
        NodeNotOurs("worker-0", "metal3://other", PROVIDER_ID),
    ),
    "host not named": (a_view(a_machine(needs=True, host=None)), HostNotNamed()),
    "host name garbage": (a_view(a_machine(needs=True, host=Malformed("'a/b/c'"))), HostNameUnreadable("'a/b/c'")),
    "host missing": (a_view(host=None), HostMissing("metal/rack1-u07")),
    "host absent, not read live": (a_view(host=absent(confirmed=False)), HostMissing("metal/rack1-u07")),
    "host never listed": (a_view(host=Unseen()), HostMissing("metal/rack1-u07")),
    "host unreadable": (a_view(host=unreadable()), HostUnreadable("metal/rack1-u07", "garbage")),
    "node unreadable": (a_view(node=unreadable()), NodeUnreadable("worker-0", "garbage")),
    "node out of sight": (
        replace(
            a_view(node=Unseen()), node_at=replace(NODE_AT, cluster="metal/east"), remote=Remote(Sight.LOST, "away")
        ),
        CannotSeeCluster("metal/east", "away"),
    ),
    "Metal3Machine unreadable": (
        replace(a_view(is_consumer=False), between=((METAL3_MACHINE_AT, unreadable()),)),
        ConsumerUnreadable("Metal3Machine/metal/worker-0-m3m", "garbage"),
    ),
    "another consumer": (
        a_view(host=a_host(consumer=OTHER), is_consumer=False),
        HostNotOurs("metal/rack1-u07", "Machine/metal/worker-9"),
    ),
    "no consumer": (a_view(host=a_host(consumer=None), is_consumer=False), HostNotOurs("metal/rack1-u07", "")),
    "host paused": (a_view(host=a_host(paused=True)), HostPaused("metal/rack1-u07", "paused")),
    "host detached": (a_view(host=a_host(detached=True)), HostPaused("metal/rack1-u07", "detached")),
    "power unknown": (
        a_view(host=a_host(power=Power.UNKNOWN, error="no BMC")),
        PowerUnknown("metal/rack1-u07", "no BMC"),
    ),
    "paused for ever": (a_view(a_machine(needs=True, paused=Paused())), PausedByPerson(None, WORKER)),
    "paused until": (a_view(a_machine(needs=True, paused=Paused(UNTIL))), PausedByPerson(UNTIL, WORKER)),
    "pause garbage": (a_view(a_machine(needs=True, paused=Malformed("'maybe'"))), PauseUnreadable("'maybe'", WORKER)),
    "node paused": (a_view(node=replace(a_node(), paused=Paused(UNTIL))), PausedByPerson(UNTIL, "Node worker-0")),
    "machine deleting": (a_view(a_machine(needs=True, deleting=True)), MachineDeleting()),
    "power off disabled": (a_view(host=a_host(power_off_disabled=True)), PowerOffDisabled("metal/rack1-u07")),
    "host being provisioned": (
        a_view(host=replace(a_host(), state="provisioning")),
        HostUnsettled("metal/rack1-u07", "is in state provisioning"),
    ),
    "host of no state": (
        a_view(host=replace(a_host(), state="")),
        HostUnsettled("metal/rack1-u07", "is in state unknown"),
    ),
    "host being serviced": (
        a_view(host=replace(a_host(), status="servicing")),
        HostUnsettled("metal/rack1-u07", "is being serviced"),
    ),
    "host being deleted": (
        a_view(host=replace(a_host(), deleting=True)),
        HostUnsettled("metal/rack1-u07", "is being deleted"),
    ),
    "host shuts down softly": (
        a_view(host=replace(a_host(), soft_reboot="reboot.metal3.io")),
        SoftShutdownAsked("metal/rack1-u07", "reboot.metal3.io"),
    ),
    "found wrong by a drill": (
        a_view(node=mistaken(a_node())),
        DeviceMistaken("worker-0", "BareMetalHost metal/rack1-u07"),
    ),
    "marked while its node starts": (
        a_view(a_machine(needs=True, node_deleted_at=ago(10)), node=None),
        StartingAnew("worker-0", ago(10), ago(10) + Span.seconds(600)),
    ),
    "held for a remediation": (a_view(host=replace(a_host(), held_for=(("uid-9", None),))), OTHERS),
    "held for a fence": (a_view(host=replace(a_host(), fenced_for=(("uid-9", None),))), OTHERS),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_each_gate_blocks_with_its_reason(name: str) -> None:
    """A marked machine whose host is on would be powered off; behind this gate nothing is asked for."""
    view, reason = BLOCKED[name]

    decision = decide(view, NOW)

    assert ((), (reason,)) == (decision.actions, decision.because)


DOUBTED: dict[str, tuple[dict[str, Any], type]] = {
    "not settled": ({"state": "deprovisioning"}, HostUnsettled),
    "serviced": ({"status": "servicing"}, HostUnsettled),
    "deleted": ({"deleting": True}, HostUnsettled),
    "power off disabled since": ({"power_off_disabled": True}, PowerOffDisabled),
}


@pytest.mark.parametrize("name", DOUBTED)
def test_a_held_host_in_another_state_proves_nothing(name: str) -> None:
    """Its power may be old there, or it may be on: its node is not deleted until that is over."""
    change, reason = DOUBTED[name]
    off = a_host(power=Power.OFF, held=True)

    doubted = decide(a_view(host=replace(off, **change)), NOW)

    assert ((), [TableRow, reason]) == (doubted.actions, [type(one) for one in doubted.because])
    assert decide(a_view(host=off), NOW).actions


def test_a_hold_is_released_in_every_state() -> None:
    """Whoever is not marked any more must not stay off, whatever its operator does with it."""
    off = replace(a_host(power=Power.OFF, held=True), state="deprovisioning", soft_reboot="reboot.metal3.io")

    released = decide(a_view(a_machine(), host=off, node=None), NOW)

    assert [RemoveRebootAnnotation] == [type(one) for one in released.actions]


def test_the_same_machine_passes_all_gates() -> None:
    """Without an obstacle the machine of these tests is powered off: the gates above are what blocks."""
    assert [AddRebootAnnotation] == [type(action) for action in decide(a_view(), NOW).actions]


def test_every_gate_is_tested() -> None:
    """No gate exists that the table above does not see blocking."""
    before = {*gates.BEFORE_ANYTHING, *gates.BEFORE_THE_TABLE, *gates.BEFORE_A_ROW, *gates.BEFORE_POWER_OFF}
    all_gates = {*before, gates.nobody_else_holds_it}  # those of budget and claim have tables of their own

    blocking = {gate for gate in all_gates for view, reason in BLOCKED.values() if passes(gate, view) == reason}

    assert all_gates == blocking


def passes(gate: gates.Gate, view: MachineView) -> Reason | None:
    """The gate's answer, where it can be asked: those behind the host gates need a host."""
    needs_host = gate in (*gates.BEFORE_THE_TABLE[1:], *gates.BEFORE_A_ROW, *gates.BEFORE_POWER_OFF)
    is_asked_first = gate in (gates.host_is_there, gates.host_is_readable)
    if needs_host and (view.host_at is None or (view.host is None and not is_asked_first)):
        return None
    found = gate(view, NOW)
    return found.reason if found else None


# --- pauses --------------------------------------------------------------------------------------------------


def test_a_pause_ends_by_itself() -> None:
    """The room looks again exactly when a pause ends, and not a millisecond before it acts."""
    view = a_view(a_machine(needs=True, paused=Paused(UNTIL)))

    assert later(90).mono == decide(view, NOW).wake_at
    assert (PausedByPerson(UNTIL, WORKER),) == decide(view, later(89.999)).because
    assert (Confirm(MACHINE_AT),) == decide(view, later(90)).actions


def test_a_pause_without_an_end_is_not_looked_at_again() -> None:
    """Only the removal of the annotation ends such a pause, and that is an event."""
    assert decide(a_view(a_machine(needs=True, paused=Paused())), NOW).wake_at is None


@pytest.mark.parametrize("paused", [Paused(), Paused(UNTIL), Malformed("'maybe'")])
def test_a_persons_pause_lets_a_running_repair_finish(paused: Paused | Malformed) -> None:
    """A host that is held already is released under a person's pause: nothing new starts, nothing stays off."""
    view = a_view(a_machine(paused=paused), a_host(power=Power.OFF, held=True), None)

    assert [RemoveRebootAnnotation] == [type(action) for action in decide(view, NOW).actions]


@pytest.mark.parametrize("node", [None, a_node(), a_node("node-uid-2")])
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("needs", [True, False])
def test_a_paused_cluster_stops_everything(node: object, held: bool, needs: bool) -> None:
    """`cluster.x-k8s.io/paused` stops every step, the restore and the release included."""
    machine = a_machine(needs=needs, cluster_paused=True, backup=a_backup(), node_deleted_at=ago(10))
    host = a_host(power=Power.OFF if held else Power.ON, held=held)

    decision = decide(a_view(machine, host, node), NOW)  # type: ignore[arg-type]

    assert ((), (ClusterPaused(WORKER),)) == (decision.actions, decision.because)


@pytest.mark.parametrize(
    "host", [a_host(power=Power.OFF, held=True, paused=True), a_host(power=Power.OFF, held=True, detached=True)]
)
def test_an_unattended_host_proves_nothing(host: object) -> None:
    """A host that the baremetal operator does not look after may show an old power state: its node stays."""
    machine = a_machine(needs=True, backup=a_backup(), node_deleted_at=ago(1))

    decision = decide(a_view(machine, host), NOW)  # type: ignore[arg-type]

    assert () == decision.actions
    assert [HostPaused] == [type(reason) for reason in decision.because]


# --- a node that cannot be read ------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("power", list(Power))
def test_an_unreadable_node_is_not_a_node_that_is_gone(power: Power, held: bool) -> None:
    """Whatever the host is like, the request stays, and nothing is done before the node was mended."""
    machine = a_machine(needs=True, backup=a_backup(), node_deleted_at=ago(1))

    decision = decide(a_view(machine, a_host(power=power, held=held), unreadable()), NOW)

    assert ((), (NodeUnreadable("worker-0", "garbage"),)) == (decision.actions, decision.because)


def test_an_unreadable_node_does_not_keep_our_host_off() -> None:
    """When the request was withdrawn the hold goes, whatever the node is like."""
    view = a_view(a_machine(), a_host(power=Power.OFF, held=True), unreadable())

    decision = decide(view, NOW)

    assert [(RemoveRebootAnnotation, HOST_AT)] == [(type(action), action.ref) for action in decision.actions]


def test_a_cluster_out_of_sight_does_not_keep_our_host_off() -> None:
    """When the request was withdrawn the hold goes, whether the node can be seen or not."""
    view = replace(a_view(a_machine(), a_host(power=Power.OFF, held=True), Unseen()), remote=Remote(Sight.LOST))

    decision = decide(view, NOW)

    assert [(RemoveRebootAnnotation, HOST_AT)] == [(type(action), action.ref) for action in decision.actions]


# --- another machine's node ----------------------------------------------------------------------------------


def test_a_node_without_a_provider_id_is_accepted() -> None:
    """Where the node or the machine names no providerID, the name alone links them."""
    for view in (a_view(node=a_node(provider_id="")), a_view(a_machine(needs=True, provider_id=""))):
        assert [AddRebootAnnotation] == [type(action) for action in decide(view, NOW).actions]


def test_a_strangers_node_does_not_keep_our_host_off() -> None:
    """When the request was withdrawn the hold goes, whoever has the node's name by now: no node is touched."""
    view = a_view(a_machine(), a_host(power=Power.OFF, held=True), a_node(provider_id="metal3://other"))

    decision = decide(view, NOW)

    assert [(RemoveRebootAnnotation, HOST_AT)] == [(type(action), action.ref) for action in decision.actions]


def test_a_strangers_node_is_never_deleted_or_restored() -> None:
    """Held and off, with a request, or back with a backup: another machine's node is not touched."""
    stranger = a_node("node-uid-9", provider_id="metal3://other")
    backup = a_machine(needs=True, backup=a_backup("node-uid-9"), node_deleted_at=ago(1))

    for view in (
        a_view(backup, a_host(power=Power.OFF, held=True), stranger),
        a_view(a_machine(backup=a_backup(), node_deleted_at=ago(60)), a_host(), stranger),
    ):
        decision = decide(view, NOW)
        assert ((), [NodeNotOurs]) == (decision.actions, [type(reason) for reason in decision.because])


def test_a_pause_in_the_far_future_can_be_told() -> None:
    """The last moment that a calendar knows is shown, not crashed on."""
    for until in (Wall(253_402_300_799_000), Wall(253_402_345_000_000), Wall(-62_135_640_000_000)):
        assert "paused by" in PausedByPerson(until).note()


def test_all_gates_are_explained() -> None:
    """People see every gate in order, open or closed; without a host only those that can be asked; else none."""
    before = (*gates.BEFORE_ANYTHING, *gates.BEFORE_THE_TABLE, *gates.BEFORE_A_ROW, *gates.BEFORE_POWER_OFF)
    every = (*before, *gates.SHARED)
    paused = gates.explain(BLOCKED["paused until"][0], NOW)

    assert [gate.__name__.replace("_", " ") for gate in every] == [passage.gate for passage in paused]
    assert [("nobody paused it", PausedByPerson(UNTIL, WORKER), UNTIL)] == [
        (passage.gate, passage.reason, passage.until) for passage in paused[: len(before)] if passage.reason
    ]
    assert "host is there" == gates.explain(BLOCKED["host missing"][0], NOW)[-2].gate
    assert "host is named" == gates.explain(BLOCKED["host not named"][0], NOW)[-1].gate
    assert () == gates.explain(a_view(a_machine()), NOW)


def test_the_machine_is_read_while_the_budget_makes_up_its_mind() -> None:
    """The live read before the hold is made while the ledger is written; a refusal reads nothing."""
    found = a_view(a_machine(needs=True))
    view = replace(found, entry=replace(found.entry, confirmed_at=None))
    waiting = decide(replace(view, told=None), NOW)
    refused = decide(replace(view, told=Refused(MACHINE_AT, TooManyInFlight(1, 1))), NOW)

    assert ((Confirm(MACHINE_AT),), ()) == (waiting.actions, refused.actions)
    assert ((WaitingForBudget(),), (TooManyInFlight(1, 1),)) == (waiting.because, refused.because)
