"""Which of the kinds that we want are served here, and as what.

The manager calls `discover()` at start and hands `locator()` to each watch, which asks again after a 404: a CRD may be
installed later, or change its versions. A kind that is missing is not an error; its watch says so once and waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.sink import Locate
from noderemedy.model.ids import Kind
from noderemedy.model.time import Span
from noderemedy.wire.http import Request, Resource

PATIENCE = Span(20_000)


class Wanted(Struct, frozen=True):
    """A kind that we understand in these versions, best first. Plural and scope are what its owner uses."""

    kind: Kind
    versions: tuple[str, ...]
    plural: str
    namespaced: bool

    def guess(self) -> Resource:
        """Where the kind would be served if it were."""
        return Resource(self.kind, self.versions[0], self.plural, self.namespaced)


class Discovered(Struct, frozen=True):
    """What is served, and what is not (yet)."""

    served: dict[Kind, Resource]
    missing: tuple[Wanted, ...] = ()

    def resources(self) -> dict[Kind, Resource]:
        """All wanted kinds: as served, or as they would be."""
        return {**{wanted.kind: wanted.guess() for wanted in self.missing}, **self.served}


class _Version(Struct):
    version: str = ""


class _Group(Struct, rename="camel"):
    versions: list[_Version]
    preferred_version: _Version = msgspec.field(default_factory=_Version)


class _Entry(Struct):
    name: str
    kind: str
    namespaced: bool = False


class _Entries(Struct):
    resources: list[_Entry]


_T = TypeVar("_T")


async def discover(client: KubeClient, wanted: Iterable[Wanted]) -> Discovered:
    """Look for each wanted kind. Raises NotSent or NoAnswer if the server cannot be asked."""
    served: dict[Kind, Resource] = {}
    missing: list[Wanted] = []
    for one in wanted:
        found = await locate(client, one)
        if found is None:
            missing.append(one)
        else:
            served[one.kind] = found
    return Discovered(served, tuple(missing))


async def locate(client: KubeClient, wanted: Wanted) -> Resource | None:
    """Where one kind is served, in the version that the server prefers among those we understand."""
    for version in await _versions(client, wanted):
        root = f"/apis/{wanted.kind.group}/{version}" if wanted.kind.group else f"/api/{version}"
        entries = await _get(client, root, _Entries)
        for entry in entries.resources if entries else ():
            if entry.kind == wanted.kind.kind and "/" not in entry.name:
                return Resource(wanted.kind, version, entry.name, entry.namespaced)
    return None


def locator(client: KubeClient, wanted: Wanted) -> Locate:
    """For `watch(locate=…)`."""

    async def ask() -> Resource | None:
        return await locate(client, wanted)

    return ask


async def _versions(client: KubeClient, wanted: Wanted) -> list[str]:
    """The versions of the group that are served and understood; the server's favourite first."""
    if not wanted.kind.group:
        return list(wanted.versions)
    group = await _get(client, f"/apis/{wanted.kind.group}", _Group)
    if group is None:
        return []
    served = {version.version for version in group.versions}
    ours = [version for version in wanted.versions if version in served]
    return sorted(ours, key=lambda version: version != group.preferred_version.version)


async def _get(client: KubeClient, path: str, shape: type[_T]) -> _T | None:
    """A discovery document; None where there is none."""
    answer = await client.send(Request("GET", path), timeout=PATIENCE, retry=True, urgent=True)
    if answer.status != 200:
        return None
    try:
        return msgspec.json.decode(answer.body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
