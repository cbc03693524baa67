"""The objects that `import` looks at, read from a live cluster. Only GET is ever sent.

Called by `node-remedy import` without -f. A kind that is not served has no objects; whatever else stands in the way is
an error that names it, since a migration must not be planned on half a view.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.discovery import Wanted
from noderemedy.drivers.kube.sink import Decode
from noderemedy.manager.importing.world import CHECKS, DEFINITION, NODE_HEALTH_CHECK, TEMPLATE
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.lists import Shelf, pour
from noderemedy.manager.sources import Source
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.outcome import Seen
from noderemedy.wire.http import Resource

ORIGIN = "the cluster"
FIRST = (
    *(WANTED[kind] for pair in CHECKS.items() for kind in pair),
    Wanted(NODE_HEALTH_CHECK, ("v1alpha1",), "nodehealthchecks", False),
    Wanted(TEMPLATE, ("v1alpha1",), "metal3remediationtemplates", True),
    Wanted(DEFINITION, ("v1",), "customresourcedefinitions", False),
)
OF_INTEREST = ("machinehealthchecks.", "metal3remediation")  # how the names of the definitions that matter begin


async def on_cluster(kubeconfig: Path | None, context: str) -> list[Source]:
    """All objects that matter, as trees. Raises Theirs."""
    async with KubeClient(load(kubeconfig, context)) as client:
        shelf = Shelf()
        for one in FIRST:
            await pour(client, one, of_kind, shelf)
        if any(item.ref.kind == NODE_HEALTH_CHECK for item in shelf.items):
            await pour(client, WANTED[NODE], of_kind, shelf)
        return [Source(item.obj, ORIGIN) for item in shelf.items if is_of_interest(item.ref)]


def is_of_interest(at: Ref) -> bool:
    return at.kind != DEFINITION or at.name.startswith(OF_INTEREST)


def of_kind(resource: Resource) -> Decode:
    """Trees are read later, one by one."""
    return lambda raw: tree_of(raw, resource)


def tree_of(raw: msgspec.Raw, resource: Resource) -> Seen:
    """An item of a list with the kind that lists do not repeat."""
    tree: dict[str, Any] = msgspec.json.decode(raw)
    kind = resource.kind
    version = f"{kind.group}/{resource.version}" if kind.group else resource.version
    whole = {**tree, "apiVersion": version, "kind": kind.kind}
    return Seen(Ref("", kind, "", str(tree.get("metadata", {}).get("name", ""))), "", "", whole)
