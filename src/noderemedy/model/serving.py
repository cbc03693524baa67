"""Which kinds the API does not serve at all, as facts: what has no objects because there is no such kind.

Entered by the engine when a program says so. Most rooms need not care; one that would create such an object does.
"""

from __future__ import annotations

from functools import lru_cache

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.room import Present, Reader

UNSERVED = Kind(FACTS, "Unserved")


class Unserved(FactValue, frozen=True):
    """The API knows no such kind: its definition is not installed."""

    kind: Kind


@lru_cache(maxsize=1_000)
def unserved_ref(kind: Kind, cluster: str = "") -> Ref:
    """Where that is stated. Asked for with every look at a Machine."""
    return Ref(cluster, UNSERVED, "", str(kind))


def is_served(kind: Kind, reader: Reader, cluster: str = "") -> bool:
    return not isinstance(reader.read(unserved_ref(kind, cluster)), Present)
