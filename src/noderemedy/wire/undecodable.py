"""An object that cannot be read: which one it is, as far as its metadata can be read at all."""

from __future__ import annotations

from typing import Any

from noderemedy.model.errors import Permanent
from noderemedy.model.ids import Kind, Ref

NAME_MAX = 253  # of the Kubernetes API


class Undecodable(Permanent):
    """An object that cannot be read: quarantined, counted, reported on itself."""

    def __init__(self, ref: Ref, uid: str, resource_version: str, problem: str) -> None:
        super().__init__(f"{ref}: {problem}")
        self.ref = ref
        self.uid = uid
        self.resource_version = resource_version
        self.problem = problem


def undecodable(kind: Kind, cluster: str, tree: Any, error: Exception) -> Undecodable:
    """Say which object it is, as far as its metadata can be read at all."""
    found = tree.get("metadata") if isinstance(tree, dict) else None
    meta: dict[str, Any] = found if isinstance(found, dict) else {}
    words = {key: word(meta.get(key)) for key in ("namespace", "name", "uid", "resourceVersion")}
    ref = Ref(cluster, kind, words["namespace"], words["name"])
    return Undecodable(ref, words["uid"], words["resourceVersion"], str(error))


def word(value: Any) -> str:
    """A name out of an object that cannot be trusted."""
    return value[:NAME_MAX] if isinstance(value, str) else ""
