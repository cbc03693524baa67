"""One kind, followed for ever: find out where it is served, then watch it there."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from typing import Protocol

from noderemedy.drivers.kube.backoff import Backoff
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.discovery import NotServed, Serving, Wanted, serving
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.drivers.kube.sink import Sink
from noderemedy.drivers.kube.watch import watch
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.room import Present
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import decode, decode_event
from noderemedy.wire.pages import decode_page


class HomeSink(Sink, Protocol):
    """A sink that wants to know where a kind is served, too."""

    def located(self, kind: Kind, resource: Resource) -> None: ...

    def not_served(self, kind: Kind) -> None: ...

    def known(self, ref: Ref) -> Present | None: ...


async def follow(
    client: KubeClient, wanted: Wanted, sink: HomeSink, chance: random.Random, settings: WatchSettings
) -> None:
    """Keep the sink in step with one kind until cancelled, also if its definition comes later or goes."""

    async def ask() -> Serving:
        # What belongs to Kubernetes itself is always served: its list, often the longest, waits for no question.
        found = await serving(client, wanted) if wanted.kind.group else wanted.guess()
        if isinstance(found, NotServed):
            sink.not_served(wanted.kind)
        elif isinstance(found, Resource):
            sink.located(wanted.kind, found)
        return found

    backoff = Backoff(chance, settings.first_pause, settings.longest_pause)
    while isinstance(found := await ask(), Obstacle):
        sink.lost(wanted.kind, found)
        await asyncio.sleep(backoff.pause().ms / 1000)
    await watch(
        client,
        found if isinstance(found, Resource) else wanted.guess(),  # where it would be
        partial(decode, wanted.kind),
        sink,
        namespace=wanted.namespace,
        chance=chance,
        settings=settings,
        locate=ask,
        decode_event=partial(decode_event, wanted.kind, known=sink.known),
        decode_page=partial(decode_page, wanted.kind, known=sink.known),
    )
