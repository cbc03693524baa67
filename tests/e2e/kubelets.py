"""Simulated kubelets for a real control plane: enough for scheduler, StatefulSet and node lifecycle controllers.

As a real kubelet each registers its Node when it starts and finds none (and only then: a Node that is deleted under a
running kubelet stays away), renews its Lease, posts its status with the boot id, reports bound pods Running, and ends
pods that are being deleted. All of that only while its computer is alive. What runs for real is kept in `World`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime

from tests.e2e.api import Json
from tests.e2e.background import AsyncApi, Gone
from tests.e2e.containers import Containers, is_of_a_job
from tests.e2e.volumes import Disks, has_claims, in_use
from tests.e2e.world import Computer, World

STRATEGIC = "application/strategic-merge-patch+json"
HEARTBEAT_S = 1.0
BOOT_S = 0.5


class Kubelets:
    """The kubelets of all computers. Call its methods in the bench's loop."""

    def __init__(
        self, api: AsyncApi, world: World, boot_s: float = BOOT_S, containers: Containers | None = None
    ) -> None:
        self._api = api
        self._world = world
        self._boot_s = boot_s
        self.disks: Disks | None = None  # where there is storage: a pod waits for its volumes
        self._in_use: dict[str, dict[str, list[str]]] = {}  # computer → pod uid → volumes
        self._ready_since: dict[str, str] = {}  # a heartbeat is no transition
        self._containers = containers  # who really runs the pods of Jobs; None: they are only said to run
        self._lives: dict[str, asyncio.Task[None]] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        self._watching: asyncio.Task[None] | None = None
        self._pod_tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._watching = asyncio.create_task(self._watch_pods())

    def add(self, name: str, labels: Mapping[str, str] | None = None) -> None:
        """A new computer, switched on."""
        self._world.add(name)
        self._labels[name] = labels or {}
        self.power(name, on=True)

    def crash(self, name: str) -> None:
        """The node hangs: kubelet silent, containers still running, power still on."""
        self._world.hang(name)
        self._end_life(name)

    def power(self, name: str, on: bool) -> None:
        """Switches the computer; off ends everything on it at once, on boots it anew."""
        if on and not self._world.computers[name].powered:
            self._world.power_on(name)
            self._in_use.pop(name, None)
            self._lives[name] = asyncio.create_task(self._live(self._world.computers[name]))
        if not on:
            self._world.power_off(name)
            if self._containers:
                self._containers.power_off(name)
            self._end_life(name)

    def never_boots(self, name: str) -> None:
        """From now on this computer has power but its kubelet never comes: a broken disk."""
        self._labels.pop(name, None)

    def _end_life(self, name: str) -> None:
        if life := self._lives.pop(name, None):
            life.cancel()

    async def _live(self, computer: Computer) -> None:
        """From power-on to power-off: boot, register, heartbeats."""
        await asyncio.sleep(self._boot_s)
        self._ready_since[computer.name] = now()
        if computer.name not in self._labels:
            return
        await self._register(computer)
        pods = await self._api.send("GET", f"/api/v1/pods?fieldSelector=spec.nodeName={computer.name}")
        for pod in pods["items"]:
            self._handle(pod)
        while True:
            await self._renew_lease(computer)
            with contextlib.suppress(Gone):  # deleted under a running kubelet: it does not come back by itself
                await self._api.merge(f"/api/v1/nodes/{computer.name}/status", {"status": self._status(computer)})
            await asyncio.sleep(HEARTBEAT_S)

    async def _register(self, computer: Computer) -> None:
        labels = {"kubernetes.io/hostname": computer.name, "kubernetes.io/os": "linux", **self._labels[computer.name]}
        notes = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}  # as every kubelet says today
        metadata = {"name": computer.name, "labels": labels, "annotations": notes}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
        with contextlib.suppress(Gone):  # it exists: nothing to register
            await self._api.send("POST", "/api/v1/nodes", {**node, "status": self._status(computer)})
            self._world.note(computer.name, "registered", computer.boot_id)

    def _status(self, computer: Computer) -> Json:
        """With the volumes that are mounted: they are not detached while the node says so."""
        pods = self._in_use.get(computer.name, {})
        mounted = sorted({in_use(volume) for volumes in pods.values() for volume in volumes})
        return {**node_status(computer, self._ready_since[computer.name]), "volumesInUse": mounted}

    async def _renew_lease(self, computer: Computer) -> None:
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        spec = {"holderIdentity": computer.name, "leaseDurationSeconds": 40, "renewTime": now(microseconds=True)}
        try:
            await self._api.merge(f"{path}/{computer.name}", {"spec": spec})
        except Gone:
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": computer.name}}
            with contextlib.suppress(Gone):
                await self._api.send("POST", path, {**lease, "spec": spec})

    async def _watch_pods(self) -> None:
        async for change, pod in self._api.follow("/api/v1/pods"):
            if change == "DELETED":
                self._forget(pod)
            else:
                self._handle(pod)

    def _forget(self, pod: Json) -> None:
        """A pod that was force-deleted ends only on a computer whose kubelet hears of it."""
        computer = self._world.computers.get(pod["spec"].get("nodeName", ""))
        if computer is not None and computer.alive:
            self._world.stop_container(computer.name, pod["metadata"]["uid"])

    def _handle(self, pod: Json) -> None:
        computer = self._world.computers.get(pod["spec"].get("nodeName", ""))
        if computer is None or not computer.alive or computer.name not in self._lives:
            return
        if pod["status"].get("phase") in ("Succeeded", "Failed"):
            return
        if self._containers and is_of_a_job(pod):
            self._containers.tend(computer.name, pod)
            return
        task = asyncio.create_task(self._tend(computer, pod))
        self._pod_tasks.add(task)
        task.add_done_callback(self._pod_tasks.discard)

    async def _tend(self, computer: Computer, pod: Json) -> None:
        """Starts what shall run, ends what shall go, and says so."""
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        with contextlib.suppress(Gone):
            if self.disks and has_claims(pod) and not meta.get("deletionTimestamp"):
                volumes = await self.disks.until_attached(pod, computer.name)
                if not computer.alive or computer.name not in self._lives:
                    return
                self._in_use.setdefault(computer.name, {})[meta["uid"]] = volumes
            if meta.get("deletionTimestamp"):
                self._world.stop_container(computer.name, meta["uid"])
                self._in_use.get(computer.name, {}).pop(meta["uid"], None)
                options = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
                await self._api.send("DELETE", path, options)
            else:
                self._world.start_container(computer.name, meta["uid"], f"{meta['namespace']}/{meta['name']}")
                if not is_ready(pod):
                    patch = {"metadata": {"uid": meta["uid"]}, "status": pod_status(pod)}
                    await self._api.send("PATCH", f"{path}/status", patch, STRATEGIC)


def is_ready(pod: Json) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", []))


def pod_status(pod: Json) -> Json:
    """Running and ready."""
    conditions = [{"type": name, "status": "True"} for name in ("Initialized", "ContainersReady", "Ready")]
    containers = [
        {"name": one["name"], "image": one["image"], "imageID": "", "ready": True, "restartCount": 0,
         "state": {"running": {"startedAt": now()}}}
        for one in pod["spec"]["containers"]
    ]  # fmt: skip
    return {"phase": "Running", "conditions": conditions, "containerStatuses": containers, "startTime": now()}


def node_status(computer: Computer, ready_since: str) -> Json:
    """What a healthy kubelet posts."""
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "simulated"}
    room = {"cpu": "16", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    return {
        "capacity": room,
        "allocatable": room,
        "conditions": [{**ready, "lastHeartbeatTime": now(), "lastTransitionTime": ready_since}],
        "addresses": [{"type": "Hostname", "address": computer.name}, {"type": "InternalIP", "address": "127.0.0.1"}],
        "nodeInfo": {
            "bootID": computer.boot_id,
            "machineID": computer.name,
            "systemUUID": computer.name,
            "kubeletVersion": "v1.36.3",
            "kubeProxyVersion": "",
            "kernelVersion": "6.1.0",
            "osImage": "simulated",
            "operatingSystem": "linux",
            "architecture": "amd64",
            "containerRuntimeVersion": "simulated://1",
        },
    }


def now(microseconds: bool = False) -> str:
    """A timestamp as the API writes it."""
    pattern = "%Y-%m-%dT%H:%M:%S.%fZ" if microseconds else "%Y-%m-%dT%H:%M:%SZ"
    return datetime.now(UTC).strftime(pattern)
