"""From the OpenAPI schema in a CustomResourceDefinition to a Shape."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from noderemedy.sim.apiserver.core_shapes import core_shapes
from noderemedy.sim.apiserver.once import once_per_tree
from noderemedy.sim.apiserver.shape import Limits, Shape

Schema = dict[str, Any]


@once_per_tree
def root_shape(schema: Schema | None) -> Shape:
    """The shape of whole objects: what the schema says, and the fields that every object has."""
    shape = shape_of(schema) if schema else Shape(type="object", keeps_unknown=True)
    _make_resource(shape)
    return shape


def _make_resource(shape: Shape) -> None:
    shape.properties["apiVersion"] = Shape(type="string")
    shape.properties["kind"] = Shape(type="string")
    shape.properties["metadata"] = core_shapes().named("meta.v1.ObjectMeta")


def shape_of(schema: Schema) -> Shape:
    """One schema node. Unknown keywords are ignored, as a server of another version would."""
    shape = Shape(type=_type(schema), nullable=bool(schema.get("nullable")), limits=_limits(schema))
    shape.properties = {key: shape_of(one) for key, one in (schema.get("properties") or {}).items()}
    shape.keeps_unknown = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        shape.additional = shape_of(additional)
    elif additional is True:
        shape.keeps_unknown = True
    if isinstance(schema.get("items"), dict):
        shape.items = shape_of(schema["items"])
    if shape.type == "any" and not shape.properties:
        shape.keeps_unknown = True
    shape.list_type = schema.get("x-kubernetes-list-type", "atomic")
    shape.keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    shape.is_atomic = schema.get("x-kubernetes-map-type") == "atomic"
    shape.default = schema.get("default", UNSET)
    if schema.get("x-kubernetes-embedded-resource"):
        shape.is_embedded = True
        _make_resource(shape)
    shape.has_defaults = _has_defaults(shape)
    return shape


def _type(schema: Schema) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    return str(schema.get("type") or ("object" if schema.get("properties") else "any"))


def _has_defaults(shape: Shape) -> bool:
    inner = [*shape.properties.values(), shape.additional, shape.items]
    return any(one is not None and (one.default is not UNSET or one.has_defaults) for one in inner)


def _limits(schema: Schema) -> Limits | None:
    """Everything in a schema that only validation cares about; None if there is nothing of it."""
    enum = schema.get("enum")
    limits = Limits(
        required=tuple(schema.get("required") or ()),
        enum=None if enum is None else tuple(enum),
        minimum=schema.get("minimum"),
        maximum=schema.get("maximum"),
        exclusive_minimum=bool(schema.get("exclusiveMinimum")),
        exclusive_maximum=bool(schema.get("exclusiveMaximum")),
        multiple_of=schema.get("multipleOf"),
        min_length=schema.get("minLength"),
        max_length=schema.get("maxLength"),
        min_items=schema.get("minItems"),
        max_items=schema.get("maxItems"),
        min_properties=schema.get("minProperties"),
        max_properties=schema.get("maxProperties"),
        unique_items=bool(schema.get("uniqueItems")),
        pattern=schema.get("pattern"),
        format=schema.get("format"),
        all_of=tuple(shape_of(one) for one in schema.get("allOf") or ()),
        any_of=tuple(shape_of(one) for one in schema.get("anyOf") or ()),
        one_of=tuple(shape_of(one) for one in schema.get("oneOf") or ()),
        none_of=shape_of(schema["not"]) if schema.get("not") else None,
    )
    return None if limits == Limits() else limits
