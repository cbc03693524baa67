"""What a line of a watch may be: an event, a bookmark, or a bare Status. Read by `watch.py`."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class Line(Struct):
    """One line: an event, or (rule 5) a bare Status."""

    type: str = ""
    object: msgspec.Raw = msgspec.Raw()
    kind: str = ""
    code: int = 0
    message: str = ""


class StatusObject(Struct):
    """What an ERROR event carries."""

    code: int = 0
    message: str = ""


class Bookmark(Struct):
    """How far the server is."""

    class Meta(Struct, rename="camel"):
        resource_version: str = ""

    metadata: Meta


LINE = msgspec.json.Decoder(Line)
STATUS = msgspec.json.Decoder(StatusObject)
BOOKMARK = msgspec.json.Decoder(Bookmark)


def is_error(event: Line) -> bool:
    return event.type == "ERROR" or event.kind == "Status"
