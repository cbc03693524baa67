"""Bringing an object into the shape of its kind and judging it, before `writes.py` commits it.

Each rule is a method of its own, so that a test can take a single rule away and see the suite notice.
"""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver import errors, kinds
from noderemedy.sim.apiserver.completion import COMPLETIONS
from noderemedy.sim.apiserver.coreshape import WrongType, reshape
from noderemedy.sim.apiserver.defaults import DEFAULTS
from noderemedy.sim.apiserver.names import metadata_causes
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.pruning import prune, set_defaults
from noderemedy.sim.apiserver.shape import Shape
from noderemedy.sim.apiserver.types import ResourceType, Tree
from noderemedy.sim.apiserver.validation import ABSENT, json_type, validate


class Shaping:
    """Shapes and judges objects; unknown fields that are only warned about are in `warnings`."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def shaped(self, resource: ResourceType, new: Tree, old: Tree, options: Options) -> Tree:
        """The object in the shape of its kind: unknown fields dropped or refused, defaults filled in."""
        shape = resource.version(options.version).shape
        unknown: list[str] = []
        if resource.is_custom:
            new = self.defaulted(self.pruned_custom(new, old, shape, unknown), shape)
        else:
            new = self.pruned(new, old, shape, unknown)
            if "stringData" in new and resource.kind == kinds.SECRET:
                new = kinds.fold_strings(new)
            default = DEFAULTS.get(resource.kind)
            if default is not None and not options.subresource:
                new = default(new)
            complete = COMPLETIONS.get(resource.kind)
            if complete is not None:
                new = complete(new, old)
        new = with_field(new, "apiVersion", resource.api_version())
        if unknown:
            self._report_unknown(resource, unknown, options)
        return new

    def pruned_custom(self, new: Tree, old: Tree, shape: Shape, unknown: list[str]) -> Tree:
        """Fields that a custom kind does not have are not stored."""
        was = old.get("metadata")
        meta = self._decoded(new, new["metadata"], was, shape.properties["metadata"], unknown, "metadata")
        found: Tree = prune(with_field(new, "metadata", meta), old, shape, unknown)
        return found

    def defaulted(self, new: Tree, shape: Shape) -> Tree:
        """Fields that a custom kind has a default for are never absent."""
        found: Tree = set_defaults(new, shape)
        return found

    def pruned(self, new: Tree, old: Tree, shape: Shape, unknown: list[str]) -> Tree:
        """A built-in object keeps what its structure has, and is refused for a value of a wrong type."""
        return self._decoded(new, new, old, shape, unknown)

    def _decoded(self, whole: Tree, part: Tree, old: Any, shape: Shape, unknown: list[str], path: str = "") -> Tree:
        """A part of an object as its typed structure keeps it."""
        try:
            found: Tree = reshape(part, old, shape, unknown, path)
        except WrongType as fault:
            kind = whole.get("kind", "")
            why = f"json: cannot unmarshal {json_type(fault.value)} into Go struct field {kind}.{fault.path}"
            version = str(whole.get("apiVersion", "")).rpartition("/")[2]
            said = f'{kind} in version "{version}" cannot be handled as a {kind}: {why}'
            raise errors.Undecodable(said) from None
        return found

    def _report_unknown(self, resource: ResourceType, unknown: list[str], options: Options) -> None:
        said = [f'unknown field "{path}"' for path in sorted(unknown)]
        if options.strictness == "Strict":
            raise errors.Undecodable(f"strict decoding error: {', '.join(said)}")
        if options.strictness == "Warn":
            self.warnings += said

    def judge(self, resource: ResourceType, shape: Shape, new: Tree, old: Tree | None) -> None:
        """Refuse an object that is not valid, with every cause."""
        causes = metadata_causes(resource, new["metadata"], None if old is None else old["metadata"])
        if resource.is_custom:
            causes += self.schema_causes(new, old, shape)
        special = kinds.CAUSES.get(resource.kind) if resource.is_judged else None
        if special is not None:
            causes += special(new, old)
        if causes:
            raise errors.invalid(resource, new["metadata"].get("name", ""), causes)

    def schema_causes(self, new: Tree, old: Tree | None, shape: Shape) -> list[errors.Cause]:
        """What the structural schema of a custom kind has against an object."""
        return validate(new, ABSENT if old is None else old, shape)


def with_field(tree: Tree, key: str, value: Any) -> Tree:
    """The tree with one top-level field set, or taken out if the value is None."""
    if tree.get(key) is value:
        return tree
    if value is None:
        return {name: kept for name, kept in tree.items() if name != key}
    return {**tree, key: value}


def with_meta(tree: Tree, key: str, value: Any) -> Tree:
    meta = tree["metadata"]
    if meta.get(key) is value:
        return tree
    return {**tree, "metadata": with_field(meta, key, value)}
