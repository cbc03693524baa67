"""Worlds whose check has a Metal3Remediation made for what is sick: which they are, and who looks after requests."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import structs

from noderemedy.core.healthcheck import modes
from noderemedy.core.healthcheck.modes import MODES, Way
from noderemedy.model.healthcheck import HealthCheck, Percent, TemplateRef
from noderemedy.model.ids import HEALTH_CHECK, HOST, METAL3_MACHINE, REMEDIATION
from noderemedy.model.time import Span
from noderemedy.sim import objects
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.dialects import CLUSTER_API, METAL3, OPENSHIFT, Dialect
from noderemedy.sim.extras import PLAIN, extras_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.policies import FIRST, YOUNGER, PolicyCheckers, PolicyTroubles
from noderemedy.sim.process import Process
from noderemedy.sim.requested import ESCALATED, MADE, WITHDRAWN, Requested, is_over, words_of
from noderemedy.sim.requesting import API, TEMPLATE, VERSIONS, Requesting, requesting_of, spoken
from noderemedy.sim.run import simulate
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names
from noderemedy.wire.objects import convert

SICK = "worker-1"
OF_TODAY = 92  # a seed whose check is of v1beta2 and escalates
QUICK = {"strategy": "escalate", "deleteAfterRetries": 0, "powerOnTimeoutSeconds": 180}
DIALECTS = [CLUSTER_API, OPENSHIFT, *(structs.replace(METAL3, checks=version) for version in VERSIONS)]


class Scene:
    """Ten quiet nodes under a check with a template, and one manager."""

    def __init__(self, dialect: Dialect = CLUSTER_API, version: str = "") -> None:
        asks = Requesting(QUICK, version)
        self.cluster = Cluster(nodes=10, seed=3, tracks_fields=False, dialect=spoken(dialect, asks), requesting=asks)
        self.checkers = Checkers(self.cluster)
        self.policies = PolicyCheckers(self.cluster, self.checkers.ran, self.checkers.complain)
        self.requested = Requested(self.checkers)
        self.cluster.api.create(self.cluster.dialect.say(self.cluster.check(FIRST, "40%")))
        self.process = Process("manager-1", self.cluster, seed=3)
        self.process.start()
        self.run(8)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    @property
    def counted(self) -> Counter[str]:
        return self.checkers.remediations.phases

    @property
    def broken(self) -> list[str]:
        return [line.split(": ")[1] for line in self.checkers.violations]


def test_a_quarter_of_the_histories_asks() -> None:
    """By a chance of their own, most of them in the words of today's Cluster API, with all that a template may say."""
    found = [asks for seed in range(1, 2001) if (asks := requesting_of(seed, 20)) is not None]
    versions = Counter(asks.version for asks in found)

    assert 430 < len(found) < 570
    assert set(VERSIONS) == set(versions)
    assert all(count > 100 for count in versions.values())
    for field, values in (("strategy", {"reboot", "escalate"}), ("freeBy", {None, "taint", "pods", "node"})):
        assert values == {asks.spec.get(field) for asks in found}
    assert requesting_of(1, 3) is None


def test_openshifts_checks_have_words_of_their_own() -> None:
    """Only Cluster API's change with its version; whose machines Metal3's provider made stay so."""
    asks = Requesting(QUICK, "v1beta2")

    assert OPENSHIFT is spoken(OPENSHIFT, asks)
    assert ("v1beta2", METAL3_MACHINE) == (spoken(METAL3, asks).checks, spoken(METAL3, asks).names_host)
    assert METAL3 is spoken(METAL3, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_check_says_the_same_in_every_version(version: str) -> None:
    """The same machines, conditions, times, limit and template, and nothing that is not read there."""
    asks = Requesting(QUICK)
    cluster = Cluster(nodes=1, seed=1, dialect=spoken(CLUSTER_API, Requesting(QUICK, version)), requesting=asks)
    tree = cluster.api.create(cluster.dialect.say(cluster.check(FIRST, "40%")))
    tree["metadata"]["uid"] = "u"
    found = convert(HEALTH_CHECK, tree).obj

    assert isinstance(found, HealthCheck)
    assert () == found.problems
    assert TemplateRef(API, TEMPLATE, FIRST, NAMESPACE) == found.template
    assert {Span(60_000)} == {one.timeout for one in found.node_criteria}
    assert (Span(900_000), Percent(40)) == (found.startup_timeout, found.max_unhealthy)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: f"{one.names_host.kind} {words_of(one)}")
def test_a_hung_node_is_power_cycled_by_its_check(dialect: Dialect) -> None:
    """A request that the check made, off, on, ready, and the request is withdrawn."""
    scene = Scene(dialect, dialect.checks)
    scene.cluster.servers[SICK].hang()
    scene.run(45)
    scene.checkers.at_rest(scene.process.engine)
    scene.requested.checkers.at_rest()

    assert [] == scene.checkers.violations
    assert (2, 1, 1) == (scene.cluster.servers[SICK].boots, scene.counted[MADE], scene.counted[WITHDRAWN])
    assert 1 == scene.counted[f"{MADE} in the words of {words_of(dialect)}"]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_power_cycle_does_not_cure_is_seen_by_a_person(version: str) -> None:
    """Escalated, reset by hand since no owner replaces it, and then withdrawn as any other."""
    scene = Scene(version=version)
    scene.cluster.servers[SICK].is_broken = True
    scene.cluster.servers[SICK].hang()
    scene.run(90)
    scene.checkers.at_rest(scene.process.engine)

    assert [] == scene.checkers.violations
    assert (1, 1, 1) == tuple(scene.counted[what] for what in (MADE, ESCALATED, WITHDRAWN))
    assert scene.cluster.servers[SICK].is_heard


def test_a_node_that_dies_when_its_request_has_succeeded_is_repaired_once_more() -> None:
    """Somebody had paused the check, so that it did not see it well in between (dense seed 112)."""
    scene = Scene()
    server, at = scene.cluster.servers[SICK], (scene.cluster.dialect.check, FIRST, NAMESPACE)
    server.hang()
    while not scene.cluster.api.list(REMEDIATION):
        scene.run(0.1)
    scene.cluster.api.patch(*at, {"metadata": {"annotations": {names.CLUSTER_PAUSED: ""}}}, "merge")
    scene.run(15)
    assert ([True], True) == ([is_over(one) for one in scene.cluster.api.list(REMEDIATION)], server.is_heard)

    server.hang()
    scene.run(1)
    scene.cluster.api.patch(*at, {"metadata": {"annotations": {names.CLUSTER_PAUSED: None}}}, "merge")
    scene.run(30)
    scene.checkers.at_rest(scene.process.engine)
    assert [] == scene.checkers.violations
    assert (3, 2, True) == (server.boots, scene.counted[MADE], server.is_heard)


def test_a_request_of_a_person_that_is_over_makes_room() -> None:
    """It bears the name that the check's own would have: people are told, and take it away."""
    scene = Scene()
    scene.cluster.remediate(SICK, strategy="reboot")
    scene.run(15)
    scene.cluster.servers[SICK].hang()
    scene.run(60)

    assert [] == scene.checkers.violations
    assert (3, 1) == (scene.cluster.servers[SICK].boots, scene.counted[MADE])


@pytest.mark.parametrize("version", VERSIONS)
def test_people_edit_it_in_every_version(version: str) -> None:
    """A broken range is one, another limit is one, and all is mended as it was."""
    scene = Scene(version=version)
    at = (HEALTH_CHECK, FIRST, NAMESPACE)
    before = scene.cluster.api.get(*at)["spec"]
    people = PolicyTroubles(scene.cluster, scene.process.chance)
    people.check_broken()
    told = convert(HEALTH_CHECK, scene.cluster.api.get(*at)).obj
    people.mend()

    assert any("[5-3]" in problem for problem in told.problems)
    assert before == scene.cluster.api.get(*at)["spec"]


def test_a_request_that_is_never_withdrawn_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: recovery deletes nothing (E2)."""
    monkeypatch.setitem(modes.MODES, Way.EXTERNAL, structs.replace(MODES[Way.EXTERNAL], take_back=lambda *_: ()))
    scene = Scene()
    scene.cluster.servers[SICK].hang()
    scene.run(45)
    scene.requested.checkers.at_rest()

    assert ["E2", "E2"] == scene.broken


def test_a_request_of_the_wrong_check_is_seen() -> None:
    """S17: the younger check had one made for a machine that the older one governs; E1: and it was well."""
    scene = Scene()
    scene.cluster.api.create(scene.cluster.check(YOUNGER, "100%"))
    scene.run(8)
    scene.process.kill()
    owner = scene.cluster.machines(SICK)[0]
    tree = objects.remediation(machine_of(SICK))
    tree["metadata"]["annotations"] = {names.CLONED_FROM: YOUNGER}
    tree["metadata"]["ownerReferences"] = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": "Machine",
            "name": machine_of(SICK),
            "uid": owner["metadata"]["uid"],
        }
    ]
    scene.cluster.api.create(tree)

    assert ["S17", "E1"] == scene.broken


def test_nobody_touches_what_is_held() -> None:
    """Who comes for a request that has failed leaves a server off that somebody holds off."""
    scene = Scene()
    scene.cluster.servers[SICK].hang()
    notes = {"metadata": {"annotations": {names.REBOOT: ""}}}
    scene.cluster.api.patch(HOST, host_of(SICK), NAMESPACE, notes, "merge")
    scene.requested._reset(SICK)

    assert 1 == scene.cluster.servers[SICK].boots
    assert [] == scene.cluster.api.list(REMEDIATION)


@pytest.mark.timeout(300)
def test_a_history_meets_all_of_it() -> None:
    """In the words of today's Cluster API: made by the check, escalated, withdrawn on recovery, and nothing broken."""
    report = simulate(OF_TODAY, nodes=20, hours=6.0)

    assert () == report.violations
    assert {MADE, f"{MADE} in the words of v1beta2", ESCALATED, WITHDRAWN} <= set(report.phases)


def test_a_seed_keeps_its_world() -> None:
    """What once failed is run as it was then."""
    kept, drawn = (simulate(OF_TODAY, nodes=6, hours=0.2, extras=extras) for extras in (PLAIN, None))

    assert extras_of(OF_TODAY, 6) != PLAIN
    assert kept.digest != drawn.digest
