"""Annotation power cycling on a real control plane, with the real manager under its shipped identity (seed 001).

One bad morning: nine nodes of one cluster hang at the same time, somebody with the right to do so marks their
Machines, `plan` is asked, then the manager is started. Every test tells the story of one of them; they all go on at
the same time, so each test waits only for what is left of its own. What really happened to the computers is judged by
`World`, what the manager wrote by the API server's own audit log.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import allow, kubectl
from tests.e2e.fleet import EXTERNAL, HOSTS, NODES, Fleet, Provider
from tests.e2e.managers import COMMAND, Manager
from tests.e2e.repairs import (
    BACKUP,
    DELETED_AT,
    HOLD,
    REPAIR,
    a_remediator,
    a_stateful_set,
    age_the_deletion,
    age_the_hold,
    assert_decorated,
    assert_freed_only_when_off,
    assert_nothing_left,
    decorate,
    notes,
    ours,
    running_on,
    wait_for_note,
    wait_until_over,
)

from noderemedy.manager.kinds import wanted

REPAIR_NOW = "node-remedy.dev/repair"
WEB = {"tier": "web"}
PODS = ("web-0", "web-1")
HANDS_OFF = {"host-paused": "baremetalhost.metal3.io/paused", "host-detached": "baremetalhost.metal3.io/detached"}
SICK = ("back", "late", "lost", "deaf", "openshift", "metal3", "machine-paused", *HANDS_OFF)
REPAIRED_AT_ONCE = {"back", "late", "lost", "deaf", "openshift", "metal3"}
READ = ("get", "list")
BUDGETS = "/apis/node-remedy.dev/v1alpha1/remediationbudgets"
BUDGET = f"{BUDGETS}/cluster"
# All of them at once: more than the default would let through. No failure domain holds them, since they name none.
GENEROUS = {
    "apiVersion": "node-remedy.dev/v1alpha1",
    "kind": "RemediationBudget",
    "metadata": {"name": "cluster"},
    "spec": {"maxUnhealthy": 100, "maxInFlight": 100, "maxPerHour": 100},
}


@dataclass
class Morning:
    """The cluster on that morning, and what `plan` said before the manager was there."""

    plane: ControlPlane
    fleet: Fleet
    manager: Manager
    plan: list[Json]
    old_uids: dict[str, str]


@pytest.fixture(scope="module")
def morning(installed_plane: ControlPlane) -> Iterator[Morning]:
    plane = installed_plane
    plane.api().create(BUDGETS, GENEROUS).ok()
    with Fleet(plane) as fleet:
        populate(fleet)
        uids = {name: fleet.node(name)["metadata"]["uid"] for name in SICK}
        somebody = a_remediator(plane)
        for name in SICK:
            fleet.crash(name)
            fleet.ask_for_repair(name, by=somebody)
        planned = json.loads(plan(plane, "-o", "json"))
        with Manager(plane) as manager:
            yield Morning(plane, fleet, manager, planned, uids)


def populate(fleet: Fleet) -> None:
    """The pods are on `late` and `lost`, because there is no other node of their tier when they are made."""
    fleet.add("late", "lost", labels=WEB)
    fleet.api.create("/apis/apps/v1/namespaces/default/statefulsets", a_stateful_set(2, WEB)).ok()
    eventually(lambda: running_on(fleet, PODS) == ["late", "lost"], "both pods run", seconds=90)
    fleet.add("spare-0", "spare-1", labels=WEB)
    fleet.add("back", "deaf", "machine-paused", *HANDS_OFF)
    fleet.add("openshift", provider=Provider.OPENSHIFT)
    fleet.add("metal3", provider=Provider.METAL3)
    decorate(fleet, "back")
    fleet.annotate(f"{NODES}/back", {REPAIR_NOW: "", EXTERNAL: ""})  # a wish, and a mark at the wrong place
    fleet.switches.bmc_dead.add("deaf")
    fleet.switches.power_on_fails.add("late")
    fleet.never_boots("lost")
    fleet.annotate(fleet.machine_path("machine-paused"), {"cluster.x-k8s.io/paused": ""})
    for name, annotation in HANDS_OFF.items():
        fleet.annotate(f"{HOSTS}/{name}", {annotation: ""})


def plan(plane: ControlPlane, *options: str) -> str:
    """What `node-remedy plan` prints for somebody who may only read."""
    allow(plane.api(), "look-at-everything", [(one.kind.group, one.plural, READ) for one in wanted()], "viewer")
    eventually(lambda: plane.api("viewer").get(HOSTS).status == 200, "the viewer's rights are in force")
    command = [str(COMMAND), "plan", "--kubeconfig", str(plane.kubeconfig("viewer")), *options]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert 0 == answer.returncode, answer.stderr
    return answer.stdout


def test_plan_says_what_is_about_to_happen_and_changes_nothing(morning: Morning) -> None:
    """With rights to read only, plan lists every hold to come and every reason to wait, and writes nothing."""
    entries = {entry["key"].rpartition("/")[2]: entry for entry in morning.plan if entry["room"] == "annotation"}
    actions = {name: [one["do"] for one in entry["actions"]] for name, entry in entries.items()}

    assert {name: ["AddRebootAnnotation"] for name in REPAIRED_AT_ONCE} == {
        name: found for name, found in actions.items() if found
    }
    assert ["ClusterPaused"] == [one["reason"] for one in entries["machine-paused"]["because"]]
    asked = audit.asked(morning.plane.audit_log, "viewer")
    assert asked
    assert {"get", "list"} == {one.verb for one in asked}


def test_a_node_that_returns_is_as_it_was(morning: Morning) -> None:
    """Held, off, backed up, deleted, on, back: the Node is a new one that carries all that the old one did."""
    wait_until_over(morning.fleet, "back")

    assert_decorated(morning.fleet, "back")
    assert REPAIR_NOW not in morning.fleet.node("back")["metadata"]["annotations"], "an old wish would repair it again"
    assert morning.old_uids["back"] != morning.fleet.node("back")["metadata"]["uid"]
    assert REPAIR == audit.steps(morning.plane.audit_log, "back")
    assert assert_freed_only_when_off(morning.plane, morning.fleet) >= 1


@pytest.mark.parametrize("name", ["openshift", "metal3"])
def test_machines_of_other_providers_are_repaired_alike(morning: Morning, name: str) -> None:
    """A Machine of OpenShift, and one whose host is consumed by its Metal3Machine, go the same way."""
    wait_until_over(morning.fleet, name)

    assert REPAIR[:5] == audit.steps(morning.plane.audit_log, name)[:5]
    assert morning.old_uids[name] != morning.fleet.node(name)["metadata"]["uid"]


def test_people_can_read_what_happened(morning: Morning) -> None:
    """`kubectl describe` shows the steps on the Machine, and /metrics counts them."""
    wait_until_over(morning.fleet, "back")
    wait_for_note(morning.fleet.api, "back", "NodeWhole")
    told = kubectl(morning.plane, "describe", "machines.cluster.x-k8s.io", "back")

    for reason in ("WaitingForPowerOff", "ProvenOff", "NodeWhole"):
        assert reason in told
    assert "node-remedy.dev/manager" in told
    assert morning.manager.leads()
    assert morning.manager.figure("node_remedy_effects_total", action="DeleteNode", outcome="Done") >= 3
    assert "ok\n" == morning.manager.answer("/readyz")


def test_a_dead_bmc_frees_nothing_and_alerts(morning: Morning) -> None:
    """While the host cannot be switched off its Node stays, and a Warning says so; when it can, the repair goes on."""
    fleet = morning.fleet
    eventually(lambda: HOLD in ours(fleet.host("deaf")), "the host is held")
    age_the_hold(fleet, "deaf")
    note = wait_for_note(fleet.api, "deaf", "PowerOffOverdue", "the BMC does not answer")

    assert "Warning" == note["type"]
    assert morning.old_uids["deaf"] == fleet.node("deaf")["metadata"]["uid"]
    assert ["patch baremetalhosts"] == audit.done(morning.plane.audit_log, "deaf")

    fleet.switches.bmc_dead.clear()
    wait_until_over(fleet, "deaf")


def test_a_paused_machine_is_left_alone(morning: Morning) -> None:
    """An event gives the reason, nothing is written; without the pause the repair starts."""
    fleet = morning.fleet
    note = wait_for_note(fleet.api, "machine-paused", "ClusterPaused")

    assert "cluster.x-k8s.io/paused" in note["note"]
    assert [] == audit.writes(morning.plane.audit_log, "machine-paused")
    fleet.annotate(fleet.machine_path("machine-paused"), {"cluster.x-k8s.io/paused": None})
    wait_until_over(fleet, "machine-paused")


@pytest.mark.parametrize("name", HANDS_OFF)
def test_a_host_that_nobody_looks_after_is_left_alone(morning: Morning, name: str) -> None:
    """Paused or detached: an event gives the reason, nothing is written."""
    note = wait_for_note(morning.fleet.api, name, "HostPaused")

    assert HANDS_OFF[name] in note["note"]
    assert [] == audit.writes(morning.plane.audit_log, name)


def test_a_node_that_never_returns_keeps_its_backup(morning: Morning) -> None:
    """The host is on, the backup stays on the Machine, and a Warning says that the node is overdue."""
    fleet = morning.fleet
    eventually(lambda: fleet.world.computers["lost"].boots == 2, "the computer is on again")
    eventually(lambda: fleet.powered_on("lost"), "the host is known to be on")
    age_the_deletion(fleet, "lost")
    note = wait_for_note(fleet.api, "lost", "NodeOverdue")

    assert "Warning" == note["type"]
    assert {BACKUP, DELETED_AT} == set(ours(fleet.machine("lost")))
    assert {"tier": "web"}.items() <= json.loads(ours(fleet.machine("lost"))[BACKUP])["labels"].items()
    assert {} == ours(fleet.host("lost"))
    assert {} == fleet.node("lost")


def test_power_that_does_not_come_on_is_retried_and_alerted(morning: Morning) -> None:
    """A Warning names the BMC's refusal while the operator goes on trying; we write nothing meanwhile."""
    fleet = morning.fleet
    eventually(lambda: fleet.host("late")["status"].get("errorCount", 0) > 2, "the operator tries again and again")
    age_the_deletion(fleet, "late")
    note = wait_for_note(fleet.api, "late", "NodeOverdue", "power on was refused")

    assert "Warning" == note["type"]
    assert REPAIR[:5] == audit.steps(morning.plane.audit_log, "late")
    assert {BACKUP, DELETED_AT} == set(ours(fleet.machine("late")))


@pytest.mark.timeout(200)
def test_stateful_pods_move_only_after_their_hosts_were_off(morning: Morning) -> None:
    """The real StatefulSet controller recreates both pods on the spare nodes, each after its old host was off.

    It may do so more than once: a pod was seen to start three times, when Kubernetes' own eviction came late.
    """
    fleet = morning.fleet
    eventually(lambda: running_on(fleet, PODS) == ["spare-0", "spare-1"], "the pods have moved", seconds=150)
    off = {name: fleet.world.when("powered off", name)[0] for name in ("late", "lost")}
    moved = {pod: fleet.world.when("container started", about=f"default/{pod}") for pod in PODS}

    assert all(len(times) > 1 for times in moved.values())
    assert all(time > max(off.values()) for times in moved.values() for time in times[1:])
    assert assert_freed_only_when_off(morning.plane, fleet) >= 5


def test_power_that_comes_on_at_last_ends_the_repair(morning: Morning) -> None:
    """When the BMC obeys again the node returns and gets back what it carried; nobody had to ask."""
    morning.fleet.switches.power_on_fails.clear()
    wait_until_over(morning.fleet, "late")

    assert "web" == morning.fleet.node("late")["metadata"]["labels"]["tier"]
    assert_nothing_left(morning.fleet, "late")


@pytest.mark.timeout(200)
def test_idle_means_no_writes(morning: Morning) -> None:
    """When nothing is left to do the manager renews its Lease and writes nothing else, no Event either.

    What a record has still to tell comes minutes later, by design: each record once at most. A place in the budget
    is counted for a minute after its grant, however short the repair.
    """

    def in_flight() -> int:
        return int(morning.fleet.api.get(BUDGET).ok()["status"]["inFlight"])

    def written_within(seconds: float) -> Counter[str]:
        asked = [one for one in audit.asked(morning.plane.audit_log) if one.verb not in audit.READING]
        return Counter(f"{one.resource} {one.name}" for one in asked if one.at > time.time() - seconds)

    def unexpected(seconds: float) -> list[str]:
        written = written_within(seconds)
        return [what for what in written if not (what.startswith("leases ") or (is_record(what) and written[what] < 2))]

    def is_record(what: str) -> bool:
        return what.startswith("incidents ")

    eventually(lambda: in_flight() == 0, "every place is given back", seconds=75)
    eventually(lambda: not unexpected(12), "it has said all that there is to say: figures wait ten seconds", seconds=60)
    time.sleep(5)
    assert [] == unexpected(17)
    assert any(what.startswith("leases ") for what in written_within(7))
    assert EXTERNAL in ours(morning.fleet.machine("host-paused"))  # it had something to wait for, too
    assert notes(morning.fleet.api, "host-paused")


def test_it_stops_when_asked(morning: Morning) -> None:
    """SIGTERM ends it with status 0, and the Lease is free for the next one."""
    assert 0 == morning.manager.program.terminate()
    path = "/apis/coordination.k8s.io/v1/namespaces/node-remedy-system/leases/node-remedy-manager"

    assert not morning.fleet.api.get(path).ok()["spec"].get("holderIdentity")
