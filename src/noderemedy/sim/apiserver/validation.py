"""Judging a custom object by its structural schema.

Parts that an update did not change are not judged again: since 1.33 a real server lets old faults be.
Rules in CEL are not evaluated (see `less.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from noderemedy.sim.apiserver.clock import second_of
from noderemedy.sim.apiserver.errors import (
    Cause,
    invalid_value,
    not_supported,
    required,
    shown,
    type_invalid,
)
from noderemedy.sim.apiserver.shape import Limits, Shape

ABSENT: Any = object()
Judge = Callable[[Any, Limits, str], list[Cause]]


def json_type(value: Any) -> str:
    """The JSON type of a value, as messages call it."""
    return JSON_TYPES.get(type(value), "object")


JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def fits(value: Any, type_: str) -> bool:
    """Whether a value is of a JSON type; a whole number written with a fraction of zero is an integer."""
    actual = json_type(value)
    match type_:
        case "any":
            return True
        case "int-or-string":
            return actual in ("integer", "string")
        case "number":
            return actual in ("integer", "number")
        case "integer":
            return actual == "integer" or (actual == "number" and value == int(value))
        case _:
            return actual == type_


def validate(new: Any, old: Any, shape: Shape, path: str = "") -> list[Cause]:
    """Everything that is wrong with the value, in the order of its fields."""
    if new is old or (old is not ABSENT and new == old):
        return []
    if new is None and shape.nullable:
        return []
    if not fits(new, shape.type):
        said = f'{path} in body must be of type {_asked(shape)}: "{json_type(new)}"'
        return [type_invalid(path, json_type(new), said)]
    causes = [] if shape.limits is None else judge(new, shape.limits, path)
    if isinstance(new, dict):
        causes += _validate_object(new, old, shape, path)
    elif isinstance(new, list) and shape.items is not None:
        causes += _validate_list(new, old, shape, path)
    return causes


def _asked(shape: Shape) -> str:
    return "integer,string" if shape.type == "int-or-string" else shape.type


def _validate_object(new: Any, old: Any, shape: Shape, path: str) -> list[Cause]:
    causes: list[Cause] = []
    was = old if isinstance(old, dict) else {}
    for key, value in new.items():
        inner = shape.of(key)
        if inner is None or (key == "metadata" and (not path or shape.is_embedded)):
            continue
        causes += validate(value, was.get(key, ABSENT), inner, f"{path}.{key}" if path else key)
    if shape.is_embedded:
        causes += [required(f"{path}.{key}", "must not be empty") for key in ("apiVersion", "kind") if not new.get(key)]
    return causes


def _validate_list(new: list[Any], old: Any, shape: Shape, path: str) -> list[Cause]:
    causes: list[Cause] = []
    items = shape.items
    assert items is not None
    was = old if isinstance(old, list) else []
    for index, value in enumerate(new):
        before = was[index] if index < len(was) else ABSENT
        causes += validate(value, before, items, f"{path}[{index}]")
    return causes + _duplicates(new, shape, path)


def _duplicates(new: list[Any], shape: Shape, path: str) -> list[Cause]:
    """Sets hold a value once, keyed lists hold a key once."""
    if shape.list_type == "atomic":
        return []
    causes, seen = [], []
    for index, value in enumerate(new):
        name = value
        if shape.list_type == "map":
            name = {key: value.get(key) for key in shape.keys} if isinstance(value, dict) else value
        if name in seen:
            causes.append(Cause("FieldValueDuplicate", f"Duplicate value: {shown(name)}", f"{path}[{index}]"))
        seen.append(name)
    return causes


def judge(value: Any, limits: Limits, path: str) -> list[Cause]:
    """Everything in which a value breaks its limits."""
    causes: list[Cause] = []
    if limits.enum is not None and value not in limits.enum:
        causes.append(not_supported(path, value, limits.enum))
    if isinstance(value, str):
        causes += _judge_string(value, limits, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        causes += _judge_number(value, limits, path)
    elif isinstance(value, (list, dict)):
        causes += _judge_size(value, limits, path)
    if isinstance(value, dict):
        missing = [key for key in limits.required if key not in value]
        causes += [required(f"{path}.{key}" if path else key) for key in missing]
    return causes + _judge_junctors(value, limits, path)


def _judge_string(value: str, limits: Limits, path: str) -> list[Cause]:
    causes = []
    if limits.max_length is not None and len(value) > limits.max_length:
        causes.append(Cause("FieldValueTooLong", f"Too long: may not be more than {limits.max_length} bytes", path))
    if limits.min_length is not None and len(value) < limits.min_length:
        why = f"{path} in body should be at least {limits.min_length} chars long"
        causes.append(invalid_value(path, value, why))
    if limits.pattern is not None and not _pattern(limits.pattern).search(value):
        causes.append(invalid_value(path, value, f"{path} in body should match '{limits.pattern}'"))
    if limits.format == "date-time" and not _is_time(value):
        causes.append(type_invalid(path, value, f'{path} in body must be of type date-time: "{value}"'))
    return causes


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    """Go's end of text is written \\z and in Python \\Z."""
    return re.compile(text.replace("\\z", "\\Z"))


def _is_time(value: str) -> bool:
    try:
        second_of(value)
    except ValueError:
        return False
    return "T" in value


def _judge_number(value: float, limits: Limits, path: str) -> list[Cause]:
    low, high = limits.minimum, limits.maximum
    causes = []
    if low is not None and (value < low or (limits.exclusive_minimum and value == low)):
        how = "greater than" if limits.exclusive_minimum else "greater than or equal to"
        causes.append(invalid_value(path, value, f"{path} in body should be {how} {low:g}"))
    if high is not None and (value > high or (limits.exclusive_maximum and value == high)):
        how = "less than" if limits.exclusive_maximum else "less than or equal to"
        causes.append(invalid_value(path, value, f"{path} in body should be {how} {high:g}"))
    if limits.multiple_of is not None and value % limits.multiple_of:
        why = f"{path} in body should be a multiple of {limits.multiple_of:g}"
        causes.append(invalid_value(path, value, why))
    return causes


def _judge_size(value: Any, limits: Limits, path: str) -> list[Cause]:
    is_list = isinstance(value, list)
    most = limits.max_items if is_list else limits.max_properties
    least = limits.min_items if is_list else limits.min_properties
    what = "items" if is_list else "properties"
    if most is not None and len(value) > most:
        return [Cause("FieldValueTooMany", f"Too many: {len(value)}: must have at most {most} items", path)]
    if least is not None and len(value) < least:
        return [invalid_value(path, value, f"{path} in body should have at least {least} {what}")]
    return []


def _judge_junctors(value: Any, limits: Limits, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for shape in limits.all_of:
        causes += validate(value, ABSENT, shape, path)
    if limits.any_of and all(validate(value, ABSENT, shape, path) for shape in limits.any_of):
        why = f'"{path}" must validate at least one schema (anyOf)'
        causes.append(invalid_value(path, "", why))
    if limits.one_of:
        fitting = [shape for shape in limits.one_of if not validate(value, ABSENT, shape, path)]
        if len(fitting) != 1:
            causes.append(invalid_value(path, "", f'"{path}" must validate one and only one schema (oneOf)'))
    if limits.none_of is not None and not validate(value, ABSENT, limits.none_of, path):
        causes.append(invalid_value(path, "", f'"{path}" must not validate the schema (not)'))
    return causes
