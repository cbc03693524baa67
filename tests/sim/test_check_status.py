"""A MachineHealthCheck in a simulated cluster: its status follows its nodes, and nobody's work is undone."""

from __future__ import annotations

from typing import Any

from noderemedy.manager.notices import event_name
from noderemedy.model.ids import HEALTH_CHECK, NODE
from noderemedy.model.time import Span
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

Stage = tuple[Cluster, Process]
CHECK = {
    "apiVersion": "cluster.x-k8s.io/v1alpha3",
    "kind": "MachineHealthCheck",
    "metadata": {"name": "workers", "namespace": NAMESPACE},
    "spec": {
        "selector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": "lab"}},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "5m"}],
        "maxUnhealthy": 2,
    },
}


def a_stage() -> Stage:
    """Four quiet nodes under one check, one manager, and an API that keeps track of who wrote what."""
    cluster, _, process = calm(seed=5, nodes=4)
    cluster.api.writes.tracks_updates = True
    cluster.api.create(CHECK)
    run(cluster, 1)
    return cluster, process


def run(cluster: Cluster, minutes: float) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def the_check(cluster: Cluster) -> dict[str, Any]:
    return cluster.api.get(HEALTH_CHECK, "workers", NAMESPACE)


def counts(cluster: Cluster) -> tuple[int, ...]:
    status = the_check(cluster).get("status", {})
    return tuple(status.get(name, -1) for name in ("expectedMachines", "currentHealthy", "remediationsAllowed"))


def condition(cluster: Cluster, kind: str = "RemediationAllowed") -> dict[str, Any]:
    return next(one for one in the_check(cluster)["status"]["conditions"] if one["type"] == kind)


def written(process: Process) -> int:
    """How often this manager wrote into a check or a Machine; records and reservations are not counted."""
    return sum("machine" in request.path for _, request in process.writes)


def others_write(cluster: Cluster, status: dict[str, Any], notes: dict[str, str] | None = None) -> None:
    """Another program writes into the status, under its own name or, if nothing is said, none."""
    if notes:
        cluster.api.patch(HEALTH_CHECK, "workers", NAMESPACE, {"metadata": {"annotations": notes}}, "merge")
    cluster.api.patch(HEALTH_CHECK, "workers", NAMESPACE, {"status": status}, "merge", subresource="status")


def test_the_status_follows_sick_and_well() -> None:
    """Counted at once, closed at the limit, open again when nodes return; one write for each, none in between."""
    cluster, process = a_stage()
    assert (4, 4, 1) == counts(cluster)
    opened = condition(cluster)
    for name in ("worker-1", "worker-2"):
        cluster.servers[name].link(False)
    run(cluster, 3)
    closed = condition(cluster)
    assert (4, 2, 0) == counts(cluster)
    assert ("False", "TooManyUnhealthy", "Warning") == tuple(closed[key] for key in ("status", "reason", "severity"))
    assert opened["lastTransitionTime"] < closed["lastTransitionTime"]
    for name in ("worker-1", "worker-2"):
        cluster.servers[name].link(True)
    run(cluster, 3)
    assert ((4, 4, 1), "True") == (counts(cluster), condition(cluster)["status"])
    assert the_check(cluster)["metadata"]["generation"] == the_check(cluster)["status"]["observedGeneration"]
    assert 4 == process.acted.count("WriteMachineConditions"), "each machine is told once that it is healthy"
    assert process.acted.count("PublishCheckStatus") <= 5


def test_idle_and_restarted_it_writes_nothing() -> None:
    """An hour without news, with a new process in the middle: the object is as it was, to the last version."""
    cluster, process = a_stage()
    cluster.servers["worker-1"].link(False)
    run(cluster, 10)
    before, version = written(process), the_check(cluster)["metadata"]["resourceVersion"]
    run(cluster, 30)
    process.kill()
    process.start()
    run(cluster, 30)

    assert before == written(process)
    assert version == the_check(cluster)["metadata"]["resourceVersion"]


def test_a_storm_is_two_events_whoever_leads() -> None:
    """Three fall silent one by one, the manager is killed in the middle, all return: one Event closes, one opens."""
    cluster, process = a_stage()
    for alive in (False, True):
        for name in ("worker-1", "worker-2", "worker-3"):
            cluster.servers[name].link(alive)
            run(cluster, 8)
        if not alive:
            process.kill()
            process.start()
            run(cluster, 30)
    notices = [one for one in process.notices if one.room == "check"]

    assert ["TooManyUnhealthy", "TooManyUnhealthy", "RemediationAllowedAgain"] == [
        type(one.reason).__name__ for one in notices
    ]
    assert 2 == len({event_name(one) for one in notices}), "who takes over says it under the same name: no new Event"


def test_a_person_sees_on_the_check_that_it_is_held() -> None:
    """Paused until a time, then by nobody: one write each, and none because of a new process."""
    cluster, process = a_stage()
    assert ("True", "Acting") == acting(cluster)
    before = written(process)
    end = str(cluster.agenda.wall() + Span(20 * 60_000))
    body = {"metadata": {"annotations": {names.PAUSED: end}}}
    cluster.api.patch(HEALTH_CHECK, "workers", NAMESPACE, body, "merge")
    run(cluster, 10)
    assert (("False", "PausedByPerson"), before + 1) == (acting(cluster), written(process))
    assert f"until {end}" in condition(cluster, "Acting")["message"]
    process.kill()
    process.start()
    run(cluster, 8)
    assert before + 1 == written(process)
    run(cluster, 10)

    assert (("True", "Acting"), before + 2) == (acting(cluster), written(process))


def acting(cluster: Cluster) -> tuple[str, str]:
    found = condition(cluster, "Acting")
    return found["status"], found["reason"]


def test_conditions_of_others_survive() -> None:
    """With the check given to us, both write their own conditions into one list."""
    cluster, _ = a_stage()
    theirs = {"type": "Paused", "status": "False", "reason": "NotPaused"}
    others_write(
        cluster,
        {"conditions": [theirs, *the_check(cluster)["status"]["conditions"]], "currentHealthy": 17},
        {"node-remedy.dev/govern": "true"},
    )
    run(cluster, 1)

    assert theirs == condition(cluster, "Paused")
    assert (4, 4, 1) == counts(cluster)


def test_another_controller_keeps_its_status() -> None:
    """Whoever else writes this status is left alone and named; nodes may come and go."""
    cluster, process = a_stage()
    others_write(cluster, {"currentHealthy": 17})
    before = written(process)
    cluster.servers["worker-1"].link(False)
    run(cluster, 90)

    assert 17 == counts(cluster)[1]
    assert before == written(process)
    told = [type(notice.reason).__name__ for notice in process.notices]
    assert 1 == told.count("OtherControllerGoverns")
    assert cluster.api.find(NODE, "worker-1") is not None
