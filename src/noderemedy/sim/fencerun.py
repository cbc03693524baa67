"""One simulated history of a cluster that is fenced: trouble for some hours, then a healed world, then the last word.

Beside `run.py`, which has the worlds of health checks and Metal3: here devices, documents and Jobs are what fails.
Every third history has its agents run as Jobs, some on the node itself; every second one has strict documents, most
have drills, half have pods that belong to their node and pods without volumes, and a quarter has owners who replace
what fencing does not help.
"""

from __future__ import annotations

import random
from collections import Counter

from noderemedy.model.time import Span
from noderemedy.sim.aftermath import Aftermath
from noderemedy.sim.attendants import attendants_of
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.clusterpauses import ClusterPauses, found_cluster
from noderemedy.sim.escalating import Escalating, chance_of
from noderemedy.sim.escalationcheckers import EscalationCheckers
from noderemedy.sim.extras import Extras, fence_extras_of
from noderemedy.sim.fencebudget import FenceBudget
from noderemedy.sim.fencecheckers import FenceCheckers
from noderemedy.sim.fenced import CHECK, VOLUMES, Fenced, fenced_cluster
from noderemedy.sim.fencetroubles import FenceTroubles
from noderemedy.sim.garbling import FenceGarbling
from noderemedy.sim.jobrunner import Jobs
from noderemedy.sim.onerepair import OneRepair
from noderemedy.sim.pacecheckers import pace_of
from noderemedy.sim.pages import pages_of
from noderemedy.sim.process import Process
from noderemedy.sim.rights import Rights
from noderemedy.sim.run import Report, lists_are_whole, nobody_sleeps, report
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.versions import Versions, managers_of
from noderemedy.sim.weather import ROUGH, Weather
from noderemedy.wire.http import Request

CALLS = 3  # how often people look at what they are called for
CALLED_MS, SETTLED_MS, IDLE_MS = 30 * MINUTE_MS, 160 * MINUTE_MS, 10 * MINUTE_MS
JOBS_EVERY, STRICT_EVERY, DRILLS_EVERY = 3, 2, 4
DRILLS = Span(30 * MINUTE_MS)
Healer = FenceGarbling | ClusterPauses | Rights


def simulate_fencing(
    seed: int,
    *,
    nodes: int = 20,
    hours: float = 6.0,
    weather: Weather = ROUGH,
    trouble_every_ms: int = 3 * MINUTE_MS,
    managers: int = 2,
    extras: Extras | None = None,
) -> Report:
    """Run one seed. Everything that happens is drawn from it."""
    extras = fence_extras_of(seed) if extras is None else extras
    chance = random.Random(f"fencing {seed}")
    is_by_jobs = seed % JOBS_EVERY == 0
    cluster = fenced_cluster(nodes, chance.getrandbits(64), VOLUMES if is_by_jobs else VOLUMES[:1])
    if extras.clusters:
        found_cluster(cluster)
    checkers = Checkers(cluster)
    FenceBudget(checkers, rulers=3)
    free_by = chance.choice(("", "pods", "node"))
    disks = seed // JOBS_EVERY % 2 if is_by_jobs else None
    owners = chance_of(seed)
    strategy = "alert" if owners is None else "escalate"
    fenced = Fenced(cluster, is_strict=seed % STRICT_EVERY == 0, free_by=free_by, disks=disks, strategy=strategy)
    escalation_checkers = EscalationCheckers(checkers)
    escalating = None if owners is None else Escalating(fenced, seed, owners)
    jobs = Jobs(cluster, chance.getrandbits(64))
    if is_by_jobs:
        cluster.outlets.jobs = jobs
    processes = managers_of(seed, cluster, managers, weather, chance)
    checkers.watch(processes)
    fence_checkers = FenceCheckers(checkers, fenced, processes)
    OneRepair(checkers, processes)
    aftermath = Aftermath(cluster, processes)
    pace_of(seed, checkers, processes)
    attendants = attendants_of(seed, checkers, processes)
    for number, process in enumerate(processes):
        process.pages = pages_of(seed, number)
        process.drills = DRILLS if seed % DRILLS_EVERY else None
        process.start()
    cluster.agenda.run_until(2 * MINUTE_MS)
    troubles = FenceTroubles(fenced, jobs, processes, chance.getrandbits(64))
    Versions(aftermath, troubles)
    if escalating is not None:
        troubles.add(escalating.pool.troubles())
    mending = worsen(seed, extras, troubles)
    end_ms = round(hours * 60 * MINUTE_MS)
    troubles.plan(end_ms, trouble_every_ms)
    cluster.agenda.run_until(end_ms)
    for healer in (*mending, troubles):
        healer.heal()
    if escalating is not None:
        escalating.pool.heal()
    for times in range(1, CALLS + 1):
        cluster.agenda.run_until(end_ms + times * CALLED_MS)
        troubles.call_people()
        if escalating is not None:
            escalating.pool.call()
    cluster.agenda.run_until(end_ms + SETTLED_MS)
    escalation_checkers.at_rest()
    if attendants is not None:
        attendants.at_rest()
    rest(cluster, checkers, fence_checkers, processes)
    troubles.seen.update(Counter(f"job: {fate}" for fate in jobs.met))
    troubles.touched.update({fate: {"": first_ms} for fate, first_ms in jobs.first_ms.items()})
    found = report(seed, nodes, hours, cluster, checkers, troubles, aftermath)
    found.phases.update(dict(sorted(fence_checkers.passed.items())))
    return found


def worsen(seed: int, extras: Extras, troubles: FenceTroubles) -> list[Healer]:
    """What only this history has, and has to be ended when the world is healed."""
    found: list[Healer] = []
    if extras.rights:
        found.append(Rights(troubles.processes, random.Random(f"whose rights, fencing {seed}")))
    if extras.garbled:
        found.append(FenceGarbling(troubles.cluster, random.Random(f"what is garbled, fencing {seed}"), CHECK))
    if extras.clusters:
        found.append(ClusterPauses(troubles.cluster, random.Random(f"who is paused, fencing {seed}")))
    for one in found:
        troubles.add(one.troubles())
    return found


def rest(cluster: Cluster, checkers: Checkers, of_fences: FenceCheckers, processes: list[Process]) -> None:
    """Everything is in service, and stays as it is without a single write (L9)."""
    of_fences.at_rest()
    checkers.successors.at_rest()
    checkers.workload_runs()
    since = cluster.agenda.now_ms
    cluster.agenda.run_until(since + IDLE_MS)
    checkers.ran["L9 idle"] += 1
    written = [request for process in processes for at, request in process.writes if at >= since]
    if written := [one for one in written if not is_drill(one)]:
        checkers.complain("L9", f"{len(written)} writes in ten idle minutes: {written[-1].method} {written[-1].path}")
    nobody_sleeps(checkers, processes)
    lists_are_whole(checkers, processes)


def is_drill(request: Request) -> bool:
    """A drill whose agents run as Jobs: it asks on its schedule, however idle the world is."""
    return request.path.endswith("/jobs") and b'"name":"drill-' in request.body
