"""What the trees of the simulated API mean to a process: each version is decoded once, however often it is listed.

A real process decodes bytes again with every list. Here that would be most of the cost of a large cluster, and says
nothing: the same version of the same object always means the same.
"""

from __future__ import annotations

from noderemedy.model.ids import Kind
from noderemedy.model.outcome import Seen
from noderemedy.sim.apiserver import Tree
from noderemedy.wire.objects import convert


class Decoding:
    """The last version of each object, decoded."""

    def __init__(self) -> None:
        self._known: dict[tuple[Kind, str], Seen] = {}

    def read(self, kind: Kind, tree: Tree) -> Seen:
        """The object. Raises Undecodable."""
        key = (kind, str(tree["metadata"]["uid"]))
        known = self._known.get(key)
        if known is None or known.resource_version != tree["metadata"]["resourceVersion"]:
            known = self._known[key] = convert(kind, tree)
        return known
