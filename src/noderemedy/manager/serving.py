"""Is a kind served here, and as what? Three answers, since "no" lets the engine take it for absent.

Called when a program starts, and again whenever a watch was answered with 404. Only the API server's own word that
the kind is in none of its groups counts as `NotServed`; a refusal, a broken answer or a version that we
cannot read is `Unclear`: then nothing may be concluded from what we do not see.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.discovery import Wanted
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.model.time import Span
from noderemedy.wire.http import Request, Resource

PATIENCE = Span(20_000)
T = TypeVar("T")


class NotServed(Struct, frozen=True):
    """The API server knows no such kind."""


class Unclear(Struct, frozen=True):
    """Nobody can tell whether there are objects of this kind."""

    why: str


Serving = Resource | NotServed | Unclear


class _Version(Struct):
    version: str = ""


class _Group(Struct):
    versions: list[_Version]


class _Entry(Struct):
    name: str
    kind: str
    namespaced: bool = False


class _Entries(Struct):
    resources: list[_Entry]


class _Doubt(Exception):
    """The API server did not answer the question."""


async def serving(client: KubeClient, wanted: Wanted) -> Serving:
    """How a kind is served, in the first of the wanted versions that has it."""
    try:
        return await _look(client, wanted)
    except (_Doubt, NotSent, NoAnswer) as problem:
        return Unclear(str(problem))


async def _look(client: KubeClient, wanted: Wanted) -> Serving:
    group = wanted.kind.group
    served = await _versions(client, wanted)
    ours = [version for version in wanted.versions if version in served]
    strange = [version for version in served if version not in ours]
    for version in [*ours, *strange]:
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        entries = await _get(client, root, _Entries)
        for entry in entries.resources if entries else ():
            if entry.kind == wanted.kind.kind and "/" not in entry.name:
                if version in ours:
                    return Resource(wanted.kind, version, entry.name, entry.namespaced)
                known = ", ".join(wanted.versions)
                raise _Doubt(
                    f"{wanted.plural}.{group} is served as {version} only; we read {known}; update node-remedy"
                )
    return NotServed()


async def _versions(client: KubeClient, wanted: Wanted) -> list[str]:
    if not wanted.kind.group:
        return list(wanted.versions)
    group = await _get(client, f"/apis/{wanted.kind.group}", _Group)
    return [one.version for one in group.versions] if group else []


async def _get(client: KubeClient, path: str, shape: type[T]) -> T | None:
    """A discovery document; None if the server says that there is none."""
    answer = await client.send(Request("GET", path), timeout=PATIENCE, urgent=True)
    if answer.status == 404:
        return None
    if answer.status in (401, 403):
        raise _Doubt(
            f"{path}: status {answer.status}; check the credentials, and that they may read /apis (system:discovery)"
        )
    if answer.status != 200:
        raise _Doubt(f"{path}: the API server answered {answer.status}")
    try:
        return msgspec.json.decode(answer.body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _Doubt(f"{path}: the answer is no discovery document; is this a Kubernetes API server?") from None
