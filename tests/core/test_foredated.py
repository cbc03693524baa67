"""A person's word that is dated in the future: void, by the record or as long as anybody remembers."""

from __future__ import annotations

import pytest
from tests.builders import NODE_AT, NOW, REMEDIATION_AT, later

from noderemedy.core import foredated
from noderemedy.core.foredated import ForedatedWord, fact_ref, sees
from noderemedy.engine.cache import Cache
from noderemedy.model.attestation import Attestation
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Wall


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
    [fact] = foredated.memory(REMEDIATION_AT, foredated.void(word, None, None, NOW))
    cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)
    recorded = Wall(word.at.ms // 1000 * 1000)

    assert word == foredated.void(word, None, sees(REMEDIATION_AT, cache), later(7_200))
    assert word == foredated.void(word, recorded, None, later(7_200))
    assert foredated.void(word, None, None, later(7_200)) is None


def test_a_void_word_says_what_to_do() -> None:
    """Its time, and whose clock is to be corrected."""
    problem = foredated.garbled(given(3_600)).problem

    assert "2030-03-17T18:46:40Z was in the future" in problem
    assert "correct the clock" in problem


def test_another_word_is_another_matter() -> None:
    """Whoever attests once more is believed."""
    recorded, known = given(3_600).at, ForedatedWord(given(3_600))

    assert foredated.void(given(60), recorded, known, later(60)) is None
    assert fact_ref(NODE_AT) != fact_ref(REMEDIATION_AT)
