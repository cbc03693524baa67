"""The endpoint in front of the simulated API server: who is let in, what is streamed, and how it misbehaves."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
import yaml

from noderemedy.lab.http import Endpoint, serve
from noderemedy.lab.http_faults import (
    HTML,
    Cut,
    Drop,
    Fault,
    Moment,
    Silence,
    Spoil,
    broken,
    expired,
    expired_line,
    too_many_requests,
)
from noderemedy.lab.http_tls import Authority
from noderemedy.model.time import SECOND, Span, Wall
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import ADMIN, User
from noderemedy.wire.http import Request

CONFIGS = "/api/v1/namespaces/default/configmaps"
CLOCK = Wall(1_800_000_000_000)
HEADERS = {"Authorization": "Bearer the-administrator"}


class Bench:
    """An endpoint with a client of its own."""

    def __init__(self, endpoint: Endpoint, client: aiohttp.ClientSession) -> None:
        self.endpoint = endpoint
        self.api = endpoint.api
        self.client = client

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self.client.get(self.endpoint.url + path, headers=headers) as reply:
            text = await reply.text()
            return reply.status, json.loads(text) if text.startswith("{") else text

    async def create(self, name: str, data: str = "v") -> int:
        body = {"metadata": {"name": name}, "data": {"k": data}}
        async with self.client.post(self.endpoint.url + CONFIGS, json=body) as reply:
            return reply.status

    def names(self) -> list[str]:
        """What is really stored, whatever was answered."""
        kind = next(resource.kind for resource in self.api.resources.all() if resource.plural == "configmaps")
        return [tree["metadata"]["name"] for tree in self.api.list(kind, "default")]

    @asynccontextmanager
    async def watch(self, **query: str) -> AsyncIterator[aiohttp.StreamReader]:
        url = f"{self.endpoint.url}{CONFIGS}"
        async with self.client.get(url, params={"watch": "true", **query}) as reply:
            assert 200 == reply.status
            yield reply.content


@asynccontextmanager
async def a_bench(**options: Any) -> AsyncIterator[Bench]:
    api = ApiServer(wall=lambda: CLOCK, chance=random.Random(1))
    endpoint = await serve(api, tokens={"the-administrator": ADMIN}, **options)
    try:
        async with aiohttp.ClientSession(headers=HEADERS, timeout=aiohttp.ClientTimeout(total=10)) as client:
            yield Bench(endpoint, client)
    finally:
        await endpoint.close()


def always(fault: Fault, moment: Moment = Moment.BEFORE) -> Callable[[Moment, Request, User], Awaitable[Fault | None]]:
    """Interfere with every request at one moment."""

    async def interfere(now: Moment, _request: Request, _user: User) -> Fault | None:
        return fault if now is moment else None

    return interfere


async def until(question: Callable[[], bool]) -> None:
    """Wait for something that the event loop does soon."""
    async with asyncio.timeout(5):
        while not question():  # noqa: ASYNC110  what is awaited happens inside the server
            await asyncio.sleep(0.005)


def test_only_known_tokens_are_let_in() -> None:
    """A missing or unknown token is 401 with a Status, and nothing is told."""

    async def scenario() -> None:
        async with a_bench() as bench:
            for header in ("", "Bearer wrong", "Basic the-administrator"):
                status, body = await bench.get(CONFIGS, Authorization=header)
                assert (401, "Unauthorized") == (status, body["reason"])
            assert 200 == (await bench.get(CONFIGS))[0]

    asyncio.run(scenario())


def test_health_needs_no_token() -> None:
    """Health and version are told to anybody."""

    async def scenario() -> None:
        async with a_bench() as bench:
            assert (200, "ok") == await bench.get("/readyz", Authorization="")
            assert 200 == (await bench.get("/version", Authorization=""))[0]

    asyncio.run(scenario())


def test_date_is_the_clock_of_the_api_server() -> None:
    """The Date header tells the simulated clock, not that of the machine."""

    async def scenario() -> None:
        async with a_bench() as bench, bench.client.get(bench.endpoint.url + CONFIGS) as reply:
            assert "Fri, 15 Jan 2027 08:00:00 GMT" == reply.headers["Date"]

    asyncio.run(scenario())


def test_connections_are_kept() -> None:
    """Two requests go over one connection."""

    async def scenario() -> None:
        async with a_bench() as bench:
            reader, writer = await asyncio.open_connection("127.0.0.1", bench.endpoint.port)
            for _ in range(2):
                writer.write(b"GET /readyz HTTP/1.1\r\nHost: lab\r\n\r\n")
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200")
                assert b"ok" == await reader.readexactly(2)
            writer.close()

    asyncio.run(scenario())


def test_only_loopback_is_bound() -> None:
    """The endpoint listens on 127.0.0.1 and on no other address."""

    async def scenario() -> None:
        async with a_bench() as bench:
            assert bench.endpoint.url == f"http://127.0.0.1:{bench.endpoint.port}"
            with socket.socket() as other, pytest.raises(ConnectionRefusedError):
                other.connect(("127.0.0.2", bench.endpoint.port))

    asyncio.run(scenario())


def test_watch_streams_lines() -> None:
    """Each change is one line of JSON, sent when it happens."""

    async def scenario() -> None:
        async with a_bench() as bench, bench.watch() as lines:
            assert 201 == await bench.create("one")
            event = json.loads(await lines.readline())
            assert ("ADDED", "one") == (event["type"], event["object"]["metadata"]["name"])

    asyncio.run(scenario())


def test_long_lines_arrive_whole() -> None:
    """An event of half a megabyte is one line."""

    async def scenario() -> None:
        async with a_bench() as bench:
            await bench.create("large", "x" * 500_000)
            url = f"{bench.endpoint.url}{CONFIGS}?watch=true"
            async with bench.client.get(url, read_bufsize=2**20) as reply:
                event = json.loads(await reply.content.readuntil(b"\n"))
            assert 500_000 == len(event["object"]["data"]["k"])

    asyncio.run(scenario())


def test_bookmarks_come_regularly_to_those_who_ask() -> None:
    """A watch that asked for bookmarks gets them at the endpoint's pace, with the present version."""

    async def scenario() -> None:
        async with a_bench(bookmark_every=Span(20)) as bench, bench.watch(allowWatchBookmarks="true") as lines:
            events = [json.loads(await lines.readline()) for _ in range(2)]
            assert ["BOOKMARK", "BOOKMARK"] == [event["type"] for event in events]
            assert str(bench.api.resource_version) == events[0]["object"]["metadata"]["resourceVersion"]
            assert "ConfigMap" == events[0]["object"]["kind"]

    asyncio.run(scenario())


def test_watch_ends_after_its_time() -> None:
    """timeoutSeconds ends the stream properly."""

    async def scenario() -> None:
        async with a_bench() as bench, bench.watch(timeoutSeconds="1") as lines:
            assert b"" == await lines.read()

    asyncio.run(scenario())


def test_vanished_watcher_is_forgotten() -> None:
    """A client that goes away leaves neither a watcher nor a subscription behind."""

    async def scenario() -> None:
        async with a_bench() as bench:
            async with bench.watch():
                assert 1 == len(bench.endpoint.watchers)
            await until(lambda: not bench.endpoint.watchers)
            listeners = [one for found in bench.api.store.collections.values() for one in found.listeners]
            before = len(listeners)
            async with bench.watch():
                pass
            await until(lambda: not bench.endpoint.watchers)
            listeners = [one for found in bench.api.store.collections.values() for one in found.listeners]
            assert before == len(listeners)

    asyncio.run(scenario())


def test_slow_watcher_is_closed_and_blocks_nobody() -> None:
    """A watcher that does not read is cut when its queue is full; writers and other watchers go on."""

    async def scenario() -> None:
        async with a_bench(queue_max=5) as bench:
            _, writer = await asyncio.open_connection("127.0.0.1", bench.endpoint.port, limit=1024)
            head = (
                f"GET {CONFIGS}?watch=true HTTP/1.1\r\nHost: lab\r\nAuthorization: {HEADERS['Authorization']}\r\n\r\n"
            )
            writer.write(head.encode())
            await until(lambda: len(bench.endpoint.watchers) == 1)
            slow = bench.endpoint.watchers[0]
            for number in range(100):
                assert 201 == await bench.create(f"c{number}", "x" * 200_000)
                if slow.has_overflowed:
                    break
            assert slow.has_overflowed
            await until(lambda: not bench.endpoint.watchers)
            assert 201 == await bench.create("after")
            writer.close()

    asyncio.run(scenario())


def test_what_exists_is_sent_whatever_its_number() -> None:
    """The events of the present do not count against the queue of a watcher."""

    async def scenario() -> None:
        async with a_bench(queue_max=2) as bench:
            for number in range(10):
                await bench.create(f"c{number}")
            async with bench.watch() as lines:
                names = [json.loads(await lines.readline())["object"]["metadata"]["name"] for _ in range(10)]
            assert [f"c{number}" for number in range(10)] == names

    asyncio.run(scenario())


def test_nonsense_duration_is_refused() -> None:
    """A watch whose timeoutSeconds is no number is a bad request."""

    async def scenario() -> None:
        async with a_bench() as bench:
            assert 400 == (await bench.get(f"{CONFIGS}?watch=true&timeoutSeconds=long"))[0]

    asyncio.run(scenario())


def test_body_has_a_limit() -> None:
    """A body of more than three megabytes is refused with a Status that can be read."""

    async def scenario() -> None:
        async with a_bench() as bench:
            assert 413 == await bench.create("huge", "x" * 3_200_000)
            assert [] == [name for name in bench.names() if name == "huge"]

    asyncio.run(scenario())


def test_closing_ends_watches() -> None:
    """Closing the endpoint ends open watches at once."""

    async def scenario() -> None:
        async with a_bench() as bench, bench.watch() as lines:
            await bench.endpoint.close()
            assert b"" == await lines.read()

    asyncio.run(scenario())


def test_dropped_before_is_not_applied() -> None:
    """A connection dropped before handling leaves nothing written."""

    async def scenario() -> None:
        async with a_bench(interfere=always(Drop())) as bench:
            with pytest.raises(aiohttp.ClientConnectionError):
                await bench.create("one")
            assert "one" not in bench.names()

    asyncio.run(scenario())


def test_dropped_after_is_applied() -> None:
    """A connection dropped after handling loses the answer, not the write."""

    async def scenario() -> None:
        async with a_bench(interfere=always(Drop(), Moment.AFTER)) as bench:
            with pytest.raises(aiohttp.ClientConnectionError):
                await bench.create("one")
            assert "one" in bench.names()

    asyncio.run(scenario())


def test_delay_is_an_await() -> None:
    """An interference that waits delays the answer and nothing else."""

    async def scenario() -> None:
        released = asyncio.Event()

        async def interfere(moment: Moment, _request: Request, _user: User) -> Fault | None:
            if moment is Moment.BEFORE:
                await released.wait()
            return None

        async with a_bench(interfere=interfere) as bench:
            asked = asyncio.create_task(bench.create("one"))
            await asyncio.sleep(0.05)
            assert not asked.done()
            released.set()
            assert 201 == await asked

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        (too_many_requests(SECOND), 429, "TooManyRequests"),
        (broken(), 500, "InternalError"),
        (expired(), 410, "Expired"),
    ],
)
def test_refusals_on_demand(fault: Fault, status: int, reason: str) -> None:
    """A fault can refuse in the API's own form; the request is not applied."""

    async def scenario() -> None:
        async with a_bench(interfere=always(fault)) as bench:
            got, body = await bench.get(CONFIGS)
            assert (status, reason, "Status") == (got, body["reason"], body["kind"])
            assert status == await bench.create("one")
            assert "one" not in bench.names()

    asyncio.run(scenario())


def test_retry_after_is_told_in_whole_seconds() -> None:
    """429 carries Retry-After, rounded up."""

    async def scenario() -> None:
        fault = too_many_requests(Span(1500))
        async with a_bench(interfere=always(fault)) as bench, bench.client.get(bench.endpoint.url + CONFIGS) as reply:
            assert (429, "2") == (reply.status, reply.headers["Retry-After"])

    asyncio.run(scenario())


def test_html_instead_of_json() -> None:
    """A fault can answer what a load balancer would."""

    async def scenario() -> None:
        async with a_bench(interfere=always(HTML)) as bench, bench.client.get(bench.endpoint.url + CONFIGS) as reply:
            assert (502, "text/html") == (reply.status, reply.headers["Content-Type"])

    asyncio.run(scenario())


def _only_watches(fault: Fault) -> Callable[[Moment, Request, User], Awaitable[Fault | None]]:
    async def interfere(moment: Moment, request: Request, _user: User) -> Fault | None:
        return fault if moment is Moment.BEFORE and ("watch", "true") in request.query else None

    return interfere


@pytest.mark.parametrize("query", [{"allowWatchBookmarks": "true"}, {"timeoutSeconds": "1"}])
def test_silent_watch_says_nothing_and_stays_open(query: dict[str, str]) -> None:
    """A silenced watch delivers the first line and then neither events nor bookmarks nor an end."""

    async def scenario() -> None:
        fault = _only_watches(Silence(after=1))
        async with a_bench(interfere=fault, bookmark_every=Span(50)) as bench:
            await bench.create("zero")
            async with bench.watch(**query) as lines:
                assert b"zero" in await lines.readline()
                await bench.create("one")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(1.2):
                        await lines.readline()

    asyncio.run(scenario())


def test_cut_watch_breaks_off() -> None:
    """A cut watch ends in the middle, as a broken connection does."""

    async def scenario() -> None:
        async with a_bench(interfere=_only_watches(Cut(after=1))) as bench, bench.watch() as lines:
            await bench.create("one")
            assert b"one" in await lines.readline()
            await bench.create("two")
            with pytest.raises(aiohttp.ClientError):
                await lines.readline()

    asyncio.run(scenario())


@pytest.mark.parametrize("line", [Spoil().line, b"not json", expired_line()])
def test_spoilt_watch_goes_on(line: bytes) -> None:
    """A garbage line arrives between good ones."""

    async def scenario() -> None:
        async with a_bench(interfere=_only_watches(Spoil(after=1, line=line))) as bench, bench.watch() as lines:
            for name in ("one", "two"):
                await bench.create(name)
            first, garbage, second = [await lines.readline() for _ in range(3)]
            assert b"one" in first
            assert line + b"\n" == garbage
            assert b"two" in second

    asyncio.run(scenario())


def test_open_watches_can_be_cut_and_silenced() -> None:
    """Faults can strike watches that are already open."""

    async def scenario() -> None:
        async with a_bench() as bench:
            async with bench.watch() as lines:
                bench.endpoint.cut_watches()
                with pytest.raises(aiohttp.ClientError):
                    await lines.readline()
            async with bench.watch() as lines:
                await until(lambda: len(bench.endpoint.watchers) == 1)
                bench.endpoint.silence_watches()
                await bench.create("one")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await lines.readline()

    asyncio.run(scenario())


def test_kubeconfig_names_the_endpoint() -> None:
    """The kubeconfig has the address and a token, and no key that is not needed."""

    async def scenario() -> None:
        async with a_bench() as bench:
            config = yaml.safe_load(bench.endpoint.kubeconfig())
            assert {"server": bench.endpoint.url} == config["clusters"][0]["cluster"]
            assert {"token": "the-administrator"} == config["users"][0]["user"]
            assert "lab" == config["current-context"]

    asyncio.run(scenario())


def _client_context(authority: bytes) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.decode())


def test_tls_is_verified_by_the_kubeconfig() -> None:
    """The authority in the kubeconfig verifies the server; another one does not."""

    async def scenario() -> None:
        async with a_bench(tls=True) as bench:
            assert bench.endpoint.authority is not None
            assert bench.endpoint.url.startswith("https://")
            assert "certificate-authority-data" in bench.endpoint.kubeconfig()
            context = _client_context(bench.endpoint.authority.certificate)
            async with bench.client.get(bench.endpoint.url + CONFIGS, ssl=context) as reply:
                assert 200 == reply.status
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await bench.client.get(bench.endpoint.url + CONFIGS, ssl=_client_context(Authority().certificate))

    asyncio.run(scenario())


def test_client_certificate_is_an_identity(tmp_path: Any) -> None:
    """Common name and organizations of a client certificate become user and groups."""

    async def scenario() -> None:
        clients = Authority("clients")
        seen: list[User] = []

        async def interfere(_moment: Moment, _request: Request, user: User) -> Fault | None:
            seen.append(user)
            return None

        async with a_bench(tls=True, client_ca=clients.certificate, interfere=interfere) as bench:
            assert bench.endpoint.authority is not None
            context = _client_context(bench.endpoint.authority.certificate)
            pair = clients.client("jane", "system:masters", "people")
            file = tmp_path / "jane.pem"
            file.write_bytes(pair.certificate + pair.key)
            context.load_cert_chain(file)
            async with bench.client.get(
                bench.endpoint.url + CONFIGS, ssl=context, headers={"Authorization": ""}
            ) as reply:
                assert 200 == reply.status
            assert {User("jane", ("system:masters", "people", "system:authenticated"))} == set(seen)
            assert "client-key-data" in bench.endpoint.kubeconfig(certificate=pair)

    asyncio.run(scenario())


def test_openapi_knows_field_validation() -> None:
    """kubectl finds out by OpenAPI that fields are validated by the server."""

    async def scenario() -> None:
        async with a_bench() as bench:
            _, root = await bench.get("/openapi/v3")
            _, document = await bench.get(root["paths"]["api/v1"]["serverRelativeURL"])
            operation = document["paths"]["/api/v1/nodes/{name}"]["patch"]
            assert {"group": "", "version": "v1", "kind": "Node"} == operation["x-kubernetes-group-version-kind"]
            assert "fieldValidation" in [parameter["name"] for parameter in operation["parameters"]]
            assert 404 == (await bench.get("/openapi/v3/apis/nobody/v1"))[0]

    asyncio.run(scenario())
