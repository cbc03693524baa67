"""Whom an event concerns is woken: asked of every room about every object, in the middle of trouble."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from noderemedy.engine.loop import Engine
from noderemedy.model.ids import Ref
from noderemedy.model.room import Present
from noderemedy.rooms import ROOMS
from noderemedy.sim import objects
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.fencerun import simulate_fencing
from noderemedy.sim.process import Process
from noderemedy.sim.run import simulate
from noderemedy.sim.sleepers import KEYS, sleepers
from noderemedy.sim.weather import CALM

MINUTE_MS = 60_000


def test_a_room_that_is_never_woken_is_noticed() -> None:
    """Deaf verdicts: every machine would be judged, and is told by name."""
    cluster = Cluster(nodes=3, seed=1, replicas=3, tracks_fields=False)
    cluster.api.create(objects.marking_check("all", "40%", cluster.durations))
    process = Process("manager-1", cluster, weather=CALM, seed=1)
    process.rooms = tuple(structs.replace(room, wakes=deaf) if room.name == "verdict" else room for room in ROOMS)
    process.start()
    cluster.agenda.run_until(2 * MINUTE_MS)

    asleep = sleepers(process.engine, process.now())

    assert process.is_settled
    machines = {f"verdict of Machine/metal3/machine-worker-{number}" for number in (1, 2, 3)}
    assert machines == {line.partition(" would")[0] for line in asleep}


def deaf(*_: Any) -> tuple[()]:
    return ()


def test_every_room_of_the_table_exists() -> None:
    """A room that was renamed would be asked no more."""
    assert set(KEYS) <= {room.name for room in ROOMS}


def woken_by_nobody_else(engine: Engine) -> list[str]:
    """Keys that only objects of secondary kinds wake: at a start nobody would."""
    found = []
    for room in engine.rooms.values():
        woken: dict[bool, set[Ref]] = {True: set(), False: set()}
        for at, entry in engine.cache.entries():
            if at.kind in room.watches:
                obj = entry.obj if isinstance(entry, Present) else None
                woken[at.kind in room.secondary].update(room.wakes(at, obj, engine.cache))
        found += [f"{room.name} of {at}" for at in sorted(woken[True] - woken[False])]
    return found


@pytest.mark.parametrize(("history", "seed"), [(simulate, 3), (simulate_fencing, 1)], ids=["checks", "fencing"])
def test_no_deed_is_slept_through(history: Callable[..., Any], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ten minutes of a bad day nobody has anything to do but those who are woken, or who wait for a time; and
    whoever would start then would wake all whom anything concerns.
    """
    asleep: list[str] = []
    asked = 0
    living: list[Process] = []
    init, run_until = Process.__init__, Agenda.run_until

    def remembered(self: Process, *arguments: Any, **more: Any) -> None:
        init(self, *arguments, **more)
        living.append(self)

    def questioned(self: Agenda, end_ms: int) -> None:
        nonlocal asked
        while self.now_ms < end_ms:
            run_until(self, min(end_ms, self.now_ms + 10 * MINUTE_MS))
            for process in [one for one in living if one.is_settled]:
                asked += 1
                asleep.extend(line for line in sleepers(process.engine, process.now()) if "would state" not in line)
                asleep.extend(woken_by_nobody_else(process.engine))

    monkeypatch.setattr(Process, "__init__", remembered)
    monkeypatch.setattr(Agenda, "run_until", questioned)
    history(seed, nodes=12, hours=1.5)

    assert [] == asleep
    assert asked >= 5
