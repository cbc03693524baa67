"""A whole manager of a management cluster: a machine's node is in a workload cluster, and is repaired there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.builders import MACHINE_AT, NODE_AT, a_node_tree
from tests.manager.bench import Operator, until
from tests.manager.fleet import Fleet, Workload, a_cluster_tree, fleet
from tests.manager.test_program import FLOW, asked

from noderemedy.manager.follower import Pace
from noderemedy.model.ids import EVENT, HOST, NODE
from noderemedy.model.time import Span

QUICK = Pace(settled=Span(200), unsettled=Span(50), least=Span(10), grace=Span(100))
OURS = "metal"  # the cluster that the machine of the builders names


class Kubelet(Operator):
    """The operator of the bench, whose hosts boot their nodes in the workload cluster."""

    def __init__(self, it: Fleet, workload: Workload) -> None:
        self._workload = workload
        super().__init__(it.it.api, workload.api)

    def _boot(self) -> None:
        if self._workload.api.find(NODE, NODE_AT.name) is None:
            self._workload.node(NODE_AT.name)

    def _act(self) -> None:
        super()._act()
        host = self._api.list(HOST)[0]
        if host["status"]["poweredOn"] and self._workload.api.find(NODE, NODE_AT.name) is None:
            self._loop.call_later(0.02, self._boot)


async def populate(it: Fleet) -> Workload:
    """One machine here, its node in the workload cluster, and a node of the same name here that is somebody else's."""
    workload = await it.workload(OURS, NODE_AT.name)
    it.it.populate()
    stranger = it.it.api.get(NODE, NODE_AT.name)
    it.it.api.update({**stranger, "metadata": {**stranger["metadata"], "labels": {"stranger": "yes"}}})
    it.secret(OURS, workload.kubeconfig)
    it.it.create(a_cluster_tree(OURS))
    return workload


def writes(requests: list[Any]) -> list[str]:
    return [f"{one.method} {one.path}" for one in requests if one.method != "GET"]


def test_the_node_is_freed_in_its_own_cluster(tmp_path: Path) -> None:
    """The whole flow: host and machine here, node there; the node of the same name here is not touched."""

    async def story() -> None:
        async with fleet(tmp_path) as it:
            workload = await populate(it)
            before = it.it.api.get(NODE, NODE_AT.name)
            Kubelet(it, workload)
            manager = it.it.start(metrics_port=0, clusters=QUICK)
            await until(manager.is_leading)
            it.it.mark()
            await until(lambda: "DropBackup" in manager.done(), 20, "the flow")
            _, figures = await asked(manager, "/metrics")

            assert [one for one in FLOW if one != "RestoreNode"] == steps(manager)
            assert "DELETE /api/v1/nodes/worker-0" in writes(workload.requests)
            assert [] == [one for one in writes([r for _, r in it.it.requests]) if "/nodes/" in one]
            assert before == it.it.api.get(NODE, NODE_AT.name)
            assert 'node_remedy_workload_cluster_up{cluster="metal/metal"} 1.0' in figures
            await manager.end()

    asyncio.run(asyncio.wait_for(story(), 40))


def test_nothing_is_begun_while_the_cluster_cannot_be_seen(tmp_path: Path) -> None:
    """The workload cluster dies, a machine is marked: its host is not touched. Back again, it is repaired."""

    async def story() -> None:
        async with fleet(tmp_path) as it:
            workload = await populate(it)
            Kubelet(it, workload)
            manager = it.it.start(metrics_port=0, clusters=QUICK)
            await until(manager.is_leading)
            await until_up(manager, "1.0")
            port = workload.endpoint.port
            await workload.endpoint.close()
            await until_up(manager, "0.0")
            it.it.mark()
            await asyncio.sleep(0.3)
            begun = steps(manager)
            status, _ = await asked(manager, "/readyz")
            await workload.start(port=port)
            await until(lambda: "DropBackup" in manager.done(), 20, "the flow")

            assert [] == begun
            assert 200 == status, "a workload cluster that is away makes no manager unready"
            await until(lambda: "NodeWhole" in told(it), 5, "the Events of the flow")
            assert "CannotSeeCluster" not in told(it), "it is quiet"
            await manager.end()

    asyncio.run(asyncio.wait_for(story(), 40))


def told(it: Fleet) -> set[str]:
    """What Events say at home."""
    return {event["reason"] for event in it.it.api.list(EVENT)}


def steps(manager: Any) -> list[str]:
    """What was done of the flow; there is nothing to restore here, and bookkeeping is no step."""
    return [one for one in manager.done() if one in FLOW]


async def until_up(manager: Any, value: str) -> None:
    """Wait until the figure of this cluster has this value."""
    figures = ""
    while f'node_remedy_workload_cluster_up{{cluster="metal/metal"}} {value}' not in figures:
        _, figures = await asked(manager, "/metrics")


def test_the_builders_name_the_cluster_of_this_test() -> None:
    """The machine, its namespace and the node of the builders are what this file speaks of."""
    assert (OURS, NODE_AT.name) == (MACHINE_AT.namespace, a_node_tree()["metadata"]["name"])
