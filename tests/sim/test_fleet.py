"""A management cluster with two workload clusters in virtual time: stories, seeds, and checkers that were seen red."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from noderemedy.core import clusters, machines
from noderemedy.core.fencing import results
from noderemedy.core.healthcheck.facts import VerdictFact, verdict_ref
from noderemedy.core.metal3 import annotation
from noderemedy.engine import cache
from noderemedy.model.healthcheck import Healthy, Unjudged
from noderemedy.model.ids import BUDGET, MACHINE, NODE, Kind, ref
from noderemedy.model.reasons import CannotSeeCluster
from noderemedy.model.room import Present
from noderemedy.model.run import Power
from noderemedy.sim import objects, remotes
from noderemedy.sim.fleet import Fleet, machine_of
from noderemedy.sim.fleetrun import MINUTE_MS, FleetCheckers, calm_fleet, simulate_fleet
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.outlets import Outlet, Outlets, Sort
from noderemedy.sim.process import Process
from noderemedy.sim.server import Server

SICK = "worker-1"
DEFINITION = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
READ, API = cache.Cache.read, remotes.Remotes.api
Stage = tuple[Fleet, FleetCheckers, Process]


@pytest.fixture
def stage() -> Stage:
    """Two quiet clusters with nodes of the same names, and one manager."""
    return calm_fleet()


def run(fleet: Fleet, minutes: float) -> None:
    fleet.agenda.run_until(fleet.agenda.now_ms + round(minutes * MINUTE_MS))


def hang_and_mark(fleet: Fleet, cluster: str) -> None:
    fleet.workloads[cluster].servers[SICK].hang()
    run(fleet, 2)
    fleet.mark(cluster, SICK)


def verdict(process: Process, cluster: str) -> VerdictFact:
    entry = process.engine.cache.read(verdict_ref(ref(MACHINE, machine_of(cluster, SICK), NAMESPACE)))
    assert isinstance(entry, Present)
    found: VerdictFact = entry.obj
    return found


def fenced(fleet: Fleet) -> dict[str, Server]:
    """The server with a BMC of each cluster: all have one name."""
    return {name: list(workload.servers.values())[-1] for name, workload in fleet.workloads.items()}


def fence(fleet: Fleet, checkers: FleetCheckers, process: Process, cluster: str = "east") -> None:
    fenced(fleet)[cluster].hang()
    run(fleet, 2)
    checkers.fences.ask(cluster)
    run(fleet, 25)
    checkers.at_rest()


def uid(fleet: Fleet, cluster: str) -> str:
    return str(fleet.workloads[cluster].api.get(NODE, SICK)["metadata"]["uid"])


# --- stories -----------------------------------------------------------------------------------------------------


def test_a_node_is_freed_in_its_own_cluster(stage: Stage) -> None:
    """The node of the same name in the other cluster, which has the same providerID, is not touched."""
    fleet, checkers, _ = stage
    before = {name: uid(fleet, name) for name in fleet.workloads}
    hang_and_mark(fleet, "east")
    run(fleet, 20)
    checkers.at_rest()

    assert [("east", SICK)] == checkers.deleted
    assert before["east"] != uid(fleet, "east")
    assert before["west"] == uid(fleet, "west")
    assert [] == checkers.violations


@pytest.mark.parametrize("silently", [False, True])
def test_an_outage_makes_nobody_sick_and_delays_no_other_cluster(stage: Stage, silently: bool) -> None:
    """East is away for half an hour: nothing begins there, west is repaired meanwhile, and east afterwards."""
    fleet, checkers, process = stage
    fleet.workloads["east"].go_away(silently=silently)
    run(fleet, 2)
    hang_and_mark(fleet, "east")
    hang_and_mark(fleet, "west")
    run(fleet, 26)
    found = verdict(process, "east").verdict
    checkers.look_at_verdicts([process])
    meanwhile = list(checkers.deleted)
    fleet.workloads["east"].come_back()
    run(fleet, 20)
    checkers.at_rest()

    assert Unjudged((CannotSeeCluster(f"{NAMESPACE}/east", "no answer"),)) == found
    assert [("west", SICK)] == meanwhile
    assert [("west", SICK), ("east", SICK)] == checkers.deleted
    assert isinstance(verdict(process, "east").verdict, Healthy)
    assert [] == checkers.violations
    assert {"ClusterOutOfSight"} <= {type(notice.reason).__name__ for notice in process.notices}


def test_an_outage_in_the_middle_of_a_repair_is_waited_out(stage: Stage) -> None:
    """The host is off when its cluster goes away: the node is freed when it is back, on a proof of then."""
    fleet, checkers, _ = stage
    hang_and_mark(fleet, "east")
    run(fleet, 0.3)
    fleet.workloads["east"].go_away(silently=False)
    was_held = fleet.is_held("east", SICK)
    run(fleet, 10)
    before = list(checkers.deleted)
    fleet.workloads["east"].come_back()
    run(fleet, 20)
    checkers.at_rest()

    assert was_held
    assert ([], [("east", SICK)]) == (before, checkers.deleted)
    assert [] == checkers.violations


def test_a_restart_without_the_secret_calls_no_node_missing(stage: Stage) -> None:
    """The secret is gone when a manager starts: the cluster is out of sight, and its machines are not sick."""
    fleet, checkers, process = stage
    process.kill()
    secret = fleet.api.get(remotes.SECRET, "east-kubeconfig", NAMESPACE)
    fleet.api.delete(remotes.SECRET, "east-kubeconfig", NAMESPACE)
    process.start()
    run(fleet, 20)
    lost = verdict(process, "east").verdict
    meta = {"name": secret["metadata"]["name"], "namespace": NAMESPACE}
    fleet.api.create({**secret, "metadata": meta})
    run(fleet, 5)

    assert isinstance(lost, Unjudged)
    assert "there is no secret" in lost.because[0].note()
    assert isinstance(verdict(process, "east").verdict, Healthy)
    assert [] == checkers.violations


@pytest.mark.parametrize("is_new", [False, True])
def test_a_cluster_that_goes_makes_nobody_sick(stage: Stage, is_new: bool) -> None:
    """Its Machines stay, its nodes are well in their own API; so for who watched, and for a manager that begins."""
    fleet, checkers, process = stage
    if is_new:
        process.kill()
    fleet.orphan("east")
    if is_new:
        process.start()
    run(fleet, 30)
    checkers.look_at_verdicts([process])
    gone = verdict(process, "east").verdict
    hang_and_mark(fleet, "west")
    run(fleet, 20)
    fleet.restore("east")
    run(fleet, 5)
    checkers.at_rest()

    assert Unjudged((CannotSeeCluster(f"{NAMESPACE}/east", machines.NOT_THERE),)) == gone
    assert [("west", SICK)] == checkers.deleted
    assert isinstance(verdict(process, "east").verdict, Healthy)
    assert [] == checkers.violations


def test_the_definition_of_clusters_goes(stage: Stage) -> None:
    """All Clusters go with it: no node of theirs is looked for at home."""
    fleet, checkers, process = stage
    fleet.api.delete(DEFINITION, objects.cluster_definition()["metadata"]["name"])
    for name in fleet.workloads:
        fleet.orphaned[name] = fleet.agenda.now_ms
    run(fleet, 30)
    checkers.look_at_verdicts([process])

    assert Unjudged((CannotSeeCluster(f"{NAMESPACE}/east", machines.NOT_THERE),)) == verdict(process, "east").verdict
    assert [] == checkers.violations


@pytest.mark.parametrize("cluster", ["east", "west"])
def test_a_node_is_fenced_in_its_own_cluster(stage: Stage, cluster: str) -> None:
    """By taint in one, by its deletion in the other; the node of the same name there is on all the time."""
    fleet, checkers, process = stage
    boots = {name: server.boots for name, server in fenced(fleet).items()}
    fence(fleet, checkers, process, cluster)

    assert [] == checkers.violations
    assert {cluster} == {name for name, server in fenced(fleet).items() if server.boots > boots[name]}
    assert {"east": "TaintOutOfService on FencedOff", "west": "DeleteNode on FencedOff"}[cluster] in process.freed_by


def test_an_outage_in_the_middle_of_a_fence_is_waited_out(stage: Stage) -> None:
    """Its cluster goes away while the node is switched off: nothing is freed blindly, and it ends when it is back."""
    fleet, checkers, process = stage
    fenced(fleet)["east"].hang()
    run(fleet, 2)
    checkers.fences.ask("east")
    fleet.outlets.on_done.append(lambda sent: fleet.workloads["east"].go_away(silently=False))
    run(fleet, 10)
    was_off = not fenced(fleet)["east"].has_power
    before = dict(process.freed_by)
    fleet.outlets.on_done.clear()
    fleet.workloads["east"].come_back()
    run(fleet, 25)
    checkers.at_rest()

    assert (True, {}) == (was_off, before)
    assert ["TaintOutOfService on FencedOff"] == list(process.freed_by)
    assert [] == checkers.violations


def budget_status(fleet: Fleet) -> tuple[int, int, str, list[str]]:
    """What the RemediationBudget says: unhealthy, total, what blocks, and where."""
    found = fleet.api.get(BUDGET, "cluster")["status"]
    (blocked,) = [one for one in found["conditions"] if one["type"] == "Blocked"]
    where = [line.partition(": ")[0] for line in blocked["message"].splitlines()]
    return found["unhealthy"], found["total"], blocked["reason"], where


def test_a_sick_cluster_in_which_nobody_asks_counts(stage: Stage) -> None:
    """Two nodes of three are cut off for two minutes, and no machine is marked: the budget says so, then cools down."""
    fleet, checkers, _ = stage
    fleet.api.create({"apiVersion": "node-remedy.dev/v1alpha1", "kind": BUDGET.kind, "metadata": {"name": "cluster"}})
    run(fleet, 1)
    well = budget_status(fleet)
    cut = [fleet.workloads["east"].servers[name] for name in (SICK, "worker-2")]
    for server in cut:
        server.link(is_linked=False)
    run(fleet, 2)
    sick = budget_status(fleet)
    for server in cut:
        server.link(is_linked=True)
    run(fleet, 2)
    cools = budget_status(fleet)
    run(fleet, 10)

    assert (0, 6, "NotBlocked", []) == well
    assert (2, 6, "TooManyNodesUnhealthy", [f"{NAMESPACE}/east"]) == sick
    assert ("CooldownAfterStorm", "NotBlocked") == (cools[2], budget_status(fleet)[2])
    assert [] == checkers.violations


# --- seeds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1, 5))
def test_seeds(seed: int) -> None:
    """Hours of sick nodes, outages, lost secrets and Clusters, and crashes, in rough weather: no rule is broken."""
    report = simulate_fleet(seed)

    assert () == report.violations
    assert {"S1 node of a cluster", "blind hold", "freed", "blind verdict", "L1 repaired"} <= set(report.checks)
    assert {"S7 device of a cluster", "S1 taint of a cluster", "L2 fence of a cluster"} <= set(report.checks)


def test_a_secret_that_is_lost_while_a_node_is_deleted_and_a_manager_begins() -> None:
    """Seed 88: the cluster was taken for one that manages itself, and its other nodes for missing."""
    assert () == simulate_fleet(88).violations


@pytest.mark.soak
def test_a_power_cycle_that_begins_anew_is_not_over() -> None:
    """Nobody saw when the host went off, so it came on, and was held once more (seed 154, the checker's mistake)."""
    assert () == simulate_fleet(154).violations


def test_the_same_seed_is_the_same_run() -> None:
    """Determinism: all that managers saw and did."""
    assert simulate_fleet(9, hours=1).digest == simulate_fleet(9, hours=1).digest


# --- every checker was seen red ----------------------------------------------------------------------------------


def never_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process never notices that a cluster is away."""
    monkeypatch.setattr(remotes.Link, "_lose", lambda self, cut: None)


def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests go to the other cluster."""

    def api(self: remotes.Remotes, cluster: str) -> Any:
        swapped = {f"{NAMESPACE}/east": f"{NAMESPACE}/west", f"{NAMESPACE}/west": f"{NAMESPACE}/east"}
        return API(self, swapped.get(cluster, cluster))

    monkeypatch.setattr(remotes.Remotes, "api", api)


def all_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks where a cluster's nodes are."""
    monkeypatch.setattr(machines, "remote_of", lambda key, machine, reader: None)


def unfreed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off and held is enough: the Node is left as it is, and the host released."""
    monkeypatch.setitem(annotation.TABLE, annotation.row(1, 1, 0, 1), annotation.Says.UNMARK)


def mixed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The document of one cluster names the BMC of the other."""
    add = Outlets.add

    def crossed(self: Outlets, server: Server, sort: Sort, **places: Any) -> Outlet:
        other = {"east.bmc.example": "west.bmc.example", "west.bmc.example": "east.bmc.example"}
        return add(self, server, sort, **{**places, "ip": other[places["ip"]]})

    monkeypatch.setattr(Outlets, "add", crossed)


def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody takes the exit code of "on" for that of "off", and the device does nothing."""
    monkeypatch.setitem(results.STATUS_SAYS, 0, Power.OFF)
    monkeypatch.setattr(Outlets, "switch", lambda self, outlet, is_on: None)


def outage(fleet: Fleet, checkers: FleetCheckers, process: Process) -> None:
    fleet.workloads["east"].servers[SICK].hang()
    run(fleet, 4)
    fleet.workloads["east"].go_away(silently=False)
    run(fleet, 3)
    fleet.mark("east", SICK)
    run(fleet, 20)
    checkers.look_at_verdicts([process])


def repair(fleet: Fleet, checkers: FleetCheckers, process: Process) -> None:
    hang_and_mark(fleet, "east")
    run(fleet, 20)
    checkers.at_rest()


def orphaned(fleet: Fleet, checkers: FleetCheckers, process: Process) -> None:
    fleet.orphan("east")
    run(fleet, 20)
    checkers.look_at_verdicts([process])


def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no Cluster has its nodes here."""
    monkeypatch.setattr(machines, "unfollowed", lambda cluster, reader: None)
    monkeypatch.setattr(clusters, "left_behind", lambda at, reader: None)


SABOTAGES: dict[
    str, tuple[Callable[[pytest.MonkeyPatch], None], Callable[[Fleet, FleetCheckers, Process], None], str]
] = {
    "never lost": (never_lost, outage, "blind"),
    "requests go elsewhere": (elsewhere, repair, "L1"),
    "without a Cluster all is here": (at_home, orphaned, "blind"),
    "every node is here": (all_here, repair, "L1"),
    "released before it was freed": (unfreed, repair, "freed"),
    "the BMC of the other cluster": (mixed_up, fence, "S7"),
    "a device that is believed": (believed, fence, "S1"),
    "fences go elsewhere": (elsewhere, fence, "L3"),
}


@pytest.mark.parametrize("name", SABOTAGES)
def test_each_checker_sees_its_sabotage(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm the run breaks the rule that is named."""
    harm, story, rule = SABOTAGES[name]
    harm(monkeypatch)
    fleet, checkers, process = calm_fleet()
    story(fleet, checkers, process)

    assert rule in {line.split(": ")[1] for line in checkers.violations}


@pytest.mark.parametrize("story", [outage, orphaned, repair, fence])
def test_without_a_sabotage_nothing_is_broken(story: Callable[[Fleet, FleetCheckers, Process], None]) -> None:
    """The stories of the sabotages themselves break no rule."""
    fleet, checkers, process = calm_fleet()
    story(fleet, checkers, process)

    assert [] == checkers.violations
