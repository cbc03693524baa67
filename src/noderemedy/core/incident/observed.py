"""An aspect of a repair as it is now: what diaries compare with what they noted last."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.room import Entry, Present


class Observed(Struct, frozen=True):
    """An aspect as it is now. Without a value: nothing of the kind."""

    room: str
    what: str
    value: str = ""
    evidence: str = ""
    versions: str = ""


def version(at: Ref | None, entry: Entry) -> str:
    return f"{at}@{entry.resource_version}" if at is not None and isinstance(entry, Present) else ""
