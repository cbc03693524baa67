"""People who pull the plugs of a server whose BMC is dead, and say so (race R36). Troubles for `Troubles.add`.

Their word is true, and stays true: the power comes back when what ran there is free, or when the word is taken back.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from noderemedy.model.attestation import Attestation
from noderemedy.model.ids import REMEDIATION
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.wire import names
from noderemedy.wire.attestations import attestation_text

MINUTE_MS = 60_000
COMES_AFTER = (1, 2, 3, 4, 5, 10, 20, 40)  # minutes: while it is powered off, waited for, given to its owner, given up
WAYS = ("taint", "pods", "node")
PATIENCE = 20  # looks, one a minute


class Plugs:
    """Draws whose BMC dies, and when somebody goes to see."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self.pulled: set[str] = set()

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.bmc_dies, 2)]

    def bmc_dies(self) -> None:
        """Fault 47 for good, under a server that hangs: nobody but a person can tell whether it is off."""
        name = self.chance.choice(list(self.cluster.servers))
        server = self.cluster.servers[name]
        server.bmc.answers = False
        server.hang()
        how = {"strategy": self.chance.choice(("reboot", "escalate")), "freeBy": self.chance.choice(WAYS)}
        self.cluster.remediate(name, **how, deleteAfterRetries=0, powerOnTimeoutSeconds=60)
        self._later(self.chance.choice(COMES_AFTER), partial(self._come, name))

    def heal(self) -> None:
        for name in sorted(self.pulled):
            self._take_back(name)

    def _come(self, name: str) -> None:
        """Somebody is there: what hangs is switched off by hand, and its request is told."""
        server = self.cluster.servers[name]
        boot = self._evidence(name).get("bootID")
        if server.is_heard or not boot or boot != server.boot_id:
            server.bmc.answers = True
            return
        server.power_off()
        self.pulled.add(name)
        self._say(name)
        self._later(1, partial(self._look, name, PATIENCE))

    def _look(self, name: str, patience: int) -> None:
        """Wait until its workload has moved; then, or when that takes too long, the BMC is mended."""
        if name not in self.pulled:
            return
        is_waited_for = bool(self._request(name)) and "freedAt" not in self._evidence(name)
        if is_waited_for and patience:
            self._later(1, partial(self._look, name, patience - 1))
        else:
            self._take_back(name)
            self.cluster.baremetal.poke(NAMESPACE, host_of(name))

    def _take_back(self, name: str) -> None:
        """Before the power comes: whatever boots then is another boot, and a word about the last one is history."""
        self.pulled.discard(name)
        if self._request(name):
            self._annotate(name, None)
        self.cluster.servers[name].bmc.answers = True

    def _say(self, name: str) -> None:
        evidence = self._evidence(name)
        word = Attestation("anna", self.cluster.agenda.wall(), evidence["nodeUid"], evidence["bootID"])
        self._annotate(name, attestation_text(word))

    def _annotate(self, name: str, text: str | None) -> None:
        body = {"metadata": {"annotations": {names.ATTESTED_OFF: text}}}
        self.cluster.api.patch(REMEDIATION, machine_of(name), NAMESPACE, body, "merge")

    def _request(self, name: str) -> Tree:
        return self.cluster.api.find(REMEDIATION, machine_of(name), NAMESPACE) or {}

    def _evidence(self, name: str) -> dict[str, str]:
        found: dict[str, str] = self._request(name).get("status", {}).get("evidence") or {}
        return found

    def _later(self, minutes: int, do: Callable[[], None]) -> None:
        self.cluster.agenda.after(minutes * MINUTE_MS, do)
