"""Between the watch of one workload cluster's Nodes and the engine. The same engine, another cluster in every name.

Called by that watch for every event. It differs from the sink of the home cluster in one rule: acting is possible
while this cluster is away, for requests and conditions are written in the management cluster. So a broken connection
hides its Nodes after a short grace, and not only when the view is old.

Rule 1: what a connection on trial shows is kept back until it is believed: names repeat, and one turn of the engine is
        enough to judge ours by the Nodes of another cluster.
Rule 2: once it is closed nothing that its watch still says is heard: that is about a connection of before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.engine.loop import Engine
from noderemedy.manager.feeding import Feeding
from noderemedy.manager.kept import Kept
from noderemedy.model.ids import NODE, Kind
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Unreadable
from noderemedy.model.time import Span
from noderemedy.wire.objects import Undecodable


class RemoteSink(Feeding):
    """The driver's `Sink` for one cluster. Says when its Nodes are complete, and when and why they cannot be seen."""

    def __init__(
        self,
        cluster: str,
        engine: Engine,
        clock: Clock,
        *,
        grace: Span,
        seen: Callable[[], None],
        hidden: Callable[[str], None],
        poke: Callable[[], None],
        on_trial: bool = False,
    ) -> None:
        super().__init__(engine, clock, poke, cluster)
        self._grace = grace
        self._on_seen = seen
        self._on_hidden = hidden
        self._is_hidden = True
        self._is_listing = False
        self._was_listed = False
        self.is_closed = False
        self.kept = Kept(cluster, engine.cache) if on_trial else None  # None: it is believed
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Its watch ends: nothing is said any more."""
        self.is_closed = True
        self._calm()

    @property
    def is_complete(self) -> bool:
        """Whether all its Nodes are known just now."""
        return self._was_listed and not self._is_listing and not self._is_hidden

    def believe(self) -> None:
        """These are the Nodes of the cluster: the engine is told all that was kept back, as one list."""
        assert self.kept is not None
        assert self.is_complete
        kept, self.kept = self.kept, None
        now = self._clock.now()
        self._engine.listing(NODE, now, self._cluster)
        for ref, item in kept.items.items():
            if isinstance(item, Seen):
                self._engine.seen(item, now)
            else:
                self._engine.unreadable(ref, item.uid, item.resource_version, item.problem, now)
        self._engine.listed(NODE, now, self._cluster)
        self._poke()

    # --- what the watch tells -----------------------------------------------------------------------------------

    def seen(self, item: Seen) -> None:
        if self.kept is not None:
            self.kept.items[item.ref] = item
        elif not self.is_closed:
            super().seen(item)

    def gone(self, item: Seen) -> None:
        if self.kept is not None:
            self.kept.items.pop(item.ref, None)
        elif not self.is_closed:
            super().gone(item)

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        if self.kept is not None:
            found = Unreadable(problem.uid, problem.resource_version, problem.problem)
            self.kept.items[replace(problem.ref, cluster=self._cluster)] = found
        elif not self.is_closed:
            super().unreadable(kind, problem)

    def listing(self, kind: Kind) -> None:
        self._is_listing = True
        if self.kept is not None:
            self.kept.items.clear()
        elif not self.is_closed:
            self._engine.listing(kind, self._clock.now(), self._cluster)

    def listed(self, kind: Kind) -> None:
        self._is_listing = False
        self._show(kind)

    def opened(self, kind: Kind) -> bool:
        self._calm()
        return self.is_closed or not self._is_hidden

    def contact(self, kind: Kind) -> None:
        self._calm()
        if self._is_hidden and not self._is_listing and self._was_listed:
            self._show(kind)  # the stream goes on from where it was: nothing is missing

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        if self.is_closed:
            return
        if not obstacle.is_connection:
            self._hide(kind, obstacle.why)
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._grace.ms / 1000, self._hide, kind, obstacle.why)

    # --- inside -------------------------------------------------------------------------------------------------

    def _show(self, kind: Kind) -> None:
        self._calm()
        if self.is_closed:
            return
        self._is_hidden = False
        self._was_listed = True
        if self.kept is None:
            self._engine.listed(kind, self._clock.now(), self._cluster)  # what the list did not name is gone
        self._on_seen()

    def _hide(self, kind: Kind, why: str) -> None:
        self._calm()
        self._is_hidden = True
        self._on_hidden(why)

    def _calm(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
