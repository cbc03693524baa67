"""The storage of the bench: a CSI driver that attaches volumes, of which each can be at one node only.

The real attach-detach controller asks for attachments (VolumeAttachment) and takes them back; this driver carries them
out. A kubelet starts a pod only when all its volumes are attached to its node, as a real one does.
"""

from __future__ import annotations

import asyncio
import contextlib

from tests.e2e.api import Api, Json
from tests.e2e.background import AsyncApi, Gone
from tests.e2e.world import World

DRIVER = "disks.example.com"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
CLASS = "disks"


class Disks:
    """The driver. Call its methods in the bench's loop."""

    def __init__(self, api: AsyncApi, world: World) -> None:
        self._api = api
        self._world = world
        self._watching: asyncio.Task[None] | None = None
        self._attached: dict[str, tuple[str, str]] = {}  # attachment → volume, node
        self._changed = asyncio.Event()

    def start(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        async for change, one in self._api.follow(ATTACHMENTS):
            name, spec = one["metadata"]["name"], one["spec"]
            if change == "DELETED" or spec["attacher"] != DRIVER:
                self._detach(name)
            elif name not in self._attached and not one["metadata"].get("deletionTimestamp"):
                await self._attach(name, spec["source"]["persistentVolumeName"], spec["nodeName"])

    async def _attach(self, name: str, volume: str, node: str) -> None:
        with contextlib.suppress(Gone):
            await self._api.merge(f"{ATTACHMENTS}/{name}/status", {"status": {"attached": True}})
            self._attached[name] = (volume, node)
            self._world.note(node, "volume attached", volume)
            self._changed.set()

    def _detach(self, name: str) -> None:
        if found := self._attached.pop(name, None):
            self._world.note(found[1], "volume detached", found[0])

    async def until_attached(self, pod: Json, node: str) -> list[str]:
        """Wait until all volumes of this pod are at this node; their names."""
        namespace = pod["metadata"]["namespace"]
        claims = [one["persistentVolumeClaim"]["claimName"] for one in pod["spec"]["volumes"] if is_claim(one)]
        volumes = []
        for claim in claims:
            found = await self._api.send("GET", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}")
            volumes.append(found["spec"]["volumeName"])
        while not {(volume, node) for volume in volumes} <= set(self._attached.values()):
            self._changed.clear()
            await self._changed.wait()
        return volumes


def is_claim(volume: Json) -> bool:
    return "persistentVolumeClaim" in volume


def has_claims(pod: Json) -> bool:
    return any(is_claim(volume) for volume in pod["spec"].get("volumes", []))


def install_driver(api: Api, volumes: int) -> None:
    """The driver, its class, and so many volumes that are made already."""
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER}}
    api.create("/apis/storage.k8s.io/v1/csidrivers", {**driver, "spec": {"attachRequired": True}}).ok()
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": CLASS}}
    api.create("/apis/storage.k8s.io/v1/storageclasses", {**storage, "provisioner": DRIVER}).ok()
    for number in range(volumes):
        api.create("/api/v1/persistentvolumes", a_volume(f"disk-{number}")).ok()


def a_volume(name: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": CLASS,
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": DRIVER, "volumeHandle": name},
        },
    }


def in_use(volume: str) -> str:
    """As a kubelet names it in its node's status: it is not detached while it stands there."""
    return f"kubernetes.io/csi/{DRIVER}^{volume}"
