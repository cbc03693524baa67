"""A node whose instance is given up: stopped through Amazon's own API, then its Node goes, then its Machine (seed 002).

The manager has the shipped identity and the example's template; instance and region come from the providerID. What EC2
is asked happens to the computer.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.devices.aws import REGION, Ec2
from tests.devices.device import PASSWORD
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import MACHINES, NODES, Fleet, machine
from tests.e2e.managers import Manager

SYSTEM = "node-remedy-system"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fencing-aws" / "fencing.yaml"
FENCE = "/apis/ha.k8s.io/v1/nodefences/node-fence-leased"
FINALIZER = "cloud.example.com/instance"
WELL = ("well-0", "well-1", "well-2")


@pytest.fixture
def ec2(tmp_path: Path) -> Iterator[Ec2]:
    made = Ec2(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def fleet(installed_plane: ControlPlane, ec2: Ec2) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        made.add_computers("leased", *WELL)
        provider_id = f"aws:///{REGION}a/{ec2.instance}"
        made.api.merge(f"{NODES}/leased", {"spec": {"providerID": provider_id}}).ok()
        lease(made, provider_id)
        configure(made)
        yield made


def lease(fleet: Fleet, provider_id: str) -> None:
    """Its Machine, which a provider lets go when the instance is removed."""
    tree = machine("leased")
    tree["metadata"] = {"name": "leased", "namespace": "default", "finalizers": [FINALIZER]}
    tree["spec"]["providerID"] = provider_id
    fleet.api.create(MACHINES, tree).ok()
    node_ref = {"apiVersion": "v1", "kind": "Node", "name": "leased", "uid": fleet.node("leased")["metadata"]["uid"]}
    fleet.api.merge(f"{MACHINES}/leased/status", {"status": {"phase": "Running", "nodeRef": node_ref}}).ok()


def configure(fleet: Fleet) -> None:
    """The example as it is, with credentials, and one document more."""
    template, secret = yaml.safe_load_all(EXAMPLE.read_text())
    keys = {"access_key": "AKIABENCH", "secret_key": PASSWORD}
    secret = {key: value for key, value in secret.items() if key != "stringData"}
    secret["data"] = {key: base64.b64encode(value.encode()).decode() for key, value in keys.items()}
    data = {"config.properties": "node_name=leased\npower_management=terminate\n"}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fence-config-leased"}, "data": data}
    fleet.api.create(f"/api/v1/namespaces/{SYSTEM}/secrets", secret).ok()
    for tree in (template, document):
        fleet.api.create(f"/api/v1/namespaces/{SYSTEM}/configmaps", tree).ok()


def status(fleet: Fleet) -> Json:
    found: Json = fleet.api.get(FENCE).ok().get("status", {})
    return found


@pytest.mark.timeout(300)
def test_an_instance_is_stopped_and_then_node_and_machine_go(
    installed_plane: ControlPlane, fleet: Fleet, ec2: Ec2
) -> None:
    """Nothing goes while it runs, nothing is switched on again, and no credential is told."""
    fleet.crash("leased")
    eventually(lambda: fleet.ready_status("leased") == "Unknown", "the silence is noticed", 60)
    body = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": "node-fence-leased"}}
    spec = {"node": "leased", "powerManagementDelay": "0s"}
    with Manager(installed_plane, environment=ec2.environ) as manager:
        eventually(manager.leads, "the manager leads", 60)
        fleet.api.create(FENCE.rpartition("/")[0], {**body, "spec": spec}).ok()
        eventually(lambda: not ec2.is_on(), f"the instance is stopped: {manager.words()}", 120)
        left = (fleet.node("leased"), fleet.api.get(f"{MACHINES}/leased").ok())
        fleet.power("leased", on=False)
        eventually(lambda: not fleet.node("leased"), f"the Node is gone: {status(fleet)}", 120)
        eventually(lambda: is_going(fleet), f"the Machine is deleted: {status(fleet)}", 60)
        fleet.api.merge(f"{MACHINES}/leased", {"metadata": {"finalizers": None}}).ok()
        eventually(lambda: status(fleet).get("state") == "final", f"the fence is over: {status(fleet)}", 60)
        told = manager.program.log.read_text()

    assert left[0], "the Node went while its instance may have run"
    assert "deletionTimestamp" not in left[1]["metadata"]
    assert not ec2.is_on()
    assert 404 == fleet.api.get(f"{MACHINES}/leased").status
    assert [True] * len(WELL) == [fleet.is_ready(name) for name in WELL]
    assert PASSWORD not in told + str(status(fleet))


def is_going(fleet: Fleet) -> bool:
    reply = fleet.api.get(f"{MACHINES}/leased")
    return reply.status == 404 or "deletionTimestamp" in reply.ok()["metadata"]
