"""Deleting whole collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noderemedy.sim.apiserver import bodies
from noderemedy.sim.apiserver.deletion import Deletion
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.representation import untyped
from noderemedy.sim.apiserver.types import Tree

if TYPE_CHECKING:
    from noderemedy.sim.apiserver.rest import Call
    from noderemedy.sim.apiserver.server import ApiServer


def delete_collection(server: ApiServer, call: Call) -> Tree:
    """Delete everything that the selectors let through; the answer lists what was there."""
    route, query = call.route, call.query
    asked, is_dry = bodies.deletion_of(call.request, query)
    inner = server.resources.of(route.resource.stored_kind)
    options = Options(call.user, dry_run=is_dry, verb="delete")
    chosen = server.lists.current(
        route.resource, route.namespace, query.get("labelSelector", ""), query.get("fieldSelector", "")
    )
    for tree in chosen:
        meta = tree["metadata"]
        one = Deletion(meta["uid"], None, asked.grace, asked.propagation)
        if (meta.get("namespace", ""), meta["name"]) in server.store.collection(inner.kind).objects:
            server.deletions.delete(inner, (meta.get("namespace", ""), meta["name"]), one, options)
    server.settle()
    items = chosen if route.resource.is_custom else [untyped(tree) for tree in chosen]
    kind = {"kind": f"{route.resource.kind.kind}List", "apiVersion": route.api_version}
    return {**kind, "metadata": {"resourceVersion": str(server.store.revision)}, "items": items}
