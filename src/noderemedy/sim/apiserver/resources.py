"""Which kinds are served, found by kind or by the parts of a URL."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.types import ResourceType, Tree


class Resources:
    """The table of served kinds; custom kinds come and go with their definitions."""

    def __init__(self, resources: Iterable[ResourceType]) -> None:
        self._by_kind: dict[Kind, ResourceType] = {}
        self._by_path: dict[tuple[str, str, str], ResourceType] = {}
        for resource in resources:
            self.add(resource)

    def add(self, resource: ResourceType) -> None:
        self.remove(resource.kind)
        self._by_kind[resource.kind] = resource
        for version in resource.versions:
            self._by_path[resource.kind.group, version.name, resource.plural] = resource

    def remove(self, kind: Kind) -> None:
        gone = self._by_kind.pop(kind, None)
        if gone is not None:
            self._by_path = {path: one for path, one in self._by_path.items() if one is not gone}

    def all(self) -> list[ResourceType]:
        return [self._by_kind[kind] for kind in sorted(self._by_kind)]

    def find(self, kind: Kind) -> ResourceType | None:
        return self._by_kind.get(kind)

    def of(self, kind: Kind) -> ResourceType:
        found = self._by_kind.get(kind)
        if found is None:
            raise errors.no_such_path()
        return found

    def behind(self, resource: ResourceType) -> ResourceType:
        """What is written where this kind is asked for; by another door it is not held to its own rules."""
        inner = resource.stored_as
        return resource if inner is None else replace(self.of(inner), is_judged=False)

    def at(self, group: str, version: str, plural: str) -> ResourceType | None:
        return self._by_path.get((group, version, plural))

    def serves(self, group: str, version: str) -> bool:
        return any(path[:2] == (group, version) for path in self._by_path)


def kind_of(tree: Tree) -> Kind:
    """The kind that an object says it is."""
    api_version, kind = tree.get("apiVersion"), tree.get("kind")
    if not isinstance(kind, str) or not kind:
        raise errors.bad_request("Object 'Kind' is missing in the request body")
    if not isinstance(api_version, str) or not api_version:
        raise errors.bad_request("Object 'apiVersion' is missing in the request body")
    return Kind(api_version.rpartition("/")[0], kind)
