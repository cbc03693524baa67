"""Sets of fields, in the very form in which objects carry them (`fieldsV1`).

A set is a nested dict: `{"f:spec": {"f:replicas": {}}}`. A node without children is a member; a node with
children is a member only if it has ".". Elements of keyed lists are `k:{"name":"a"}`, of sets `v:"a"`.
Used by `managers.py` to record who set which field and by `apply.py` to merge and to find conflicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from noderemedy.sim.apiserver.shape import ANY, Shape

FieldSet = dict[str, Any]
MEMBER: FieldSet = {".": {}}
encode = msgspec.json.encode


def is_granular(value: Any, shape: Shape) -> bool:
    """Whether the parts of this value are owned one by one."""
    if isinstance(value, dict):
        return not shape.is_atomic
    return isinstance(value, list) and shape.list_type != "atomic"


def element_name(item: Any, shape: Shape) -> str:
    """The name of a list element within its list."""
    if shape.list_type == "set":
        return "v:" + encode(item).decode()
    items = shape.items or ANY
    named = {key: item.get(key, _default(items, key)) for key in sorted(shape.keys)}
    return "k:" + encode({key: value for key, value in named.items() if value is not None}).decode()


def _default(items: Shape, key: str) -> Any:
    """Keys may be left out where there is a default: a port without a protocol speaks TCP."""
    shape = items.properties.get(key)
    if shape is not None and not isinstance(shape.default, msgspec.UnsetType):
        return shape.default
    return "TCP" if key == "protocol" else None


def parts(value: Any, shape: Shape) -> list[tuple[str, Any, Shape]]:
    """The named parts of a granular value: (name, part, shape of the part)."""
    if isinstance(value, dict):
        return [("f:" + key, part, shape.of(key) or ANY) for key, part in value.items()]
    items = shape.items or ANY
    return [(element_name(item, shape), item, items) for item in value]


def fields_of(value: Any, shape: Shape) -> FieldSet:
    """Every field that a configuration sets. Structures are no members themselves, elements are."""
    if not is_granular(value, shape) or not value:
        return {}
    found: FieldSet = {}
    for name, part, inner in parts(value, shape):
        below = fields_of(part, inner)
        is_named_field = isinstance(value, dict) and name[2:] in shape.properties
        if below and not is_named_field and name[0] != "v":
            below = {**MEMBER, **below}
        found[name] = below
    return found


def all_of(value: Any, shape: Shape) -> FieldSet:
    """Every field at and below a value, structures included."""
    if not is_granular(value, shape) or not value:
        return {}
    return {**MEMBER, **{name: all_of(part, inner) for name, part, inner in parts(value, shape)}}


class Difference(msgspec.Struct):
    """What one tree has that the other has not. None stands for the empty set."""

    changed: FieldSet | None
    removed: FieldSet | None


def compare(old: Any, new: Any, shape: Shape) -> Difference:
    """Fields added or modified, and fields removed. Shared parts cost nothing."""
    if old is new:
        return Difference(None, None)
    if not (is_granular(old, shape) and is_granular(new, shape)) or type(old) is not type(new):
        return _compare_leaf(old, new, shape)
    changed, removed = {}, {}
    before = {name: (part, inner) for name, part, inner in parts(old, shape)}
    for name, part, inner in parts(new, shape):
        if name not in before:
            changed[name] = all_of(part, inner)
            continue
        was, _ = before.pop(name)
        if was is part:
            continue
        found = compare(was, part, inner)
        if found.changed is not None:
            changed[name] = found.changed
        if found.removed is not None:
            removed[name] = found.removed
    for name, (part, inner) in before.items():
        removed[name] = all_of(part, inner)
    return Difference(changed or None, removed or None)


def _compare_leaf(old: Any, new: Any, shape: Shape) -> Difference:
    if old == new:
        return Difference(None, None)
    removed = all_of(old, shape)
    return Difference(all_of(new, shape), removed or None)


def union(first: FieldSet, second: FieldSet) -> FieldSet:
    """The first set itself comes back if the second adds nothing."""
    result = None
    if not first and second:
        result = dict(MEMBER)
    elif first and not second and "." not in first:
        return {**MEMBER, **first}
    for name, node in second.items():
        if name not in first:
            new = node
        elif name == ".":
            continue
        else:
            new = union(first[name], node)
            if new is first[name]:
                continue
        result = dict(first) if result is None else result
        result[name] = new
    return first if result is None else result


def difference(first: FieldSet, second: FieldSet) -> FieldSet | None:
    """Members of the first that are not members of the second; None if none is left."""
    if not first:
        return first if second and "." not in second else None
    result = None
    for name, node in second.items():
        if name not in first:
            continue
        left = None if name == "." else difference(first[name], node)
        if left is first[name]:
            continue
        result = dict(first) if result is None else result
        if left is None:
            del result[name]
        else:
            result[name] = left
    if not second and "." in first:
        result = {name: node for name, node in first.items() if name != "."}
    if result is None:
        return first
    return _tidy(result)


def _tidy(node: FieldSet) -> FieldSet | None:
    """A node with only itself is written {}; a node with nothing is not written."""
    if not node:
        return None
    return {} if set(node) == {"."} else node


def intersection(first: FieldSet, second: FieldSet) -> FieldSet | None:
    """Members of both; None if there is none."""
    if not first or not second:
        other = first or second
        return {} if not other or "." in other else None
    found: FieldSet = {}
    for name, node in second.items():
        if name not in first:
            continue
        if name == ".":
            found[name] = {}
        elif (both := intersection(first[name], node)) is not None:
            found[name] = both
    return _tidy(found)


def paths(node: FieldSet, prefix: str = "") -> Iterator[str]:
    """The members, written as messages write them: `.spec.taints[key="a"].value`."""
    if not node:
        yield prefix
        return
    for name, child in sorted(node.items()):
        if name == ".":
            yield prefix
        else:
            yield from paths(child, prefix + _spoken(name))


def _spoken(name: str) -> str:
    if name.startswith("f:"):
        return "." + name[2:]
    if name.startswith("v:"):
        return f"[={name[2:]}]"
    keys = msgspec.json.decode(name[2:])
    return "[" + ",".join(f"{key}={encode(value).decode()}" for key, value in keys.items()) + "]"
