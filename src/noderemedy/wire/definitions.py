"""CustomResourceDefinitions: which fields of ours one of them would make the API forget. Pure.

A structural schema drops what it does not have, unless it says there that it keeps what it does not know; of what it
knows it drops again what that does not have. What is asked for is a list of paths; where a schema lacks one, all
below it is lost, too, and not named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from noderemedy.model.ids import Ref
from noderemedy.model.keeping import DEFINITION
from noderemedy.model.outcome import Seen
from noderemedy.wire import shapes
from noderemedy.wire.scalars import UNREADABLE
from noderemedy.wire.undecodable import undecodable

Tree = dict[str, Any]


class DefinitionShape(msgspec.Struct):
    """Its name and version; the rest is looked at as it is."""

    metadata: shapes.Metadata
    spec: Tree


DECODER = msgspec.json.Decoder(DefinitionShape)


def decode_definition(raw: bytes | msgspec.Raw) -> Seen:
    """Its spec as a tree. Raises Undecodable."""
    try:
        shape = DECODER.decode(raw)
    except UNREADABLE as error:
        raise undecodable(DEFINITION, "", None, error) from None
    meta = shape.metadata
    return Seen(Ref("", DEFINITION, "", meta.name), meta.uid, meta.resource_version, shape.spec)


def missing(ours: Tree, theirs: Tree, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The fields in these parts of our spec that another one, as the API has it, would drop; in our order.

    In each version that we use, and in the one that is stored: what is lost there is lost.
    """
    if theirs.get("preserveUnknownFields") is True:
        return ()
    names = [one["name"] for one in ours["versions"]]
    versions = [one for one in listed(theirs, "versions") if one.get("storage") is True or one.get("name") in names]
    wanted = inner(ours["versions"][0], "schema", "openAPIV3Schema")
    chosen = {"properties": {part: wanted["properties"][part] for part in parts}}
    schemas = [inner(one, "schema", "openAPIV3Schema") for one in versions]
    return tuple(dict.fromkeys(path for schema in schemas for path in lost(chosen, schema)))


def lost(ours: Tree, theirs: Tree, path: str = "") -> Iterator[str]:
    """The paths of what one schema has and the other would drop."""
    is_open = theirs.get("x-kubernetes-preserve-unknown-fields") is True
    for name, wanted in inner(ours, "properties").items():
        at = f"{path}.{name}" if path else name
        found = inner(theirs, "properties").get(name, theirs.get("additionalProperties"))
        if isinstance(found, dict):
            yield from lost(wanted, found, at)
        elif found is not True and not is_open:
            yield at
    items, found = ours.get("items"), inner(theirs, "items")
    if isinstance(items, dict) and (found or not is_open):
        yield from lost(items, found, f"{path}[]")


def inner(tree: Tree, *path: str) -> Tree:
    for key in path:
        found = tree.get(key)
        tree = found if isinstance(found, dict) else {}
    return tree


def listed(tree: Tree, key: str) -> list[Tree]:
    found = tree.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
