"""Stories 1 and 2 of seed 003 on a real control plane: a sick machine is recreated, and its application runs on.

The example is applied as it is, but for shorter timeouts; the manager runs under its shipped identity; a provider
stands in for the cloud. Nothing but the health check's own condition makes the owner act.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from tests.e2e.api import Api, Json, eventually
from tests.e2e.cloud import FINALIZER, MACHINES
from tests.e2e.conftest import ROOT
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager

EXAMPLE = ROOT / "examples" / "replace"
CHECKS = "/apis/cluster.x-k8s.io/v1alpha3/namespaces/default/machinehealthchecks"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
PATHS = {"Machine": MACHINES, "MachineHealthCheck": CHECKS, "StatefulSet": SETS}
PODS = "/api/v1/namespaces/default/pods"
SOON = [{"type": "Ready", "status": status, "timeout": "2s"} for status in ("Unknown", "False")]


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    """The pool of the example, joined and ready, with its application."""
    with Fleet(installed_plane) as fleet:
        for file in ("pool.yaml", "app.yaml"):
            for document in yaml.safe_load_all((EXAMPLE / file).read_text()):
                fleet.api.create(PATHS[document["kind"]], document).ok()
        fleet.api.merge(f"{CHECKS}/pool", {"spec": {"unhealthyConditions": SOON}}).ok()
        eventually(lambda: 3 == len(healthy(fleet)), "the pool has joined", 60)
        eventually(lambda: bool(fleet.world.where("default/app-0")), "the application runs", 60)
        yield fleet


def machines(api: Api) -> dict[str, Json]:
    return {tree["metadata"]["name"]: tree for tree in api.get(MACHINES).ok()["items"]}


def healthy(fleet: Fleet) -> list[str]:
    """The machines whose node is Ready."""
    nodes = {name: tree.get("status", {}).get("nodeRef", {}).get("name") for name, tree in machines(fleet.api).items()}
    return sorted(name for name, node in nodes.items() if node and fleet.is_ready(node))


def condition(machine: Json, kind: str) -> Json:
    found: list[Json] = machine.get("status", {}).get("conditions", [])
    return next((one for one in found if one["type"] == kind), {})


def test_a_sick_machine_is_recreated(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Hung and asked for; kept while its instance lives; then all of it goes, and one successor is healthy."""
    [sick] = fleet.world.where("default/app-0")
    before = set(machines(fleet.api))
    fleet.cloud.is_refusing = True
    with Manager(installed_plane) as manager:
        eventually(lambda: manager.leads(), "the manager leads")
        fleet.crash(sick)
        eventually(lambda: "deletionTimestamp" in machines(fleet.api)[sick]["metadata"], manager.words(), 120)
        waiting = machines(fleet.api)[sick]
        assert {FINALIZER, "node-remedy.dev/owner"} == set(waiting["metadata"]["finalizers"])
        assert "False" == condition(waiting, "OwnerRemediated")["status"]
        assert fleet.node(sick), "the Node stays while the instance may write"
        assert before == set(machines(fleet.api)), "no successor while the instance lives"

        fleet.cloud.is_refusing = False
        eventually(lambda: sick not in machines(fleet.api), "the old machine is gone", 60)
        eventually(lambda: 3 == len(healthy(fleet)), "the pool is whole and healthy", 60)
        eventually(lambda: bool(fleet.world.where("default/app-0")), "the application runs again", 150)

    [successor] = set(machines(fleet.api)) - before
    made = machines(fleet.api)[successor]["metadata"]
    assert waiting["metadata"]["uid"] == made["annotations"]["node-remedy.dev/replaces"]
    assert {"pool": "workers"} == made["labels"]
    assert {} == fleet.node(sick)
    assert [] == fleet.world.overlaps, "two copies of the application ran at once"
    [off] = fleet.world.when("powered off", sick)
    assert off < fleet.world.when("container started", about="default/app-0")[-1]
