"""Crash plans of health checks, of owners, and of what is written beside a repair: budgets and records.

One story for each way in which a check has a machine repaired: its owner is asked, and no more, it is marked and power
cycled, its mark is taken back, it is deleted, it gets a Metal3Remediation, which helps or does not. Called like the
stories of `crash.py`; some of the worlds are OpenShift's, where checks mark and delete.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from noderemedy.core.incident import recordview, shelf
from noderemedy.model.ids import HOST, INCIDENT, MACHINE, NODE, REMEDIATION
from noderemedy.rooms import ROOMS
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.crash import Scene, Stage, deleted, repaired
from noderemedy.sim.dialects import CLUSTER_API, OPENSHIFT, Dialect
from noderemedy.sim.fenced import CONFIGS, config
from noderemedy.sim.kinds import DISRUPTION_BUDGET
from noderemedy.sim.lifecycle import is_out_of_service
from noderemedy.sim.machinesets import CHECK, DeletionCheckers, MachineSet
from noderemedy.sim.objects import NAMESPACE, SYSTEM
from noderemedy.sim.process import Process
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM
from noderemedy.wire import names

DATABASE = "database"
TEMPLATE = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3RemediationTemplate", "name": "power-cycle"}
FENCE_TEMPLATE = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "FenceRemediationTemplate", "name": "fence"}
SHELF = recordview.PER_TARGET + 1  # Incidents that a small one has room for
Prepare = Callable[[Checkers, Process], None]


def stage(prepare: Prepare, seed: int, nodes: int, *, dialect: Dialect = CLUSTER_API) -> Stage:
    """A quiet cluster in these words with one manager, and what a story finds there."""
    cluster = Cluster(nodes=nodes, seed=seed, replicas=nodes, tracks_fields=False, dialect=dialect)
    checkers = Checkers(cluster)
    process = Process("manager-1", cluster, weather=CALM, seed=seed)
    prepare(checkers, process)
    process.start()
    cluster.agenda.run_until(2 * MINUTE_MS)
    return cluster, checkers, process


# --- what is there ---------------------------------------------------------------------------------------------------


def a_check(cluster: Cluster) -> Tree:
    """Over all machines; as it is, their owners are asked."""
    tree = objects.marking_check("all", "60%", cluster.durations)
    del tree["metadata"]["annotations"]
    return tree


def asks_owners(checkers: Checkers, process: Process) -> None:
    checkers.cluster.api.create(a_check(checkers.cluster))


def marks(checkers: Checkers, process: Process) -> None:
    cluster = checkers.cluster
    cluster.api.create(cluster.dialect.say(objects.marking_check("all", "60%", cluster.durations)))


def marks_and_forgives(checkers: Checkers, process: Process) -> None:
    """The same; what its nodes carry is not held against a person who deletes one."""
    marks(checkers, process)
    checkers.bare.add("worker-2")


def marks_paused(checkers: Checkers, process: Process) -> None:
    """The same, and somebody looks after a host: its power is nobody else's business."""
    marks(checkers, process)
    notes(checkers.cluster, {names.HOST_PAUSED: ""})


def deletes(checkers: Checkers, process: Process) -> None:
    """A MachineSet of one Machine, and a check that deletes it."""
    machine_set = MachineSet(checkers, random.Random(1))
    DeletionCheckers(machine_set, Budgeting(checkers), [process])
    say(checkers.cluster, maxUnhealthy="100%")


def say(cluster: Cluster, **spec: Any) -> None:
    """Edit the check of the MachineSet."""
    cluster.api.patch(cluster.dialect.check, CHECK, NAMESPACE, {"spec": spec}, "merge")


def power_cycles(checkers: Checkers, process: Process) -> None:
    """A check with a template of Metal3Remediations, and a budget that says what it has counted."""
    cluster = checkers.cluster
    template(cluster, strategy="reboot")
    check = a_check(cluster)
    check["spec"]["externalRemediationTemplate"] = TEMPLATE
    cluster.api.create(check)
    budget(cluster)


def escalates(checkers: Checkers, process: Process) -> None:
    """The MachineSet again; its check has a power cycle tried twice before the Machine is deleted."""
    deletes(checkers, process)
    template(checkers.cluster, strategy="escalate", deleteAfterRetries=1, powerOnTimeoutSeconds=120)
    say(checkers.cluster, remediationTemplate=TEMPLATE)


def fences(checkers: Checkers, process: Process) -> None:
    """The same by fencing, through its host."""
    deletes(checkers, process)
    cluster, node = checkers.cluster, "worker-4"
    template(cluster, FENCE_TEMPLATE, strategy="escalate", maxRestarts=0)
    data = config(*CONFIGS["host"], node, "")
    metadata = {"name": f"fence-config-{node}", "namespace": SYSTEM}
    cluster.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    say(cluster, remediationTemplate=FENCE_TEMPLATE)


def template(cluster: Cluster, named: dict[str, str] = TEMPLATE, **spec: Any) -> None:
    metadata = {"name": named["name"], "namespace": NAMESPACE}
    kind = {key: named[key] for key in ("apiVersion", "kind")}
    cluster.api.create({**kind, "metadata": metadata, "spec": {"template": {"spec": spec}}})


def paces(checkers: Checkers, process: Process) -> None:
    budget(checkers.cluster, podsPerMinute=1)


def keeps_few(checkers: Checkers, process: Process) -> None:
    """Of one Machine there are as many records as may be, and one of another: no more have room."""
    record(checkers.cluster, "worker-2", 0)
    for number in range(recordview.PER_TARGET):
        record(checkers.cluster, "worker-1", number + 1)
    process.rooms = tuple(shelf.keeping(SHELF) if room.name == shelf.ROOM.name else room for room in ROOMS)


def record(cluster: Cluster, node: str, number: int) -> None:
    """Of a repair that is over."""
    name, uid = machine_of(node), cluster.api.get(MACHINE, machine_of(node), NAMESPACE)["metadata"]["uid"]
    target = {"group": MACHINE.group, "kind": MACHINE.kind, "namespace": NAMESPACE, "name": name, "uid": uid}
    episode, detected = f"{number:010}", f"2027-01-01T{number:02}:00:00Z"
    tree = {
        "apiVersion": "node-remedy.dev/v1alpha1",
        "kind": INCIDENT.kind,
        "metadata": {"name": f"{node}-{episode}", "namespace": SYSTEM},
        "spec": {"target": target, "node": {"name": node}, "episode": episode, "detected": detected},
    }
    cluster.api.create(tree)
    body = {"status": {"outcome": "recovered", "closed": detected, "steps": []}}
    cluster.api.patch(INCIDENT, f"{node}-{episode}", SYSTEM, body, "merge", subresource="status")


def nothing(checkers: Checkers, process: Process) -> None:
    """As it is."""


def budget(cluster: Cluster, **spec: Any) -> None:
    version = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget"}
    cluster.api.create({**version, "metadata": {"name": "cluster"}, "spec": spec})


def notes(cluster: Cluster, wanted: dict[str, str | None]) -> None:
    """On the host of the first node."""
    cluster.api.patch(HOST, host_of("worker-1"), NAMESPACE, {"metadata": {"annotations": wanted}}, "merge")


# --- stories ---------------------------------------------------------------------------------------------------------


def hangs(cluster: Cluster) -> None:
    """A node hangs while its workload writes on; its check has it repaired."""
    cluster.servers["worker-1"].hang()


def member_hangs(cluster: Cluster) -> None:
    """The same with a node whose Machine somebody would replace."""
    cluster.servers["worker-4"].hang()


def reset_by_hand(cluster: Cluster) -> None:
    """A node hangs, and somebody resets it by hand long after its owner was asked."""
    hangs(cluster)
    cluster.agenda.after(15 * MINUTE_MS, partial(repaired, cluster, "worker-1"))


def comes_back(cluster: Cluster) -> None:
    """A node is cut off, its Machine is marked, and it comes back before anybody may begin with its host."""
    server = cluster.servers["worker-1"]
    server.link(False)
    cluster.agenda.after(6 * MINUTE_MS, lambda: server.link(True))
    cluster.agenda.after(12 * MINUTE_MS, lambda: notes(cluster, {names.HOST_PAUSED: None}))


def loses_its_node(cluster: Cluster) -> None:
    """A node panics, and a person deletes its Node: whether it is gone is read live before anything is concluded."""
    cluster.servers["worker-2"].panic()
    cluster.agenda.after(MINUTE_MS, partial(deleted, cluster, NODE, "worker-2"))


def member_dies(cluster: Cluster) -> None:
    """A server never boots again: power cycles do not help, and its Machine is deleted, so that somebody replaces it.

    Installed anew it runs on another board.
    """
    server = cluster.servers["worker-4"]
    server.is_broken = True
    server.hang()
    cluster.api.subscribe(cluster.dialect.machine, partial(another_board, cluster))


def member_fails(cluster: Cluster) -> None:
    """The provider of a Machine has given it up, and it has no node that could be fenced: it is deleted at once."""
    machine, status = machine_of("worker-4"), {"phase": "Failed", "nodeRef": None}
    cluster.api.patch(cluster.dialect.machine, machine, NAMESPACE, {"status": status}, "merge", subresource="status")


def another_board(cluster: Cluster, event: WatchEvent) -> None:
    if event.type == "DELETED":
        cluster.servers["worker-4"].is_broken = False


def asked(cluster: Cluster) -> None:
    """A node hangs, and a person marks its Machine."""
    hangs(cluster)
    cluster.agenda.after(2 * MINUTE_MS, lambda: cluster.mark("worker-1"))


def spared(cluster: Cluster) -> None:
    """A machine whose pods may not go is to be replaced: that is told, until somebody takes it into his own hands."""
    cluster.provider.grow(1)
    cluster.agenda.after(4 * MINUTE_MS, lambda: cluster.move("database-0"))
    cluster.agenda.after(5 * MINUTE_MS, lambda: kept(cluster))
    cluster.agenda.after(18 * MINUTE_MS, lambda: taken(cluster))


def kept(cluster: Cluster) -> None:
    cluster.api.create(objects.disruption_budget(DATABASE))
    cluster.ask_owner("pool-1")


def taken(cluster: Cluster) -> None:
    body = {"metadata": {"annotations": {names.OWNER: None}}}
    cluster.api.patch(MACHINE, "pool-1", NAMESPACE, body, "merge")
    cluster.api.delete(DISRUPTION_BUDGET, DATABASE, objects.WORKLOAD)


def forced(cluster: Cluster) -> None:
    """Somebody removes the finalizer of a Metal3Remediation as soon as its node is out of service, and it is gone."""
    hangs(cluster)
    cluster.remediate("worker-1", strategy="reboot", freeBy="taint")
    cluster.api.subscribe(NODE, partial(tainted, cluster))


def tainted(cluster: Cluster, event: WatchEvent) -> None:
    if event.type == "MODIFIED" and is_out_of_service(event.tree):
        cluster.agenda.after(30_000, lambda: wipe(cluster))


def wipe(cluster: Cluster) -> None:
    cluster.recall("worker-1")
    if cluster.api.find(REMEDIATION, machine_of("worker-1"), NAMESPACE) is not None:
        body = {"metadata": {"finalizers": None}}
        cluster.api.patch(REMEDIATION, machine_of("worker-1"), NAMESPACE, body, "merge")


STORIES: dict[str, Scene] = {
    "owner_asked": (reset_by_hand, partial(stage, asks_owners)),
    "marked": (hangs, partial(stage, marks, dialect=OPENSHIFT)),
    "mark_taken_back": (comes_back, partial(stage, marks_paused, dialect=OPENSHIFT)),
    "node_deleted": (loses_its_node, partial(stage, marks_and_forgives, dialect=OPENSHIFT)),
    "deleted": (member_hangs, partial(stage, deletes, dialect=OPENSHIFT)),
    "power_cycled": (hangs, partial(stage, power_cycles)),
    "escalated": (member_dies, partial(stage, escalates, dialect=OPENSHIFT)),
    "fenced_in_vain": (member_dies, partial(stage, fences, dialect=OPENSHIFT)),
    "without_a_node": (member_fails, partial(stage, fences, dialect=OPENSHIFT)),
    "paced": (asked, partial(stage, paces)),
    "spared": (spared, partial(stage, nothing)),
    "forced": (forced, partial(stage, nothing)),
    "written_up": (asked, partial(stage, keeps_few)),
}
