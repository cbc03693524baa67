"""A person's word that is dated in the future counts as nothing: it would outlive whatever the node reports until then.

Called by the rooms that heed such words (NodeFence, Metal3Remediation), before anything else looks at the word. Once it
was seen so it stays void, also when its time has come: when it was really given, nobody knows. That is a fact of the
request; who takes over judges anew.
"""

from __future__ import annotations

from noderemedy.core.safety import CLOCKS_WITHIN
from noderemedy.model.attestation import Attestation
from noderemedy.model.decision import Fact
from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import Now

FOREDATED = Kind(FACTS, "ForedatedWord")
Word = Attestation | Malformed | None


class ForedatedWord(FactValue, frozen=True):
    """A word that we have seen before its time."""

    word: Attestation


def sees(key: Ref, reader: Reader) -> ForedatedWord | None:
    """What we knew of the word on this request at the last look."""
    entry = reader.read(fact_ref(key))
    return entry.obj if isinstance(entry, Present) else None


def fact_ref(key: Ref) -> Ref:
    return Ref(key.cluster, FOREDATED, key.namespace, f"{key.kind} {key.name}")


def dated(word: Word, known: ForedatedWord | None, now: Now) -> Word:
    """The word; where it is, or was, of the future: why it cannot be read, and what to do."""
    if not isinstance(word, Attestation) or not is_void(word, known, now):
        return word
    return Malformed(f"its time {word.at} was in the future when it was given; correct the clock of whoever wrote it")


def is_void(word: Attestation, known: ForedatedWord | None, now: Now) -> bool:
    return word.at > now.wall + CLOCKS_WITHIN or (known is not None and known.word == word)


def memory(key: Ref, word: Word, known: ForedatedWord | None, now: Now) -> tuple[Fact, ...]:
    """What is stated so that the next look knows it."""
    if not isinstance(word, Attestation) or not is_void(word, known, now):
        return ()
    return (Fact(fact_ref(key), ForedatedWord(word)),)
