"""What the trees of the simulated API mean to a process: each version is decoded once, however often it is listed.

A real process decodes bytes again with every list. Here that would be most of the cost of a large cluster, and says
nothing: the same version of the same object always means the same, and so does a Node that has only beaten its heart.
"""

from __future__ import annotations

from noderemedy.model.ids import NODE, Kind
from noderemedy.model.outcome import Seen
from noderemedy.sim.apiserver import Tree
from noderemedy.wire.objects import convert

BEAT = "lastHeartbeatTime"  # nobody judges by it: `wire/shapes.py` does not have it


class Decoding:
    """The last version of each object, decoded."""

    def __init__(self) -> None:
        self._known: dict[tuple[Kind, str], tuple[Tree, Seen]] = {}

    def read(self, kind: Kind, tree: Tree) -> Seen:
        """The object. Raises Undecodable."""
        meta = tree["metadata"]
        key = (kind, str(meta["uid"]))
        known = self._known.get(key)
        if known is None:
            seen = convert(kind, tree)
        elif known[1].resource_version == meta["resourceVersion"]:
            return known[1]
        elif kind == NODE and is_heartbeat(known[0], tree):
            seen = Seen(known[1].ref, known[1].uid, meta["resourceVersion"], known[1].obj)
        else:
            seen = convert(kind, tree)
        self._known[key] = (tree, seen)
        return seen


def is_heartbeat(old: Tree, new: Tree) -> bool:
    """Whether a Node differs from what it was in nothing but its version and the times of its heartbeats."""
    was, status = old.get("status") or {}, new.get("status") or {}
    before, after = was.get("conditions") or (), status.get("conditions") or ()
    return (
        len(before) == len(after)
        and {**old, "metadata": None, "status": None} == {**new, "metadata": None, "status": None}
        and {**old["metadata"], "resourceVersion": None} == {**new["metadata"], "resourceVersion": None}
        and {**was, "conditions": None} == {**status, "conditions": None}
        and all({**one, BEAT: None} == {**other, BEAT: None} for one, other in zip(before, after, strict=True))
    )
