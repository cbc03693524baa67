"""A person's word that is dated in the future: void, as long as anybody remembers."""

from __future__ import annotations

import pytest
from tests.builders import NODE_AT, NOW, REMEDIATION_AT, later

from noderemedy.core import foredated
from noderemedy.core.foredated import ForedatedWord, fact_ref, sees
from noderemedy.engine.cache import Cache
from noderemedy.model.attestation import Attestation
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Seen


def given(seconds: float) -> Attestation:
    """A word that says it was given so many seconds from now."""
    return Attestation("anna", later(seconds).wall, "node-uid-1", "boot-1")


@pytest.mark.parametrize("word", [given(-3_600), given(0), given(300), Malformed("no JSON"), None])
def test_a_word_of_the_past_stays_what_it_is(word: Attestation | Malformed | None) -> None:
    """Up to what clocks may differ by; and there is nothing to remember."""
    assert (word, ()) == (foredated.dated(word, None, NOW), foredated.memory(NODE_AT, word, None, NOW))


def test_a_word_of_the_future_is_void_for_good() -> None:
    """Also when its time has come; what to do is told with it."""
    word, cache = given(3_600), Cache(())
    [fact] = foredated.memory(REMEDIATION_AT, word, None, NOW)
    cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)
    known = sees(REMEDIATION_AT, cache)

    early, late = foredated.dated(word, None, NOW), foredated.dated(word, known, later(7_200))

    assert isinstance(early, Malformed)
    assert early == late
    assert "2030-03-17T18:46:40Z was in the future" in early.problem
    assert "correct the clock" in early.problem
    assert (fact,) == foredated.memory(REMEDIATION_AT, word, known, later(7_200))


def test_another_word_is_another_matter() -> None:
    """Whoever attests once more is believed."""
    known = ForedatedWord(given(3_600))

    assert given(60) == foredated.dated(given(60), known, later(60))
    assert fact_ref(NODE_AT) != fact_ref(REMEDIATION_AT)
