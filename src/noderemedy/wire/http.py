"""Requests and answers as values: rendered here, sent by somebody else (a driver, or the simulator)."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import Struct

from noderemedy.model.ids import Kind
from noderemedy.model.time import Span, Wall
from noderemedy.model.workload import ATTACHMENT, PERSISTENT_VOLUME, POD


class Resource(Struct, frozen=True):
    """Where a kind is served: what discovery found."""

    kind: Kind
    version: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        return f"{self.kind.group}/{self.version}" if self.kind.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of the collection, or of one object, or of a subresource of it.

        Names may come out of other people's objects (a consumerRef, a nodeRef): none of them leaves its place.
        """
        root = f"/apis/{self.kind.group}/{self.version}" if self.kind.group else f"/api/{self.version}"
        where = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        parts = [root + where, self.plural, quote(name, safe=""), subresource]
        return "/".join(part for part in parts if part)


PODS = Resource(POD, "v1", "pods", namespaced=True)  # never watched, so discovery is not asked
ATTACHMENTS = Resource(ATTACHMENT, "v1", "volumeattachments", namespaced=False)
PERSISTENT_VOLUMES = Resource(PERSISTENT_VOLUME, "v1", "persistentvolumes", namespaced=False)


class Request(Struct, frozen=True):
    """One HTTP request to an API server."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = ""


class Answer(Struct, frozen=True):
    """What an API server answered. `date` is the server's clock, `retry_after` its wish."""

    status: int
    body: bytes = b""
    date: Wall | None = None
    retry_after: Span | None = None
