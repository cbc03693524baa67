"""`import` on a live cluster over real HTTP: the same report as on its dump, and only reads."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.manager.bench import bench
from tests.manager.importing.trees import NAMESPACE, NOW, SEED, STRATEGY, a_check, a_machine, report

from noderemedy.lab.http_faults import failure
from noderemedy.manager.importing.examine import examine
from noderemedy.manager.importing.live import on_cluster
from noderemedy.manager.importing.world import World
from noderemedy.manager.liveplan import Unreachable
from noderemedy.model.ids import HEALTH_CHECK, MACHINE


def within(seconds: float, story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, seconds))


def test_live_report_is_the_report_of_the_dump(tmp_path: Path) -> None:
    """Checks and machines of the cluster are compared as those of its dump; the kinds that exist are known."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
            it.create(a_check(SEED, maxUnhealthy=2, annotations=STRATEGY))
            it.create(a_machine("w0", "cluster.x-k8s.io/v1beta1", owned=False))
            dump = [tree for kind in (HEALTH_CHECK, MACHINE) for tree in it.api.list(kind)]
            world = World(await on_cluster(it.kubeconfig, ""))
            found = examine(world, NOW)

            assert report(*dump).plain() == found.plain()
            assert ["AnnotationMode", "LimitBlocks"] == [one.name for one in found.checks[0].differences][:2]
            assert {"GET"} == {request.method for _, request in it.requests}
            assert "machinehealthchecks.cluster.x-k8s.io" in world.definitions

    within(10, story())


def test_half_a_view_is_an_error(tmp_path: Path) -> None:
    """A list that is refused is named: nothing is compared with machines that nobody saw."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            refused = failure(403, "Forbidden", "no")
            it.before = lambda request: refused if request.path.endswith("/machines") else None
            with pytest.raises(Unreachable, match="machines"):
                await on_cluster(it.kubeconfig, "")

    within(10, story())
