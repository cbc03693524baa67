"""A person's word that is dated in the future: void, by the record or as long as anybody remembers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, REMEDIATION_AT, later
from tests.core.fencing.fences import FENCE_AT
from tests.core.fencing.story import Story
from tests.core.fencing.test_story import given_up
from tests.core.metal3.test_beginnings import Failing

from noderemedy.core import foredated
from noderemedy.core.foredated import ForedatedWord, fact_ref, sees
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import Confirm, PublishFenceStatus, PublishRemediationStatus
from noderemedy.model.attestation import Attestation
from noderemedy.model.budget import NEED
from noderemedy.model.decision import Decision
from noderemedy.model.ids import REMEDIATION, Ref
from noderemedy.model.keeping import renewal
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Effect, Outcome, Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Span, Wall
from noderemedy.wire.attestations import attestation_text


def given(seconds: float) -> Attestation:
    """A word that says it was given so many seconds from now."""
    return Attestation("anna", later(seconds).wall, "node-uid-1", "boot-1")


@pytest.mark.parametrize("word", [given(-3_600), given(0), given(300), Malformed("no JSON"), None])
def test_a_word_of_the_past_is_not_void(word: Attestation | Malformed | None) -> None:
    """Up to what clocks may differ by; and there is nothing to remember."""
    assert foredated.void(word, None, None, NOW) is None
    assert () == foredated.memory(NODE_AT, None)


def test_a_word_of_the_future_is_void_for_good() -> None:
    """Also when its time has come: by what is remembered, or by the record, which tells whole seconds."""
    word, cache = given(3_600.25), Cache(())
    [fact] = foredated.memory(REMEDIATION_AT, ForedatedWord(word))
    cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)
    recorded = Wall(word.at.ms // 1000 * 1000)

    assert word == foredated.void(word, None, sees(REMEDIATION_AT, cache), later(7_200))
    assert word == foredated.void(word, recorded, None, later(7_200))
    assert foredated.void(word, None, None, later(7_200)) is None


def test_a_void_word_says_what_to_do() -> None:
    """Its time, and whose clock is to be corrected; what to do about a record that does not stay, if it does not."""
    problem = foredated.garbled(ForedatedWord(given(3_600)), REMEDIATION).problem
    lost = foredated.garbled(ForedatedWord(given(3_600), in_vain=3), REMEDIATION).problem

    assert (False, True) == ("deploy/crds" in problem, renewal(REMEDIATION) in lost)
    assert "2030-03-17T18:46:40Z was in the future" in problem
    assert "correct the clock" in problem


def test_another_word_is_another_matter() -> None:
    """Whoever attests once more is believed."""
    recorded, known = given(3_600).at, ForedatedWord(given(3_600))

    assert foredated.void(given(60), recorded, known, later(60)) is None
    assert fact_ref(NODE_AT) != fact_ref(REMEDIATION_AT)


# --- a record that does not stay ---------------------------------------------------------------------------------

RECORD = Decision((Confirm(NODE_AT),), ())  # stands for whatever a room writes
IDLE, BUSY = Decision(), Decision((Confirm(REMEDIATION_AT),), ())


def entry(version: str = "7", read_at: Mono | None = None) -> Present:
    return Present(None, version, Mono(0), read_at)


def looked(known: ForedatedWord | None, found: Present, told: Decision = IDLE) -> tuple[Decision, ForedatedWord | None]:
    return foredated.first_of_all(RECORD, foredated.known_of(given(3_600), known, found), told, found, NOW)


def test_the_record_is_tried_first_of_all_then_where_nothing_else_is_to_be_done() -> None:
    """Also when the word was known long before anything could be written."""
    decision, known = looked(None, entry(), BUSY)

    assert (RECORD, (NOW.mono, "7", 0)) == (decision, known and (known.tried, known.version, known.in_vain))
    assert (BUSY, known) == looked(known, entry(), BUSY)
    assert RECORD.actions == looked(known, entry())[0].actions
    assert RECORD == looked(ForedatedWord(given(3_600)), entry(), BUSY)[0]


TRIED = ForedatedWord(given(3_600), NOW.mono, "7")
OUTCOMES = {
    "it was taken and forgotten": (entry("7", NOW.mono), 1),
    "it was refused": (entry("7"), 0),
    "it was refused, and read before": (entry("7", Mono(NOW.mono.ms - 1)), 0),
    "somebody else wrote": (entry("8", NOW.mono), 0),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_only_what_the_api_took_was_tried_in_vain(name: str) -> None:
    """A refused write, or one that met another version, is tried on: the next leader has to know."""
    found, in_vain = OUTCOMES[name]

    assert in_vain == foredated.known_of(given(3_600), TRIED, found).in_vain


def test_what_was_taken_and_forgotten_three_times_is_not_tried_again() -> None:
    """The word stays void, and another word has its own tries."""
    known: ForedatedWord | None = None
    tried = 0
    for _ in range(10):
        decision, known = looked(known, entry("7", NOW.mono))
        tried += bool(decision.actions)

    assert known is not None
    assert (3, True) == (tried, known.does_not_stay)
    assert given(3_600) == foredated.void(given(3_600), None, known, later(7_200))
    assert 0 == foredated.known_of(given(7_200), known, entry("7", NOW.mono)).in_vain


def forgets(story: Any, effect: Effect) -> Outcome:
    """The definitions of the kinds are of an older version: the API drops the time of a void word."""
    action = effect.action
    if isinstance(action, PublishRemediationStatus):
        action = replace(action, progress=replace(action.progress, attested_ahead=None))
    if isinstance(action, PublishFenceStatus):
        action = replace(action, status=replace(action.status, attested_ahead=None))
    return Story._carry_out(story, replace(effect, action=action))


def attested_ahead(story: Any, at: Ref, seconds: float) -> None:
    """In a world that forgets, somebody whose clock is so far ahead says that the node is off."""
    story._carry_out = partial(forgets, story)
    word = Attestation("anna", story.now.wall + Span.seconds(seconds), story.node()["metadata"]["uid"], "boot-1")
    story.patch(at, {"metadata": {"annotations": {"node-remedy.dev/attested-off": attestation_text(word)}}})


def failed() -> Story:
    story = Failing()
    story.attempted(2, "failed")
    story.run(30)
    return story


@pytest.mark.parametrize(("at", "begin"), [(REMEDIATION_AT, failed), (FENCE_AT, given_up)])
def test_an_older_definition_costs_few_writes_and_tells_what_to_do(at: Ref, begin: Any) -> None:
    """A request that nothing helps: five hours without a further one, and the word is void when its time has come."""
    story = begin()
    attested_ahead(story, at, 3_600)
    before = len(story.acts)
    story.run(3_600)
    few = len(story.acts) - before
    story.run(5 * 3_600)
    [(key, decision)] = [(key, one) for key, one in story.engine.decisions.items() if key.ref == at]

    assert (True, few) == (3 <= few <= 5, len(story.acts) - before)
    assert renewal(at.kind) in decision.because[-1].note()
    assert (None, []) == (story.engine.ledger.waits_until(key, story.now), story.freed_early)


def test_a_repair_with_an_older_definition_gives_its_place_back() -> None:
    """It was paused for long: nothing that is tried in vain keeps others waiting."""
    story = Failing()
    story.attempted(1)
    story.run(5)
    attested_ahead(story, REMEDIATION_AT, 360_000)
    story.patch(NODE_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": "true"}}})
    story.run(1_800)
    entries = map(story.engine.cache.read, story.engine.cache.refs_of(NEED))

    assert [True] == [one.obj.is_stuck for one in entries if isinstance(one, Present)]
    assert ["PausedByPerson", "AttestationUnreadable", "RepairStuck"] == story.because
