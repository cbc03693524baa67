"""`plan` on a live management cluster: it looks into the workload clusters too, and says which it cannot see."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.builders import NODE_AT, a_machine_tree
from tests.manager.fleet import Fleet, a_cluster_tree, fleet

from noderemedy.lab.http_faults import failure
from noderemedy.manager.liveplan import on_cluster
from noderemedy.manager.plan import Plan
from noderemedy.model.actions import AddRebootAnnotation
from noderemedy.model.ids import NODE
from noderemedy.model.reasons import TableRow
from noderemedy.model.time import Wall

OURS = "metal"


def tell(folder: Path, story: Callable[[Fleet], Awaitable[None]]) -> None:
    async def told() -> None:
        async with fleet(folder) as it:
            await story(it)

    asyncio.run(asyncio.wait_for(told(), 30))


async def planned(it: Fleet) -> Plan:
    return await on_cluster(it.it.kubeconfig, "", Wall(time.time_ns() // 1_000_000))


def reasons(made: Plan, room: str) -> list[str]:
    return [type(one).__name__ for entry in made.entries if entry.room == room for one in entry.because]


def test_a_plan_sees_the_node_in_the_workload_cluster(tmp_path: Path) -> None:
    """The row of the table is that of the node there, and only GETs were sent."""

    async def story(it: Fleet) -> None:
        workload = await it.workload(OURS, NODE_AT.name)
        it.it.populate()
        it.it.api.delete(NODE, NODE_AT.name)
        it.it.create(a_cluster_tree(OURS))
        it.secret(OURS, workload.kubeconfig)
        it.it.mark()
        made = await planned(it)
        rows = [one for entry in made.entries for one in entry.because if isinstance(one, TableRow)]

        assert [1] == [row.node for row in rows], "the node is there, though not here"
        assert [AddRebootAnnotation] == [type(action) for entry in made.entries for action in entry.actions]
        assert [] == [one for one in made.remarks if "cluster metal" in one]
        assert {"GET"} == {request.method for request in workload.requests}
        assert any(request.path == "/api/v1/nodes" for request in workload.requests)

    tell(tmp_path, story)


def test_a_plan_on_a_cluster_that_manages_itself(tmp_path: Path) -> None:
    """Its kubeconfig leads here: each node is looked at once, as if there were none."""

    async def story(it: Fleet) -> None:
        it.it.populate()
        it.it.create(a_cluster_tree(OURS))
        it.it.mark()
        without = await planned(it)
        it.secret(OURS, it.it.kubeconfig.read_text())
        made = await planned(it)

        assert [AddRebootAnnotation] == [type(action) for entry in made.entries for action in entry.actions]
        assert (without.objects, []) == (made.objects, [one for one in made.remarks if "cluster metal" in one])

    tell(tmp_path, story)


def test_a_cluster_that_cannot_be_seen_is_remarked(tmp_path: Path) -> None:
    """Nothing is planned for its machines, the others are planned, and a remark says why."""

    async def story(it: Fleet) -> None:
        workload = await it.workload(OURS, NODE_AT.name)
        it.it.populate()
        it.it.create(a_cluster_tree(OURS))
        it.secret(OURS, workload.kubeconfig)
        it.it.mark()
        await workload.endpoint.close()
        made = await planned(it)

        assert (["CannotSeeCluster"], ["ClusterOutOfSight"]) == (reasons(made, "annotation"), reasons(made, "cluster"))
        assert [] == [action for entry in made.entries for action in entry.actions]
        assert [True] == ["cannot be reached" in one for one in made.remarks if one.startswith("cluster metal/metal")]

    tell(tmp_path, story)


def test_without_the_right_to_read_the_secret(tmp_path: Path) -> None:
    """The remark names the right; where the nodes are here by their providerID the plan is made as always."""

    async def story(it: Fleet) -> None:
        it.it.before = lambda request: failure(403, "Forbidden", "no") if "/secrets/" in request.path else None
        it.it.populate()
        it.it.create(a_cluster_tree(OURS))
        it.it.mark()
        here = await planned(it)
        it.it.api.delete(NODE, NODE_AT.name)
        elsewhere = await planned(it)

        assert "TableRow" in reasons(here, "annotation")
        assert ["CannotSeeCluster"] == reasons(elsewhere, "annotation")
        assert any("grant get on secrets in namespace metal" in one for one in elsewhere.remarks)

    tell(tmp_path, story)


def test_a_young_cluster_is_not_asked(tmp_path: Path) -> None:
    """Its control plane is not up: no secret is read, and the remark says so."""

    async def story(it: Fleet) -> None:
        it.it.create(a_machine_tree(host=None, node_name=None))
        it.it.create(a_cluster_tree(OURS, initialized="False"))
        made = await planned(it)

        assert any("ControlPlaneInitialized is not True" in one for one in made.remarks)
        assert [] == [one for _, one in it.it.requests if "/secrets/" in one.path]

    tell(tmp_path, story)
