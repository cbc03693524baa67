"""What only some histories have, each by a chance of its own: all others stay as they are.

`run.py` and `fencerun.py` ask. A seed that once failed is kept with what its history had then:
`simulate(seed, extras=PLAIN)`.
"""

from __future__ import annotations

import random
from typing import Any

from msgspec import Struct

from noderemedy.sim.requesting import Requesting, requesting_of

SHARE = 0.25  # of the histories, for each of what has no share of its own


class Extras(Struct, frozen=True):
    """Of one history."""

    requesting: Requesting | None = None  # what its check asks for, if it does not mark
    deaths: bool = False  # fault 25: managers die in the middle of their lists
    rights: bool = False  # faults 13, 14: lists and watches are refused
    garbled: bool = False  # fault 17: objects that cannot be read
    clusters: bool = False  # a Cluster that is paused, Machines that are not to be remediated
    others: bool = False  # somebody else's controller for the health check


PLAIN = Extras()


def extras_of(seed: int, nodes: int) -> Extras:
    """What this seed's history has."""
    return Extras(
        requesting=requesting_of(seed, nodes), **drawn(seed, ("deaths", "rights", "garbled", "clusters", "others"))
    )


def fence_extras_of(seed: int) -> Extras:
    """The same where nodes are fenced."""
    return Extras(**drawn(seed, ("rights", "garbled", "clusters"), "fencing "))


def drawn(seed: int, whats: tuple[str, ...], sort: str = "") -> dict[str, Any]:
    return {what: random.Random(f"{sort}{what} {seed}").random() < SHARE for what in whats}
