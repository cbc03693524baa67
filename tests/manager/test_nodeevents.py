"""Events about nodes: watched while a document asks, counted once each, bounded, and never of anything else."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.builders import NODE_AT, NOW
from tests.manager.bench import SYSTEM, Bench, bench, until

from noderemedy.core.remedy import documents, thresholds
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.manager.nodeevents import EventCounter
from noderemedy.model.ids import CONFIG_MAP, JOB
from noderemedy.model.nodeevents import CORE_EVENT, KEPT, NodeEvents, node_events_ref
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Now, Wall
from noderemedy.wire.nodeevents import decode_node_event
from noderemedy.wire.undecodable import Undecodable


class Still(Clock):
    """A clock that stands."""

    def now(self) -> Now:
        return NOW

    def mono(self) -> Mono:
        return NOW.mono


def an_event(uid: str = "e1", *, count: int = 1, reason: str = "KernelOops", kind: str = "Node", **more: Any) -> bytes:
    tree = {
        "metadata": {"name": f"n0.{uid}", "namespace": "default", "uid": uid, "resourceVersion": "5"},
        "involvedObject": {"kind": kind, "name": "n0"},
        "reason": reason,
        "count": count,
        "firstTimestamp": "2030-03-17T17:35:00Z",
        "lastTimestamp": "2030-03-17T17:40:00Z",
        **more,
    }
    return msgspec.json.encode(tree)


class Counting:
    """A counter around a real engine."""

    def __init__(self) -> None:
        self.engine = Engine((documents.ROOM, thresholds.ROOM))
        self.pokes = 0
        self.counter = EventCounter(self.engine, Still(random.Random(1)), Log("test"), self.poke)
        self.counter.reasons = frozenset({"KernelOops"})

    def poke(self) -> None:
        self.pokes += 1

    def see(self, *events: bytes) -> None:
        for event in events:
            self.counter.seen(decode_node_event(event))

    def moments(self, after: str = "") -> tuple[Wall, ...]:
        entry = self.engine.cache.read(node_events_ref("n0"))
        found = entry.obj if isinstance(entry, Present) else NodeEvents(())
        assert isinstance(found, NodeEvents)
        return tuple(one for one in found.of("KernelOops") if str(one) > after)


def test_an_event_counts_as_often_as_it_says() -> None:
    """The same Event with a higher count counts the difference; seen again, it counts nothing."""
    it = Counting()
    it.see(an_event(count=2), an_event(count=2), an_event(count=5), an_event("e2"))

    assert 6 == len(it.moments())


def test_a_series_is_read_too() -> None:
    """The newer generation of Events has count and time in a series."""
    it = Counting()
    series = {"count": 4, "lastObservedTime": "2030-03-17T17:45:00.000000Z"}
    times: dict[str, Any] = {"firstTimestamp": None, "lastTimestamp": None, "eventTime": "2030-03-17T17:30:00.000000Z"}
    it.see(an_event(count=1, series=series, **times))

    assert ["2030-03-17T17:30:00Z"] * 3 + ["2030-03-17T17:45:00Z"] == [str(one) for one in it.moments()]


def test_an_event_without_a_time_happened_when_it_was_made() -> None:
    """A new manager dates it as the old one did; one that nobody dated at all is older than every window."""
    it = Counting()
    made = {"name": "n0.e1", "namespace": "default", "uid": "e1", "creationTimestamp": "2030-03-17T17:10:00Z"}
    bare: dict[str, Any] = {"firstTimestamp": None, "lastTimestamp": None}
    it.see(an_event(metadata=made, **bare), an_event("e2", **bare))

    assert ["1970-01-01T00:00:00Z", "2030-03-17T17:10:00Z"] == [str(one) for one in it.moments()]


def test_a_new_manager_takes_no_old_events_for_new_ones() -> None:
    """Of nine that began hours ago only the last is known to be young; one more is one more."""
    it = Counting()
    it.see(an_event(count=9, firstTimestamp="2030-03-17T09:40:00Z"))
    first = len(it.moments("2030-03-17T16:40:00Z"))
    it.see(an_event(count=10, firstTimestamp="2030-03-17T09:40:00Z", lastTimestamp="2030-03-17T17:45:00Z"))

    assert (1, 2) == (first, len(it.moments("2030-03-17T16:40:00Z")))


@pytest.mark.parametrize("event", [an_event(reason="Rebooted"), an_event(kind="Pod")])
def test_what_nobody_asked_for_is_not_counted(event: bytes) -> None:
    """Another reason, or an Event about something else, wakes nobody."""
    it = Counting()
    it.see(event)

    assert ((), 0) == (it.moments(), it.pokes)


def test_counters_are_bounded() -> None:
    """A node that writes a million events costs no more than one that writes fifty."""
    it = Counting()
    it.see(*(an_event(f"e{number}", count=10_000) for number in range(20)))

    assert KEPT == len(it.moments())


def test_garbage_is_put_aside() -> None:
    """An Event that cannot be read is told, and the next one is counted."""
    it = Counting()
    with pytest.raises(Undecodable) as problem:
        decode_node_event(b'{"metadata": 7}')
    it.counter.unreadable(CORE_EVENT, problem.value)
    it.counter.lost(CORE_EVENT, Obstacle("forbidden"))
    it.see(an_event())

    assert 1 == len(it.moments())


DOCUMENT = """
apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
- {nodeEventReason: KernelOops, count: 2, within: 1000h, remedy1: fix}
remedyConfigs:
- {name: fix, podTemplate: {spec: {containers: [{name: c, image: registry.example/fix:1}]}}}
"""


def test_events_are_watched_while_a_document_asks(tmp_path: Path) -> None:
    """Not before; then enough Events about a node have its remedy run; and not after the document is gone."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            await tell(it)

    asyncio.run(story())


async def tell(it: Bench) -> None:
    it.populate()
    manager = it.start()
    await until(manager.is_leading)
    assert [] == asked(it)
    meta = {"name": "oopses", "namespace": SYSTEM}
    it.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"config.yaml": DOCUMENT}})
    about = {"kind": "Node", "name": NODE_AT.name}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for number, kind in enumerate(("Node", "Pod", "Node")):
        tree = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"e{number}", "namespace": "default"},
            "involvedObject": {**about, "kind": kind},
            "reason": "KernelOops",
            "lastTimestamp": now,
        }
        it.api.create(tree)
    await until(lambda: len(it.api.list(JOB)) == 1)
    assert {"involvedObject.kind=Node"} == set(asked(it))
    it.api.delete(CONFIG_MAP, "oopses", SYSTEM)


def asked(it: Bench) -> list[str]:
    """The field selectors of all lists and watches of Events."""
    reads = [request for _, request in it.requests if request.method == "GET" and request.path == "/api/v1/events"]
    return [value for request in reads for key, value in request.query if key == "fieldSelector"]
