"""Lists that come page by page, as those of large clusters do: in pieces, and the engine steps between.

`run.py` and `fencerun.py` ask which histories have them. They have a chance of their own: all others stay as they are.
"""

from __future__ import annotations

import random
from typing import Protocol

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver import WatchEvent

SHARE = 0.1  # of all histories
PAGES = (1, 4)
BETWEEN_MS = (20, 5_000)


class Reader(Protocol):
    """Who is told of a list piece by piece."""

    def on_listing(self, kind: Kind) -> None: ...

    def on_page(self, kind: Kind, trees: list[WatchEvent]) -> None: ...

    def on_listed(self, kind: Kind) -> None: ...


class Pages:
    """How many pages each list has, and how long each takes."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def split(self, listed: list[WatchEvent]) -> list[list[WatchEvent]]:
        """One page, or some that are alike."""
        size = max(1, -(-len(listed) // self._chance.randint(*PAGES)))
        return [listed[at : at + size] for at in range(0, len(listed), size)] or [[]]

    def pause_ms(self) -> int:
        return self._chance.randint(*BETWEEN_MS)


def pages_of(seed: int, manager: int) -> Pages | None:
    """How the lists of one manager of this history come; None: in one piece."""
    is_paged = random.Random(f"{seed} pieces").random() < SHARE
    return Pages(random.Random(f"{seed} pieces {manager}")) if is_paged else None
