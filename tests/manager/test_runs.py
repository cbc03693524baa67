"""Orders carried out by the manager itself: real processes, and an API server of a few lines."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.builders import a_node_tree
from tests.core.fencing.orders import PASSWORD, STATUS, an_order
from tests.drivers.fence.scripted import asked, hand, install
from tests.drivers.kube import scripted
from tests.drivers.kube.scripted import Api

from noderemedy.core.fencing import staleness
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.logs import Log
from noderemedy.drivers.metrics import Metrics
from noderemedy.engine.loop import Engine
from noderemedy.manager import runs as module
from noderemedy.manager.runbook import RunBook
from noderemedy.manager.runs import Runs
from noderemedy.model.ids import NODE, ref
from noderemedy.model.outcome import Done
from noderemedy.model.room import Present
from noderemedy.model.run import Deed, Order, Power, Run, RunState, run_ref
from noderemedy.model.time import Span, Wall
from noderemedy.wire import nodefences

FENCE = "/apis/ha.k8s.io/v1/nodefences/node-fence-worker-0"
NODE_PATH = "/api/v1/nodes/worker-0"
SECRET = "/api/v1/namespaces/node-remedy-system/secrets/bmc-worker-0"


def objects() -> dict[str, Any]:
    fence = {"metadata": {"name": "node-fence-worker-0", "uid": "fence-uid-1"}, "spec": {"node": "worker-0"}}
    return {
        FENCE: {**fence, "status": nodefences.status_body(STATUS, 3)},
        NODE_PATH: a_node_tree(),
        SECRET: {"data": {"password": base64.b64encode(PASSWORD.encode() + b"\n").decode()}},
    }


class World:
    """One manager's runs, its engine, and what the API server has."""

    def __init__(self, client: KubeClient, folder: Path, limit: int = 100) -> None:
        self.refusal = ""
        self.clock = Clock(random.Random(1))
        self.engine = Engine(())
        self.pokes = 0
        self.metrics = Metrics()
        self.book = RunBook(self.engine, self.clock, Log("test"), self.metrics, self._poke, limit)
        self.runs = Runs(client, self.book, self.clock, hand(folder), lambda token: self.refusal)

    def _poke(self) -> None:
        self.pokes += 1

    def run(self, id: str = "fence-0123456789") -> Run | None:
        entry = self.engine.cache.read(run_ref(id))
        return entry.obj if isinstance(entry, Present) else None

    async def until_over(self, id: str = "fence-0123456789") -> Run:
        await scripted.until(lambda: (run := self.run(id)) is not None and run.state is not RunState.RUNNING)
        run = self.run(id)
        assert run
        return run

    def order(self, deed: Deed = Deed.OFF, **changes: Any) -> Order:
        usual = {"agent": "fence_scripted", "patience": Span.seconds(5), "not_after": Wall(1 << 45)}
        return an_order(deed, **{**usual, **changes})


@contextlib.asynccontextmanager
async def world(folder: Path, there: dict[str, Any] | None = None, fault: str = "well") -> AsyncIterator[World]:
    install(folder, fault)
    known = objects() if there is None else there

    async def handler(request: web.Request) -> web.StreamResponse:
        found = known.get(request.path)
        if isinstance(found, int):
            return web.json_response({"kind": "Status", "message": "no"}, status=found)
        if found is None:
            details = {"name": request.path.rsplit("/", 1)[1]}
            return web.json_response({"kind": "Status", "details": details}, status=404)
        return web.json_response(found)

    async with Api(handler).running() as api, KubeClient(api.access()) as client:
        yield World(client, folder)


def test_an_order_is_accepted_at_once_and_told_when_it_is_over(tmp_path: Path) -> None:
    """RUNNING first, then DONE with what the device said; the engine is woken each time."""

    async def story() -> None:
        async with world(tmp_path) as it:
            assert isinstance(await it.runs.start(it.order()), Done)
            begun = it.run()
            assert begun
            assert RunState.RUNNING is begun.state
            over = await it.until_over()

        assert (RunState.DONE, Power.OFF, begun.begun) == (over.state, over.power, over.begun)
        assert ["off", "status", "status"] == asked(tmp_path)
        assert PASSWORD == (tmp_path / "passwords").read_text().splitlines()[0]
        assert 2 == it.pokes
        labels = 'agent="fence_scripted",deed="off",method="bmc",outcome="done"'
        figures = it.metrics.text().decode()
        assert f"node_remedy_fence_runs_total{{{labels}}} 1.0" in figures
        assert f"node_remedy_fence_method_seconds_total{{{labels}}}" in figures
        timed = 'node_remedy_fence_run_duration_seconds_count{agent="fence_scripted",deed="off",outcome="done"} 1.0'
        assert timed in figures

    scripted.run(story())


def test_the_same_order_happens_once(tmp_path: Path) -> None:
    """A second one of that name is the same one, while it runs and afterwards."""

    async def story() -> None:
        async with world(tmp_path) as it:
            for _ in range(3):
                await it.runs.start(it.order())
            await it.until_over()
            await it.runs.start(it.order())
            await it.runs.finish()

    scripted.run(story())
    assert ["off", "status", "status"] == asked(tmp_path)


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda there: there.update({path: value})


def status(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda there: there[FENCE]["status"].update(changes)


STALE: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "the fence is gone": (change(FENCE, None), "NodeFence//node-fence-worker-0 is gone"),
    "the fence is another one": (lambda there: there[FENCE]["metadata"].update(uid="x"), "another one"),
    "it is not listed": (status(jobs=[]), "lists no open run"),
    "another boot is recorded": (status(bootID="boot-2"), "another boot"),
    "it was stopped": (lambda there: there[FENCE]["spec"].update(stopped=True), "stopped"),
    "the node has booted again": (
        lambda there: there[NODE_PATH]["status"]["nodeInfo"].update(bootID="boot-2"),
        "booted again",
    ),
    "the node is another one": (lambda there: there[NODE_PATH]["metadata"].update(uid="x"), "another one"),
    "the fence cannot be read": (change(FENCE, 403), "the API server answered 403 no"),
    "the fence is garbage": (change(FENCE, {"status": 7}), "NodeFence"),
    "the node cannot be read": (change(NODE_PATH, 403), "answered 403"),
    "the secret is missing": (change(SECRET, None), "parameter password: there is no secret bmc-worker-0"),
    "the secret cannot be read": (change(SECRET, 403), "answered 403"),
    "the key is missing": (change(SECRET, {"data": {}}), "secret bmc-worker-0 has no key password"),
}


@pytest.mark.parametrize("how", STALE)
def test_nothing_is_sent(how: str, tmp_path: Path) -> None:
    """What is not known to be wanted, or lacks a secret, fails without a word to the device, and says why."""
    there = objects()
    harm, why = STALE[how]
    harm(there)

    async def story() -> None:
        async with world(tmp_path, there) as it:
            await it.runs.start(it.order())
            over = await it.until_over()

        assert RunState.FAILED is over.state
        assert over.said.startswith("not begun: node worker-0, method bmc (fence_scripted): ")
        assert why in over.said

    scripted.run(story())
    assert [] == asked(tmp_path)


@pytest.mark.parametrize(
    ("refusal", "changes", "why"),
    [
        ("this manager does not lead any more", {}, "does not lead"),
        ("", {"not_after": Wall(1)}, "should have begun by"),
        ("", {"bound_to": "worker-0"}, "--agents job"),
    ],
)
def test_nothing_is_sent_by_us(refusal: str, changes: dict[str, Any], why: str, tmp_path: Path) -> None:
    """Without the lead, too late, or not the place: nothing leaves."""

    async def story() -> None:
        async with world(tmp_path) as it:
            it.refusal = refusal
            await it.runs.start(it.order(**changes))
            assert why in (await it.until_over()).said

    scripted.run(story())
    assert [] == asked(tmp_path)


def test_a_drill_waits_for_its_lane_as_long_as_that_takes(tmp_path: Path) -> None:
    """The device is well, and was only asked late: that is no failure of the device."""

    async def story() -> None:
        there = {SECRET: objects()[SECRET]}
        async with world(tmp_path, there) as it:
            late = [it.order(Deed.STATUS, id=f"drill-{number}", fence=ref(NODE, "worker-0"), not_after=Wall(1))
                    for number in range(module.DRILLS_AT_ONCE + 2)]  # fmt: skip
            for order in late:
                await it.runs.start(order)
            states = {(await it.until_over(order.id)).state for order in late}

        assert {RunState.DONE} == states

    scripted.run(story())


def test_a_drill_needs_no_fence(tmp_path: Path) -> None:
    """A question about a node is asked without a NodeFence."""

    async def story() -> None:
        async with world(tmp_path, {SECRET: objects()[SECRET]}) as it:
            await it.runs.start(it.order(Deed.STATUS, fence=ref(NODE, "worker-0")))
            assert Power.ON is (await it.until_over()).power

    scripted.run(story())


@pytest.mark.parametrize(
    ("found", "refusal", "is_late"),
    [
        (500, "", True),
        (503, "", True),
        (403, "", False),  # whoever may not read the Secret cannot fence either: the node shall say so
        (None, "", False),
        ("there", "this manager does not lead any more", True),
    ],
)
def test_a_drill_that_could_not_be_asked_says_nothing_of_its_device(
    found: Any, refusal: str, is_late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that breaks, or a lost lead: its node keeps the condition that it had, as with drills by Jobs."""
    monkeypatch.setattr(module, "READ_PATIENCE", Span(200))

    async def story() -> None:
        async with world(tmp_path, {SECRET: objects()[SECRET] if found == "there" else found}) as it:
            it.refusal = refusal
            await it.runs.start(it.order(Deed.STATUS, fence=ref(NODE, "worker-0")))
            assert is_late is staleness.came_late((await it.until_over()).said)

    scripted.run(story())
    assert [] == asked(tmp_path)


def test_a_stop_waits_for_what_was_sent(tmp_path: Path) -> None:
    """The command on its way ends, and what it came to is known (R34)."""

    async def story() -> None:
        async with world(tmp_path, fault="slow") as it:
            await it.runs.start(it.order())
            await scripted.until(lambda: bool(asked(tmp_path)))
            await it.runs.finish()
            run = it.run()

        assert run
        assert RunState.DONE is run.state

    scripted.run(story())
    assert ["off", "status", "status"] == asked(tmp_path)


def test_a_stop_calls_off_what_was_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What still waits for its turn never happens."""
    monkeypatch.setattr(module, "FENCES_AT_ONCE", 0)

    async def story() -> None:
        async with world(tmp_path) as it:
            await it.runs.start(it.order())
            await asyncio.sleep(0.05)
            await it.runs.finish()
            run = it.run()

        assert run
        assert RunState.RUNNING is run.state  # whoever leads next finds it in the NodeFence, and asks the device first

    scripted.run(story())
    assert [] == asked(tmp_path)


def test_memory_is_bounded(tmp_path: Path) -> None:
    """The oldest that ended is forgotten; what runs is kept."""

    async def story() -> None:
        async with world(tmp_path, {}) as it:
            it.book._limit = 2
            for number in range(5):
                await it.runs.start(it.order(id=f"fence-{number}"))
                await it.until_over(f"fence-{number}")
            known = [number for number in range(5) if it.run(f"fence-{number}")]

        assert [3, 4] == known

    scripted.run(story())
