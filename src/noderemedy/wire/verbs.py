"""The verbs of the Kubernetes API as requests: create, patch, apply, delete, evict. Rendered here, sent elsewhere.

Every write names its field manager; deletions and evictions carry their preconditions in the body, patches in the
metadata that they repeat (see `requests.py`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from noderemedy.wire.http import Request, Resource

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"  # JSON is YAML
FIELD_MANAGER = "node-remedy"
MANAGER = (("fieldManager", FIELD_MANAGER),)


def create(resource: Resource, body: dict[str, Any], namespace: str = "") -> Request:
    return Request("POST", resource.path(namespace), MANAGER, msgspec.json.encode(body), JSON)


def merge_patch(
    resource: Resource, name: str, body: dict[str, Any], namespace: str = "", subresource: str = ""
) -> Request:
    """Change the fields that are named; a list is replaced whole. `subresource="status"` for a status."""
    path = resource.path(namespace, name, subresource)
    return Request("PATCH", path, MANAGER, msgspec.json.encode(body), MERGE_PATCH)


def apply(
    resource: Resource, name: str, body: dict[str, Any], namespace: str = "", subresource: str = "", force: bool = False
) -> Request:
    """Server-side apply: own exactly these fields; a field of another manager is a conflict unless forced."""
    query = (*MANAGER, ("force", "true")) if force else MANAGER
    path = resource.path(namespace, name, subresource)
    return Request("PATCH", path, query, msgspec.json.encode(body), APPLY_PATCH)


def delete(
    resource: Resource,
    name: str,
    preconditions: dict[str, str],
    namespace: str = "",
    grace_seconds: int | None = None,
) -> Request:
    """Delete this very object: uid, and resourceVersion where an older view would do harm."""
    grace = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
    body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions, **grace}
    return Request("DELETE", resource.path(namespace, name), body=msgspec.json.encode(body), content_type=JSON)


def evict(pods: Resource, name: str, namespace: str, uid: str) -> Request:
    """Ask for a pod to go, under its disruption budget: 429 means not now."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
        "deleteOptions": {"preconditions": {"uid": uid}},
    }
    return Request("POST", pods.path(namespace, name, "eviction"), MANAGER, msgspec.json.encode(body), JSON)
