"""The budget in virtual time: limits hold over a whole repair, and each checker of S3, S4 and S5 was seen red."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sabotage.running import set_to

from noderemedy.core import slots
from noderemedy.core.budget import grants, health
from noderemedy.core.metal3 import gates, remediation, remediationgates
from noderemedy.model.ids import BUDGET, HOST, MACHINE, NODE
from noderemedy.model.time import MINUTE, Span
from noderemedy.sim import objects
from noderemedy.sim.bearing import Bearing
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.granting import Granting
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.resuming import Resuming
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

Story = Callable[[], Budgeting]
Harm = Callable[[pytest.MonkeyPatch], None]


def a_budgeted_cluster(rulers: int = 0, nodes: int = 10, **spec: Any) -> Budgeting:
    """Some quiet nodes and one manager, whose budget says this."""
    cluster, checkers, process = calm(seed=5, nodes=nodes)
    budgeting = Budgeting(checkers, rulers=rulers)
    Resuming(budgeting, [process])
    Bearing(budgeting, [process])
    cluster.api.patch(BUDGET, "cluster", "", {"spec": spec}, "merge")
    budgeting.in_flight_max = spec.get("maxInFlight", budgeting.in_flight_max)
    run(cluster, 1)
    return budgeting


def run(cluster: Cluster, minutes: float) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def hang(cluster: Cluster, *names: str) -> None:
    """One after the other: no failure domain is held for it."""
    for name in names:
        cluster.servers[name].hang()
        run(cluster, 3)


def boots(budgeting: Budgeting, *names: str) -> list[int]:
    return [budgeting.cluster.servers[name].boots for name in names]


def one_at_a_time() -> Budgeting:
    """Two sick nodes, and room for one of them."""
    budgeting = a_budgeted_cluster(maxInFlight=1)
    hang(budgeting.cluster, "worker-1", "worker-2")
    budgeting.cluster.mark("worker-1")
    budgeting.cluster.mark("worker-2")
    run(budgeting.cluster, 25)
    return budgeting


def one_an_hour() -> Budgeting:
    """Two sick nodes, and one start within the hour."""
    budgeting = a_budgeted_cluster(maxPerHour=1)
    hang(budgeting.cluster, "worker-1", "worker-2")
    budgeting.cluster.mark("worker-1")
    budgeting.cluster.mark("worker-2")
    run(budgeting.cluster, 40)
    return budgeting


def a_storm() -> Budgeting:
    """Four of ten nodes hang, and somebody asks for one of them."""
    budgeting = a_budgeted_cluster()
    hang(budgeting.cluster, "worker-1", "worker-2", "worker-3", "worker-4")
    run(budgeting.cluster, 3)
    budgeting.cluster.mark("worker-1")
    run(budgeting.cluster, 3)
    return budgeting


def a_storm_that_ends() -> Budgeting:
    """The same, until three of the four are well again: the one that somebody asked for is still to be repaired."""
    budgeting = a_storm()
    for name in ("worker-2", "worker-3", "worker-4"):
        budgeting.cluster.servers[name].booted()
    run(budgeting.cluster, 20)
    return budgeting


def two_dead_bmcs() -> Budgeting:
    """Two hosts that cannot be powered off take both places; a third node is sick as well."""
    budgeting = a_budgeted_cluster(nodes=20, maxInFlight=2)
    for name in ("worker-1", "worker-2"):
        budgeting.cluster.servers[name].bmc.answers = False
    hang(budgeting.cluster, "worker-1", "worker-2", "worker-3")
    for name in ("worker-1", "worker-2", "worker-3"):
        budgeting.cluster.mark(name)
        run(budgeting.cluster, 1)
    run(budgeting.cluster, 25)
    return budgeting


def flap(cluster: Cluster, name: str) -> None:
    """A node is away for some minutes, and marked meanwhile; it is well long before anybody gives its repair up."""
    cluster.servers[name].link(False)
    run(cluster, 3)
    cluster.mark(name)
    run(cluster, 3)
    cluster.servers[name].link(True)
    run(cluster, 10)


def no_bmc_answers() -> Budgeting:
    """Nothing is carried out for hours while six nodes flap, one after the other: all are well, and marked."""
    budgeting = a_budgeted_cluster(nodes=20, maxInFlight=2)
    run(budgeting.cluster, 15)
    for server in budgeting.cluster.servers.values():
        server.bmc.answers = False
    for number in range(1, 7):
        flap(budgeting.cluster, f"worker-{number}")
    return budgeting


def most_without_power_afterwards(budgeting: Budgeting) -> int:
    """How many servers are off at one moment at most, once all BMCs answer again."""
    for server in budgeting.cluster.servers.values():
        server.bmc.answers = True
    most = 0
    for _ in range(150):
        run(budgeting.cluster, 0.1)
        most = max(most, sum(not one.has_power for one in budgeting.cluster.servers.values()))
    return most


def two_that_recovered() -> Budgeting:
    """A check marks two nodes whose BMCs are dead; both are well again by themselves. Then a third one hangs."""
    budgeting = a_budgeted_cluster(nodes=20, maxInFlight=2)
    cluster = budgeting.cluster
    cluster.api.create(objects.marking_check("all", "100%", cluster.durations))
    run(cluster, 15)
    for name in ("worker-1", "worker-2"):
        cluster.servers[name].bmc.answers = False
        cluster.servers[name].link(False)
        run(cluster, 8)
        cluster.servers[name].link(True)
        run(cluster, 12)
    cluster.servers["worker-9"].hang()
    run(cluster, 60)
    return budgeting


def a_misspelt_template() -> Budgeting:
    """Two sick machines are those of a check whose template does not exist; a third one is of a check that marks."""
    budgeting = a_budgeted_cluster(nodes=20, maxInFlight=2)
    cluster = budgeting.cluster
    labelled = {"metadata": {"labels": {"pool": "ward"}}}
    for name in ("worker-1", "worker-2"):
        cluster.api.patch(MACHINE, machine_of(name), NAMESPACE, labelled, "merge")
    astray = objects.marking_check("astray", None, cluster.durations)
    del astray["metadata"]["annotations"]
    astray["spec"]["selector"] = {"matchLabels": {"pool": "ward"}}
    astray["spec"]["externalRemediationTemplate"] = {
        "apiVersion": "remediation.metal3.io/v1alpha1",
        "kind": "Metal3RemediationTemplate",
        "name": "no-such-template",
        "namespace": NAMESPACE,
    }
    for check in (objects.marking_check("others", None, cluster.durations), astray):
        cluster.api.create(check)
    run(cluster, 15)
    for name in ("worker-1", "worker-2", "worker-9"):
        cluster.servers[name].hang()
        run(cluster, 6)
    run(cluster, 30)
    return budgeting


def two_rulers() -> Budgeting:
    """Two of five members of the control plane are sick: quorum is kept, and still one goes first."""
    budgeting = a_budgeted_cluster(rulers=5, maxInFlight=5)
    first, second = budgeting.rulers[1:3]
    hang(budgeting.cluster, first, second)
    budgeting.cluster.mark(first)
    budgeting.cluster.mark(second)
    run(budgeting.cluster, 15)
    return budgeting


def one_request_at_a_time() -> Budgeting:
    """Two Metal3Remediations of nodes that hang, and room for one of them."""
    budgeting = a_budgeted_cluster(maxInFlight=1)
    hang(budgeting.cluster, "worker-1", "worker-2")
    for name in ("worker-1", "worker-2"):
        budgeting.cluster.remediate(name, strategy="reboot")
    run(budgeting.cluster, 30)
    return budgeting


def a_sick_one(rulers: int = 0, **spec: Any) -> Budgeting:
    """One node hangs, its budget says this since long, and somebody asks for it."""
    budgeting = a_budgeted_cluster(rulers, **spec)
    hang(budgeting.cluster, "worker-2")
    run(budgeting.cluster, 5)
    budgeting.cluster.mark("worker-2")
    run(budgeting.cluster, 5)
    return budgeting


def outside_of_windows() -> Budgeting:
    return a_sick_one(windows=[{"from": "02:00", "to": "02:01"}])


def none_per_domain() -> Budgeting:
    return a_sick_one(perDomain={"maxUnhealthy": 1})


def a_pause() -> Budgeting:
    """The budget is paused, and somebody asks for a node that hangs."""
    budgeting = a_budgeted_cluster()
    paused = {"metadata": {"annotations": {names.PAUSED: "true"}}}
    budgeting.cluster.api.patch(BUDGET, "cluster", "", paused, "merge")
    hang(budgeting.cluster, "worker-2")
    run(budgeting.cluster, 5)
    budgeting.cluster.mark("worker-2")
    run(budgeting.cluster, 5)
    return budgeting


def a_rack_at_once() -> Budgeting:
    """Five of the seven nodes of a rack hang at one moment, and somebody asks for one of them."""
    budgeting = a_budgeted_cluster(nodes=20)
    run(budgeting.cluster, 22)  # whoever resets such a rack by hand has just been there
    for name in ("worker-2", "worker-5", "worker-8", "worker-11", "worker-14"):
        budgeting.cluster.servers[name].hang()
    run(budgeting.cluster, 8)
    budgeting.cluster.mark("worker-2")
    run(budgeting.cluster, 5)
    return budgeting


def half_a_quorum() -> Budgeting:
    """Two of three members of the control plane hang, and somebody asks for one of them."""
    budgeting = a_budgeted_cluster(rulers=3)
    hang(budgeting.cluster, "worker-1", "worker-2")
    run(budgeting.cluster, 8)
    budgeting.cluster.mark("worker-1")
    run(budgeting.cluster, 5)
    return budgeting


def rulers_without_nodes() -> list[str]:
    """Somebody deletes the Nodes of a silent control plane, and asks for all of them; what is said of S5."""
    budgeting = a_budgeted_cluster(rulers=3, nodes=20, maxInFlight=5)
    for name in budgeting.rulers:
        budgeting.cluster.servers[name].hang()
        budgeting.cluster.api.delete(NODE, name)
    for name in budgeting.rulers:
        budgeting.cluster.mark(name)
    run(budgeting.cluster, 15)
    return [one for one in budgeting.checkers.violations if "S5" in one]


def test_a_ruler_is_one_without_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """A control plane whose Nodes somebody else deleted is not repaired as workers are: its quorum is lost already."""
    assert [] == rulers_without_nodes()
    monkeypatch.setattr(health, "rules", lambda view, labels: not health.CONTROL_PLANE.isdisjoint(labels))
    assert rulers_without_nodes()


def test_the_second_waits_for_the_first() -> None:
    """With one in flight both are repaired, one after the other."""
    found = one_at_a_time()

    assert [2, 2] == boots(found, "worker-1", "worker-2")
    assert [] == found.checkers.violations


def test_repairs_that_are_stuck_stop_nobody_else() -> None:
    """Two repairs wait for somebody who mends two BMCs: after their time the third node is repaired all the same."""
    found = two_dead_bmcs()

    assert [1, 1, 2] == boots(found, "worker-1", "worker-2", "worker-3")
    assert [] == found.checkers.violations


def test_without_that_they_stop_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: a repair that never gives its place back."""
    monkeypatch.setattr(slots, "GIVEN_UP_AFTER", Span.seconds(86_400))

    assert [1, 1, 1] == boots(two_dead_bmcs(), "worker-1", "worker-2", "worker-3")


def test_power_offs_that_nobody_carries_out_do_not_pile_up() -> None:
    """Two may be stuck and one was in flight; when the BMCs answer again, never more than two and two are off."""
    found = no_bmc_answers()
    held = [name for name in found.cluster.servers if is_held(found, name)]

    assert ["worker-1", "worker-2", "worker-3"] == held
    assert most_without_power_afterwards(found) <= 4
    assert [] == found.checkers.violations


def test_without_that_what_goes_off_at_last_makes_room_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: a repair that is stuck stays so while its host goes off."""
    monkeypatch.setattr(slots, "has_gone_off", lambda before, found: False)

    assert most_without_power_afterwards(no_bmc_answers()) > 4


def is_held(budgeting: Budgeting, name: str) -> bool:
    return names.REBOOT in budgeting.cluster.api.get(HOST, host_of(name), NAMESPACE)["metadata"].get("annotations", {})


def test_holds_on_nodes_that_recovered_stop_nobody_else() -> None:
    """Both are held and do not go off, for nobody's good: half an hour later the third one is repaired."""
    found = two_that_recovered()

    assert [True, True] == [is_held(found, name) for name in ("worker-1", "worker-2")]
    assert [1, 1, 2] == boots(found, "worker-1", "worker-2", "worker-9")
    assert [] == found.checkers.violations


def test_what_can_never_begin_stops_nobody_else() -> None:
    """Two machines without a template take neither a place nor a start of the hour from the third one."""
    found = a_misspelt_template()

    assert [1, 1, 2] == boots(found, "worker-1", "worker-2", "worker-9")
    assert {machine_of("worker-9"), "worker-9"} == found.reserved
    assert [] == found.checkers.violations


def test_a_storm_is_left_alone() -> None:
    """Nobody is held while four of ten are sick."""
    found = a_storm()

    assert not is_held(found, "worker-1")
    assert [1] == boots(found, "worker-1")
    assert [] == found.checkers.violations


def test_repairs_resume_after_a_storm() -> None:
    """L4: five minutes after it ended the one that waited is repaired."""
    found = a_storm_that_ends()

    assert [2] == boots(found, "worker-1")
    assert found.checkers.ran["L4 a storm that is over is over"] > 0
    assert found.checkers.ran["L4 cooldown is bounded"] > 0
    assert [] == found.checkers.violations


def the_storm_is_never_over(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grants, "is_over", lambda limit, sick, total: sick > 0)


def an_hour_to_cool_down(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grants, "cooled", lambda calm, view, now: calm.at + MINUTE * 60)


def without(gate: grants.Gate) -> Callable[[pytest.MonkeyPatch], None]:
    def harm(patch: pytest.MonkeyPatch) -> None:
        for gates_of in ("GATES", "STILL"):
            patch.setattr(grants, gates_of, tuple(one for one in getattr(grants, gates_of) if one is not gate))

    return harm


def nobody_asks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gates, "budgeted_anew", lambda *given: None)


def no_request_asks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(remediation, "SHARED", remediationgates.ALONE)


def is_seen(words: str, story: Callable[[], Granting], harm: Harm, patch: pytest.MonkeyPatch) -> bool:
    """Whether the checkers of a story are silent, and complain in these words under some harm."""
    calm = story().checkers.violations
    harm(patch)
    return not calm and any(words in line for line in story().checkers.violations)


# what the checker says -> the story, and the harm under which it says so
SABOTAGES: dict[str, tuple[Story, Harm]] = {
    "S3: 2 hosts are held at once": (one_at_a_time, without(grants.in_flight_bearable)),
    "S3: 3 hosts are held at once": (two_dead_bmcs, set_to(slots, "GIVEN_UP_AFTER", Span(0))),
    "S3: 5 hosts are held and still on": (no_bmc_answers, without(grants.pending_bearable)),
    "S3: 2 repairs were started within an hour": (one_an_hour, without(grants.per_hour_bearable)),
    "is held without a reservation": (a_storm, nobody_asks),
    "S4: a repair starts while 4 nodes are unhealthy": (a_storm, without(grants.share_bearable)),
    "L4: Machine/metal3/machine-worker-1 still waits for a storm": (a_storm_that_ends, the_storm_is_never_over),
    "L4: Machine/metal3/machine-worker-1 has to wait for another": (a_storm_that_ends, an_hour_to_cool_down),
    "S5: ": (two_rulers, without(grants.control_plane_free)),
    "S3: 2 repairs have a place at once": (one_request_at_a_time, without(grants.in_flight_bearable)),
    "S3: PublishRemediationStatus for machine-worker-2, which has no place": (one_request_at_a_time, no_request_asks),
    "S3: AddRebootAnnotation for machine-worker-1, which has no place": (a_storm, nobody_asks),
    "S4: AddRebootAnnotation for machine-worker-1 in a storm": (a_storm, nobody_asks),
    "worker-2 outside of all windows": (outside_of_windows, without(grants.window_open)),
    "worker-2 in rack-2, of which 1 nodes are sick": (none_per_domain, without(grants.domain_bearable)),
    "worker-2 in rack-2, where 4 nodes fell sick at once": (a_rack_at_once, without(grants.domain_quiet)),
    "S8: AddRebootAnnotation for machine-worker-2, and the budget is paused": (a_pause, without(grants.not_paused)),
    "S5: AddRebootAnnotation for machine-worker-1, and only 1 other": (half_a_quorum, without(grants.quorum_kept)),
}


@pytest.mark.parametrize("words", SABOTAGES)
def test_a_story_turns_red(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Green as it is; under one line of harm the checker complains in these words."""
    assert is_seen(words, *SABOTAGES[words], monkeypatch)
