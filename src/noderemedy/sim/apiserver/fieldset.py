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
    if len(shape.keys) == 1 and isinstance(item, dict):
        value = item.get(shape.keys[0])
        if isinstance(value, str) and value.isalnum() and value.isascii():
            return f'k:{{"{shape.keys[0]}":"{value}"}}'
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


Difference = tuple[FieldSet | None, FieldSet | None]
"""Fields added or modified, and fields removed; None stands for the empty set."""

SAME: Difference = (None, None)
MISSING: Any = object()


def compare(old: Any, new: Any, shape: Shape) -> Difference:
    """What one tree has that the other has not. Shared parts cost nothing: this runs on every write."""
    if old is new:
        return SAME
    if isinstance(old, dict) and isinstance(new, dict) and not shape.is_atomic:
        return _compare_objects(old, new, shape)
    if isinstance(old, list) and isinstance(new, list) and shape.list_type != "atomic":
        return _compare_lists(old, new, shape)
    if old == new:
        return SAME
    return all_of(new, shape), all_of(old, shape) or None


def _compare_objects(old: dict[str, Any], new: dict[str, Any], shape: Shape) -> Difference:
    changed: FieldSet = {}
    removed: FieldSet = {}
    known, others = shape.properties, shape.additional or ANY
    for key, part in new.items():
        was = old.get(key, MISSING)
        if was is part:
            continue
        inner = known.get(key, others)
        if was is MISSING:
            changed["f:" + key] = all_of(part, inner)
        else:
            _note("f:" + key, compare(was, part, inner), changed, removed)
    if not old.keys() <= new.keys():
        for key in old.keys() - new.keys():
            removed["f:" + key] = all_of(old[key], known.get(key, others))
    return changed or None, removed or None


def _compare_lists(old: list[Any], new: list[Any], shape: Shape) -> Difference:
    changed: FieldSet = {}
    removed: FieldSet = {}
    items = shape.items or ANY
    before = {}
    same = {id(item) for item in old} & {id(item) for item in new}
    for item in old:
        if id(item) not in same:
            before[element_name(item, shape)] = item
    for item in new:
        if id(item) in same:
            continue
        name = element_name(item, shape)
        if name in before:
            _note(name, compare(before.pop(name), item, items), changed, removed)
        else:
            changed[name] = all_of(item, items)
    for name, item in before.items():
        removed[name] = all_of(item, items)
    return changed or None, removed or None


def _note(name: str, found: Difference, changed: FieldSet, removed: FieldSet) -> None:
    if found[0] is not None:
        changed[name] = found[0]
    if found[1] is not None:
        removed[name] = found[1]


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
