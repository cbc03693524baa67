"""A person's word that is dated in the future counts as nothing: it would outlive whatever the node reports until then.

Called by the rooms that heed such words (NodeFence, Metal3Remediation), before anything else looks at the word. Once it
was seen so it stays void, also when its time has come: when it was really given, nobody knows.

Rule 1: it is on record, in the request's status, before anything else is done: who takes over finds it there.
Rule 2: where nothing may be written (a paused Cluster) a fact remembers it until the record follows.
Rule 3: no repair stands still for a record that does not stay, since the definition of its kind is of an older version.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.safety import CLOCKS_WITHIN
from noderemedy.model.attestation import Attestation
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import Now, Wall

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


def void(word: Word, recorded: Wall | None, known: ForedatedWord | None, now: Now) -> Attestation | None:
    """The word, where it is of the future, or was by the record or as far as we remember; None where it is not."""
    if not isinstance(word, Attestation):
        return None
    is_known = is_recorded(word, recorded) or (known is not None and known.word == word)
    return word if is_known or word.at > now.wall + CLOCKS_WITHIN else None


def is_recorded(word: Attestation, recorded: Wall | None) -> bool:
    """Whether a record, which tells whole seconds, is about this word. Whoever attests anew gives another time."""
    return recorded is not None and str(word.at) == str(recorded)


def first_of_all(
    record: Decision | None, void: Attestation | None, known: ForedatedWord | None, told: Decision
) -> Decision:
    """The record, and then what is to be done; if it was tried before, only where there is nothing else to do."""
    if record is None or void is None:
        return told
    is_new = known is None or known.word != void
    return record if is_new else structs.replace(told, actions=told.actions or record.actions)


def garbled(word: Attestation) -> Malformed:
    """What a void word is to everybody: why it cannot be read, and what to do."""
    return Malformed(f"its time {word.at} was in the future when it was given; correct the clock of whoever wrote it")


def memory(key: Ref, void: Attestation | None) -> tuple[Fact, ...]:
    """What is stated so that the next look knows it."""
    return (Fact(fact_ref(key), ForedatedWord(void)),) if void is not None else ()
