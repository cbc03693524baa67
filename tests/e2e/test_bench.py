"""The simulated computers below the real control plane behave as the real parts of a cluster expect.

What is shown here is what scenario tests rely on: a silent node becomes Unknown by the real node lifecycle
controller, a StatefulSet's pod is not replaced while its node is only silent, power follows the hold on the host.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import HOSTS, MACHINES, NODES, Fleet

HOLD = "reboot.metal3.io/machine-remediation"
WEB = "/apis/apps/v1/namespaces/default/statefulsets"
POD = "/api/v1/namespaces/default/pods/web-0"


@pytest.fixture
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        yield made
        for path in (WEB, "/api/v1/namespaces/default/pods", HOSTS, MACHINES, NODES):
            made.api.delete(path, {"gracePeriodSeconds": 0}).ok()


def hold(fleet: Fleet, name: str, value: str | None = '{"mode":"hard"}') -> None:
    fleet.api.merge(f"{HOSTS}/{name}", {"metadata": {"annotations": {HOLD: value}}}).ok()


def a_stateful_set() -> Json:
    labels = {"app": "web"}
    container = {"name": "web", "image": "web:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "serviceName": "web",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def test_a_held_host_is_powered_off_and_comes_back_with_a_new_boot(fleet: Fleet) -> None:
    """The hold switches the computer off, its release boots it, and the Node tells another boot id."""
    fleet.add("one")
    first = fleet.node("one")["status"]["nodeInfo"]["bootID"]
    hold(fleet, "one")
    eventually(lambda: fleet.powered_on("one") is False, "the host is told to be off")
    assert not fleet.world.computers["one"].powered

    hold(fleet, "one", None)
    eventually(lambda: fleet.powered_on("one"), "the host is on again")
    eventually(lambda: fleet.node("one")["status"]["nodeInfo"]["bootID"] != first, "another boot id")


def test_a_deleted_node_registers_again_only_after_a_boot(fleet: Fleet) -> None:
    """A running kubelet does not bring a deleted Node back, a boot does."""
    fleet.add("one")
    old = fleet.node("one")["metadata"]["uid"]
    fleet.api.delete(f"{NODES}/one").ok()
    time.sleep(2.5)  # two heartbeats: real time passes in real servers
    assert {} == fleet.node("one")

    hold(fleet, "one")
    eventually(lambda: fleet.powered_on("one") is False, "off")
    hold(fleet, "one", None)
    eventually(lambda: fleet.is_ready("one"), "the node is back")
    assert old != fleet.node("one")["metadata"]["uid"]


def test_a_silent_node_keeps_its_stateful_pod(fleet: Fleet) -> None:
    """The real controllers mark a hung node Unknown, and leave web-0 where it is as long as its Node exists."""
    fleet.add("one", "two")
    fleet.api.create(WEB, a_stateful_set()).ok()
    eventually(lambda: fleet.world.where("default/web-0"), "web-0 runs")
    [sick] = fleet.world.where("default/web-0")

    fleet.crash(sick)
    eventually(lambda: fleet.ready_status(sick) == "Unknown", "the node is Unknown", seconds=40)
    eventually(lambda: fleet.api.get(POD).ok()["metadata"].get("deletionTimestamp"), "web-0 is told to go")
    time.sleep(2)  # how it moves once the Node is gone takes a minute and is in test_power_cycle.py
    assert [sick] == fleet.world.where("default/web-0")
    assert sick == fleet.api.get(POD).ok()["spec"]["nodeName"]


def test_sabotage_freeing_a_running_node_is_seen(fleet: Fleet) -> None:
    """The checker of overlaps fires when a pod is freed while its hung computer still runs it."""
    fleet.add("one", "two")
    fleet.api.create(WEB, a_stateful_set()).ok()
    eventually(lambda: fleet.world.where("default/web-0"), "web-0 runs")
    [sick] = fleet.world.where("default/web-0")
    fleet.crash(sick)
    fleet.api.merge(f"{NODES}/{sick}", {"spec": {"unschedulable": True}}).ok()
    fleet.api.delete(POD, {"gracePeriodSeconds": 0}).ok()

    eventually(lambda: len(fleet.world.where("default/web-0")) == 2, "web-0 runs twice", seconds=60)
    assert 1 == len(fleet.world.overlaps)


def test_a_dead_bmc_changes_nothing_but_the_error(fleet: Fleet) -> None:
    """With a BMC that does not answer the computer stays on, the last power state stays, the error is told."""
    fleet.add("one")
    fleet.switches.bmc_dead.add("one")
    hold(fleet, "one")
    eventually(lambda: fleet.host("one")["status"].get("errorType") == "power management error", "the error")

    assert fleet.powered_on("one") is True
    assert fleet.world.computers["one"].powered


def test_power_that_does_not_come_on_is_retried(fleet: Fleet) -> None:
    """A refused power-on is told and counted, and works once the fault is gone."""
    fleet.add("one")
    fleet.switches.power_on_fails.add("one")
    hold(fleet, "one")
    eventually(lambda: fleet.powered_on("one") is False, "off")
    hold(fleet, "one", None)
    eventually(lambda: fleet.host("one")["status"]["errorCount"] > 1, "it is tried again")
    assert not fleet.world.computers["one"].powered

    fleet.switches.power_on_fails.clear()
    eventually(lambda: fleet.powered_on("one"), "on")
    eventually(lambda: fleet.host("one")["status"]["errorCount"] == 0, "the error is gone")


@pytest.mark.parametrize("annotation", ["baremetalhost.metal3.io/paused", "baremetalhost.metal3.io/detached"])
def test_a_host_that_is_left_alone_ignores_the_hold(fleet: Fleet, annotation: str) -> None:
    """Paused or detached, the hold is not acted on until the annotation is taken off."""
    fleet.add("one")
    fleet.api.merge(f"{HOSTS}/one", {"metadata": {"annotations": {annotation: ""}}}).ok()
    time.sleep(0.5)
    hold(fleet, "one")
    time.sleep(1)
    assert fleet.world.computers["one"].powered

    fleet.api.merge(f"{HOSTS}/one", {"metadata": {"annotations": {annotation: None}}}).ok()
    eventually(lambda: fleet.powered_on("one") is False, "off")
