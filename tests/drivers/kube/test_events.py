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


AGAIN = msgspec.structs.replace(NOTE, again=True, at=Wall(1_200_000))
EXISTS = a_status(409, "it exists")


def an_event(version: str = "5", **fields: Any) -> Handler:
    return answer({"metadata": {"name": NOTE.name, "resourceVersion": version}, **fields})


def test_what_came_back_is_counted(tmp_path: Path) -> None:
    """The Event that is there says how often and when last; what is merely said once more moves nothing."""

    async def test() -> None:
        told: list[str] = []
        seen = []
        async with an_endpoint() as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"})
            async with KubeClient(load(path)) as client:
                publisher = Publisher(client, "manager-1", told.append)
                task = asyncio.create_task(publisher.run())
                for minutes, again in ((0, False), (1, False), (20, True), (21, False), (30, True)):
                    publisher.publish(msgspec.structs.replace(NOTE, at=Wall(minutes * 60_000), again=again))
                    await publisher.drain()
                    event = endpoint.api.get(EVENT, NOTE.name, "default")
                    seen.append((event.get("series") or {}).get("count"))
                task.cancel()
        series = {"count": 3, "lastObservedTime": "1970-01-01T00:30:00.000000Z"}
        assert ([None, None, 2, 2, 3], series) == (seen, event.get("series"))
        assert ("1970-01-01T00:00:00.000000Z", "manager-1") == (event["eventTime"], event["reportingInstance"])
        assert ([], 0) == (told, publisher.dropped)

    run(test())


def said_again(*handlers: Handler) -> tuple[list[str], int, list[str], Any]:
    """What is asked of the API for something that came back, what is dropped and told, and the last body."""

    async def test() -> None:
        async with publishing(*handlers) as (api, publisher, told):
            publisher.publish(AGAIN)
            await publisher.drain()
            asked = [request.method for request in api.requests]
            body = await api.requests[-1].read()
            found.append((asked, publisher.dropped, told, msgspec.json.decode(body or b"null")))

    found: list[tuple[list[str], int, list[str], Any]] = []
    run(test())
    return found[0]


def test_a_series_is_moved_for_the_version_that_was_read() -> None:
    """One more than was found, and only if nobody has changed it meanwhile."""
    asked, dropped, told, body = said_again(
        EXISTS, an_event(series={"count": 7, "lastObservedTime": "1970-01-01T00:10:00.000000Z"}), answer({})
    )

    assert (["POST", "GET", "PATCH"], 0, []) == (asked, dropped, told)
    assert {
        "metadata": {"resourceVersion": "5"},
        "series": {"count": 8, "lastObservedTime": "1970-01-01T00:20:00.000000Z"},
    } == body


def test_an_event_that_expired_is_made_anew() -> None:
    """Gone when it is read or patched: it is told like the first time."""
    gone = a_status(404, "not found")

    assert (["POST", "GET", "POST"], 0, []) == said_again(EXISTS, gone, answer({}, 201))[:3]
    assert (["POST", "GET", "PATCH", "POST"], 0, []) == said_again(EXISTS, an_event(), gone, answer({}, 201))[:3]


def test_a_conflict_is_tried_once_more() -> None:
    """Somebody else has counted meanwhile; who is never done is left alone."""
    stale = a_status(409, "the object has been modified")

    asked, *rest = said_again(EXISTS, an_event("5"), stale, an_event("6", series={"count": 2}), answer({}))
    assert (["POST", "GET", "PATCH", "GET", "PATCH"], 0, []) == (asked, rest[0], rest[1])
    assert ("6", 3) == (rest[2]["metadata"]["resourceVersion"], rest[2]["series"]["count"])
    asked, dropped, told, _ = said_again(EXISTS, an_event(), stale, an_event(), stale)
    assert (["POST", "GET", "PATCH", "GET", "PATCH"], 1) == (asked, dropped)
    assert ["an event was refused with status 409 (the object has been modified)"] == told


def test_roles_of_an_older_version_are_named() -> None:
    """Who may create and not read is told once which right is missing, and the first Event stands."""
    asked, dropped, told, _ = said_again(EXISTS, a_status(403, "no"))

    assert (["POST", "GET"], 1) == (asked, dropped)
    assert ["an event was refused with status 403; grant get on events.events.k8s.io (no)"] == told
    told = said_again(EXISTS, an_event(), a_status(403, "no"))[2]
    assert ["an event was refused with status 403; grant patch on events.events.k8s.io (no)"] == told


def test_a_missing_right_is_told_until_it_is_there() -> None:
    """Events that are made go out all the while: they do not make the next one that cannot be counted news."""

    async def test() -> None:
        no, made = a_status(403, "no"), answer({}, 201)
        counted = (EXISTS, an_event(), answer({}))
        async with publishing(EXISTS, no, made, EXISTS, no, *counted, EXISTS, no) as (_, publisher, told):
            for note in (AGAIN, NOTE, AGAIN, AGAIN, AGAIN):
                publisher.publish(note)
            await publisher.drain()
            assert (3, 2) == (publisher.dropped, len(told))

    run(test())


def test_garbage_for_an_event_is_dropped() -> None:
    """What cannot be understood is not counted up, and the next Event goes out."""

    async def test() -> None:
        garbage = answer({"metadata": "?"})
        async with publishing(EXISTS, garbage, answer({}, 201)) as (api, publisher, told):
            publisher.publish(AGAIN)
            publisher.publish(NOTE)
            await publisher.drain()
            assert (["POST", "GET", "POST"], 1, 1) == (
                [request.method for request in api.requests],
                publisher.dropped,
                len(told),
            )

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
