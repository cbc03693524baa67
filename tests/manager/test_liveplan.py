"""`plan` on a live cluster over real HTTP: the same plan as on its dump, only reads, and clear refusals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.builders import a_host_tree, a_machine_tree
from tests.manager.bench import NOT_HERE, Bench, bench

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.discovery import NotServed, Wanted, serving
from noderemedy.lab.http_faults import Drop, Fault, Instead, failure
from noderemedy.manager import liveplan
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.liveplan import Unreachable, on_cluster
from noderemedy.manager.plan import Plan, on_trees
from noderemedy.manager.sources import Source
from noderemedy.model.actions import AddRebootAnnotation
from noderemedy.model.ids import HOST, MACHINE, NODE
from noderemedy.model.time import Wall
from noderemedy.wire.http import Request, Resource


def now() -> Wall:
    return Wall(time.time_ns() // 1_000_000)


def within(seconds: float, story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, seconds))


def plan_of_dump(it: Bench, at: Wall) -> Plan:
    kinds = [NODE, MACHINE, HOST]
    return on_trees([Source(tree, "dump") for kind in kinds for tree in it.api.list(kind)], at)


def test_live_plan_is_the_plan_of_the_dump(tmp_path: Path) -> None:
    """On the cluster and on its dump the plan is the same, and the cluster only saw GETs."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            for number in range(3):
                it.create(a_machine_tree(f"spare-{number}", host=None, node_name=None))
            at = now()
            made = await on_cluster(it.kubeconfig, "", at)

            assert plan_of_dump(it, at).entries == made.entries
            assert [AddRebootAnnotation] == [type(act) for entry in made.entries for act in entry.actions]
            assert {"GET"} == {request.method for _, request in it.requests}
            assert 6 == made.objects
            assert NOT_HERE == {remark.split(" ")[0] for remark in made.remarks}

    within(20, story())


def test_kinds_that_are_not_installed_are_remarked(tmp_path: Path) -> None:
    """A cluster without Metal3 can be planned on; what does not work is said."""

    async def story() -> None:
        async with bench(tmp_path, without=["baremetalhosts", "metal3machines"]) as it:
            it.create(a_machine_tree(needs=True))
            made = await on_cluster(it.kubeconfig, "", now())

            assert ["HostMissing"] == [type(one).__name__ for one in made.entries[0].because]
            missing = {remark.split(" ")[0] for remark in made.remarks}
            assert {"baremetalhosts.metal3.io", "metal3machines.infrastructure.cluster.x-k8s.io"} == missing - NOT_HERE
            assert any("no host can be powered off" in remark for remark in made.remarks)

    within(20, story())


def test_unreadable_object_is_set_aside(tmp_path: Path) -> None:
    """An object of the cluster that cannot be read is an entry, and the rest is planned."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            page = (
                b'{"kind":"BareMetalHostList","metadata":{"resourceVersion":"9"},'
                b'"items":[{"metadata":{"name":"bad","namespace":"metal","labels":7}}]}'
            )
            it.before = lambda request: lists_hosts(request, Instead(200, page))
            made = await on_cluster(it.kubeconfig, "", now())

            rooms = {entry.room: type(entry.because[0]).__name__ for entry in made.entries}
            assert {"annotation": "HostMissing", "quarantine": "ObjectUnreadable"} == rooms

    within(20, story())


def lists_hosts(request: Request, fault: Fault) -> Fault | None:
    return fault if request.path.endswith("/baremetalhosts") else None


REFUSALS: dict[str, tuple[Fault, str]] = {
    "forbidden": (
        failure(403, "Forbidden", 'User "jo" cannot list'),
        "grant list,watch on baremetalhosts.metal3.io to jo",
    ),
    "gone": (Drop(), "closed the connection"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_be_listed_ends_the_plan(name: str, tmp_path: Path) -> None:
    """A plan on half a cluster would be wrong: it is refused with the remedy."""
    fault, problem = REFUSALS[name]

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.before = lambda request: lists_hosts(request, fault)
            with pytest.raises(Unreachable, match=problem):
                await on_cluster(it.kubeconfig, "", now())

    within(20, story())


def test_plan_refuses_to_write() -> None:
    """Whatever is not a GET stops before it is sent."""
    with pytest.raises(AssertionError):
        liveplan.reading(Request("PATCH", "/x"))


# --- is it served? ---------------------------------------------------------------------------------------


async def asked(it: Bench, wanted: Wanted) -> object:
    async with KubeClient(load(it.kubeconfig)) as client:
        return await serving(client, wanted)


def test_served_kinds_are_found(tmp_path: Path) -> None:
    """A kind is found in the version that we like best among those served; an unknown group is not served."""

    async def story() -> None:
        async with bench(tmp_path, without=["baremetalhosts"]) as it:
            assert Resource(NODE, "v1", "nodes", False) == await asked(it, WANTED[NODE])
            found = await asked(it, WANTED[MACHINE])
            assert isinstance(found, Resource)
            assert ("machines", True) == (found.plural, found.namespaced)
            assert NotServed() == await asked(it, WANTED[HOST])

    within(20, story())


def test_host_that_is_listed_is_read_live(tmp_path: Path) -> None:
    """A decision that needs a live read gets one: the plan sees what the object is now."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.create(a_machine_tree(needs=True, node_name=None))
            it.create(a_host_tree())
            await on_cluster(it.kubeconfig, "", now())
            reads = [request.path for _, request in it.requests if request.path.endswith("/worker-0")]
            assert 1 == len(reads)

    within(20, story())
