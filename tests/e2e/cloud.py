"""A provider of machines for a real control plane: an instance per Machine, which is gone before its finalizer goes.

Stands in for a cloud and for the machine controller of Cluster API. Machines whose infrastructureRef names a
`CloudMachineTemplate` get a computer with a simulated kubelet; a deleted one loses it first, then says so in its
conditions, and only then is let go. Call its methods in the bench's loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime

from tests.e2e.api import Json
from tests.e2e.background import AsyncApi, Gone
from tests.e2e.kubelets import Kubelets
from tests.e2e.world import World

MACHINES = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines"
FINALIZER = "cloud.example.com/instance"
KIND = "CloudMachineTemplate"
MERGE_PAUSE_S = 0.2


class Cloud:
    """Keeps one computer for each Machine of its kind."""

    def __init__(self, api: AsyncApi, world: World, kubelets: Kubelets) -> None:
        self._api = api
        self._world = world
        self._kubelets = kubelets
        self.is_refusing = False  # deletions wait
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        async for change, machine in self._api.follow(MACHINES):
            name = machine["metadata"]["name"]
            is_busy = name in self._tasks and not self._tasks[name].done()
            if change != "DELETED" and machine["spec"].get("infrastructureRef", {}).get("kind") == KIND and not is_busy:
                self._tasks[name] = asyncio.create_task(self._tend(name))

    async def _tend(self, name: str) -> None:
        """From one state to the next, until there is nothing to do."""
        with contextlib.suppress(Gone):
            while True:
                machine = await self._api.send("GET", f"{MACHINES}/{name}")
                keepers = machine["metadata"].get("finalizers", [])
                if "deletionTimestamp" in machine["metadata"]:
                    if FINALIZER not in keepers:
                        return
                    if not self.is_refusing:
                        await self._end(machine)
                elif FINALIZER not in keepers:
                    await self._keep(machine, [*keepers, FINALIZER])
                elif name not in self._world.computers:
                    await self._provision(machine)
                else:
                    return
                await asyncio.sleep(MERGE_PAUSE_S)

    async def _provision(self, machine: Json) -> None:
        name = machine["metadata"]["name"]
        provider_id = f"cloud://{machine['metadata']['uid']}"
        self._kubelets.add(name)
        node = await self._joined(name)
        await self._api.merge(f"/api/v1/nodes/{name}", {"spec": {"providerID": provider_id}})
        await self._api.merge(f"{MACHINES}/{name}", {"spec": {"providerID": provider_id}})
        node_ref = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
        await self._say(name, "True", "InstanceRunning", nodeRef=node_ref)

    async def _joined(self, name: str) -> Json:
        while True:
            with contextlib.suppress(Gone):
                return await self._api.send("GET", f"/api/v1/nodes/{name}")
            await asyncio.sleep(MERGE_PAUSE_S)

    async def _end(self, machine: Json) -> None:
        """The instance first, then the statement, then the finalizer."""
        name = machine["metadata"]["name"]
        self._kubelets.power(name, on=False)
        await self._say(name, "False", "Deleted")
        found = await self._api.send("GET", f"{MACHINES}/{name}")
        await self._keep(found, [one for one in found["metadata"]["finalizers"] if one != FINALIZER])

    async def _say(self, name: str, status: str, reason: str, **more: object) -> None:
        found = await self._api.send("GET", f"{MACHINES}/{name}")
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "InfrastructureReady", "status": status, "reason": reason, "lastTransitionTime": moment}
        others = [one for one in found.get("status", {}).get("conditions", []) if one["type"] != ready["type"]]
        metadata = {"resourceVersion": found["metadata"]["resourceVersion"]}
        status_body = {"conditions": [*others, ready], **more}
        await self._api.merge(f"{MACHINES}/{name}/status", {"metadata": metadata, "status": status_body})

    async def _keep(self, machine: Json, finalizers: list[str]) -> None:
        meta = machine["metadata"]
        metadata = {"resourceVersion": meta["resourceVersion"], "finalizers": finalizers}
        await self._api.merge(f"{MACHINES}/{meta['name']}", {"metadata": metadata})
