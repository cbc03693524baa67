"""How long a phase has lasted: by our own clock, whatever the wall clocks say, and never less than it should."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import NOW, REMEDIATION_AT, a_host, later
from tests.core.metal3.remediations import a_reader, a_remediation, a_world, actions, decided

from noderemedy.core.metal3 import phases
from noderemedy.core.metal3.remediationview import PhaseSight, sight_ref
from noderemedy.engine.cache import Cache
from noderemedy.model.decision import Decision
from noderemedy.model.host import Power
from noderemedy.model.ids import HOST
from noderemedy.model.outcome import Seen
from noderemedy.model.remediation import Metal3Remediation, Phase, Strategy
from noderemedy.model.time import Mono, Now, Span, Wall

BEGUN = a_remediation(Phase.POWER_ON, seconds=0)  # at NOW, by the clock of whoever wrote it
ENDS_MS = 600_000


def a_cache(remediation: Metal3Remediation = BEGUN, known: Mono = NOW.mono) -> Cache:
    """Of a process that has known the request since then; its host stays off."""
    return a_reader(a_world(remediation, host=a_host(power=Power.OFF)), known=known)


def looked(cache: Cache, now: Now) -> Decision:
    """One look that remembers what it stated, as the engine does."""
    decision = decided(REMEDIATION_AT, cache, now)
    for fact in decision.facts:
        cache.put(Seen(fact.ref, "", "", fact.value), now.mono)
    return decision


def at(seconds: float, *, step: float = 0) -> Now:
    """So many seconds later on the clock that nobody sets; the wall clock was set forward or back meanwhile."""
    true = later(seconds)
    return Now(Wall(true.wall.ms + round(step * 1_000)), true.mono)


@pytest.mark.parametrize("step", [-3_600, -60, 0, 60, 3_600])
def test_a_step_of_the_clock_neither_shortens_nor_lengthens_a_wait(step: float) -> None:
    """Ten minutes are ten minutes for whoever has seen the phase begin."""
    cache = a_cache()
    looked(cache, NOW)

    early, late = looked(cache, at(599, step=step)), looked(cache, at(600, step=step))

    assert ([], NOW.mono + Span(ENDS_MS)) == (actions(early), early.wake_at)
    assert ["PublishRemediationStatus"] == actions(late)


@pytest.mark.parametrize("skew", [-600, 0, 600, 86_400])
def test_who_takes_over_waits_the_whole_time(skew: float) -> None:
    """By its own clock, from when it learned of the phase, however far ahead its wall clock is."""
    cache = a_cache(known=later(300).mono)

    looks = [looked(cache, at(seconds, step=skew)) for seconds in (300, 599, 899)]

    assert [[], [], []] == list(map(actions, looks))
    assert ["PublishRemediationStatus"] == actions(looked(cache, at(900 + max(0, -skew), step=skew)))


def test_an_attempt_that_waits_is_looked_at_when_what_it_states_changes() -> None:
    """Its host is gone: its repair rests, and is over, at the times of its own, although nothing happens."""
    waiting = a_remediation(Phase.WAITING, seconds=0, strategy=Strategy.REBOOT)
    objects = {at: obj for at, obj in a_world(waiting).items() if at.kind != HOST}
    cache = a_reader(objects, known=NOW.mono)
    rests, ends = waiting.on_within, phases.limit(waiting)
    assert ends is not None

    looks = [looked(cache, at(seconds)) for seconds in (0, rests.ms / 1_000, ends.ms / 1_000)]

    assert [NOW.mono + rests, NOW.mono + ends, None] == [one.wake_at for one in looks]


def test_a_standby_that_has_watched_loses_no_time() -> None:
    """It has known the request as it is all the while, though it never looked at it."""
    assert ["PublishRemediationStatus"] == actions(looked(a_cache(), later(600)))


def test_a_file_is_judged_by_its_timestamps() -> None:
    """`plan` has watched since before every timestamp: then the record counts."""
    early, late = (decided(REMEDIATION_AT, a_cache(known=Mono(0)), later(seconds)) for seconds in (599, 600))

    assert ([], ["PublishRemediationStatus"]) == (actions(early), actions(late))


def test_another_attempt_is_another_wait() -> None:
    """What was known of an earlier stay in the same phase is not taken for this one."""
    cache = a_cache()
    looked(cache, NOW)
    again = a_remediation(Phase.POWER_ON, seconds=-700, attempt=2)
    cache.put(Seen(REMEDIATION_AT, again.uid, "101", again), later(700).mono)

    assert [] == actions(looked(cache, later(701)))


@settings(max_examples=100)
@given(
    phase=st.sampled_from([one for one in Phase if phases.limit(a_remediation(one)) is not None]),
    skews=st.lists(st.integers(-90_000, 90_000), min_size=1, max_size=5),
)
def test_nobody_ever_waits_less_than_recorded(phase: Phase, skews: list[int]) -> None:
    """Whatever is done to the wall clock between looks, the sight stays, and no phase ends before its time."""
    remediation = a_remediation(phase, seconds=0)
    cache = a_reader(a_world(remediation, host=a_host(power=Power.OFF)), known=NOW.mono)
    limit = phases.limit(remediation)
    assert limit is not None
    sights = set()
    for number, skew in enumerate(skews):
        looked(cache, at(number * (limit.ms // 1_000 - 1) / len(skews), step=skew))
        (fact,) = [one.value for one in looked(cache, at(0)).facts if isinstance(one.value, PhaseSight)]
        sights.add(fact)

    assert {NOW.mono} == {one.since for one in sights}
    assert 1 == len(sights)
    assert sight_ref(REMEDIATION_AT).name == REMEDIATION_AT.name
