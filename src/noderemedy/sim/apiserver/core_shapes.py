"""The shapes of the built-in kinds, read once from the generated table `core_shapes.json`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.shape import ANY, Shape

OPEN = frozenset({"any", "quantity", "int-or-string"})

ATOMIC = frozenset(
    {
        "core.v1.ConfigMapKeySelector",
        "core.v1.LocalObjectReference",
        "core.v1.NodeSelector",
        "core.v1.NodeSelectorTerm",
        "core.v1.ObjectFieldSelector",
        "core.v1.ObjectReference",
        "core.v1.ResourceFieldSelector",
        "core.v1.SecretKeySelector",
        "core.v1.SecretReference",
        "core.v1.TypedLocalObjectReference",
        "meta.v1.LabelSelector",
        "meta.v1.OwnerReference",
    }
)
"""Structures that one manager owns as a whole."""


class CoreShapes:
    """Builds shapes by name; a definition is built once and shared, so that recursion ends."""

    def __init__(self) -> None:
        text = files(__package__).joinpath("core_shapes.json").read_bytes()
        table = msgspec.json.decode(text)
        self._kinds: dict[str, str] = table["kinds"]
        self._definitions: dict[str, dict[str, Any]] = table["shapes"]
        self._numbers: dict[str, dict[str, Any]] = table["numbers"]
        self._built: dict[str, Shape] = {}

    def of(self, kind: Kind) -> Shape:
        return self.named(self._kinds[f"{kind.group}/{kind.kind}"])

    def definition(self, api_version: str, kind: str) -> str | None:
        """The name of the definition of a kind, None if it is not known."""
        if kind == "DeleteOptions":
            return "meta.v1.DeleteOptions"
        return self._kinds.get(f"{api_version.rpartition('/')[0]}/{kind}")

    def described(self, name: str) -> dict[str, Any]:
        """The fields of a definition, as the table has them."""
        return self._definitions[name]

    def numbers(self, name: str) -> dict[str, Any]:
        """The fields of a definition by their protobuf numbers; a nested table is a message that JSON inlines."""
        return self._numbers[name]

    def named(self, name: str) -> Shape:
        """The shape of one definition, such as `meta.v1.ObjectMeta`."""
        if name in self._built:
            return self._built[name]
        shape = self._built[name] = Shape(type="object", is_atomic=name in ATOMIC)
        for key, described in self._definitions[name].items():
            shape.properties[key] = self._field(described)
        return shape

    def _field(self, described: dict[str, Any]) -> Shape:
        shape = self._value(described)
        if "zero" in described and "ref" not in described:
            shape.vanishes = True
        if "atomic" in described:
            shape = msgspec.structs.replace(shape, is_atomic=True)
        return shape

    def _value(self, described: dict[str, Any]) -> Shape:
        if "ref" in described:
            return self.named(described["ref"])
        if "map" in described:
            return Shape(type="object", additional=self._value(described["map"]))
        if "list" in described:
            return self._list(described)
        kind = described["type"]
        if kind == "object":
            return msgspec.structs.replace(ANY)
        return Shape(type=kind, keeps_unknown=kind in OPEN)

    def _list(self, described: dict[str, Any]) -> Shape:
        shape = Shape(type="array", items=self._value(described["list"]), merge_key=described.get("merge"))
        if described.get("set"):
            shape.list_type = "set"
        if "keys" in described:
            shape.list_type, shape.keys = "map", tuple(described["keys"])
        return shape


@cache
def core_shapes() -> CoreShapes:
    """The table is a constant: reading it once per process is enough."""
    return CoreShapes()
