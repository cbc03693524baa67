"""What we record in objects of which kind, held against a definition as the API has it."""

from __future__ import annotations

from functools import cache
from typing import Any

from noderemedy import crds
from noderemedy.model.ids import INCIDENT, NODE_FENCE, Kind
from noderemedy.model.keeping import FILES, Unkept, definition_name
from noderemedy.wire.definitions import missing

# The status is ours everywhere; the spec where objects are made by us. Foreign words in a spec are read, too.
PARTS: dict[Kind, tuple[str, ...]] = dict.fromkeys(FILES, ("status",))
PARTS |= {NODE_FENCE: ("spec", "status"), INCIDENT: ("spec", "status")}


@cache
def by_name() -> dict[str, Kind]:
    """The kinds that we record in, by the names of their definitions."""
    return {definition_name(kind): kind for kind in FILES}


@cache
def ours(kind: Kind) -> dict[str, Any]:
    """The spec of the definition that we ship."""
    name = definition_name(kind)
    return next(dict(tree["spec"]) for tree in crds.every() if tree["metadata"]["name"] == name)


def judged(kind: Kind, spec: dict[str, Any]) -> Unkept | None:
    """What would be lost under this definition; None if nothing would."""
    lost = missing(ours(kind), spec, PARTS[kind])
    return Unkept(missing=lost) if lost else None
