"""/metrics, /healthz, /livez and /readyz over real HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from tests.drivers.kube.scripted import run, until

from noderemedy import __version__
from noderemedy.drivers import health
from noderemedy.drivers.health import Health
from noderemedy.drivers.metrics import Metrics, measure_lag


@asynccontextmanager
async def a_server(server: Health) -> AsyncIterator[aiohttp.ClientSession]:
    await server.start()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
        yield session
    await server.stop()


async def ask(session: aiohttp.ClientSession, path: str) -> tuple[int, str]:
    async with session.get(path) as response:
        return response.status, await response.text()


def test_ready_only_when_nothing_is_missing() -> None:
    """Not ready says what is missing and does not mean dead; ready is 200."""

    async def test() -> None:
        missing = ["Node: not listed yet"]
        async with a_server(Health(Metrics(), unready=lambda: missing)) as session:
            assert (503, "Node: not listed yet\n") == await ask(session, "/readyz")
            assert (200, "ok\n") == await ask(session, "/livez")
            missing.clear()
            assert (200, "ok\n") == await ask(session, "/readyz")

    run(test())


def test_dead_is_neither_alive_nor_ready() -> None:
    """What has died shows on all three."""

    async def test() -> None:
        async with a_server(Health(Metrics(), dead=lambda: ["the engine stopped"])) as session:
            for path in ("/healthz", "/livez", "/readyz"):
                assert (503, "the engine stopped\n") == await ask(session, path)

    run(test())


def test_figures_are_served_with_the_prefix() -> None:
    """Every figure of ours begins with node_remedy_, and ages are computed at the scrape."""

    async def test() -> None:
        metrics = Metrics()
        metrics.objects.labels("Node").set(12)
        metrics.decisions.labels("annotation", "HOST_PAUSED").inc()
        metrics.effects.labels("DeleteNode", "done").inc()
        metrics.effect_seconds.labels("DeleteNode").observe(0.02)
        metrics.quarantined.labels("Machine").inc()
        metrics.leader.set(1)
        metrics.queue_depth.set(3)
        async with a_server(Health(metrics, before=lambda: metrics.watch_age.labels("Node").set(1.5))) as session:
            status, text = await ask(session, "/metrics")
        assert 200 == status
        samples = [line for line in text.splitlines() if not line.startswith("#")]
        assert [] == [line for line in samples if not line.startswith("node_remedy_")]
        for expected in (
            'node_remedy_objects{kind="Node"} 12.0',
            'node_remedy_decisions_total{reason="HOST_PAUSED",room="annotation"} 1.0',
            'node_remedy_effects_total{action="DeleteNode",outcome="done"} 1.0',
            'node_remedy_effect_duration_seconds_bucket{action="DeleteNode",le="0.025"} 1.0',
            'node_remedy_quarantined_total{kind="Machine"} 1.0',
            'node_remedy_watch_age_seconds{kind="Node"} 1.5',
            "node_remedy_leader 1.0",
            "node_remedy_queue_depth 3.0",
            f'node_remedy_build_info{{version="{__version__}"}} 1.0',
        ):
            assert expected in samples

    run(test())


ASKED = {
    "a page with a query": (b"GET /livez?verbose HTTP/1.1", 200, b"ok\n"),
    "its head only": (b"HEAD /livez HTTP/1.1", 200, b""),
    "no such page": (b"GET / HTTP/1.1", 404, b"only /metrics /healthz /livez /readyz\n"),
    "a write": (b"POST /metrics HTTP/1.1", 405, b"only GET\n"),
    "no HTTP at all": (b"\xff\xfe", 405, b"only GET\n"),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_question_and_its_answer(name: str) -> None:
    """Pages answer to GET and HEAD; what is neither gets a status and a word that helps."""
    line, status, body = ASKED[name]
    head, _, text = Health(Metrics()).answer(line + b"\r\nHost: a\r\n\r\n").partition(b"\r\n\r\n")
    assert (f"HTTP/1.1 {status} ", body) == (head[:13].decode(), text)


def test_who_asks_no_whole_question_disturbs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who connects and is silent, and somebody who never ends, are hung up on; others are answered."""
    monkeypatch.setattr(health, "PATIENCE_S", 0.2)

    async def test() -> None:
        server = Health(Metrics())
        async with a_server(server) as session:
            silent, _ = await asyncio.open_connection("127.0.0.1", server.port)
            endless, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * health.LONGEST_HEAD * 2)
            assert (200, "ok\n") == await ask(session, "/livez")
            assert b"" == await asyncio.wait_for(silent.read(), 5)
            with contextlib.suppress(ConnectionResetError):  # it had more to say
                assert b"" == await asyncio.wait_for(endless.read(), 5)

    run(test())


def test_lag_of_the_event_loop_is_measured() -> None:
    """A loop that is blocked for a while shows it."""

    async def test() -> None:
        metrics = Metrics()
        task = asyncio.create_task(measure_lag(metrics, 0.01))
        await asyncio.sleep(0.02)
        time.sleep(0.1)  # noqa: ASYNC251  the fault itself
        await until(lambda: (metrics.registry.get_sample_value("node_remedy_loop_lag_seconds") or 0) > 0.05)
        task.cancel()

    run(test())
