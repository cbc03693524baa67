"""A list of persistent volumes from the bytes of the API: what `ListStorage` brings back. Only bound ones are kept."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.workload import StorageOfNode, Volume, storage_at
from noderemedy.wire.objects import Undecodable
from noderemedy.wire.pods import ListMetadata, PodMetadata
from noderemedy.wire.scalars import UNREADABLE


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


class VolumeShape(Struct):
    """A PersistentVolume of a list."""

    metadata: PodMetadata
    spec: VolumeSpec | None = None


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
    volumes = tuple(sorted(volume(one) for one in found.items or () if one.spec and one.spec.claim_ref))
    return Seen(storage_at(node), "", found.metadata.resource_version, StorageOfNode(volumes))


def volume(shape: VolumeShape) -> Volume:
    spec = shape.spec or VolumeSpec()
    claim = spec.claim_ref or ClaimRef()
    driver = spec.csi.driver if spec.csi else ""
    return Volume(f"{claim.namespace}/{claim.name}", shape.metadata.name, spec.storage_class_name, driver)
