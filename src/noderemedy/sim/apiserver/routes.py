"""From a URL path to what it means: a collection, an object, or a subresource of one."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.resources import Resources
from noderemedy.sim.apiserver.types import ResourceType

OF_NAMESPACES = ("status", "finalize")


class Route(Struct, frozen=True):
    """A resource in one of its versions, and how much of a path follows."""

    resource: ResourceType
    version: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def api_version(self) -> str:
        return self.resource.api_version(self.version)


def parse_route(path: str, resources: Resources) -> Route:
    """The route of a path under /api or /apis; 404 if nothing is served there."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise errors.no_such_path()
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and (group or rest[2] not in OF_NAMESPACES):
        namespace, rest = rest[1], rest[2:]
    return _found(group, version, namespace, rest, resources)


def _found(group: str, version: str, namespace: str, rest: list[str], resources: Resources) -> Route:
    resource = resources.at(group, version, rest[0])
    if resource is None or len(rest) > 3 or not all(rest):
        raise errors.no_such_path()
    name, subresource = (*rest[1:], "", "")[:2]
    if namespace and not resource.namespaced:
        raise errors.no_such_path()
    if name and resource.namespaced and not namespace:
        raise errors.no_such_path()
    if subresource and subresource not in subresources_of(resource, version):
        raise errors.no_such_path()
    return Route(resource, version, namespace, name, subresource)


def subresources_of(resource: ResourceType, version: str) -> tuple[str, ...]:
    """What may follow a name; for custom kinds every version says for itself."""
    if not resource.is_custom:
        return resource.subresources
    served = resource.version(version)
    return (*(("status",) if served.has_status else ()), *(("scale",) if served.scale else ()))
