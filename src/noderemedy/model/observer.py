"""The observer's own health: since when we have seen everything that rooms judge by, without a gap.

Entered by the engine, read by rooms before a new repair: who has just come cannot tell how long a node has been silent.
"""

from __future__ import annotations

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref, ref
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import Mono

OBSERVER = Kind(FACTS, "Observer")
OBSERVER_AT: Ref = ref(OBSERVER, "observer")


class Observer(FactValue, frozen=True):
    """All watched kinds have been in sight since then."""

    contact_since: Mono


def contact_since(reader: Reader) -> Mono | None:
    """Since when the observer has been in contact; None while it is not."""
    entry = reader.read(OBSERVER_AT)
    return entry.obj.contact_since if isinstance(entry, Present) else None
