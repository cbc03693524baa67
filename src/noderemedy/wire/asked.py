"""What all requests share, read from their metadata: NodeFence, FenceRemediation, Metal3Remediation.

Called by `wire/nodefences.py` and `wire/remediations.py` for every event of these kinds.
"""

from __future__ import annotations

from typing import TypedDict

from noderemedy.model.machine import ControllerOwner
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.time import Wall
from noderemedy.wire import names, shapes
from noderemedy.wire.scalars import read_pause, wall


class Asked(TypedDict):
    """Of every request."""

    uid: str
    finalizers: tuple[str, ...]
    created: Wall | None
    generation: int
    paused: Paused | Malformed | None
    deleting: bool


class AskedForMachine(Asked):
    """Of one that a health check made for a Machine, which is its owner."""

    owner: ControllerOwner | None
    owner_uid: str
    cloned_from: str
    cluster_paused: bool


def asked(meta: shapes.FinalizedMetadata) -> Asked:
    notes = meta.annotations or {}
    return Asked(
        uid=meta.uid,
        finalizers=tuple(meta.finalizers or ()),
        created=wall(meta.creation_timestamp) if meta.creation_timestamp else None,
        generation=meta.generation,
        paused=read_pause(notes[names.PAUSED]) if names.PAUSED in notes else None,
        deleting=meta.deletion_timestamp is not None,
    )


def asked_for_machine(meta: shapes.FinalizedMetadata) -> AskedForMachine:
    owner = next((one for one in meta.owner_references or () if one.kind == "Machine"), None)
    return AskedForMachine(
        **asked(meta),
        owner=ControllerOwner(owner.api_version, owner.kind, owner.name, owner.uid) if owner else None,
        owner_uid=owner.uid if owner else "",
        cloned_from=(meta.annotations or {}).get(names.CLONED_FROM, ""),
        cluster_paused=names.CLUSTER_PAUSED in (meta.annotations or {}),
    )
