"""A person's word that is dated in the future counts as nothing: it would outlive whatever the node reports until then.

Called by the rooms that heed such words (NodeFence, Metal3Remediation), before anything else looks at the word. Once it
was seen so it stays void, also when its time has come: when it was really given, nobody knows.

Rule 1: it is on record, in the request's status, before anything else is done: who takes over finds it there.
Rule 2: where nothing may be written (a paused Cluster) a fact remembers it until the record follows.
Rule 3: a record that does not stay, since the definition of its kind is of an older version, is tried three times, a
person is told, and the fact remembers on: what still has to be done goes on (`core/keeping.py` says what does not).
Whatever else is written there carries it along.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.safety import CLOCKS_WITHIN
from noderemedy.model.attestation import Attestation
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.keeping import renewal
from noderemedy.model.meta import Malformed
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import Mono, Now, Wall

FOREDATED = Kind(FACTS, "ForedatedWord")
TRIES = 3  # that the API takes and forgets; an answer that was lost looks the same once
Word = Attestation | Malformed | None


class ForedatedWord(FactValue, frozen=True):
    """A word that we have seen before its time, and what became of its record."""

    word: Attestation
    tried: Mono | None = None  # when we tried last
    version: str = ""  # of the request then
    in_vain: int = 0  # how often it was tried, and is not there

    @property
    def does_not_stay(self) -> bool:
        return self.in_vain >= TRIES


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


def known_of(void: Attestation, known: ForedatedWord | None, entry: Present) -> ForedatedWord:
    """What we know of this word by now.

    A try was in vain if a live read since then, or the answer itself, shows the very version that it was made at: the
    API took it, and had nothing to change. One that met another version, or was refused, was none.
    """
    if known is None or known.word != void:
        return ForedatedWord(void)
    is_read_since = known.tried is not None and entry.confirmed_at is not None and entry.confirmed_at >= known.tried
    is_in_vain = is_read_since and entry.resource_version == known.version
    return structs.replace(known, tried=None, in_vain=known.in_vain + 1) if is_in_vain else known


def first_of_all(
    record: Decision | None, known: ForedatedWord | None, told: Decision, entry: Present, now: Now
) -> tuple[Decision, ForedatedWord | None]:
    """The record, and then what is to be done; if it was tried before, only where there is nothing else to do.

    With it, what we know then.
    """
    if record is None or known is None or known.does_not_stay:
        return told, known
    is_new = known.tried is None and not known.in_vain
    if told.actions and not is_new:
        return told, known
    decision = record if is_new else structs.replace(told, actions=record.actions)
    return decision, structs.replace(known, tried=now.mono, version=entry.resource_version)


def garbled(known: ForedatedWord, kind: Kind) -> Malformed:
    """What a void word on an object of this kind is to everybody: why it cannot be read, and what to do."""
    why = f"its time {known.word.at} was in the future when it was given; correct the clock of whoever wrote it"
    lost = f"; the API forgets status.attestedAhead, by which the next leader would know: {renewal(kind)}"
    return Malformed(f"{why}{lost if known.does_not_stay else ''}")


def memory(key: Ref, known: ForedatedWord | None) -> tuple[Fact, ...]:
    """What is stated so that the next look knows it."""
    return (Fact(fact_ref(key), known),) if known is not None else ()
