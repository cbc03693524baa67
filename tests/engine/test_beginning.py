"""The beginning: nobody is woken while lists come in; once all is known, everybody whom anything concerns is."""

from __future__ import annotations

from typing import Any

from tests.builders import NOW, a_machine
from tests.engine.bench import A, B, C, a_room, a_seen, entry_of, idle, key, step, want

from noderemedy.engine.loop import Engine
from noderemedy.model.decision import Decision
from noderemedy.model.ids import MACHINE, NODE, Ref, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Index, Reader, Room
from noderemedy.model.time import Now

MACHINE_AT = ref(MACHINE, "a", "metal3")
BY_NODE = "machines by their node"


class Curious:
    """A room of machines that notes what it was asked about: a machine concerns itself, a node its machines."""

    def __init__(self, *secondary: Any) -> None:
        self.asked: list[str] = []
        index = Index(BY_NODE, MACHINE, lambda at, machine: (machine.node_name,))
        self.room = Room(
            "test", (NODE, MACHINE), (index,), self.wakes, entry_of, idle, frozenset(), secondary=secondary
        )

    def wakes(self, at: Ref, obj: Any, reader: Reader) -> tuple[Ref, ...]:
        self.asked.append(f"{at.kind} {at.name}" if obj is not None else f"unreadable {at.name}")
        return (at,) if at.kind == MACHINE else reader.find(BY_NODE, at.name)


def a_machine_of(node: str) -> Seen:
    return Seen(MACHINE_AT, "uid", "1", a_machine(node_name=node))


def listing(room: Room) -> Engine:
    """A list of Nodes and one of Machines have begun."""
    engine = Engine((room,))
    engine.listing(NODE, NOW)
    engine.listing(MACHINE, NOW)
    return engine


def test_nobody_is_asked_before_all_is_known() -> None:
    """What came and went meanwhile concerns nobody: nobody has looked. What is there is asked about once."""
    curious = Curious()
    engine = listing(curious.room)
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(A, "2", unschedulable=True), NOW)
    engine.seen(a_seen(B), NOW)
    engine.gone(a_seen(B), NOW)
    engine.listed(NODE, NOW)
    before = (len(curious.asked), len(engine.queue))
    engine.seen(a_machine_of("a"), NOW)
    engine.listed(MACHINE, NOW)

    assert (0, 0) == before
    assert ["Node a", "Machine.cluster.x-k8s.io a"] == curious.asked
    assert 1 == len(engine.queue)


def test_who_is_found_by_an_index_is_found_in_any_order() -> None:
    """A node that came before its machine wakes it: indexes are complete when the question is asked."""
    curious = Curious(MACHINE)
    engine = listing(curious.room)
    engine.seen(a_seen(A), NOW)
    engine.seen(a_machine_of("a"), NOW)
    engine.listed(MACHINE, NOW)
    engine.listed(NODE, NOW)

    assert key(MACHINE_AT) in engine.queue


def test_what_cannot_be_read_concerns_somebody_at_a_start_too() -> None:
    """An object that was set aside is asked about without its content."""
    curious = Curious()
    engine = listing(curious.room)
    engine.unreadable(A, "uid", "1", "garbage", NOW)
    engine.listed(NODE, NOW)
    engine.listed(MACHINE, NOW)

    assert ["unreadable a"] == curious.asked


def test_nobody_is_asked_about_what_is_secondary_at_a_start() -> None:
    """Its keys wake themselves then; later an event of it wakes them as any other does."""
    curious = Curious(NODE)
    engine = listing(curious.room)
    engine.seen(a_seen(A), NOW)
    engine.seen(a_machine_of("a"), NOW)
    engine.listed(NODE, NOW)
    engine.listed(MACHINE, NOW)
    at_first = list(curious.asked)
    step(engine)
    engine.seen(a_seen(A, "2", unschedulable=True), NOW)

    assert ["Machine.cluster.x-k8s.io a"] == at_first
    assert key(MACHINE_AT) in engine.queue


def test_a_list_that_is_made_anew_is_no_beginning() -> None:
    """While a kind is away and listed again, changes wake those whom they concern, and nobody else looks."""
    looks: list[Ref] = []

    def noted(view: Any, now: Now) -> Decision:
        looks.append(view[0])
        return want(because=())

    engine = listing(a_room(noted))
    for at in (A, B, C):
        engine.seen(a_seen(at), NOW)
    engine.listed(NODE, NOW)
    step(engine)
    engine.lost(NODE, NOW)
    engine.listing(NODE, NOW)
    for at in (A, B, C):
        engine.seen(a_seen(at, "2", unschedulable=at == B), NOW)
    engine.listed(NODE, NOW)
    step(engine)

    assert [A, B, C, B] == looks
