"""Dropping what a custom kind does not have, and filling in what its schema says by default.

Both walk only the parts that changed: what is shared with the stored object was treated before.
"""

from __future__ import annotations

from typing import Any

from msgspec import UnsetType

from noderemedy.sim.apiserver.shape import Shape


def prune(new: Any, old: Any, shape: Shape, unknown: list[str], path: str = "") -> Any:
    """The value without unknown fields (their paths go to `unknown`), vanishing zeros, and nulls that may not be."""
    if new is old:
        return new
    if isinstance(new, dict):
        return _prune_object(new, old if isinstance(old, dict) else {}, shape, unknown, path)
    if isinstance(new, list) and shape.items is not None:
        was = old if isinstance(old, list) else []
        pairs = enumerate(new)
        result = [
            prune(item, was[index] if index < len(was) else None, shape.items, unknown, f"{path}[{index}]")
            for index, item in pairs
        ]
        return new if all(a is b for a, b in zip(result, new, strict=True)) else result
    return new


def _prune_object(new: Any, old: Any, shape: Shape, unknown: list[str], path: str) -> Any:
    if not shape.properties and shape.additional is None and shape.keeps_unknown:
        return new
    result = None
    for key, value in new.items():
        inner = shape.properties.get(key, shape.additional)
        was = old.get(key)
        if value is was and inner is not None and value is not None:
            continue
        kept: Any = value
        if inner is None:
            if shape.keeps_unknown:
                continue
            unknown.append(f"{path}.{key}" if path else key)
            kept = DROPPED
        elif (inner.vanishes and is_zero(value)) or (value is None and not inner.nullable):
            kept = DROPPED
        else:
            kept = prune(value, was, inner, unknown, f"{path}.{key}" if path else key)
        if kept is not value:
            result = changed(new if result is None else result, key, kept, is_copy=result is not None)
    return new if result is None else result


DROPPED: Any = object()


def changed(tree: dict[str, Any], key: str, kept: Any, *, is_copy: bool) -> dict[str, Any]:
    """The tree with another value, or none, at a key; what came in is copied before the first change."""
    result = tree if is_copy else dict(tree)
    if kept is DROPPED:
        del result[key]
    else:
        result[key] = kept
    return result


def is_zero(value: Any) -> bool:
    """The values that Go's omitempty leaves out."""
    return not value and (value is None or isinstance(value, (str, int, float, bool, list, dict)))


def set_defaults(new: Any, shape: Shape) -> Any:
    """The value with the defaults of a custom kind's schema; a null that may not be is defaulted too."""
    if not shape.has_defaults:
        return new
    if isinstance(new, dict):
        return _default_object(new, shape)
    if isinstance(new, list) and shape.items is not None:
        items = shape.items
        result = [set_defaults(item, items) for item in new]
        return new if all(a is b for a, b in zip(result, new, strict=True)) else result
    return new


def _default_object(new: Any, shape: Shape) -> Any:
    result = None
    for key, inner in shape.properties.items():
        value = new.get(key)
        filled = value
        if not isinstance(inner.default, UnsetType) and (key not in new or (value is None and not inner.nullable)):
            filled = inner.default
        filled = set_defaults(filled, inner)
        if filled is not value:
            result = dict(new) if result is None else result
            result[key] = filled
    if shape.additional is not None and shape.additional.has_defaults:
        for key, value in new.items():
            if key not in shape.properties:
                result = dict(new) if result is None else result
                result[key] = set_defaults(value, shape.additional)
    return new if result is None else result
