"""Between the watch of one workload cluster's Nodes and the engine. The same engine, another cluster in every name.

Called by that watch for every event. It differs from the sink of the home cluster in one rule: acting is possible
while this cluster is away, for requests and conditions are written in the management cluster. So a broken connection
hides its Nodes after a short grace, and not only when the view is old.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.engine.loop import Engine
from noderemedy.manager.feeding import Feeding
from noderemedy.model.ids import Kind
from noderemedy.model.time import Span


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
    ) -> None:
        super().__init__(engine, clock, poke, cluster)
        self._grace = grace
        self._on_seen = seen
        self._on_hidden = hidden
        self._is_hidden = True
        self._is_listing = False
        self._was_listed = False
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Its watch has ended: nothing is said any more."""
        self._calm()

    # --- what the watch tells -----------------------------------------------------------------------------------

    def listing(self, kind: Kind) -> None:
        self._is_listing = True
        self._engine.listing(kind, self._clock.now(), self._cluster)

    def listed(self, kind: Kind) -> None:
        self._is_listing = False
        self._show(kind)

    def contact(self, kind: Kind) -> None:
        self._calm()
        if self._is_hidden and not self._is_listing and self._was_listed:
            self._show(kind)  # the stream goes on from where it was: nothing is missing

    def lost(self, kind: Kind, obstacle: Obstacle) -> None:
        if not obstacle.is_connection:
            self._hide(kind, obstacle.why)
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._grace.ms / 1000, self._hide, kind, obstacle.why)

    # --- inside -------------------------------------------------------------------------------------------------

    def _show(self, kind: Kind) -> None:
        self._calm()
        self._is_hidden = False
        self._was_listed = True
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
