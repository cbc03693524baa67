"""Verdicts and gates through the engine: who is judged by whom, who is counted, and what an event costs."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from tests.builders import NOW, a_machine, a_node, later

from noderemedy.core.healthcheck import checks, specs, verdicts
from noderemedy.core.healthcheck.facts import GateFact, VerdictFact, gate_ref, verdict_ref
from noderemedy.engine.loop import Engine
from noderemedy.engine.telling import Notice
from noderemedy.model.healthcheck import Count, Criterion, Dialect, HealthCheck, Healthy, Tally, Unhealthy, Waiting
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, NODE, Ref, ref
from noderemedy.model.node import Condition
from noderemedy.model.outcome import Done, Key, Seen
from noderemedy.model.room import Present
from noderemedy.model.selector import Selector
from noderemedy.model.time import Now, Span, Wall
from noderemedy.rooms import watched

ROOMS = (specs.ROOM, verdicts.ROOM, checks.ROOM)
UNKNOWN_FOR_5M = Criterion("Ready", "Unknown", Span(300_000))
WORKERS = Selector(match_labels=(("role", "worker"),))
AT = ref(HEALTH_CHECK, "workers", "metal")


def a_check(**more: Any) -> HealthCheck:
    given = {"dialect": Dialect.SEED, "selector": WORKERS, "node_criteria": (UNKNOWN_FOR_5M,), "created": Wall(1)}
    return HealthCheck(**{"uid": "check-uid", **given, **more})


def machine_at(number: int) -> Ref:
    return ref(MACHINE, f"worker-{number}", "metal")


def node_at(number: int) -> Ref:
    return ref(NODE, f"node-{number}")


class Stage:
    """An engine with the three rooms, a pool of machines and nodes, and a clock."""

    def __init__(self, size: int, *found: tuple[Ref, HealthCheck]) -> None:
        self.engine = Engine(ROOMS)
        self.now: Now = NOW
        self.version = 100
        self.notices: list[Notice] = []
        for kind in watched(ROOMS):
            self.engine.listing(kind, self.now)
            self.engine.listed(kind, self.now)
        for at, check in found or ((AT, a_check()),):
            self.put(at, check)
        for number in range(size):
            machine = a_machine(uid=f"m{number}", node_name=f"node-{number}", provider_id="")
            self.put(machine_at(number), structs.replace(machine, labels=(("role", "worker"),)))
            self.node(number, "True")
        self.step()

    def put(self, at: Ref, obj: Any) -> None:
        self.version += 1
        self.engine.seen(Seen(at, obj.uid, str(self.version), obj), self.now)

    def node(self, number: int, ready: str, **more: Any) -> None:
        condition = Condition("Ready", ready, self.now.wall)
        self.put(node_at(number), structs.replace(a_node(**more), uid=f"n{number}", conditions=(condition,)))

    def step(self, seconds: float = 0) -> None:
        self.now = later(seconds, self.now)
        output = self.engine.step(self.now, 1)
        self.notices.extend(output.notices)
        for effect in output.effects:  # a live read that finds nothing
            self.engine.ended(effect, Done(self.now.mono, gone=True), self.now)
        if output.effects:
            self.step()

    def verdict(self, number: int) -> VerdictFact:
        entry = self.engine.cache.read(verdict_ref(machine_at(number)))
        assert isinstance(entry, Present)
        assert isinstance(entry.obj, VerdictFact)
        return entry.obj

    def gate(self, at: Ref = AT) -> GateFact:
        entry = self.engine.cache.read(gate_ref(at))
        assert isinstance(entry, Present)
        assert isinstance(entry.obj, GateFact)
        return entry.obj

    def reasons(self, at: Ref, room: str) -> list[str]:
        decision = self.engine.decisions.get(Key(room, at))
        return [type(reason).__name__ for reason in decision.because] if decision else []


def test_a_node_that_falls_silent_is_waited_for_and_then_sick() -> None:
    """Waiting until the timeout and one second more, then unhealthy, by a timer and not by polling."""
    stage = Stage(3)
    stage.node(1, "Unknown")
    stage.step()
    verdict = stage.verdict(1).verdict

    assert isinstance(verdict, Waiting)
    assert stage.now.wall + Span(301_000) == verdict.until
    assert stage.now.mono + Span(301_000) == stage.engine.next_wake()
    stage.step(301)
    assert isinstance(stage.verdict(1).verdict, Unhealthy)
    assert ["ConditionTimedOut"] == stage.reasons(machine_at(1), "verdict")
    assert isinstance(stage.verdict(2).verdict, Healthy)


def test_the_gate_closes_before_the_first_timeout() -> None:
    """Machines in their grace period count: a storm closes the gate at once; it is told once somebody is unhealthy."""
    stage = Stage(5, (AT, a_check(max_unhealthy=Count(2))))
    stage.node(0, "Unknown")
    stage.step()
    assert stage.gate().gate.is_open
    stage.node(1, "Unknown")
    stage.step()

    assert not stage.gate().gate.is_open
    assert [] == stage.reasons(AT, "check"), "all have time left: nobody is kept from a repair"
    stage.step(301)
    assert ["TooManyUnhealthy"] == stage.reasons(AT, "check")
    stage.node(1, "True")
    stage.step()
    assert stage.gate().gate.is_open
    assert ["RemediationAllowedAgain"] == stage.reasons(AT, "check")


def test_a_machine_under_repair_counts_as_not_healthy() -> None:
    """Whatever its node says meanwhile."""
    stage = Stage(3, (AT, a_check(max_unhealthy=Count(1))))
    machine = stage.engine.cache.read(machine_at(0)).obj  # type: ignore[union-attr]
    stage.put(machine_at(0), structs.replace(machine, needs_remediation=True))
    stage.step()

    assert isinstance(stage.verdict(0).verdict, Healthy)
    assert not stage.gate().gate.is_open


def test_a_missing_node_is_sick_only_after_a_live_read() -> None:
    """The node is gone from the cache: one Confirm, then unhealthy."""
    stage = Stage(2)
    stage.engine.gone(Seen(node_at(1), "n1", "999", None), stage.now)
    output = stage.engine.step(stage.now, 1)

    assert ["Confirm"] == [type(effect.action).__name__ for effect in output.effects]
    stage.engine.ended(output.effects[0], Done(stage.now.mono, gone=True), stage.now)
    stage.step()
    assert isinstance(stage.verdict(1).verdict, Unhealthy)
    assert ["NodeMissing"] == stage.reasons(machine_at(1), "verdict")


def test_the_older_of_two_checks_governs_and_both_are_told() -> None:
    """Overlapping checks never contradict each other: one has the say, both hear of it."""
    younger = ref(HEALTH_CHECK, "a-younger-one", "metal")
    stage = Stage(2, (AT, a_check()), (younger, a_check(uid="other", created=Wall(2), node_criteria=())))
    stage.node(1, "Unknown")
    stage.step(301)

    assert AT == stage.verdict(1).check
    assert (younger,) == stage.verdict(1).others
    assert ["ChecksOverlap"] == stage.reasons(younger, "check")
    assert ["ChecksOverlap"] == stage.reasons(AT, "check")


@pytest.mark.parametrize("created", [Wall(1), None], ids=["of one second", "of no known time"])
def test_of_two_checks_of_one_age_the_first_by_name_governs(created: Wall | None) -> None:
    """Whichever of them was seen first: two managers must agree."""
    first, second = ref(HEALTH_CHECK, "a-first", "metal"), ref(HEALTH_CHECK, "b-second", "metal")
    stage = Stage(2, (second, a_check(uid="b", created=created)), (first, a_check(uid="a", created=created)))
    stage.node(1, "Unknown")
    stage.step(301)

    assert (first, (second,)) == (stage.verdict(1).check, stage.verdict(1).others)


def test_a_check_of_nobody_is_told_so_when_it_has_settled() -> None:
    """Machines may come after their check: after two minutes, once, and no more when one is there."""
    stage = Stage(2, (AT, a_check(selector=Selector((("role", "nobody"),)))))
    assert [] == stage.reasons(AT, "check")
    stage.step(119)
    assert ([], Tally(0, 0)) == (stage.reasons(AT, "check"), stage.gate().count)
    stage.step(1)
    assert ["CheckWithoutTargets"] == stage.reasons(AT, "check")
    stage.step(3_600)
    told = [one for one in stage.notices if one.ref == AT]
    assert ["CheckWithoutTargets"] == [type(one.reason).__name__ for one in told]
    machine = stage.engine.cache.read(machine_at(0)).obj  # type: ignore[union-attr]
    stage.put(machine_at(0), structs.replace(machine, labels=(("role", "nobody"),)))
    stage.step()

    assert [] == stage.reasons(AT, "check")


def test_machines_that_nobody_selects_are_nobodys() -> None:
    """Another label, another namespace, paused or skipped: no verdict, and not counted."""
    stage = Stage(2)
    machine = stage.engine.cache.read(machine_at(0)).obj  # type: ignore[union-attr]
    stage.put(machine_at(0), structs.replace(machine, skips_remediation=True))
    stage.step()

    assert not isinstance(stage.engine.cache.read(verdict_ref(machine_at(0))), Present)
    assert 1 == stage.engine.cache.tally("verdicts by check", f"{HEALTH_CHECK} {AT}")


def test_a_check_that_goes_takes_its_verdicts_with_it() -> None:
    """Nobody is judged by a check that does not exist any more."""
    stage = Stage(2)
    stage.engine.gone(Seen(AT, "check-uid", "999", None), stage.now)
    stage.step()

    assert not isinstance(stage.engine.cache.read(verdict_ref(machine_at(0))), Present)
    assert not isinstance(stage.engine.cache.read(gate_ref(AT)), Present)


def test_an_invalid_check_disturbs_nobody_elses_machines() -> None:
    """Its reason names the problem; the check of other machines goes on."""
    broken = ref(HEALTH_CHECK, "broken", "metal")
    problems = ("spec.maxUnhealthy: 'x' is no number; write 2 or 40%",)
    invalid = a_check(uid="broken", problems=problems, selector=Selector((("role", "master"),)))
    stage = Stage(2, (AT, a_check()), (broken, invalid))
    stage.node(1, "Unknown")
    stage.step(301)

    assert ["CheckInvalid"] == stage.reasons(broken, "check")
    assert isinstance(stage.verdict(1).verdict, Unhealthy)


@pytest.mark.parametrize("size", [10, 1_000])
def test_the_cost_of_an_event_does_not_grow(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that turns sick costs one verdict and one gate, in a pool of ten and of a thousand."""
    stage = Stage(size)
    looked: list[Key] = []
    true_decide = Engine._decide

    def counted(self: Engine, key: Key, now: Now) -> Any:
        looked.append(key)
        return true_decide(self, key, now)

    monkeypatch.setattr(Engine, "_decide", counted)
    stage.node(3, "Unknown")
    stage.step()

    assert [Key("verdict", machine_at(3)), Key("check", AT)] == looked


def test_idle_means_nothing_to_do() -> None:
    """A healthy pool has no wake planned and states nothing new."""
    stage = Stage(5)
    stage.step(60)

    assert stage.engine.next_wake() is None
    assert 0 == len(stage.engine.queue)
