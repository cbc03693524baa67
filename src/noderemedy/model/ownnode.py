"""The node that this manager runs on. Entered by the program, asked wherever a repair claims its node.

Who powers off the node it runs on does not live to free what ran there, or to switch it on again.
"""

from __future__ import annotations

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, NODE, Kind, Ref, ref
from noderemedy.model.room import Present, Reader

OWN_NODE_AT: Ref = ref(Kind(FACTS, "OwnNode"), "own")


class OwnNodeFact(FactValue, frozen=True):
    """Without it the manager runs on no node of the cluster, or was not told on which."""

    name: str


def is_own(node: Ref, reader: Reader) -> bool:
    """Whether we run on this node of the home cluster."""
    entry = reader.read(OWN_NODE_AT)
    return isinstance(entry, Present) and node == ref(NODE, entry.obj.name)
