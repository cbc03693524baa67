"""Verdicts on one machine: every criterion of seed 003 and of its heirs, one row each, and how findings combine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node, absent, ago, later, present
from tests.core.healthcheck.targets import (
    FALSE,
    FIVE_MINUTES,
    UNKNOWN,
    a_check,
    a_cluster,
    a_sick_node,
    a_target,
    verdict,
)

from noderemedy.core.healthcheck.criteria import judge, sightings
from noderemedy.model.healthcheck import (
    Criterion,
    Dialect,
    Healthy,
    NeedsLook,
    Target,
    Unhealthy,
    Unjudged,
    Waiting,
)
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Condition
from noderemedy.model.reasons import (
    CannotSeeNode,
    ClusterNotReady,
    ConditionPending,
    ConditionTimedOut,
    ConfirmFirst,
    DeletionTimeUnreadable,
    MachineConditionPending,
    MachineConditionTimedOut,
    MachineFailed,
    NodeMissing,
    NodeNotOurs,
    NodeStarting,
    NodeStartupTimedOut,
    RemediateAnnotated,
    RepairNow,
    TargetLeaving,
    TimestampAhead,
)
from noderemedy.model.room import Absent, Unreadable, Unseen
from noderemedy.model.time import Mono, Now, Span, Wall

ALL = list(Dialect)
CAPI, SEED, OPENSHIFT = Dialect.CAPI, Dialect.SEED, Dialect.OPENSHIFT
NAME = NODE_AT.name
STARTUP = Span.seconds(600)
DRAINED = Criterion("Drained", "False", Span.seconds(60))


# --- node conditions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ALL)
def test_a_ready_node_is_healthy(dialect: Dialect) -> None:
    """A node whose conditions meet no criterion makes its machine healthy."""
    assert Healthy() == verdict(a_target(a_node()), a_check(dialect))


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("status", ["Unknown", "False"])
def test_a_condition_that_lasted_too_long_is_unhealthy(dialect: Dialect, status: str) -> None:
    """Seed 003: Ready False or Unknown for more than five minutes."""
    found = verdict(a_target(a_sick_node(status, 301)), a_check(dialect))

    assert Unhealthy(ago(301), (ConditionTimedOut(NAME, "Ready", status, ago(301), FIVE_MINUTES),)) == found


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("seconds", [0, 1, 299, 300])
def test_a_condition_has_its_whole_timeout(dialect: Dialect, seconds: int) -> None:
    """Unhealthy is *longer* than the timeout; the next look is a second after it, for timestamps have whole seconds."""
    found = verdict(a_target(a_sick_node("Unknown", seconds)), a_check(dialect))

    pending = ConditionPending(NAME, "Ready", "Unknown", ago(seconds), FIVE_MINUTES)
    assert Waiting(ago(seconds) + Span.seconds(301), (pending,)) == found


def test_at_the_next_look_it_is_over() -> None:
    """Whoever looks again when a verdict asks for it finds the criterion met: no second wait, no early look."""
    target = a_target(a_sick_node("Unknown", 10))
    waiting = verdict(target)
    assert isinstance(waiting, Waiting)
    assert waiting.until is not None

    found = verdict(target, now=later(waiting.until.since(NOW.wall).ms / 1000))

    assert isinstance(found, Unhealthy)


@pytest.mark.parametrize(("seconds", "kind"), [(1, Unhealthy), (0.001, Unhealthy), (0, Waiting)])
def test_a_timeout_of_zero_works(seconds: float, kind: type) -> None:
    """OpenShift's termination handler has timeout 0: unhealthy as soon as it has lasted at all."""
    terminating = Criterion("Terminating", "True", Span(0))
    check = a_check(OPENSHIFT, node_criteria=(terminating,), startup_timeout=Span(0))

    assert kind is type(verdict(a_target(a_sick_node("True", seconds, "Terminating")), check))


def test_another_status_or_type_meets_no_criterion() -> None:
    """Only the listed pairs of type and status count, and a condition that is not there meets none."""
    assert Healthy() == verdict(a_target(a_sick_node("False", 999)), a_check(node_criteria=(UNKNOWN,)))
    assert Healthy() == verdict(a_target(a_sick_node("Unknown", 999, "DiskPressure")))
    assert Healthy() == verdict(a_target(replace(a_node(), conditions=())))


def test_criteria_are_alternatives() -> None:
    """One that is met is enough; only what is met is told, and the first sign dates it."""
    node = replace(
        a_node(),
        conditions=(
            Condition("Ready", "Unknown", ago(400)),
            Condition("Disk", "True", ago(500)),
            Condition("X", "True"),
        ),
    )
    disk, other = Criterion("Disk", "True", Span.seconds(60)), Criterion("X", "True", Span.seconds(60))

    found = verdict(a_target(node), a_check(node_criteria=(UNKNOWN, disk, other)))

    assert isinstance(found, Unhealthy)
    assert ago(500) == found.since
    assert ["Ready", "Disk"] == [reason.type for reason in found.because if isinstance(reason, ConditionTimedOut)]
    assert 2 == len(found.because)


def test_the_earliest_of_several_waits_is_the_next_look() -> None:
    """Two criteria pending: the shorter timeout decides when to look again, both are told."""
    short = Criterion("Ready", "Unknown", Span.seconds(60))

    found = verdict(a_target(a_sick_node("Unknown", 10)), a_check(node_criteria=(UNKNOWN, short)))

    assert isinstance(found, Waiting)
    assert ago(10) + Span.seconds(61) == found.until
    assert 2 == len(found.because)


# --- clocks that disagree ----------------------------------------------------------------------------------------


def looked(target: Target, check: Any, now: Now) -> Target:
    """The target as it is kept after a look."""
    return replace(target, sightings=sightings(target, check, now))


@pytest.mark.parametrize("since", [Wall(NOW.wall.ms + 3_600_000), Wall(253_402_300_799_000), None])
def test_a_time_in_the_future_is_counted_from_when_we_saw_it(since: Wall | None) -> None:
    """Neither at once nor never: after its timeout by our own clock (R54); a missing time counts the same way."""
    check = a_check()
    node = replace(a_node(), conditions=(Condition("Ready", "Unknown", since),))
    target = looked(a_target(node), check, NOW)

    first = judge(target, check, NOW)
    last = judge(looked(target, check, later(300)), check, later(300))
    over = judge(looked(target, check, later(300.5)), check, later(300.5))

    assert isinstance(first, Waiting)
    assert NOW.wall + Span.seconds(301) == first.until
    assert isinstance(last, Waiting)
    assert isinstance(over, Unhealthy)
    assert NOW.wall == over.since
    told = (TimestampAhead(f"condition Ready of node {NAME}", since),) if since else ()
    assert told == over.because[1:] == first.because[1:]


def test_clocks_that_nearly_agree_are_not_worth_a_word() -> None:
    """A minute of difference is told to nobody."""
    found = verdict(a_target(a_sick_node("Unknown", -59)))

    assert isinstance(found, Waiting)
    assert 1 == len(found.because)


def test_a_timestamp_counts_more_than_our_short_memory() -> None:
    """After a restart we have seen nothing yet: the API's time is older, and it counts."""
    found = verdict(a_target(a_sick_node("Unknown", 301)))

    assert isinstance(found, Unhealthy)


def test_our_wall_clock_stepped_back() -> None:
    """An hour back in the middle of a wait does not prolong it: we know how long we have been looking."""
    check = a_check()
    target = looked(a_target(a_sick_node("Unknown", 10)), check, NOW)
    stepped = Now(Wall(NOW.wall.ms - 3_600_000), NOW.mono + Span.seconds(301))

    assert isinstance(judge(looked(target, check, stepped), check, stepped), Unhealthy)


def test_a_condition_that_came_back_begins_anew() -> None:
    """What we saw of an earlier spell does not count for a new one: another transition is another sign."""
    check = a_check()
    target = looked(a_target(a_sick_node("Unknown", 200)), check, NOW)
    again = replace(target, node=present(a_sick_node("Unknown", -250)))
    now = later(251)

    found = judge(looked(again, check, now), check, now)

    assert isinstance(found, Waiting)
    assert ago(-250) + Span.seconds(301) == found.until


def test_sightings_last_as_long_as_their_signs() -> None:
    """What is no longer there is forgotten; what is still there keeps its first time."""
    check = a_check()
    sick = looked(a_target(a_sick_node("Unknown", 10)), check, NOW)

    kept = sightings(sick, check, later(100))
    healed = sightings(replace(sick, node=present(a_node())), check, later(100))

    assert [NOW.mono] == [one.since for one in kept]
    assert () == healed
    assert () == sightings(sick, a_check(problems=("spec: x",)), NOW)


def test_a_node_of_the_same_name_begins_anew() -> None:
    """A node that was re-created under its name is another node: what we saw of the first does not count for it."""
    check = a_check()
    first = looked(a_target(a_sick_node("Unknown", None)), check, NOW)
    second = replace(first, node=present(a_sick_node("Unknown", None, uid="node-uid-2")))

    assert isinstance(judge(looked(second, check, later(301)), check, later(301)), Waiting)
    assert isinstance(judge(looked(first, check, later(301)), check, later(301)), Unhealthy)


# --- machine conditions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("older", [False, True])
def test_a_machine_condition_counts_like_one_of_the_node(older: bool) -> None:
    """Of either generation, with a timeout of its own."""
    check = a_check(CAPI, machine_criteria=(DRAINED,))
    where = "older_conditions" if older else "conditions"

    def at(seconds: int) -> Any:
        conditions: dict[str, Any] = {where: (Condition("Drained", "False", ago(seconds)),)}
        return verdict(a_target(a_node(), **conditions), check)

    said = ("Drained", "False")
    assert Waiting(ago(60) + Span.seconds(61), (MachineConditionPending(*said, ago(60), DRAINED.timeout),)) == at(60)
    assert Unhealthy(ago(61), (MachineConditionTimedOut(*said, ago(61), DRAINED.timeout),)) == at(61)


def test_the_current_generation_of_conditions_has_the_last_word() -> None:
    """A stale condition of the older generation does not count against the current one."""
    current, older = Condition("Drained", "True", ago(1)), Condition("Drained", "False", ago(999))

    found = verdict(
        a_target(a_node(), conditions=(current,), older_conditions=(older,)), a_check(CAPI, machine_criteria=(DRAINED,))
    )

    assert Healthy() == found


def test_the_machines_own_failure_is_told_first() -> None:
    """With both, the machine's reason leads, as in Cluster API."""
    target = a_target(a_sick_node("False", 999), conditions=(Condition("Drained", "False", ago(100)),))

    found = verdict(target, a_check(CAPI, machine_criteria=(DRAINED,)))

    assert isinstance(found, Unhealthy)
    assert [MachineConditionTimedOut, ConditionTimedOut] == [type(reason) for reason in found.because]


def test_a_machine_failure_counts_even_if_the_node_is_out_of_sight() -> None:
    """What is known of the machine is known; the node adds nothing to it."""
    target = a_target(Unseen(), conditions=(Condition("Drained", "False", ago(100)),))

    assert isinstance(verdict(target, a_check(CAPI, machine_criteria=(DRAINED,))), Unhealthy)


# --- startup -----------------------------------------------------------------------------------------------------

BEFORE = ago(1_000)
CLOCKS = [
    (SEED, {"created": ago(50), "last_updated": BEFORE}, None, ago(50)),
    (CAPI, {"created": ago(50), "last_updated": ago(1)}, a_cluster(BEFORE, BEFORE), ago(50)),
    (CAPI, {"created": BEFORE}, a_cluster(ago(40), BEFORE), ago(40)),
    (CAPI, {"created": BEFORE}, a_cluster(BEFORE, ago(30)), ago(30)),
    (CAPI, {"created": BEFORE, "conditions": (Condition("InfrastructureReady", "True", ago(20)),)}, None, ago(20)),
    (CAPI, {"created": ago(50), "conditions": (Condition("InfrastructureReady", "False", ago(2)),)}, None, ago(50)),
    (OPENSHIFT, {"created": BEFORE, "last_updated": ago(50)}, None, ago(50)),
    *(
        (dialect, {"created": BEFORE, "last_updated": BEFORE, "node_deleted_at": ago(5)}, None, ago(5))
        for dialect in ALL
    ),
    *(
        (dialect, {"created": ago(9), "last_updated": ago(9), "node_deleted_at": BEFORE}, None, ago(9))
        for dialect in ALL
    ),
]


@pytest.mark.parametrize(("dialect", "machine", "cluster", "start"), CLOCKS)
def test_the_startup_clock(dialect: Dialect, machine: dict[str, Any], cluster: Any, start: Wall) -> None:
    """Each dialect has a clock of its own, and the latest of it and of our own deletion counts."""
    check, target = a_check(dialect), a_target(Unseen(), cluster=cluster, node_name=None, **machine)
    over = later(start.since(NOW.wall).ms / 1000 + 601)

    assert Waiting(start + Span.seconds(601), (NodeStarting(start, STARTUP),)) == verdict(target, check)
    assert Unhealthy(start, (NodeStartupTimedOut(start, STARTUP),)) == verdict(target, check, over)


@pytest.mark.parametrize("dialect", ALL)
def test_a_startup_timeout_of_zero_disables_it(dialect: Dialect) -> None:
    """A machine may be without a node for ever: neither healthy nor unhealthy, and no next look."""
    target = a_target(Unseen(), node_name=None, created=ago(99_999), last_updated=ago(99_999))

    found = verdict(target, a_check(dialect, startup_timeout=Span(0)))

    assert Waiting(None, (NodeStarting(ago(99_999), Span(0)),)) == found


@pytest.mark.parametrize("dialect", ALL)
def test_a_machine_without_any_date_starts_when_we_see_it(dialect: Dialect) -> None:
    """OpenShift's unset lastUpdated is a whole timeout from now, not for ever from now."""
    check = a_check(dialect)
    target = looked(a_target(Unseen(), node_name=None), check, NOW)

    assert Waiting(NOW.wall + Span.seconds(601), (NodeStarting(None, STARTUP),)) == judge(target, check, NOW)
    assert isinstance(judge(looked(target, check, later(601)), check, later(601)), Unhealthy)


# --- a node that is not there ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ALL)
def test_a_missing_node_is_unhealthy_at_once(dialect: Dialect) -> None:
    """nodeRef but no node, read live: there is no timeout."""
    assert Unhealthy(NOW.wall, (NodeMissing(NAME),)) == verdict(a_target(None), a_check(dialect))


@pytest.mark.parametrize("dialect", ALL)
def test_a_missing_node_is_read_live_first(dialect: Dialect) -> None:
    """A cache may be behind: a machine can name its node before the node shows up there."""
    found = verdict(a_target(absent(confirmed=False)), a_check(dialect))

    assert NeedsLook(NODE_AT, (ConfirmFirst(str(NODE_AT)),)) == found


def test_an_absence_once_read_live_stays_a_fact() -> None:
    """The verdict does not flicker while nothing changes, and keeps the date of its first sign."""
    check = a_check()
    target = looked(a_target(Absent(NOW.mono)), check, NOW)
    now = later(3_600)

    assert Unhealthy(NOW.wall, (NodeMissing(NAME),)) == judge(looked(target, check, now), check, now)


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("node", [absent(), absent(confirmed=False)])
def test_a_node_that_we_deleted_is_starting(dialect: Dialect, node: Absent) -> None:
    """Seeds 001 and 003 together would reboot for ever; the deletion is recorded, and starts the startup clock."""
    target = a_target(node, node_deleted_at=ago(100), created=ago(9_999), last_updated=ago(9_999))

    assert Waiting(ago(100) + Span.seconds(601), (NodeStarting(ago(100), STARTUP),)) == verdict(
        target, a_check(dialect)
    )
    assert isinstance(verdict(target, a_check(dialect), later(501)), Unhealthy)


@pytest.mark.parametrize("name", [NAME, None])
def test_a_deletion_time_that_cannot_be_read_is_held_against_nobody(name: str | None) -> None:
    """Whether we deleted the node is not known: not missing, not starting, not judged."""
    found = verdict(a_target(None, node_name=name, node_deleted_at=Malformed("garbage"), created=ago(9_999)))

    assert Unjudged((DeletionTimeUnreadable("garbage"),)) == found


def test_a_returned_node_is_judged_by_its_conditions() -> None:
    """The node is back although its deletion is still recorded: it is no longer starting."""
    assert Healthy() == verdict(a_target(a_node(), node_deleted_at=ago(100)))
    assert Healthy() == verdict(a_target(a_node(), node_deleted_at=Malformed("garbage")))
    assert isinstance(verdict(a_target(a_sick_node("False", 301), node_deleted_at=ago(400))), Unhealthy)


# --- what cannot be judged ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("node", [Unseen(), Unreadable("uid", "1", "spec: not an object")])
def test_what_cannot_be_seen_is_neither_healthy_nor_sick(dialect: Dialect, node: Any) -> None:
    """A workload cluster that does not answer, or a Node that does not decode, is its own verdict."""
    found = verdict(a_target(node), a_check(dialect))

    assert Unjudged((CannotSeeNode(NAME),)) == found
    assert not found.counts_as_healthy


def test_out_of_sight_the_machines_own_timers_go_on() -> None:
    """A machine condition that is pending is looked at again in time, whatever the node does."""
    target = a_target(Unseen(), conditions=(Condition("Drained", "False", ago(10)),))

    found = verdict(target, a_check(CAPI, machine_criteria=(DRAINED,)))

    assert Unjudged((CannotSeeNode(NAME),), ago(10) + Span.seconds(61)) == found


def test_another_machines_node_says_nothing() -> None:
    """A node of that name with another providerID (S7): its sickness is not ours."""
    found = verdict(a_target(a_sick_node("False", 999, provider_id="metal3://other")))

    assert isinstance(found, Unjudged)
    assert [NodeNotOurs] == [type(reason) for reason in found.because]


CLUSTERS = [
    (CAPI, a_cluster(None, ago(1)), (), "ControlPlaneInitialized"),
    (CAPI, a_cluster(ago(1), None), (), "InfrastructureReady"),
    (CAPI, a_cluster(None, None), (("cluster.x-k8s.io/control-plane", ""),), "InfrastructureReady"),
    (CAPI, a_cluster(None, ago(1)), (("cluster.x-k8s.io/control-plane", ""),), None),
    (CAPI, a_cluster(ago(1), ago(1)), (), None),
    (CAPI, None, (), None),
    (SEED, a_cluster(None, None), (), None),
    (OPENSHIFT, a_cluster(None, None), (), None),
]


@pytest.mark.parametrize(("dialect", "cluster", "labels", "missing"), CLUSTERS)
def test_a_cluster_that_is_being_built(dialect: Dialect, cluster: Any, labels: Any, missing: str | None) -> None:
    """Cluster API judges nobody before infrastructure and control plane are there; here that is not health either."""
    found = verdict(a_target(a_sick_node("False", 999), cluster=cluster, labels=labels), a_check(dialect))

    if missing is None:
        assert isinstance(found, Unhealthy)
    else:
        assert Unjudged((ClusterNotReady(missing),)) == found


# --- what a person says ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("node", [a_node(), Unseen(), None])
def test_the_remediate_annotation_overrides_every_rule(dialect: Dialect, node: Any) -> None:
    """Unhealthy now, also for a healthy node, one out of sight, or in a cluster that is being built."""
    found = verdict(a_target(node, remediate=True, cluster=a_cluster()), a_check(dialect))

    assert Unhealthy(NOW.wall, (RemediateAnnotated(),)) == found


def test_a_request_keeps_the_date_at_which_we_saw_it() -> None:
    """An annotation has no date of its own: the first sighting is its date, at every later look."""
    check = a_check()
    target = looked(a_target(a_node(), remediate=True), check, NOW)

    assert Unhealthy(NOW.wall, (RemediateAnnotated(),)) == judge(looked(target, check, later(60)), check, later(60))


@pytest.mark.parametrize("where", ["machine", "node"])
def test_repair_now_skips_the_timeout(where: str) -> None:
    """What is pending counts as timed out; what is healthy stays so, and what is out of sight is not guessed."""
    on_machine: dict[str, Any] = {"repair_now": True} if where == "machine" else {}
    on_node = {"repair_now": where == "node"}

    found = verdict(a_target(replace(a_sick_node("Unknown", 10), **on_node), **on_machine))

    pending = ConditionPending(NAME, "Ready", "Unknown", ago(10), FIVE_MINUTES)
    assert Unhealthy(ago(10), (pending, RepairNow())) == found
    assert Healthy() == verdict(a_target(replace(a_node(), **on_node), **on_machine))


def test_repair_now_guesses_nothing() -> None:
    """A node that cannot be seen, or whose absence was not read live, is not sick because somebody is in a hurry."""
    assert isinstance(verdict(a_target(Unseen(), repair_now=True)), Unjudged)
    assert isinstance(verdict(a_target(absent(confirmed=False), repair_now=True)), NeedsLook)


@pytest.mark.parametrize(("dialect", "kind"), [(OPENSHIFT, Unhealthy), (CAPI, Healthy), (SEED, Healthy)])
def test_phase_failed(dialect: Dialect, kind: type) -> None:
    """OpenShift's machine controller has given up: unhealthy at once; the others have no such rule."""
    found = verdict(a_target(a_node(), phase="Failed"), a_check(dialect))

    assert kind is type(found)
    assert not isinstance(found, Unhealthy) or (MachineFailed(),) == found.because


@pytest.mark.parametrize("dialect", ALL)
def test_a_machine_that_is_being_deleted_is_left_alone(dialect: Dialect) -> None:
    """Nothing new for it, whatever its state or annotations; it is not healthy either."""
    found = verdict(
        a_target(a_sick_node("False", 999), deleting=True, remediate=True, phase="Failed"), a_check(dialect)
    )

    assert Waiting(None, (TargetLeaving(),)) == found
    assert not found.counts_as_healthy


# --- properties --------------------------------------------------------------------------------------------------

moments = st.one_of(st.none(), st.integers(-10_000, 10_000).map(lambda seconds: ago(seconds)))
conditions = st.builds(
    Condition, st.sampled_from(["Ready", "Disk"]), st.sampled_from(["True", "False", "Unknown"]), moments
)
nodes = st.one_of(
    st.just(Unseen()),
    st.just(absent()),
    st.just(absent(confirmed=False)),
    st.lists(conditions, max_size=3).map(lambda found: present(replace(a_node(), conditions=tuple(found)))),
)
targets = st.builds(
    a_target,
    nodes,
    node_name=st.sampled_from([NAME, None]),
    node_deleted_at=moments,
    created=moments,
    last_updated=moments,
    deleting=st.booleans(),
    remediate=st.booleans(),
    repair_now=st.booleans(),
    phase=st.sampled_from(["", "Running", "Failed"]),
    conditions=st.lists(conditions, max_size=2).map(tuple),
)
timeouts = st.sampled_from([Span(0), Span.seconds(30), FIVE_MINUTES])
checks = st.builds(
    a_check,
    st.sampled_from(ALL),
    node_criteria=st.sampled_from([(), (UNKNOWN,), (UNKNOWN, FALSE)]),
    machine_criteria=st.sampled_from([(), (Criterion("Ready", "False", Span(0)),)]),
    startup_timeout=timeouts,
)


@given(targets, checks, st.lists(st.integers(0, 700), max_size=6))
def test_a_verdict_only_gets_worse_with_time(target: Target, check: Any, steps: list[int]) -> None:
    """While nothing changes, an unhealthy machine stays so since the same moment, and a healthy one stays healthy."""
    now, before = NOW, None
    for seconds in [0, *sorted(steps)]:
        now = later(seconds)
        target = looked(target, check, now)
        found = judge(target, check, now)
        if before is not None and not isinstance(before, Waiting):
            assert type(before) is type(found)
        if isinstance(before, Unhealthy) and isinstance(found, Unhealthy):
            assert found.since <= before.since
        before = found


@given(targets, checks)
def test_every_wait_ends(target: Target, check: Any) -> None:
    """Looking again when a verdict asks for it leads on: to unhealthy, or to a later look at something else."""
    now = NOW
    for _ in range(8):
        target = looked(target, check, now)
        found = judge(target, check, now)
        if not isinstance(found, Waiting) or found.until is None:
            return
        assert found.until > now.wall
        now = later(found.until.since(NOW.wall).ms / 1000)
    pytest.fail("still waiting")


@given(targets, checks)
def test_a_reason_is_given_for_all_but_health(target: Target, check: Any) -> None:
    """Whatever is not healthy says why, and only Healthy counts as healthy."""
    found = verdict(target, check)

    assert isinstance(found, Healthy) == found.counts_as_healthy
    assert isinstance(found, Healthy) or found.because


def test_sightings_are_of_both_clocks() -> None:
    """The monotonic time measures, the wall time dates."""
    found = sightings(a_target(a_sick_node("Unknown", None)), a_check(), Now(Wall(5), Mono(7)))

    assert [(Mono(7), Wall(5))] == [(one.since, one.wall) for one in found]
