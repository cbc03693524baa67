"""A list of persistent volumes from the bytes of the API: what `ListStorage` brings back. Only bound ones are kept.

A volume that is kept when its claim is deleted is Released and goes on naming that claim: it says nothing about what a
later claim of the same name has.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.workload import StorageOfNode, Volume, storage_at
from noderemedy.wire.objects import Undecodable
from noderemedy.wire.pods import ListMetadata, PodMetadata
from noderemedy.wire.scalars import UNREADABLE

BOUND = "Bound"


class ClaimRef(Struct):
    """Who has a volume."""

    namespace: str = ""
    name: str = ""


class DriverShape(Struct):
    """A volume of a CSI driver."""

    driver: str = ""


class VolumeSpec(Struct, rename="camel"):
    """What a volume is."""

    claim_ref: ClaimRef | None = None
    storage_class_name: str = ""
    csi: DriverShape | None = None


class VolumeStatus(Struct):
    """How a volume stands to its claim."""

    phase: str = ""


class VolumeShape(Struct):
    """A PersistentVolume of a list."""

    metadata: PodMetadata
    spec: VolumeSpec | None = None
    status: VolumeStatus | None = None


class VolumeListShape(Struct):
    """A list of PersistentVolumes."""

    metadata: ListMetadata
    items: list[VolumeShape] | None = None


def storage_of_node(node: Ref, raw: bytes) -> Seen:
    """The list as the cache keeps it. Raises Undecodable: half a list would be a wrong one."""
    try:
        found = msgspec.json.decode(raw, type=VolumeListShape)
    except UNREADABLE as error:
        raise Undecodable(storage_at(node), "", "", str(error)) from None
    volumes = tuple(sorted(volume(one) for one in found.items or () if is_bound(one)))
    return Seen(storage_at(node), "", found.metadata.resource_version, StorageOfNode(volumes))


def is_bound(shape: VolumeShape) -> bool:
    has_claim = shape.spec is not None and shape.spec.claim_ref is not None
    return has_claim and shape.status is not None and shape.status.phase == BOUND


def volume(shape: VolumeShape) -> Volume:
    spec = shape.spec or VolumeSpec()
    claim = spec.claim_ref or ClaimRef()
    driver = spec.csi.driver if spec.csi else ""
    return Volume(f"{claim.namespace}/{claim.name}", shape.metadata.name, spec.storage_class_name, driver)
