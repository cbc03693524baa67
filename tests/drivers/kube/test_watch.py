"""The ten rules of watching, each against a server that breaks exactly that one."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web
from tests.drivers.kube.scripted import (
    QUICK,
    a_list,
    a_node,
    a_status,
    answer,
    bookmark,
    event,
    run,
    stream,
    until,
    watching,
)

from noderemedy.drivers.kube.discovery import NotServed
from noderemedy.model.ids import NODE
from noderemedy.model.time import Span
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import decode_event
from noderemedy.wire.pages import decode_page

GONE = {"kind": "Status", "code": 410, "message": "too old resource version"}
FIRST = a_list(10, a_node("a", 5))
AGAIN = a_list(20, a_node("b", 15))
ONCE = [("listing",), ("seen", "a", "5"), ("listed",)]
TWICE = [*ONCE, ("listing",), ("seen", "b", "15"), ("listed",)]
BAD = {"spec": {"unschedulable": "yes"}}


def test_list_then_events() -> None:
    """What is listed is seen, then what the stream says, from the list's version on."""

    async def test() -> None:
        events = event("ADDED", a_node("b", 11)) + event("DELETED", a_node("a", 12))
        async with watching(FIRST, stream(events)) as (api, sink):
            await sink.until("gone", "a")
            assert [*ONCE, ("seen", "b", "11"), ("gone", "a")] == sink.log
            assert "10" == api.watches()[0].query["resourceVersion"]

    run(test())


def test_the_first_stream_waits_a_moment() -> None:
    """At a start all kinds are listed before connections are opened for their streams; nothing is missed by that."""

    async def test() -> None:
        late = msgspec.structs.replace(QUICK, first_stream=Span(60))
        async with watching(FIRST, stream(event("ADDED", a_node("b", 11))), settings=late) as (api, sink):
            await sink.until("listed")
            begun = asyncio.get_running_loop().time()
            await sink.until("seen", "b", "11")
            assert asyncio.get_running_loop().time() - begun > 0.05
            assert ["10"] == [one.query["resourceVersion"] for one in api.watches()]

    run(test())


def test_pages_are_fetched_one_after_the_other() -> None:
    """The list comes in pages of the set size, each asked for with the token of the one before."""

    async def test() -> None:
        pages = (a_list(10, a_node("a", 5), token="more"), a_list(10, a_node("b", 6)))
        async with watching(*pages, stream()) as (api, sink):
            await sink.until("listed")
            assert [("listing",), ("seen", "a", "5"), ("seen", "b", "6"), ("listed",)] == sink.log
            assert [{"limit": "500"}, {"limit": "500", "continue": "more"}] == [
                dict(request.query) for request in api.lists()
            ]

    run(test())


def test_the_next_page_is_on_its_way_while_one_is_passed_on() -> None:
    """The server works on it meanwhile: on the next one, and not on all that follow."""

    async def test() -> None:
        first = [a_node(f"a{number}", 1) for number in range(300)]
        pages = (a_list(10, *first, token="2"), a_list(10, a_node("b", 2), token="3"), a_list(10, a_node("c", 3)))
        async with watching(*pages, stream(), settings=msgspec.structs.replace(QUICK, breath=1)) as (api, sink):
            await sink.until("seen", "a299", "1")
            asked = len(api.lists())
            await sink.until("listed")
            assert (2, 3, 302) == (asked, len(api.lists()), sum(one[0] == "seen" for one in sink.log))

    run(test())


def test_the_next_page_is_asked_for_before_one_is_read() -> None:
    """Reading takes as long as the server needs for the next one: both work at the same time."""
    done: list[str] = []
    send = aiohttp.ClientRequest.send

    async def sent(self: aiohttp.ClientRequest, *more: Any) -> Any:
        answer = await send(self, *more)
        if "limit" in self.url.query:
            done.append(f"asked {self.url.query.get('continue', '')}".strip())
        return answer

    def read(body: bytes) -> Any:
        done.append("read")
        return decode_page(NODE, body)

    async def test() -> None:
        pages = (a_list(10, a_node("a", 1), token="2"), a_list(10, a_node("b", 2), token="3"), a_list(10))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(aiohttp.ClientRequest, "send", sent)
            async with watching(*pages, stream(), decode_page=read) as (_, sink):
                await sink.until("listed")
            assert ["asked", "asked 2", "read", "asked 3", "read", "read"] == done

    run(test())


def test_small_objects_come_in_larger_pages() -> None:
    """Where the first page has room for many more, the list begins anew with as many as fit, and none is seen twice."""

    async def test() -> None:
        small = a_list(10, a_node("a", 5), token="more")
        pages = (small, a_list(11, a_node("a", 5), token="2"), a_list(11, a_node("b", 6)))
        roomy = msgspec.structs.replace(QUICK, page=10, page_bytes=100_000)
        async with watching(*pages, stream(), settings=roomy) as (api, sink):
            await sink.until("listed")
            assert [("listing",), ("seen", "a", "5"), ("seen", "b", "6"), ("listed",)] == sink.log
            first, *others = [int(request.query["limit"]) for request in api.lists()]
            assert (10, True) == (first, others[0] == others[1] > 5_000)
            await until(lambda: bool(api.watches()))
            assert "11" == api.watches()[0].query["resourceVersion"]

    run(test())


@pytest.mark.parametrize(("token", "room"), [("", 100_000), ("2", 150)], ids=["it was all", "they are large"])
def test_a_first_page_that_is_well_used_is_taken(token: str, room: int) -> None:
    """No list begins anew where there is no more, or hardly more would fit."""

    async def test() -> None:
        pages = (a_list(10, a_node("a", 5), token=token), a_list(10, a_node("b", 6)))
        async with watching(*pages, stream(), settings=msgspec.structs.replace(QUICK, page=10, page_bytes=room)) as (
            api,
            sink,
        ):
            await sink.until("seen", "a", "5")
            await until(lambda: len(api.requests) >= 2)
            assert {"10"} == {request.query["limit"] for request in api.lists()}

    run(test())


def test_an_expired_page_starts_over_in_one_piece() -> None:
    """410 on a later page: the list begins again, without pages that could expire."""

    async def test() -> None:
        async with watching(a_list(10, a_node("a", 5), token="old"), a_status(410), AGAIN, stream()) as (api, sink):
            await sink.until("listed")
            assert [("listing",), ("seen", "a", "5"), ("listing",), ("seen", "b", "15"), ("listed",)] == sink.log
            assert {} == dict(api.lists()[2].query)

    run(test())


@pytest.mark.parametrize(
    "expired",
    [
        a_status(410, "too old resource version"),
        stream(event("ERROR", GONE)),
        stream(msgspec.json.encode(GONE) + b"\n"),
        stream(msgspec.json.encode(GONE), then="end"),
        stream(event("ERROR", {"kind": "Status", "code": 500, "message": "etcd event received with PrevKv=nil"})),
        stream(event("ERROR", {})),
    ],
    ids=["status", "event", "status-in-200", "status-without-line-end", "other-error-event", "empty-error"],
)
def test_rules_1_2_5_an_error_means_a_new_list(expired: Any) -> None:
    """410 in each of its forms, or any ERROR event: list again, never go on from the version at hand."""

    async def test() -> None:
        async with watching(FIRST, expired, AGAIN, stream()) as (api, sink):
            await sink.until("seen", "b", "15")
            await until(lambda: len(api.watches()) >= 2)
            assert TWICE == sink.log
            assert ["10", "20"] == [request.query["resourceVersion"] for request in api.watches()]

    run(test())


def test_rule_2_the_version_of_an_error_event_is_not_used() -> None:
    """An ERROR object that carries a version does not become the place to go on from."""

    async def test() -> None:
        error = event("ERROR", {**GONE, "metadata": {"resourceVersion": "99"}})
        async with watching(FIRST, stream(event("ADDED", a_node("c", 11)) + error), AGAIN, stream()) as (api, _sink):
            await until(lambda: len(api.watches()) >= 2)
            assert "20" == api.watches()[1].query["resourceVersion"]

    run(test())


def test_rule_3_bookmarks_are_asked_for_and_used() -> None:
    """After a bookmark the next stream goes on from it, without a new list."""

    async def test() -> None:
        async with watching(FIRST, stream(bookmark(17), then="end"), stream()) as (api, sink):
            await until(lambda: len(api.watches()) >= 2)
            assert "true" == api.watches()[0].query["allowWatchBookmarks"]
            assert "17" == api.watches()[1].query["resourceVersion"]
            assert ONCE == sink.log

    run(test())


def test_rule_3_silence_means_a_new_connection() -> None:
    """A stream that says nothing for too long is left, and followed by another from the same version."""

    async def test() -> None:
        deaf, alive = stream(then="hang"), stream(event("ADDED", a_node("b", 11)))
        soon = msgspec.structs.replace(QUICK, silence=Span(300))
        async with watching(FIRST, deaf, alive, settings=soon) as (api, sink):
            await sink.until("seen", "b", "11")
            assert ["10", "10"] == [request.query["resourceVersion"] for request in api.watches()]

    run(test())


def test_rule_4_every_stream_has_a_drawn_end() -> None:
    """timeoutSeconds lies between five and ten minutes and differs from stream to stream."""

    async def test() -> None:
        async with watching(FIRST, stream(then="end")) as (api, _sink):
            await until(lambda: len(api.watches()) >= 5)
            seconds = [int(request.query["timeoutSeconds"]) for request in api.watches()]
            assert all(300 <= second <= 600 for second in seconds)
            assert len(set(seconds)) > 1

    run(test())


@pytest.mark.parametrize("size", [64 * 1024, 2 * 1024 * 1024])
def test_rule_6_lines_may_be_long(size: int) -> None:
    """An event of megabytes arrives whole."""

    async def test() -> None:
        large = a_node("large", 11)
        large["metadata"]["annotations"] = {"a": "x" * size}
        async with watching(FIRST, stream(event("ADDED", large))) as (_api, sink):
            await sink.until("seen", "large", "11")

    run(test())


def test_a_line_cut_into_pieces_is_one_line() -> None:
    """Where chunks begin and end means nothing."""

    async def test() -> None:
        line = event("ADDED", a_node("b", 11)) + event("ADDED", a_node("c", 12))
        async with watching(FIRST, stream(*[line[i : i + 7] for i in range(0, len(line), 7)])) as (_api, sink):
            await sink.until("seen", "c", "12")
            assert [*ONCE, ("seen", "b", "11"), ("seen", "c", "12")] == sink.log

    run(test())


QUICK_WAYS = {"decode_event": partial(decode_event, NODE), "decode_page": partial(decode_page, NODE)}


@pytest.mark.parametrize("ways", [{}, QUICK_WAYS], ids=["object by object", "in one pass"])
def test_rule_7_an_unreadable_object_is_put_aside(ways: Any) -> None:
    """In a list and in a stream the others go on; the stream is not left, and goes on behind it."""

    async def test() -> None:
        listed = a_list(10, a_node("bad", 4, **BAD), a_node("a", 5))
        events = event("MODIFIED", a_node("worse", 11, **BAD)) + event("ADDED", a_node("b", 12))
        async with watching(listed, stream(events, then="end"), stream(), **ways) as (api, sink):
            await sink.until("seen", "b", "12")
            await until(lambda: len(api.watches()) >= 2)
            expected = [("listing",), ("unreadable", "bad"), *ONCE[1:], ("unreadable", "worse"), ("seen", "b", "12")]
            assert expected == sink.log
            assert "12" == api.watches()[1].query["resourceVersion"]

    run(test())


def test_rule_7_an_unreadable_object_that_is_deleted_is_gone() -> None:
    """Whoever put it aside hears that it went."""

    async def test() -> None:
        async with watching(FIRST, stream(event("DELETED", a_node("bad", 11, **BAD)))) as (_api, sink):
            await sink.until("gone", "bad")

    run(test())


BOTTOMLESS = b'{"type":"ADDED","object":' + b"[" * 100_000 + b"\n"


@pytest.mark.parametrize(
    "line", [b"<html>\n", b"[]\n", b'{"type":3}\n', b'{"type":"BOOKMARK","object":{}}\n', BOTTOMLESS]
)
def test_rule_7_a_line_that_is_no_event_means_a_new_list(line: bytes) -> None:
    """Nobody can tell which change was lost, so all are asked for."""

    async def test() -> None:
        async with watching(FIRST, stream(line), AGAIN, stream()) as (_api, sink):
            await sink.until("seen", "b", "15")
            assert [*ONCE, ("unreadable", ""), *TWICE[3:]] == sink.log[:7]

    run(test())


def test_rule_7_bytes_that_are_no_text_are_put_aside() -> None:
    """Invalid UTF-8 inside an object does not kill the watch."""

    async def test() -> None:
        broken = event("ADDED", a_node("bad", 11)).replace(b'"bad"', b'"\xff\xfe"')
        async with watching(FIRST, stream(broken + event("ADDED", a_node("b", 12)))) as (_api, sink):
            await sink.until("seen", "b", "12")
            assert ("unreadable", "") == sink.log[3]

    run(test())


def test_rule_8_others_get_their_turn_during_a_long_list() -> None:
    """While ten thousand objects are listed, other tasks run every hundred of them."""

    async def test() -> None:
        nodes = [a_node(f"n{number}", number) for number in range(1, 10_001)]
        async with watching(a_list(10_001, *nodes), stream()) as (_api, sink):
            await sink.until("listing")
            turns = 0
            while ("listed",) not in sink.log:
                await asyncio.sleep(0)
                turns += 1
            assert turns >= 90

    run(test())


def test_rule_9_listed_is_said_when_the_list_is_complete() -> None:
    """Nothing is complete while a page is missing; lines are contacts, and pages are none."""

    async def test() -> None:
        wait = asyncio.Event()

        async def second(request: Any) -> Any:
            await wait.wait()
            return await a_list(10, a_node("b", 6))(request)

        async with watching(a_list(10, a_node("a", 5), token="more"), second, stream(bookmark(11))) as (_api, sink):
            await sink.until("seen", "a", "5")
            assert ("listed",) not in sink.log
            wait.set()
            await sink.until("listed")
            assert 0 == sink.contacts
            await until(lambda: sink.contacts == 1)

    run(test())


def test_rule_10_the_same_version_is_passed_on_once() -> None:
    """A repeated event is dropped; the deletion of that very version is not."""

    async def test() -> None:
        node = a_node("b", 11)
        events = event("ADDED", node) + event("ADDED", node) + event("DELETED", node)
        async with watching(FIRST, stream(events)) as (_api, sink):
            await sink.until("gone", "b")
            assert [*ONCE, ("seen", "b", "11"), ("gone", "b")] == sink.log

    run(test())


@pytest.mark.parametrize("travel", [event("MODIFIED", a_node("a", 7)), bookmark(9)], ids=["event", "bookmark"])
def test_rule_10_time_travel_means_a_new_list(travel: bytes) -> None:
    """A version older than one already seen is not believed: list again."""

    async def test() -> None:
        async with watching(FIRST, stream(event("ADDED", a_node("c", 12)) + travel), AGAIN, stream()) as (_api, sink):
            await sink.until("seen", "b", "15")
            assert [*ONCE, ("seen", "c", "12"), *TWICE[3:]] == sink.log

    run(test())


def test_rule_10_a_list_from_the_past_is_doubted_before_it_is_believed() -> None:
    """An older list is asked for again; when it stays (a restored etcd) it becomes the truth."""

    async def test() -> None:
        past = a_list(3, a_node("old", 2))
        async with watching(AGAIN, a_status(410), past, past, past, past, stream()) as (api, sink):
            await sink.until("seen", "old", "2")
            assert 5 == len(api.lists())
            assert 1 == sum(entry[0] == "lost" for entry in sink.log)
            assert [("listing",), ("seen", "old", "2"), ("listed",)] == sink.log[-3:]

    run(test())


def test_a_cut_stream_goes_on_from_the_last_version() -> None:
    """A connection that breaks in the middle of a line loses nothing and repeats nothing."""

    async def test() -> None:
        half = event("ADDED", a_node("c", 12))[:20]
        cut = stream(event("ADDED", a_node("b", 11)) + half, then="cut")
        async with watching(FIRST, cut, stream(event("ADDED", a_node("c", 12)))) as (api, sink):
            await sink.until("seen", "c", "12")
            assert ["10", "11"] == [request.query["resourceVersion"] for request in api.watches()]
            seen = [entry for entry in sink.log if entry[0] == "seen"]
            assert [("seen", "a", "5"), ("seen", "b", "11"), ("seen", "c", "12")] == seen

    run(test())


def test_half_a_line_at_the_end_of_a_stream_is_dropped() -> None:
    """A server that ends a stream in good order in the middle of an event: it comes again with the next stream."""

    async def test() -> None:
        half = event("ADDED", a_node("b", 11))[:20]
        async with watching(FIRST, stream(half, then="end"), stream(event("ADDED", a_node("b", 11)))) as (api, sink):
            await sink.until("seen", "b", "11")
            assert (2, 1) == (len(api.watches()), len(api.lists()))
            assert [*ONCE, ("seen", "b", "11")] == sink.log

    run(test())


def test_forbidden_names_the_resource_the_identity_and_the_remedy() -> None:
    """One message, not one per attempt; the watch goes on by itself when the right is granted."""

    async def test() -> None:
        no = a_status(403, 'nodes is forbidden: User "system:serviceaccount:a:b" cannot list resource "nodes"')
        async with watching(no, no, no, FIRST, stream()) as (_api, sink):
            await sink.until("listed")
            why = "cannot watch nodes: forbidden; grant list,watch on nodes to system:serviceaccount:a:b"
            assert [("lost", why), *ONCE] == sink.log

    run(test())


def test_a_watch_that_is_forbidden_after_a_good_list_is_told_and_retried() -> None:
    """The right to list alone is not enough; when the watch is allowed it is listed once more."""

    async def test() -> None:
        no = a_status(403, "no")
        async with watching(FIRST, no, no, stream(), FIRST, stream(event("ADDED", a_node("b", 11)))) as (api, sink):
            await sink.until("seen", "b", "11")
            assert 2 == len(api.lists())
            assert 1 == sum(entry[0] == "lost" for entry in sink.log)

    run(test())


def test_a_kind_that_appears_later_is_picked_up_where_it_is_served() -> None:
    """After a 404 the place is looked up again, and the new version of the API is used."""

    async def test() -> None:
        async def locate() -> Resource:
            return Resource(NODE, "v2", "nodes", False)

        async with watching(a_status(404), FIRST, stream(), locate=locate) as (api, sink):
            await sink.until("listed")
            assert ["/api/v1/nodes", "/api/v2/nodes"] == [request.path for request in api.lists()]
            assert "lost" == sink.log[0][0]

    run(test())


def test_what_discovery_does_not_know_is_not_listed() -> None:
    """A kind that is not served costs one question now and then; it is listed once the answer is another one."""

    async def test() -> None:
        answers: list[Resource | NotServed] = [NotServed(), NotServed(), Resource(NODE, "v2", "nodes", False)]

        async def locate() -> Resource | NotServed:
            return answers.pop(0)

        async with watching(a_status(404), FIRST, stream(), locate=locate) as (api, sink):
            await sink.until("listed")
            assert ([], 2) == (answers, len(api.lists()))

    run(test())


def test_retry_after_is_honoured() -> None:
    """429 with Retry-After: nothing is asked before that time is over."""

    async def test() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        async with watching(a_status(429, "slow", {"Retry-After": "1"}), FIRST, stream()) as (_api, sink):
            await sink.until("listed")
            assert loop.time() - begun >= 1.0

    run(test())


def test_a_server_that_goes_away_is_reported_once_and_found_again() -> None:
    """A list that is refused, then garbage, then cut, then good: one message per cause, and only one is an outage."""

    async def test() -> None:
        troubles = (a_status(503, "no"), a_status(503, "no"), answer([1, 2]), stream(then="cut"))
        async with watching(*troubles, FIRST, stream()) as (_api, sink):
            await sink.until("listed")
            assert ["lost", "lost", "away", "listing", "seen", "listed"] == [entry[0] for entry in sink.log]

    run(test())


def test_an_unreachable_server_is_named() -> None:
    """Nobody listens: the message names the server and the cause."""

    async def test() -> None:
        async with watching(FIRST, stream(then="cut")) as (api, sink):
            await sink.until("listed")
            await until(lambda: any(entry[0] == "away" for entry in sink.log))
            why = next(entry[1] for entry in sink.log if entry[0] == "away")
            assert f"API server http://{api.url} (the test): closed the connection" in why

    run(test())


def nested(name: str, version: int, depth: int) -> bytes:
    """A node with a field that we do not read, so deep."""
    return msgspec.json.encode(a_node(name, version))[:-1] + b',"x":' + b"[" * depth + b"]" * depth + b"}"


def test_what_is_nested_as_deep_as_the_api_allows_is_read() -> None:
    """Ten thousand levels in one object, listed or watched, spoil neither the list nor the stream."""

    async def test() -> None:
        page = b'{"metadata":{"resourceVersion":"10"},"items":[' + nested("a", 5, 9_900) + b"]}"
        event_ = b'{"type":"ADDED","object":' + nested("b", 11, 9_900) + b"}\n"
        async with watching(stream(page, then="end"), stream(event_)) as (_api, sink):
            await sink.until("seen", "b", "11")
            assert [*ONCE, ("seen", "b", "11")] == sink.log

    run(test())


def test_a_quiet_stream_shows_life_when_it_opens() -> None:
    """Nothing may happen to a kind for long; that its stream was accepted is a sign of life already."""

    async def test() -> None:
        async with watching(FIRST, stream(then="cut"), stream()) as (api, sink):
            await until(lambda: any(entry[0] == "away" for entry in sink.log))
            await until(lambda: len(api.watches()) == 2 and sink.opens == 2)
            assert 0 == sink.contacts

    run(test())


def test_a_line_that_is_not_believed_is_no_contact() -> None:
    """A server that is back accepts a stream from before, and says in its first line that it knows nothing of it."""

    async def test() -> None:
        async with watching(FIRST, stream(then="cut"), stream(event("ERROR", GONE), then="end"), FIRST, stream()) as (
            _api,
            sink,
        ):
            await sink.until("listed", times=2)
            assert 0 == sink.contacts

    run(test())


def test_a_server_that_is_back_is_listed_soon() -> None:
    """Pauses have grown during its outage; the first line, be it an error, ends them."""

    async def cut(request: Any) -> Any:
        request.transport.abort()
        return web.Response()

    async def test() -> None:
        slow = msgspec.structs.replace(QUICK, first_pause=Span(50), longest_pause=Span(60_000))
        away = (cut,) * 10  # each stream is tried twice
        async with watching(FIRST, *away, stream(event("ERROR", GONE), then="end"), FIRST, stream(), settings=slow) as (
            api,
            sink,
        ):
            await until(lambda: sink.opens == 1)
            begun = asyncio.get_running_loop().time()
            await sink.until("listed", times=2)
            assert asyncio.get_running_loop().time() - begun < 0.6
            assert 11 <= len(api.watches())

    run(test())


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "Status", "metadata": {}, "status": "Failure", "message": "etcd is not ready", "code": 500},
        {"metadata": {"resourceVersion": "12"}},
        {"metadata": {}, "items": []},
        {"kind": "Table", "metadata": {"resourceVersion": "12"}, "rows": [1]},
    ],
)
def test_rule_5_what_is_no_list_empties_nothing(body: dict[str, Any]) -> None:
    """A proxy answers 200 with something else: that is told, nothing is gone, and it is asked again."""

    async def test() -> None:
        lists = (FIRST, stream(event("ERROR", GONE), then="end"), answer(body), FIRST, stream())
        async with watching(*lists) as (_api, sink):
            await sink.until("listed", times=2)
            listed = ("listing",), ("seen", "a", "5"), ("listed",)
            lost = ("lost", "the list of nodes is not JSON of a list with a version")
            assert [*listed, lost, *listed] == sink.log

    run(test())


def test_a_stream_that_nobody_believes_any_more_is_listed_at_once() -> None:
    """Pauses have grown while it was refused; once it is accepted nobody waits for them, nor for a line."""

    async def test() -> None:
        slow = msgspec.structs.replace(QUICK, first_pause=Span(50), longest_pause=Span(60_000))
        async with watching(FIRST, *[a_status(503, "no")] * 5, stream(), FIRST, stream(), settings=slow) as (api, sink):
            await until(lambda: sink.opens == 1)
            begun = asyncio.get_running_loop().time()
            await until(lambda: sink.opens == 2)
            assert asyncio.get_running_loop().time() - begun < 0.6
            assert (7, 2) == (len(api.watches()), len(api.lists()))

    run(test())


def test_a_server_that_accepts_now_and_then_is_not_hammered() -> None:
    """Lists are dear: a stream that is accepted and refused by turns is asked for less and less often."""

    async def test() -> None:
        story = [FIRST, *[a_status(503, "no"), stream(), FIRST] * 40]
        slow = msgspec.structs.replace(QUICK, first_pause=Span(20), longest_pause=Span(60_000))
        async with watching(*story, settings=slow) as (api, _sink):
            await asyncio.sleep(0.6)
            assert len(api.lists()) <= 8

    run(test())


def test_a_server_that_forgets_at_once_is_not_hammered() -> None:
    """Lists are dear: who says after each that it has forgotten it is asked less and less often."""

    async def forgets(request: web.Request) -> web.StreamResponse:
        return await (stream(event("ERROR", GONE), then="end") if "watch" in request.query else FIRST)(request)

    async def test() -> None:
        slow = msgspec.structs.replace(QUICK, first_pause=Span(20), longest_pause=Span(60_000))
        async with watching(forgets, settings=slow) as (api, _sink):
            await asyncio.sleep(0.6)
            assert len(api.lists()) <= 8

    run(test())


def test_a_stream_that_ends_at_once_is_not_asked_for_without_pause() -> None:
    """A server that ends every stream immediately is not hammered."""

    async def test() -> None:
        slow = msgspec.structs.replace(QUICK, first_pause=Span(200), longest_pause=Span(400))
        async with watching(FIRST, stream(then="end"), settings=slow) as (api, sink):
            await sink.until("listed")
            await asyncio.sleep(0.5)
            assert len(api.watches()) <= 4

    run(test())
