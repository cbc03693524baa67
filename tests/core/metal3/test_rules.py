"""The rules of the annotation room over random views: proofs, live reads, reasons, one irreversible act."""

from __future__ import annotations

from hypothesis import given, settings
from tests.builders import NOW
from tests.core.metal3.strategies import views

from noderemedy.core.backup import back_up
from noderemedy.core.claim import lease_of
from noderemedy.core.metal3.annotation import ROOM, decide
from noderemedy.core.metal3.view import MachineView
from noderemedy.model.actions import (
    IRREVERSIBLE,
    Action,
    AddRebootAnnotation,
    Confirm,
    DeleteNode,
    ListPods,
    RemoveRebootAnnotation,
    RestoreNode,
)
from noderemedy.model.host import Power
from noderemedy.model.node import NodeBackup
from noderemedy.model.proof import PoweredOff
from noderemedy.model.reasons import ClusterPaused, OffUnseen
from noderemedy.model.room import Entry, Present
from noderemedy.model.time import Span, Wall

many = settings(max_examples=250)


def is_read_live(entry: Entry) -> bool:
    """Within the last five seconds; said here once more, so that the code's own rule can be wrong."""
    return (
        isinstance(entry, Present)
        and entry.confirmed_at is not None
        and NOW.mono.since(entry.confirmed_at) <= Span(5_000)
    )


def demand_safe_deletion(action: DeleteNode, view: MachineView) -> None:
    """All that must hold when a node is deleted."""
    host, node, machine = view.host, view.node, view.machine
    assert is_read_live(view.node_entry), "the node was read live"
    assert is_read_live(view.host_entry), "the host was read live"
    assert host is not None
    assert node is not None
    assert (Power.OFF, True, False, False) == (host.power, host.held, host.paused, host.detached)
    assert view.is_consumer, "the host says that it serves this machine"
    assert machine.needs_remediation
    assert not machine.cluster_paused
    assert node.provider_id in ("", machine.provider_id) or not machine.provider_id
    assert isinstance(machine.backup, NodeBackup)
    assert back_up(node, machine.backup) == machine.backup, "the backup that is stored is that of the node"
    assert node.uid == machine.backup.node_uid
    assert isinstance(machine.node_deleted_at, Wall)
    assert (node.uid, node.boot_id) == (action.proof.subject.node_uid, action.proof.subject.boot_id)
    assert isinstance(action.proof, PoweredOff)
    assert (host.uid, "100") == (action.proof.host_uid, action.proof.host_resource_version)
    assert (node.uid, "100") == (action.guard.uid, action.guard.resource_version)


@settings(max_examples=600)
@given(views)
def test_a_node_is_deleted_only_when_it_is_safe(view: MachineView) -> None:
    """Off, held, not paused, ours, read live, backed up: all of it, whatever else the view shows."""
    for action in decide(view, NOW).actions:
        if isinstance(action, DeleteNode):
            demand_safe_deletion(action, view)


@many
@given(views)
def test_a_host_is_held_only_for_a_request_that_was_read_live(view: MachineView) -> None:
    """Power off needs a fresh request, a host that is ours, on and attended, and nobody's pause."""
    for action in decide(view, NOW).actions:
        if isinstance(action, AddRebootAnnotation):
            host, machine = view.host, view.machine
            assert host is not None
            assert is_read_live(view.entry)
            assert (True, False) == (machine.needs_remediation, machine.deleting)
            assert (Power.ON, False, False, False) == (host.power, host.held, host.paused, host.detached)
            assert view.is_consumer
            assert not host.power_off_disabled
            assert ("host-uid-1", "100") == (action.guard.uid, action.guard.resource_version)


@many
@given(views)
def test_a_hold_is_released_only_when_the_host_is_off(view: MachineView) -> None:
    """Power is given back after off was seen, without a request or to begin anew, and a version guards the write."""
    decision = decide(view, NOW)
    for action in decision.actions:
        if isinstance(action, RemoveRebootAnnotation):
            assert view.host is not None
            begins_anew = any(isinstance(reason, OffUnseen) for reason in decision.because)
            assert (Power.OFF, True, begins_anew) == (view.host.power, view.host.held, view.machine.needs_remediation)
            assert "100" == action.guard.resource_version


@many
@given(views)
def test_at_most_one_act_that_cannot_be_undone(view: MachineView) -> None:
    """One decision holds at most one irreversible action, and live reads stand alone."""
    actions = decide(view, NOW).actions

    assert sum(isinstance(action, IRREVERSIBLE) for action in actions) <= 1
    kinds = {isinstance(action, Confirm) for action in actions}
    assert len(kinds) <= 1, "a live read and a write in one decision: the write would be decided on the older view"


@many
@given(views)
def test_whatever_is_done_has_a_reason(view: MachineView) -> None:
    """Actions come with reasons, reasons can be told, and the room keeps to what it may ask for."""
    decision = decide(view, NOW)

    assert bool(decision.because) >= bool(decision.actions)
    assert all(reason.note().strip() for reason in decision.because)
    assert {type(action) for action in decision.actions} <= ROOM.may


@many
@given(views)
def test_deciding_again_gives_the_same(view: MachineView) -> None:
    """A decision depends on the view and on the moment, and on nothing else."""
    assert decide(view, NOW) == decide(view, NOW)


@many
@given(views)
def test_the_next_look_lies_ahead(view: MachineView) -> None:
    """A wake is never in the past: the engine would look again at once, for ever."""
    wake_at = decide(view, NOW).wake_at

    assert wake_at is None or wake_at > NOW.mono


@many
@given(views)
def test_a_paused_cluster_is_left_alone(view: MachineView) -> None:
    """With `cluster.x-k8s.io/paused` nothing is done, and the only reason given is the pause."""
    if view.machine.cluster_paused:
        decision = decide(view, NOW)
        assert () == decision.actions
        assert decision.because in ((), (ClusterPaused(view.ref.in_words),))


@many
@given(views)
def test_nothing_is_asked_of_strangers(view: MachineView) -> None:
    """Every action is about this Machine, the host that it names or the node that it names, or claims its repair."""
    lease = lease_of(view.node_at or view.ref)
    for action in decide(view, NOW).actions:
        assert action.ref in (view.ref, view.host_at, view.node_at, lease)


@many
@given(views)
def test_a_restore_never_takes_anything_away(view: MachineView) -> None:
    """What the returned node carries stays: labels, annotations, taints, cordon."""
    for action in decide(view, NOW).actions:
        if isinstance(action, RestoreNode):
            assert view.node is not None
            assert not dict(action.labels).keys() & dict(view.node.labels).keys()
            assert not dict(action.annotations).keys() & dict(view.node.annotations).keys()
            assert set(view.node.taints) <= set(action.taints)
            assert action.unschedulable >= view.node.unschedulable


def test_every_action_is_reached_by_chance() -> None:
    """The random views are good enough: each action that the room may ask for is met among them."""
    met: set[type[Action]] = set()

    @settings(max_examples=1_000)  # which views are drawn depends on what else was imported
    @given(views)
    def meet(view: MachineView) -> None:
        met.update(type(action) for action in decide(view, NOW).actions)

    meet()
    assert ROOM.may - {ListPods} == met  # which only a limit of freed pods asks for: tests/core/metal3/test_delete.py
