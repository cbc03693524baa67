"""Tables: objects as rows of cells, for `kubectl get` and for watches of it."""

from __future__ import annotations

import re
from typing import Any

from noderemedy.sim.apiserver.clock import second_of
from noderemedy.sim.apiserver.columns import NAME, OTHERS, TABLES, age, duration
from noderemedy.sim.apiserver.routes import Route
from noderemedy.sim.apiserver.types import Column, Tree

STEP = re.compile(
    r"\.([A-Za-z0-9_-]+(?:\\\.[A-Za-z0-9_/-]+)*)|\[(\d+|\*|'[^']*')\]|\[\?\(@\.(\w+)\s*==\s*[\"']([^\"']*)[\"']\)\]"
)


def table(route: Route, items: list[Tree], meta: Tree, now: int, include: str, has_columns: bool = True) -> Tree:
    """A Table of these objects; `include` says how much of each object goes with its row."""
    shown, fill = _plan(route)
    rows = [{"cells": fill(tree, now), "object": _included(tree, include)} for tree in items]
    definitions = [definition(column) for column in shown] if has_columns else []
    kind = {"kind": "Table", "apiVersion": "meta.k8s.io/v1"}
    return {**kind, "metadata": meta, "columnDefinitions": definitions, "rows": rows}


def definition(column: Column) -> Tree:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description or f"{column.name} of the object",
        "priority": column.priority,
    }


def _plan(route: Route) -> tuple[tuple[Column, ...], Any]:
    custom = route.resource.version(route.version).columns
    if custom is not None:
        return (NAME, *custom), lambda tree, now: [tree["metadata"]["name"], *(_cell(tree, one, now) for one in custom)]
    shown, cells = TABLES.get(route.resource.kind, OTHERS)
    return shown, lambda tree, now: [tree["metadata"].get("name", ""), *cells(tree, now)]


def _included(tree: Tree, include: str) -> Tree | None:
    if include == "None":
        return None
    return tree if include == "Object" else partial(tree)


def partial(tree: Tree) -> Tree:
    """An object by its metadata alone."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": tree["metadata"]}


def _cell(tree: Tree, column: Column, now: int) -> Any:
    """A cell of a custom kind: the first value at the column's path, as its type wants it."""
    values = at_path(tree, column.path)
    if not values:
        return None
    value = values[0] if len(values) == 1 else ",".join(str(one) for one in values)
    match column.type:
        case "date":
            return _since(value, now)
        case "integer":
            return value if isinstance(value, int) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "string":
            return _spoken(value)
    return value


def _spoken(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _since(value: Any, now: int) -> str:
    try:
        return duration(now - second_of(str(value)))
    except ValueError:
        return "<invalid>"


def at_path(tree: Any, path: str) -> list[Any]:
    """The values at a JSONPath: fields, indexes, `[*]` and `[?(@.key=="value")]`; nothing more."""
    found = [tree]
    text = path.strip("{}")
    for step in STEP.finditer(text if text.startswith((".", "[")) else f".{text}"):
        field, index, key, wanted = step.groups()
        found = [value for one in found for value in _step(one, field, index, key, wanted)]
    return found


def _step(value: Any, field: str | None, index: str | None, key: str | None, wanted: str | None) -> list[Any]:
    if field is not None or (index is not None and index.startswith("'")):
        name = field.replace("\\.", ".") if field is not None else str(index).strip("'")
        return [value[name]] if isinstance(value, dict) and value.get(name) is not None else []
    if not isinstance(value, list):
        return []
    if key is not None:
        return [one for one in value if isinstance(one, dict) and str(one.get(key)) == wanted]
    if index == "*":
        return list(value)
    assert index is not None
    return value[int(index) : int(index) + 1]


__all__ = ["age", "at_path", "partial", "table"]
