"""Leader election: never two at once, tokens that only grow, and a leader soon after one left."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.election import CALM, ROUGH, Election, Weather

from noderemedy.engine.leadership import (
    Conflict,
    Do,
    Found,
    Leadership,
    Lease,
    Missing,
    Operation,
    Rules,
    Unsure,
)
from noderemedy.model.time import Mono, Now, Span, Wall

HOUR = 3_600_000


def at(ms: int) -> Now:
    return Now(Wall(1_000_000 + ms), Mono(ms))


def held_by(holder: str, version: str = "1", transitions: int = 4) -> Found:
    return Found(Lease(holder, transitions, Span(15_000), Wall(0), Wall(0), version))


def step(machine: Leadership, now: Now) -> Operation:
    operation = machine.poll(now).operation
    assert operation is not None
    return operation


def a_leader(since: int = 0) -> Leadership:
    """A candidate that took a released Lease over at this time."""
    machine = Leadership("we")
    machine.answered(step(machine, at(since)), at(since), held_by(""))
    taking = step(machine, at(since))
    assert Do.TAKE_OVER is taking.do
    machine.answered(taking, at(since), held_by("we", "2", 5))
    return machine


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(2, 3),
    loss=st.sampled_from([0.0, 0.05, 0.3]),
    slow=st.sampled_from([0.0, 0.05, 0.3]),
    pause=st.sampled_from([0.0, 0.02, 0.1]),
    restart=st.sampled_from([0.0, 0.01]),
)
def test_never_two_leaders(seed: int, count: int, loss: float, slow: float, pause: float, restart: float) -> None:
    """Whatever is lost, late, paused or restarted, at most one candidate may act, and every token is new."""
    weather = Weather(loss=loss, slow=slow, pause=pause, restart=restart)

    election = Election(seed, count, weather).run(HOUR // 4)

    assert [] == election.two_at_once
    assert [] == election.token_went_back


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_leader_is_found_and_kept_in_calm_weather(seed: int) -> None:
    """Without faults the first leader stays the leader."""
    election = Election(seed, 3, CALM).run(HOUR // 6)

    assert 1 == len(election.leaders())
    assert 1 == len(election.acquisitions)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_there_is_a_leader_again_after_the_storm(seed: int) -> None:
    """When faults end, a leader is there within the duration, two looks and the last slow message."""
    election = Election(seed, 3, ROUGH).run(HOUR // 4)
    election.weather = CALM
    for candidate in election.candidates:
        candidate.paused_until = election.now_ms

    election.run(election.now_ms + 60_000)

    assert 1 == len(election.leaders())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_released_lease_is_taken_within_the_retry_period(seed: int) -> None:
    """A leader that leaves hands over: a standby acts one look later, not one duration later."""
    election = Election(seed, 3, Weather(delay_ms_max=0)).run(60_000)
    leaver = election.leaders()[0]

    leaver.machine.release(leaver.now(election.now_ms))
    election.run(election.now_ms + 2_100)  # to the leaver's own next turn
    released = election.now_ms
    election.run(released + 2_100)

    assert leaver.machine.is_done
    assert [leaver] != election.leaders()
    assert 1 == len(election.leaders())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), when=st.integers(60_000, 120_000))
def test_a_deleted_lease_makes_no_second_leader(seed: int, when: int) -> None:
    """When somebody deletes the Lease, those who saw it wait as long as the old leader may act."""
    election = Election(seed, 3, Weather(slow=0.05, pause=0.02)).run(when)
    if any(not candidate.machine.holder for candidate in election.candidates):
        return
    election.server.lease = None

    election.run(when + 120_000)

    assert [] == election.two_at_once


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_tokens_go_on_after_the_lease_was_deleted(seed: int) -> None:
    """Whoever makes the Lease anew counts on from the highest token it saw."""
    election = Election(seed, 3, CALM).run(60_000)
    election.server.lease = None

    election.run(120_000)

    assert [1, 2] == [token for _, _, token in election.acquisitions]


class CreatesAtOnce(Leadership):
    """Sabotage: a Lease that vanished is made anew without waiting for its holder."""

    def _create(self, now: Now) -> Operation:
        self._first_seen = Mono(now.mono.ms - self.rules.duration.ms)
        return super()._create(now)


def test_creating_at_once_would_be_noticed() -> None:
    """Without the wait after a deletion the harness finds two leaders."""
    found = []
    for seed in range(20):
        election = Election(seed, 3, CALM, CreatesAtOnce).run(60_000)
        election.server.lease = None
        found += election.run(90_000).two_at_once

    assert found


class FromTheAnswer(Leadership):
    """Sabotage of rule 1: leadership counts from the answer instead of from the begin of the request."""

    def _conclude(self, operation: Operation, lease: Lease, now: Now) -> None:
        super()._conclude(Operation(operation.do, now.mono, operation.lease), lease, now)


class ByTheWallClock(Leadership):
    """Sabotage of rule 2: another holder has expired when its renewTime is old by our wall clock."""

    def _choose(self, now: Now) -> Operation:
        if self._lease is not None:
            age = now.wall.since(self._lease.renewed)
            self._first_seen = Mono(now.mono.ms - age.ms)
        return super()._choose(now)


class WithoutMargin(Leadership):
    """Sabotage of rule 3: act until others may start, as if all clocks ran at one speed."""

    def _conclude(self, operation: Operation, lease: Lease, now: Now) -> None:
        super()._conclude(operation, lease, now)
        if self._valid_until is not None and operation.do is not Do.READ:
            self._valid_until = operation.begun + Span(self.rules.duration.ms + 2_000)


@pytest.mark.parametrize("sabotaged", [FromTheAnswer, ByTheWallClock, WithoutMargin])
def test_each_rule_is_needed(sabotaged: type[Leadership]) -> None:
    """With one rule broken the same harness finds two leaders at once."""
    weather = Weather(loss=0.1, slow=0.1, pause=0.05)

    runs = (Election(seed, 3, weather, sabotaged).run(HOUR // 4).two_at_once for seed in range(20))

    assert any(runs)


def test_a_tampered_token_would_be_noticed() -> None:
    """The harness sees a candidate that takes over without a new token."""

    class SameToken(Leadership):
        def _take_over(self, lease: Lease, now: Now) -> Operation:
            self._highest -= 1
            return super()._take_over(lease, now)

    runs = (Election(seed, 3, ROUGH, SameToken).run(HOUR // 4).token_went_back for seed in range(20))

    assert any(runs)


def test_leadership_counts_from_the_begin_of_the_request() -> None:
    """An answer that took four seconds leaves six of the ten."""
    machine = Leadership("we")
    machine.answered(step(machine, at(0)), at(0), Missing())
    creating = step(machine, at(0))
    machine.answered(creating, at(4_000), held_by("we", "1", 1))

    assert Do.CREATE is creating.do
    assert machine.may_act(at(9_999))
    assert not machine.may_act(at(10_000))
    assert 1 == machine.token


def test_a_stranger_is_waited_for_by_our_own_clock() -> None:
    """The wait starts when we see a renewal, whatever time it carries, and starts again with the next."""
    machine = Leadership("we")
    machine.answered(step(machine, at(0)), at(0), held_by("other", "1"))
    machine.answered(step(machine, at(10_000)), at(10_000), held_by("other", "2"))

    reading = step(machine, at(24_000))
    machine.answered(reading, at(24_000), held_by("other", "2"))

    assert Do.READ is reading.do
    assert Do.TAKE_OVER is step(machine, at(26_000)).do


def test_a_longer_duration_of_the_holder_is_respected() -> None:
    """A holder that was promised a minute gets a minute, whatever our own numbers are."""
    machine = Leadership("we")
    generous = Found(Lease("other", 1, Span(60_000), Wall(0), Wall(0), "1"))
    machine.answered(step(machine, at(0)), at(0), generous)

    operation = step(machine, at(59_000))
    machine.answered(operation, at(59_000), generous)

    assert Do.READ is operation.do
    assert Do.TAKE_OVER is step(machine, at(61_000)).do


def test_a_lost_answer_is_followed_by_a_look() -> None:
    """After a renewal without an answer we go on acting in the old time, and read before we write again."""
    machine = a_leader()
    machine.answered(step(machine, at(2_000)), at(4_000), Unsure())

    assert machine.may_act(at(5_000))
    looking = step(machine, at(5_000))
    assert Do.READ is looking.do
    machine.answered(looking, at(5_000), held_by("we", "3", 5))
    assert Do.RENEW is step(machine, at(5_000)).do


def test_a_conflict_stops_acting_until_it_is_understood() -> None:
    """Somebody touched our Lease: no effect starts until a look shows that it is still ours."""
    machine = a_leader()
    machine.answered(step(machine, at(2_000)), at(2_000), Conflict())
    assert not machine.may_act(at(2_000))

    machine.answered(step(machine, at(2_000)), at(2_010), held_by("we", "7", 5))

    assert machine.may_act(at(2_010))


def test_a_lease_taken_by_another_ends_leadership_at_once() -> None:
    """What we read counts more than what time is left."""
    machine = a_leader()
    machine.answered(step(machine, at(2_000)), at(2_000), Conflict())
    machine.answered(step(machine, at(2_000)), at(2_010), held_by("other", "7", 6))

    assert not machine.may_act(at(2_010))


def test_coming_back_after_a_loss_takes_a_new_token() -> None:
    """The same process, still named in the Lease, acquires again with one token more."""
    machine = a_leader()
    machine.answered(step(machine, at(2_000)), at(30_000), Unsure())
    machine.answered(step(machine, at(30_000)), at(30_000), held_by("we", "3", 5))

    taking = step(machine, at(30_000))

    assert Do.TAKE_OVER is taking.do
    assert taking.lease is not None
    assert (6, "3") == (taking.lease.transitions, taking.lease.version)


def test_a_renewal_answered_too_late_takes_a_new_token() -> None:
    """If our time ran out before the answer came, that leadership is over even though the write succeeded."""
    machine = a_leader()
    machine.answered(step(machine, at(9_000)), at(12_000), held_by("we", "3", 5))

    assert not machine.may_act(at(12_000))
    assert Do.TAKE_OVER is step(machine, at(12_000)).do


def test_a_namesake_is_a_stranger() -> None:
    """A Lease in our name that this process never wrote belongs to somebody who may still act."""
    machine = Leadership("we")
    machine.answered(step(machine, at(0)), at(0), held_by("we"))

    assert Do.READ is step(machine, at(2_000)).do


def test_release_empties_the_holder_and_acts_no_more() -> None:
    """From the wish to leave on nothing may start; the Lease is handed over under its version."""
    machine = a_leader()
    machine.release(at(1_000))
    assert not machine.may_act(at(1_000))

    releasing = step(machine, at(1_000))
    assert Do.RELEASE is releasing.do
    assert releasing.lease is not None
    assert ("", "2", 5) == (releasing.lease.holder, releasing.lease.version, releasing.lease.transitions)
    machine.answered(releasing, at(1_010), held_by("", "3", 5))

    assert machine.is_done
    assert machine.poll(at(5_000)).operation is None


def test_who_stands_aside_acts_no_more_and_only_looks() -> None:
    """At once, without a write, at the usual pace; whoever takes over meanwhile is a stranger like any other."""
    machine = a_leader()
    machine.stand_aside(at(1_000))
    looks, now = [], 1_000
    while now < 20_000:
        found = machine.poll(at(now))
        if found.operation is not None:
            looks.append(found.operation.do)
            machine.answered(found.operation, at(now), held_by("we", "2", 5))
        now = max(found.wake_at.ms, now + 1)
    for moment, version in ((now, "3"), (40_000, "4")):
        machine.answered(step(machine, at(moment)), at(moment), held_by("other", version, 6))

    assert {Do.READ} == set(looks)
    assert len(looks) <= 15
    assert (False, Do.READ) == (machine.may_act(at(40_000)), step(machine, at(46_500)).do)


def test_who_stood_aside_in_vain_leads_again_with_a_new_token() -> None:
    """Nobody else is there: after its time it takes its own Lease over."""
    machine = a_leader()
    machine.stand_aside(at(1_000))
    machine.answered(step(machine, at(40_000)), at(40_000), held_by("we", "2", 5))
    taking = step(machine, at(46_001))
    assert taking.lease is not None
    machine.answered(taking, at(46_001), held_by("we", "3", 6))

    assert (Do.TAKE_OVER, 6, 6) == (taking.do, taking.lease.transitions, machine.token)
    assert machine.may_act(at(46_002))


def test_who_stands_aside_and_is_stopped_hands_the_lease_over() -> None:
    """Nobody waits longer than before."""
    machine = a_leader()
    machine.stand_aside(at(1_000))
    machine.release(at(2_000))

    assert Do.RELEASE is step(machine, at(2_000)).do


def test_release_without_leadership_is_done_at_once() -> None:
    """A standby has nothing to hand over."""
    machine = Leadership("we")
    machine.answered(step(machine, at(0)), at(0), held_by("other"))

    machine.release(at(1))

    assert machine.is_done


def test_an_unsure_take_over_is_released_too() -> None:
    """If we may hold the Lease without knowing it, leaving looks first."""
    machine = Leadership("we")
    machine.answered(step(machine, at(0)), at(0), held_by(""))
    machine.answered(step(machine, at(0)), at(1), Unsure())
    machine.release(at(2))

    assert not machine.is_done
    assert Do.READ is step(machine, at(2)).do


def test_looks_are_spread_by_chance_and_never_later_than_the_retry_period() -> None:
    """The pause is drawn between three quarters of the retry period and all of it."""
    machine = Leadership("we")
    least = machine.poll(Now(Wall(0), Mono(0), 0)).wake_at
    machine = Leadership("we")
    most = machine.poll(Now(Wall(0), Mono(0), 2**64 - 1)).wake_at

    assert (Mono(1_500), Mono(1_999)) == (least, most)


@pytest.mark.parametrize(
    ("duration", "deadline", "retry"), [(15_000, 15_000, 2_000), (10_000, 9_900, 2_000), (15_000, 10_000, 10_000)]
)
def test_numbers_that_are_not_safe_are_refused(duration: int, deadline: int, retry: int) -> None:
    """Rules whose margin cannot cover two drifting clocks are an error, not a risk."""
    with pytest.raises(ValueError, match="leader election needs"):
        Rules(Span(duration), Span(deadline), Span(retry))
