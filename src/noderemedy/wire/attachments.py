"""A list of volume attachments from the bytes of the API: what `ListVolumes` brings back.

The API server cannot select attachments by their node, so they are selected here.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.workload import ATTACHMENT, Attachment, VolumesOfNode, volumes_at
from noderemedy.wire.objects import Undecodable
from noderemedy.wire.pods import ListMetadata, PodMetadata
from noderemedy.wire.scalars import UNREADABLE


class SourceShape(Struct, rename="camel"):
    """What is attached."""

    persistent_volume_name: str = ""


class AttachmentSpec(Struct, rename="camel"):
    """Where a volume is attached."""

    node_name: str = ""
    source: SourceShape | None = None


class AttachmentShape(Struct):
    """A VolumeAttachment of a list."""

    metadata: PodMetadata
    spec: AttachmentSpec | None = None


class AttachmentListShape(Struct):
    """A list of VolumeAttachments."""

    metadata: ListMetadata
    items: list[AttachmentShape] | None = None


def volumes_of_node(node: Ref, raw: bytes) -> Seen:
    """The list as the cache keeps it. Raises Undecodable: half a list would be a wrong one."""
    try:
        found = msgspec.json.decode(raw, type=AttachmentListShape)
    except UNREADABLE as error:
        raise Undecodable(volumes_at(node), "", "", str(error)) from None
    all_of_them = {Ref(node.cluster, ATTACHMENT, "", one.metadata.name): attachment(one) for one in found.items or ()}
    chosen = sorted(item for item in all_of_them.items() if item[1].node == node.name)
    return Seen(volumes_at(node), "", found.metadata.resource_version, VolumesOfNode(tuple(chosen)))


def attachment(shape: AttachmentShape) -> Attachment:
    meta, spec = shape.metadata, shape.spec or AttachmentSpec()
    volume = spec.source.persistent_volume_name if spec.source else ""
    return Attachment(meta.uid, spec.node_name, meta.deletion_timestamp is not None, volume)
