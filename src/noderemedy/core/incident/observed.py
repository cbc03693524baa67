"""An aspect of a repair as it is now: what diaries compare with what they noted last."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.room import Entry, Present


class Decider(Struct, frozen=True):
    """The object by which something came about, as it was when that was decided."""

    at: Ref
    generation: int = 0  # 0: it has none, or nobody saw by which one it decided
    version: str = ""  # of what has no generation: the object and its resourceVersion, as `version` tells it


class Observed(Struct, frozen=True):
    """An aspect as it is now. Without a value: nothing of the kind."""

    room: str
    what: str
    value: str = ""
    evidence: str = ""
    versions: str = ""
    by: Decider | None = None  # None: nobody's policy


def version(at: Ref | None, entry: Entry) -> str:
    return f"{at}@{entry.resource_version}" if at is not None and isinstance(entry, Present) else ""
