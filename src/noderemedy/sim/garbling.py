"""Fault 17: objects that no client can decode, of ours and of others, for some minutes; then somebody mends them.

An API server refuses such an object. It comes past it: by a conversion that went wrong, or a hand in etcd. One of its
annotations is a list where a text is expected, so that whoever looks at trees, as the simulated cluster does, goes on.
One history in four knows them, of both sorts (`extras.py`); what managers make of it is watched by `unread.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from noderemedy.model.ids import BUDGET, CONFIG_MAP, HOST, NODE, NODE_FENCE, REMEDIATION, Kind
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE, SYSTEM

MINUTE_MS = 60_000
GARBLED = "example.com/garbled"
NO_TEXT = ["not", "a", "text"]
LEAST, MOST = 5, 12  # minutes: whoever reads has heard of it before it is over


class Garbling:
    """Draws what cannot be read, rather of a node that is silent: there is more to disturb."""

    def __init__(self, cluster: Cluster, chance: random.Random, check: str) -> None:
        self.cluster = cluster
        self.chance = chance
        self._check = check
        self._garbled: set[tuple[Kind, str, str]] = set()

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.node_garbled, 2),
            (self.machine_garbled, 2),
            (self.host_garbled, 2),
            (self.check_garbled, 1),
            (self.remediation_garbled, 2),
            (self.budget_garbled, 1),
        ]

    def node_garbled(self) -> None:
        self._garble(NODE, self._node())

    def machine_garbled(self) -> None:
        """Or what stands between it and its host."""
        dialect = self.cluster.dialect
        self._garble(self.chance.choice((dialect.machine, dialect.names_host)), machine_of(self._node()), NAMESPACE)

    def host_garbled(self) -> None:
        self._garble(HOST, host_of(self._node()), NAMESPACE)

    def check_garbled(self) -> None:
        self._garble(self.cluster.dialect.check, self._check, NAMESPACE)

    def remediation_garbled(self) -> None:
        self._garble_one_of(REMEDIATION, NAMESPACE)

    def budget_garbled(self) -> None:
        self._garble(BUDGET, "cluster")

    def heal(self) -> None:
        for kind, name, namespace in sorted(self._garbled):
            self._mend(kind, name, namespace)

    # --- small hands ---------------------------------------------------------------------------------------------

    def _node(self) -> str:
        silent = [name for name, server in self.cluster.servers.items() if not server.is_heard]
        return self.chance.choice(silent or list(self.cluster.servers))

    def _garble_one_of(self, kind: Kind, namespace: str = "", prefix: str = "") -> None:
        found = [tree["metadata"]["name"] for tree in self.cluster.api.list(kind, namespace)]
        if meant := [name for name in found if name.startswith(prefix)]:
            self._garble(kind, self.chance.choice(meant), namespace)

    def _garble(self, kind: Kind, name: str, namespace: str = "") -> None:
        tree = self._find(kind, name, namespace)
        if tree is None or is_garbled(tree):
            return
        notes = {**(tree["metadata"].get("annotations") or {}), GARBLED: NO_TEXT}
        self.cluster.api.store_unjudged({**tree, "metadata": {**tree["metadata"], "annotations": notes}})
        self._garbled.add((kind, name, namespace))
        minutes = self.chance.randint(LEAST, MOST)
        self.cluster.agenda.after(minutes * MINUTE_MS, partial(self._mend, kind, name, namespace))

    def _mend(self, kind: Kind, name: str, namespace: str) -> None:
        """Whatever has that name now."""
        self._garbled.discard((kind, name, namespace))
        tree = self._find(kind, name, namespace)
        if tree is not None and is_garbled(tree):
            body = {"metadata": {"annotations": {GARBLED: None}}}
            self.cluster.api.patch(kind, name, namespace, body, "merge")

    def _find(self, kind: Kind, name: str, namespace: str) -> Tree | None:
        api = self.cluster.api
        return api.find(kind, name, namespace) if api.resources.find(kind) is not None else None


class FenceGarbling(Garbling):
    """The same where nodes are fenced: fences and their documents, too."""

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.node_garbled, 2),
            (self.machine_garbled, 1),
            (self.host_garbled, 1),
            (self.check_garbled, 1),
            (self.fence_garbled, 3),
            (self.document_garbled, 2),
            (self.budget_garbled, 1),
        ]

    def fence_garbled(self) -> None:
        self._garble_one_of(NODE_FENCE)

    def document_garbled(self) -> None:
        """Of a node, or of a whole set."""
        self._garble_one_of(CONFIG_MAP, SYSTEM, "fence-config-")


def is_garbled(tree: Tree) -> bool:
    return GARBLED in (tree["metadata"].get("annotations") or ())
