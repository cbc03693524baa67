"""The scale subresource: a small view of an object, and the change that it asks for."""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver.mergepatch import merge
from noderemedy.sim.apiserver.tables import at_path
from noderemedy.sim.apiserver.types import ScalePaths, Tree


def scale_of(tree: Tree, paths: ScalePaths) -> Tree:
    """The Scale that an object shows."""
    meta = tree["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Tree = {"replicas": _number(tree, paths.status)}
    selector = _selector(at_path(tree, paths.selector)) if paths.selector else ""
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": _number(tree, paths.spec)},
        "status": status,
    }


def scaled(tree: Tree, scale: Tree, paths: ScalePaths) -> Tree:
    """The object with the number of replicas that a Scale wants, and the version that it names."""
    patch: Any = (scale.get("spec") or {}).get("replicas", 0)
    for step in reversed(paths.spec.strip(".").split(".")):
        patch = {step: patch}
    version = (scale.get("metadata") or {}).get("resourceVersion")
    if version:
        patch["metadata"] = {"resourceVersion": version}
    found: Tree = merge(tree, patch)
    return found


def _number(tree: Tree, path: str) -> int:
    found = at_path(tree, path)
    return found[0] if found and isinstance(found[0], int) else 0


def _selector(found: list[Any]) -> str:
    if not found:
        return ""
    if isinstance(found[0], str):
        return found[0]
    labels = found[0].get("matchLabels") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
