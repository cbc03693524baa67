"""The shared shelf: a request that goes takes its word to an owner back, and goes all the same if it cannot.

Called by the rooms whose requests ask owners to replace machines (Metal3Remediation, FenceRemediation), for one that
was deleted. Somebody may refuse that write for good (a webhook, missing rights).

Rule 1: nothing else that is to be done (a hold, a taint, a fence) waits behind it; the finalizer does.
Rule 2: it is tried for ten minutes, by our own clock, since it was its turn; a gap in watching is no try. Then a person
is told, and the request goes: a machine that is well keeps no place in the budget, and the name is free for its next
sickness.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.model.actions import WriteFinalizers, WriteMachineConditions
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.observer import contact_since
from noderemedy.model.reasons import OwnerStillAsked, Reason
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import MINUTE, Mono, Now

TAKING_BACK = Kind(FACTS, "TakingBack")
WITHIN = MINUTE * 10


class TakingBack(FactValue, frozen=True):
    """A request that goes has left its word to the owner of this machine, which is well."""

    machine: Ref


def since(key: Ref, reader: Reader) -> Mono | None:
    """Since when we have tried to take the word of this request back; None: we did not at the last look."""
    entry, contact = reader.read(fact_ref(key)), contact_since(reader)
    first = entry.first_seen if isinstance(entry, Present) else None
    return max(first, contact) if first is not None and contact is not None else first


def fact_ref(key: Ref) -> Ref:
    return Ref(key.cluster, TAKING_BACK, key.namespace, f"{key.kind} {key.name}")


def memory(key: Ref, word: WriteMachineConditions | None, wanted: Decision) -> tuple[Fact, ...]:
    """What is stated so that the next look knows it. Whoever waits for the record meanwhile states it, too."""
    return (Fact(fact_ref(key), TakingBack(word.ref)),) if word is not None and is_its_turn(wanted) else ()


def is_its_turn(wanted: Decision) -> bool:
    """Whether nothing else is to be done before the finalizer goes."""
    return all(isinstance(action, WriteFinalizers) for action in wanted.actions)


def before_it_goes(
    wanted: Decision, word: WriteMachineConditions | None, since: Mono | None, now: Now, reason: Reason
) -> Decision:
    """What a request that goes wants to do; while that is to wait or to let go, the word is taken back first."""
    if word is None or not is_its_turn(wanted):
        return wanted
    if since is None or now.mono < since + WITHIN:
        return Decision((word,), (reason,))
    return structs.replace(wanted, because=(*wanted.because, OwnerStillAsked(word.ref.name)))
