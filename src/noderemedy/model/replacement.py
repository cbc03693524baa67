"""The replacement of a Machine by the reference owner: its record on the Machine, written before anything is done.

The old Machine itself is the record: our finalizer keeps it until its successor was made and seen, so that after a
crash the next look goes on where the last one stopped, and never makes a second successor.
"""

from __future__ import annotations

import hashlib
from enum import Enum

from msgspec import Struct

from noderemedy.model.time import Wall

NAME_MAX = 63  # Cluster API makes labels of machine names
LETTERS = 5


class Step(Enum):
    """Where a replacement stands before the Machine is deleted; afterwards its finalizers tell."""

    DRAIN = "drain"
    DELETE = "delete"


class Replacement(Struct, frozen=True):
    """The intent to replace a Machine."""

    name: str  # of the successor
    since: Wall
    step: Step = Step.DRAIN
    at: Wall | None = None  # since when it is at this step
    token: int = 0

    @property
    def begun(self) -> Wall:
        return self.at or self.since


def successor_name(name: str, uid: str, is_successor: bool) -> str:
    """The one name that the successor of this very Machine can have: whoever asks, and however often."""
    stem = name.rpartition("-")[0] if is_successor and "-" in name else name
    digest = hashlib.sha256(uid.encode()).hexdigest()[:LETTERS]
    return f"{stem[: NAME_MAX - LETTERS - 1].rstrip('-.')}-{digest}"
