"""Actions and reasons as JSON people can read: class names as words, camelCase fields, moments in RFC 3339.

Called by `plan` and by the log. Nothing reads this back: proofs are written, never decoded.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.proof import Proof
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Span, Wall

PAIRS = tuple[tuple[str, str], ...]


def action(value: Struct) -> dict[str, Any]:
    """`{"do": "DeleteNode", …}`"""
    return {"do": type(value).__name__, **fields(value)}


def reason(value: Reason) -> dict[str, Any]:
    """`{"reason": "TableRow", …}`"""
    return {"reason": type(value).__name__, **fields(value)}


def fields(value: Struct) -> dict[str, Any]:
    found = {}
    for name, shown, is_map in _fields(type(value)):
        item = getattr(value, name)
        found[shown] = dict(item) if is_map else plain(item)
    return found


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, str, bool], ...]:
    """Name, name in JSON, and whether it is a map that the model keeps as sorted pairs."""
    return tuple((item.name, camel(item.name), item.type == PAIRS) for item in msgspec.structs.fields(kind))


def plain(value: Any) -> Any:
    """JSON types only."""
    if isinstance(value, Wall | Span | Ref):
        return str(value)
    if isinstance(value, Proof):
        return {"proof": type(value).__name__, **fields(value)}
    if isinstance(value, Struct):
        return fields(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
