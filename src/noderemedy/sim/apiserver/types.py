"""The nouns of the simulated API server: trees, users, changes, and the description of a served kind.

Every other file of this package uses them; programs use `User`, `WatchEvent`, `Subscription` and `Page`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.shape import Shape
from noderemedy.wire.http import Answer

Tree = dict[str, Any]
"""A JSON object. Once stored it is never changed: writers copy the path they change and share the rest."""

Key = tuple[str, str]
"""(namespace, name); the namespace is "" for kinds without one."""

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]


class User(Struct, frozen=True):
    """Who asks. There is no authentication here: the caller of `handle` has done it."""

    name: str
    groups: tuple[str, ...] = ()


ADMIN = User("admin", ("system:masters", "system:authenticated"))


class WatchEvent(NamedTuple):
    """What a watcher is told. The tree is shared with the store: look, do not touch."""

    type: EventType
    tree: Tree


class Change(NamedTuple):
    """One committed write. `old` is None for an addition; a deletion keeps the last tree in `new`."""

    revision: int
    type: EventType
    kind: Kind
    key: Key
    old: Tree | None
    new: Tree


Sink = Callable[[WatchEvent], None]


class Subscription:
    """A running watch; `close` ends it, any number of times.

    The server ends a watch by itself when its kind is no longer served: it calls `on_end`, if there is one.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        self._end: Callable[[], None] | None = end
        self.on_end: Callable[[], None] | None = None

    @property
    def is_open(self) -> bool:
        return self._end is not None

    def close(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end()


class Page(Answer, frozen=True):
    """An Answer that also knows its media type; `warnings` become Warning headers."""

    content_type: str = "application/json"
    warnings: tuple[str, ...] = ()


class Column(Struct, frozen=True):
    """A printer column: `path` is a JSONPath for custom kinds."""

    name: str
    type: str = "string"
    path: str = ""
    description: str = ""
    priority: int = 0
    format: str = ""


class ScalePaths(Struct, frozen=True):
    """Where the scale subresource of a kind finds its numbers."""

    spec: str = ".spec.replicas"
    status: str = ".status.replicas"
    selector: str = ""


class Version(Struct, frozen=True):
    """One served version of a kind."""

    name: str
    shape: Shape
    has_status: bool = False
    columns: tuple[Column, ...] | None = None
    scale: ScalePaths | None = None


class ResourceType(Struct, frozen=True):
    """A kind as it is served. `versions[0]` is preferred; objects are stored in version `storage`."""

    kind: Kind
    plural: str
    namespaced: bool
    versions: tuple[Version, ...]
    storage: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    verbs: tuple[str, ...] = (
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    )
    has_generation: bool = False
    is_custom: bool = False
    needs_version_to_update: bool = False
    creates_on_update: bool = False
    returns_deleted: bool = False
    stored_as: Kind | None = None
    is_judged: bool = True  # by what is peculiar to its kind

    @property
    def group(self) -> str:
        return self.kind.group

    @property
    def qualified(self) -> str:
        """How messages name the resource: `nodes`, `widgets.example.com`."""
        return f"{self.plural}.{self.kind.group}" if self.kind.group else self.plural

    @property
    def stored_kind(self) -> Kind:
        return self.stored_as or self.kind

    def version(self, name: str = "") -> Version:
        """The served version of that name; without a name, the stored one."""
        wanted = name or self.storage
        first = self.versions[0]
        if first.name == wanted:
            return first
        return next(version for version in self.versions if version.name == wanted)

    def api_version(self, version: str = "") -> str:
        """The `apiVersion` of objects in that version (the stored one without a name)."""
        name = version or self.storage
        return f"{self.kind.group}/{name}" if self.kind.group else name
