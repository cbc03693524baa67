"""One kind, followed for ever: find out where it is served, then watch it there."""

from __future__ import annotations

import asyncio
import random
from functools import partial

from noderemedy.drivers.kube.backoff import Backoff
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.discovery import NotServed, Wanted, serving
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.kube.watch import watch
from noderemedy.manager.sink import EngineSink
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import decode


async def follow(
    client: KubeClient, wanted: Wanted, sink: EngineSink, chance: random.Random, settings: WatchSettings
) -> None:
    """Keep the sink in step with one kind until cancelled, also if its definition comes later or goes."""

    async def ask() -> Resource | None:
        found = await serving(client, wanted)
        return _tell(found, wanted, sink) if not isinstance(found, Obstacle) else None

    resource = await _first(client, wanted, sink, Backoff(chance, settings.first_pause, settings.longest_pause))
    await watch(
        client,
        resource,
        partial(decode, wanted.kind),
        sink,
        chance=chance,
        settings=settings,
        locate=ask,
    )


async def _first(client: KubeClient, wanted: Wanted, sink: EngineSink, backoff: Backoff) -> Resource:
    """Where the kind is served; where it would be, if the server says that it is not."""
    while isinstance(found := await serving(client, wanted), Obstacle):
        sink.lost(wanted.kind, found)
        await asyncio.sleep(backoff.pause().ms / 1000)
    return _tell(found, wanted, sink) or wanted.guess()


def _tell(found: Resource | NotServed, wanted: Wanted, sink: EngineSink) -> Resource | None:
    if isinstance(found, NotServed):
        sink.not_served(wanted.kind)
        return None
    sink.located(wanted.kind, found)
    return found
