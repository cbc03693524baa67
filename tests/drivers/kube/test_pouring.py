"""The first list as the beginning of the first stream: what it saves, and that it never says more than it knows."""

from __future__ import annotations

import asyncio
import itertools

import msgspec
import pytest
from aiohttp import web
from tests.drivers.kube.scripted import (
    QUICK,
    Handler,
    a_list,
    a_node,
    a_status,
    event,
    run,
    stream,
    until,
    watching,
)

from noderemedy.drivers.kube.envelopes import INITIAL_EVENTS_END
from noderemedy.model.time import Span

POURED = msgspec.structs.replace(QUICK, is_poured=True)
HASTY = msgspec.structs.replace(POURED, list_patience=Span(300), silence=Span(200))
SOME = event("ADDED", a_node("b", 9)) + event("ADDED", a_node("a", 5))
PAGES = a_list(20, a_node("c", 15))
FORBIDDEN = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"


def the_end(version: int) -> bytes:
    meta = {"resourceVersion": str(version), "annotations": {INITIAL_EVENTS_END: "true"}}
    return event("BOOKMARK", {"metadata": meta})


def test_one_stream_is_the_list_and_what_follows() -> None:
    """What was there comes in any order of versions, is complete at the bookmark that says so, and is followed on."""

    async def test() -> None:
        later = event("MODIFIED", a_node("a", 11))
        async with watching(stream(SOME, the_end(10), later), settings=POURED) as (api, sink):
            await sink.until("seen", "a", "11")
            assert [("listing",), ("seen", "b", "9"), ("seen", "a", "5"), ("listed",), ("seen", "a", "11")] == sink.log
            assert 1 == len(api.requests)
            asked = dict(api.requests[0].query)
            assert ("true", "NotOlderThan") == (asked["sendInitialEvents"], asked["resourceVersionMatch"])
            assert "resourceVersion" not in asked

    run(test())


def test_the_next_stream_goes_on_from_the_end_of_the_list() -> None:
    """A quiet stream that ends is followed by one from the version of the bookmark, without a second list."""

    async def test() -> None:
        async with watching(stream(SOME, the_end(10), then="end"), stream(), settings=POURED) as (api, sink):
            await until(lambda: len(api.requests) == 2)
            assert "10" == api.requests[1].query.get("resourceVersion")
            assert "sendInitialEvents" not in api.requests[1].query
            assert 1 == sink.log.count(("listing",))

    run(test())


def test_what_goes_before_the_list_is_complete_is_gone() -> None:
    """The server tells of changes between the objects and their end; a deletion is one."""

    async def test() -> None:
        gone = event("DELETED", a_node("b", 12))
        async with watching(stream(SOME, gone, the_end(12)), settings=POURED) as (_, sink):
            await sink.until("listed")
            assert [("seen", "a", "5"), ("gone", "b"), ("listed",)] == sink.log[-3:]

    run(test())


def test_an_older_version_after_the_list_means_a_new_list() -> None:
    """From the end of the list on time goes forward only (rule 10)."""

    async def test() -> None:
        back = event("MODIFIED", a_node("a", 6))
        async with watching(stream(SOME, the_end(10), back), PAGES, stream(), settings=POURED) as (_, sink):
            await sink.until("listed", times=2)
            assert ("seen", "a", "6") not in sink.log

    run(test())


def test_an_ordinary_bookmark_completes_nothing() -> None:
    """Only the bookmark that says it is the end of the list is: without it the list is asked for in pages."""

    async def test() -> None:
        ordinary = event("BOOKMARK", {"metadata": {"resourceVersion": "10"}})
        async with watching(stream(SOME, ordinary, then="end"), PAGES, stream(), settings=POURED) as (api, sink):
            await sink.until("listed")
            assert [("listing",), ("seen", "c", "15"), ("listed",)] == sink.log[-3:]
            assert [False, True] == ["limit" in request.query for request in api.requests[:2]]

    run(test())


@pytest.mark.parametrize(
    "first",
    [
        a_status(422, FORBIDDEN),
        a_status(400, "unknown parameter"),
        a_status(503, "busy"),
        stream(SOME, then="cut"),
        stream(SOME, b"<html>\n"),
        stream(SOME, event("ERROR", {"kind": "Status", "code": 500, "message": "no"})),
    ],
    ids=["gate off", "unknown", "busy", "cut", "garbage", "error event"],
)
def test_a_server_that_cannot_is_asked_for_pages(first: Handler) -> None:
    """Whatever comes between: the list is made in pages, at once and with no complaint about the try."""

    async def test() -> None:
        async with watching(first, PAGES, stream(), settings=POURED) as (api, sink):
            await sink.until("listed")
            assert [("listing",), ("seen", "c", "15"), ("listed",)] == sink.log[-3:]
            assert [] == [one for one in sink.log if one[0] in ("lost", "away")]
            assert 1 == sum("sendInitialEvents" in request.query for request in api.requests)

    run(test())


async def slow(request: web.Request) -> web.StreamResponse:
    """Object by object, for longer than the patience of a list, and then the end."""
    response = web.StreamResponse()
    await response.prepare(request)
    for number in range(8):
        await response.write(event("ADDED", a_node(f"n{number}", number + 1)))
        await asyncio.sleep(0.08)
    await response.write(the_end(20))
    await asyncio.sleep(3600)
    return response


def test_a_slow_list_is_waited_for() -> None:
    """As long as objects come, it goes on."""

    async def test() -> None:
        async with watching(slow, PAGES, settings=HASTY) as (api, sink):
            await sink.until("listed")
            assert (8, 1) == (sum(one[0] == "seen" for one in sink.log), len(api.requests))

    run(test())


async def chatter(request: web.Request) -> web.StreamResponse:
    """Changes for ever, and never the end of the list."""
    response = web.StreamResponse()
    await response.prepare(request)
    for version in itertools.count(10):
        await response.write(event("MODIFIED", a_node("a", version)))
        await asyncio.sleep(0.01)
    return response


@pytest.mark.parametrize("endless", [stream(SOME), chatter], ids=["silent", "chattering"])
def test_a_list_without_an_end_is_given_up(endless: Handler) -> None:
    """A server that ignores what was asked for sends objects and never the end: the patience of a list is over."""

    async def test() -> None:
        async with watching(endless, PAGES, stream(), settings=HASTY) as (_, sink):
            await sink.until("listed")
            assert [("listing",), ("seen", "c", "15"), ("listed",)] == sink.log[-3:]

    run(test())
