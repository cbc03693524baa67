"""Machines of a management cluster: their nodes are in APIs of their own, which may be away, and names repeat there."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_machine, a_node, ago, later

from noderemedy.core import clusters, machines
from noderemedy.core.healthcheck import checks, specs, status, verdicts
from noderemedy.core.healthcheck.facts import verdict_ref
from noderemedy.core.healthcheck.remediationview import in_sight_since
from noderemedy.core.machines import NOT_THERE
from noderemedy.core.metal3 import annotation
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import Action, PublishCheckStatus
from noderemedy.model.checkstatus import Told
from noderemedy.model.cluster import Cluster
from noderemedy.model.healthcheck import Criterion, Dialect, HealthCheck, Healthy, Unhealthy, Unjudged, Verdict, Waiting
from noderemedy.model.ids import CLUSTER, HEALTH_CHECK, MACHINE, NODE, Ref, ref
from noderemedy.model.node import Condition
from noderemedy.model.outcome import Done, Effect, Key, Seen
from noderemedy.model.reasons import CannotSeeCluster, ClusterOutOfSight, NodeMissing, NodeStartupTimedOut, Reason
from noderemedy.model.remote import Remote, Sight, remote_ref
from noderemedy.model.room import Absent, Present, Unseen
from noderemedy.model.selector import Selector
from noderemedy.model.time import Now, Span
from noderemedy.rooms import watched

ROOMS = (specs.ROOM, verdicts.ROOM, checks.ROOM, status.ROOM, clusters.ROOM, annotation.ROOM)
EAST, WEST = "fleet/east", "fleet/west"
BY_READY = Criterion("Ready", "Unknown", Span(300_000))
BY_MACHINE = Criterion("NodeHealthy", "Unknown", Span(300_000))
CHECK = HealthCheck(
    uid="check",
    dialect=Dialect.SEED,
    selector=Selector(match_labels=(("role", "worker"),)),
    node_criteria=(BY_READY,),
    machine_criteria=(BY_MACHINE,),
)
UP = tuple(Condition(name, "True", ago(90_000)) for name in ("ControlPlaneInitialized", "InfrastructureReady"))


def machine_at(cluster: str) -> Ref:
    return ref(MACHINE, f"worker-of-{cluster.rpartition('/')[2]}", "fleet")


def node_ref(cluster: str) -> Ref:
    return Ref(cluster, NODE, "", "node-0")


class Fleet:
    """A management cluster with two workload clusters; each has one machine, whose node is called node-0 in both."""

    def __init__(self, **machine: Any) -> None:
        self.engine = Engine(ROOMS)
        self.now: Now = NOW
        self.version = 100
        self.reads: list[Ref] = []
        for kind in watched(ROOMS):
            self.engine.listing(kind, self.now)
            self.engine.listed(kind, self.now)
        self.put(ref(HEALTH_CHECK, "workers", "fleet"), CHECK)
        for cluster in (EAST, WEST):
            name = cluster.rpartition("/")[2]
            built = replace(a_machine(uid=name, node_name="node-0", provider_id="", host=None), cluster_name=name)
            self.remote(cluster, Sight.UNKNOWN)
            self.put(ref(CLUSTER, name, "fleet"), Cluster(f"uid-{name}", conditions=UP))
            self.put(machine_at(cluster), replace(built, labels=(("role", "worker"),), created=ago(9_999), **machine))

    def put(self, at: Ref, obj: Any) -> None:
        self.version += 1
        self.engine.seen(Seen(at, obj.uid, str(self.version), obj), self.now)

    def remote(self, cluster: str, sight: Sight, why: str = "") -> None:
        """What a program tells of a cluster, in its order: first the nodes, then that they are complete, or are not."""
        if sight is Sight.SEEN:
            self.engine.listing(NODE, self.now, cluster)
            self.node(cluster, "True")
            self.engine.listed(NODE, self.now, cluster)
        else:
            self.engine.lost(NODE, self.now, cluster)
        found = Remote(sight, why, self.now.mono)
        self.engine.seen(Seen(remote_ref(*cluster.split("/")), "", "", found), self.now)

    def node(self, cluster: str, ready: str) -> None:
        condition = Condition("Ready", ready, self.now.wall)
        self.put(node_ref(cluster), replace(a_node(f"node-of-{cluster}"), provider_id="", conditions=(condition,)))

    def cluster_goes(self, cluster: str) -> None:
        """What a program tells when a Cluster is gone."""
        at = ref(CLUSTER, cluster.rpartition("/")[2], "fleet")
        self.engine.gone(Seen(at, f"uid-{at.name}", "999", None), self.now)
        fact = remote_ref(at.namespace, at.name)
        left = clusters.left_behind(at, self.engine.cache)
        if left:
            self.engine.seen(Seen(fact, "", "", left), self.now)
        else:
            self.engine.gone(Seen(fact, "", "", None), self.now)

    def step(self, seconds: float = 0) -> tuple[Effect, ...]:
        self.now = later(seconds, self.now)
        output = self.engine.step(self.now, 1)
        for effect in output.effects:
            self.engine.ended(effect, self.done(effect.action), self.now)
        return output.effects + (self.step() if output.effects else ())

    def done(self, action: Action) -> Done:
        """A live read finds nothing; a status is written."""
        if not isinstance(action, PublishCheckStatus):
            self.reads.append(action.ref)
            return Done(self.now.mono, gone=True)
        entry = self.engine.cache.read(action.ref)
        assert isinstance(entry, Present)
        self.version += 1
        written = replace(entry.obj, status=action.status)
        return Done(self.now.mono, Seen(action.ref, written.uid, str(self.version), written))

    def verdict(self, cluster: str) -> Verdict:
        entry = self.engine.cache.read(verdict_ref(machine_at(cluster)))
        assert isinstance(entry, Present)
        verdict: Verdict = entry.obj.verdict
        return verdict

    def told(self, cluster: str) -> tuple[Reason, ...]:
        decision = self.engine.decisions.get(Key("cluster", ref(CLUSTER, cluster.rpartition("/")[2], "fleet")))
        return decision.because if decision else ()


# --- where a node is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sight", list(Sight))
def test_a_node_is_in_its_cluster_unless_that_manages_itself(sight: Sight) -> None:
    """Until it is known that a cluster manages itself, its nodes are not taken for those of this one."""
    fleet = Fleet()
    fleet.remote(EAST, sight)
    entry = fleet.engine.cache.read(machine_at(EAST))
    assert isinstance(entry, Present)

    found = machines.node_at(machine_at(EAST), entry.obj, fleet.engine.cache)

    assert node_ref("" if sight is Sight.HOME else EAST) == found


def test_a_machine_of_no_cluster_has_its_node_here() -> None:
    """And one that names a cluster where there is no such kind: plain Metal3 without Clusters."""
    fleet = Fleet()
    stranger = replace(a_machine(node_name="node-0"), cluster_name="north")
    fleet.engine.unserved(CLUSTER, fleet.now)

    assert node_ref("") == machines.node_at(machine_at(EAST), stranger, fleet.engine.cache)
    assert node_ref("") == machines.node_at(machine_at(EAST), a_machine(node_name="node-0"), fleet.engine.cache)
    assert machines.node_at(machine_at(EAST), a_machine(node_name=None), fleet.engine.cache) is None


def test_a_cluster_that_nobody_looks_into_has_its_nodes_here() -> None:
    """Files are one cluster: its Cluster is there, and nobody said where its Nodes are."""
    fleet = Fleet()
    stranger = replace(a_machine(node_name="node-0"), cluster_name="north")
    fleet.put(ref(CLUSTER, "north", "fleet"), Cluster("uid-north"))

    assert node_ref("") == machines.node_at(machine_at(EAST), stranger, fleet.engine.cache)


def test_a_machine_whose_cluster_is_not_there_is_out_of_sight() -> None:
    """Its Nodes may be well, in an API that nobody knows: it is not judged, and its node is not missed here."""
    fleet = Fleet()
    at = ref(MACHINE, "worker-of-north", "fleet")
    fleet.put(
        at, replace(a_machine(uid="north", node_name="node-0"), cluster_name="north", labels=(("role", "worker"),))
    )
    fleet.step()
    entry = fleet.engine.cache.read(verdict_ref(at))

    assert [] == [read for read in fleet.reads if read.kind == NODE]
    assert isinstance(entry, Present)
    assert Unjudged((CannotSeeCluster("fleet/north", NOT_THERE),)) == entry.obj.verdict
    assert "its Cluster is not there" in entry.obj.verdict.because[0].note()
    assert "restore it" in entry.obj.verdict.because[0].note()


def test_a_machine_whose_cluster_cannot_be_read_is_out_of_sight() -> None:
    """Somebody wrote nonsense into the Cluster, and nobody has looked where its Nodes are."""
    fleet = Fleet()
    stranger = replace(a_machine(node_name="node-0"), cluster_name="north")
    fleet.engine.unreadable(ref(CLUSTER, "north", "fleet"), "uid-north", "7", "nonsense", fleet.now)

    assert node_ref("fleet/north") == machines.node_at(machine_at(EAST), stranger, fleet.engine.cache)


@pytest.mark.parametrize("sight", [Sight.HOME, Sight.SEEN])
def test_a_cluster_that_goes_leaves_its_machines_out_of_sight(sight: Sight) -> None:
    """Wherever its Nodes were: while a Machine names it nobody is called missing, also if the definition goes too."""
    fleet = Fleet()
    fleet.node("", "True")
    fleet.remote(EAST, sight)
    fleet.step()
    fleet.cluster_goes(EAST)
    fleet.step()
    gone = fleet.verdict(EAST)
    fleet.engine.unserved(CLUSTER, fleet.now)
    entry = fleet.engine.cache.read(machine_at(EAST))
    assert isinstance(entry, Present)
    fleet.put(machine_at(EAST), replace(entry.obj, phase="Running"))
    fleet.step(1)

    assert Unjudged((CannotSeeCluster(EAST, NOT_THERE),)) == gone == fleet.verdict(EAST)
    assert isinstance(fleet.engine.cache.read(node_ref("")), Present)
    assert [] == [read for read in fleet.reads if read.kind == NODE]


def test_a_cluster_that_goes_last_leaves_nothing() -> None:
    """Where no Machine names it any more there is nothing to remember."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.SEEN)
    fleet.engine.gone(Seen(machine_at(EAST), "east", "999", None), fleet.now)
    fleet.cluster_goes(EAST)
    fleet.step()

    assert isinstance(fleet.engine.cache.read(remote_ref(*EAST.split("/"))), Absent)
    assert () == fleet.told(EAST)


def test_equal_names_do_not_mix() -> None:
    """A node that falls silent makes the machine of its own cluster sick, and wakes no other."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.SEEN)
    fleet.remote(WEST, Sight.SEEN)
    fleet.step()
    fleet.node(WEST, "Unknown")
    fleet.step()
    fleet.step(301)

    assert isinstance(fleet.verdict(WEST), Unhealthy)
    assert isinstance(fleet.verdict(EAST), Healthy)
    assert (machine_at(WEST),) == machines.at_node(node_ref(WEST), fleet.engine.cache)
    assert () == machines.at_node(node_ref(""), fleet.engine.cache)


def test_a_node_of_this_cluster_concerns_its_own_machines_only() -> None:
    """A machine here and one of a workload cluster name nodes of one name."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.HOME)
    fleet.remote(WEST, Sight.SEEN)

    assert (machine_at(EAST),) == machines.at_node(node_ref(""), fleet.engine.cache)


# --- what cannot be seen -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sight", [Sight.UNKNOWN, Sight.LOST])
def test_a_cluster_out_of_sight_is_neither_healthy_nor_sick(sight: Sight) -> None:
    """Its machines are not judged, whatever was known before and however long it lasts; nothing is read either."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.SEEN)
    fleet.node(EAST, "Unknown")
    fleet.step()
    assert isinstance(fleet.verdict(EAST), Waiting)
    fleet.remote(EAST, sight, "no answer")
    fleet.step()
    fleet.step(9_999)

    assert Unjudged((CannotSeeCluster(EAST, "no answer"),)) == fleet.verdict(EAST)
    assert not fleet.verdict(EAST).counts_as_healthy
    assert [] == fleet.reads


def test_conditions_of_a_machine_do_not_count_while_its_cluster_is_away() -> None:
    """Its manager calls every machine Unknown when it cannot reach the cluster: that is no sickness."""
    fleet = Fleet(conditions=(Condition("NodeHealthy", "Unknown", ago(9_999)),))
    fleet.remote(EAST, Sight.LOST, "no answer")
    fleet.remote(WEST, Sight.SEEN)
    fleet.step()

    assert isinstance(fleet.verdict(EAST), Unjudged)
    assert isinstance(fleet.verdict(WEST), Unhealthy)


def test_one_cluster_out_of_sight_delays_no_other() -> None:
    """The engine stays in step, and the other cluster's machine is judged in its own time."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.LOST, "no answer")
    fleet.remote(WEST, Sight.SEEN)
    fleet.node(WEST, "Unknown")
    fleet.step()
    fleet.step(301)

    assert fleet.engine.is_synced
    assert isinstance(fleet.verdict(WEST), Unhealthy)


def test_back_in_sight_it_is_judged_at_once() -> None:
    """What a cluster says when it is back decides, and not what it said before."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.SEEN)
    fleet.node(EAST, "Unknown")
    fleet.remote(EAST, Sight.LOST, "no answer")
    fleet.step()
    fleet.now = later(600, fleet.now)
    fleet.remote(EAST, Sight.SEEN)
    fleet.step()

    assert isinstance(fleet.verdict(EAST), Healthy)


def test_a_missing_node_is_read_in_its_own_cluster() -> None:
    """The live read goes to the workload cluster; only its word makes the node missing."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.SEEN)
    fleet.engine.gone(Seen(node_ref(EAST), f"node-of-{EAST}", "900", None), fleet.now)
    fleet.step()

    assert [node_ref(EAST)] == fleet.reads
    assert Unhealthy(fleet.now.wall, (NodeMissing("node-0"),)) == fleet.verdict(EAST)


def test_before_its_control_plane_is_up_only_nodes_cannot_be_seen() -> None:
    """A machine without a node is judged by its start; one with a node is not judged."""
    young, older = Fleet(node_name=None), Fleet()
    for fleet in (young, older):
        fleet.remote(EAST, Sight.YOUNG, "its control plane is not initialised")
        fleet.step()
    started = young.verdict(EAST)

    assert isinstance(started, Unhealthy)
    assert [NodeStartupTimedOut] == [type(reason) for reason in started.because]
    assert Unjudged((CannotSeeCluster(EAST, "its control plane is not initialised"),)) == older.verdict(EAST)


def test_entries_of_a_cluster_out_of_sight_are_unseen() -> None:
    """Not even what was known is shown, and absence means nothing; back in sight it is there again."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.SEEN)
    cache = fleet.engine.cache
    known, missing = node_ref(EAST), replace(node_ref(EAST), name="no-such-node")
    before = [type(cache.read(known)), type(cache.read(missing))]
    fleet.engine.lost(NODE, fleet.now, EAST)
    away = [cache.read(known), cache.read(missing)]
    fleet.engine.listed(NODE, fleet.now, EAST)

    assert [Present, Absent] == before
    assert [Unseen(), Unseen()] == away
    assert isinstance(cache.read(known), Present)


@pytest.mark.parametrize(
    ("sight", "seconds"),
    [(Sight.HOME, 0), (Sight.SEEN, 100), (Sight.LOST, None), (Sight.UNKNOWN, None), (Sight.YOUNG, None)],
)
def test_a_new_repair_waits_until_its_cluster_was_watched_long_enough(sight: Sight, seconds: int | None) -> None:
    """What counts is how long all that a machine is judged by has been in sight, here and there."""
    fleet = Fleet()
    fleet.step()
    fleet.step(100)
    fleet.remote(EAST, sight)
    entry = fleet.engine.cache.read(machine_at(EAST))
    assert isinstance(entry, Present)

    found = in_sight_since(machine_at(EAST), entry.obj, fleet.engine.cache)

    assert (later(seconds).mono if seconds is not None else None) == found


# --- on the check ------------------------------------------------------------------------------------------------


def conditions(fleet: Fleet) -> dict[str, tuple[str, str]]:
    """What the status of the check says now."""
    fleet.step()
    entry = fleet.engine.cache.read(ref(HEALTH_CHECK, "workers", "fleet"))
    assert isinstance(entry, Present)
    return {one.type: (one.status, one.message) for one in entry.obj.status.conditions if isinstance(one, Told)}


def test_a_check_says_that_it_cannot_see() -> None:
    """A condition of its own while a cluster is away, and taken back; right after the start it is no news."""
    fleet = Fleet()
    fleet.remote(WEST, Sight.SEEN)
    started = conditions(fleet)
    fleet.remote(EAST, Sight.LOST, "no answer")
    away = conditions(fleet)
    fleet.remote(EAST, Sight.SEEN)
    back = conditions(fleet)

    assert {} == started
    assert ("True", "1 of its machines cannot be judged: their cluster is out of sight") == away["CannotSee"]
    assert ("False", "") == back["CannotSee"]


# --- who says it -------------------------------------------------------------------------------------------------


def test_the_cluster_says_it_aloud_after_a_while() -> None:
    """Quietly at first; after five minutes out of sight it is an alert, on the Cluster and once."""
    fleet = Fleet()
    fleet.remote(EAST, Sight.LOST, "no answer")
    fleet.step()
    first = fleet.told(EAST)
    fleet.step(299)
    later_on = fleet.told(EAST)
    fleet.step(1)

    assert (CannotSeeCluster(EAST, "no answer"),) == first == later_on
    assert (ClusterOutOfSight(EAST, "no answer"),) == fleet.told(EAST)


@pytest.mark.parametrize("sight", [Sight.HOME, Sight.SEEN])
def test_a_cluster_in_sight_says_nothing(sight: Sight) -> None:
    """Nothing to tell where nothing is wrong."""
    fleet = Fleet()
    fleet.remote(EAST, sight)
    fleet.step(600)

    assert () == fleet.told(EAST)


@pytest.mark.parametrize("sight", [Sight.UNKNOWN, Sight.YOUNG])
def test_a_cluster_that_was_not_tried_yet_is_no_alert(sight: Sight) -> None:
    """However long its control plane takes."""
    fleet = Fleet()
    fleet.remote(EAST, sight, "not yet")
    fleet.step()
    fleet.step(9_999)

    assert (CannotSeeCluster(EAST, "not yet"),) == fleet.told(EAST)


# --- a cluster without a kubeconfig --------------------------------------------------------------------------------


def machines_here(*deleted: bool, here: int = 0) -> Engine:
    """Machines of east without a secret: whether we deleted their Nodes, and how many Nodes are in this API."""
    fleet = Fleet()
    fleet.engine.gone(Seen(machine_at(EAST), "east", "999", None), NOW)
    for number, is_deleted in enumerate(deleted):
        built = a_machine(uid=f"m-{number}", node_name=f"node-{number}", provider_id="", host=None)
        at = ref(MACHINE, f"east-{number}", "fleet")
        fleet.put(at, replace(built, cluster_name="east", node_deleted_at=ago(60) if is_deleted else None))
    for number in range(here):
        fleet.put(Ref("", NODE, "", f"node-{number}"), replace(a_node(f"uid-{number}"), provider_id=""))
    return fleet.engine


@pytest.mark.parametrize(
    ("deleted", "here", "sight"),
    [
        ((), 0, Sight.YOUNG),
        ((False,), 1, Sight.HOME),
        ((False, False, False), 1, Sight.HOME),
        ((False, False), 0, Sight.LOST),
        ((True, False), 0, Sight.LOST),  # deleted, but where? The other one would look missing
        ((True, False), 1, Sight.HOME),
        ((True,), 0, Sight.HOME),  # nobody else to ask: its repair goes on
    ],
)
def test_without_a_kubeconfig_a_cluster_is_here_if_its_nodes_are(
    deleted: tuple[bool, ...], here: int, sight: Sight
) -> None:
    """A lost secret must not make all its nodes look missing, also not while one of them is being repaired."""
    engine = machines_here(*deleted, here=here)

    found = clusters.without_secret(ref(CLUSTER, "east", "fleet"), "east-kubeconfig", engine.cache)

    assert sight is found.sight
