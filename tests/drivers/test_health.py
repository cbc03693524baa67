"""/metrics, /healthz, /livez and /readyz over real HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from tests.drivers.kube.scripted import run, until

from noderemedy.drivers.health import Health
from noderemedy.drivers.metrics import Metrics, measure_lag, own_version


@asynccontextmanager
async def a_server(health: Health) -> AsyncIterator[aiohttp.ClientSession]:
    await health.start()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{health.port}") as session:
        yield session
    await health.stop()


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
            f'node_remedy_build_info{{version="{own_version()}"}} 1.0',
        ):
            assert expected in samples

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
