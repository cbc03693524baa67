"""Faults 13 and 14 where a manager only looks: what it lists and watches is refused for a while, then granted again.

A quarter of the histories knows them (`extras.py`). `api_refuses` of `bystanders.py` is the same for what it writes.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec import structs

from noderemedy.model.keeping import DEFINITION
from noderemedy.rooms import watched
from noderemedy.sim.process import Process
from noderemedy.sim.skies import Skies
from noderemedy.sim.weather import CALM, Fate

KINDS_MAX = 3


class Rights:
    """Draws whose rights go, and which."""

    def __init__(self, processes: list[Process], chance: random.Random) -> None:
        self.processes = processes
        self.chance = chance
        self.skies = Skies(processes[0].agenda, chance)

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.rights_taken, 4), (self.token_expires, 2)]

    def rights_taken(self) -> None:
        """Fault 13: somebody edits a role. One manager may not list nor watch a few kinds; what it writes goes on."""
        process = self.chance.choice(self.processes)
        served = [*(kind for kind in watched() if kind in process.resources), DEFINITION]
        kinds = self.chance.sample(served, self.chance.randint(1, KINDS_MAX))
        self.skies.change(process, structs.replace(process.weather, refused=frozenset(kinds)))

    def token_expires(self) -> None:
        """Fault 14: one manager may do nothing at all."""
        refused = structs.replace(
            CALM, requests=((Fate.UNAUTHORIZED, 1.0),), refused=frozenset((*watched(), DEFINITION))
        )
        self.skies.change(self.chance.choice(self.processes), refused)

    def heal(self) -> None:
        self.skies.heal()
