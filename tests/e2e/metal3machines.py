"""The machines of a real owner on BareMetalHosts: what Metal3's provider for Cluster API and its operator would do.

Every machine has a host of its own name, linked as that provider links them: the Metal3Machine, which the Machine owns,
names the host, and the host is consumed by the Metal3Machine. When that goes, its host is nobody's, and switched off.
"""

from __future__ import annotations

import asyncio
import contextlib

from tests.e2e.api import Json, eventually
from tests.e2e.background import Gone
from tests.e2e.baremetal import BaremetalOperator
from tests.e2e.clusterapi import MACHINES, ClusterApi
from tests.e2e.fleet import HOSTS, METAL3_MACHINES, Provider, host, metal3_machine


class Metal3Machines:
    """Hosts below the machines of an owner, and whoever switches and releases them; they end with the owner."""

    def __init__(self, owner: ClusterApi) -> None:
        self.owner = owner
        self._remote = owner.provider.api
        self.operator = BaremetalOperator(self._remote, owner.provider.world, owner.provider.kubelets)
        self._releasing: asyncio.Task[None] = owner.background.call(self._start)

    def _start(self) -> asyncio.Task[None]:
        self.operator.start()
        return asyncio.create_task(self._release())

    async def _release(self) -> None:
        async for change, item in self._remote.follow(METAL3_MACHINES):
            if change == "DELETED":
                spec = {"consumerRef": None, "online": False}
                with contextlib.suppress(Gone):
                    await self._remote.merge(f"{HOSTS}/{item['metadata']['name']}", {"spec": spec})

    def add_hosts(self) -> None:
        """For all machines that have none; returns when all are known to be on."""
        found = {machine: node for machine, node in self.owner.machines().items() if not self.host(machine)}
        for machine, node in found.items():
            self.operator.computers[machine] = node
            uid = self.owner.api.get(f"{MACHINES}/{machine}").ok()["metadata"]["uid"]
            self.owner.api.create(METAL3_MACHINES, metal3_machine(machine, uid)).ok()
            self.owner.api.create(HOSTS, host(machine, Provider.METAL3)).ok()
        eventually(lambda: all(self.host(one)["status"]["poweredOn"] for one in found), "all are known to be on")

    def host(self, machine: str) -> Json:
        """The host, or {} when there is none."""
        return self.owner.api.find(f"{HOSTS}/{machine}")

    def notes_on_host(self, machine: str) -> set[str]:
        return set(self.host(machine)["metadata"].get("annotations", {}))
