"""Orders carried out by Jobs: what is created, and what the pod of the Job tells, over a scripted API server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace
from tests.core.fencing.orders import ORDER
from tests.drivers.kube import scripted
from tests.drivers.kube.scripted import Api, Handler, a_status, answer, event, stream

from noderemedy.core.fencing import staleness
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.logs import Log
from noderemedy.drivers.metrics import Metrics
from noderemedy.engine.loop import Engine
from noderemedy.manager import jobruns
from noderemedy.manager.jobruns import JobRuns
from noderemedy.manager.runbook import RunBook
from noderemedy.model.ids import NODE, ref
from noderemedy.model.outcome import Done, Failed, Outcome, Unknown
from noderemedy.model.room import Present
from noderemedy.model.run import Deed, Order, Power, Result, Run, RunState, run_ref
from noderemedy.model.time import Mono, Span, Wall
from noderemedy.wire import fencejobs
from noderemedy.wire.fenceanswer import read_order, result_text
from noderemedy.wire.fencejobs import JobSettings

DONE = result_text(Result(RunState.DONE, Power.OFF, "node worker-0: off"))
NO_ORDER = result_text(Result(RunState.FAILED, said="NODE_REMEDY_ORDER holds no order"))
OUTSIDE = {"HTTPS_PROXY": "http://proxy:3128"}
LONG = replace(ORDER, not_after=Wall(1 << 45))


def a_pod(**terminated: Any) -> dict[str, Any]:
    state = {"terminated": terminated} if terminated else {"waiting": {}}
    return {"status": {"phase": "Running", "containerStatuses": [{"name": "runner", "state": state}]}}


EXISTS = answer({"kind": "Status", "reason": "AlreadyExists", "code": 409, "message": "already exists"}, 409)
QUOTA = answer({"kind": "Status", "reason": "Conflict", "code": 409, "details": {"kind": "resourcequotas"}}, 409)


class Told:
    """What the server was asked to create, and what the engine knows."""

    def __init__(self, created: Handler, *watches: Handler) -> None:
        self.posts: list[dict[str, Any]] = []
        self.watched: list[str] = []
        self._created = created
        self._watches = list(watches)
        self.engine = Engine(())
        self.metrics = Metrics()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            self.posts.append(json.loads(await request.text()))
            return await self._created(request)
        self.watched.append(request.query["labelSelector"])
        watch = self._watches.pop(0) if len(self._watches) > 1 else self._watches[0]
        return await watch(request)

    def run(self) -> Run | None:
        entry = self.engine.cache.read(run_ref(ORDER.id))
        return entry.obj if isinstance(entry, Present) else None

    async def story(self, times: int = 1, seconds: float = 5.0, lapse: str = "") -> list[Outcome]:
        clock = Clock(random.Random(1))
        book = RunBook(self.engine, clock, Log("test"), self.metrics, lambda: None)
        async with Api(self.handle).running() as api, KubeClient(api.access()) as client:
            runs = JobRuns(client, book, clock, JobSettings("image:1", "there", OUTSIDE), lambda token: lapse)
            outcomes = [await runs.start(LONG, Span.seconds(5)) for _ in range(times)]
            if isinstance(outcomes[0], Done):
                async with asyncio.timeout(seconds):
                    await scripted.until(lambda: (it := self.run()) is not None and it.state is not RunState.RUNNING)
            await runs.finish()
        return outcomes


def test_a_job_is_created_only_while_we_lead() -> None:
    """The request may wait for a lane or a connection: who does not lead any more by then creates nothing."""
    told = Told(answer({}, 201), stream())

    async def test() -> None:
        assert [Failed("this manager does not lead")] == await told.story(lapse="this manager does not lead")

    scripted.run(test())

    assert ([], None) == (told.posts, told.run())


@pytest.mark.parametrize("conflict", [QUOTA, a_status(409)])
def test_a_conflict_of_something_else_is_no_job(conflict: Handler) -> None:
    """In a storm of Jobs the update of a quota conflicts: nothing was created, and the next try creates it."""
    told = Told(conflict, stream())

    async def test() -> None:
        assert [Failed, Failed] == [type(one) for one in await told.story(times=2)]

    scripted.run(test())

    assert (2, None) == (len(told.posts), told.run())


def test_a_job_is_created_and_its_pod_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """One Job of the order's name; broken streams are taken up again until the result is there."""
    monkeypatch.setattr(jobruns, "PAUSE_S", 0.01)
    told = Told(
        answer({}, 201),
        stream(event("ADDED", a_pod()), then="cut"),
        a_status(500),
        stream(b"garbage\n", then="end"),
        stream(event("MODIFIED", a_pod(exitCode=0, message=DONE))),
    )

    scripted.run(told.story(times=2))  # type: ignore[arg-type]
    [container] = told.posts[0]["spec"]["template"]["spec"]["containers"]
    assert {"name": fencejobs.LEASES_VARIABLE, "value": "there"} in container["env"]

    run = told.run()
    assert run
    assert (RunState.DONE, Power.OFF, True) == (run.state, run.power, run.begun > Mono(0))
    assert [ORDER.id] == [post["metadata"]["name"] for post in told.posts]
    template = told.posts[0]["spec"]["template"]["metadata"]
    assert {f"node-remedy.dev/order={template['labels']['node-remedy.dev/order']}"} == set(told.watched)
    assert ORDER.id == template["labels"]["node-remedy.dev/order"]
    assert {"name": "HTTPS_PROXY", "value": "http://proxy:3128"} in container["env"]


def test_a_job_of_an_earlier_manager_is_followed_and_never_fresh() -> None:
    """It exists already: its result is taken and counted, but nobody knows when it began, and it is not timed."""
    told = Told(EXISTS, stream(event("ADDED", a_pod(exitCode=0, message=DONE))))

    scripted.run(told.story())  # type: ignore[arg-type]

    run = told.run()
    assert run
    assert (RunState.DONE, Mono(0)) == (run.state, run.begun)
    figures = told.metrics.text().decode()
    assert 'node_remedy_fence_runs_total{agent="fence_ipmilan",deed="off",method="bmc",outcome="done"} 1.0' in figures
    assert "node_remedy_fence_run_duration_seconds_count" not in figures


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        (a_pod(exitCode=137, reason="OOMKilled"), "it ended without telling how: exit code 137 OOMKilled"),
        (a_pod(exitCode=1, message=NO_ORDER), "NODE_REMEDY_ORDER holds no order"),
        ({"status": {"phase": "Failed", "reason": "Evicted"}}, "it ended without telling how: Evicted"),
    ],
)
def test_whatever_a_pod_tells_names_node_and_method(pod: dict[str, Any], said: str) -> None:
    """A pod that dies without a word of its runner's own is told of like any other run."""
    told = Told(answer({}, 201), stream(event("MODIFIED", pod)))

    scripted.run(told.story())  # type: ignore[arg-type]

    run = told.run()
    assert run
    assert f"node worker-0, method bmc (fence_ipmilan): {said}" == run.said


def test_a_job_that_is_refused_did_not_happen() -> None:
    """The outcome names the Job and the server's word; no run is known."""
    told = Told(a_status(403, "jobs is forbidden"), a_status(500))
    found: list[Outcome] = []

    async def story() -> None:
        found.extend(await told.story())

    scripted.run(story())
    (outcome,) = found

    assert isinstance(outcome, Failed)
    assert f"Job node-remedy-system/{ORDER.id}: the API server answered 403 jobs is forbidden" == outcome.why
    assert told.run() is None


UNANSWERED: dict[str, Handler] = {"it broke": a_status(504, "timed out"), "the connection broke": stream(then="cut")}


@pytest.mark.parametrize("case", UNANSWERED)
def test_a_job_of_which_nobody_told_may_run(case: str) -> None:
    """The server may have made it before it broke: the run is known, and asked for once more, under the same name."""
    told = Told(UNANSWERED[case], a_status(500))
    found: list[Outcome] = []

    async def story() -> None:
        found.extend(await told.story(times=2))

    scripted.run(story())

    assert [Unknown, Unknown] == [type(one) for one in found]
    assert Run(ORDER.id, RunState.RUNNING, is_sure=False) == told.run()
    assert [ORDER.id] * 2 == [post["metadata"]["name"] for post in told.posts]


def test_a_job_that_tells_nothing_has_failed_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a moment earlier: it may still be under way."""
    monkeypatch.setattr(fencejobs, "MARGIN", Span(50))
    told = Told(answer({}, 201), stream(event("ADDED", a_pod())))
    monkeypatch.setattr("tests.manager.test_jobruns.LONG", replace(ORDER, not_after=Wall(0), patience=Span(100)))

    scripted.run(told.story())  # type: ignore[arg-type]

    run = told.run()
    assert run
    assert (RunState.FAILED, True) == (run.state, "told no result in all its time" in run.said)


# --- drills ------------------------------------------------------------------------------------------------------

AT = 4
ON = result_text(Result(RunState.DONE, Power.ON, "node worker-0: on"))


def a_drill(number: int) -> Order:
    """One device of one node is asked."""
    not_after = Clock(random.Random(1)).wall() + Span.seconds(60)
    return replace(ORDER, id=f"drill-{number}", fence=ref(NODE, "worker-0"), deed=Deed.STATUS, not_after=not_after)


class Drills:
    """An API server on which pods end when the test says so, and a manager that has more drills than lanes."""

    def __init__(self, created: Handler = answer({}, 201)) -> None:  # noqa: B008  a handler has no state
        self.names: list[str] = []
        self.orders: list[Order] = []
        self.engine = Engine(())
        self.lapse = ""
        self._created = created
        self._ends = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            job = json.loads(await request.text())
            self.names.append(job["metadata"]["name"])
            (container,) = job["spec"]["template"]["spec"]["containers"]
            (text,) = [one["value"] for one in container["env"] if one["name"] == fencejobs.ORDER_VARIABLE]
            self.orders.append(read_order(text))
            return await self._created(request)
        await self._ends.wait()
        return await stream(event("MODIFIED", a_pod(exitCode=0, message=ON)))(request)

    def run(self, id: str) -> Run:
        entry = self.engine.cache.read(run_ref(id))
        assert isinstance(entry, Present)
        assert isinstance(entry.obj, Run)
        return entry.obj

    @contextlib.asynccontextmanager
    async def manager(self) -> AsyncIterator[JobRuns]:
        clock = Clock(random.Random(1))
        book = RunBook(self.engine, clock, Log("test"), Metrics(), lambda: None)
        async with Api(self.handle).running() as api, KubeClient(api.access()) as client:
            runs = JobRuns(client, book, clock, JobSettings("image:1", "there"), lambda token: self.lapse)
            yield runs
            await runs.finish()

    async def over(self, *ids: str) -> list[Run]:
        self._ends.set()
        await scripted.until(lambda: all(self.run(id).state is not RunState.RUNNING for id in ids))
        return [self.run(id) for id in ids]


def test_four_devices_are_drilled_at_a_time_and_no_fence_waits_for_them() -> None:
    """All are accepted at once; the fifth Job is made when one of the four has told, and a fence's in between."""
    drills, orders = Drills(), [a_drill(number) for number in range(AT + 2)]

    async def story() -> None:
        async with drills.manager() as runs:
            for order in orders:
                assert isinstance(await runs.start(order, Span.seconds(5)), Done)
            await scripted.until(lambda: len(drills.names) == AT)
            assert isinstance(await runs.start(orders[-1], Span.seconds(5)), Done)  # it is known, and made once
            assert isinstance(await runs.start(LONG, Span.seconds(5)), Done)
            assert [*(order.id for order in orders[:AT]), LONG.id] == drills.names
            told = await drills.over(*(order.id for order in orders), LONG.id)
            assert {RunState.DONE} == {run.state for run in told}

    scripted.run(story())
    assert sorted([LONG.id, *(order.id for order in orders)]) == sorted(drills.names)


def test_the_time_of_a_drill_begins_with_its_lane() -> None:
    """Or its pod would call it late, and nobody would be asked."""
    drills, orders = Drills(), [a_drill(number) for number in range(AT + 1)]

    async def story() -> None:
        async with drills.manager() as runs:
            for order in orders:
                await runs.start(order, Span.seconds(5))
            await scripted.until(lambda: len(drills.names) == AT)
            await asyncio.sleep(0.05)
            await drills.over(*(order.id for order in orders))

    scripted.run(story())
    assert drills.orders[-1].not_after >= orders[-1].not_after + Span(50)


@pytest.mark.parametrize(
    ("created", "lapse", "words", "is_late"),
    [
        (a_status(403, "jobs is forbidden"), "", "the API server answered 403 jobs is forbidden", False),
        (answer({}, 201), "this manager does not lead", "this manager does not lead", True),
    ],
)
def test_a_drill_without_a_job_gives_its_lane_back(created: Handler, lapse: str, words: str, is_late: bool) -> None:
    """Whoever is refused is told so on its node; one that had no chance keeps the condition that it had."""
    drills, orders = Drills(created), [a_drill(number) for number in range(AT + 1)]
    drills.lapse = lapse

    async def story() -> None:
        async with drills.manager() as runs:
            for order in orders:
                await runs.start(order, Span.seconds(5))
            for run in await drills.over(*(order.id for order in orders)):
                assert (RunState.FAILED, True) == (run.state, words in run.said)
                assert is_late is staleness.came_late(run.said)

    scripted.run(story())


def test_a_job_of_a_drill_that_may_have_been_made_keeps_its_lane() -> None:
    """The server broke after it was asked: the Job is looked for, or one after the other would be made beside it."""
    drills, orders = Drills(a_status(500)), [a_drill(number) for number in range(AT + 1)]

    async def story() -> None:
        async with drills.manager() as runs:
            for order in orders:
                await runs.start(order, Span.seconds(5))
            await scripted.until(lambda: len(drills.names) == AT)
            await asyncio.sleep(0.05)
            assert AT == len(drills.names)
            told = await drills.over(*(order.id for order in orders))
            assert {(RunState.DONE, Power.ON)} == {(run.state, run.power) for run in told}

    scripted.run(story())


def test_a_drill_of_which_nobody_knows_whether_it_was_made_says_nothing_of_its_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No pod of it is ever seen: its node keeps the condition that it had."""
    monkeypatch.setattr(fencejobs, "MARGIN", Span(50))
    drills = Drills(a_status(500))
    order = replace(a_drill(1), not_after=Wall(0), patience=Span(50))

    async def story() -> None:
        async with drills.manager() as runs:
            await runs.start(order, Span.seconds(5))
            await scripted.until(lambda: drills.run(order.id).state is not RunState.RUNNING)

    scripted.run(story())
    assert staleness.came_late(drills.run(order.id).said)


def test_a_stop_calls_off_drills_that_wait() -> None:
    """No Job is made for them any more."""
    drills = Drills()

    async def story() -> None:
        async with drills.manager() as runs:
            for number in range(AT + 2):
                await runs.start(a_drill(number), Span.seconds(5))
            await scripted.until(lambda: len(drills.names) == AT)

    scripted.run(story())
    assert AT == len(drills.names)
