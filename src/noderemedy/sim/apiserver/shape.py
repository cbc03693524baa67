"""Shape: what is known about the fields of a kind, for built-in kinds and custom ones alike.

One description drives pruning, defaulting, validation, strategic merge and server-side apply. Built-in
kinds get theirs from `core_shapes.py`, custom kinds from their CustomResourceDefinition (`schema.py`).
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

ListType = Literal["atomic", "set", "map"]


class Limits(Struct):
    """What a custom kind's schema demands of a value, beyond its type."""

    required: tuple[str, ...] = ()
    enum: tuple[Any, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    unique_items: bool = False
    pattern: str | None = None
    format: str | None = None
    all_of: tuple[Shape, ...] = ()
    any_of: tuple[Shape, ...] = ()
    one_of: tuple[Shape, ...] = ()
    none_of: Shape | None = None


class Shape(Struct):
    """The fields of a value. `type` is a JSON type, or "any", "int-or-string", "quantity", "time" …

    `vanishes` says that a zero value is not written (as Go's omitempty does); `merge_key` is for strategic
    merge ("" for lists of plain values, None where lists are replaced); `keys` are for apply.
    """

    type: str = "any"
    properties: dict[str, Shape] = field(default_factory=dict)
    additional: Shape | None = None
    items: Shape | None = None
    list_type: ListType = "atomic"
    keys: tuple[str, ...] = ()
    merge_key: str | None = None
    is_atomic: bool = False
    vanishes: bool = False
    keeps_unknown: bool = False
    nullable: bool = False
    is_embedded: bool = False
    default: Any | UnsetType = UNSET
    has_defaults: bool = False
    limits: Limits | None = None

    def of(self, key: str) -> Shape | None:
        """The shape of one field of an object, None if the field is unknown."""
        return self.properties.get(key, self.additional)


ANY = Shape(keeps_unknown=True)
"""A value of which nothing is known: objects merge field by field, lists are replaced."""
