"""Who asks for a repair, and what the budget answers. Facts: rooms state needs, the budget room states answers.

A need that runs counts as in flight whether it was granted or not: what another version, another leader or a person
began is still a repair. The first sign of sickness orders the needs that wait; who had a place and gave it back comes
after them.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.model.decision import Fact, FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.observer import contact_since
from noderemedy.model.reasons import Reason
from noderemedy.model.room import Present, Reader
from noderemedy.model.term import term
from noderemedy.model.time import Mono, Wall

NEED = Kind(FACTS, "Need")
ANSWER = Kind(FACTS, "Answer")


class Need(FactValue, frozen=True):
    """One room wants to repair this target, or is about it."""

    target: Ref  # the Machine; the Node where there is none
    room: str
    since: Wall  # the first sign: the oldest is served first
    is_running: bool  # begun: in flight until the room states no need any more
    node: Ref | None = None
    begun: Mono | None = None  # since when we ourselves have known it to run
    is_stuck: bool = False  # it had its time and waits for somebody else: not in flight, but still a claim
    is_off_pending: bool = False  # a power-off was ordered and not seen: it may be carried out at any moment
    again: Wall | None = None  # it had a place, led to nothing, and asks once more since then: others go first
    begins: str = ""  # what would begin in the middle of a repair, told apart from every other; a grant names it
    tried: Mono | None = None  # what was granted is tried since then; of what is stuck: it was, until then
    is_claimant: bool = True  # it keeps the claim of the node; who leaves the repair to others must not

    def if_blind_for_long(self) -> Need:
        """Its place goes to others; the claim stays."""
        return structs.replace(self, is_stuck=True)


class Granted(FactValue, frozen=True):
    """The ledger holds a reservation for this target, and that was seen."""

    target: Ref
    at: Wall
    begins: tuple[str, ...] = ()  # what may begin in the middle of it: asked at this very look
    asked: tuple[str, ...] = ()  # the rooms to whose question this is the answer, until they need nothing any more

    def if_broken(self, why: Reason) -> None:
        """Nothing: a licence needs somebody who stands by it."""


class Refused(FactValue, frozen=True):
    """Not now. `until` is None where something else than time must change."""

    target: Ref
    reason: Reason
    until: Wall | None = None
    is_given_back: bool = False  # it was held for so long that it lost the place which it had


def need(
    target: Ref,
    room: str,
    since: Wall,
    *,
    is_running: bool,
    node: Ref | None = None,
    is_stuck: bool = False,
    is_off_pending: bool = False,
    again: Wall | None = None,
    begins: str = "",
    tried: Mono | None = None,
    is_claimant: bool = True,
) -> Fact:
    """The fact by which a room asks; it withdraws by not stating it any more."""
    stated = Need(
        target, room, since, is_running, node, None, is_stuck, is_off_pending, again, begins, tried, is_claimant
    )
    return Fact(need_ref(target, room), stated)


def need_ref(target: Ref, room: str) -> Ref:
    return Ref(target.cluster, NEED, target.namespace, f"{room} {target.kind} {target.name}")


def stated(target: Ref, room: str, reader: Reader) -> Need | None:
    """What this room stated for the target at its last look: the next one keeps the same times.

    Who leads again knows nothing of the time between: it may be about another repair, which has its whole time. In a
    gap of watching nothing is tried: what was tried before it has its whole time as well. Who rests has rested.
    """
    entry = reader.read(need_ref(target, room))
    found: Need | None = entry.obj if isinstance(entry, Present) else None
    if found is None:
        return None
    leads, contact = term(reader), contact_since(reader)
    times = [one for one in (found.begun, found.tried) if one is not None]
    if leads is not None and any(one < leads.since for one in times):
        return structs.replace(found, begun=None, is_stuck=False, tried=None)
    is_of_before = found.tried is not None and contact is not None and found.tried < contact
    return structs.replace(found, tried=None) if is_of_before and not found.is_stuck else found


def answer_ref(target: Ref) -> Ref:
    return Ref(target.cluster, ANSWER, target.namespace, f"{target.kind} {target.name}")


def answer(target: Ref, reader: Reader) -> Granted | Refused | None:
    """What the budget says about this target; None: it has not been asked, or has not looked yet."""
    entry = reader.read(answer_ref(target))
    return entry.obj if isinstance(entry, Present) else None
