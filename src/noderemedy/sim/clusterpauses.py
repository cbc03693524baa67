"""What people say of a whole Cluster, and of single Machines: leave it as it is, do not repair them.

A Cluster that is paused, by its spec or by an annotation, is on its way to another place: nothing of it is written
(S8, `pausing.py`, `permitting.py`). A Machine with `skip-remediation` is nobody's target. One history in four has a
Cluster at all (`extras.py`): usually a simulated cluster manages itself without one. OpenShift knows none.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from noderemedy.model.ids import CLUSTER
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.wire import names

MINUTE_MS = 60_000
LAB = "lab"
SPEC: Tree = {"spec": {"paused": True}}
NOTE: Tree = {"metadata": {"annotations": {names.CLUSTER_PAUSED: "true"}}}
NEITHER: Tree = {"spec": {"paused": None}, "metadata": {"annotations": {names.CLUSTER_PAUSED: None}}}


class ClusterPauses:
    """Draws what is said, and takes it back."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.cluster_paused, 3), (self.machine_skipped, 3)]

    def cluster_paused(self) -> None:
        """In the middle of whatever runs, rather for longer than news takes to arrive."""
        self._say(self.chance.choice((SPEC, NOTE)))
        self._later(partial(self._say, NEITHER), 5, 12)

    def machine_skipped(self) -> None:
        """One whose node is silent, if there is one: there is more to leave."""
        silent = [name for name, server in self.cluster.servers.items() if not server.is_heard]
        name = self.chance.choice(silent or list(self.cluster.servers))
        self._skip(name, "true")
        self._later(partial(self._skip, name, None), 5, 15)

    def heal(self) -> None:
        self._say(NEITHER)
        for name in self.cluster.servers:
            self._skip(name, None)

    def _say(self, body: Tree) -> None:
        if has_cluster(self.cluster):
            self.cluster.api.patch(CLUSTER, LAB, NAMESPACE, body, "merge")

    def _skip(self, node: str, value: str | None) -> None:
        if self.cluster.machines(node):
            body = {"metadata": {"annotations": {names.SKIP_REMEDIATION: value}}}
            self.cluster.api.patch(self.cluster.dialect.machine, machine_of(node), NAMESPACE, body, "merge")

    def _later(self, do: Callable[[], None], least: int, most: int) -> None:
        self.cluster.agenda.after(self.chance.randint(least, most) * MINUTE_MS, do)


def found_cluster(cluster: Cluster) -> None:
    """The Cluster of all Machines, as whoever uses Cluster API has it."""
    cluster.api.create(objects.cluster_definition())
    tree = objects.cluster(LAB)
    body = {"status": tree.pop("status")}
    cluster.api.create(tree)
    cluster.api.patch(CLUSTER, LAB, NAMESPACE, body, "merge", subresource="status")


def has_cluster(cluster: Cluster) -> bool:
    return cluster.api.resources.find(CLUSTER) is not None


def is_paused(tree: Tree) -> bool:
    """Whether a Cluster is."""
    notes = tree["metadata"].get("annotations") or {}
    return bool((tree.get("spec") or {}).get("paused")) or names.CLUSTER_PAUSED in notes
