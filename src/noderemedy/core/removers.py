"""Who is about to remove a Node says so by a taint. Asked by the gates of remedies and fences, and by backups.

Such a node is left to whoever put it there. The word is about this Node only: on the next one of its name nobody would
ever take it back.
"""

from __future__ import annotations

from noderemedy.model.node import Node

REMOVERS = {
    "ToBeDeletedByClusterAutoscaler": "the cluster autoscaler",
    "karpenter.sh/disrupted": "Karpenter",
    "karpenter.sh/disruption": "Karpenter",
}


def remover_of(node: Node) -> str:
    """Who removes it; "" for nobody."""
    return next((REMOVERS[taint.key] for taint in node.taints if taint.key in REMOVERS), "")
