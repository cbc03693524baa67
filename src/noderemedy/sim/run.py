"""One simulated run from one seed: trouble for some hours, then a healed world, then the checkers' last word."""

from __future__ import annotations

import random
from collections import Counter

from msgspec import Struct

from noderemedy.model.ids import MACHINE, REMEDIATION
from noderemedy.model.remediation import Phase
from noderemedy.sim.aftermath import Aftermath
from noderemedy.sim.bearing import Bearing
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.bystanders import Bystanders
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.clouds import cloud_of
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.clusterpauses import ClusterPauses, found_cluster
from noderemedy.sim.conduct import Conduct
from noderemedy.sim.definitions import Definitions
from noderemedy.sim.dialects import dialect_of
from noderemedy.sim.extras import Extras, extras_of
from noderemedy.sim.garbling import Garbling
from noderemedy.sim.hospital import hospital_of
from noderemedy.sim.machinesets import DeletionCheckers, machine_set_of
from noderemedy.sim.othercontrollers import OtherControllers
from noderemedy.sim.pacecheckers import pace_of
from noderemedy.sim.pages import pages_of
from noderemedy.sim.permitting import Permitting
from noderemedy.sim.plugs import Plugs
from noderemedy.sim.policies import FIRST, PolicyCheckers, PolicyTroubles
from noderemedy.sim.process import Process
from noderemedy.sim.requested import requested_of
from noderemedy.sim.requesting import spoken
from noderemedy.sim.resuming import Resuming
from noderemedy.sim.rights import Rights
from noderemedy.sim.shelves import rooms_of
from noderemedy.sim.sleepers import sleepers
from noderemedy.sim.switches import Switches
from noderemedy.sim.troubles import MINUTE_MS, Troubles
from noderemedy.sim.versions import Versions, managers_of
from noderemedy.sim.weather import CALM, ROUGH, Weather
from noderemedy.sim.wires import wires_of

HEALING_MS = 45 * MINUTE_MS
LATE_MS = 35 * MINUTE_MS  # more, where much was held up: one repair after the other, or an owner that never comes
IDLE_MS = 10 * MINUTE_MS
Healer = Garbling | ClusterPauses | OtherControllers | Rights


class Report(Struct, frozen=True):
    """What a run showed. The same seed gives the same digest, on any machine and under any hash seed."""

    seed: int
    nodes: int
    hours: float
    violations: tuple[str, ...]
    digest: str
    events: int
    freed: int
    checks: dict[str, int]
    troubles: dict[str, int]
    reasons: dict[str, int]  # that people were told
    actions: dict[str, int]
    decided: dict[str, int]  # reasons of all decisions, quiet ones too
    freed_by: dict[str, int]  # what frees a workload, and on which proof
    weather: dict[str, int]  # of all requests and watches
    phases: dict[str, int]  # from phase to phase of Metal3Remediations
    outlived: dict[str, int]  # faults and weather that a success followed
    leaders: dict[str, int]  # steps of repairs in which another manager took over

    @property
    def ok(self) -> bool:
        return not self.violations


def simulate(
    seed: int,
    *,
    nodes: int = 20,
    hours: float = 6.0,
    weather: Weather = ROUGH,
    trouble_every_ms: int = 4 * MINUTE_MS,
    managers: int = 2,
    extras: Extras | None = None,
) -> Report:
    """Run one seed. Everything that happens is drawn from it."""
    chance = random.Random(seed)
    extras = extras_of(seed, nodes) if extras is None else extras
    cluster = cluster_of(seed, nodes, chance.getrandbits(64), extras)
    checkers = Checkers(cluster)
    budgeting = Budgeting(checkers, rulers=3 if nodes >= 10 else 0)
    requested = requested_of(checkers)
    policy_checkers = PolicyCheckers(cluster, checkers.ran, checkers.complain)
    hospital = hospital_of(seed, cluster, checkers)
    machine_set = machine_set_of(seed, checkers)
    wires = wires_of(seed, cluster)
    cloud = cloud_of(seed, cluster) if machine_set is None else None
    processes = managers_of(seed, cluster, managers, weather.over(nodes), chance)
    checkers.watch(processes)
    pace_of(seed, checkers, processes)
    conduct = Conduct(checkers, processes)
    Bearing(budgeting, processes)
    Permitting(budgeting, processes)
    if machine_set is not None:
        DeletionCheckers(machine_set, budgeting, processes)
    aftermath = Aftermath(cluster, processes)
    Resuming(budgeting, processes)
    for number, process in enumerate(processes):
        process.rooms = rooms_of(seed)
        process.pages = pages_of(seed, number)
        process.start()
    cluster.agenda.run_until(2 * MINUTE_MS)
    troubles = Troubles(cluster, processes, chance.getrandbits(64))
    Versions(aftermath, troubles)
    for part in (hospital, cloud, machine_set, wires):
        if part is not None:
            troubles.add(part.troubles())
    policies = PolicyTroubles(cluster, another(chance))
    bystanders = Bystanders(cluster, processes, another(chance))
    switches, definitions = Switches(cluster, another(chance)), Definitions(cluster, another(chance))
    plugs = Plugs(cluster, another(chance))
    for people in (policies, bystanders, switches, definitions, plugs):
        troubles.add(people.troubles())
    mending = worsen(seed, extras, troubles)
    end_ms = round(hours * 60 * MINUTE_MS)
    troubles.plan(end_ms, trouble_every_ms)
    cluster.agenda.run_until(end_ms)
    plugs.heal()
    if wires is not None:
        wires.heal()
    for healer in (troubles, definitions, *mending, bystanders, switches):
        healer.heal()
    for person in (cloud, machine_set, requested):
        if person is not None:
            person.heal()
    budgeting.call()
    policies.mend()
    settle(cluster, end_ms + HEALING_MS, is_late=bool(mending))
    policy_checkers.at_rest()
    conduct.at_rest()
    rest(cluster, checkers, processes)
    for ward in (hospital, requested):
        if ward is not None:
            ward.checkers.at_rest()
    return report(seed, nodes, hours, cluster, checkers, troubles, aftermath)


def worsen(seed: int, extras: Extras, troubles: Troubles) -> list[Healer]:
    """What only this history has, and has to be ended when the world is healed."""
    if extras.deaths:
        troubles.deaths = random.Random(f"when it dies {seed}")
    found: list[Healer] = []
    if extras.rights:
        found.append(Rights(troubles.processes, random.Random(f"whose rights {seed}")))
    if extras.garbled:
        found.append(Garbling(troubles.cluster, random.Random(f"what is garbled {seed}"), FIRST))
    if extras.clusters:
        found.append(ClusterPauses(troubles.cluster, random.Random(f"who is paused {seed}")))
    if extras.others:
        found.append(OtherControllers(troubles.cluster, random.Random(f"whose check {seed}")))
    for one in found:
        troubles.add(one.troubles())
    return found


def settle(cluster: Cluster, until_ms: int, *, is_late: bool) -> None:
    """Time for all that is under way to come to its end."""
    cluster.agenda.run_until(until_ms)
    if is_late or is_handed_over(cluster):
        cluster.agenda.run_until(until_ms + LATE_MS)


def is_handed_over(cluster: Cluster) -> bool:
    """Whether an owner is asked for a Machine still: it counts as not healthy, and its repair as not over."""
    return any(
        one.get("status", {}).get("phase") == Phase.DELETING_MACHINE.value for one in cluster.api.list(REMEDIATION)
    )


def another(chance: random.Random) -> random.Random:
    """A chance for somebody who draws for himself."""
    return random.Random(chance.getrandbits(64))


def cluster_of(seed: int, nodes: int, chance: int, extras: Extras) -> Cluster:
    """In the words of this seed, with one check over all machines."""
    requesting = extras.requesting
    dialect = spoken(dialect_of(seed, nodes), requesting)
    cluster = Cluster(
        nodes=nodes,
        seed=chance,
        replicas=min(nodes, 10),
        tracks_fields=False,
        dialect=dialect,
        requesting=requesting,
    )
    cluster.api.create(dialect.say(cluster.check(FIRST, "40%")))
    if extras.clusters and dialect.machine == MACHINE:
        found_cluster(cluster)
    return cluster


def rest(cluster: Cluster, checkers: Checkers, processes: list[Process]) -> None:
    """The world is healed: it must be in good order, and stay as it is without a single write (L9)."""
    alive = [process for process in processes if process.is_alive]
    checkers.at_rest(alive[0].engine if alive else None)
    before = sum(len(process.writes) for process in processes)
    cluster.agenda.run_until(cluster.agenda.now_ms + IDLE_MS)
    checkers.ran["L9 idle"] += 1
    written = sum(len(process.writes) for process in processes) - before
    if written:
        checkers.complain("L9", f"{written} writes in ten idle minutes")
    nobody_sleeps(checkers, processes)
    lists_are_whole(checkers, processes)


def nobody_sleeps(checkers: Checkers, processes: list[Process]) -> None:
    """Whoever leads has nothing left to do that it was not woken for."""
    for process in processes:
        if process.is_settled:
            checkers.ran["L6 awake"] += 1
            for line in sleepers(process.engine, process.now()):
                checkers.complain("L6", line)


def lists_are_whole(checkers: Checkers, processes: list[Process]) -> None:
    """S4: nobody counts the sick over half a list that is made again; gates that the whole one closes stood open."""
    for process in processes:
        if pages := process.met["list in pages"]:
            checkers.ran["S4 whole lists"] += pages
        for kind in process.mixtures:
            checkers.complain("S4", f"half a list of {kind} was seen beside the old one")


def report(
    seed: int,
    nodes: int,
    hours: float,
    cluster: Cluster,
    checkers: Checkers,
    troubles: Troubles,
    aftermath: Aftermath,
) -> Report:
    processes = aftermath.processes
    notices = [notice for process in processes for notice in process.notices]
    actions = Counter(name for process in processes for name in process.acted)
    decided, freed_by, weather = Counter[str](), Counter[str](), Counter[str]()
    for process in processes:
        decided.update(process.decided)
        freed_by.update(process.freed_by)
        weather.update(process.met)
    digest = " ".join(process.trace.digest()[:16] for process in processes)
    return Report(
        seed=seed,
        nodes=nodes,
        hours=hours,
        violations=tuple(checkers.violations),
        digest=digest,
        events=cluster.agenda.done,
        freed=checkers.ran["S1 node"],
        checks=dict(sorted(checkers.ran.items())),
        troubles=dict(sorted(troubles.seen.items())),
        reasons=dict(sorted(Counter(type(notice.reason).__name__ for notice in notices).items())),
        actions=dict(sorted(actions.items())),
        decided=dict(sorted(decided.items())),
        freed_by=dict(sorted(freed_by.items())),
        weather=dict(sorted(weather.items())),
        phases=dict(sorted(checkers.remediations.phases.items())),
        outlived=dict(sorted(aftermath.outlived(troubles.touched).items())),
        leaders=dict(sorted(aftermath.leaders.items())),
    )


def calm(seed: int, nodes: int) -> tuple[Cluster, Checkers, Process]:
    """A quiet cluster with one manager, for scripted stories."""
    cluster = Cluster(nodes=nodes, seed=seed, replicas=min(nodes, 6), tracks_fields=False)
    checkers = Checkers(cluster)
    process = Process("manager-1", cluster, weather=CALM, seed=seed)
    process.start()
    cluster.agenda.run_until(2 * MINUTE_MS)
    return cluster, checkers, process
