"""`explain` of a live cluster over real HTTP: a check that means a machine and does not judge it is named, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.builders import MACHINE_AT, a_machine_tree, a_node_tree
from tests.manager.bench import bench
from tests.manager.test_liveplan import now, within

from noderemedy.manager import liveplan
from noderemedy.manager.explain import explain
from noderemedy.wire import names

LABELS = {"role": "worker"}


def a_check_tree(limit: str) -> dict[str, Any]:
    spec = {
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "5m"}],
        "maxUnhealthy": limit,
    }
    meta = {"name": "workers", "namespace": MACHINE_AT.namespace}
    return {"apiVersion": "cluster.x-k8s.io/v1alpha3", "kind": "MachineHealthCheck", "metadata": meta, "spec": spec}


@pytest.mark.parametrize(
    ("limit", "notes", "reason"),
    [
        ("150%", {}, "InvalidCheckGoverns"),
        ("40%", {names.CLUSTER_PAUSED: ""}, "ClusterPaused"),
        ("40%", {names.SKIP_REMEDIATION: ""}, "TargetSkipped"),
    ],
)
def test_what_keeps_a_check_from_judging(tmp_path: Path, limit: str, notes: dict[str, str], reason: str) -> None:
    """The same words as on files, and only reads."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            machine = a_machine_tree(host=None)
            machine["metadata"]["labels"] = LABELS
            machine["metadata"].setdefault("annotations", {}).update(notes)
            for tree in (a_check_tree(limit), machine, a_node_tree()):
                it.create(tree)
            look, _ = await liveplan.look_at(it.kubeconfig, "", now())
            [found] = explain(look, MACHINE_AT.name)

            named = [(one.at.name, type(one.reason).__name__) for one in found.aside]
            assert ([] if found.check else [("workers", reason)]) == named
            assert (reason == "InvalidCheckGoverns") is (found.check is not None)
            assert found.blocked is not None
            assert reason == type(found.blocked.reason).__name__
            assert {"GET"} == {request.method for _, request in it.requests}

    within(20, story())
