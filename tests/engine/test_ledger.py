"""The ledger: one effect in flight per key, doubts after unknown outcomes, pauses after failures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import NOW
from tests.engine.bench import A, B, drop, key

from noderemedy.engine.ledger import BACKOFF_MAX, LASTING, Ledger, pause
from noderemedy.model.actions import Action, Confirm, Guard, RemoveRebootAnnotation
from noderemedy.model.outcome import Done, Failed, Unknown
from noderemedy.model.time import Now, Span

KEY, OTHER = key(A), key(B)
BUSY = Failed("busy")


def test_one_effect_in_flight_per_key() -> None:
    """A second effect of the same key is a bug; other keys are not disturbed."""
    ledger = Ledger()
    ledger.begin(KEY, (drop(A),), 7)
    ledger.begin(OTHER, (drop(B),), 7)

    assert (True, True) == (ledger.holds(KEY), ledger.holds(OTHER))
    with pytest.raises(AssertionError, match="one effect in flight"):
        ledger.begin(KEY, (drop(A),), 7)


def test_an_effect_ends_once() -> None:
    """An outcome that comes twice, or for an effect that never began, is a bug."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A), drop(B)), 7)

    assert (drop(B),) == ledger.end(effect)
    assert not ledger.holds(KEY)
    with pytest.raises(AssertionError, match="ends once"):
        ledger.end(effect)


def test_effects_are_numbered_and_carry_the_token() -> None:
    """Every effect can be told from every other, and says which leader wanted it."""
    ledger = Ledger()
    first, second = ledger.begin(KEY, (drop(A),), 7), ledger.begin(OTHER, (drop(B),), 8)

    assert [(1, 7), (2, 8)] == [(effect.number, effect.token) for effect in (first, second)]
    assert [first, second] == ledger.in_flight()


@pytest.mark.parametrize("outcome", [Unknown("no answer"), Failed("object has been modified", conflict=True)])
def test_what_is_not_known_is_looked_at(outcome: Unknown | Failed) -> None:
    """After no answer, or after an answer that says our view is old, the object is read live before anything else."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A),), 7)
    ledger.end(effect)

    ledger.went_wrong(effect, outcome, NOW)

    assert Confirm(A) == ledger.doubt(KEY)
    assert ledger.doubt(OTHER) is None
    look = ledger.begin(KEY, (Confirm(A),), 7)
    ledger.end(look)
    ledger.went_well(look, NOW)
    assert ledger.doubt(KEY) is None
    assert ledger.trouble(KEY) is not None, "the live read went well, the write did not"


def test_a_sure_failure_leaves_no_doubt() -> None:
    """What surely did not happen needs no live read."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A),), 7)
    ledger.end(effect)
    ledger.went_wrong(effect, BUSY, NOW)

    assert ledger.doubt(KEY) is None


def test_a_live_read_of_something_else_does_not_settle_a_doubt() -> None:
    """The doubt is about one object; another one says nothing about it."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A),), 7)
    ledger.end(effect)
    ledger.went_wrong(effect, Unknown("no answer"), NOW)
    other = ledger.begin(KEY, (Confirm(B),), 7)
    ledger.end(other)
    ledger.went_well(other, NOW)

    assert Confirm(A) == ledger.doubt(KEY)


def test_success_ends_the_trouble() -> None:
    """After a write that went well the next failure is the first one again."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A),), 7)
    for times in (1, 2, 3):
        assert times == ledger.went_wrong(effect, BUSY, NOW).times
    ledger.went_well(effect, NOW)

    assert ledger.trouble(KEY) is None
    assert 1 == ledger.went_wrong(effect, BUSY, NOW).times


def times_of(*failures: tuple[Action, Failed | Unknown]) -> list[int]:
    """How often in a row the key failed by then, for each failure, with a live read of every doubt in between."""
    ledger, times = Ledger(), []
    for action, outcome in failures:
        effect = ledger.begin(KEY, (action,), 7)
        ledger.end(effect)
        times.append(ledger.went_wrong(effect, outcome, NOW).times)
        if doubt := ledger.doubt(KEY):
            look = ledger.begin(KEY, (doubt,), 7)
            ledger.end(look)
            ledger.went_well(look, NOW)
    return times


LOST, RELEASE = Unknown("no answer"), RemoveRebootAnnotation(A, Guard("uid"))


def test_another_action_after_a_lost_answer_counts_anew() -> None:
    """The doubt is settled and something else is wanted: the write had been applied, and this is another one."""
    assert [1, 1, 1, 1] == times_of((drop(A), LOST), (RELEASE, LOST), (drop(A), LOST), (RELEASE, BUSY))


def test_the_same_action_wanted_again_counts_on() -> None:
    """Whatever became of it each time, what is wanted again was not achieved, also if live reads fail in between."""
    assert [1, 2, 3, 4] == times_of((drop(A), LOST), (drop(A), LOST), (drop(A), BUSY), (drop(A), LOST))
    assert [1, 2, 3] == times_of((drop(A), LOST), (Confirm(A), LOST), (drop(A), LOST))
    assert [1, 2, 3] == times_of((drop(A), BUSY), (RELEASE, BUSY), (drop(A), BUSY))


def test_trouble_can_be_forgotten() -> None:
    """A key that wants nothing any more has no trouble left either: neither memory nor a longer pause next year."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A),), 7)
    ledger.end(effect)
    ledger.went_wrong(effect, BUSY, NOW)
    ledger.forget_trouble(KEY)

    assert ledger.trouble(KEY) is None


def test_a_done_outcome_is_no_failure() -> None:
    """Only failures and unknown outcomes are remembered as trouble."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A),), 7)

    with pytest.raises(AssertionError):
        ledger.went_wrong(effect, Done(NOW.mono), NOW)


# --- pauses --------------------------------------------------------------------------------------------------

draws = st.integers(0, 2**64 - 1)


@given(st.integers(1, 60), draws)
def test_pauses_grow_to_a_limit(times: int, draw: int) -> None:
    """Each failure in a row waits twice as long as the one before, within a quarter of chance, up to a minute."""
    base = min(BACKOFF_MAX.ms, 200 * 2 ** (times - 1))

    assert base * 3 // 4 <= pause(times, BUSY, draw).ms <= base * 5 // 4


@given(draws, draws)
def test_chance_comes_from_the_draw_alone(one: int, other: int) -> None:
    """The same bits give the same pause, and different bits spread the pauses over half of the base."""
    assert pause(5, BUSY, one) == pause(5, BUSY, one)
    assert (one % 51 == other % 51) <= (pause(5, BUSY, one) == pause(5, BUSY, other))
    assert 51 == len({pause(9, BUSY, draw) for draw in range(51)})


def test_lasting_failures_are_slow() -> None:
    """What a person must change is tried about once a minute from the first time on."""
    refused = Failed("forbidden", lasting=True)

    assert [LASTING.ms * 3 // 4] * 3 == [pause(times, refused, 0).ms for times in (1, 2, 30)]


def test_a_wish_of_the_server_is_kept() -> None:
    """Retry-After is a lower bound; a shorter one does not shorten the pause."""
    assert Span(30_000) == pause(1, Failed("slow down", retry_after_ms=30_000), 0)
    assert pause(8, BUSY, 0) == pause(8, Failed("slow down", retry_after_ms=1), 0)


def test_the_pause_counts_from_the_failure() -> None:
    """Until then the key is left alone."""
    ledger = Ledger()
    effect = ledger.begin(KEY, (drop(A),), 7)

    trouble = ledger.went_wrong(effect, BUSY, Now(NOW.wall, NOW.mono, draw=25))

    assert NOW.mono + Span(200) == trouble.until


def test_acting_in_vain_slows_down() -> None:
    """The same action on the same object, done again and again, is slowed down after the third time."""
    ledger = Ledger()
    waits = []
    for _ in range(6):
        effect = ledger.begin(KEY, (drop(A),), 1)
        ledger.end(effect)
        ledger.went_well(effect, NOW)
        until = ledger.waits_until(KEY, NOW)
        waits.append(until.ms - NOW.mono.ms if until else 0)

    assert [0, 0, 0, 200, 400, 800] == waits


def test_going_round_in_circles_slows_down() -> None:
    """Two actions by turns, each done and wanted again at once (an answer that is ignored as old): not for ever."""
    ledger, now, done = Ledger(), NOW, 0
    while now.mono < NOW.mono + Span.seconds(60):
        for action in (drop(A), Confirm(A)):
            effect = ledger.begin(KEY, (action,), 1)
            ledger.end(effect)
            ledger.went_well(effect, now)
        done += 1
        now = Now(now.wall, max(ledger.waits_until(KEY, now) or now.mono, now.mono + Span(1)))

    assert 20 > done


def test_a_flow_that_looks_before_each_step_is_no_circle() -> None:
    """Each step is another one, or comes a while after the last."""
    ledger, now = Ledger(), NOW
    for number in range(100):
        for action in (Confirm(A), drop(replace(A, name=f"step-{number}"))):
            effect = ledger.begin(KEY, (action,), 1)
            ledger.end(effect)
            ledger.went_well(effect, now)
            assert ledger.waits_until(KEY, now) is None
        now = Now(now.wall, now.mono + Span.seconds(1))


def test_a_read_before_a_failing_act_is_not_in_vain() -> None:
    """Read, act, refused, a hundred times: the read never waits, or it would be too old whenever the act comes."""
    ledger, now = Ledger(), NOW
    for _ in range(100):
        read = ledger.begin(KEY, (Confirm(A),), 7)
        ledger.end(read)
        ledger.went_well(read, now)
        assert ledger.waits_until(KEY, now) is None
        act = ledger.begin(KEY, (drop(A),), 7)
        ledger.end(act)
        until = ledger.went_wrong(act, Failed("denied", lasting=True), now).until
        now = Now(now.wall, until)
