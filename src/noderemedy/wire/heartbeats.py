"""What tells one heartbeat of a Node from the next, without reading the Node. Most lines of all watches are heartbeats.

A stamp stands for all that a Node is judged by (`nodes.py`), as the bytes in which it was sent; times of heartbeats and
versions are left out. Two Nodes with one stamp are the same to us. Other bytes may still say the same (a map in another
order): then the Node is read, and compared as one. Stamps are hashes of 64 bits under a key of this process.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw, Struct

NOTHING = Raw()


class BriefMetadata(Struct, rename="camel"):
    name: str
    uid: str = ""
    resource_version: str = ""
    labels: Raw = NOTHING
    annotations: Raw = NOTHING
    deletion_timestamp: Raw = NOTHING


class BriefCondition(Struct, rename="camel", frozen=True):
    """A condition without its heartbeat; frozen, so that it can be hashed."""

    type: str
    status: str = "Unknown"
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""  # that of FencingReady names devices


class BriefStatus(Struct, rename="camel"):
    conditions: list[BriefCondition] | None = None
    addresses: Raw = NOTHING
    node_info: Raw = NOTHING


class BriefNode(Struct):
    metadata: BriefMetadata
    spec: Raw = NOTHING
    status: BriefStatus | None = None


class Line(Struct):
    """An ordinary line of a watch of Nodes."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: BriefNode


class Page(Struct):
    """A page of a list of Nodes."""

    items: list[BriefNode] | None = None


NODES = msgspec.json.Decoder(BriefNode)
LINES = msgspec.json.Decoder(Line)
PAGES = msgspec.json.Decoder(Page)


def stamps(page: bytes) -> list[int]:
    """One of each Node of a page: without it the first heartbeat of a Node would be read twice."""
    return [stamp(one) for one in PAGES.decode(page).items or ()]


def stamp(node: BriefNode) -> int:
    meta, status = node.metadata, node.status or BriefStatus()
    return hash(
        (
            meta.uid,
            bytes(meta.labels),
            bytes(meta.annotations),
            bytes(meta.deletion_timestamp),
            bytes(node.spec),
            bytes(status.addresses),
            bytes(status.node_info),
            *(status.conditions or ()),
        )
    )
