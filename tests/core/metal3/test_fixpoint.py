"""From any state the room comes to rest: a bounded number of looks leads to no action, and no host stays held.

Rule 4 of the architecture. The room's actions are applied by a small interpreter; the baremetal operator and the
kubelet act in random order and with random delay, the power state in the API lags behind the truth, and time passes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import (
    CONSUMER,
    HOST_AT,
    MACHINE_AT,
    METAL3_MACHINE_AT,
    NODE_AT,
    a_host,
    a_machine,
    a_metal3_machine,
    a_node,
)
from tests.core.metal3.strategies import a_state, seeds, taints
from tests.core.metal3.world import World

from noderemedy.core.metal3.annotation import decide
from noderemedy.core.metal3.view import sees
from noderemedy.model.actions import AddRebootAnnotation
from noderemedy.model.decision import Decision
from noderemedy.model.host import Host, Power
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node, NodeBackup
from noderemedy.model.reasons import (
    ClusterObjectPaused,
    ClusterPaused,
    HostPaused,
    NodeFinalizing,
    PausedByPerson,
    PowerOffOverdue,
    Reason,
    RepairStuck,
)
from noderemedy.model.time import Mono

LOOKS = 120
KEYS = (MACHINE_AT, HOST_AT)
Step = Callable[[World], bool]
STEPS: tuple[Step, ...] = (World.switch, World.report, World.fall_silent, World.register, World.finalize)


def a_world(chance: Random) -> World:
    """Any state that somebody may have left behind. A held host that shows off is off: that is what a hold means."""
    state = a_state(chance)
    is_held_off = state.host is not None and state.host.held and state.host.power is Power.OFF
    missing = chance.choice(("nothing", "nothing", "nothing", "machine", "host"))
    objects = {
        MACHINE_AT: None if missing == "machine" else state.machine,
        HOST_AT: None if missing == "host" else state.host,
        NODE_AT: state.node,
        METAL3_MACHINE_AT: chance.choice((a_metal3_machine(), a_metal3_machine(owner_uid="other"), None)),
    }
    return World(objects, is_running=not is_held_off and chance.random() < 0.5)


worlds = seeds.map(lambda seed: a_world(Random(seed)))


def look(world: World) -> tuple[list[Decision], bool]:
    """Decide every key once and apply what is asked for; whether anything was."""
    decisions = []
    for key in KEYS:
        view = sees(key, world)
        if view is not None:
            decision = decide(view, world.now)
            assert decision == decide(view, world.now)
            world.state(key, decision)
            for action in decision.actions:
                world.apply(action)
            decisions.append(decision)
    return decisions, any(decision.actions for decision in decisions)


def run_to_rest(world: World, schedule: list[tuple[bool, ...]]) -> list[Decision]:
    """Look until nothing is asked for, nobody else has anything to do and no later look is planned."""
    for number in range(LOOKS):
        decisions, has_acted = look(world)
        if number < len(schedule):
            chosen = [step for step, is_on in zip(STEPS, schedule[number], strict=True) if is_on]
        else:
            chosen = list(STEPS)
        moved = [step(world) for step in chosen]
        if has_acted or any(moved) or number < len(schedule):
            world.pass_time(1)
            continue
        wakes: list[Mono] = [decision.wake_at for decision in decisions if decision.wake_at is not None]
        if not wakes:
            return decisions
        world.pass_time(min(wakes).since(world.now.mono).ms / 1000)
    raise AssertionError(f"no rest after {LOOKS} looks: {decisions}")


def excuses(decisions: list[Decision]) -> list[Reason]:
    """Why a repair may stand still: a pause, or a state that a person was told about."""
    pauses = (ClusterPaused, ClusterObjectPaused, HostPaused, PausedByPerson, NodeFinalizing)
    return [
        reason
        for decision in decisions
        for reason in decision.because
        if isinstance(reason, pauses) or type(reason).alert
    ]


schedules = st.lists(st.tuples(*(st.booleans() for _ in STEPS)), max_size=12)


@settings(max_examples=150)
@given(worlds, schedules)
def test_the_room_comes_to_rest(world: World, schedule: list[tuple[bool, ...]]) -> None:
    """From any state no action is left after a bounded number of looks, and no host is held without an excuse."""
    decisions = run_to_rest(world, schedule)

    host = world.objects.get(HOST_AT)
    if isinstance(host, Host) and host.held:
        event("held at rest")
        assert excuses(decisions), "a host was left off, and nobody is told"


@settings(max_examples=150)
@given(worlds, schedules)
def test_a_request_is_fulfilled_or_explained(world: World, schedule: list[tuple[bool, ...]]) -> None:
    """At rest a Machine carries a request or a backup only together with a reason."""
    decisions = run_to_rest(world, schedule)

    machine = world.objects.get(MACHINE_AT)
    if isinstance(machine, Machine) and (machine.needs_remediation or machine.backup is not None):
        assert any(decision.because for decision in decisions)


@settings(max_examples=150)
@given(worlds, schedules)
def test_rest_means_no_more_writes(world: World, schedule: list[tuple[bool, ...]]) -> None:
    """Looking again at a world at rest, now and a day later, asks for nothing: idle means zero writes."""
    run_to_rest(world, schedule)

    for seconds in (1, 86_400):
        world.pass_time(seconds)
        _, has_acted = look(world)
        assert not has_acted


ordinary_worlds = st.builds(
    lambda node: World(
        {MACHINE_AT: a_machine(needs=True), HOST_AT: a_host(consumer=CONSUMER), NODE_AT: node}, is_running=True
    ),
    st.builds(
        Node,
        uid=st.just("node-uid-1"),
        boot_id=st.just("boot-1"),
        labels=st.just((("rack", "1"), ("role", "worker"))),
        annotations=st.just((("note", "kept"),)),
        taints=taints,
        unschedulable=st.booleans(),
    ),
)


@given(ordinary_worlds, schedules)
def test_an_ordinary_repair_brings_the_node_back_whole(world: World, schedule: list[tuple[bool, ...]]) -> None:
    """Marked, off, deleted once, on, back: with its labels, annotations, taints and cordon, and nothing left behind."""
    before: Node = world.objects[NODE_AT]

    decisions = run_to_rest(world, schedule)

    after, machine, host = world.objects[NODE_AT], world.objects[MACHINE_AT], world.objects[HOST_AT]
    assert ["node-uid-1"] == [action.guard.uid for action in world.deleted]
    assert "node-of-boot-1" == after.uid
    assert set(before.labels) <= set(after.labels)
    assert before.annotations == after.annotations
    assert before.unschedulable == after.unschedulable
    kept = {taint for taint in before.taints if not taint.key.startswith("node.kubernetes.io/")}
    assert kept <= set(after.taints)
    assert (False, None, None) == (machine.needs_remediation, machine.backup, machine.node_deleted_at)
    assert (False, Power.ON, True) == (host.held, host.power, world.is_running)
    assert [] == [decision.because for decision in decisions if decision.because]


def test_a_repair_can_be_called_off_at_any_step() -> None:
    """Whoever removes the request after any number of looks finds host on, node there and nothing left behind."""
    for looks in range(12):
        world = World({MACHINE_AT: a_machine(needs=True), HOST_AT: a_host(), NODE_AT: a_node()}, is_running=True)
        for _ in range(looks):
            look(world)
            for step in STEPS:
                step(world)
            world.pass_time(1)
        world.put(MACHINE_AT, replace(world.objects[MACHINE_AT], needs_remediation=False))

        run_to_rest(world, [])

        assert (True, False) == (world.is_running, world.objects[HOST_AT].held)
        assert (("rack", "1") in world.objects[NODE_AT].labels) is True
        assert world.objects[MACHINE_AT].backup is None


def test_a_host_that_never_goes_off_is_told() -> None:
    """Held and running for ever: the room rests, frees nothing, and a person knows."""
    host = a_host(held=True, power_off_disabled=True)
    world = World({MACHINE_AT: a_machine(needs=True), HOST_AT: host, NODE_AT: a_node()}, is_running=True)

    decisions = run_to_rest(world, [])

    assert ([], [PowerOffOverdue, RepairStuck]) == (world.deleted, [type(reason) for reason in excuses(decisions)])


def test_a_second_failure_before_the_restore_loses_nothing() -> None:
    """Marked again at once when its node is back, a machine keeps what the first node carried."""
    machine = a_machine(needs=True, backup=NodeBackup("node-uid-0", (("old", "label"),)))
    world = World({MACHINE_AT: machine, HOST_AT: a_host(), NODE_AT: a_node()}, is_running=True)

    run_to_rest(world, [])

    assert {("old", "label"), ("rack", "1")} <= set(world.objects[NODE_AT].labels)


def test_the_little_world_refuses_an_old_view() -> None:
    """The interpreter itself can fail: a write that was decided on another version is not applied."""
    world = World({MACHINE_AT: a_machine(needs=True), HOST_AT: a_host(), NODE_AT: a_node()}, is_running=True)
    look(world)  # reads the Machine live, or claims its repair
    look(world)
    view = sees(MACHINE_AT, world)
    assert view is not None
    (action,) = decide(view, world.now).actions
    assert isinstance(action, AddRebootAnnotation)
    world.put(HOST_AT, a_host(error="changed"))

    with pytest.raises(AssertionError, match="old view"):
        world.apply(action)
