"""Incidents to read: from files or from a live cluster, newest first. Called by `node-remedy history`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.lists import Shelf, pour
from noderemedy.manager.naming import names_of
from noderemedy.manager.plain import plain
from noderemedy.manager.plan import kind_of, with_uid
from noderemedy.manager.sources import Source
from noderemedy.model.errors import Permanent
from noderemedy.model.ids import INCIDENT, NODE, Ref, ref
from noderemedy.model.incident import Incident
from noderemedy.model.time import Wall
from noderemedy.wire.incidents import spec_body, status_body
from noderemedy.wire.objects import Undecodable, convert, decode

NOT_INSTALLED = (
    "Incidents are not installed in this cluster, so there is no history; "
    "install the kind with kubectl apply -f deploy/crds, from then on every episode is recorded"
)


class NoHistory(Permanent):
    """There are no Incidents to read: says why, and what to do."""


class Kept(Struct, frozen=True):
    """One Incident and its name."""

    at: Ref
    incident: Incident

    def plain(self) -> dict[str, Any]:
        approval = self.incident.approval
        return {
            "name": self.at.name,
            "spec": spec_body(self.incident.found),
            "status": status_body(self.incident.record),
            "approval": plain(approval) if approval else None,
        }


def chosen(kept: list[Kept], name: str, since: Wall | None) -> list[Kept]:
    """Those of one node, machine or name, that were not over before `since`; the newest first."""
    found = [one for one in kept if not name or name in called(one)]
    if since is not None:
        found = [one for one in found if (one.incident.record.closed or since) >= since]
    return sorted(found, key=lambda one: (one.incident.found.detected, one.at.name), reverse=True)


class Workload(Struct, frozen=True):
    """One controller of pods, and the incidents of nodes on which it ran: perhaps it is the cause."""

    name: str  # namespace/kind/name; of a pod without a controller its own name
    incidents: int
    nodes: tuple[str, ...]
    last: Wall

    def plain(self) -> dict[str, Any]:
        return {"name": self.name, "incidents": self.incidents, "nodes": list(self.nodes), "last": str(self.last)}


def by_workload(kept: list[Kept]) -> list[Workload]:
    """Incidents by what ran on the node at detection, those with the most first. One incident counts once each."""
    found: dict[str, list[Incident]] = {}
    for one in kept:
        for name in sorted({f"{pod.namespace}/{pod.owner or pod.name}" for pod in one.incident.record.pods}):
            found.setdefault(name, []).append(one.incident)
    made = [
        Workload(
            name,
            len(incidents),
            tuple(sorted({one.found.node for one in incidents if one.found.node})),
            max(one.found.detected for one in incidents),
        )
        for name, incidents in found.items()
    ]
    return sorted(made, key=lambda one: (-one.incidents, -len(one.nodes), one.name))


class Problem(Struct, frozen=True):
    """One condition of one node, and how often it was a problem, as far as that is kept."""

    node: str  # its target where it had no node
    condition: str  # "": nothing was found, somebody asked for a repair
    incidents: int
    last: Wall

    def plain(self) -> dict[str, Any]:
        counted = {"node": self.node, "condition": self.condition, "incidents": self.incidents}
        return {**counted, "last": str(self.last)}


def by_condition(kept: list[Kept]) -> list[Problem]:
    """Incidents by node and condition, those with the most first. One with two conditions counts for each."""
    found: dict[tuple[str, str], list[Wall]] = {}
    for one in kept:
        told = one.incident.found
        for condition in sorted(set(told.conditions)) or [""]:
            found.setdefault((told.node or told.target.name, condition), []).append(told.detected)
    made = [Problem(*of, len(moments), max(moments)) for of, moments in found.items()]
    return sorted(made, key=lambda one: (-one.incidents, one.node, one.condition))


def called(one: Kept) -> tuple[str, ...]:
    """The names by which people may ask for an Incident."""
    found = one.incident.found
    return (one.at.name, *names_of(found.target), *(names_of(ref(NODE, found.node)) if found.node else ()))


def in_files(sources: list[Source]) -> tuple[list[Kept], list[str]]:
    """The Incidents among these objects, and what is wrong with the others of that kind."""
    kept, remarks = [], []
    for source in sources:
        if kind_of(source.tree) != INCIDENT:
            continue
        try:
            seen = convert(INCIDENT, with_uid(source.tree, INCIDENT))
            kept.append(Kept(seen.ref, seen.obj))
        except Undecodable as problem:
            remarks.append(f"{source.origin}: {problem}")
    return kept, remarks


async def in_cluster(kubeconfig: Path | None, context: str) -> tuple[list[Kept], list[str]]:
    """The Incidents of the cluster that the kubeconfig means. Raises Theirs."""
    async with KubeClient(load(kubeconfig, context)) as client:
        shelf = Shelf()
        if not await pour(client, WANTED[INCIDENT], lambda _: partial(decode, INCIDENT), shelf):
            raise NoHistory(NOT_INSTALLED)
        return [Kept(item.ref, item.obj) for item in shelf.items], shelf.remarks
