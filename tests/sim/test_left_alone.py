"""Histories with objects that cannot be read, paused Clusters, skipped Machines and other controllers; seen red.

In each the checkers find nothing; without the rule of the product that the trouble is about they do.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.sabotage.running import Harm, item_to, set_to, together
from tests.sim.test_permitting import EVERYBODY_IS_A_TARGET

from noderemedy.core.budget import spec
from noderemedy.core.healthcheck import controllers
from noderemedy.engine.loop import Engine
from noderemedy.model.cluster import Cluster as ClusterObject
from noderemedy.model.decision import NOTHING
from noderemedy.model.ids import BUDGET, CLUSTER, HEALTH_CHECK, HOST, MACHINE, NODE, Kind
from noderemedy.model.time import Span
from noderemedy.sim import objects as trees
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.clusterpauses import ClusterPauses, found_cluster
from noderemedy.sim.extras import PLAIN, Extras, extras_of, fence_extras_of
from noderemedy.sim.fencerun import simulate_fencing
from noderemedy.sim.garbling import GARBLED, Garbling, is_garbled
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.obstacles import Obstacles
from noderemedy.sim.othercontrollers import OtherControllers, is_anothers
from noderemedy.sim.policies import FIRST
from noderemedy.sim.requesting import requesting_of
from noderemedy.sim.run import Report, another, simulate
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names, objects, shapes
from noderemedy.wire.objects import Undecodable, convert

DENSE_MS = MINUTE_MS // 2
NODE_NAME = "worker-1"


# --- histories ---------------------------------------------------------------------------------------------------


def plain(seed: int, extras: Extras) -> Report:
    return simulate(seed, nodes=10, hours=1.0, extras=extras, trouble_every_ms=DENSE_MS)


def fencing(seed: int, extras: Extras) -> Report:
    return simulate_fencing(seed, nodes=10, hours=1.0, extras=extras, trouble_every_ms=DENSE_MS)


def never_paused(shape: shapes.ClusterShape) -> ClusterObject:
    return replace(objects.cluster(shape), paused=False)


A_CLUSTER_NEVER_SAYS_SO = item_to(objects.READERS, CLUSTER, (shapes.ClusterShape, never_paused))
WHAT_WAS_SEEN_LAST_COUNTS = set_to(Engine, "unreadable", lambda *_: None)
NOBODY_ELSE_WRITES = together(
    set_to(controllers, "OTHERS_COUNT_FOR", Span(0)), set_to(controllers, "is_since_we_look", lambda *_: False)
)
A_BUDGET_THAT_CANNOT_BE_READ_IS_NONE = together(
    set_to(spec, "Unreadable", type("Nothing", (), {})), set_to(Engine, "_blind", lambda self, key, now: NOTHING)
)
# name -> the history, its seed, what it has, the harm, and the rule that is broken then
SABOTAGES: dict[str, tuple[Callable[[int, Extras], Report], int, Extras, Harm, str]] = {
    "a paused Cluster": (plain, 12, Extras(clusters=True), A_CLUSTER_NEVER_SAYS_SO, "S8"),
    "a paused Cluster, and fences": (fencing, 7, Extras(clusters=True), A_CLUSTER_NEVER_SAYS_SO, "S8"),
    "a Machine that is not to be remediated": (plain, 23, Extras(clusters=True), EVERYBODY_IS_A_TARGET, "S8"),
    "another controller": (plain, 15, Extras(others=True), NOBODY_ELSE_WRITES, "S8"),
    "what cannot be read": (plain, 5, Extras(garbled=True), WHAT_WAS_SEEN_LAST_COUNTS, "S9"),
    "what cannot be read, and fences": (fencing, 2, Extras(garbled=True), WHAT_WAS_SEEN_LAST_COUNTS, "S9"),
    "a budget that cannot be read": (plain, 5, Extras(garbled=True), A_BUDGET_THAT_CANNOT_BE_READ_IS_NONE, "S3"),
}


@pytest.mark.parametrize("name", SABOTAGES)
def test_histories_see_what_is_not_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trouble is drawn and nothing is broken; without the product's rule its checker complains."""
    history, seed, extras, harm, rule = SABOTAGES[name]
    assert () == history(seed, extras).violations
    harm(monkeypatch)

    assert any(f"ms: {rule}" in line for line in history(seed, extras).violations)


def test_a_storm_does_not_end_where_a_node_cannot_be_read() -> None:
    """Five of twelve were sick; one of them did not decode any more, and a repair began (S4)."""
    extras = Extras(garbled=True, clusters=True)

    assert () == simulate_fencing(21, nodes=12, hours=2.0, extras=extras, trouble_every_ms=MINUTE_MS).violations


@pytest.mark.parametrize("seed", [5036, 5049])
def test_histories_with_much_that_cannot_be_read(seed: int) -> None:
    """5049: a held host was not in flight any more when its Machine did not decode, and a third one was held (S3).

    5036: two of the three Machines of a MachineSet hung, more than its check may have repaired, and nobody came (L1).
    """
    extras = replace(extras_of(seed, 12), garbled=True, clusters=True)

    assert () == simulate(seed, nodes=12, hours=2.0, extras=extras, trouble_every_ms=MINUTE_MS).violations


@pytest.mark.soak
@pytest.mark.parametrize("seed", [7064, 7084, 7402, 7434, 7478])
def test_more_histories_with_much_that_cannot_be_read(seed: int) -> None:
    """7064: an owner was asked to replace the machine of a Node that did not decode (S9).

    7084: pods were deleted for a request that a person tore away before its next phase, and no record said so (S15).
    False alarms: what a second leader wrote to a request that had gone (7402, S8), a hold of a Machine that did not
    decode any more before that was told (7434, S15), figures of the budget after a long wait for an owner (7478, L8).
    """
    is_refused = {"rights": seed % 4 == 1, "others": seed % 5 == 2}
    extras = Extras(requesting=requesting_of(seed, 24), garbled=True, clusters=True, **is_refused)

    assert () == simulate(seed, nodes=24, hours=2.0, extras=extras, trouble_every_ms=MINUTE_MS).violations


@pytest.mark.soak
@pytest.mark.parametrize("seed", [7155, 7201, 7282, 7369, 8019])
def test_more_histories_of_fences_with_much_that_cannot_be_read(seed: int) -> None:
    """7155: a manager that had come 60 ms before dropped the record of a chain whose Cluster was paused (S8).

    7201: a FenceRemediation that somebody had deleted went, as its fence could not be read any more (S8).
    7282: an owner was asked for a machine that had got its node while its Cluster was paused (S14), and a document that
    could not be read did not hold its plugs, which another one named (S7). 7369: a chain of remedies began when a fence
    had been given up, and a person's word let that go on (S2). 8019: one began beside the hold of a fence that had been
    given up, on a host that could not be read (S2).
    """
    extras = Extras(garbled=True, clusters=True)

    assert () == simulate_fencing(seed, nodes=24, hours=2.0, extras=extras, trouble_every_ms=MINUTE_MS).violations


def test_a_quarter_of_the_fencing_histories_each() -> None:
    """By chances of their own; many have none of it, and are as they were."""
    found = [fence_extras_of(seed) for seed in range(1, 2001)]

    for what in ("garbled", "clusters"):
        assert 430 < sum(getattr(one, what) for one in found) < 570
    assert PLAIN in found


# --- the troubles one by one --------------------------------------------------------------------------------------


def a_cluster() -> Cluster:
    cluster = Cluster(nodes=3, seed=7, replicas=1, tracks_fields=False)
    cluster.api.create(trees.marking_check(FIRST, "40%", cluster.durations))
    return cluster


def run(cluster: Cluster, minutes: int) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + minutes * MINUTE_MS)


GARBLINGS: dict[str, tuple[Kind, str]] = {
    "node_garbled": (NODE, ""),
    "machine_garbled": (MACHINE, NAMESPACE),
    "host_garbled": (HOST, NAMESPACE),
    "check_garbled": (HEALTH_CHECK, NAMESPACE),
}


@pytest.mark.parametrize("trouble", GARBLINGS)
def test_what_is_garbled_cannot_be_read_for_a_while(trouble: str) -> None:
    """One object of its kind does not decode; others write to it all the same, and later it is mended."""
    cluster = a_cluster()
    kind, namespace = GARBLINGS[trouble]
    garbling = Garbling(cluster, another(cluster.chance), FIRST)
    getattr(garbling, trouble)()
    (garbled,) = [tree for tree in cluster.api.list(kind, namespace) if is_garbled(tree)]

    with pytest.raises(Undecodable, match=GARBLED):
        convert(kind, garbled)
    body = {"metadata": {"annotations": {"example.com/other": "text"}}}
    assert is_garbled(cluster.api.patch(kind, garbled["metadata"]["name"], namespace, body, "merge"))
    run(cluster, 13)
    assert [] == [tree for tree in cluster.api.list(kind, namespace) if is_garbled(tree)]


def test_what_is_not_there_is_not_garbled() -> None:
    """No request, and no budget: nothing happens."""
    cluster = a_cluster()
    garbling = Garbling(cluster, another(cluster.chance), FIRST)
    before = cluster.api.resource_version
    garbling.remediation_garbled()
    garbling.budget_garbled()

    assert (before, []) == (cluster.api.resource_version, cluster.api.list(BUDGET))


def test_a_pause_of_the_cluster_holds_everybody_up_until_it_is_over() -> None:
    """Bounds of liveness do not count that time, for any node; a garbled host holds up its own node only."""
    cluster = a_cluster()
    found_cluster(cluster)
    obstacles = Obstacles(cluster)
    pauses = ClusterPauses(cluster, another(cluster.chance))
    pauses.cluster_paused()
    run(cluster, 2)
    assert 2 * MINUTE_MS == obstacles.held_up(NODE_NAME, 0) == obstacles.held_up("worker-2", 0)
    pauses.heal()
    host = cluster.api.get(HOST, host_of(NODE_NAME), NAMESPACE)
    garbled = {**host["metadata"], "annotations": {GARBLED: []}}
    cluster.api.store_unjudged({**host, "metadata": garbled})
    run(cluster, 3)

    assert (5 * MINUTE_MS, 2 * MINUTE_MS) == tuple(obstacles.held_up(name, 0) for name in (NODE_NAME, "worker-2"))
    assert 3 * MINUTE_MS == obstacles.held_up(NODE_NAME, 2 * MINUTE_MS)


def test_a_skipped_machine_says_so_for_a_while() -> None:
    """And not for ever."""
    cluster = a_cluster()
    cluster.servers[NODE_NAME].hang()
    ClusterPauses(cluster, another(cluster.chance)).machine_skipped()
    machine = cluster.api.get(MACHINE, machine_of(NODE_NAME), NAMESPACE)
    assert names.SKIP_REMEDIATION in machine["metadata"]["annotations"]
    run(cluster, 16)

    left = cluster.api.get(MACHINE, machine_of(NODE_NAME), NAMESPACE)
    assert names.SKIP_REMEDIATION not in left["metadata"]["annotations"]


def test_another_controller_comes_and_goes() -> None:
    """It writes the status under its own name; when it was stopped, a person says that the check is ours."""
    cluster = a_cluster()
    OtherControllers(cluster, another(cluster.chance)).check_taken_over()
    taken = cluster.api.get(HEALTH_CHECK, FIRST, NAMESPACE)
    writers = convert(HEALTH_CHECK, taken).obj.other_writers
    assert (True, ["somebody-elses-controller"]) == (is_anothers(taken), [one.manager for one in writers])
    run(cluster, 16)

    left = cluster.api.get(HEALTH_CHECK, FIRST, NAMESPACE)
    assert (False, True) == (is_anothers(left), convert(HEALTH_CHECK, left).obj.governs)
