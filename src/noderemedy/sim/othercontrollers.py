"""Somebody runs a controller of its own for health checks: it writes the status of the check over all machines.

Whoever writes a check's status governs it, and managers leave that check to it: it has nothing begun (S8,
`permitting.py`). It ends as the guide says: a person stops that controller and annotates the check, so that nobody has
to wait an hour. One history in four knows it (`extras.py`).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.policies import FIRST
from noderemedy.wire import names

MINUTE_MS = 60_000
MANAGER = "somebody-elses-controller"


class OtherControllers:
    """Writes a status every minute, for a while."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self._left = 0  # how often it is still going to write

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.check_taken_over, 4)]

    def check_taken_over(self) -> None:
        if not self._left:
            self._left = self.chance.randint(6, 15)
            self._govern(None)
            self._write()

    def _write(self) -> None:
        """What it counts is its own business; that it was there is what the API server notes beside every write."""
        if not self._left:
            return
        self._left -= 1
        check = self._check()
        if check is not None:
            now = str(self.cluster.agenda.wall())
            entry = {"manager": MANAGER, "operation": "Update", "apiVersion": check["apiVersion"]}
            entry |= {"time": now, "subresource": "status", "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {}}}
            body = {"metadata": {"managedFields": [entry]}, "status": {"expectedMachines": self._left}}
            self._patch(body, "status")
        self.cluster.agenda.after(MINUTE_MS, self._write if self._left else self.heal)

    def heal(self) -> None:
        """It is stopped, and the check is ours."""
        self._left = 0
        self._govern("true")

    def _govern(self, value: str | None) -> None:
        if self._check() is not None:
            self._patch({"metadata": {"annotations": {names.GOVERN: value}}})

    def _patch(self, body: Tree, subresource: str = "") -> None:
        kind = self.cluster.dialect.check
        self.cluster.api.patch(kind, FIRST, NAMESPACE, body, "merge", subresource=subresource)

    def _check(self) -> Tree | None:
        kind = self.cluster.dialect.check
        is_served = self.cluster.api.resources.find(kind) is not None
        return self.cluster.api.find(kind, FIRST, NAMESPACE) if is_served else None


def is_anothers(check: Tree) -> bool:
    """Whether somebody else has written its status, and nobody says that it is ours all the same."""
    meta = check["metadata"]
    written = any(one.get("subresource") == "status" for one in meta.get("managedFields") or ())
    return written and (meta.get("annotations") or {}).get(names.GOVERN) != "true"
