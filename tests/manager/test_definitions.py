"""A manager reads the definitions of what it records in: before it begins anything, and whenever one changes."""

from __future__ import annotations

import asyncio
import copy
import random
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from tests.builders import MACHINE_AT, NOW
from tests.manager.bench import Bench, Operator, bench, until

from noderemedy.crds.recording import ours
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.lab.http_faults import Fault, Instead
from noderemedy.manager.definitions import DefinitionSink
from noderemedy.manager.liveplan import on_cluster
from noderemedy.model.ids import BUDGET, REMEDIATION, Ref
from noderemedy.model.keeping import DEFINITION, Unkept, definition_name, unkept
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Mono, Now
from noderemedy.rooms import ROOMS
from noderemedy.sim.kinds import CUSTOM_RESOURCE
from noderemedy.wire.http import Request
from noderemedy.wire.undecodable import Undecodable

NAME = definition_name(REMEDIATION)
DEFINITION_AT = Ref("", DEFINITION, "", NAME)
FIELDS = "fieldSelector"
FORBIDDEN = b'{"kind":"Status","message":"forbidden","code":403}'


def within(seconds: float, story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, seconds))


def older(spec: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(spec)
    status = found["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    del status["evidence"]["properties"]["contradictedAt"]
    return found


class Still(Clock):
    """A clock that stands."""

    def now(self) -> Now:
        return NOW

    def mono(self) -> Mono:
        return NOW.mono


class Listening:
    """A sink around a real engine."""

    def __init__(self) -> None:
        self.engine = Engine(ROOMS)
        self.sink = DefinitionSink(REMEDIATION, self.engine, Still(random.Random(1)), Log("test"), lambda: None)

    @property
    def known(self) -> Unkept | None:
        return unkept(REMEDIATION, self.engine.cache)

    def see(self, spec: dict[str, Any]) -> None:
        self.sink.seen(Seen(DEFINITION_AT, "u", "1", spec))

    def list(self, *specs: dict[str, Any]) -> None:
        self.sink.listing(DEFINITION)
        for spec in specs:
            self.see(spec)
        self.sink.listed(DEFINITION)


def test_what_is_known_of_a_definition() -> None:
    """Nothing at first; then what it lacks; an API that is away changes nothing, one that refuses does."""
    it = Listening()
    assert Unkept() == it.known
    it.see(older(ours(REMEDIATION)))
    assert Unkept(("status.evidence.contradictedAt",)) == it.known
    it.see(ours(REMEDIATION))
    assert it.known is None
    it.sink.lost(DEFINITION, Obstacle("away", is_connection=True))
    assert it.known is None
    it.sink.lost(DEFINITION, Obstacle("forbidden"))
    assert Unkept(unread="forbidden") == it.known
    it.see(ours(REMEDIATION))
    it.sink.gone(Seen(DEFINITION_AT, "u", "2", None))
    assert Unkept() == it.known
    it.sink.unreadable(DEFINITION, Undecodable(DEFINITION_AT, "u", "3", "garbage"))
    assert it.known is not None
    assert "garbage" in it.known.unread


def test_what_was_out_of_sight_is_listed_again() -> None:
    """A stream tells changes only, and a definition hardly ever changes; what is known needs no list."""
    it = Listening()
    it.see(ours(REMEDIATION))
    assert it.sink.opened(DEFINITION)
    it.sink.lost(DEFINITION, Obstacle("shutting down"))
    assert not it.sink.opened(DEFINITION)
    it.list(ours(REMEDIATION))
    assert (None, True) == (it.known, it.sink.opened(DEFINITION))
    it.sink.lost(DEFINITION, Obstacle("shutting down"))
    it.list()
    assert (Unkept(), True) == (it.known, it.sink.opened(DEFINITION))


def test_what_cannot_be_read_is_not_listed_again_and_again() -> None:
    """It is there, and in no order: only its next change can mend that."""
    it = Listening()
    it.sink.lost(DEFINITION, Obstacle("shutting down"))
    it.sink.listing(DEFINITION)
    it.sink.unreadable(DEFINITION, Undecodable(DEFINITION_AT, "u", "3", "garbage"))
    it.sink.listed(DEFINITION)

    assert it.known is not None
    assert ("garbage" in it.known.unread, True) == (True, it.sink.opened(DEFINITION))


def apply(it: Bench, spec: dict[str, Any]) -> None:
    it.api.patch(CUSTOM_RESOURCE, NAME, "", {"spec": {"versions": spec["versions"]}}, "merge")


def ask(it: Bench) -> None:
    meta = {"name": MACHINE_AT.name, "namespace": MACHINE_AT.namespace}
    it.api.create(
        {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": REMEDIATION.kind, "metadata": meta, "spec": {}}
    )


def asked_for(it: Bench) -> set[str]:
    """The selectors of all reads of definitions."""
    reads = [one for _, one in it.requests if one.path.endswith("/customresourcedefinitions")]
    return {value for one in reads for key, value in one.query if key == FIELDS}


def test_a_repair_begins_when_its_definition_is_renewed(tmp_path: Path) -> None:
    """Until then not a write on the host; then at once, and nobody restarts anything."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            apply(it, older(ours(REMEDIATION)))
            Operator(it.api)
            manager = it.start()
            await until(manager.is_leading)
            ask(it)
            await until(lambda: "RecordNotKept" in manager.reasons())
            assert {f"metadata.name={NAME}", f"metadata.name={definition_name(BUDGET)}"} < asked_for(it)
            assert [] == manager.done()
            apply(it, ours(REMEDIATION))
            await until(lambda: "HoldHost" in manager.done(), what="the hold")
            await manager.end()

    within(30, story())


def test_who_may_not_read_a_definition_begins_nothing_and_says_so(tmp_path: Path) -> None:
    """A role from before that right: verdicts go on, the repair waits for it."""

    def refuse(request: Request) -> Fault | None:
        return Instead(403, FORBIDDEN) if request.path.endswith("/customresourcedefinitions") else None

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.before = refuse
            manager = it.start()
            await until(manager.is_leading)
            ask(it)
            await until(lambda: "DefinitionHidden" in manager.reasons())
            assert [] == manager.done()
            it.before = lambda request: None
            await until(lambda: "HoldHost" in manager.done(), what="the hold")
            await manager.end()

    within(30, story())


def test_a_stream_that_is_refused_once_hides_nothing_for_long(tmp_path: Path) -> None:
    """The definition was listed, and its stream met an API server that shuts down: the repair begins all the same."""
    refused: set[str] = set()

    def refuse(request: Request) -> Fault | None:
        query = dict(request.query)
        name = query.get(FIELDS, "")
        if not request.path.endswith("/customresourcedefinitions") or "watch" not in query or name in refused:
            return None
        refused.add(name)
        return Instead(503, b'{"kind":"Status","message":"apiserver is shutting down","code":503}')

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.before = refuse
            Operator(it.api)
            manager = it.start()
            await until(manager.is_leading)
            await until(lambda: f"metadata.name={NAME}" in refused, what="the refusal")
            ask(it)
            await until(lambda: "HoldHost" in manager.done(), what="the hold")
            await manager.end()

    within(30, story())


def test_plan_says_what_would_be_forgotten(tmp_path: Path) -> None:
    """As the manager would; and says where it could not look."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            apply(it, older(ours(REMEDIATION)))
            ask(it)
            plan = await on_cluster(it.kubeconfig, "", NOW.wall)
            assert "RecordNotKept" in {type(one).__name__ for entry in plan.entries for one in entry.because}
            it.before = lambda request: Instead(403, FORBIDDEN) if NAME in request.path else None
            plan = await on_cluster(it.kubeconfig, "", NOW.wall)
            assert [True] == [NAME in one for one in plan.remarks if "was not seen" in one]

    within(30, story())
