"""What only some histories of health checks and Metal3 have, each by a chance of its own: all others stay as they are.

`run.py` asks. A seed that once failed is kept with what its history had then: `simulate(seed, extras=PLAIN)`.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.sim.requesting import Requesting, requesting_of


class Extras(Struct, frozen=True):
    """Of one history."""

    requesting: Requesting | None = None  # what its check asks for, if it does not mark


PLAIN = Extras()


def extras_of(seed: int, nodes: int) -> Extras:
    """What this seed's history has."""
    return Extras(requesting=requesting_of(seed, nodes))
