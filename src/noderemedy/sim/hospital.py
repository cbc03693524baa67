"""External remediation in one simulated run: a ward, its doctor, its checkers, and what goes wrong there.

Half of the seeds have one. What is drawn for it comes from a chance of its own, so that the other half of the world is
the same with and without it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from noderemedy.sim.apiserver import Tree
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.doctor import Doctor
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.ward import DOCTOR, Ward
from noderemedy.sim.wardcheckers import WardCheckers

MINUTE_MS = 60_000
SMALLEST = 4  # nodes of a cluster that has a ward
Trouble = tuple[Callable[[], None], int]


class Hospital:
    """One ward with all that belongs to it."""

    def __init__(self, cluster: Cluster, checkers: Checkers, beds: int, seed: int) -> None:
        self.cluster = cluster
        self.chance = random.Random(seed)
        self.ward = Ward(cluster, beds)
        self.doctor = Doctor(self.ward, self.chance.getrandbits(64))
        self.checkers = WardCheckers(checkers, self.ward.nodes, DOCTOR)

    # --- what goes wrong -----------------------------------------------------------------------------------------

    def troubles(self) -> list[Trouble]:
        """With their weights, for `Troubles`."""
        return [
            (self.patient_collapses, 8),
            (self.template_torn, 2),
            (self.request_deleted_by_hand, 3),
            (self.finalizer_removed_by_hand, 2),
        ]

    def patient_collapses(self) -> None:
        """Servers of the ward fail more often than others, or there would be little to see."""
        server = self.cluster.servers[self.chance.choice(self.ward.nodes)]
        self.chance.choice((server.panic, server.hang))()

    def template_torn(self) -> None:
        """Somebody deletes the template, and makes it again later."""
        if self.ward.has_template():
            self.ward.tear_template()
            self.cluster.agenda.after(self.chance.randint(1, 15) * MINUTE_MS, self.ward.write_template)

    def request_deleted_by_hand(self) -> None:
        """Fault 29: a person cancels in the middle; the doctor cleans up, and the machine is as sick as before."""
        if request := self._some_request():
            self.cluster.api.delete(DOCTOR, request["metadata"]["name"], NAMESPACE)

    def finalizer_removed_by_hand(self) -> None:
        """Fault 30."""
        if request := self._some_request():
            body = {"metadata": {"finalizers": None}}
            self.cluster.api.patch(DOCTOR, request["metadata"]["name"], NAMESPACE, body, "merge")

    def _some_request(self) -> Tree | None:
        standing = self.cluster.api.list(DOCTOR)
        return self.chance.choice(standing) if standing else None


def hospital_of(seed: int, cluster: Cluster, checkers: Checkers) -> Hospital | None:
    """The hospital of this seed's cluster, if it has one."""
    chance = random.Random(f"hospital {seed}")
    nodes = len(cluster.servers)
    if nodes < SMALLEST or chance.random() < 0.5:
        return None
    return Hospital(cluster, checkers, max(1, nodes // SMALLEST), chance.getrandbits(64))
