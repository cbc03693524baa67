"""What runs on a node, as a live list showed it: its pods and its volumes. Never watched, only asked for.

A list becomes an entry of the cache under a name of its own (`pods_at`, `volumes_at`), so that a room sees since when
it is known. The pods of a whole cluster are none of our business until a node is freed.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from msgspec import Struct

from noderemedy.model.ids import FACTS, Kind, Ref

POD = Kind("", "Pod")
ATTACHMENT = Kind("storage.k8s.io", "VolumeAttachment")
PODS_OF_NODE = Kind(FACTS, "PodsOfNode")
VOLUMES_OF_NODE = Kind(FACTS, "VolumesOfNode")
STORAGE_OF_NODE = Kind(FACTS, "StorageOfNode")
KEPT_POD = Kind(FACTS, "KeptPod")
PERSISTENT_VOLUME = Kind("", "PersistentVolume")


class FreeBy(Enum):
    """How the workload of a node that cannot write is freed."""

    TAINT = "taint"  # out-of-service: Kubernetes removes pods and detaches volumes itself (from 1.28 on)
    PODS = "pods"  # each pod and each attachment by us
    NODE = "node"  # the whole Node, with a backup


class Pod(Struct, frozen=True):
    """A pod, as far as it matters for emptying and freeing a node."""

    uid: str
    deleting: bool = False
    is_forced: bool = False  # deleted without a grace period: what it waits for now is not its kubelet
    has_volumes: bool = False  # of a claim: those are what only one writer may have
    is_finished: bool = False  # it runs no more, and never again
    owner: str = ""  # its controller, as kind/name
    stays: bool = False  # of a DaemonSet or a mirror of a file on the node: it belongs to the node
    claims: tuple[str, ...] = ()  # of persistent volumes, in its own namespace
    has_other_storage: bool = False  # reaches shared storage without a claim: nobody knows what cuts it off


class Attachment(Struct, frozen=True):
    """A volume that is attached to some node."""

    uid: str
    node: str = ""
    deleting: bool = False
    volume: str = ""  # the PersistentVolume


class Volume(Struct, frozen=True, order=True):
    """A persistent volume that is bound to a claim."""

    claim: str  # namespace/name
    name: str
    storage_class: str = ""
    driver: str = ""

    @property
    def names(self) -> frozenset[str]:
        """As a fence method's `covers` may name it."""
        told = (("volume", self.name), ("storageClass", self.storage_class), ("driver", self.driver))
        return frozenset(f"{kind}/{name}" for kind, name in told if name)


class PodsOfNode(Struct, frozen=True):
    """The pods that are bound to one node. Like all that is no object of the API it has no uid."""

    uid: ClassVar[str] = ""
    pods: tuple[tuple[Ref, Pod], ...] = ()


class KeptPod(Struct, frozen=True):
    """A pod that its disruption budget kept when it was last asked to go, in the API's words."""

    uid: ClassVar[str] = ""
    why: str


class VolumesOfNode(Struct, frozen=True):
    """The volumes that are attached to one node."""

    uid: ClassVar[str] = ""
    volumes: tuple[tuple[Ref, Attachment], ...] = ()


class StorageOfNode(Struct, frozen=True):
    """The persistent volumes of a cluster, asked for because of one node."""

    uid: ClassVar[str] = ""
    volumes: tuple[Volume, ...] = ()

    def volumes_of(self, claim: str) -> tuple[Volume, ...]:
        """All that say they are bound to a claim: more than one where it was made anew just now; none: not known."""
        return tuple(one for one in self.volumes if one.claim == claim)

    def names_of_volume(self, name: str) -> frozenset[str]:
        return next((one.names for one in self.volumes if one.name == name), frozenset())


def pods_at(node: Ref) -> Ref:
    """Under which name the list of a node's pods is kept."""
    return Ref(node.cluster, PODS_OF_NODE, "", node.name)


def kept_at(pod: Ref) -> Ref:
    return Ref(pod.cluster, KEPT_POD, pod.namespace, pod.name)


def volumes_at(node: Ref) -> Ref:
    return Ref(node.cluster, VOLUMES_OF_NODE, "", node.name)


def storage_at(node: Ref) -> Ref:
    return Ref(node.cluster, STORAGE_OF_NODE, "", node.name)
