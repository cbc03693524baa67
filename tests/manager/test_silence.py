"""A workload API that accepts every stream and never answers: a proxy or tunnel whose other end is gone."""

from __future__ import annotations

import asyncio
import random
from functools import partial

from aiohttp import web
from tests.drivers.kube.scripted import NODES, Api, a_list, a_node, run, stream, until

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.sink import Settings
from noderemedy.drivers.kube.watch import watch
from noderemedy.engine.loop import Engine
from noderemedy.manager.remotesink import RemoteSink
from noderemedy.model.ids import NODE
from noderemedy.model.time import Span
from noderemedy.rooms import ROOMS
from noderemedy.wire.objects import decode

IMPATIENT = Settings(first_pause=Span(2), longest_pause=Span(10), silence=Span(50), settled=Span(1_000))


def test_an_api_that_never_answers_is_out_of_sight() -> None:
    """After the grace its Nodes are hidden: they are as of then, and who is sick by now nobody can see."""

    async def story() -> None:
        said: list[str] = []
        sink = RemoteSink(
            "metal/east",
            Engine(ROOMS),
            Clock(random.Random(1)),
            grace=Span(100),
            seen=lambda: said.append("seen"),
            hidden=said.append,
            poke=lambda: None,
        )
        answers = (a_list(10, a_node("n1", 5)), stream(then="end"), never)
        async with Api(*answers).running() as api, KubeClient(api.access()) as client:
            part = watch(
                client, NODES, partial(decode, NODE, cluster="metal/east"), sink,
                chance=random.Random(1), settings=IMPATIENT,
            )  # fmt: skip
            task = asyncio.create_task(part)
            try:
                await until(lambda: len(said) > 1)
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        assert "seen" == said[0]
        assert "no answer within 0.05s" in said[1]

    run(story())


async def never(request: web.Request) -> web.Response:
    await asyncio.sleep(3_600)
    return web.Response()
