"""Owner remediation with a real owner: Cluster API's core manager deletes and replaces what was found sick.

Its own health checker is kept out by its watch filter (the checks carry no label of it), except where a test is about
two controllers.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.api import eventually
from tests.e2e.clusterapi import MACHINES, ClusterApi, a_condition
from tests.e2e.controlplane import ControlPlane

REPLICAS = 3


@pytest.fixture(scope="module")
def owner(control_plane: ControlPlane) -> Iterator[ClusterApi]:
    with ClusterApi(control_plane) as owner:
        owner.make_machines(REPLICAS)
        yield owner


def is_replaced(owner: ClusterApi, machine: str) -> bool:
    """The machine is gone, and there are as many with a node as before."""
    return owner.api.get(f"{MACHINES}/{machine}").status == 404 and len(owner.machines()) == REPLICAS


def test_the_owner_replaces_a_machine_with_both_conditions(owner: ClusterApi) -> None:
    """What node-remedy relies on: HealthCheckSucceeded=False and OwnerRemediated=False make the owner act."""
    patient = min(owner.machines())
    path = f"{MACHINES}/{patient}/status"
    told = owner.api.get(path).ok()["status"]["conditions"]
    bad = [a_condition(name, "False", "SetByHand") for name in ("HealthCheckSucceeded", "OwnerRemediated")]
    owner.api.merge(path, {"status": {"conditions": [*told, *bad]}}).ok()

    eventually(lambda: is_replaced(owner, patient), f"{patient} is replaced: {owner.words()}", 60)
