"""Power cycles asked for by Metal3Remediations, each to its end: what they cost the API."""

from __future__ import annotations

import asyncio
from typing import Any

from benching import objects
from benching.fleet import Fleet, until

REMEDIATIONS = f"/apis/remediation.metal3.io/v1alpha1/namespaces/{objects.NAMESPACE}/metal3remediations"


async def play(fleet: Fleet, numbers: list[int]) -> None:
    """Made, held, off, freed by deleting the Node, on, back, over; then the requests go."""
    names = {objects.name_of(number) for number in numbers}
    for known in (fleet.held, fleet.released, fleet.gone):
        known.clear()
    await asyncio.gather(*(fleet.send("POST", REMEDIATIONS, a_remediation(name)) for name in sorted(names)))
    await until(lambda: names <= fleet.held.keys(), "all hosts are held")
    await asyncio.gather(*(fleet.power(number, False) for number in numbers))
    await until(lambda: names <= fleet.gone and names <= fleet.released, "nodes are gone and hosts released")
    await asyncio.gather(*(fleet.come_back(number) for number in numbers))
    await until(lambda: all_succeeded(fleet), "all have succeeded", 0.5)
    await asyncio.gather(*(fleet.send("DELETE", f"{REMEDIATIONS}/{name}") for name in sorted(names)))
    await until(lambda: all_gone(fleet), "the requests are gone", 0.2)


async def all_succeeded(fleet: Fleet) -> bool:
    listed = await fleet.send("GET", REMEDIATIONS)
    return all("True" in [one["status"] for one in conditions_of(tree)] for tree in listed["items"])


async def all_gone(fleet: Fleet) -> bool:
    return not (await fleet.send("GET", REMEDIATIONS))["items"]


def conditions_of(tree: Any) -> list[Any]:
    found: list[Any] = (tree.get("status") or {}).get("conditions", [])
    return [one for one in found if one["type"] == "Succeeded"]


def a_remediation(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "remediation.metal3.io/v1alpha1",
        "kind": "Metal3Remediation",
        "metadata": {"name": name, "namespace": objects.NAMESPACE},
        "spec": {"strategy": "reboot", "freeBy": "node"},
    }
