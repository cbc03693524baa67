"""The client: what is an answer, what is not, and that nothing is ever sent twice without being asked to."""

from __future__ import annotations

import asyncio
import socket
import traceback
from typing import Any

import pytest
from aiohttp import web
from tests.drivers.kube.scripted import Api, a_status, answer, run, stream, until

from noderemedy.drivers.kube.client import LISTS_AT_ONCE, KubeClient
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.credentials import Fixed, Identity
from noderemedy.drivers.kube.errors import BadCredentials, NoAnswer, NoCredentials, NotSent, Refused, obstacle_of
from noderemedy.drivers.kube.secret import Secret
from noderemedy.model.time import Span, Wall
from noderemedy.wire.http import Answer, Request

GET = Request("GET", "/api/v1/nodes")
PATCH = Request("PATCH", "/api/v1/nodes/a", (), b"{}", "application/merge-patch+json")
PUT = Request("PUT", "/api/v1/nodes/a", (), b"{}", "application/json")
DELETE = Request("DELETE", "/api/v1/nodes/a")


async def hang(_request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    raise AssertionError


async def vanish(request: web.Request) -> web.StreamResponse:
    """Apply, and never answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


class Two:
    """Credentials whose first token is refused."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.renewals = 0

    async def current(self) -> Identity:
        return Identity(Secret(self.tokens[0]))

    async def renew(self, refused: Identity) -> Identity:
        self.renewals += 1
        self.tokens = self.tokens[1:] or self.tokens
        return await self.current()


class Broken:
    """Credentials that cannot be had."""

    async def current(self) -> Identity:
        raise BadCredentials("user 'x' of /f: the exec plugin failed; run it by hand")

    async def renew(self, refused: Identity) -> Identity:
        return await self.current()


async def only_second(request: web.Request) -> web.StreamResponse:
    if request.headers.get("Authorization") == "Bearer second":
        return web.json_response({})
    return web.json_response({"kind": "Status", "code": 401}, status=401)


@pytest.mark.parametrize("status", [200, 201, 400, 403, 404, 409, 410, 422, 429, 500, 503])
def test_a_status_is_an_answer(status: int) -> None:
    """Whatever the server says, it is returned, with its clock and its wish."""

    async def test() -> None:
        headers = {"Date": "Wed, 14 Oct 2026 12:00:00 GMT", "Retry-After": "7"}
        async with Api(answer({}, status, headers)).running() as api, KubeClient(api.access()) as client:
            expected = Answer(status, b"{}", Wall(1_791_979_200_000), Span(7_000))
            assert expected == await client.send(PATCH)

    run(test())


def test_what_is_sent_is_what_was_rendered() -> None:
    """Method, path below the server's own, query, body, type, identity and impersonation arrive as given."""

    async def test() -> None:
        bodies = []

        async def keep(request: web.Request) -> web.StreamResponse:
            bodies.append(await request.read())
            return web.json_response({})

        async with Api(keep).running() as api:
            identity = Fixed(Identity(Secret("abc")))
            headers = (("Impersonate-User", "u"), ("Impersonate-Group", "g"), ("Impersonate-Group", "h"))
            access = Access("t", f"http://{api.url}/k8s/clusters/c-1", identity, headers=headers)
            async with KubeClient(access) as client:
                query = (("fieldManager", "node-remedy"), ("labelSelector", "a=b,c+d"))
                await client.send(
                    Request("PATCH", "/api/v1/nodes/a", query, b'{"a":1}', "application/merge-patch+json")
                )
            got = api.requests[0]
            assert ("PATCH", "/k8s/clusters/c-1/api/v1/nodes/a") == (got.method, got.path)
            assert list(query) == list(got.query.items())
            assert [b'{"a":1}'] == bodies
            assert "application/merge-patch+json" == got.headers["Content-Type"]
            assert "Bearer abc" == got.headers["Authorization"]
            assert ["g", "h"] == got.headers.getall("Impersonate-Group")

    run(test())


def test_nobody_listens_means_not_sent() -> None:
    """A refused connection surely changed nothing."""

    async def test() -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            access = Access("the test", f"http://127.0.0.1:{free.getsockname()[1]}", Fixed(Identity()))
        async with KubeClient(access) as client:
            with pytest.raises(
                NotSent, match=r"cannot be reached \(Connection refused\); check that it runs, and its address"
            ):
                await client.send(PATCH)

    run(test())


@pytest.mark.parametrize("request_", [PATCH, PUT, DELETE], ids=["patch", "put", "delete"])
def test_a_write_without_an_answer_is_sent_once(request_: Request) -> None:
    """On a fresh and on a kept-alive connection: the server sees it once and we know that we do not know."""

    async def test() -> None:
        async with Api(answer({}), vanish).running() as api, KubeClient(api.access()) as client:
            await client.send(GET)
            with pytest.raises(NoAnswer, match="closed the connection"):
                await client.send(request_, retry=True)
            assert 2 == len(api.requests)

    run(test())


def test_a_read_without_an_answer_may_be_repeated() -> None:
    """With `retry` a GET goes on until it is answered."""

    async def test() -> None:
        async with Api(vanish, a_status(503), vanish, answer({})).running() as api, KubeClient(api.access()) as client:
            assert 200 == (await client.send(GET, retry=True)).status

    run(test())


def test_too_many_requests_is_waited_for() -> None:
    """429 was refused before it was looked at, so even a write is repeated, after the time that was asked for."""

    async def test() -> None:
        loop = asyncio.get_running_loop()
        busy = a_status(429, "", {"Retry-After": "1"})
        async with Api(busy, answer({})).running() as api, KubeClient(api.access()) as client:
            begun = loop.time()
            assert 200 == (await client.send(PATCH, retry=True)).status
            assert loop.time() - begun >= 1

    run(test())


def test_patience_ends_with_the_last_answer() -> None:
    """When the time for retries is over, the last thing the server said is the answer."""

    async def test() -> None:
        async with Api(a_status(503)).running() as api, KubeClient(api.access()) as client:
            assert 503 == (await client.send(GET, retry=True, timeout=Span(300))).status

    run(test())


def test_no_answer_in_time_is_unknown() -> None:
    """A request that left and was not answered may have been applied."""

    async def test() -> None:
        async with Api(hang).running() as api, KubeClient(api.access()) as client:
            with pytest.raises(NoAnswer, match=r"no answer within 0\.2s"):
                await client.send(PATCH, timeout=Span(200))

    run(test())


def test_a_request_that_waited_in_the_queue_was_not_sent() -> None:
    """Lanes are limited; what never got one surely did nothing. Urgent requests use none."""

    async def test() -> None:
        async with Api(hang, answer({})).running() as api, KubeClient(api.access(), parallel=1) as client:
            first = asyncio.create_task(client.send(PATCH))
            await until(lambda: bool(api.requests))
            with pytest.raises(NotSent):
                await client.send(PATCH, timeout=Span(100))
            assert 200 == (await client.send(GET, urgent=True)).status
            first.cancel()

    run(test())


def test_lists_go_a_few_at_a_time() -> None:
    """At a start dozens are wanted, and each would open a connection; what waits for its turn loses no time by it."""
    under_way, most = 0, 0

    async def slowly(_request: web.Request) -> web.StreamResponse:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.03)
        under_way -= 1
        return web.json_response({})

    async def test() -> None:
        async with Api(slowly).running() as api, KubeClient(api.access()) as client:
            found = await asyncio.gather(*(client.read(GET, Span(100)) for _ in range(30)))
            assert [200] * 30 == [one.status for one in found]

    run(test())
    assert LISTS_AT_ONCE == most


def test_a_refused_token_is_read_again_once() -> None:
    """401: new credentials, the same request again, and the answer is that of the second."""

    async def test() -> None:
        async with Api(only_second).running() as api:
            credentials = Two("first", "second")
            async with KubeClient(api.access(credentials)) as client:
                assert 200 == (await client.send(PATCH)).status
                assert (1, 2) == (credentials.renewals, len(api.requests))

    run(test())


def test_the_last_word_is_asked_before_every_exchange() -> None:
    """Also before the second one after a 401; what is refused surely was not applied, and costs no connection."""

    async def test() -> None:
        words = ["", "not any more"]
        async with Api(only_second).running() as api, KubeClient(api.access(Two("first", "second"))) as client:
            with pytest.raises(NotSent, match="not any more"):
                await client.send(PATCH, may_leave=lambda: words.pop(0))
            assert ([], 1) == (words, len(api.requests))
            assert 200 == (await client.send(PATCH)).status

    run(test())


def test_a_second_refusal_is_the_answer() -> None:
    """Credentials are not read again and again."""

    async def test() -> None:
        async with Api(a_status(401)).running() as api:
            credentials = Two("first", "second", "third")
            async with KubeClient(api.access(credentials)) as client:
                assert 401 == (await client.send(PATCH)).status
                assert (1, 2) == (credentials.renewals, len(api.requests))

    run(test())


def test_a_stream_renews_its_credentials_too() -> None:
    """A watch that is refused with 401 tries once more with new credentials."""

    async def test() -> None:
        async def handler(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Authorization") == "Bearer second":
                return await stream(b"line\n", then="end")(request)
            return await only_second(request)

        async with Api(handler).running() as api, KubeClient(api.access(Two("first", "second"))) as client:
            assert [b"line"] == [line async for line in client.stream(GET)]

    run(test())


def test_a_refused_stream_carries_the_answer() -> None:
    """Who opens a stream learns why there is none."""

    async def test() -> None:
        async with Api(a_status(403, "no")).running() as api, KubeClient(api.access()) as client:
            with pytest.raises(Refused) as refused:
                await anext(client.stream(GET))
            assert 403 == refused.value.answer.status

    run(test())


def test_without_credentials_nothing_is_sent() -> None:
    """A plugin that fails means that the request surely was not applied; it says why, and is no outage."""

    async def test() -> None:
        async with Api(answer({})).running() as api, KubeClient(api.access(Broken())) as client:
            with pytest.raises(NoCredentials, match="run it by hand") as failure:
                await client.send(PATCH)
            assert ([], False) == (api.requests, obstacle_of(failure.value).is_connection)

    run(test())


def test_redirects_are_not_followed() -> None:
    """A redirect is an answer: our token goes nowhere else."""

    async def test() -> None:
        elsewhere = answer({}, 302, {"Location": "http://127.0.0.1:9/"})
        async with Api(elsewhere).running() as api, KubeClient(api.access()) as client:
            assert 302 == (await client.send(GET)).status

    run(test())


@pytest.mark.parametrize("sent", [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", b"garbage\r\n\r\n"])
def test_half_an_answer_is_no_answer(sent: bytes) -> None:
    """An answer that breaks off, or is no HTTP, leaves us not knowing."""

    async def test() -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(sent)
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        access = Access("t", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", Fixed(Identity()))
        async with server, KubeClient(access) as client:
            with pytest.raises(NoAnswer):
                await client.send(PATCH)

    run(test())


def test_secrets_are_not_in_any_text() -> None:
    """Neither identities nor access nor errors show a token or a proxy's password."""

    async def test() -> None:
        identity = Identity(Secret("hush-token"), "cert", Secret("hush-key"))
        access = Access("t", "http://127.0.0.1:9", Fixed(identity), proxy=Secret("http://me:hush-proxy@127.0.0.1:9"))
        texts: list[Any] = [identity, access, Secret("hush")]
        async with KubeClient(access) as client:
            with pytest.raises(NotSent) as failure:
                await client.send(PATCH)
            texts += [failure.value, traceback.format_exception(failure.value), client.access]
        assert not [text for text in texts if "hush" in f"{text} {text!r}"]

    run(test())
