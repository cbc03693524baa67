"""Bringing an object of a built-in kind into its shape, in one walk over what changed.

Built-in objects pass through typed structures in a real server: unknown fields fall out, null is absence, zero values
that are not written vanish, and a value of a wrong type is a bad request that names its field.
"""

from __future__ import annotations

import re
from typing import Any

from noderemedy.sim.apiserver.pruning import DROPPED, changed, is_zero
from noderemedy.sim.apiserver.shape import Shape

ACCEPTS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "quantity": (str, int, float),
    "int-or-string": (str, int),
    "time": (str,),
    "microtime": (str,),
    "bytes": (str,),
    "any": (dict, list, str, int, float, bool),
}


FORMATS: dict[str, re.Pattern[str]] = {
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "microtime": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)"),
}
"""Texts that must be read as something: a MicroTime has six decimals or is refused."""

ZEROS = {"string": "", "bytes": "", "quantity": "0", "integer": 0, "boolean": False}
"""What a null in a map becomes, because Go decodes it into the zero value of the element."""


class WrongType(Exception):
    """A value that cannot be: where, and what it is."""

    def __init__(self, path: str, value: Any) -> None:
        super().__init__(path)
        self.path = path
        self.value = value


def reshape(new: Any, old: Any, shape: Shape, unknown: list[str], path: str = "") -> Any:
    """The value as its typed structure would keep it; parts shared with the stored object are taken as they are."""
    if new is old:
        return new
    if type(new) not in ACCEPTS[shape.type]:
        raise WrongType(path, new)
    if type(new) is dict:
        return _reshape_object(new, old if type(old) is dict else {}, shape, unknown, path)
    if type(new) is list and shape.items is not None:
        return _reshape_list(new, old if type(old) is list else [], shape.items, unknown, path)
    wanted = FORMATS.get(shape.type)
    if wanted is not None and not wanted.fullmatch(new):
        raise WrongType(path, new)
    return new


def _reshape_object(
    new: dict[str, Any], old: dict[str, Any], shape: Shape, unknown: list[str], path: str
) -> dict[str, Any]:
    if shape.keeps_unknown:
        return new
    result = None
    known, others = shape.properties, shape.additional
    for key, value in new.items():
        was = old.get(key)
        if value is was and value is not None:
            continue
        inner = known.get(key, others)
        if inner is None:
            unknown.append(f"{path}.{key}" if path else key)
            kept: Any = DROPPED
        elif value is None and key not in known:
            kept = ZEROS.get(inner.type, DROPPED)
        elif value is None or (inner.vanishes and is_zero(value)):
            kept = DROPPED
        else:
            kept = reshape(value, was, inner, unknown, f"{path}.{key}" if path else key)
        if kept is not value:
            result = changed(new if result is None else result, key, kept, is_copy=result is not None)
    return new if result is None else result


def _reshape_list(new: list[Any], old: list[Any], items: Shape, unknown: list[str], path: str) -> list[Any]:
    """Elements that stayed at their place are not looked at."""
    count = len(old)
    result = [
        value
        if index < count and value is old[index]
        else reshape(value, old[index] if index < count else None, items, unknown, f"{path}[{index}]")
        for index, value in enumerate(new)
        if value is not None
    ]
    if len(result) == len(new) and all(kept is value for kept, value in zip(result, new, strict=True)):
        return new
    return result
