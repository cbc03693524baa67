"""The shared shelf: the name of an episode. One node, one boot, one first sign: whoever reckons it gets the same."""

from __future__ import annotations

import hashlib

from noderemedy.model.time import Wall


def episode(uid: str, boot_id: str, first: Wall) -> str:
    """Ten digits that name the sickness of this node which began then."""
    return hashlib.sha256(f"{uid} {boot_id} {first.ms // 1000}".encode()).hexdigest()[:10]
