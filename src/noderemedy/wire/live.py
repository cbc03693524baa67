"""A NodeFence or a Node that was read live, and nothing else: what a run of an agent asks before it acts.

The runner in a Job loads no more than it needs; the readers of all kinds, and what they need, are in `objects.py`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from noderemedy.model.ids import NODE, NODE_FENCE
from noderemedy.model.node import Node
from noderemedy.model.nodefence import NodeFence
from noderemedy.wire import nodefences, nodes, shapes
from noderemedy.wire.scalars import UNREADABLE
from noderemedy.wire.undecodable import undecodable

FENCES = msgspec.json.Decoder(shapes.RemediationShape)
NODES = msgspec.json.Decoder(shapes.NodeShape)


def fence_of(raw: bytes) -> NodeFence:
    """A NodeFence that was read live. Raises Undecodable."""
    try:
        return nodefences.node_fence(FENCES.decode(raw))
    except UNREADABLE as error:
        raise undecodable(NODE_FENCE, "", tree_of(raw), error) from None


def node_of(raw: bytes) -> Node:
    """The same for a Node."""
    try:
        return nodes.node(NODES.decode(raw))
    except UNREADABLE as error:
        raise undecodable(NODE, "", tree_of(raw), error) from None


def tree_of(raw: bytes) -> Any:
    """As much as can be read of it, to say which one it is."""
    try:
        return msgspec.json.decode(raw)
    except UNREADABLE:
        return None
