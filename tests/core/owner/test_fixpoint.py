"""Properties: the same view gives the same decision, and every story comes to rest with exactly one successor.

The little world interprets actions on typed objects; a provider and a kubelet take their turns in any order.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import EVERYBODY, NODE_AT, NOW, a_node, later
from tests.core.owner.scene import ASKED, AT, CORDONED, GONE, MINE, PROVIDER, WELL, a_sick_machine

from noderemedy.core.owner.replacing import decide
from noderemedy.core.owner.view import FINALIZER, View, successor_at
from noderemedy.model.actions import (
    Action,
    Confirm,
    CordonNode,
    CreateMachine,
    DeleteMachine,
    DeleteNode,
    EvictPod,
    ForgetReplacement,
    ListPods,
    RecordReplacement,
    UncordonNode,
    WriteMachineConditions,
)
from noderemedy.model.budget import Granted
from noderemedy.model.ids import Ref, ref
from noderemedy.model.machineconditions import MachineConditions
from noderemedy.model.room import Absent, Entry, Present
from noderemedy.model.time import Mono, Now
from noderemedy.model.workload import POD, Pod, PodsOfNode, pods_at

LOOKS_MAX = 60


class World:
    """One Machine with its node and pods, whoever read what when, and the truth about the instance."""

    def __init__(self, ready: str, pods: int, removes_nodes: bool) -> None:
        self.objects: dict[Ref, Any] = {AT: a_sick_machine(), NODE_AT: a_node(ready=ready)}
        self.pods = {ref(POD, f"pod-{number}", "default"): Pod(f"uid-{number}") for number in range(pods)}
        self.removes_nodes = removes_nodes
        self.is_running = True
        self.made = 0
        self.now: Now = NOW
        self.confirmed: dict[Ref, Mono] = {}
        self.versions = 100

    def view(self) -> View:
        machine = self.objects[AT]
        next_at = successor_at(AT, machine)
        view = View(
            ref=AT,
            entry=self.read(AT),  # type: ignore[arg-type]
            machine=machine,
            successor_at=next_at,
            successor=self.read(next_at),
            claim=MINE,
            node_at=NODE_AT,
            node_entry=self.read(NODE_AT),
            pods_entry=self.read(pods_at(NODE_AT)),
            need=ASKED,
        )
        return replace(view, answer=Granted(AT, NOW.wall, (view.begins,), EVERYBODY))

    def read(self, at: Ref) -> Entry:
        confirmed = self.confirmed.get(at)
        return Present(self.objects[at], "1", NOW.mono, confirmed) if at in self.objects else Absent(confirmed)

    def put(self, at: Ref, **changes: Any) -> None:
        self.objects[at] = replace(self.objects[at], **changes)
        self.confirmed[at] = self.now.mono

    def apply(self, action: Action) -> None:
        match action:
            case Confirm(at):
                self.confirmed[at] = self.now.mono
            case ListPods(at):
                self.objects[pods_at(at)] = PodsOfNode(tuple(self.pods.items()))
                self.confirmed[pods_at(at)] = self.now.mono
            case EvictPod(at, guard):
                assert self.pods[at].uid == guard.uid
                self.pods[at] = replace(self.pods[at], deleting=True)
            case CordonNode(at):
                self.put(at, unschedulable=True, annotations=tuple(CORDONED.items()))
            case UncordonNode(at):
                self.put(at, unschedulable=False, annotations=())
            case RecordReplacement(at, _, record, finalizers):
                self.put(at, replacement=record, finalizers=finalizers)
            case ForgetReplacement(at, _, finalizers):
                self.put(at, replacement=None, finalizers=finalizers)
                if self.objects[at].deleting and not finalizers:
                    del self.objects[at]
            case DeleteMachine(at):
                self.put(at, deleting=True, deleted_at=self.now.wall)
            case DeleteNode(at):
                assert not self.is_running, "the node was freed while its instance ran"
                del self.objects[at]
            case CreateMachine(at, replaces):
                assert at not in self.objects
                self.made += 1
                self.objects[at] = a_sick_machine(uid="machine-uid-2", replaces=replaces, told=WELL)
            case WriteMachineConditions(at, _, current, older):
                self.put(at, told=MachineConditions(current, older))
            case _:
                raise AssertionError(f"{type(action).__name__} does not happen here")

    # --- everybody else ------------------------------------------------------------------------------------------

    def provider(self) -> None:
        machine = self.objects.get(AT)
        if machine is not None and machine.deleting and PROVIDER in machine.finalizers:
            self.is_running = False
            kept = tuple(one for one in machine.finalizers if one != PROVIDER)
            self.objects[AT] = replace(machine, finalizers=kept, conditions=(GONE,))
            if self.removes_nodes:
                self.objects.pop(NODE_AT, None)

    def kubelet(self) -> None:
        """Ends pods that were asked to go, while it runs; the control plane notices when it does not."""
        node = self.objects.get(NODE_AT)
        if self.is_running and node is not None and any(one.status != "Unknown" for one in node.conditions):
            self.pods = {at: pod for at, pod in self.pods.items() if not pod.deleting}
        elif node is not None and not self.is_running:
            self.objects[NODE_AT] = replace(node, conditions=())


def run(world: World, turns: list[str]) -> int:
    """Look until there is nothing to look at; whoever is drawn takes a turn in between. Returns the looks."""
    looks = 0
    while AT in world.objects:
        looks += 1
        assert looks < LOOKS_MAX, "it does not come to rest"
        view = world.view()
        decision = decide(view, world.now)
        assert decision == decide(view, world.now)
        for action in decision.actions:
            world.apply(action)
        turn = turns.pop() if turns else ""
        if turn != "provider":
            world.kubelet()
        if turn != "kubelet":
            world.provider()
        world.now = later(6, world.now) if not decision.actions else world.now
        if AT in world.objects and not view.is_asked and world.objects[AT].replacement is None:
            return looks
    return looks


TURNS = st.lists(st.sampled_from(["provider", "kubelet"]), max_size=20)


@given(st.sampled_from(["True", "False", "Unknown"]), st.integers(0, 5), st.booleans(), TURNS)
@settings(max_examples=60, deadline=None)
def test_every_story_ends_with_one_successor(ready: str, pods: int, removes_nodes: bool, turns: list[str]) -> None:
    """Whatever the node is like and whoever is slow: machine and node are gone, there is one successor."""
    world = World(ready, pods, removes_nodes)

    run(world, turns)

    assert (1, False) == (world.made, world.is_running)
    assert NODE_AT not in world.objects
    if ready != "Unknown":
        assert {} == world.pods, "a node that can be drained is empty before its instance ends"


@given(st.sampled_from(["True", "False", "Unknown"]), st.integers(0, 3), st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_a_node_that_recovers_in_time_is_as_it_was(ready: str, pods: int, looks: int) -> None:
    """Called off after any number of looks: either nothing is left of it, or it was too late and is finished."""
    world = World(ready, pods, removes_nodes=False)
    for _ in range(looks):
        for action in decide(world.view(), world.now).actions:
            world.apply(action)
        world.kubelet()
        world.now = later(3, world.now)
        if AT not in world.objects:
            break
    if AT in world.objects:
        world.put(AT, told=WELL)

    run(world, [])

    if AT in world.objects:
        assert (0, True) == (world.made, world.is_running)
        assert FINALIZER not in world.objects[AT].finalizers
        assert not world.objects[NODE_AT].unschedulable
    else:
        assert 1 == world.made
