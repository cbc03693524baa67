"""The verbs of the API as values; the real server's answers to them are in the end-to-end tests."""

from __future__ import annotations

import msgspec
import pytest

from noderemedy.model.ids import NODE, Kind
from noderemedy.wire import verbs
from noderemedy.wire.http import Request, Resource

NODES = Resource(NODE, "v1", "nodes", False)
PODS = Resource(Kind("", "Pod"), "v1", "pods", True)
CHECKS = Resource(Kind("cluster.x-k8s.io", "MachineHealthCheck"), "v1beta1", "machinehealthchecks", True)
MANAGER = (("fieldManager", "node-remedy"),)


@pytest.mark.parametrize(
    ("request_made", "method", "path", "query", "content_type"),
    [
        (verbs.create(PODS, {}, "a"), "POST", "/api/v1/namespaces/a/pods", MANAGER, verbs.JSON),
        (verbs.merge_patch(NODES, "n", {}), "PATCH", "/api/v1/nodes/n", MANAGER, verbs.MERGE_PATCH),
        (
            verbs.merge_patch(CHECKS, "c", {}, "a", "status"),
            "PATCH",
            "/apis/cluster.x-k8s.io/v1beta1/namespaces/a/machinehealthchecks/c/status",
            MANAGER,
            verbs.MERGE_PATCH,
        ),
        (verbs.apply(NODES, "n", {}), "PATCH", "/api/v1/nodes/n", MANAGER, verbs.APPLY_PATCH),
        (
            verbs.apply(NODES, "n", {}, force=True),
            "PATCH",
            "/api/v1/nodes/n",
            (*MANAGER, ("force", "true")),
            verbs.APPLY_PATCH,
        ),
        (verbs.delete(NODES, "n", {"uid": "u"}), "DELETE", "/api/v1/nodes/n", (), verbs.JSON),
        (verbs.evict(PODS, "p", "a", "u"), "POST", "/api/v1/namespaces/a/pods/p/eviction", MANAGER, verbs.JSON),
    ],
)
def test_where_and_how_each_verb_goes(
    request_made: Request, method: str, path: str, query: tuple[tuple[str, str], ...], content_type: str
) -> None:
    """Each verb has its method, path, field manager and media type."""
    shown = (request_made.method, request_made.path, request_made.query, request_made.content_type)

    assert (method, path, query, content_type) == shown


def test_deletions_and_evictions_name_the_very_object() -> None:
    """The uid is a precondition: an object of the same name is not touched."""
    delete = msgspec.json.decode(verbs.delete(NODES, "n", {"uid": "u", "resourceVersion": "7"}).body)
    evict = msgspec.json.decode(verbs.evict(PODS, "p", "a", "u").body)

    assert {"uid": "u", "resourceVersion": "7"} == delete["preconditions"]
    assert {"uid": "u"} == evict["deleteOptions"]["preconditions"]
