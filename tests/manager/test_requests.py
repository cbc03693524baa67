"""Kinds known only from templates, followed over real HTTP: found, listed, refused, missing, and left alone again."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.builders import DOCTOR, DOCTOR_AT, NAMESPACE
from tests.core.external.test_kinds import CHECK_AT, TEMPLATE
from tests.core.healthcheck.targets import a_check
from tests.manager.bench import HURRIED, Bench, bench, until

from noderemedy.core.healthcheck import specs
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.lab.http_faults import Fault, failure
from noderemedy.manager.requests import Followers
from noderemedy.manager.sink import EngineSink
from noderemedy.model.ids import HEALTH_CHECK
from noderemedy.model.outcome import Seen
from noderemedy.model.request import ExternalRequest, Followed, followed
from noderemedy.model.room import Present, Unseen
from noderemedy.sim.kinds import CUSTOM_RESOURCE
from noderemedy.sim.ward import TEMPLATE as TEMPLATE_KIND
from noderemedy.sim.ward import definition
from noderemedy.wire.http import Request

MISSING = Followed(DOCTOR, missing="DoctorTemplate.example.com")


class World:
    """An engine with one room that states what checks want, and followers of it over HTTP."""

    def __init__(self, it: Bench, client: KubeClient) -> None:
        self.it = it
        self.clock = Clock(random.Random(1))
        self.engine = Engine((specs.ROOM,))
        self.sink = EngineSink(self.engine, (HEALTH_CHECK,), self.clock, Log("test"), lambda: None)
        self.followers = Followers(client, self.engine, self.sink, self.clock, random.Random(1), HURRIED)
        self.bugs: list[BaseException] = []
        self._version = 0
        for kind in specs.ROOM.watches:
            self.engine.listed(kind, self.clock.now())

    def check(self, **changes: Any) -> None:
        """The check is as told, and the program has taken its step."""
        self._version += 1
        seen = Seen(CHECK_AT, "check-uid-1", str(self._version), a_check(**changes))
        self.engine.seen(seen, self.clock.now())
        self.engine.step(self.clock.now(), 0)
        self.followers.adjust(self.bugs.append)

    def install(self, scope: str = "Namespaced") -> None:
        for kind in (DOCTOR, TEMPLATE_KIND):
            tree = definition(kind)
            tree["spec"]["scope"] = scope
            self.it.api.create(tree)

    def create_doctor(self, name: str) -> None:
        meta = {"name": name, "namespace": NAMESPACE}
        self.it.api.create({"apiVersion": "example.com/v1alpha1", "kind": "Doctor", "metadata": meta})

    def doctors(self) -> list[str]:
        return [ref.name for ref in self.engine.cache.refs_of(DOCTOR)]

    async def until_it_is(self, expected: Followed) -> None:
        await until(lambda: followed(DOCTOR, self.engine.cache) == expected, what=str(expected))

    def asked(self) -> list[str]:
        """The paths below the invented group that anybody has asked for."""
        return [request.path for _, request in self.it.requests if "example.com" in request.path]


@contextlib.asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    async with bench(folder) as it, KubeClient(load(it.kubeconfig)) as client:
        made = World(it, client)
        yield made
        await made.followers.stop()
        assert [] == made.bugs


def play(folder: Path, story: Callable[[World], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with world(folder) as it:
            await asyncio.wait_for(story(it), 20)

    asyncio.run(whole())


def test_a_wanted_kind_is_followed_and_left_again(tmp_path: Path) -> None:
    """Found by discovery, listed and watched; forgotten when no check names it any more."""

    async def story(it: World) -> None:
        it.install()
        it.create_doctor("worker-0")
        it.check(template=TEMPLATE)
        await it.until_it_is(Followed(DOCTOR))
        assert ["worker-0"] == it.doctors()
        assert {DOCTOR, TEMPLATE_KIND} <= set(it.sink.resources)
        it.create_doctor("worker-1")
        await until(lambda: it.doctors() == ["worker-0", "worker-1"])
        assert isinstance(it.engine.cache.read(DOCTOR_AT), Present)
        it.check(template=None)
        it.create_doctor("worker-2")
        asked = len(it.asked())
        await asyncio.sleep(0.3)

        assert ([], None, Unseen()) == (
            it.doctors(),
            followed(DOCTOR, it.engine.cache),
            it.engine.cache.read(DOCTOR_AT),
        )
        assert asked == len(it.asked())

    play(tmp_path, story)


def test_kinds_that_nobody_wants_are_not_watched(tmp_path: Path) -> None:
    """Not one request for a group that no check names, whatever is installed; a check that goes names nothing."""

    async def story(it: World) -> None:
        it.install()
        it.check()
        it.check(template=TEMPLATE, deleting=True)
        await asyncio.sleep(0.2)

        assert [] == it.asked()

    play(tmp_path, story)


def test_a_kind_that_is_installed_later(tmp_path: Path) -> None:
    """Missing is a state of its own, for the template as for its requests; noticed when it ends."""

    async def story(it: World) -> None:
        it.check(template=TEMPLATE)
        await it.until_it_is(MISSING)
        assert TEMPLATE_KIND in it.sink.unserved
        it.it.api.create(definition(TEMPLATE_KIND))
        await it.until_it_is(Followed(DOCTOR, missing="Doctor.example.com"))
        it.it.api.create(definition(DOCTOR))
        it.create_doctor("worker-0")
        await it.until_it_is(Followed(DOCTOR))

        assert ["worker-0"] == it.doctors()
        assert not it.sink.unserved & {DOCTOR, TEMPLATE_KIND}
        assert it.engine.is_synced

    play(tmp_path, story)


def test_a_kind_that_is_removed(tmp_path: Path) -> None:
    """What was seen of it counts no more, and nobody else notices."""

    async def story(it: World) -> None:
        it.install()
        it.check(template=TEMPLATE)
        await it.until_it_is(Followed(DOCTOR))
        for name in ("doctors.example.com", "doctortemplates.example.com"):
            it.it.api.delete(CUSTOM_RESOURCE, name)
        it.it.endpoint.cut_watches()
        await it.until_it_is(MISSING)

        assert (Unseen(), True) == (it.engine.cache.read(DOCTOR_AT), it.engine.is_synced)

    play(tmp_path, story)


def test_a_kind_that_the_api_does_not_show(tmp_path: Path) -> None:
    """Refused with the server's words; readiness does not depend on it; seen when somebody grants it."""

    async def story(it: World) -> None:
        def refuse(request: Request) -> Fault | None:
            is_asked = request.path.endswith("/doctors")
            return failure(403, "Forbidden", "doctors is forbidden") if is_asked else None

        it.install()
        it.it.before = refuse
        it.check(template=TEMPLATE)
        await until(lambda: (followed(DOCTOR, it.engine.cache) or Followed(DOCTOR)).refused)
        state = followed(DOCTOR, it.engine.cache)
        assert state is not None
        assert "grant list,watch on doctors.example.com" in state.refused
        assert (True, [], Unseen()) == (it.engine.is_synced, it.sink.unready(), it.engine.cache.read(DOCTOR_AT))
        it.it.before = lambda request: None
        await it.until_it_is(Followed(DOCTOR))

    play(tmp_path, story)


def test_a_kind_that_may_be_listed_but_not_followed(tmp_path: Path) -> None:
    """Refused, until somebody grants that, too; requests are rare, and nobody waits for the next one to be seen."""

    async def story(it: World) -> None:
        def refuse(request: Request) -> Fault | None:
            is_asked = request.path.endswith("/doctors") and ("watch", "true") in request.query
            return failure(403, "Forbidden", "doctors is forbidden") if is_asked else None

        it.install()
        it.it.before = refuse
        it.check(template=TEMPLATE)
        await until(lambda: (followed(DOCTOR, it.engine.cache) or Followed(DOCTOR)).refused)
        it.it.before = lambda request: None
        await it.until_it_is(Followed(DOCTOR))

    play(tmp_path, story)


def test_a_kind_without_a_namespace_is_refused(tmp_path: Path) -> None:
    """A request has the namespace of its Machine."""

    async def story(it: World) -> None:
        it.install(scope="Cluster")
        it.check(template=TEMPLATE)
        await until(lambda: (followed(DOCTOR, it.engine.cache) or Followed(DOCTOR)).refused)
        state = followed(DOCTOR, it.engine.cache)

        assert state is not None
        assert "Doctor.example.com is not namespaced" in state.refused

    play(tmp_path, story)


def test_an_outage_is_not_a_refusal(tmp_path: Path) -> None:
    """What was seen stays: a request that exists already is refused by the API itself."""

    async def story(it: World) -> None:
        it.install()
        it.create_doctor("worker-0")
        it.check(template=TEMPLATE)
        await it.until_it_is(Followed(DOCTOR))
        it.it.cut_off.add("administrator")
        it.it.endpoint.cut_watches()
        await asyncio.sleep(0.3)
        during = (followed(DOCTOR, it.engine.cache), it.doctors())
        it.it.cut_off.clear()
        it.create_doctor("worker-1")
        await until(lambda: it.doctors() == ["worker-0", "worker-1"])

        assert (Followed(DOCTOR), ["worker-0"]) == during
        assert ExternalRequest is type(it.engine.cache.read(DOCTOR_AT).obj)  # type: ignore[union-attr]

    play(tmp_path, story)
