"""Definitions of kinds: which of our fields the API would drop under another one, whatever its author wrote into it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from noderemedy.crds.recording import PARTS, by_name, judged, ours
from noderemedy.model.ids import NODE_FENCE, REMEDIATION, Kind
from noderemedy.model.keeping import FILES, PROVING, Unkept
from noderemedy.wire.definitions import decode_definition
from noderemedy.wire.undecodable import Undecodable

Tree = dict[str, Any]
KEEPS = "x-kubernetes-preserve-unknown-fields"
STATUS = ("versions", 0, "schema", "openAPIV3Schema", "properties", "status")


def at(spec: Tree, *path: str | int) -> Any:
    found: Any = spec
    for key in path:
        found = found[key]
    return found


def changed(change: Callable[[Tree], object], kind: Kind = REMEDIATION) -> Unkept | None:
    spec = copy.deepcopy(ours(kind))
    change(spec)
    return judged(kind, spec)


@pytest.mark.parametrize("kind", FILES, ids=str)
def test_ours_keeps_all_of_it(kind: Kind) -> None:
    """Also one with more fields than ours, as a newer version of us would install."""
    newer = copy.deepcopy(ours(kind))
    at(newer, *STATUS, "properties")["later"] = {"type": "string"}

    assert judged(kind, ours(kind)) is None
    assert judged(kind, newer) is None


def test_every_field_of_ours_counts() -> None:
    """Each one that is taken away is named, wherever it is; one that is added later needs no further word."""
    found = []

    def walk(schema: Tree, path: str) -> None:
        for name in schema.get("properties", {}):
            found.append(f"{path}.{name}")
            walk(schema["properties"][name], f"{path}.{name}")
        if "items" in schema:
            walk(schema["items"], f"{path}[]")

    for kind in PROVING:
        found.clear()
        walk(at(ours(kind), *STATUS), "status")
        assert len(found) > 10
        for path in found:
            spec = copy.deepcopy(ours(kind))
            taken(spec, path)
            assert Unkept((path,)) == judged(kind, spec)


def taken(spec: Tree, path: str) -> None:
    *parents, last = path.split(".")
    schema = at(spec, *STATUS[:-2])
    for name in parents:
        schema = schema["properties"][name.removesuffix("[]")]
        schema = schema["items"] if name.endswith("[]") else schema
    del schema["properties"][last]


OPEN: dict[str, Callable[[Tree], object]] = {
    "nothing of it is structural": lambda spec: spec.update(preserveUnknownFields=True),
    "it keeps what it does not know": lambda spec: at(spec, *STATUS).update({"properties": {}, KEEPS: True}),
    "it keeps the lists that it does not know": lambda spec: at(spec, *STATUS, "properties").update(
        conditions={"type": "array", KEEPS: True}
    ),
    "its evidence is a map": lambda spec: at(spec, *STATUS, "properties").update(
        evidence={"type": "object", "additionalProperties": {"type": "string"}}
    ),
    "it has a version whose name is none": lambda spec: spec["versions"].append({"name": [], "storage": False}),
    "it has a version that nobody stores and we do not use": lambda spec: spec["versions"].append(
        {"name": "v1", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}}
    ),
}


@pytest.mark.parametrize("way", OPEN)
def test_what_is_kept_in_another_way_is_kept(way: str) -> None:
    """Not by name, but no field of ours is dropped."""
    assert changed(OPEN[way]) is None


LOST: dict[str, Callable[[Tree], object]] = {
    "it has no status": lambda spec: at(spec, *STATUS[:-1]).pop("status"),
    "its status is anything": lambda spec: at(spec, *STATUS[:-1]).update(status="object"),
    "its status is an empty object": lambda spec: at(spec, *STATUS).pop("properties"),
    "it has no schema": lambda spec: spec["versions"][0].pop("schema"),
    "it keeps what it does not know, and knows an older status": lambda spec: (
        at(spec, *STATUS).update({KEEPS: True}),
        at(spec, *STATUS, "properties", "evidence", "properties").pop("contradictedAt"),
    ),
    "another version is stored": lambda spec: spec["versions"].append({"name": "v2", "storage": True}),
}


@pytest.mark.parametrize("way", LOST)
def test_what_is_not_there_is_missing(way: str) -> None:
    """Whatever else stands in its place, none of our fields would be kept."""
    found = changed(LOST[way])

    assert found is not None
    assert "status" in found.missing[0]


def test_a_spec_counts_where_we_make_the_objects() -> None:
    """A NodeFence without its cluster would be for another node; a Metal3Remediation may speak CAPM3's words."""
    where = (*STATUS[:-1], "spec", "properties")

    assert Unkept(("spec.cluster",)) == changed(lambda spec: at(spec, *where).pop("cluster"), NODE_FENCE)
    assert changed(lambda spec: at(spec, *where).pop("freeBy")) is None
    assert set(PARTS) == set(FILES) == set(by_name().values())


def test_a_definition_is_read_as_it_is() -> None:
    """With its name and version; what is none is put aside."""
    spec = ours(REMEDIATION)
    tree = {"metadata": {"name": "x", "uid": "u", "resourceVersion": "7"}, "spec": spec}
    seen = decode_definition(json.dumps(tree).encode())

    assert ("x", "7", spec) == (seen.ref.name, seen.resource_version, seen.obj)
    with pytest.raises(Undecodable):
        decode_definition(b'{"metadata": {"name": "x"}, "spec": []}')
