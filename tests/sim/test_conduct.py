"""Checkers of conduct, budget and remediations have been seen red: somebody does by hand what no manager may do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from noderemedy.core import safety
from noderemedy.model.ids import CONFIG_MAP, HEALTH_CHECK, HOST, MACHINE, NODE, REMEDIATION
from noderemedy.model.ledger import LEDGER_AT
from noderemedy.model.time import Span
from noderemedy.sim import objects
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.conduct import Conduct
from noderemedy.sim.extras import PLAIN
from noderemedy.sim.kinds import ATTACHMENT, POD
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.run import simulate
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import Fate
from noderemedy.wire import names
from noderemedy.wire.http import Request


class Stage:
    """Ten nodes, three of which rule, and a manager that never runs."""

    def __init__(self) -> None:
        self.cluster = Cluster(nodes=10, seed=1, replicas=2, tracks_fields=False)
        self.checkers = Checkers(self.cluster)
        self.budgeting = Budgeting(self.checkers, rulers=3)
        self.process = Process("manager-1", self.cluster)
        self.conduct = Conduct(self.checkers, [self.process])

    def annotate(self, kind: Any, name: str, **notes: Any) -> None:
        body = {"metadata": {"annotations": {getattr(names, key): value for key, value in notes.items()}}}
        self.cluster.api.patch(kind, name, NAMESPACE, body, "merge")

    def hold(self, node: str, **other: Any) -> None:
        machine = self.cluster.api.get(MACHINE, machine_of(node), NAMESPACE)
        record = {"machineUid": machine["metadata"]["uid"], "since": "2027-01-15T08:00:00Z", **other}
        self.annotate(HOST, host_of(node), REBOOT="{}", HOLD=json.dumps(record))

    def hold_for_a_request(self, node: str) -> None:
        notes = {f"{names.REBOOT_FOR}of-{node}": names.REBOOT_VALUE}
        self.cluster.api.patch(HOST, host_of(node), NAMESPACE, {"metadata": {"annotations": notes}}, "merge")

    def send(self, method: str, path: str, body: str = "") -> None:
        self.process.apply(Request(method, path, body=body.encode()), Fate.FINE, self.cluster.api)

    def wait(self, minutes: int) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + minutes * MINUTE_MS)

    def ledger(self, **found: Any) -> None:
        text = json.dumps({"version": 1, "reservations": [], "starts": [], **found})
        meta = {"name": LEDGER_AT.name, "namespace": LEDGER_AT.namespace}
        tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"ledger.json": text}}
        if self.cluster.api.find(CONFIG_MAP, LEDGER_AT.name, LEDGER_AT.namespace) is None:
            self.cluster.api.create(tree)
        else:
            self.cluster.api.update(tree)

    def phase(self, phase: str) -> None:
        body = {"status": {"phase": phase, "retryCount": 0}}
        self.cluster.api.patch(REMEDIATION, machine_of("worker-1"), NAMESPACE, body, "merge", subresource="status")


def a_write_without_a_uid(stage: Stage) -> None:
    stage.send("DELETE", "/api/v1/namespaces/default/pods/some")


def a_second_hold(stage: Stage) -> None:
    stage.hold("worker-1")
    stage.cluster.api.patch(
        HOST, host_of("worker-1"), NAMESPACE, {"metadata": {"annotations": {f"{names.REBOOT_FOR}1": ""}}}, "merge"
    )


def a_hold_without_a_reservation(stage: Stage) -> None:
    stage.hold("worker-5")


def too_many_starts(stage: Stage) -> None:
    stage.ledger(starts=[{"at": f"2027-01-15T08:{n:02}:00Z", "cluster": ""} for n in range(31)])


def a_start_in_a_storm(stage: Stage) -> None:
    for name in list(stage.cluster.servers)[:5]:
        stage.cluster.servers[name].hang()
    stage.wait(10)
    stage.ledger(starts=[{"at": "2027-01-15T08:00:00Z", "cluster": ""}])


def two_rulers_held(stage: Stage) -> None:
    stage.hold("worker-1")
    stage.hold("worker-2")


def too_many_held_for_requests(stage: Stage) -> None:
    for number in range(4, 7):
        stage.hold_for_a_request(f"worker-{number}")


def two_rulers_held_for_requests(stage: Stage) -> None:
    stage.hold_for_a_request("worker-1")
    stage.hold_for_a_request("worker-2")


def a_hold_for_another_machine(stage: Stage) -> None:
    stage.hold("worker-1", machineUid="of-another")


def a_hold_for_another_node(stage: Stage) -> None:
    stage.hold("worker-1", nodeUid="of-another")


def a_write_to_the_paused(stage: Stage) -> None:
    stage.annotate(MACHINE, machine_of("worker-1"), CLUSTER_PAUSED="true")
    stage.wait(5)
    stage.send("PATCH", f"/apis/metal3.io/v1alpha1/namespaces/{NAMESPACE}/baremetalhosts/{host_of('worker-1')}")


def a_write_to_the_request_of_the_paused(stage: Stage) -> None:
    stage.cluster.remediate("worker-1", strategy="reboot")
    stage.annotate(MACHINE, machine_of("worker-1"), CLUSTER_PAUSED="true")
    stage.wait(5)
    stage.send("PATCH", f"{REQUESTS}/{machine_of('worker-1')}")


def a_hold_of_what_a_person_paused(stage: Stage) -> None:
    stage.annotate(MACHINE, machine_of("worker-1"), PAUSED="true")
    stage.wait(5)
    stage.hold("worker-1")


def a_mark_on_what_a_person_paused(stage: Stage) -> None:
    stage.annotate(MACHINE, machine_of("worker-1"), PAUSED="true")
    stage.wait(5)
    stage.annotate(MACHINE, machine_of("worker-1"), NEEDS_REMEDIATION=f"{names.MARKED_BY}all")


def a_node_deleted_unread(stage: Stage) -> None:
    uid = stage.cluster.api.get(NODE, "worker-1")["metadata"]["uid"]
    stage.send("DELETE", "/api/v1/nodes/worker-1", json.dumps({"preconditions": {"uid": uid}}))


def a_node_tainted_unread(stage: Stage) -> None:
    uid = stage.cluster.api.get(NODE, "worker-1")["metadata"]["uid"]
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
    body = json.dumps({"metadata": {"uid": uid}, "spec": {"taints": [taint]}}, separators=(",", ":"))
    stage.send("PATCH", "/api/v1/nodes/worker-1", body)


def a_pod_deleted_unread(stage: Stage) -> None:
    stage.wait(2)
    pod = stage.cluster.api.list(POD)[0]["metadata"]
    body = json.dumps({"preconditions": {"uid": pod["uid"]}}, separators=(",", ":"))
    stage.send("DELETE", f"/api/v1/namespaces/{pod['namespace']}/pods/{pod['name']}", body)


def a_volume_detached_unread(stage: Stage) -> None:
    stage.wait(2)
    found = stage.cluster.api.list(ATTACHMENT)[0]["metadata"]
    body = json.dumps({"preconditions": {"uid": found["uid"]}}, separators=(",", ":"))
    stage.send("DELETE", f"/apis/storage.k8s.io/v1/volumeattachments/{found['name']}", body)


def a_host_held_for_a_machine_unread(stage: Stage) -> None:
    uid = stage.cluster.api.get(HOST, host_of("worker-5"), NAMESPACE)["metadata"]["uid"]
    body = {"metadata": {"uid": uid, "annotations": {names.REBOOT: names.REBOOT_VALUE}}}
    path = f"/apis/metal3.io/v1alpha1/namespaces/{NAMESPACE}/baremetalhosts/{host_of('worker-5')}"
    stage.send("PATCH", path, json.dumps(body, separators=(",", ":")))


def a_phase_skipped(stage: Stage) -> None:
    stage.cluster.remediate("worker-1", strategy="reboot")
    stage.phase("waiting")


def a_finalizer_that_stays(stage: Stage) -> None:
    stage.cluster.remediate("worker-1", strategy="reboot")
    kept = {"metadata": {"finalizers": ["example.com/mine"]}}
    stage.cluster.api.patch(REMEDIATION, machine_of("worker-1"), NAMESPACE, kept, "merge")
    stage.cluster.recall("worker-1")
    stage.checkers.remediations.at_rest()


def a_status_that_is_wrong(stage: Stage) -> None:
    stage.cluster.api.create(objects.health_check("all", "40%"))
    body = {"status": {"expectedMachines": 10, "currentHealthy": 3}}
    stage.cluster.api.patch(HEALTH_CHECK, "all", NAMESPACE, body, "merge", subresource="status")
    stage.conduct.at_rest()


REQUESTS = f"/apis/remediation.metal3.io/v1alpha1/namespaces/{NAMESPACE}/metal3remediations"
BY_HAND: dict[Callable[[Stage], None], str] = {
    a_write_without_a_uid: "S2: DELETE",
    a_second_hold: "S2: host-worker-1 is held by",
    a_hold_without_a_reservation: "S3: host-worker-5 is held without",
    too_many_starts: "S3: 31 repairs",
    a_start_in_a_storm: "S4: ",
    two_rulers_held: "S5: ",
    too_many_held_for_requests: "S3: 3 hosts are held at once",
    two_rulers_held_for_requests: "S5: host-worker-1 and host-worker-2",
    a_hold_for_another_machine: "S7: host-worker-1 of machine-worker-1 is held for Machine of-another",
    a_hold_for_another_node: "S7: host-worker-1 is held for Node of-another",
    a_write_to_the_paused: "S8: PATCH",
    a_write_to_the_request_of_the_paused: "S8: PATCH",
    a_hold_of_what_a_person_paused: "S8: host-worker-1 is held",
    a_mark_on_what_a_person_paused: "S8: machine-worker-1 is marked",
    a_node_deleted_unread: "S9: manager-1 deletes nodes/worker-1",
    a_node_tainted_unread: "S9: manager-1 taints nodes/worker-1",
    a_pod_deleted_unread: "S9: manager-1 deletes pods/database-",
    a_volume_detached_unread: "S9: manager-1 deletes volumeattachments/",
    a_host_held_for_a_machine_unread: "S9: manager-1 holds baremetalhosts/host-worker-5",
    a_phase_skipped: "S14: ",
    a_finalizer_that_stays: "L7: ",
    a_status_that_is_wrong: "L8: check all says (10, 3)",
}


@pytest.mark.parametrize("deed", BY_HAND, ids=lambda deed: deed.__name__)
def test_what_no_manager_may_do_is_seen(deed: Callable[[Stage], None]) -> None:
    """The checker says nothing before, and complains after."""
    stage = Stage()
    assert [] == stage.checkers.violations
    deed(stage)

    assert any(f"ms: {BY_HAND[deed]}" in line for line in stage.checkers.violations)


def test_acts_on_old_reads_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manager that believes what it read an hour ago is seen in every act that cannot be undone."""
    monkeypatch.setattr(safety, "FRESH", Span.seconds(3600))
    lines = simulate(120, nodes=20, hours=2.0, trouble_every_ms=MINUTE_MS, extras=PLAIN).violations
    deeds = {line.partition("S9: ")[2].partition(" ")[2].partition("/")[0] for line in lines if "S9" in line}

    assert {
        "deletes nodes",
        "taints nodes",
        "deletes pods",
        "deletes volumeattachments",
        "holds baremetalhosts",
    } <= deeds


def test_a_successor_of_a_pod_is_another_one() -> None:
    """A deletion that names the uid of a former pod of that name frees nothing, and rests on nothing (seed 134)."""
    stage = Stage()
    stage.wait(2)
    pod = stage.cluster.api.list(POD)[0]["metadata"]
    path = f"/api/v1/namespaces/{pod['namespace']}/pods/{pod['name']}"
    stage.send("DELETE", path, '{"preconditions":{"uid":"of-a-former-one"}}')

    assert [] == stage.checkers.violations


def test_the_request_of_a_former_machine_is_not_the_paused_ones() -> None:
    """A Machine of the same name came after it, and is paused: what was begun for the former one may go."""
    stage = Stage()
    stage.cluster.remediate("worker-1", strategy="reboot")
    evidence = {"status": {"evidence": {"machineUid": "of-a-former-one"}}}
    stage.cluster.api.patch(REMEDIATION, machine_of("worker-1"), NAMESPACE, evidence, "merge", subresource="status")
    stage.annotate(MACHINE, machine_of("worker-1"), CLUSTER_PAUSED="true")
    stage.wait(5)
    stage.send("PATCH", f"{REQUESTS}/{machine_of('worker-1')}")

    assert [] == [line for line in stage.checkers.violations if "S8" in line]
