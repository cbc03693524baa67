"""Fault 15: somebody deletes the definition of a kind, and with it all its objects; later both are made again.

Of the kinds that rooms watch those are drawn without which servers and their controllers go on: the budget and the
health checks. Managers that live through it, and managers that start in between, have to find the kind again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from noderemedy import crds
from noderemedy.model.ids import BUDGET, Kind
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.garbling import GARBLED, is_garbled
from noderemedy.sim.kinds import CUSTOM_RESOURCE

MINUTE_MS = 60_000
KEPT = ("name", "namespace", "labels", "annotations")


class Definitions:
    """Draws which kind goes, and brings it back with its objects."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self._kinds = (BUDGET, cluster.dialect.check)
        self._taken: dict[Kind, list[Tree]] = {}

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.kind_deleted, 1)]

    def kind_deleted(self) -> None:
        kind = self.chance.choice(self._kinds)
        if kind in self._taken:
            return
        self._taken[kind] = [bare(tree) for tree in self.cluster.api.list(kind)]
        self.cluster.api.delete(CUSTOM_RESOURCE, definition_of(kind)["metadata"]["name"])
        self.cluster.agenda.after(self.chance.randint(1, 5) * MINUTE_MS, partial(self.bring_back, kind))

    def bring_back(self, kind: Kind) -> None:
        """The kind is served again, and somebody applies the files of its objects."""
        taken = self._taken.pop(kind, None)
        if taken is None:
            return
        self.cluster.api.create(self.cluster.dialect.define(definition_of(kind)))
        for tree in taken:
            self.cluster.api.create(tree)

    def heal(self) -> None:
        for kind in self._kinds:
            self.bring_back(kind)


def definition_of(kind: Kind) -> Tree:
    """The definition that we ship."""
    found = [tree for tree in crds.every() if tree["spec"]["names"]["kind"] == kind.kind]
    return next(tree for tree in found if tree["spec"]["group"] == kind.group)


def bare(tree: Tree) -> Tree:
    """An object as it stands in somebody's file."""
    metadata = {key: tree["metadata"][key] for key in KEPT if key in tree["metadata"]}
    if is_garbled(tree):
        metadata["annotations"] = {key: value for key, value in metadata["annotations"].items() if key != GARBLED}
    return {"apiVersion": tree["apiVersion"], "kind": tree["kind"], "metadata": metadata, "spec": tree["spec"]}
