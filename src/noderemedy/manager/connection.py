"""One kubeconfig of a workload cluster in use: a client, a watch of its Nodes, and the sink that they pour into.

A follower has two at most: one that is believed, which effects use, and one on trial.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from noderemedy.drivers.kube.client import PATIENCE, KubeClient
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.secret import Secret
from noderemedy.drivers.kube.watch import watch
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.remotesink import RemoteSink
from noderemedy.model.ids import NODE
from noderemedy.wire.objects import decode, decode_event
from noderemedy.wire.pages import decode_page

if TYPE_CHECKING:
    from noderemedy.manager.follower import Surroundings


class Connection:
    """It says to its follower when its Nodes are complete, when and why they are hidden, and that its watch broke."""

    def __init__(
        self,
        cluster: str,
        access: Access,
        content: Secret,
        around: Surroundings,
        *,
        seen: Callable[[Connection], None],
        hidden: Callable[[Connection, str], None],
        broke: Callable[[Connection, BaseException], None],
    ) -> None:
        self.content = content
        self.client = KubeClient(access, chance=around.chance)
        self.sink = RemoteSink(
            cluster,
            around.engine,
            around.clock,
            grace=around.pace.grace,
            seen=lambda: seen(self),
            hidden=lambda why: hidden(self, why),
            poke=around.poke,
            on_trial=True,
        )
        self._broke = broke
        part = watch(
            self.client,
            WANTED[NODE].guess(),
            partial(decode, NODE, cluster=cluster),
            self.sink,
            chance=around.chance,
            settings=around.watch,
            decode_event=partial(decode_event, NODE, cluster=cluster, known=self.sink.known),
            decode_page=partial(decode_page, NODE, cluster=cluster, known=self.sink.known),
        )
        self._watch = asyncio.create_task(part, name=f"nodes of {cluster}")
        self._watch.add_done_callback(self._ended)

    async def retire(self) -> None:
        """Close it when no effect can be on its way over it any more; nothing is heard of it from now on."""
        self.sink.close()
        try:
            await self._end_watch()
            await asyncio.sleep(PATIENCE.ms / 1000)
        finally:
            await self.client.close()

    async def close(self) -> None:
        self.sink.close()
        await self._end_watch()
        await self.client.close()

    async def _end_watch(self) -> None:
        self._watch.cancel()
        await asyncio.gather(self._watch, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A watch never ends by itself: a mistake of ours, which costs this cluster and no other."""
        if not task.cancelled() and not self.sink.is_closed and (bug := task.exception()):
            self._broke(self, bug)
