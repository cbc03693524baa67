"""Whole stories in virtual time: what becomes of a node, its workload and its host, and what a person is told."""

from __future__ import annotations

import pytest

from noderemedy.model.ids import HOST, MACHINE, NODE, REMEDIATION, Kind
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.kinds import POD
from noderemedy.sim.lifecycle import OUT_OF_SERVICE, is_out_of_service
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

SICK = "worker-1"
RECORDS = ("OpenIncident", "WriteIncident", "ListPods")
Stage = tuple[Cluster, Checkers, Process]


@pytest.fixture
def stage() -> Stage:
    """Five quiet nodes with a database, and one manager."""
    return calm(seed=11, nodes=5)


def run(cluster: Cluster, minutes: float) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def hang_and_mark(cluster: Cluster) -> None:
    cluster.servers[SICK].hang()
    run(cluster, 2)
    cluster.mark(SICK)


def notes(cluster: Cluster, kind: Kind, name: str) -> dict[str, str]:
    return cluster.api.get(kind, name, NAMESPACE)["metadata"].get("annotations") or {}


def told(process: Process) -> list[str]:
    return [type(notice.reason).__name__ for notice in process.notices]


def pods_on(cluster: Cluster, node: str) -> list[str]:
    return [pod["metadata"]["name"] for pod in cluster.api.list(POD, fields=f"spec.nodeName={node}")]


def test_the_node_returns(stage: Stage) -> None:
    """A hung node is powered off, freed, powered on, and is whole again; its workload runs elsewhere meanwhile."""
    cluster, checkers, process = stage
    moved = pods_on(cluster, SICK)
    hang_and_mark(cluster)
    run(cluster, 3)
    elsewhere = [pod for name in cluster.servers if name != SICK for pod in pods_on(cluster, name)]
    run(cluster, 20)
    checkers.at_rest(process.engine)

    assert moved
    assert set(moved) <= set(elsewhere)
    assert [] == checkers.violations
    assert 2 == cluster.servers[SICK].boots
    done = [name for name in process.acted if name not in RECORDS]
    assert 12 >= len(done), "requests of one repair: ten, one write of the ledger, one claim"
    assert 7 >= len(process.acted) - len(done), "and those of its record"


def test_the_node_never_returns(stage: Stage) -> None:
    """A server that does not boot again keeps its backup on the Machine, and somebody is told after ten minutes."""
    cluster, checkers, process = stage
    cluster.servers[SICK].is_broken = True
    hang_and_mark(cluster)
    run(cluster, 9)
    early = told(process)
    run(cluster, 10)

    assert "NodeOverdue" not in early
    assert 1 == told(process).count("NodeOverdue")
    assert names.NODE_BACKUP in notes(cluster, MACHINE, machine_of(SICK))
    assert names.REBOOT not in notes(cluster, HOST, host_of(SICK))
    assert cluster.servers[SICK].has_power
    assert [] == checkers.violations


def test_a_taint_whose_request_was_torn_off_goes_when_the_node_is_back(stage: Stage) -> None:
    """Somebody removes the finalizer by hand while the node is out of service: its mark says that the taint is ours."""
    cluster, checkers, process = stage
    cluster.servers[SICK].hang()
    run(cluster, 2)
    cluster.remediate(SICK, strategy="reboot", freeBy="taint")
    while not is_out_of_service(cluster.api.get(NODE, SICK)):
        run(cluster, 0.02)
    cluster.api.patch(REMEDIATION, machine_of(SICK), NAMESPACE, {"metadata": {"finalizers": []}}, "merge")
    cluster.recall(SICK)
    run(cluster, 1)
    is_kept = is_out_of_service(cluster.api.get(NODE, SICK))
    run(cluster, 25)
    checkers.at_rest(process.engine)

    assert is_kept, "until the node is back"
    assert [] == checkers.violations
    assert "TaintOrphaned" in told(process)


def test_a_person_s_taint_is_never_ours(stage: Stage) -> None:
    """Somebody took the node out of service by hand before it was remediated: that stays, whatever becomes of it."""
    cluster, _, process = stage
    cluster.servers[SICK].hang()
    taints = [{"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}]
    cluster.api.patch(NODE, SICK, "", {"spec": {"taints": taints}}, "merge")
    cluster.remediate(SICK, strategy="reboot", freeBy="taint")
    run(cluster, 25)

    assert 2 == cluster.servers[SICK].boots
    assert is_out_of_service(cluster.api.get(NODE, SICK))
    assert "UntaintOutOfService" not in process.acted


def test_a_dead_bmc_frees_nothing(stage: Stage) -> None:
    """While the BMC does not answer, the node and its pods stay, and somebody is told after two minutes."""
    cluster, checkers, process = stage
    held = pods_on(cluster, SICK)
    cluster.servers[SICK].bmc.answers = False
    hang_and_mark(cluster)
    run(cluster, 30)

    assert cluster.api.find(NODE, SICK) is not None
    assert held == pods_on(cluster, SICK)
    assert 1 == told(process).count("PowerOffOverdue")
    assert 0 == checkers.ran["S1 node"]


def test_a_dead_bmc_that_comes_back_is_used(stage: Stage) -> None:
    """The repair goes on by itself when the BMC answers again."""
    cluster, checkers, process = stage
    cluster.servers[SICK].bmc.answers = False
    hang_and_mark(cluster)
    run(cluster, 15)
    cluster.servers[SICK].bmc.answers = True
    run(cluster, 30)
    checkers.at_rest(process.engine)

    assert [] == checkers.violations
    assert 2 == cluster.servers[SICK].boots


def test_power_on_that_fails_is_retried_and_told(stage: Stage) -> None:
    """A host that does not power on is tried again by its operator; somebody is told; then it comes back."""
    cluster, checkers, process = stage
    cluster.servers[SICK].bmc.obeys_on = False
    hang_and_mark(cluster)
    run(cluster, 14)
    warned = told(process).count("NodeOverdue")
    cluster.servers[SICK].bmc.obeys_on = True
    run(cluster, 20)
    checkers.at_rest(process.engine)

    assert 1 <= warned
    assert [] == checkers.violations
    assert 2 == cluster.servers[SICK].boots


@pytest.mark.parametrize(
    ("kind", "annotation", "reason"),
    [
        (MACHINE, names.CLUSTER_PAUSED, "ClusterPaused"),
        (MACHINE, names.PAUSED, "PausedByPerson"),
        (HOST, names.HOST_PAUSED, "HostPaused"),
        (HOST, names.HOST_DETACHED, "HostPaused"),
    ],
)
def test_a_pause_means_a_reason_and_no_action(stage: Stage, kind: Kind, annotation: str, reason: str) -> None:
    """Whoever paused what: nothing is written but the record, and the reason says why."""
    cluster, _, process = stage
    name = machine_of(SICK) if kind == MACHINE else host_of(SICK)
    cluster.api.patch(kind, name, NAMESPACE, {"metadata": {"annotations": {annotation: ""}}}, "merge")
    hang_and_mark(cluster)
    run(cluster, 30)

    assert [] == [request.path for _, request in process.writes if "/incidents" not in request.path]
    assert 1 == told(process).count(reason)
    assert cluster.servers[SICK].has_power


def test_a_pause_ends(stage: Stage) -> None:
    """When the pause is taken away the repair runs as if it had never been there."""
    cluster, checkers, process = stage
    body = {"metadata": {"annotations": {names.CLUSTER_PAUSED: ""}}}
    cluster.api.patch(MACHINE, machine_of(SICK), NAMESPACE, body, "merge")
    hang_and_mark(cluster)
    run(cluster, 10)
    body = {"metadata": {"annotations": {names.CLUSTER_PAUSED: None}}}  # type: ignore[dict-item]
    cluster.api.patch(MACHINE, machine_of(SICK), NAMESPACE, body, "merge")
    run(cluster, 20)
    checkers.at_rest(process.engine)

    assert [] == checkers.violations
    assert 2 == cluster.servers[SICK].boots


def test_two_leaders_at_once_do_no_harm(stage: Stage) -> None:
    """Two managers that both believe they lead, all the time, repair the node once."""
    cluster, checkers, process = stage
    other = Process("manager-2", cluster, seed=12)
    other.always_leads = process.always_leads = True
    other.start()
    run(cluster, 1)
    hang_and_mark(cluster)
    run(cluster, 25)
    checkers.at_rest(process.engine)
    checkers.at_rest(other.engine)

    assert [] == checkers.violations
    assert 2 == cluster.servers[SICK].boots
    assert 1 == checkers.ran["S1 node"]


def test_a_dead_leader_is_replaced_in_time(stage: Stage) -> None:
    """L5: the standby goes on within the lease's duration when the leader dies in the middle."""
    cluster, checkers, process = stage
    other = Process("manager-2", cluster, seed=12)
    other.start()
    run(cluster, 1)
    hang_and_mark(cluster)
    run(cluster, 0.05)
    process.kill()
    run(cluster, 25)
    checkers.at_rest(other.engine)

    assert [] == checkers.violations
    assert process.writes
    assert other.writes


def test_an_api_that_goes_away_loses_nothing(stage: Stage) -> None:
    """Ten minutes in which no request arrives only delay the repair."""
    from noderemedy.sim.weather import CALM, Fate, Weather

    cluster, checkers, process = stage
    hang_and_mark(cluster)
    process.weather = Weather(requests=((Fate.NEVER_ARRIVED, 1.0),))
    run(cluster, 10)
    process.weather = CALM
    run(cluster, 25)
    checkers.at_rest(process.engine)

    assert [] == checkers.violations
    assert 2 == cluster.servers[SICK].boots


def test_idle_means_zero_writes(stage: Stage) -> None:
    """A healthy cluster is only watched: six hours without a single write besides the lease."""
    cluster, _, process = stage
    run(cluster, 360)

    assert [] == process.writes
    assert [] == process.notices
