"""The engine with the real rooms and the real wire, against a very small API: repairs, cost per event, determinism."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NAMESPACE, a_node_tree
from tests.engine.tiny_api import TinyApi, Tree

from noderemedy.engine.loop import Engine
from noderemedy.engine.trace import Trace
from noderemedy.model.ids import FACTS, HOST, MACHINE, NODE, ref
from noderemedy.model.outcome import Key
from noderemedy.model.reasons import TableRow
from noderemedy.model.room import Room
from noderemedy.rooms import ROOMS, watched
from noderemedy.wire import names

ROOT = Path(__file__).parents[2]


def whole(machines: int = 3, *, is_dry: bool = False) -> TinyApi:
    return TinyApi(Engine(ROOMS, is_dry=is_dry), machines)


def trio(api: TinyApi, number: int) -> tuple[Tree, Tree, Tree]:
    """Node, Machine and host of one machine."""
    name = f"worker-{number}"
    found = [ref(NODE, name), ref(MACHINE, name, NAMESPACE), ref(HOST, f"host-{number}", NAMESPACE)]
    node, machine, host = (api.tree(at) or {} for at in found)
    return node, machine, host


def test_a_marked_machine_is_repaired() -> None:
    """Reserved, claimed, held, seen off, backed up, deleted, released, back, restored: nine writes, nothing is left."""
    api = whole()
    api.mark(1)

    api.run(40)

    node, machine, host = trio(api, 1)
    assert ("boot-1", "1") == (node["metadata"]["uid"], node["metadata"]["labels"]["rack"])
    assert {names.MACHINE_HOST} == set(machine["metadata"]["annotations"])
    assert {} == host["metadata"]["annotations"]
    assert [
        ("POST", "configmaps"),
        ("POST", "leases"),
        ("PATCH", "host-1"),
        ("PATCH", "worker-1"),
        ("DELETE", "worker-1"),
        ("PATCH", "worker-1"),
        ("PATCH", "host-1"),
        ("PATCH", "worker-1"),
        ("PATCH", "worker-1"),
    ] == [(write.method, write.path.rsplit("/", 1)[1]) for write in api.writes]
    assert [
        "Add reboot annotation",
        "nothing",
        "Delete node",
        "Remove needs-remediation annotation",
        "Remove reboot annotation",
        "nothing",
    ] == [notice.reason.says for notice in api.notices if isinstance(notice.reason, TableRow)]


def test_the_others_are_not_touched() -> None:
    """Every write of a repair is about the one machine, its host and its node, or our own bookkeeping."""
    api = whole(5)
    api.mark(3)

    api.run(40)

    assert {"configmaps", "leases", "worker-3", "host-3"} == {write.path.rsplit("/", 1)[1] for write in api.writes}


def test_all_machines_at_once() -> None:
    """Keys do not get into each other's way, two at a time: all nodes are new afterwards, all hosts on."""
    api = whole(6)
    for number in range(6):
        api.mark(number)

    api.run(250)

    uids = [tree["metadata"]["uid"] for at, tree in api.objects.values() if at.kind == NODE]
    assert [f"boot-{number}" for number in range(1, 7)] == sorted(uids)


def test_idle_means_no_writes() -> None:
    """A day with nothing to do costs no request at all."""
    api = whole(5)

    api.run(200, is_quiet=True)

    assert ([], [], {}) == (api.writes, api.notices, api.engine.decisions)


def test_a_dry_engine_writes_nothing() -> None:
    """It reads, decides and tells, and the cluster stays as it is."""
    api = whole(is_dry=True)
    api.mark(0)

    api.run(30)

    assert [] == api.writes
    assert ["AddRebootAnnotation"] == [
        type(action).__name__ for decision in api.engine.decisions.values() for action in decision.actions
    ]


def test_a_new_engine_takes_over_in_the_middle() -> None:
    """At any second of the repair another process with an empty memory finishes it to the same end."""
    for seconds in range(1, 22):
        first = whole()
        first.mark(0)
        first.run(seconds)
        second = TinyApi(Engine(ROOMS), 0)
        second.objects, second._version, second._boots = first.objects, first._version, first._boots
        second.now = first.now
        for at, _ in list(second.objects.values()):
            second.change(at, {})

        second.run(40)

        node, machine, host = trio(second, 0)
        assert ("boot-1", "0") == (node["metadata"]["uid"], node["metadata"]["labels"]["rack"]), seconds
        assert ({names.MACHINE_HOST}, {}) == (set(machine["metadata"]["annotations"]), host["metadata"]["annotations"])


# --- cost ----------------------------------------------------------------------------------------------------


class Meter:
    """The real room, with its calls counted."""

    def __init__(self) -> None:
        self.wakes = self.sees = self.decides = self.keys = 0

    def room(self, room: Room) -> Room:
        def wakes(*arguments: Any) -> Any:
            self.wakes += 1
            found = tuple(room.wakes(*arguments))
            self.keys += len(found)
            return found

        def sees(*arguments: Any) -> Any:
            self.sees += 1
            return room.sees(*arguments)

        def decide(*arguments: Any) -> Any:
            self.decides += 1
            return room.decide(*arguments)

        return replace(room, wakes=wakes, sees=sees, decide=decide)

    def counts(self) -> tuple[int, int, int, int]:
        return self.wakes, self.keys, self.sees, self.decides


def cost_of(machines: int, change: dict[str, Any]) -> tuple[int, int, int, int]:
    """The calls that one event of one node causes in a cluster of this size."""
    meter = Meter()
    api = TinyApi(Engine(tuple(meter.room(room) for room in ROOMS)), machines)
    api.run(1, is_quiet=True)
    meter.__init__()  # type: ignore[misc]
    api.change(ref(NODE, "worker-0"), change)
    api.run(1, is_quiet=True)
    return meter.counts()


def test_the_cost_of_a_node_event_does_not_grow_with_the_cluster() -> None:
    """One event wakes one machine, with 10 machines and with 1,000."""
    change = {"spec": {"unschedulable": True}}

    small, large = cost_of(10, change), cost_of(1_000, change)

    assert small == large
    assert (32, 12, 6, 2) == small, "sixteen rooms are asked for the old and the new node; two have something to judge"


def test_a_heartbeat_costs_no_look() -> None:
    """A changed heartbeat time is dropped after decoding: nobody is woken."""
    conditions = a_node_tree(heartbeat="2030-03-17T17:47:00Z")["status"]["conditions"]

    assert (0, 0, 0, 0) == cost_of(10, {"status": {"conditions": conditions}})


def test_rooms_watch_each_kind_once() -> None:
    """Programs open one watch per kind of the API, in a fixed order; facts are nobody's to watch."""
    kinds = watched()

    assert len(set(kinds)) == len(kinds)
    assert {kind for room in ROOMS for kind in room.watches if kind.group != FACTS} == set(kinds)


# --- determinism ---------------------------------------------------------------------------------------------


def scenario() -> str:
    """Ten machines, four repairs that overlap; returns the digest of the trace."""
    api = TinyApi(Engine(ROOMS, trace=Trace()), 10)
    for number in (7, 2, 5):
        api.mark(number)
    api.run(9)
    api.mark(9)
    api.run(150)
    assert api.engine.trace.count > 100
    assert Key("annotation", ref(MACHINE, "worker-7", NAMESPACE)) not in api.engine.decisions
    return api.engine.trace.digest()


def digest_of_another_process(hash_seed: str) -> str:
    program = "from tests.engine.test_whole import scenario; print(scenario())"
    environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    command = [sys.executable, "-c", program]
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert 0 == answer.returncode, answer.stderr
    return answer.stdout.strip()


def test_the_same_inputs_give_the_same_trace() -> None:
    """Under other hash seeds, in other processes, the trace has the same digest."""
    here = scenario()

    assert [here, here] == [digest_of_another_process(seed) for seed in ("1", "4242")]


def test_the_digest_depends_on_every_record() -> None:
    """A trace that differs in one word or in order has another digest; a listener hears every record."""
    heard: list[Any] = []
    one, other, third = Trace(heard.append), Trace(), Trace()
    api = whole(1)
    one.record(api.now, "seen", "a")
    one.record(api.now, "seen", "b")
    other.record(api.now, "seen", "b")
    other.record(api.now, "seen", "a")
    third.record(api.now, "seen", "a")
    third.record(api.now, "seen", "b", "detail")

    assert 3 == len({trace.digest() for trace in (one, other, third)})
    assert ["a", "b"] == [record.about for record in heard]


@pytest.mark.parametrize("machines", [1, 4])
def test_two_runs_in_one_process_are_alike(machines: int) -> None:
    """No state is left in modules between two engines."""
    digests = set()
    for _ in range(2):
        api = whole(machines)
        api.mark(0)
        api.run(30)
        digests.add(api.engine.trace.digest())

    assert 1 == len(digests)
