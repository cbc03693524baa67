"""From an address to a Node: what is entered beside it."""

from __future__ import annotations

import random

from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.kdumps import Kdumps
from noderemedy.model.ids import NODE, ref
from noderemedy.model.kdump import KdumpSeen, kdump_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Mono

ADDRESS = "192.0.2.7"


class Bench:
    """An engine with one node, and a clock that tests move."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.pokes = 0
        self.engine = Engine(())
        clock = Clock(random.Random(1), mono_ns=lambda: int(self.seconds * 1e9))
        self.dumps = Kdumps(self.engine, clock, Log("test"), self._poke)
        self.add("worker-0")

    def _poke(self) -> None:
        self.pokes += 1

    def add(self, name: str) -> None:
        node = replace(a_node(), addresses=(name, ADDRESS))
        self.engine.seen(Seen(ref(NODE, name), f"uid-of-{name}", "1", node), NOW)

    def heard(self, seconds: float, address: str = ADDRESS) -> KdumpSeen | None:
        self.seconds = seconds
        self.dumps.heard(address)
        entry = self.engine.cache.read(kdump_ref(NODE_AT))
        return entry.obj if isinstance(entry, Present) else None


def at(seconds: float) -> Mono:
    return Mono(int(seconds * 1000))


def test_a_dump_has_a_first_and_a_last_message() -> None:
    """Messages that follow each other belong to one dump; those that come too often wake nobody."""
    bench = Bench()

    assert KdumpSeen(NODE_AT, at(1000), at(1000)) == bench.heard(1000)
    assert KdumpSeen(NODE_AT, at(1000), at(1000)) == bench.heard(1003)
    assert KdumpSeen(NODE_AT, at(1000), at(1010)) == bench.heard(1010)
    assert 2 == bench.pokes


def test_after_a_silence_another_dump_begins() -> None:
    """The time that a dump may take begins anew with the next one."""
    bench = Bench()
    bench.heard(1000)

    assert KdumpSeen(NODE_AT, at(1061), at(1061)) == bench.heard(1061)


def test_an_address_of_nobody_or_of_two_tells_nothing() -> None:
    """Whoever sends from elsewhere is no node; and two nodes with one address cannot be told apart."""
    bench = Bench()

    assert bench.heard(1000, "198.51.100.1") is None
    bench.add("worker-1")
    assert bench.heard(1010) is None
    assert 0 == bench.pokes
