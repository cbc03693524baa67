"""Structural schemas: what each keyword refuses, and what passes."""

from __future__ import annotations

from typing import Any

import pytest

from noderemedy.sim.apiserver.pruning import prune, set_defaults
from noderemedy.sim.apiserver.schema import shape_of
from noderemedy.sim.apiserver.validation import ABSENT, validate

ITEMS = {"type": "array", "items": {"type": "string"}}
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "properties": {"name": {"type": "string"}}},
}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}

JUDGED: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "integer"}, 3, ""),
    ({"type": "integer"}, 3.0, ""),
    ({"type": "integer"}, "3", "FieldValueTypeInvalid"),
    ({"type": "integer"}, True, "FieldValueTypeInvalid"),
    ({"type": "number"}, 3, ""),
    ({"type": "boolean"}, 1, "FieldValueTypeInvalid"),
    ({"type": "string"}, None, "FieldValueTypeInvalid"),
    ({"type": "string", "nullable": True}, None, ""),
    ({"type": "string", "enum": ["a"]}, "b", "FieldValueNotSupported"),
    ({"type": "string", "pattern": "^a+$"}, "aab", "FieldValueInvalid"),
    ({"type": "string", "pattern": "a"}, "xax", ""),
    ({"type": "string", "maxLength": 2}, "abc", "FieldValueTooLong"),
    ({"type": "string", "minLength": 2}, "a", "FieldValueInvalid"),
    ({"type": "string", "format": "date-time"}, "2026-01-02T03:04:05Z", ""),
    ({"type": "string", "format": "date-time"}, "soon", "FieldValueTypeInvalid"),
    ({"type": "integer", "minimum": 1}, 0, "FieldValueInvalid"),
    ({"type": "integer", "minimum": 1}, 1, ""),
    ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 1, "FieldValueInvalid"),
    ({"type": "integer", "maximum": 1}, 2, "FieldValueInvalid"),
    ({"type": "integer", "multipleOf": 5}, 7, "FieldValueInvalid"),
    ({**ITEMS, "maxItems": 1}, ["a", "b"], "FieldValueTooMany"),
    ({**ITEMS, "minItems": 1}, [], "FieldValueInvalid"),
    (ITEMS, ["a", 1], "FieldValueTypeInvalid"),
    ({**ITEMS, "x-kubernetes-list-type": "set"}, ["a", "a"], "FieldValueDuplicate"),
    (KEYED, [{"name": "a"}, {"name": "a"}], "FieldValueDuplicate"),
    ({"type": "object", "required": ["a"]}, {}, "FieldValueRequired"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "x"}, "FieldValueTypeInvalid"),
    ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, "FieldValueTooMany"),
    ({"x-kubernetes-int-or-string": True}, "10%", ""),
    ({"x-kubernetes-int-or-string": True}, 10, ""),
    ({"x-kubernetes-int-or-string": True}, 1.5, "FieldValueTypeInvalid"),
    (EMBEDDED, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}, ""),
    (EMBEDDED, {"kind": "Pod"}, "FieldValueRequired"),
    ({"type": "string", "anyOf": [{"enum": ["a"]}, {"enum": ["b"]}]}, "b", ""),
    ({"type": "string", "anyOf": [{"enum": ["a"]}, {"enum": ["b"]}]}, "c", "FieldValueInvalid"),
    ({"type": "string", "oneOf": [{"enum": ["a"]}, {"pattern": "a"}]}, "a", "FieldValueInvalid"),
    ({"type": "string", "not": {"enum": ["a"]}}, "a", "FieldValueInvalid"),
    ({"type": "string", "allOf": [{"minLength": 2}]}, "a", "FieldValueInvalid"),
]


@pytest.mark.parametrize(("schema", "value", "reason"), JUDGED)
def test_keyword(schema: dict[str, Any], value: Any, reason: str) -> None:
    """The value is accepted, or refused for exactly this reason."""
    causes = validate({"x": value}, ABSENT, shape_of({"type": "object", "properties": {"x": schema}}))
    assert [reason] * bool(reason) == [cause.reason for cause in causes]


def test_old_faults_may_stay() -> None:
    """What an update does not change is not judged again."""
    shape = shape_of(
        {"type": "object", "properties": {"x": {"type": "integer", "minimum": 1}, "y": {"type": "string"}}}
    )
    assert [] == validate({"x": 0, "y": "new"}, {"x": 0, "y": "old"}, shape)
    assert 1 == len(validate({"x": 0, "y": "new"}, {"x": 2, "y": "old"}, shape))


def test_pruning_goes_deep_and_stops_where_told() -> None:
    """Unknown fields are dropped at every depth, and kept where the schema says so."""
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"deep": inner}}
    shape = shape_of({"type": "object", "properties": {"list": {"type": "array", "items": inner}, "free": free}})
    unknown: list[str] = []
    value = {"list": [{"a": "1", "b": "2"}], "free": {"any": {"b": 1}, "deep": {"a": "1", "b": 2}}, "c": 1}
    assert {"list": [{"a": "1"}], "free": {"any": {"b": 1}, "deep": {"a": "1"}}} == prune(value, {}, shape, unknown)
    assert ["c", "free.deep.b", "list[0].b"] == sorted(unknown)


def test_defaults_fill_what_is_there() -> None:
    """Defaults fill absent fields and forbidden nulls of objects that exist, also in lists and maps."""
    part = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    properties = {
        "one": {"type": "string", "default": "x"},
        "null": {"type": "string", "nullable": True, "default": "x"},
        "list": {"type": "array", "items": part},
        "map": {"type": "object", "additionalProperties": part},
        "absent": part,
        "given": {**part, "default": {}},
    }
    shape = shape_of({"type": "object", "properties": properties})
    value: dict[str, Any] = {"one": None, "null": None, "list": [{}], "map": {"k": {}}}
    expected = {"one": "x", "null": None, "list": [{"n": 1}], "map": {"k": {"n": 1}}, "given": {"n": 1}}
    assert expected == set_defaults(value, shape)
