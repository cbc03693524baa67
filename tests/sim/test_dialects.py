"""Random histories in OpenShift's words: Machines that are marked, deleted and replaced there, and who checks that."""

from __future__ import annotations

import random
from typing import Any

import pytest

from noderemedy.model.ids import (
    HOST,
    LEASE,
    MACHINE,
    METAL3_MACHINE,
    NODE,
    OPENSHIFT_HEALTH_CHECK,
    OPENSHIFT_MACHINE,
)
from noderemedy.sim import objects
from noderemedy.sim.apiserver import ApiError, User
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.conduct import Conduct
from noderemedy.sim.dialects import CLUSTER_API, METAL3, OPENSHIFT, dialect_of
from noderemedy.sim.extras import PLAIN
from noderemedy.sim.machinesets import DeletionCheckers, MachineSet
from noderemedy.sim.objects import NAMESPACE, SYSTEM
from noderemedy.sim.process import MANAGER, Process
from noderemedy.sim.run import simulate
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM
from noderemedy.wire.http import Request

SEED = 32  # a deletion that was refused, and a power cycle that waited for its claim for ever
OWNED, ALONE = "worker-5", "worker-12"


class Scene:
    """Twenty quiet nodes of OpenShift, five of them a MachineSet's, and one manager."""

    def __init__(self) -> None:
        self.cluster = Cluster(nodes=20, seed=1, tracks_fields=False, dialect=OPENSHIFT)
        self.cluster.api.create(OPENSHIFT.say(objects.marking_check("all", "40%", self.cluster.durations)))
        self.checkers = Checkers(self.cluster)
        budgeting = Budgeting(self.checkers)
        self.set = MachineSet(self.checkers, random.Random(1))
        self.process = Process("manager-1", self.cluster, weather=CALM, seed=1)
        self.conduct = Conduct(self.checkers, [self.process])
        self.deletions = DeletionCheckers(self.set, budgeting, [self.process])
        self.process.start()
        self.wait(10)

    def wait(self, minutes: int) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + minutes * MINUTE_MS)

    def delete(self, node: str) -> None:
        """As if a manager did."""
        path = f"/apis/{OPENSHIFT.version}/namespaces/{NAMESPACE}/machines/{machine_of(node)}"
        for listener in self.process.on_request:
            listener(self.process, Request("DELETE", path, body=b'{"preconditions":{"uid":"u","resourceVersion":"1"}}'))

    def uid(self, node: str) -> str:
        return str(self.cluster.api.get(OPENSHIFT_MACHINE, machine_of(node), NAMESPACE)["metadata"]["uid"])

    def holder(self, node: str) -> str:
        """Who claims its repair."""
        return str(self.cluster.api.get(LEASE, f"repair-{node}", SYSTEM)["spec"]["holderIdentity"])

    @property
    def broken(self) -> set[str]:
        return {line.split(": ")[1] for line in self.checkers.violations}


def test_all_words_are_those_of_openshift() -> None:
    """Its Machines, its checks, and what hosts say whom they serve."""
    scene = Scene()

    assert (20, 2) == tuple(len(scene.cluster.api.list(kind)) for kind in (OPENSHIFT_MACHINE, OPENSHIFT_HEALTH_CHECK))
    assert [] == scene.cluster.api.list(MACHINE)


def test_a_sick_machine_with_an_owner_is_deleted_and_made_again() -> None:
    """Its server never boots again: by a new Machine of the same name it does."""
    scene = Scene()
    before = scene.uid(OWNED)
    scene.cluster.servers[OWNED].is_broken = True
    scene.cluster.servers[OWNED].hang()
    scene.wait(30)
    scene.conduct.at_rest()
    scene.checkers.at_rest(scene.process.engine)

    assert (set(), 1) == (scene.broken, scene.process.acted.count("DeleteMachine"))
    assert before != scene.uid(OWNED)
    assert scene.cluster.servers[OWNED].is_heard


def test_a_sick_machine_of_the_annotation_is_power_cycled() -> None:
    """Marked by its check, powered off, freed and on again, by the rooms that Cluster API's words have, too."""
    scene = Scene()
    before = scene.uid(ALONE)
    scene.cluster.servers[ALONE].hang()
    scene.wait(30)
    scene.checkers.at_rest(scene.process.engine)

    assert (set(), 0) == (scene.broken, scene.process.acted.count("DeleteMachine"))
    assert (before, 2) == (scene.uid(ALONE), scene.cluster.servers[ALONE].boots)
    assert {"MarkMachine", "AddRebootAnnotation", "DeleteNode"} <= set(scene.process.acted)


def test_a_claim_for_a_deletion_does_not_outlive_it() -> None:
    """A webhook refused the deletion, and the node came back by itself; a person marks it, and it is power cycled."""
    scene = Scene()
    before = scene.uid(OWNED)
    scene.cluster.api.hooks.append(refuse)
    scene.cluster.servers[OWNED].hang()
    scene.wait(5)
    scene.cluster.api.hooks.remove(refuse)
    scene.cluster.servers[OWNED].booted()
    scene.wait(5)
    assert before == scene.uid(OWNED)
    assert scene.holder(OWNED).startswith("remediation ")
    scene.cluster.mark(OWNED)
    scene.wait(20)
    scene.checkers.at_rest(scene.process.engine)

    assert (set(), 3) == (scene.broken, scene.cluster.servers[OWNED].boots)


def refuse(verb: str, resource: Any, old: Any, new: Any, user: User) -> None:
    """Nobody may delete a Machine."""
    if verb == "delete" and user == MANAGER and old["kind"] == "Machine":
        raise ApiError(403, "Forbidden", "no Machine is deleted here")


def test_a_deletion_of_what_is_well_is_seen() -> None:
    """S3, S14 and S18: nobody gave leave, it is not sick, and nobody would replace it."""
    scene = Scene()
    scene.wait(10)
    scene.delete(ALONE)

    assert {"S3", "S14", "S18"} == scene.broken


def test_too_many_deletions_are_seen() -> None:
    """S3: all of the set at once, each with a place in the ledger."""
    scene = Scene()
    for node in scene.set.nodes:
        scene.cluster.api.delete(NODE, node)
        scene.deletions.budgeting.reserved.add(machine_of(node))
        scene.delete(node)

    assert {"S3"} == {line.split(": ")[1] for line in scene.checkers.violations if "at once" in line}


def test_one_world_of_eight_is_openshifts() -> None:
    """Small ones are not: their checks would have too few machines."""
    found = [seed for seed in range(800) if dialect_of(seed, 20) is OPENSHIFT]

    assert 70 < len(found) < 130
    assert CLUSTER_API is dialect_of(found[0], 5)


def test_in_one_world_of_nine_metal3s_provider_made_the_machines() -> None:
    """An eighth of those that are not OpenShift's: a Metal3Machine names the host, and the Machine does not."""
    found = [seed for seed in range(800) if dialect_of(seed, 20) is METAL3]
    cluster = Cluster(nodes=10, seed=1, tracks_fields=False, dialect=METAL3)
    machine = cluster.api.get(MACHINE, "machine-worker-1", NAMESPACE)
    between = cluster.api.get(METAL3_MACHINE, "machine-worker-1", NAMESPACE)
    host = cluster.api.get(HOST, "host-worker-1", NAMESPACE)

    assert 60 < len(found) < 120
    assert CLUSTER_API is dialect_of(found[0], 5)
    assert not machine["metadata"].get("annotations")
    assert [machine["metadata"]["uid"]] == [one["uid"] for one in between["metadata"]["ownerReferences"]]
    assert {"metal3.io/BareMetalHost": "metal3/host-worker-1"} == between["metadata"]["annotations"]
    assert ("Metal3Machine", "machine-worker-1") == tuple(host["spec"]["consumerRef"][key] for key in ("kind", "name"))


@pytest.mark.timeout(300)
def test_a_power_cycle_after_a_deletion_that_was_refused_does_not_wait_for_ever() -> None:
    """The seed that found it."""
    assert () == simulate(SEED, nodes=50, extras=PLAIN).violations
