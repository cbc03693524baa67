"""Strategic merge patch: merge patch in which lists of built-in kinds merge by a key.

Which lists merge, and by which key, is in the Shape of the kind. Custom kinds have no strategic merge.
Directives: `$patch: replace|delete|merge`, `$deleteFromPrimitiveList/FIELD`, `$retainKeys`; the order that
`$setElementOrder/FIELD` asks for is accepted and not followed.
"""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.shape import ANY, Shape

Tree = dict[str, Any]
REMOVE = "$deleteFromPrimitiveList/"
DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder/", REMOVE)


def strategic_merge(target: Tree, patch: Tree, shape: Shape) -> Tree:
    """The target after the patch; parts that do not change are shared."""
    directive = patch.get("$patch")
    if directive == "replace":
        plain: Tree = _plain({key: value for key, value in patch.items() if key != "$patch"})
        return plain
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise errors.bad_request(f"Unknown patch type found: {directive}")
    result = _retained(target, patch)
    for key, value in patch.items():
        if key.startswith(REMOVE):
            result = _without_values(result, key.removeprefix(REMOVE), value)
        elif not key.startswith(DIRECTIVES):
            result = _merge_field(result, key, value, shape.of(key) or ANY)
    return result


def _retained(target: Tree, patch: Tree) -> Tree:
    keep = patch.get("$retainKeys")
    if keep is None:
        return target
    return {key: value for key, value in target.items() if key in keep}


def _without_values(target: Tree, key: str, values: list[Any]) -> Tree:
    if key not in target:
        return target
    return {**target, key: [value for value in target[key] if value not in values]}


def _merge_field(target: Tree, key: str, value: Any, shape: Shape) -> Tree:
    if value is None:
        return {name: kept for name, kept in target.items() if name != key} if key in target else target
    old = target.get(key)
    if isinstance(value, dict) and isinstance(old, dict):
        new: Any = strategic_merge(old, value, shape)
    elif isinstance(value, list) and isinstance(old, list) and shape.merge_key is not None:
        new = _merge_list(old, value, shape)
    else:
        new = _plain(value)
    if new is old or (new == old and type(new) is type(old)):
        return target
    return {**target, key: new}


def _merge_list(target: list[Any], patch: list[Any], shape: Shape) -> list[Any]:
    if not shape.merge_key:
        return [*target, *(value for value in dict.fromkeys(patch) if value not in target)]
    replaced = any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch)
    result = [] if replaced else list(target)
    for item in patch:
        _merge_item(result, item, shape.merge_key, shape.items or ANY)
    return result


def _merge_item(result: list[Any], item: Any, merge_key: str, shape: Shape) -> None:
    """Merge one element into the list, or take it out, or append it."""
    if not isinstance(item, dict):
        raise errors.bad_request("a list that merges by key has an element that is not an object")
    directive = item.get("$patch")
    if directive == "replace":
        if set(item) != {"$patch"}:
            result.append(_plain({key: value for key, value in item.items() if key != "$patch"}))
        return
    if merge_key not in item:
        raise errors.bad_request(f"map: {item} does not contain declared merge key: {merge_key}")
    at = next((i for i, old in enumerate(result) if old.get(merge_key) == item[merge_key]), None)
    if directive == "delete":
        result[:] = [old for old in result if old.get(merge_key) != item[merge_key]]
    elif at is None:
        result.append(_plain(item))
    else:
        result[at] = strategic_merge(result[at], item, shape)


def _plain(value: Any) -> Any:
    """What remains of new content when directives and nulls are taken out."""
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if one is not None and not key.startswith(DIRECTIVES)}
        return {key: _plain(one) for key, one in kept.items()}
    if isinstance(value, list):
        kept_items = [one for one in value if not (isinstance(one, dict) and one.get("$patch") == "delete")]
        return [_plain(one) for one in kept_items]
    return value
