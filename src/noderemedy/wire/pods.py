"""A list of pods from the bytes of the API: what `ListPods` brings back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.workload import POD, Pod, PodsOfNode, pods_at
from noderemedy.wire.objects import Undecodable
from noderemedy.wire.scalars import UNREADABLE
from noderemedy.wire.shapes import Owner

MIRROR = "kubernetes.io/config.mirror"
OF_THE_NODE = ("DaemonSet", "Node")  # controllers whose pods belong to this very node
FINISHED = ("Succeeded", "Failed")


class PodMetadata(Struct, rename="camel"):
    """The metadata of a pod."""

    name: str
    namespace: str = ""
    uid: str = ""
    annotations: dict[str, str] | None = None
    owner_references: list[Owner] | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None


# Volumes that are the pod's own, or the node's: cutting a node off from its storage does not touch them.
OF_THE_POD = ("name", "configMap", "secret", "emptyDir", "downwardAPI", "projected", "hostPath", "image")
CLAIMED = ("persistentVolumeClaim", "ephemeral")


class PodSpec(Struct):
    """What is wanted of a pod."""

    volumes: list[dict[str, Any]] | None = None


class PodStatus(Struct):
    """What is known of a pod."""

    phase: str = ""


class PodShape(Struct):
    """A pod of a list."""

    metadata: PodMetadata
    spec: PodSpec | None = None
    status: PodStatus | None = None


class ListMetadata(Struct, rename="camel"):
    """The metadata of a list."""

    resource_version: str = ""


class PodListShape(Struct):
    """A list of pods."""

    metadata: ListMetadata
    items: list[PodShape] | None = None


def pods_of_node(node: Ref, raw: bytes) -> Seen:
    """The list as the cache keeps it. Raises Undecodable: half a list would be a wrong one."""
    try:
        found = msgspec.json.decode(raw, type=PodListShape)
    except UNREADABLE as error:
        raise Undecodable(pods_at(node), "", "", str(error)) from None
    pods = {pod_ref(node, shape): pod(shape) for shape in found.items or ()}
    return Seen(pods_at(node), "", found.metadata.resource_version, PodsOfNode(tuple(sorted(pods.items()))))


def pod_ref(node: Ref, shape: PodShape) -> Ref:
    return Ref(node.cluster, POD, shape.metadata.namespace, shape.metadata.name)


def pod(shape: PodShape) -> Pod:
    meta, spec = shape.metadata, shape.spec or PodSpec()
    controllers = [owner for owner in meta.owner_references or () if owner.controller]
    claims = tuple(sorted(name for volume in spec.volumes or () if (name := claim_of(meta.name, volume))))
    return Pod(
        uid=meta.uid,
        deleting=meta.deletion_timestamp is not None,
        is_forced=meta.deletion_timestamp is not None and meta.deletion_grace_period_seconds == 0,
        has_volumes=bool(claims),
        is_finished=shape.status is not None and shape.status.phase in FINISHED,
        stays=MIRROR in (meta.annotations or {}) or any(owner.kind in OF_THE_NODE for owner in controllers),
        owner=f"{controllers[0].kind}/{controllers[0].name}" if controllers else "",
        claims=claims,
        has_other_storage=any(is_other(volume) for volume in spec.volumes or ()),
    )


def claim_of(pod: str, volume: dict[str, Any]) -> str:
    """The claim of a volume; an ephemeral one has the name of the pod and its own. "" where it has none."""
    claim = volume.get("persistentVolumeClaim")
    if isinstance(claim, dict):
        return str(claim.get("claimName", ""))
    return f"{pod}-{volume.get('name', '')}" if volume.get("ephemeral") is not None else ""


def is_other(volume: dict[str, Any]) -> bool:
    """Whether a volume is neither the pod's own nor claimed: NFS, iSCSI, Ceph by address, a driver inline."""
    return any(value is not None and key not in (*OF_THE_POD, *CLAIMED) for key, value in volume.items())
