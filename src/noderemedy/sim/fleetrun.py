"""One simulated run of a management cluster with workload clusters: trouble for some hours, then the last word.

The checkers here hold what only a fleet can break: nothing begins for a cluster that cannot be seen, none of its
machines is called sick, and nodes of one name in two clusters are two nodes. One node of each cluster is fenced.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Any

from msgspec import Struct

from noderemedy.core.healthcheck.facts import verdict_ref
from noderemedy.model.healthcheck import Unhealthy
from noderemedy.model.ids import HOST, MACHINE, NODE, ref
from noderemedy.model.room import Present
from noderemedy.sim import objects
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.checkers import is_unsafe
from noderemedy.sim.fleet import Fleet, WorkloadCluster, machine_of
from noderemedy.sim.fleetfences import FleetFences
from noderemedy.sim.process import Process
from noderemedy.sim.remotes import GRACE_MS, SECRET
from noderemedy.sim.weather import CALM, ROUGH, Weather
from noderemedy.wire import names

MINUTE_MS = 60_000
BLIND_MS = Weather().silence + GRACE_MS + 2_000  # by then everybody knows that a cluster is away
HEALING_MS = 90 * MINUTE_MS
SICK_FOR_MS = 2 * MINUTE_MS


class FleetReport(Struct, frozen=True):
    """What a run of a fleet showed."""

    seed: int
    violations: tuple[str, ...]
    digest: str
    checks: dict[str, int]
    troubles: dict[str, int]
    repaired: int


class FleetCheckers:
    """Holds what the APIs say against the truth of the servers, cluster by cluster.

    Nobody withdraws a request here, so a host that was held off has freed its Node before it is released.
    """

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.ran: Counter[str] = Counter()
        self.violations: list[str] = []
        self.deleted: list[tuple[str, str]] = []
        self._held: dict[str, str] = {}  # hosts that we hold off, and the uid of the Node of then
        self.fences = FleetFences(fleet, self)
        fleet.api.subscribe(HOST, self._host)
        for workload in fleet.workloads.values():
            workload.api.subscribe(NODE, partial(self._node, workload))

    def complain(self, rule: str, what: str) -> None:
        self.violations.append(f"{self.fleet.agenda.now_ms} ms: {rule}: {what}")

    def _node(self, workload: WorkloadCluster, event: WatchEvent) -> None:
        if event.type != "DELETED":
            return
        name = event.tree["metadata"]["name"]
        boot = event.tree.get("status", {}).get("nodeInfo", {}).get("bootID", "")
        self.ran["S1 node of a cluster"] += 1
        self.deleted.append((workload.name, name))
        if is_unsafe(workload.servers[name], boot):
            self.complain("S1", f"Node {name} of {workload.name} was deleted while boot {boot} can write")
        if not self.fleet.is_held(workload.name, name) and not self.fences.is_fenced(workload.name, name):
            self.complain("S7", f"Node {name} of {workload.name} was deleted, and its own host is not held")

    def _is_begun_anew(self, host: str) -> bool:
        """Whether the mark still stands: nobody saw when it went off (`OffUnseen`), and it is held once more."""
        machine = self.fleet.api.find(MACHINE, host.replace("host-", "machine-", 1), objects.NAMESPACE)
        return machine is not None and names.NEEDS_REMEDIATION in (machine["metadata"].get("annotations") or {})

    def is_blind(self, cluster: str) -> bool:
        return is_out_of_sight(self.fleet, self.fleet.workloads[cluster])

    def _host(self, event: WatchEvent) -> None:
        """A hold that appears: its cluster must be in sight."""
        name = event.tree["metadata"]["name"]
        is_held = names.REBOOT in (event.tree["metadata"].get("annotations") or {})
        if is_held == (name in self._held):
            return
        workload = next(one for one in self.fleet.workloads.values() if name.startswith(f"host-{one.name}-"))
        node = workload.api.find(NODE, name.removeprefix(f"host-{workload.name}-"))
        uid = str(node["metadata"]["uid"]) if node else ""
        if is_held:
            self.ran["blind hold"] += 1
            self._held[name] = uid
            if is_out_of_sight(self.fleet, workload):
                self.complain("blind", f"{name} is held off while nobody can see {workload.name}")
            return
        if self._is_begun_anew(name):
            self._held.pop(name)
            return
        self.ran["freed"] += 1
        if self._held.pop(name) == uid != "":
            self.complain("freed", f"{name} is released, and the Node of {workload.name} was never freed")

    def look_at_verdicts(self, processes: list[Process]) -> None:
        """A cluster that is away has no sick machine. Who stands by judges nobody: what it once said is old."""
        for workload in self.fleet.workloads.values():
            if not is_out_of_sight(self.fleet, workload):
                continue
            for process in [one for one in processes if one.is_alive and not one.is_paused and one.may_act()]:
                self.ran["blind verdict"] += 1
                for node in workload.servers:
                    at = ref(MACHINE, machine_of(workload.name, node), objects.NAMESPACE)
                    entry = process.engine.cache.read(verdict_ref(at))
                    if isinstance(entry, Present) and isinstance(entry.obj.verdict, Unhealthy):
                        self.complain("blind", f"{at} is called sick by {process.name} while nobody can see its node")

    def at_rest(self) -> None:
        """The world is healed: every node is there, every host is on, nothing is left on a machine."""
        for name, workload in self.fleet.workloads.items():
            for node, server in workload.servers.items():
                self.ran["L1 repaired"] += 1
                notes = self.fleet.machine(name, node)["metadata"].get("annotations") or {}
                left = {names.NEEDS_REMEDIATION, names.NODE_BACKUP, names.NODE_DELETED_AT} & set(notes)
                if left or self.fleet.is_held(name, node) or workload.api.find(NODE, node) is None:
                    self.complain("L1", f"{node} of {name} is not whole: {sorted(left)}, {server.kernel.value}")
        self.fences.at_rest()


def is_out_of_sight(fleet: Fleet, workload: WorkloadCluster) -> bool:
    """Whether everybody knows that its API is away, or that its Cluster is not there."""
    since = [workload.away_since] if workload.is_away else []
    if workload.name in fleet.orphaned:
        since.append(fleet.orphaned[workload.name])
    return any(fleet.agenda.now_ms - one > BLIND_MS for one in since)


class FleetTroubles:
    """What goes wrong, drawn from the seed: nodes, APIs, Clusters, secrets and managers."""

    def __init__(self, fleet: Fleet, processes: list[Process], checkers: FleetCheckers, seed: int) -> None:
        self.fleet = fleet
        self.processes = processes
        self.checkers = checkers
        self.chance = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.is_over = False
        self._chance_of_clusters = random.Random(f"clusters {seed}")  # its own: other troubles come as they did
        self._kinds = (self.sick_node, self.outage, self.lost_secret, self.crash)

    def plan(self, end_ms: int, every_ms: int) -> None:
        at = self.fleet.agenda.now_ms
        while (at := at + self.chance.randint(every_ms // 2, every_ms * 3 // 2)) < end_ms:
            self.fleet.agenda.at(at, self.chance.choice(self._kinds))
        for _ in range(self._chance_of_clusters.choice((0, 0, 2))):
            self.fleet.agenda.at(self._chance_of_clusters.randint(self.fleet.agenda.now_ms, end_ms), self.lost_cluster)

    def any_cluster(self) -> WorkloadCluster:
        return self.chance.choice(list(self.fleet.workloads.values()))

    def sick_node(self) -> None:
        """A server hangs or panics; after a while somebody asks for its repair."""
        workload = self.any_cluster()
        server = self.chance.choice(list(workload.servers.values()))
        if not server.is_heard:
            return
        self.seen["sick node"] += 1
        (server.hang if self.chance.random() < 0.5 else server.panic)()
        self.fleet.agenda.after(SICK_FOR_MS, partial(self._mark, workload, server.name))

    def _mark(self, workload: WorkloadCluster, node: str) -> None:
        notes = self.fleet.machine(workload.name, node)["metadata"].get("annotations") or {}
        if workload.servers[node].is_heard or names.NODE_DELETED_AT in notes:
            return
        if self.checkers.fences.is_fenced(workload.name, node):
            self.checkers.fences.ask(workload.name)
        else:
            self.fleet.mark(workload.name, node)

    def outage(self) -> None:
        """The API of a cluster is away for a while, with or without a word."""
        workload = self.any_cluster()
        if workload.is_away:
            return
        self.seen["outage"] += 1
        workload.go_away(silently=self.chance.random() < 0.5)
        lasts = self.chance.randint(1, 30) * MINUTE_MS
        self.fleet.agenda.after(lasts - 1, lambda: self.checkers.look_at_verdicts(self.processes))
        self.fleet.agenda.after(lasts, workload.come_back)

    def lost_secret(self) -> None:
        """Somebody deletes the secret, and a tool makes it again."""
        name = f"{self.any_cluster().name}-kubeconfig"
        secret = self.fleet.api.find(SECRET, name, objects.NAMESPACE)
        if secret is None:
            return
        self.seen["lost secret"] += 1
        self.fleet.api.delete(SECRET, name, objects.NAMESPACE)
        again = objects.kubeconfig(name.removesuffix("-kubeconfig"), secret["data"]["value"])
        self.fleet.agenda.after(10 * MINUTE_MS, partial(self._make, again))

    def lost_cluster(self) -> None:
        """Somebody deletes a Cluster whose Machines stay, and restores it."""
        name = self._chance_of_clusters.choice(list(self.fleet.workloads))
        if name in self.fleet.orphaned:
            return
        self.seen["lost cluster"] += 1
        self.fleet.orphan(name)
        lasts = self._chance_of_clusters.randint(2, 30) * MINUTE_MS
        self.fleet.agenda.after(lasts - 1, lambda: self.checkers.look_at_verdicts(self.processes))
        self.fleet.agenda.after(lasts, partial(self.fleet.restore, name))

    def _make(self, tree: dict[str, Any]) -> None:
        self.fleet.api.create(tree)

    def crash(self) -> None:
        process = self.chance.choice(self.processes)
        if process.is_alive:
            self.seen["crash"] += 1
            process.kill()
            self.fleet.agenda.after(MINUTE_MS, process.start)

    def heal(self) -> None:
        for workload in self.fleet.workloads.values():
            workload.come_back()
            self.fleet.restore(workload.name)
            silent = [server for server in workload.servers.values() if server.has_power and not server.is_heard]
            for server in silent[1:]:
                server.booted()  # by a person: of so many at once the budget lets none begin
        for process in self.processes:
            process.weather = CALM
            process.calm_watches()


def simulate_fleet(seed: int, *, nodes: int = 3, hours: float = 3.0, weather: Weather = ROUGH) -> FleetReport:
    """Run one seed. Everything that happens is drawn from it."""
    chance = random.Random(seed)
    fleet = Fleet(nodes=nodes, seed=chance.getrandbits(64))
    checkers = FleetCheckers(fleet)
    processes = [Process(f"manager-{i}", fleet, weather=weather, seed=chance.getrandbits(64)) for i in (1, 2)]
    for process in processes:
        process.start()
    fleet.agenda.run_until(2 * MINUTE_MS)
    troubles = FleetTroubles(fleet, processes, checkers, chance.getrandbits(64))
    end_ms = round(hours * 60 * MINUTE_MS)
    troubles.plan(end_ms, 5 * MINUTE_MS)
    fleet.agenda.run_until(end_ms)
    troubles.heal()
    fleet.agenda.run_until(end_ms + HEALING_MS)
    checkers.at_rest()
    return FleetReport(
        seed=seed,
        violations=tuple(checkers.violations),
        digest=" ".join(process.trace.digest()[:16] for process in processes),
        checks=dict(sorted(checkers.ran.items())),
        troubles=dict(sorted(troubles.seen.items())),
        repaired=len(checkers.deleted),
    )


def calm_fleet(seed: int = 7) -> tuple[Fleet, FleetCheckers, Process]:
    """A quiet fleet with one manager, for scripted stories."""
    fleet = Fleet(seed=seed)
    checkers = FleetCheckers(fleet)
    process = Process("manager-1", fleet, weather=CALM, seed=seed)
    process.start()
    fleet.agenda.run_until(2 * MINUTE_MS)
    return fleet, checkers, process
