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
from noderemedy.drivers.kube.discovery import NotServed, Wanted, serving
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle, Refused
from noderemedy.drivers.kube.listing import Lister
from noderemedy.drivers.kube.refusals import describe
from noderemedy.drivers.kube.sink import DEFAULT, OneList
from noderemedy.manager.importing.world import CHECKS, DEFINITION, NODE_HEALTH_CHECK, TEMPLATE
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.liveplan import Unreachable
from noderemedy.manager.sources import Source
from noderemedy.model.ids import NODE, Kind, Ref
from noderemedy.model.outcome import Seen
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import Undecodable

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
        try:
            found = Trees(client)
            for one in FIRST:
                await found.take(one)
            if any(source.tree["kind"] == NODE_HEALTH_CHECK.kind for source in found.sources):
                await found.take(WANTED[NODE])
            return found.sources
        except (NotSent, NoAnswer) as problem:
            raise Unreachable(str(problem)) from None


class Trees(OneList):
    """Everything that was listed. A `Sink` for the lists."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self.sources: list[Source] = []

    async def take(self, wanted: Wanted) -> None:
        """List one kind, if it is served."""
        match await serving(self._client, wanted):
            case Obstacle(why):
                raise Unreachable(why)
            case NotServed():
                return
            case resource:
                await self._list(resource)

    async def _list(self, resource: Resource) -> None:
        def decode(raw: msgspec.Raw) -> Seen:
            return tree_of(raw, resource)

        try:
            await Lister(self._client, decode, self, "", DEFAULT).pour(resource)
        except Refused as refused:
            raise Unreachable(describe(refused.answer, resource)) from None

    # --- Sink ----------------------------------------------------------------------------------------------------

    def seen(self, item: Seen) -> None:
        if item.ref.kind != DEFINITION or item.ref.name.startswith(OF_INTEREST):
            self.sources.append(Source(item.obj, ORIGIN))

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        """Trees are read later, one by one."""


def tree_of(raw: msgspec.Raw, resource: Resource) -> Seen:
    """An item of a list with the kind that lists do not repeat."""
    tree: dict[str, Any] = msgspec.json.decode(raw)
    kind = resource.kind
    version = f"{kind.group}/{resource.version}" if kind.group else resource.version
    whole = {**tree, "apiVersion": version, "kind": kind.kind}
    return Seen(Ref("", kind, "", str(tree.get("metadata", {}).get("name", ""))), "", "", whole)
