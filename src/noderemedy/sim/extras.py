"""What only some histories of health checks and Metal3 have, each by a chance of its own: all others stay as they are.

`run.py` asks. A seed that once failed is kept with what its history had then: `simulate(seed, extras=PLAIN)`.
"""

from __future__ import annotations

import random

from msgspec import Struct

from noderemedy.sim.requesting import Requesting, requesting_of

SHARE = 0.25  # of the histories, for each of what has no share of its own


class Extras(Struct, frozen=True):
    """Of one history."""

    requesting: Requesting | None = None  # what its check asks for, if it does not mark
    deaths: bool = False  # fault 25: managers die in the middle of their lists
    rights: bool = False  # faults 13, 14: lists and watches are refused


PLAIN = Extras()


def extras_of(seed: int, nodes: int) -> Extras:
    """What this seed's history has."""
    drawn = {what: random.Random(f"{what} {seed}").random() < SHARE for what in ("deaths", "rights")}
    return Extras(requesting=requesting_of(seed, nodes), **drawn)
