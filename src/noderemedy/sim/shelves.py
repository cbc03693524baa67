"""How many Incidents a simulated history keeps. `run.py` asks: a thousand are more than any day of it has.

Two of three seeds have a shelf so small that it overflows; what is dropped is drawn from the seed, like everything.
"""

from __future__ import annotations

import random

from noderemedy.core.incident import shelf
from noderemedy.model.room import Room
from noderemedy.rooms import ROOMS

LIMITS = (shelf.IN_ALL, 8, 25)


def rooms_of(seed: int) -> tuple[Room, ...]:
    """The rooms of this history's managers."""
    limit = random.Random(f"{seed} shelf").choice(LIMITS)
    return tuple(shelf.keeping(limit) if room.name == shelf.ROOM.name else room for room in ROOMS)
