"""The sky over one manager changes for some minutes. Called by whoever draws bad weather for it."""

from __future__ import annotations

import random

from msgspec import structs

from noderemedy.sim.agenda import Agenda
from noderemedy.sim.process import Process
from noderemedy.sim.weather import Weather

MINUTE_MS = 60_000
SHORTEST, LONGEST = 1, 5  # minutes


class Skies:
    """Changes weathers, one at a time for each manager, and changes them back unless the world is healed first."""

    def __init__(self, agenda: Agenda, chance: random.Random) -> None:
        self.agenda = agenda
        self.chance = chance
        self.is_over = False

    def change(self, process: Process, bad: Weather) -> None:
        usual = process.weather
        if usual.is_bad:
            return
        process.weather = structs.replace(bad, is_bad=True)
        process.calm_watches()

        def clear_up() -> None:
            if not self.is_over:
                process.weather = usual
                process.calm_watches()

        self.agenda.after(self.chance.randint(SHORTEST, LONGEST) * MINUTE_MS, clear_up)

    def heal(self) -> None:
        """What is bad now is the business of `Troubles`."""
        self.is_over = True
