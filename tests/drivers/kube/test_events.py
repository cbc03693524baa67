"""Events: one request each, bounded, never in anybody's way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.drivers.kube.processes import an_endpoint, kubeconfig
from tests.drivers.kube.scripted import Api, Handler, a_status, answer, run, until

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.events import Note, Publisher, render, shorten
from noderemedy.model.ids import EVENT, HOST, NODE, ref
from noderemedy.model.time import Wall

NOTE = Note(
    "worker.node-deleted.7", ref(NODE, "worker"), "uid-1", "v1", "NodeDeleted", "it was off", "DeleteNode", Wall(1_000)
)


@contextlib.asynccontextmanager
async def publishing(*handlers: Handler, bound: int = 1000) -> AsyncIterator[tuple[Api, Publisher, list[str]]]:
    told: list[str] = []
    async with Api(*handlers).running() as api, KubeClient(api.access()) as client:
        publisher = Publisher(client, "manager-1", told.append, bound)
        task = asyncio.create_task(publisher.run())
        yield api, publisher, told
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_an_event_is_what_kubectl_describe_shows() -> None:
    """All fields that the API demands, in the namespace `default` for an object without one."""
    request = render(NOTE, "manager-1")

    assert ("POST", "/apis/events.k8s.io/v1/namespaces/default/events") == (request.method, request.path)
    assert {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "worker.node-deleted.7", "namespace": "default"},
        "eventTime": "1970-01-01T00:00:01.000000Z",
        "reportingController": "node-remedy.dev/manager",
        "reportingInstance": "manager-1",
        "action": "DeleteNode",
        "reason": "NodeDeleted",
        "type": "Normal",
        "note": "it was off",
        "regarding": {"apiVersion": "v1", "kind": "Node", "name": "worker", "uid": "uid-1"},
    } == msgspec.json.decode(request.body)


def test_an_event_lives_beside_its_object() -> None:
    """An object with a namespace has its events there."""
    note = msgspec.structs.replace(NOTE, regarding=ref(HOST, "h", "metal"), warning=True)

    body = msgspec.json.decode(render(note, "m").body)

    assert ("metal", "metal", "Warning") == (
        body["metadata"]["namespace"],
        body["regarding"]["namespace"],
        body["type"],
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("abc", "abc"), ("x" * 10, "x" * 10), ("x" * 11, "x" * 7 + "…"), ("ä" * 6, "äää…")]
)
def test_long_texts_are_cut_by_bytes(text: str, expected: str) -> None:
    """The API counts bytes; a character is never cut in two."""
    assert expected == shorten(text, 10)
    assert len(shorten(text, 10).encode()) <= 10


def test_the_api_accepts_it_and_twice_is_once(tmp_path: Path) -> None:
    """Published twice under one name, it is one Event, and nobody is told of a failure."""

    async def test() -> None:
        told: list[str] = []
        async with an_endpoint() as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"})
            async with KubeClient(load(path)) as client:
                publisher = Publisher(client, "manager-1", told.append)
                task = asyncio.create_task(publisher.run())
                publisher.publish(NOTE)
                publisher.publish(msgspec.structs.replace(NOTE, note="x" * 5000))
                await publisher.drain()
                task.cancel()
            event = endpoint.api.find(EVENT, NOTE.name, "default")
            assert event is not None
            assert ("it was off", [], 0) == (event["note"], told, publisher.dropped)

    run(test())


def test_a_failure_is_told_once_and_dropped() -> None:
    """Forbidden: one message with the remedy for any number of events, and the next success ends it."""

    async def test() -> None:
        no = a_status(403, "no")
        async with publishing(no, no, answer({}, 201), no, answer({}, 201)) as (api, publisher, told):
            for _ in range(5):
                publisher.publish(NOTE)
            await publisher.drain()
            assert (5, 3) == (len(api.requests), publisher.dropped)
            assert ["an event was refused with status 403; grant create on events.events.k8s.io (no)"] * 2 == told

    run(test())


def test_publishing_never_blocks() -> None:
    """A server that does not answer costs events, not time."""

    async def test() -> None:
        async def hang(_request: Any) -> Any:
            await asyncio.sleep(3600)

        async with publishing(hang, bound=2) as (api, publisher, told):
            publisher.publish(NOTE)
            await until(lambda: bool(api.requests))
            for _ in range(5):
                publisher.publish(NOTE)
            assert (3, ["too many events at once; some are dropped"]) == (publisher.dropped, told)

    run(test())


def test_events_give_way_to_who_is_in_a_hurry() -> None:
    """One waits until it is calm, all that came meanwhile go with it; a queue that runs full, or an end, waits not."""

    async def test() -> None:
        calm = asyncio.Event()
        told: list[str] = []
        asked: list[int] = []

        async def give_way() -> None:
            asked.append(len(api.requests))
            await calm.wait()

        async with Api(*[answer({}, 201)] * 12).running() as api, KubeClient(api.access()) as client:
            publisher = Publisher(client, "manager-1", told.append, bound=8, give_way=give_way)
            task = asyncio.create_task(publisher.run())
            for _ in range(3):
                publisher.publish(NOTE)
            await until(lambda: asked == [0])
            assert [] == api.requests
            calm.set()
            await until(lambda: len(api.requests) == 3)
            assert [0] == asked
            calm.clear()
            for _ in range(6):
                publisher.publish(NOTE)
            await until(lambda: len(api.requests) == 9 or asked != [0])
            assert (9, [0]) == (len(api.requests), asked)
            publisher.publish(NOTE)
            await publisher.drain()
            assert (10, [0]) == (len(api.requests), asked)
            task.cancel()

    run(test())
