"""Checkers of the reference owner: one successor per Machine, and a pool that has its size and its health again.

That Node and pods of an instance stay until the instance is gone is S1, which `checkers.py` holds for all servers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import MACHINE, NODE
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.cluster import Cluster
from noderemedy.wire import names

Complain = Callable[[str, str], None]


class Successors:
    """Watches the Machines of the simulated cloud."""

    def __init__(self, cluster: Cluster, complain: Complain, ran: Counter[str]) -> None:
        self.cluster = cluster
        self.complain = complain
        self.ran = ran
        self._made: dict[str, str] = {}  # uid of a Machine: uid of its successor
        cluster.api.subscribe(MACHINE, self._machine)

    def _machine(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        replaces = (meta.get("annotations") or {}).get(names.REPLACES)
        if event.type != "ADDED" or not replaces:
            return
        self.ran["S2 one successor"] += 1
        if self._made.setdefault(replaces, meta["uid"]) != meta["uid"]:
            self.complain("S2", f"Machine {meta['name']} is the second successor of {replaces}")

    def at_rest(self) -> None:
        """The pool has its size, every machine its node, and nothing of a replacement is left."""
        found = self.cluster.provider.machines()
        if not self.cluster.provider.pool:
            return
        self.ran["L1 pool"] += 1
        if len(found) != self.cluster.provider.pool:
            self.complain("L1", f"{len(found)} machines of {self.cluster.provider.pool} in the cloud")
        for machine in found:
            self._whole(machine)

    def _whole(self, machine: Tree) -> None:
        meta = machine["metadata"]
        if names.REPLACEMENT in (meta.get("annotations") or {}) or names.OWNER_FINALIZER in meta.get("finalizers", ()):
            self.complain("L2", f"Machine {meta['name']} still carries the record of its replacement")
        node = self.cluster.api.find(NODE, meta["name"])
        if node is None or not is_ready(node):
            self.complain("L1", f"Machine {meta['name']} has no healthy node")


def is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
