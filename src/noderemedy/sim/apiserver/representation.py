"""In which form an answer is given: plain JSON, a Table, or metadata only; decided by the Accept header."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.listing import Found
from noderemedy.sim.apiserver.routes import Route
from noderemedy.sim.apiserver.tables import partial, table
from noderemedy.sim.apiserver.types import Sink, Tree, WatchEvent

Form = Literal["plain", "table", "metadata", "aggregated"]
GIVEN = ("application/json",)
FORMS: dict[str, Form] = {
    "": "plain",
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
    "APIGroupDiscoveryList": "aggregated",
}


class Accepted(Struct, frozen=True):
    """The form that was agreed on; `version` is that of an aggregated discovery document."""

    form: Form = "plain"
    version: str = ""
    is_proto: bool = False


def agree(accept: str) -> Accepted:
    """The first form in an Accept header that can be given; 406 if there is none."""
    if not accept.strip():
        return Accepted()
    for clause in accept.split(","):
        kind, *parameters = (part.strip() for part in clause.split(";"))
        named = dict(part.split("=", 1) for part in parameters if "=" in part)
        if kind in ("application/json", "*/*", "application/*") and named.get("as", "") in FORMS:
            return Accepted(FORMS[named.get("as", "")], named.get("v", ""))
    raise errors.not_acceptable(GIVEN)


def object_tree(route: Route, tree: Tree, accepted: Accepted, now: int, include: str) -> Tree:
    """One object in the agreed form."""
    if tree.get("kind") == "Status":
        return tree
    if accepted.form == "table":
        version = {"resourceVersion": tree["metadata"].get("resourceVersion", "")}
        return table(route, [tree], version, now, include)
    return partial(tree) if accepted.form == "metadata" else tree


def list_tree(route: Route, found: Found, accepted: Accepted, now: int, include: str) -> Tree:
    """A page of a list in the agreed form."""
    meta: Tree = {"resourceVersion": str(found.revision)}
    if found.token:
        meta["continue"] = found.token
    if found.remaining is not None:
        meta["remainingItemCount"] = found.remaining
    if accepted.form == "table":
        return table(route, found.items, meta, now, include)
    kind, api_version, items = f"{route.resource.kind.kind}List", route.api_version, found.items
    if accepted.form == "metadata":
        kind, api_version = "PartialObjectMetadataList", "meta.k8s.io/v1"
        items = [partial(tree) for tree in items]
    elif not route.resource.is_custom:
        items = [untyped(tree) for tree in items]
    return {"kind": kind, "apiVersion": api_version, "metadata": meta, "items": items}


def untyped(tree: Tree) -> Tree:
    """Items of built-in lists do not repeat what the list says."""
    return {key: value for key, value in tree.items() if key not in ("kind", "apiVersion")}


def watched(route: Route, accepted: Accepted, include: str, now: int, sink: Sink) -> Sink:
    """The sink that receives events in the agreed form; only the first table tells its columns."""
    if accepted.form == "plain":
        return sink
    is_first = True

    def told(event: WatchEvent) -> None:
        nonlocal is_first
        if event.type == "ERROR":
            sink(event)
        elif accepted.form == "metadata":
            sink(WatchEvent(event.type, partial(event.tree)))
        else:
            version = {"resourceVersion": event.tree["metadata"].get("resourceVersion", "")}
            if event.type == "BOOKMARK" and "annotations" in event.tree["metadata"]:
                version = event.tree["metadata"]
            found = table(route, [event.tree], version, now, include, has_columns=is_first)
            is_first = False
            sink(WatchEvent(event.type, found))

    return told


encode = msgspec.json.encode
