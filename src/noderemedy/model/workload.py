"""What runs on a node, as a live list showed it: its pods. Never watched, only asked for.

A list becomes an entry of the cache under a name of its own (`pods_at`), so that a room sees since when it
is known. The pods of a whole cluster are none of our business until a node is freed.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from noderemedy.model.ids import FACTS, Kind, Ref

POD = Kind("", "Pod")
PODS_OF_NODE = Kind(FACTS, "PodsOfNode")


class Pod(Struct, frozen=True):
    """A pod, as far as it matters for emptying and freeing a node."""

    uid: str
    deleting: bool = False
    has_volumes: bool = False  # of a claim: those are what only one writer may have
    is_finished: bool = False  # it runs no more, and never again
    owner: str = ""  # its controller, as kind/name
    stays: bool = False  # of a DaemonSet or a mirror of a file on the node: it belongs to the node


class PodsOfNode(Struct, frozen=True):
    """The pods that are bound to one node. Like all that is no object of the API it has no uid."""

    uid: ClassVar[str] = ""
    pods: tuple[tuple[Ref, Pod], ...] = ()


def pods_at(node: Ref) -> Ref:
    """Under which name the list of a node's pods is kept."""
    return Ref(node.cluster, PODS_OF_NODE, "", node.name)
