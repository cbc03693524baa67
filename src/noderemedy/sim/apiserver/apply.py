"""Server-side apply: merge a manager's whole opinion into an object.

`merge_applied` adds and changes, `prune` takes away what the manager no longer says and nobody else owns.
Who owns what, and whether that is a conflict, is in `managers.py`.
"""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver.fieldset import FieldSet, element_name, parts
from noderemedy.sim.apiserver.shape import ANY, Shape


def merge_applied(live: Any, applied: Any, shape: Shape) -> Any:
    """The live value with everything the configuration says; unchanged parts are shared."""
    if applied is None:
        return live
    if isinstance(applied, dict) and isinstance(live, dict) and not shape.is_atomic:
        return _merge_objects(live, applied, shape)
    if isinstance(applied, list) and isinstance(live, list) and shape.list_type != "atomic":
        return _merge_lists(live, applied, shape)
    return live if live == applied and type(live) is type(applied) else applied


def _merge_objects(live: dict[str, Any], applied: dict[str, Any], shape: Shape) -> dict[str, Any]:
    result = None
    for key, value in applied.items():
        old = live.get(key)
        new = merge_applied(old, value, shape.of(key) or ANY)
        if new is old:
            continue
        result = dict(live) if result is None else result
        result[key] = new
    return live if result is None else result


def _merge_lists(live: list[Any], applied: list[Any], shape: Shape) -> list[Any]:
    """Elements keep their places in the live list; new ones follow in the order applied."""
    items = shape.items or ANY
    said = {element_name(item, shape): item for item in applied}
    result = [merge_applied(item, said.pop(element_name(item, shape), None), items) for item in live]
    result += said.values()
    same = len(result) == len(live) and all(new is old for new, old in zip(result, live, strict=True))
    return live if same else result


def prune(value: Any, last: FieldSet, owned: FieldSet, shape: Shape) -> Any:
    """Take away what the manager owned last time, unless it is owned now, by anyone."""
    gone = {name for name in last if name != "." and name not in owned}
    inner = {name: node for name, node in last.items() if name in owned and node}
    if not gone and not inner:
        return value
    kept = []
    changed = False
    for name, part, part_shape in parts(value, shape):
        if name in gone:
            changed = True
            continue
        new = prune(part, inner[name], owned[name], part_shape) if name in inner else part
        changed = changed or new is not part
        kept.append((name, new))
    if not changed:
        return value
    if isinstance(value, dict):
        return {name[2:]: part for name, part in kept}
    return [part for _, part in kept]
