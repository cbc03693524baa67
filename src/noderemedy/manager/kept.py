"""The Nodes that a connection on trial has shown: kept back from the engine until they are believed.

Filled by `remotesink.py`. It is a `Reader`, too: of a world in which these were the Nodes of the cluster, so that
`core/clusters.py` can say whether they are.
"""

from __future__ import annotations

from noderemedy.model.ids import NODE, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Absent, Entry, Present, Reader, Unreadable
from noderemedy.model.time import Mono


class Kept:
    """What was listed and followed so far, by name."""

    def __init__(self, cluster: str, reader: Reader) -> None:
        self._cluster = cluster
        self._reader = reader
        self.items: dict[Ref, Seen | Unreadable] = {}

    def read(self, ref: Ref) -> Entry:
        if (ref.cluster, ref.kind) != (self._cluster, NODE):
            return self._reader.read(ref)
        found = self.items.get(ref, Absent())
        return Present(found.obj, found.resource_version, Mono(0)) if isinstance(found, Seen) else found

    def identities(self) -> tuple[tuple[str, str], ...]:
        """Name and uid of each."""
        return tuple((ref.name, item.uid) for ref, item in self.items.items())

    def find(self, index: str, value: str) -> tuple[Ref, ...]:
        return self._reader.find(index, value)

    def tally(self, index: str, value: str) -> int:
        return self._reader.tally(index, value)

    def has(self, index: str) -> bool:
        return self._reader.has(index)
