"""Health checks for the benchmark: two checks that ask for requests of an invented kind, and nodes that fall sick.

Nobody answers the requests: what is measured is the way from a node's condition to the request, and back. The checks
share the machines: `open` has no limit of its own, `limited` stops at 40 % of its machines.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from benching import objects
from benching.fleet import NODES, Fleet, until

from noderemedy import crds

GROUP = "bench.example.com"
REQUESTS = f"/apis/{GROUP}/v1/namespaces/{objects.NAMESPACE}/benchremediations"
TEMPLATES = f"/apis/{GROUP}/v1/namespaces/{objects.NAMESPACE}/benchremediationtemplates"
CHECKS = f"/apis/cluster.x-k8s.io/v1alpha3/namespaces/{objects.NAMESPACE}/machinehealthchecks"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Without the kind of budgets the default one holds, and no storm can be let through.
HAS_BUDGETS = any(tree["metadata"]["name"] == "remediationbudgets.node-remedy.dev" for tree in crds.ours())
LIMIT = 40  # percent
LONG_AGO_S = 3_600


class Patients:
    """Makes nodes sick and well again, and notes when requests come and go."""

    def __init__(self, fleet: Fleet, timeout_s: int = 0) -> None:
        self.fleet = fleet
        self.timeout_s = timeout_s  # of the checks: longer than it takes to tell a storm of nodes sick
        self.requested: dict[str, float] = {}
        self.open: set[str] = set()
        self.most = 0

    # --- setting up ----------------------------------------------------------------------------------------------

    async def install(self) -> None:
        """The invented kinds, a template, and a budget that stands in nobody's way."""
        for kind in ("BenchRemediation", "BenchRemediationTemplate"):
            await self.fleet.send("POST", DEFINITIONS, open_kind(kind))
        await until(lambda: self.fleet.is_served(TEMPLATES), "the templates' kind is served")
        meta = {"name": "bench", "namespace": objects.NAMESPACE}
        template = {"apiVersion": f"{GROUP}/v1", "kind": "BenchRemediationTemplate", "metadata": meta}
        await self.fleet.send("POST", TEMPLATES, {**template, "spec": {"template": {"spec": {"strategy": "none"}}}})
        if HAS_BUDGETS:
            path = "/apis/node-remedy.dev/v1alpha1/remediationbudgets"
            await until(lambda: self.fleet.is_served(path), "the budget's kind is served")
            await self.fleet.send("POST", path, wide_budget())

    async def make_checks(self) -> None:
        for pool, limit in (("open", {}), ("limited", {"maxUnhealthy": f"{LIMIT}%"})):
            await self.fleet.send("POST", CHECKS, a_check(pool, self.timeout_s, limit))

    async def drop_checks(self) -> None:
        for pool in ("open", "limited"):
            await self.fleet.send("DELETE", f"{CHECKS}/{pool}")
            await until(lambda pool=pool: self._is_gone(f"{CHECKS}/{pool}"), f"{pool} is gone")  # type: ignore[misc]

    async def _is_gone(self, path: str) -> bool:
        return not await self.fleet.is_served(path)

    async def verdicts_published(self, pool: str, targets: int) -> bool:
        """Whether the check's status counts all its machines."""
        found = await self.fleet.send("GET", f"{CHECKS}/{pool}")
        status = found.get("status") or {}
        return (status.get("expectedMachines"), status.get("currentHealthy")) == (targets, targets)

    # --- sickness ------------------------------------------------------------------------------------------------

    async def fall_sick(self, number: int, since: float) -> float:
        """Ready is Unknown since then; returns the moment before the request left."""
        begun = time.monotonic()
        await self._say(number, "Unknown", since)
        return begun

    async def recover(self, numbers: Iterable[int]) -> None:
        """All are well again, and their requests are gone."""
        now = time.time()
        await asyncio.gather(*(self._say(number, "True", now) for number in numbers))
        try:
            await until(lambda: not self.open, "the requests are withdrawn")
        except SystemExit as late:
            there = [item["metadata"]["name"] for item in (await self.fleet.send("GET", REQUESTS))["items"]]
            raise SystemExit(f"{late}; open are {sorted(self.open)[:5]}, the server has {there[:5]}") from None

    async def _say(self, number: int, ready: str, since: float) -> None:
        told = objects.conditions(stamp(time.time()), ready, stamp(since))
        await self.fleet.patch(f"{NODES}/{objects.name_of(number)}/status", {"status": {"conditions": told}})

    # --- watching ------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def watching(self) -> Any:
        """Notes every request while it lasts."""
        watch = await self.fleet.follow(REQUESTS, self._request)
        try:
            yield self
        finally:
            watch.cancel()

    def _request(self, type_: str, meta: Any) -> None:
        name = meta["name"]
        if type_ == "DELETED":
            self.open.discard(name)
            return
        self.requested.setdefault(name, time.monotonic())
        self.open.add(name)
        self.most = max(self.most, len(self.open))


def stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def a_check(pool: str, timeout_s: int, limit: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "cluster.x-k8s.io/v1alpha3",
        "kind": "MachineHealthCheck",
        "metadata": {"name": pool, "namespace": objects.NAMESPACE},
        "spec": {
            "selector": {"matchLabels": {"pool": pool}},
            "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": f"{timeout_s}s"}],
            "externalRemediationTemplate": {
                "apiVersion": f"{GROUP}/v1",
                "kind": "BenchRemediationTemplate",
                "name": "bench",
            },
            **limit,
        },
    }


def wide_budget() -> dict[str, Any]:
    """Allows everything: what is measured is the way, not the limit."""
    spec = {"maxUnhealthy": "100%", "maxInFlight": 100_000, "maxPerHour": 1_000_000}
    domain = {"perDomain": {"topologyKey": "topology.kubernetes.io/zone", "maxUnhealthy": "100%"}}
    return {
        "apiVersion": "node-remedy.dev/v1alpha1",
        "kind": "RemediationBudget",
        "metadata": {"name": "cluster"},
        "spec": {**spec, **domain, "cooldown": "0s"},
    }


def open_kind(kind: str) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
