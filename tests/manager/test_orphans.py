"""A whole manager and Machines whose Cluster is not there: their nodes are well, in an API of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.builders import a_machine_tree, a_node_tree
from tests.manager.bench import HURRIED, Managed, until
from tests.manager.fleet import CLUSTER_CRD, NAMESPACE, Fleet, a_cluster_tree, fleet
from tests.manager.test_workload_repair import OURS, QUICK

from noderemedy.model.ids import CLUSTER, HEALTH_CHECK, MACHINE, Kind
from noderemedy.wire import names

DEFINITION = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
CHECK: dict[str, Any] = {
    "apiVersion": "cluster.x-k8s.io/v1alpha3",
    "kind": "MachineHealthCheck",
    "metadata": {"name": "workers", "namespace": NAMESPACE, "annotations": {names.STRATEGY: "external-baremetal"}},
    "spec": {
        "selector": {"matchLabels": {"role": "worker"}},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "1s"}],
    },
}


async def populate(it: Fleet) -> None:
    """Four machines whose nodes are in the workload cluster, so many nodes here that their loss would be no storm."""
    made = await it.workload(OURS)
    for number in range(4):
        tree = a_machine_tree(f"m-{number}", host=None, node_name=f"n-{number}")
        tree["metadata"]["labels"] = {"role": "worker"}
        del tree["spec"]["providerID"]
        it.it.create(tree)
        made.node(f"n-{number}")
    for number in range(40):
        it.it.create(a_node_tree(f"home-{number}"))
    it.secret(OURS, made.kubeconfig)
    it.it.create(CHECK)


def conditions(it: Fleet) -> dict[str, Any]:
    found = it.it.api.get(HEALTH_CHECK, "workers", NAMESPACE).get("status", {}).get("conditions", [])
    return {one["type"]: one for one in found}


def cannot_see(it: Fleet) -> bool:
    return bool(conditions(it).get("CannotSee", {}).get("status") == "True")


def all_healthy(it: Fleet) -> bool:
    found = it.it.api.get(HEALTH_CHECK, "workers", NAMESPACE).get("status", {})
    return not cannot_see(it) and found.get("currentHealthy") == 4


def touched(it: Fleet) -> list[str]:
    trees = it.it.api.list(MACHINE)
    return [
        one["metadata"]["name"] for one in trees if names.NEEDS_REMEDIATION in one["metadata"].get("annotations", {})
    ]


def the_cluster(it: Fleet) -> None:
    it.it.api.delete(CLUSTER, OURS, NAMESPACE)


def the_definition(it: Fleet) -> None:
    it.it.api.delete(DEFINITION, CLUSTER_CRD["metadata"]["name"])
    it.it.endpoint.cut_watches()


@pytest.mark.parametrize("goes", [the_cluster, the_definition])
def test_machines_whose_cluster_goes_are_out_of_sight(tmp_path: Path, goes: Callable[[Fleet], None]) -> None:
    """A Cluster goes, or the definition of all; its Machines stay. None is called sick; back again, all are seen."""

    async def story(it: Fleet, manager: Managed) -> None:
        await until(lambda: all_healthy(it), what="all seen")
        goes(it)
        await until(lambda: cannot_see(it), what="that its Cluster is not there")
        marked = touched(it)
        if it.it.api.find(DEFINITION, CLUSTER_CRD["metadata"]["name"]) is None:
            it.it.api.create(CLUSTER_CRD)
        it.it.create(a_cluster_tree(OURS))
        await until(lambda: all_healthy(it), what="all seen again")

        assert [] == marked == touched(it)

    tell(tmp_path, story)


def test_machines_without_their_cluster_when_a_manager_begins(tmp_path: Path) -> None:
    """A restore in which Machines come first: nobody is looked for here, and when the Cluster comes all are seen."""

    async def story(it: Fleet, manager: Managed) -> None:
        await until(lambda: cannot_see(it), what="that its Cluster is not there")
        marked = touched(it)
        it.it.create(a_cluster_tree(OURS))
        await until(lambda: all_healthy(it), what="all seen")

        assert [] == marked == touched(it)

    tell(tmp_path, story, with_cluster=False)


def tell(folder: Path, story: Callable[[Fleet, Managed], Any], *, with_cluster: bool = True) -> None:
    async def told() -> None:
        async with fleet(folder) as it:
            await populate(it)
            if with_cluster:
                it.it.create(a_cluster_tree(OURS))
            manager = it.it.start(metrics_port=0, clusters=QUICK, watch=HURRIED)
            await until(manager.is_leading)
            await story(it, manager)
            await manager.end()

    asyncio.run(asyncio.wait_for(told(), 30))
