"""The two faces of Event: stored as events.k8s.io/v1, shown as core v1 to those who ask there.

Who writes through events.k8s.io is held to more: what was said stays, and only a series may move.
"""

from __future__ import annotations

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.errors import Cause, invalid_value, required
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
SAID = {
    **CORE_NAMES,
    **{name: name for name in ("reason", "type", "eventTime", "action", "related", "reportingInstance")},
    "reportingController": "reportingController",
}
"""What cannot be changed through events.k8s.io, and how refusals call it."""
SERIES_MIN = 2


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


def event_causes(new: Tree, old: Tree | None) -> list[Cause]:
    """What a writer through events.k8s.io is refused for."""
    was = old or {}
    causes = series_causes(new.get("series")) if new.get("series") != was.get("series") else []
    if old is None:
        return causes
    changed = [(field, new.get(name)) for name, field in SAID.items() if new.get(name) != old.get(name)]
    return [*causes, *(invalid_value(field, value, "field is immutable") for field, value in changed)]


def series_causes(series: Tree | None) -> list[Cause]:
    """The Event itself was the first of its series."""
    if series is None:
        return []
    causes = []
    if series.get("count", 0) < SERIES_MIN:
        causes.append(invalid_value("series.count", "", f"should be at least {SERIES_MIN}"))
    if not series.get("lastObservedTime"):
        causes.append(required("series.lastObservedTime"))
    return causes
