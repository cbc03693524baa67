"""The status of a MachineHealthCheck on a real API server, written by the real manager under its shipped identity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from tests.e2e import audit
from tests.e2e.api import Api, Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import EVENTS

CHECKS = "/apis/cluster.x-k8s.io/v1alpha3/namespaces/default/machinehealthchecks"
LABELS = {"role": "checked"}
CHECK = {
    "apiVersion": "cluster.x-k8s.io/v1alpha3",
    "kind": "MachineHealthCheck",
    "metadata": {"name": "workers"},
    "spec": {
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "5m"}],
        "maxUnhealthy": 1,
    },
}


STORMY = {"role": "stormy"}
SOON = {"type": "Ready", "status": "Unknown", "timeout": "1s"}


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as fleet:
        fleet.add("one", "two")
        for name in ("one", "two"):
            fleet.api.merge(fleet.machine_path(name), {"metadata": {"labels": LABELS}}).ok()
        fleet.api.create(CHECKS, CHECK).ok()
        yield fleet


def status(api: Api) -> Json:
    found: Json = api.get(f"{CHECKS}/workers").ok().get("status", {})
    return found


def says(api: Api, expected: int, healthy: int, allowed: str) -> bool:
    found = status(api)
    gates = [one["status"] for one in found.get("conditions", ()) if one["type"] == "RemediationAllowed"]
    return (found.get("expectedMachines"), found.get("currentHealthy"), gates) == (expected, healthy, [allowed])


def test_a_status_follows_its_nodes(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Counted, closed by a node that falls silent, not written again by a second manager; others are respected."""
    api = fleet.api
    with Manager(installed_plane):
        eventually(lambda: says(api, 2, 2, "True"), "both are counted")
        fleet.crash("one")
        eventually(lambda: says(api, 2, 1, "False"), "the gate is closed", 90)
    closed = api.get(f"{CHECKS}/workers").ok()
    assert 1 == closed["status"]["observedGeneration"]
    assert "TooManyUnhealthy" == closed["status"]["conditions"][0]["reason"]
    assert ["patch machinehealthchecks"] * 2 == audit.done(installed_plane.audit_log, "workers")

    with Manager(installed_plane, "manager-1") as second:
        eventually(lambda: second.leads(), "the second leads")
        api.merge(f"{CHECKS}/workers/status", {"status": {"currentHealthy": 17}}).ok()
        eventually(lambda: "OtherControllerGoverns" in second.words(), "the other writer is told")
    assert 17 == status(api)["currentHealthy"]
    assert 2 == len(audit.done(installed_plane.audit_log, "workers"))


def told(api: Api) -> list[str]:
    """The reasons of all Events about the check of the storm."""
    events = api.get(EVENTS).ok()["items"]
    return sorted(one["reason"] for one in events if one.get("regarding", {}).get("name") == "stormy")


def is_healthy(api: Api, count: int) -> bool:
    """Whether its status says that so many of its machines are."""
    found: Json = api.get(f"{CHECKS}/stormy").ok().get("status", {})
    return found.get("currentHealthy") == count


def test_a_storm_is_two_events(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Two nodes fall silent one after the other, and return: an Event when the gate closes, an Event when it opens."""
    api, names = fleet.api, ("three", "four")
    fleet.add(*names)
    for name in names:
        api.merge(fleet.machine_path(name), {"metadata": {"labels": STORMY}}).ok()
    spec = {"selector": {"matchLabels": STORMY}, "unhealthyConditions": [SOON], "maxUnhealthy": 1}
    api.create(CHECKS, {**CHECK, "metadata": {"name": "stormy"}, "spec": spec}).ok()
    with Manager(installed_plane, "manager-2"):
        for name, count in zip(names, (1, 0), strict=True):
            fleet.crash(name)
            eventually(partial(is_healthy, api, count), f"{name} is counted", 60)
        eventually(lambda: told(api) == ["TooManyUnhealthy"], "the gate is closed")
        for name in names:
            fleet.power(name, False)
            fleet.power(name, True)
        eventually(lambda: is_healthy(api, 2), "both are back", 90)
        eventually(lambda: told(api) == ["RemediationAllowedAgain", "TooManyUnhealthy"], "the gate is open")
