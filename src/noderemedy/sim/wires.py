"""Fault 55 where hosts are powered: the BMC address of a host is another one's, so that the wrong server goes off.

A share of the worlds of health checks and Metal3 knows it (`wires_of`, of a chance of its own). The host then tells of
the other server and switches it: beside that one's own host, which wants it on, or, where both were mixed up, alone.
Meanwhile nothing silences a node of a wrong address while it runs: that it reports is all that can tell, and of a node
that nobody hears its host's word is the proof. Nobody may free it. Later a person corrects the addresses and removes
the requests, as the alert says.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from noderemedy.model.ids import HOST
from noderemedy.sim.cluster import Cluster, host_of
from noderemedy.sim.objects import NAMESPACE

MINUTE_MS = 60_000
SHARE, MIXED_UP = 0.15, 0.5  # of the worlds; of the mistakes that are about both hosts
SPARED_MINUTES = 10  # what was believed of the wrong server is forgotten by then
WAYS = ("taint", "pods", "node")


class Wires:
    """Draws whose address is wrong, and has that node power cycled."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self._crossed: dict[str, tuple[str, ...]] = {}  # node: all whose hosts have another one's BMC for its sake

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.bmc_shared, 5)]

    def bmc_shared(self) -> None:
        mine, other = self.chance.sample(list(self.cluster.servers), 2)
        wrong = (mine, other) if self.chance.random() < MIXED_UP else (mine,)
        if not all(self._is_free(node) for node in (mine, other)):
            return
        self._crossed[mine] = wrong
        for node in wrong:
            self.cluster.servers[node].is_spared = True
            self._connect(node, other if node == mine else mine)
        self.chance.choice((self._ails, self._is_marked, self._is_remediated))(mine)
        self.cluster.agenda.after(self.chance.randint(5, 40) * MINUTE_MS, partial(self._correct, mine))

    def _is_free(self, node: str) -> bool:
        """Whether it reports, and nobody is about its host."""
        server, host = self.cluster.servers[node], self.cluster.api.get(HOST, host_of(node), NAMESPACE)
        is_quiet = not host["metadata"].get("annotations") and host.get("status", {}).get("poweredOn") is True
        return server.is_heard and not server.is_spared and is_quiet

    def _connect(self, node: str, other: str) -> None:
        body = {"spec": {"bmc": {"address": f"ipmi://{host_of(other)}.bmc.example"}}}
        self.cluster.api.patch(HOST, host_of(node), NAMESPACE, body, "merge")
        self.cluster.baremetal.connect(host_of(node), self.cluster.servers[other])
        self.cluster.baremetal.poke(NAMESPACE, host_of(node))

    # --- why somebody has it power cycled --------------------------------------------------------------------------

    def _ails(self, node: str) -> None:
        """Its kubelet says that it is sick, for its check to see."""
        self.cluster.servers[node].ail(True)

    def _is_marked(self, node: str) -> None:
        self.cluster.mark(node)

    def _is_remediated(self, node: str) -> None:
        self.cluster.remediate(node, strategy="reboot", freeBy=self.chance.choice(WAYS))

    # --- and how it ends ---------------------------------------------------------------------------------------------

    def _correct(self, node: str) -> None:
        wrong = self._crossed.pop(node, ())
        for one in wrong:
            self.cluster.unmark(one)
            self.cluster.recall(one)
            self.cluster.servers[one].ail(False)
            self._connect(one, one)
        self.cluster.agenda.after(SPARED_MINUTES * MINUTE_MS, partial(self._forget, wrong))

    def _forget(self, nodes: tuple[str, ...]) -> None:
        for node in nodes:
            self.cluster.servers[node].is_spared = False

    def heal(self) -> None:
        for node in list(self._crossed):
            self._correct(node)


def wires_of(seed: int, cluster: Cluster) -> Wires | None:
    chance = random.Random(f"wires {seed}")
    return Wires(cluster, chance) if chance.random() < SHARE else None
