"""What seed 002 wants fencing for, in virtual time: a lost network, a lost instance, resources that leak."""

from __future__ import annotations

from typing import Any

from noderemedy.model.ids import CONFIG_MAP, NODE
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.fencecrash import stage
from noderemedy.sim.kinds import POD, STATEFUL_SET
from noderemedy.sim.objects import SYSTEM, WORKLOAD
from noderemedy.sim.server import Server
from noderemedy.sim.troubles import MINUTE_MS

SICK, INSTANCE = "worker-1", "worker-4"
LEAKS = "ResourcesLeak"  # as node-problem-detector would tell it
RESTARTS = f"""
apiVersion: node-remedy/v1alpha
kind: Configuration
nodeSelector: trigger=threshold
thresholdConfigs:
- nodeConditionType: {LEAKS}
  nodeConditionStatus: true
  nodeConditionPeriod: 1m
  remedy1: {{name: restart, period: 5m}}
remedyConfigs:
- {{name: restart, nodeFence: {{}}}}
"""


def wait(cluster: Cluster, minutes: int) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + minutes * MINUTE_MS)


def database(cluster: Cluster, node: str = SICK) -> str:
    """Which pod of the StatefulSet runs on the node that falls sick."""
    return next(one.identity.partition("/")[2] for one in cluster.servers[node].running.values() if one.volumes)


def where(cluster: Cluster, name: str) -> list[str]:
    """The servers on which a copy of it runs, whatever the API says."""
    identity = f"{WORKLOAD}/{name}"
    return [at for at, one in cluster.servers.items() if identity in {copy.identity for copy in one.running.values()}]


def test_a_pod_of_a_node_without_network_moves_after_the_reboot() -> None:
    """It writes on where nobody hears it, until the power is off; then it runs elsewhere, and the node comes back."""
    cluster, checkers, _ = stage("check", 1, 5)
    server, name = cluster.servers[SICK], database(cluster)
    seen: list[tuple[bool, list[str]]] = []
    server.on_change.append(lambda one: seen.append((one.can_write, where(cluster, name))))
    server.on_change.append(mends_its_network)
    server.link(False)
    wait(cluster, 30)
    checkers.at_rest(None)

    assert (True, [SICK]) == seen[0]
    assert (2, True, []) == (server.boots, server.is_heard, checkers.violations)
    assert 1 == len(where(cluster, name))
    assert SICK != cluster.api.get(POD, name, WORKLOAD)["spec"]["nodeName"] == where(cluster, name)[0]


def mends_its_network(server: Server) -> None:
    """What a boot does: its tools start anew."""
    if server.boots == 2 and not server.is_linked:
        server.link(True)


def test_a_stateful_set_in_a_cloud_scales_after_the_loss_of_a_worker() -> None:
    """Nobody there replaces the instance: it is stopped, its pod runs elsewhere, the set grows, and it is started."""
    cluster, checkers, _ = stage("check", 1, 5)
    server, name = cluster.servers[INSTANCE], database(cluster, INSTANCE)
    size = cluster.api.get(STATEFUL_SET, "database", WORKLOAD)["spec"]["replicas"]
    seen: list[tuple[bool, list[str]]] = []
    server.on_change.append(lambda one: seen.append((one.can_write, where(cluster, name))))
    scale(cluster, size - 1)
    wait(cluster, 2)
    server.hang()
    scale(cluster, size)
    wait(cluster, 30)
    checkers.at_rest(None)

    assert cluster.api.get(NODE, INSTANCE)["spec"]["providerID"].startswith("aws://")
    assert (True, [INSTANCE]) == seen[0]
    assert (2, True, []) == (server.boots, server.is_heard, checkers.violations)
    assert [1] * size == [len(where(cluster, f"database-{number}")) for number in range(size)]
    assert [INSTANCE] != where(cluster, name)


def scale(cluster: Cluster, size: int) -> None:
    cluster.api.patch(STATEFUL_SET, "database", WORKLOAD, {"spec": {"replicas": size}}, "merge")


def test_a_node_whose_resources_leak_is_restarted() -> None:
    """Although it is Ready: it is drained and power cycled once, the condition goes with the boot, and so does ours."""
    cluster, checkers, _ = stage("threshold", 1, 5)
    server, name = cluster.servers[SICK], database(cluster)
    cluster.api.patch(CONFIG_MAP, "fences", SYSTEM, {"data": {"config.yaml": RESTARTS}}, "merge")
    tell(cluster, "True")
    server.on_change.append(lambda one: tell(cluster, "False") if one.boots == 2 else None)
    wait(cluster, 1)
    before = server.boots
    wait(cluster, 30)
    checkers.at_rest(None)
    node = cluster.api.get(NODE, SICK)

    assert (1, 2, True) == (before, server.boots, server.is_heard)
    assert (False, []) == (node["spec"].get("unschedulable", False), node["spec"].get("taints", []))
    assert ([], 1) == (checkers.violations, len(where(cluster, name)))


def tell(cluster: Cluster, status: str) -> None:
    """The detector writes its condition beside those of others."""
    told: list[dict[str, Any]] = cluster.api.get(NODE, SICK)["status"]["conditions"]
    new = {"type": LEAKS, "status": status, "lastTransitionTime": str(cluster.agenda.wall())}
    body = {"status": {"conditions": [*(one for one in told if one["type"] != LEAKS), new]}}
    cluster.api.patch(NODE, SICK, "", body, "merge", subresource="status")
