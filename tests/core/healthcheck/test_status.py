"""The status room: what is published and when, what is kept, who else writes; then the same through the engine."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from tests.builders import NOW, a_machine, a_node, ago, later

from noderemedy.core.healthcheck import checks, specs, status, targets, verdicts
from noderemedy.core.healthcheck.facts import GateFact, gate_ref
from noderemedy.core.healthcheck.gate import gate
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import Guard, PublishCheckStatus
from noderemedy.model.checkstatus import CheckStatus, Foreign, Told, Writer
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.healthcheck import Count, Criterion, Dialect, HealthCheck, Tally
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, NODE, OPENSHIFT_HEALTH_CHECK, Ref, ref
from noderemedy.model.node import Condition
from noderemedy.model.outcome import Done, Effect, Failed, Key, Seen
from noderemedy.model.reasons import CheckPaused, OtherControllerGoverns
from noderemedy.model.room import Present
from noderemedy.model.selector import Selector
from noderemedy.model.time import Mono, Now, Span, Wall
from noderemedy.rooms import watched

ROOMS = (specs.ROOM, verdicts.ROOM, checks.ROOM, status.ROOM, targets.ROOM)
AT = ref(HEALTH_CHECK, "workers", "metal")
OPEN = Told("RemediationAllowed", "True", "RemediationAllowed", "", str(NOW.wall))
ACTS = Told("Acting", "True", "Acting", "", str(NOW.wall))
EARLIER = str(ago(900))
FOREIGN = Foreign('{"type":"Paused","status":"False"}')
ONE_IS_SICK = Tally(5, 4)
PROBLEMS = ("spec.maxUnhealthy: 'x' cannot be read; write 2", "spec.selector is empty; name a label")


def a_check(**more: Any) -> HealthCheck:
    usual = {
        "uid": "check-uid",
        "dialect": Dialect.SEED,
        "selector": Selector(match_labels=(("role", "worker"),)),
        "node_criteria": (Criterion("Ready", "Unknown", Span(300_000)),),
        "generation": 4,
        "created": Wall(1),
    }
    return HealthCheck(**{**usual, **more})


def decide(check: HealthCheck, count: Tally = ONE_IS_SICK, contested: int = 0, now: Now = NOW) -> Decision:
    """One look at a check that we have known since the process started, an hour and a half ago."""
    first_seen = Mono(NOW.mono.ms - 5_400_000)
    found = GateFact(gate(check, count), count, contested)
    return status.decide(status.StatusView(AT, check, "77", first_seen, found), now)


def published(check: HealthCheck, count: Tally = ONE_IS_SICK, contested: int = 0) -> CheckStatus:
    [action] = decide(check, count, contested).actions
    assert isinstance(action, PublishCheckStatus)
    return action.status


def told(check: HealthCheck, kind: str, count: Tally = ONE_IS_SICK, contested: int = 0) -> Told | None:
    """The condition of this type as it would be published."""
    found = [one for one in published(check, count, contested).conditions if isinstance(one, Told)]
    return next((one for one in found if one.type == kind), None)


# --- what is said ------------------------------------------------------------------------------------------------


def test_a_new_check_gets_its_status() -> None:
    """Counts, generation and two conditions, guarded by uid and version, with a reason that makes no noise."""
    decision = decide(a_check(max_unhealthy=Count(3)))

    wanted = CheckStatus(5, 4, 1, 4, (OPEN, ACTS))
    assert (PublishCheckStatus(AT, Guard("check-uid", "77"), wanted),) == decision.actions
    assert ["StatusBehind"] == [type(reason).__name__ for reason in decision.because]
    assert all(reason.quiet for reason in decision.because)


@pytest.mark.parametrize(
    ("more", "count", "reason"),
    [
        ({"max_unhealthy": Count(1)}, Tally(5, 4), "TooManyUnhealthy"),
        ({"problems": PROBLEMS}, Tally(0, 0), "CheckInvalid"),
    ],
)
def test_a_closed_gate_says_why(more: dict[str, Any], count: Tally, reason: str) -> None:
    """RemediationAllowed is False with the reason's name and sentence, and nothing is allowed."""
    found = told(a_check(**more), "RemediationAllowed", count)

    assert found is not None
    assert ("False", reason, str(NOW.wall)) == (found.status, found.reason, found.since)
    assert len(found.message) > 10
    assert 0 == published(a_check(**more), count).allowed


def test_the_gate_knows_when_it_changed() -> None:
    """The time of the condition is the one that names the gate's Events, not that of a write which came later."""
    check, count = a_check(max_unhealthy=Count(1)), Tally(5, 4)
    found = GateFact(gate(check, count), count, since=EARLIER)
    [action] = status.decide(status.StatusView(AT, check, "77", Mono(0), found), NOW).actions
    assert isinstance(action, PublishCheckStatus)

    assert [EARLIER, str(NOW.wall)] == [one.since for one in action.status.conditions if isinstance(one, Told)]


SAID = {"Valid": "False", "Overlapping": "True", "Deprecated": "True"}
CASES = [
    ("Valid", {"problems": PROBLEMS}, 0, "False", "CheckInvalid"),
    ("Overlapping", {}, 2, "True", "ChecksOverlap"),
    ("Deprecated", {"annotation_mode": True}, 0, "True", "AnnotationMode"),
]


@pytest.mark.parametrize(("kind", "more", "contested", "value", "reason"), CASES)
def test_trouble_is_told_while_it_lasts(
    kind: str, more: dict[str, Any], contested: int, value: str, reason: str
) -> None:
    """Not at all without trouble; with its reason while there is; the opposite once it is over."""
    was = (Told(kind, SAID[kind], reason, "", EARLIER),)
    trouble = told(a_check(**more), kind, contested=contested)
    over = told(a_check(status=CheckStatus(conditions=was)), kind)

    assert told(a_check(), kind) is None
    assert trouble is not None
    assert (value, reason) == (trouble.status, trouble.reason)
    assert trouble.message
    assert over is not None
    assert ({"True": "False", "False": "True"}[value], str(NOW.wall)) == (over.status, over.since)
    assert over.reason, "v1beta2 demands one"


def test_all_problems_are_in_the_message() -> None:
    """Whoever reads the object sees everything that is wrong with it."""
    found = told(a_check(problems=PROBLEMS), "Valid")

    assert found is not None
    assert "; ".join(PROBLEMS) == found.message


def test_what_is_over_and_told_stays_as_it_is() -> None:
    """A condition that says that all is in order again is neither removed nor dated anew."""
    right = tuple(structs.replace(one, since=EARLIER) for one in (OPEN, ACTS))
    was = (Told("Overlapping", "False", "NoOverlap", "", EARLIER), *right)

    assert was == published(a_check(status=CheckStatus(conditions=was))).conditions


def test_a_time_changes_with_its_status_only() -> None:
    """Another reason or message keeps the time of the last transition; one that is missing is set."""
    was = Told("RemediationAllowed", "False", "TooManyUnhealthy", "4 of 5", EARLIER)
    check = a_check(max_unhealthy=Count(1), status=CheckStatus(conditions=(was,)))
    undated = a_check(max_unhealthy=Count(1), status=CheckStatus(conditions=(structs.replace(was, since=""),)))

    assert EARLIER == getattr(told(check, "RemediationAllowed", Tally(5, 3)), "since", None)
    assert str(NOW.wall) == getattr(told(check, "RemediationAllowed", Tally(5, 5)), "since", None)
    assert str(NOW.wall) == getattr(told(undated, "RemediationAllowed", Tally(5, 3)), "since", None)


def test_conditions_of_others_stay_in_their_places() -> None:
    """The list is written whole: theirs as they are, ours in place, new ones at the end."""
    check = a_check(status=CheckStatus(conditions=(FOREIGN, OPEN, FOREIGN)), annotation_mode=True)
    found = published(check).conditions

    assert (FOREIGN, OPEN, FOREIGN) == found[:3]
    assert ["Acting", "Deprecated"] == [one.type for one in found[3:] if isinstance(one, Told)]


def test_a_status_that_is_right_is_not_written() -> None:
    """Neither now nor later: a restart finds nothing to do, also where the zeros were left out."""
    right = published(a_check())

    assert NOTHING == decide(a_check(status=right), now=later(3_600))
    assert NOTHING == decide(a_check(status=published(a_check(), Tally(0, 0))), Tally(0, 0), now=later(3_600))


@pytest.mark.parametrize("field", ["expected", "healthy", "allowed", "generation", "conditions"])
def test_each_field_that_differs_is_written(field: str) -> None:
    """Whatever somebody changed in our fields is put right."""
    right = published(a_check())
    wrong = structs.replace(right, **{field: () if field == "conditions" else 99})

    assert right == published(a_check(status=wrong))


@pytest.mark.parametrize(
    ("dialect", "generation"), [(Dialect.SEED, 4), (Dialect.CAPI, 4), (Dialect.OPENSHIFT, 0)], ids=str
)
def test_the_generation_is_told_where_there_is_a_field(dialect: Dialect, generation: int) -> None:
    """OpenShift's status has no observedGeneration: it would be pruned, and written again for ever."""
    assert generation == published(a_check(dialect=dialect)).generation


def test_counts_fit_into_the_api() -> None:
    """int32: a limit of four billion is somebody's way to say no limit."""
    assert 2**31 - 1 == published(a_check(max_unhealthy=Count(4_000_000_000))).allowed


# --- who else writes ---------------------------------------------------------------------------------------------

HOUR = 3_600


@pytest.mark.parametrize(
    ("seconds", "others", "wake"),
    [
        (60, True, None),  # since we look: for as long as we run
        (5_399, True, None),
        (5_401, False, None),  # before, and more than an hour ago
    ],
)
def test_another_controller_is_left_its_status(seconds: int, others: bool, wake: Mono | None) -> None:
    """Whoever wrote since we look at the check governs it: nothing is written, and the reason names it."""
    decision = decide(a_check(other_writers=(Writer("capi", ago(seconds)),)))

    assert (OtherControllerGoverns("capi"),) * others == tuple(
        reason for reason in decision.because if isinstance(reason, OtherControllerGoverns)
    )
    assert others is not bool(decision.actions)
    assert wake == decision.wake_at


def test_a_write_before_our_time_counts_for_an_hour() -> None:
    """A manager that starts beside another controller waits for that hour, by a timer."""
    check = a_check(other_writers=(Writer("capi", ago(600)), Writer("older", ago(700))))
    view = status.StatusView(AT, check, "77", NOW.mono, GateFact(gate(check, Tally(1, 1)), Tally(1, 1)))
    decision = status.decide(view, NOW)

    assert (OtherControllerGoverns("capi"),) == decision.because
    assert later(HOUR - 600).mono == decision.wake_at
    assert not status.decide(view, later(HOUR - 601)).actions
    assert status.decide(view, later(HOUR - 600)).actions


def test_a_person_can_give_the_check_to_us() -> None:
    """`node-remedy.dev/govern: "true"`: the status is ours, whoever else writes."""
    assert decide(a_check(governs=True, other_writers=(Writer("capi", NOW.wall),))).actions


def test_a_paused_check_is_not_touched() -> None:
    """Somebody may be moving it; the reason says so."""
    assert Decision(because=(CheckPaused(AT.in_words),)) == decide(a_check(cluster_paused=True))


# --- through the engine ------------------------------------------------------------------------------------------


def node_at(number: int) -> Ref:
    return ref(NODE, f"node-{number}")


class Watched(Engine):
    """An engine that tells which keys it looks at."""

    looked: list[Key]

    def _decide(self, key: Key, now: Now) -> Decision:
        self.looked.append(key)
        return super()._decide(key, now)


class Stage:
    """An engine with all rooms of health checks over a little API that stores what is published."""

    def __init__(self, size: int, check: HealthCheck, at: Ref = AT) -> None:
        self.at, self.stored, self.size, self.now = at, check, size, NOW
        self.version, self.writes, self.listed = 100, 0, 0
        self.nodes = dict.fromkeys(range(size), "True")
        self.restart()

    def restart(self) -> None:
        """A new process sees the same world."""
        self.engine = Watched(ROOMS)
        self.looked = self.engine.looked = []
        for kind in watched(ROOMS):
            self.engine.listing(kind, self.now)
            self.engine.listed(kind, self.now)
        self.put(self.at, self.stored)
        for number, ready in self.nodes.items():
            machine = a_machine(uid=f"m{number}", node_name=f"node-{number}", provider_id="")
            labelled = structs.replace(machine, labels=(("role", "worker"),))
            self.put(ref(MACHINE, f"worker-{number}", "metal"), labelled)
            self.node(number, ready)
        self.step()

    def put(self, at: Ref, obj: Any) -> None:
        self.version += 1
        self.engine.seen(Seen(at, obj.uid, str(self.version), obj), self.now)

    def node(self, number: int, ready: str) -> None:
        self.nodes[number] = ready
        condition = Condition("Ready", ready, self.now.wall)
        self.put(node_at(number), structs.replace(a_node(), uid=f"n{number}", conditions=(condition,)))

    def begin(self, seconds: float = 0) -> tuple[Effect, ...]:
        self.now = later(seconds, self.now)
        return self.engine.step(self.now, 1).effects

    def answer(self, effect: Effect) -> None:
        """The API stores a status, and shows it in its answer."""
        action = effect.action
        assert isinstance(action, PublishCheckStatus)
        self.writes += 1
        self.version += 1
        kept = self.stored.status.targets if action.status.targets is None else action.status.targets
        self.stored = structs.replace(self.stored, status=structs.replace(action.status, targets=kept))
        self.listed += action.status.targets is not None
        seen = Seen(self.at, self.stored.uid, str(self.version), self.stored)
        self.engine.ended(effect, Done(self.now.mono, seen), self.now)

    def step(self, seconds: float = 0) -> None:
        effects = self.begin(seconds)
        for effect in effects:
            self.answer(effect)
        if effects:
            self.step()


def test_a_status_follows_sick_and_well() -> None:
    """One write each, and the machines' own verdicts are what it counts."""
    stage = Stage(3, a_check(max_unhealthy=Count(2)))
    assert (1, 3, 3) == (stage.writes, stage.stored.status.expected, stage.stored.status.healthy)
    stage.node(1, "Unknown")
    stage.node(2, "Unknown")
    stage.step()
    assert (2, 1, 0) == (stage.writes, stage.stored.status.healthy, stage.stored.status.allowed)
    stage.node(1, "True")
    stage.step()
    assert (3, 2) == (stage.writes, stage.stored.status.healthy)
    assert ["True", "True"] == [one.status for one in stage.stored.status.conditions if isinstance(one, Told)]


def test_figures_wait_and_conditions_do_not() -> None:
    """Machines that change within two seconds are one write; a gate that closes is told at once."""
    stage = Stage(9, a_check(max_unhealthy=Count(5)))
    stage.node(0, "Unknown")
    stage.step(1)
    assert (2, 8) == (stage.writes, stage.stored.status.healthy)
    for number in (1, 2, 3):
        stage.node(number, "Unknown")
        stage.step(0.5)
    assert 2 == stage.writes
    stage.step(0.5)
    assert (3, 5) == (stage.writes, stage.stored.status.healthy)
    stage.node(4, "Unknown")
    stage.step(0.1)
    assert (4, 4) == (stage.writes, stage.stored.status.healthy), "five are sick, and fewer than five are borne"


def test_the_names_of_the_targets_are_written_when_they_change() -> None:
    """Sorted, once; not when somebody gets sick, and again when a machine comes or goes."""
    stage = Stage(3, a_check())
    assert (("worker-0", "worker-1", "worker-2"), 1) == (stage.stored.status.targets, stage.listed)
    stage.node(1, "Unknown")
    stage.step(400)
    assert 1 == stage.listed
    stage.engine.gone(Seen(ref(MACHINE, "worker-1", "metal"), "m1", "", None), stage.now)
    stage.step()

    assert (("worker-0", "worker-2"), 2) == (stage.stored.status.targets, stage.listed)


def test_no_list_is_better_than_half_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """More names than the API takes are not listed; what is there stays."""
    monkeypatch.setattr(targets, "NAMES_MAX", 2)

    assert (None, 0) == (Stage(3, a_check()).stored.status.targets, Stage(3, a_check()).listed)
    assert ("worker-0", "worker-1") == Stage(2, a_check()).stored.status.targets


@pytest.mark.parametrize(("dialect", "told"), [(Dialect.SEED, True), (Dialect.CAPI, True), (Dialect.OPENSHIFT, False)])
def test_targets_are_told_where_there_is_a_field(dialect: Dialect, told: bool) -> None:
    """OpenShift's status has none: it would be pruned, and written again for ever."""
    check = a_check(dialect=dialect)
    count = Tally(2, 2)
    view = status.StatusView(AT, check, "77", Mono(0), GateFact(gate(check, count), count), ("a", "b"))

    assert (("a", "b") if told else None) == status.new_targets(view)


def test_openshifts_checks_get_theirs() -> None:
    """The other group of the kind is published on its own check."""
    stage = Stage(0, a_check(dialect=Dialect.OPENSHIFT), ref(OPENSHIFT_HEALTH_CHECK, "workers", "metal"))

    assert 1 == stage.writes
    assert "RemediationAllowed" in str(stage.stored.status.conditions)


def test_a_status_write_wakes_no_machine() -> None:
    """With a thousand machines a status costs as many looks as with one, whoever wrote it: no verdict among them."""
    stage = Stage(1_000, a_check())
    rooms = [key.room for key in stage.looked]
    assert [1_000, 1] == [rooms.count("verdict"), stage.writes]
    stage.looked.clear()
    foreign = structs.replace(stage.stored.status, conditions=(*stage.stored.status.conditions, FOREIGN))
    stage.stored = structs.replace(stage.stored, status=foreign)
    stage.put(AT, stage.stored)
    stage.step()

    assert [Key("spec", AT), Key("check", AT), Key("status", AT)] == stage.looked
    assert 1 == stage.writes


def test_a_new_spec_is_stated_before_any_verdict() -> None:
    """A node's event and a new spec in one step: each machine is judged once, by the new one."""
    stage = Stage(3, a_check())
    stage.looked.clear()
    stage.node(1, "Unknown")
    stage.stored = structs.replace(stage.stored, node_criteria=(), generation=5)
    stage.put(AT, stage.stored)
    stage.step()

    assert Key("spec", AT) == stage.looked[0]
    assert 3 == [key.room for key in stage.looked].count("verdict")
    assert (3, 5) == (stage.stored.status.healthy, stage.stored.status.generation)


def test_idle_means_no_writes() -> None:
    """Nothing changes for an hour: nothing is looked at, nothing is written, no wake is planned."""
    stage = Stage(5, a_check())
    stage.step(3_600)

    assert 1 == stage.writes
    assert stage.engine.next_wake() is None


def test_a_restart_writes_nothing() -> None:
    """A new process finds the status right, also while a machine is sick and the gate is closed."""
    stage = Stage(4, a_check(max_unhealthy=Count(1), status=CheckStatus(conditions=(FOREIGN,))))
    stage.node(1, "Unknown")
    stage.step()
    before = stage.writes
    stage.step(400)
    stage.restart()
    stage.step(400)

    assert (2, before) == (before, stage.writes)
    assert FOREIGN in stage.stored.status.conditions


def test_changes_during_a_write_are_one_write_more() -> None:
    """While one is in flight, no other begins; then one with all that has changed."""
    stage = Stage(9, a_check())
    stage.node(0, "Unknown")
    [effect] = stage.begin()
    for number in range(1, 9):
        stage.node(number, "Unknown")
        assert () == stage.begin()
    stage.answer(effect)
    stage.step()

    assert 3 == stage.writes
    assert 0 == stage.stored.status.healthy


def test_a_gate_never_waits_for_a_status() -> None:
    """A status that the API refuses keeps no gate open."""
    stage = Stage(4, a_check(max_unhealthy=Count(2)))
    stage.node(0, "Unknown")
    [effect] = stage.begin()
    stage.engine.ended(effect, Failed("forbidden", lasting=True), stage.now)
    stage.node(1, "Unknown")
    assert () == stage.begin()
    entry = stage.engine.cache.read(gate_ref(AT))

    assert isinstance(entry, Present)
    assert not entry.obj.gate.is_open


def test_a_check_that_goes_is_not_written() -> None:
    """Neither one that is being deleted nor one that is gone."""
    stage = Stage(2, a_check(deleting=True))
    assert 0 == stage.writes
    stage.engine.gone(Seen(AT, "check-uid", "999", None), stage.now)

    assert () == stage.begin()
