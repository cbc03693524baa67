"""A simulated cloud in a bad mood: Machines without a controller, and what goes wrong with them and their provider.

Every second seed has one (`cloud_of`). Its machines have a check of their own and are replaced by the reference owner;
`successors.py` holds the outcome against the truth.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import MACHINE
from noderemedy.sim import objects
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.kinds import DISRUPTION_BUDGET
from noderemedy.sim.server import Server
from noderemedy.wire import names

MINUTE_MS = 60_000
MACHINES = 3
EVERY = 2
WORKLOAD_NAME = "database"  # the workload of `cluster.py`, which its disruption budget is named after


class Cloud:
    """Plans troubles of instances and of their provider, and ends them."""

    def __init__(self, cluster: Cluster, seed: int, *, has_check: bool = True) -> None:
        self.cluster = cluster
        self.provider = cluster.provider
        self.chance = random.Random(f"cloud {seed}")
        self.provider.removes_nodes = self.chance.random() < 0.5
        self.provider.grow(MACHINES)
        if has_check:
            cluster.api.create(cluster.dialect.say(pool_check()))

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.instance_hangs, 4),
            (self.instance_panics, 3),
            (self.instance_cut_off, 2),
            (self.deletions_fail, 2),
            (self.instances_linger, 2),
            (self.cloud_exhausted, 2),
            (self.person_wants_replaced, 6),
            (self.person_spares, 5),
            (self.disruption_forbidden, 5),
        ]

    def instance_hangs(self) -> None:
        if server := self._instance():
            server.hang()

    def instance_panics(self) -> None:
        if server := self._instance():
            server.panic()

    def instance_cut_off(self) -> None:
        """It comes back, in time or too late; one that was ended meanwhile does not."""
        if server := self._instance():
            server.link(False)
            self._later(lambda: server.link(True))

    def deletions_fail(self) -> None:
        self.provider.is_refusing = True
        self._later(self.calm)

    def instances_linger(self) -> None:
        """Deleted is not gone: they run on for a while (race R42)."""
        self.provider.lingers_ms = self.chance.randint(10, 300) * 1_000
        self._later(self.calm)

    def cloud_exhausted(self) -> None:
        self.provider.is_exhausted = True
        self._later(self.calm)

    def person_wants_replaced(self) -> None:
        """Somebody marks a Machine whose node works: it has pods to evict, and a kubelet that ends them."""
        if server := self._instance():
            self._annotate(server.name, "")

    def person_spares(self) -> None:
        """Somebody takes such a mark back, at whatever point the replacement is."""
        for machine in self.provider.machines():
            if names.REMEDIATE in (machine["metadata"].get("annotations") or {}):
                self._annotate(machine["metadata"]["name"], None)

    def disruption_forbidden(self) -> None:
        """Fault 64, for a while: somebody wants a Machine replaced whose pods no disruption budget lets go."""
        busy = [server for server in self.provider.instances.values() if server.is_heard and server.running]
        if not busy:
            self.cluster.move(f"{WORKLOAD_NAME}-0")  # to the emptiest node: for the next time
        elif self.cluster.api.find(DISRUPTION_BUDGET, WORKLOAD_NAME, objects.WORKLOAD) is None:
            self.cluster.api.create(objects.disruption_budget(WORKLOAD_NAME))
            self._annotate(self.chance.choice(busy).name, "")
            self.cluster.agenda.after(self.chance.randint(2, 10) * MINUTE_MS, self.person_spares)
            self._later(self._allow_disruption)

    def _allow_disruption(self) -> None:
        if self.cluster.api.find(DISRUPTION_BUDGET, WORKLOAD_NAME, objects.WORKLOAD) is not None:
            self.cluster.api.delete(DISRUPTION_BUDGET, WORKLOAD_NAME, objects.WORKLOAD)

    def calm(self) -> None:
        """The provider does again what it is asked for."""
        self.provider.is_refusing = self.provider.is_exhausted = False
        self.provider.lingers_ms = 0
        self.provider.poke()

    def heal(self) -> None:
        """All faults end. One that hangs is replaced by the usual means; more of them might be too many to begin."""
        self.calm()
        self._allow_disruption()
        hung = [server for server in self.provider.instances.values() if server.has_power and not server.is_heard]
        for server in hung[1:]:
            server.booted()
        for server in self.provider.instances.values():
            if not server.is_linked:
                server.link(True)

    def _instance(self) -> Server | None:
        alive = [server for server in self.provider.instances.values() if server.is_heard]
        return self.chance.choice(alive) if alive else None

    def _annotate(self, machine: str, value: str | None) -> None:
        if self.cluster.api.find(MACHINE, machine, objects.NAMESPACE) is not None:
            body = {"metadata": {"annotations": {names.REMEDIATE: value}}}
            self.cluster.api.patch(MACHINE, machine, objects.NAMESPACE, body, "merge")

    def _later(self, do: Callable[[], None]) -> None:
        self.cluster.agenda.after(self.chance.randint(1, 20) * MINUTE_MS, do)


def pool_check() -> dict[str, Any]:
    """A check over the pool that asks the owner: hosts to power cycle there are none."""
    tree = objects.health_check("cloud", "100%")
    tree["spec"]["selector"]["matchLabels"] = {"pool": "cloud"}
    del tree["spec"]["maxUnhealthy"]
    return tree


def cloud_of(seed: int, cluster: Cluster) -> Cloud | None:
    return Cloud(cluster, seed) if seed % EVERY == 1 else None
