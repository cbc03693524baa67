"""OpenShift's MachineSet: a check that has sick Machines deleted, and whoever makes them anew.

Part of a simulated cluster in OpenShift's words (`dialects.py`). A quarter of its Machines has an owner: who deletes
one of them has its server switched off, its Node removed and the server installed anew under the same names. All others
have none, and must never be deleted.

S3  what managers delete has a place in the budget's ledger, and no more of them go at once than may be in flight.
S14 only a sick Machine is deleted: its node is not ready, or was not a few minutes ago.
S18 only one that somebody replaces is deleted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from noderemedy.model.ids import HOST, NODE, Kind
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.baremetal import wants_power
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import host_of, machine_of
from noderemedy.sim.dialects import OPENSHIFT
from noderemedy.sim.granting import STUCK_MS
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.server import Kernel
from noderemedy.sim.successors import is_ready
from noderemedy.sim.ward import definition
from noderemedy.wire import names
from noderemedy.wire.http import Request

MINUTE_MS = 60_000
OLD_NEWS_MS = 10 * MINUTE_MS  # how late a manager may act on what it has seen: lagging watches, restarts, retries
FINALIZER = "machine.machine.openshift.io"
SET, CHECK = "workers", "deletes"
PERCENT = 60  # of its members that may be sick while its check begins anything
RULERS = 3  # the first nodes, which no MachineSet makes


class MachineSet:
    """Owns some Machines: lets go of those that are deleted once their server is off, and makes them again."""

    def __init__(self, checkers: Checkers, chance: random.Random) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self.chance = chance
        self.kind = self.cluster.dialect.machine
        self.nodes = list(self.cluster.servers)[RULERS : RULERS + len(self.cluster.servers) // 4]
        self.lingers_ms = 0  # how much longer a deletion takes
        self._members = {machine_of(node): node for node in self.nodes}
        self._leaving: set[str] = set()
        self._owner = self._create()
        for node in self.nodes:
            self._adopt(node)
        self.cluster.api.create(self.cluster.dialect.say(self._check()))
        self.cluster.api.subscribe(self.kind, self._machine)
        self.cluster.api.subscribe(NODE, self._joined)

    def _create(self) -> Tree:
        """The object; as Machines name their owner."""
        group, _, version = OPENSHIFT.version.partition("/")
        self.cluster.api.create(definition(Kind(group, "MachineSet"), version))
        named = {"apiVersion": OPENSHIFT.version, "kind": "MachineSet"}
        made = self.cluster.api.create({**named, "metadata": {"name": SET, "namespace": NAMESPACE}})
        return {**named, "name": SET, "uid": made["metadata"]["uid"], "controller": True}

    def _check(self) -> Tree:
        """Without a template and without the annotation: what is sick is deleted."""
        tree = objects.marking_check(CHECK, f"{PERCENT}%", self.cluster.durations)
        tree["metadata"].pop("annotations")
        tree["spec"]["selector"] = {"matchLabels": {names.CLUSTER_NAME: SET}}
        return tree

    def _adopt(self, node: str) -> None:
        """Labels, owner and finalizer, as the MachineSet would have made it."""
        metadata = {
            "labels": {names.CLUSTER_NAME: SET},
            "finalizers": [FINALIZER],
            "ownerReferences": [self._owner],
        }
        self.cluster.api.patch(self.kind, machine_of(node), NAMESPACE, {"metadata": metadata}, "merge")

    # --- a Machine goes, and comes ---------------------------------------------------------------------------------

    def _machine(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        node = self._members.get(meta["name"])
        if node is None:
            return
        if event.type == "DELETED":
            self._leaving.discard(meta["uid"])
            self.checkers.bare.add(node)
            self.cluster.agenda.after(self.chance.randint(1_000, MINUTE_MS), partial(self._make, node))
        elif event.type == "ADDED":
            self.cluster.agenda.after(1, partial(self._adopt_again, node))
        elif "deletionTimestamp" in meta and meta["uid"] not in self._leaving:
            self._leaving.add(meta["uid"])
            delay = self.cluster.durations.deprovision + self.lingers_ms
            self.cluster.agenda.after(delay, partial(self._end, node, meta["uid"]))

    def _end(self, node: str, uid: str) -> None:
        """The server is off, then its Node goes, then the Machine."""
        found = self.cluster.machines(node)
        if not found or found[0]["metadata"]["uid"] != uid:
            return
        server, tree = self.cluster.servers[node], self.cluster.api.find(NODE, node)
        if server.has_power:
            server.power_off()
        if tree is not None:
            server.labels = tree["metadata"].get("labels", {})
            self.cluster.api.delete(NODE, node)
        self.cluster.cordoned.discard(node)  # what a person did to the one that is gone
        kept = [one for one in found[0]["metadata"].get("finalizers", ()) if one != FINALIZER]
        self.cluster.api.patch(self.kind, machine_of(node), NAMESPACE, {"metadata": {"finalizers": kept}}, "merge")

    def _make(self, node: str) -> None:
        if self.cluster.machines(node):
            return
        self.cluster.servers[node].is_broken = False  # installed on a board that works
        tree = self.cluster.dialect.say(objects.machine(machine_of(node), node, host_of(node)))
        tree.pop("status")
        self.cluster.api.create(tree)
        self._name(node)
        self.cluster.baremetal.poke(NAMESPACE, host_of(node))
        self._light(node)

    def _joined(self, event: WatchEvent) -> None:
        node = event.tree["metadata"]["name"]
        if event.type == "ADDED" and node in self.nodes:
            self.cluster.agenda.after(self.cluster.durations.controller, partial(self._name, node))

    def _name(self, node: str) -> None:
        """A Machine names its Node as soon as there is one."""
        if self.cluster.machines(node) and self.cluster.api.find(NODE, node) is not None:
            status = {"phase": "Running", "nodeRef": {"apiVersion": "v1", "kind": "Node", "name": node}}
            body = {"status": status}
            self.cluster.api.patch(self.kind, machine_of(node), NAMESPACE, body, "merge", subresource="status")

    def _light(self, node: str) -> None:
        """What nobody holds off is switched on, as after every installation."""
        server = self.cluster.servers[node]
        if not server.has_power and wants_power(self.cluster.api.get(HOST, host_of(node), NAMESPACE)):
            server.power_on()
        if server.has_power and server.kernel.value == "down":
            self.cluster.agenda.after(self.cluster.durations.boot, partial(self.cluster.baremetal.boot, server))

    def _adopt_again(self, node: str) -> None:
        if self.cluster.machines(node) and "deletionTimestamp" not in self.cluster.machines(node)[0]["metadata"]:
            self._adopt(node)

    # --- what goes wrong -------------------------------------------------------------------------------------------

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.member_hangs, 5), (self.member_dies, 3), (self.deletions_take_long, 2)]

    def member_hangs(self) -> None:
        self.cluster.servers[self.chance.choice(self.nodes)].hang()

    def member_dies(self) -> None:
        """It never boots again, on this board."""
        server = self.cluster.servers[self.chance.choice(self.nodes)]
        server.is_broken = True
        server.panic()

    def deletions_take_long(self) -> None:
        """Longer than anybody counts it as a repair."""
        self.lingers_ms = self.chance.randint(1, 20) * MINUTE_MS
        self.cluster.agenda.after(self.chance.randint(5, 30) * MINUTE_MS, partial(setattr, self, "lingers_ms", 0))

    def heal(self) -> None:
        """Somebody resets by hand what the limit of its check rightly leaves alone, be the rest of the world well.

        Two of three are more than 60%: no manager may begin there (S4), and neither of them comes back by itself. For
        the budget two of twelve are no storm, so whoever is called for one (`budgeting.py`) does not come for them.
        """
        servers = [self.cluster.servers[node] for node in self.nodes]
        down = [server for server in servers if server.kernel in (Kernel.HUNG, Kernel.PANICKED)]
        for server in down[PERCENT * len(servers) // 100 :]:
            server.booted()


class DeletionCheckers:
    """Watches which Machines managers delete."""

    def __init__(self, machine_set: MachineSet, budgeting: Budgeting, processes: list[Process]) -> None:
        self.machine_set = machine_set
        self.budgeting = budgeting
        self.checkers = machine_set.checkers
        self.cluster = machine_set.cluster
        self.deleted: dict[str, int] = {}  # nodes, and when
        self._well_since: dict[str, int] = dict.fromkeys(self.cluster.servers, 0)
        self.cluster.api.subscribe(NODE, self._node)
        self.cluster.api.subscribe(machine_set.kind, self._machine)
        for process in processes:
            process.on_request.append(self._requested)

    def _node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        if event.type == "DELETED" or not is_ready(event.tree):
            self._well_since.pop(name, None)
        else:
            self._well_since.setdefault(name, self.cluster.agenda.now_ms)

    def _machine(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            self.deleted.pop(event.tree["metadata"]["name"], None)

    def _requested(self, process: Process, request: Request) -> None:
        kind, name = request.path.split("/")[-2:]
        found = self.cluster.api.find(self.machine_set.kind, name, NAMESPACE) if kind == "machines" else None
        if request.method == "DELETE" and found is not None and "deletionTimestamp" not in found["metadata"]:
            self._deletes(name, found)

    def _deletes(self, name: str, machine: Tree) -> None:
        now_ms, complain = self.cluster.agenda.now_ms, self.checkers.complain
        self.deleted[name] = now_ms
        self.checkers.ran["S3 deletions"] += 1
        moving = [one for one, at in self.deleted.items() if now_ms - at < STUCK_MS]
        if len(moving) > self.budgeting.in_flight_max:
            complain("S3", f"{len(moving)} Machines are deleted at once: {' '.join(sorted(moving))}")
        if name not in self.budgeting.reserved:
            complain("S3", f"{name} is deleted without a reservation")
        self.checkers.ran["S14 only the sick are deleted"] += 1
        node = machine.get("status", {}).get("nodeRef", {}).get("name", "")
        since = self._well_since.get(node)
        if since is not None and now_ms - since > OLD_NEWS_MS and machine["status"].get("phase") != "Failed":
            complain("S14", f"{name} is deleted, and its node is well since {since} ms")
        self.checkers.ran["S18 deleted where somebody replaces it"] += 1
        if not any(one.get("controller") for one in machine["metadata"].get("ownerReferences", ())):
            complain("S18", f"{name} is deleted, and nobody replaces it")


def machine_set_of(seed: int, checkers: Checkers) -> MachineSet | None:
    """That of this seed's cluster, if its words are OpenShift's."""
    is_openshift = checkers.cluster.dialect is OPENSHIFT
    return MachineSet(checkers, random.Random(f"machine set {seed}")) if is_openshift else None
