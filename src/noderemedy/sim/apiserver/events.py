"""The two faces of Event: stored as events.k8s.io/v1, shown as core v1 to those who ask there."""

from __future__ import annotations

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.types import ResourceType, Tree

CORE_EVENT = Kind("", "Event")
NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
"""Core name of a field, and its name in events.k8s.io."""
CORE_NAMES = {new: old for old, new in NAMES.items()}


def shown(resource: ResourceType, tree: Tree, version: str = "") -> Tree:
    """A stored object as this resource and version show it."""
    if resource.kind == CORE_EVENT:
        return {CORE_NAMES.get(key, key): value for key, value in tree.items()} | {"apiVersion": "v1"}
    if not version or version == resource.storage:
        return tree
    return {**tree, "apiVersion": resource.api_version(version)}


def stored(resource: ResourceType, tree: Tree) -> Tree:
    """What a writer of core events means in the stored form."""
    if resource.kind != CORE_EVENT:
        return tree
    return {NAMES.get(key, key): value for key, value in tree.items()} | {"apiVersion": "events.k8s.io/v1"}
