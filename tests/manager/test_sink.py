"""Between watches and engine: what hides a kind from the engine, and what is said about it, once."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from typing import Any

import pytest
from tests.builders import MACHINE_AT, NODE_AT, a_machine, a_node

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.sink import EngineSink
from noderemedy.model.ids import FACTS, HOST, MACHINE, NODE, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Span
from noderemedy.rooms import ROOMS, watched

AWAY = Obstacle("https://x cannot be reached", is_connection=True)
FORBIDDEN = Obstacle("cannot watch nodes: forbidden; grant list,watch on nodes to somebody")
MISSING = Obstacle("cannot watch baremetalhosts.metal3.io: not served as metal3.io/v1alpha1")


class Desk:
    """A sink with an engine whose kinds are all listed, and a clock that stands still."""

    def __init__(self) -> None:
        self.milliseconds = 1_000_000
        self.engine = Engine(ROOMS)
        self.pokes = 0
        clock = Clock(random.Random(1), lambda: self.milliseconds * 1_000_000, lambda: self.milliseconds * 1_000_000)
        self.clock = clock
        self.sink = EngineSink(self.engine, watched(), clock, Log("test"), self.poke)
        for kind in watched():
            self.list(kind)

    def poke(self) -> None:
        self.pokes += 1

    def objects(self) -> Sequence[Ref]:
        """What the cache has of the API; facts are not from there."""
        return [ref for ref in self.engine.cache.refs() if ref.kind.group != FACTS]

    def list(self, kind: Any, *items: Seen) -> None:
        self.sink.listing(kind)
        for item in items:
            self.sink.seen(item)
        self.sink.listed(kind)


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


def test_refusal_hides_the_kind_until_it_is_listed() -> None:
    """After a refusal nothing is decided; the next complete list brings the kind back."""
    desk = Desk()
    desk.sink.lost(NODE, FORBIDDEN)
    assert (False, [f"Node: {FORBIDDEN.why}"]) == (desk.engine.is_synced, desk.sink.unready())

    desk.sink.listing(NODE)
    desk.sink.contact(NODE)
    assert not desk.engine.is_synced
    desk.sink.listed(NODE)
    assert (True, []) == (desk.engine.is_synced, desk.sink.unready())


def test_stream_that_goes_on_brings_the_kind_back() -> None:
    """A stream that was refused and goes on from where it was loses no object."""
    desk = Desk()
    desk.list(NODE, Seen(NODE_AT, "u", "5", a_node(uid="u")))
    desk.sink.lost(NODE, FORBIDDEN)
    desk.sink.contact(NODE)

    assert desk.engine.is_synced
    assert [NODE_AT] == desk.objects()


def test_broken_connection_hides_nothing() -> None:
    """A cut connection is daily business: what cannot be undone is read live anyway; but we are not ready."""
    desk = Desk()
    desk.sink.lost(NODE, AWAY)

    assert desk.engine.is_synced
    assert [f"Node: {AWAY.why}"] == desk.sink.unready()


def test_silence_for_long_hides_the_kind(caplog: pytest.LogCaptureFixture) -> None:
    """A view that nobody has refreshed for three minutes is no ground to act on, and that is said once."""
    desk = Desk()
    desk.milliseconds += 180_000
    desk.sink.mind_staleness(desk.clock.now(), Span(180_000))
    assert desk.engine.is_synced

    desk.milliseconds += 1
    for kind in watched():
        if kind != HOST:
            desk.sink.contact(kind)
    desk.sink.mind_staleness(desk.clock.now(), Span(180_000))
    desk.sink.mind_staleness(desk.clock.now(), Span(180_000))
    assert not desk.engine.is_synced
    assert 1 == messages(caplog).count("view is stale, nothing is decided")

    desk.sink.contact(HOST)
    assert desk.engine.is_synced


def test_a_complete_list_is_a_sign_of_life_and_half_of_one_is_none() -> None:
    """The view of a kind is as old as its last complete list, or the last line of its stream."""
    desk = Desk()
    desk.milliseconds += 60_000
    desk.sink.listing(NODE)
    desk.sink.contact(NODE)
    assert Span(60_000) == desk.sink.age(NODE, desk.clock.mono())

    desk.sink.listed(NODE)
    assert Span(0) == desk.sink.age(NODE, desk.clock.mono())


def test_outage_is_one_message(caplog: pytest.LogCaptureFixture) -> None:
    """All watches lose their connection, each with words of its own: that is one outage, and one end of it."""
    desk = Desk()
    caplog.clear()
    for number, kind in enumerate(watched()):
        desk.sink.lost(kind, Obstacle(f"{AWAY.why}{number}", is_connection=True))
    desk.sink.contact(MACHINE)
    desk.sink.contact(NODE)

    assert ["API server is away", "API server is back"] == messages(caplog)
    assert [] == desk.sink.unready()


def test_each_refusal_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """Two kinds that are refused are two messages, however often the watch says so."""
    desk = Desk()
    caplog.clear()
    for _ in range(3):
        desk.sink.lost(NODE, FORBIDDEN)
        desk.sink.lost(HOST, Obstacle(FORBIDDEN.why.replace("nodes", "hosts")))

    assert ["kind cannot be seen, nothing is decided"] * 2 == messages(caplog)


def test_kind_that_is_not_served_is_complete_and_empty(caplog: pytest.LogCaptureFixture) -> None:
    """No such kind, no objects: decisions go on without it, said once; 404s of its watch change nothing."""
    desk = Desk()
    desk.sink.lost(HOST, MISSING)
    assert not desk.engine.is_synced
    caplog.clear()
    desk.sink.not_served(HOST)
    desk.sink.lost(HOST, MISSING)
    desk.sink.not_served(HOST)

    assert desk.engine.is_synced
    assert ["kind is not served"] == messages(caplog)
    assert "baremetalhosts.metal3.io" == vars(caplog.records[0])["facts"]["crd"]

    desk.list(HOST)
    assert "kind is served now" in messages(caplog)
    assert set() == desk.sink.unserved


def test_events_wake_the_engine() -> None:
    """Every change that concerns a key asks for a step, a sign of life does not."""
    desk = Desk()
    desk.list(MACHINE, Seen(MACHINE_AT, "machine-uid-1", "4", a_machine()))
    before = desk.pokes
    desk.sink.contact(NODE)
    assert before == desk.pokes
    desk.sink.seen(Seen(NODE_AT, "u", "5", a_node(uid="u")))
    desk.sink.gone(Seen(NODE_AT, "u", "6", None))
    assert before + 2 == desk.pokes
    assert [MACHINE_AT] == desk.objects()


def test_a_heartbeat_does_not_wake_the_engine() -> None:
    """An object that changed in nothing but its version is remembered without a step; a real change asks for one."""
    desk = Desk()
    desk.list(MACHINE, Seen(MACHINE_AT, "machine-uid-1", "9", a_machine()))
    desk.list(NODE, Seen(NODE_AT, "node-uid-1", "10", a_node()))
    desk.engine.step(desk.clock.now(), 1)
    pokes = desk.pokes

    desk.sink.seen(Seen(NODE_AT, "node-uid-1", "11", a_node()))
    assert pokes == desk.pokes

    desk.sink.seen(Seen(NODE_AT, "node-uid-1", "12", a_node(unschedulable=True)))
    assert pokes + 1 == desk.pokes
