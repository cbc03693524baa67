"""Is a kind served here, and as what? Three answers, since "no" lets the engine take its objects for absent.

The manager and `plan` ask at start, and each watch asks again after a 404: a CRD may be installed later, or change its
versions. It asks once: whoever wants to wait asks again, and meanwhile can say why it waits.
Only the server's own word that none of its groups has the kind is `NotServed`; a refusal, a broken answer or a version
that we cannot read is an `Obstacle`, and then nothing may be concluded from what we do not see.
"""

from __future__ import annotations

import asyncio
from typing import TypeVar

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle, obstacle_of
from noderemedy.model.ids import Kind
from noderemedy.model.time import Span
from noderemedy.wire.http import Resource
from noderemedy.wire.scalars import UNREADABLE

PATIENCE = Span(20_000)
_T = TypeVar("_T")


class Wanted(Struct, frozen=True):
    """A kind that we understand in these versions, best first. Plural and scope are what its owner uses."""

    kind: Kind
    versions: tuple[str, ...]
    plural: str
    namespaced: bool
    namespace: str = ""  # watched only there; "": everywhere

    def guess(self) -> Resource:
        """Where the kind would be served if it were."""
        return Resource(self.kind, self.versions[0], self.plural, self.namespaced)


class NotServed(Struct, frozen=True):
    """The API server knows no such kind."""


Serving = Resource | NotServed | Obstacle


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


class _Doubt(Exception):
    """The API server did not answer the question."""


async def serving(client: KubeClient, wanted: Wanted) -> Serving:
    """How a kind is served, in the version that the server prefers among those we understand."""
    try:
        return await _look(client, wanted)
    except _Doubt as doubt:
        return Obstacle(str(doubt))
    except (NotSent, NoAnswer) as problem:
        return obstacle_of(problem)


async def find(client: KubeClient, kind: Kind, version: str) -> Serving:
    """How a kind of which only the name is known is served: in this version if possible, else in the favourite one."""
    try:
        return await _find(client, kind, version)
    except _Doubt as doubt:
        return Obstacle(str(doubt))
    except (NotSent, NoAnswer) as problem:
        return obstacle_of(problem)


async def _find(client: KubeClient, kind: Kind, version: str) -> Resource | NotServed:
    group = await _get(client, f"/apis/{kind.group}", _Group)
    served = [one.version for one in group.versions] if group else []
    favourite = group.preferred_version.version if group else ""
    for one in sorted(served, key=lambda name: (name != version, name != favourite)):
        entries = await _get(client, f"/apis/{kind.group}/{one}", _Entries)
        for entry in entries.resources if entries else ():
            if entry.kind == kind.kind and "/" not in entry.name:
                return Resource(kind, one, entry.name, entry.namespaced)
    return NotServed()


async def _look(client: KubeClient, wanted: Wanted) -> Resource | NotServed:
    group = wanted.kind.group
    versions = await _versions(client, wanted)
    where = f"/apis/{group}" if group else "/api"
    # At one moment: a start is over when the last kind was found, or was found nowhere.
    reading = (_get(client, f"{where}/{version}", _Entries) for version in versions)
    for version, entries in zip(versions, await asyncio.gather(*reading, return_exceptions=True), strict=True):
        if isinstance(entries, BaseException):
            raise entries
        for entry in entries.resources if entries else ():
            if entry.kind != wanted.kind.kind or "/" in entry.name:
                continue
            if version in wanted.versions:
                return Resource(wanted.kind, version, entry.name, entry.namespaced)
            known = ", ".join(wanted.versions)
            raise _Doubt(f"{entry.name}.{group} is served as {version} only; we read {known}; update node-remedy")
    if not group:
        # What belongs to Kubernetes itself is always served: this is another server, and it knows of no absence.
        where = f"{client.access.server}/api/{wanted.versions[0]}"
        raise _Doubt(f"{where}: no {wanted.plural} there; check that this is a Kubernetes API server")
    return NotServed()


async def _versions(client: KubeClient, wanted: Wanted) -> list[str]:
    """The served versions: the server's favourite if we understand it, then ours, then strange ones."""
    if not wanted.kind.group:
        return list(wanted.versions)
    group = await _get(client, f"/apis/{wanted.kind.group}", _Group)
    served = [one.version for one in group.versions] if group else []
    ours = [version for version in wanted.versions if version in served]
    favourite = group.preferred_version.version if group else ""
    return sorted(ours, key=lambda one: one != favourite) + [one for one in served if one not in ours]


async def _get(client: KubeClient, path: str, shape: type[_T]) -> _T | None:
    """A discovery document; None if the server says that there is none."""
    answer = await client.ask(path, PATIENCE)
    if answer.status == 404:
        return None
    where = client.access.server + path
    if answer.status in (401, 403):
        remedy = "check the credentials, and that they may read /apis (role system:discovery)"
        raise _Doubt(f"{where}: the API server answered {answer.status}; {remedy}")
    if answer.status != 200:
        raise _Doubt(f"{where}: the API server answered {answer.status}; look at its log, or try again later")
    try:
        return msgspec.json.decode(answer.body, type=shape)
    except UNREADABLE:
        raise _Doubt(f"{where}: no discovery document; check that this is a Kubernetes API server") from None
