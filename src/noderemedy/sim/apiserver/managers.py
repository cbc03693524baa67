"""Field managers: who set which field, kept in `metadata.managedFields`.

Every write is recorded: a change takes a field from its former owners and gives it to the writer. An apply
that would take a field from somebody else is a conflict, unless it is forced. The trees tell no lies about
time: an entry's time moves only when its fields do.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.apply import merge_applied, prune
from noderemedy.sim.apiserver.errors import Cause
from noderemedy.sim.apiserver.fieldset import (
    FieldSet,
    compare,
    difference,
    fields_of,
    intersection,
    paths,
    union,
)
from noderemedy.sim.apiserver.shape import Shape
from noderemedy.sim.apiserver.types import Tree

UNMANAGED: FieldSet = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        ".": {},
        "f:name": {},
        "f:namespace": {},
        "f:creationTimestamp": {},
        "f:selfLink": {},
        "f:uid": {},
        "f:generation": {},
        "f:managedFields": {},
        "f:resourceVersion": {},
    },
}
"""Fields that the server itself keeps: nobody owns them."""


class Writer(Struct, frozen=True):
    """In whose name fields are recorded."""

    manager: str
    api_version: str
    now: str
    subresource: str = ""

    def entry(self, operation: str, fields: FieldSet) -> Tree:
        found: Tree = {"manager": self.manager, "operation": operation, "apiVersion": self.api_version}
        found |= {"time": self.now, "fieldsType": "FieldsV1", "fieldsV1": fields}
        if self.subresource:
            found["subresource"] = self.subresource
        return found

    def wrote(self, entry: Tree, operation: str) -> bool:
        """Whether an entry is this writer's. An applier is the same in every version."""
        return (
            entry["manager"] == self.manager
            and entry["operation"] == operation
            and entry.get("subresource", "") == self.subresource
            and (operation == "Apply" or entry["apiVersion"] == self.api_version)
        )


def managed(tree: Tree) -> list[Tree]:
    found: list[Tree] = tree.get("metadata", {}).get("managedFields") or []
    return found


def with_managed(tree: Tree, entries: list[Tree]) -> Tree:
    """The tree with these entries, or without the field if there are none."""
    meta = tree["metadata"]
    if meta.get("managedFields") is entries:
        return tree
    meta = {key: value for key, value in meta.items() if key != "managedFields"}
    return {**tree, "metadata": {**meta, "managedFields": entries} if entries else meta}


def track_update(old: Tree, new: Tree, shape: Shape, writer: Writer) -> list[Tree]:
    """The entries after a create, update or patch."""
    entries = managed(old)
    if old.get("metadata") is new["metadata"]:
        old, new = {**old, "metadata": {}}, {**new, "metadata": {}}
    added, removed = compare(_bare(old), _bare(new), shape)
    changed = None if added is None else difference(added, UNMANAGED)
    if changed is None and removed is None:
        return entries
    result = [entry for entry in _without(entries, changed, removed, writer, "Update") if entry is not None]
    if changed is None:
        return result
    for index, entry in enumerate(result):
        if writer.wrote(entry, "Update"):
            fields = union(entry["fieldsV1"], changed)
            if fields is not entry["fieldsV1"]:
                result[index] = writer.entry("Update", fields)
            return entries if _same(result, entries) else result
    return [*result, writer.entry("Update", changed)]


def _bare(tree: Tree) -> Tree:
    """The tree without its managed fields: they are not compared with themselves."""
    meta = tree.get("metadata")
    if not meta or "managedFields" not in meta:
        return tree
    return {**tree, "metadata": {key: value for key, value in meta.items() if key != "managedFields"}}


def _same(first: list[Tree], second: list[Tree]) -> bool:
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))


def _without(
    entries: list[Tree], changed: FieldSet | None, removed: FieldSet | None, writer: Writer, operation: str
) -> list[Tree | None]:
    """The entries when changed fields have left the others, and removed fields have left everybody."""
    result: list[Tree | None] = []
    for entry in entries:
        fields: FieldSet | None = entry["fieldsV1"]
        if changed is not None and fields is not None and not writer.wrote(entry, operation):
            fields = difference(fields, changed)
        if removed is not None and fields is not None:
            fields = difference(fields, removed)
        if fields is entry["fieldsV1"]:
            result.append(entry)
        else:
            result.append(None if fields is None else {**entry, "fieldsV1": fields})
    return result


class Applied(Struct):
    """The outcome of an apply."""

    tree: Tree
    entries: list[Tree]


def apply(live: Tree, applied: Tree, shape: Shape, writer: Writer, force: bool) -> Applied:
    """Merge a configuration; refuse with 409 if that takes fields from others without force."""
    entries = managed(live)
    said = difference(fields_of(applied, shape), UNMANAGED)
    own = next((entry for entry in entries if writer.wrote(entry, "Apply")), None)
    others = [entry for entry in entries if entry is not own]
    base = _bare(live)
    merged = merge_applied(base, applied, shape)
    if own is not None:
        owned: FieldSet = said or {}
        for entry in others:
            owned = _join(owned, entry["fieldsV1"])
        merged = prune(merged, own["fieldsV1"], _join(owned, UNMANAGED), shape)
    added, removed = compare(base, merged, shape)
    changed = None if added is None else difference(added, UNMANAGED)
    if changed is not None and not force:
        refuse_conflicts(others, changed)
    left = [entry for entry in _without(others, changed, removed, writer, "Apply") if entry is not None]
    return Applied(merged, _with_own(entries, left, own, said, writer))


def _join(first: FieldSet, second: FieldSet) -> FieldSet:
    """Union of two sets at the root, where an empty dict is the empty set and not a member."""
    if not first or not second:
        return first or second
    return union(first, second)


def _with_own(
    entries: list[Tree], left: list[Tree], own: Tree | None, said: FieldSet | None, writer: Writer
) -> list[Tree]:
    if said is None:
        return left
    if own is not None and own["fieldsV1"] == said and own["apiVersion"] == writer.api_version:
        result = [entry for entry in entries if entry is own or entry in left]
        return entries if _same(result, entries) else [own, *left]
    applies = [entry for entry in left if entry["operation"] == "Apply"]
    updates = [entry for entry in left if entry["operation"] != "Apply"]
    return [*applies, writer.entry("Apply", said), *updates]


def refuse_conflicts(others: list[Tree], changed: FieldSet) -> None:
    conflicts: list[tuple[str, str]] = []
    for entry in others:
        both = intersection(entry["fieldsV1"], changed)
        if both is not None:
            conflicts += [(_spoken(entry), path) for path in paths(both)]
    if not conflicts:
        return
    causes = [Cause("FieldManagerConflict", f"conflict with {who}", path) for who, path in conflicts]
    if len(conflicts) == 1:
        text = f"Apply failed with 1 conflict: conflict with {conflicts[0][0]}: {conflicts[0][1]}"
        raise errors.apply_conflict(causes, text)
    lines = []
    for who in sorted({who for who, _ in conflicts}):
        lines += [f"conflicts with {who}:", *(f"- {path}" for whose, path in conflicts if whose == who)]
    raise errors.apply_conflict(causes, f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines))


def _spoken(entry: dict[str, Any]) -> str:
    text = f'"{entry["manager"]}"'
    if entry.get("subresource"):
        text += f' with subresource "{entry["subresource"]}"'
    if entry["operation"] == "Update":
        text += f" using {entry['apiVersion']}"
    return text
