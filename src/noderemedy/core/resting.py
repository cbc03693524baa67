"""The shared shelf: a beginning that was granted and does not come about gives its place back, rests, and asks again.

Called by rooms whose first write, or deletion, somebody may refuse for good (a webhook, missing rights, a quota).
Without this a few of those would keep all places, and without a rest they would take all starts of the hour, one try
after the other: nobody else would be repaired. What was granted has ten minutes. A rest is as long as it all took so
far, ten minutes at least and an hour at most; after it, whoever waits for the first time goes first (`Need.again`).
"""

from __future__ import annotations

from msgspec import Struct, structs

from noderemedy.core.slots import GIVEN_UP_AFTER, soonest
from noderemedy.model.budget import Need
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.reasons import RepairStuck
from noderemedy.model.time import MINUTE, Mono, Now, Span, Wall

REST_MIN, REST_MAX = GIVEN_UP_AFTER, MINUTE * 60


class Turn(Struct, frozen=True):
    """How a beginning stands with the budget: it asks, is tried, or rests."""

    tried: Mono | None = None  # for `Need.tried`
    again: Wall | None = None  # for `Need.again`
    rests_until: Mono | None = None

    @property
    def is_rest(self) -> bool:
        return self.rests_until is not None

    @property
    def due(self) -> Mono | None:
        """When its place is given back; None while it is not tried."""
        return self.tried + GIVEN_UP_AFTER if self.tried is not None and not self.is_rest else None

    def upon(self, asks: Fact) -> Fact:
        """The need of a beginning, as it stands."""
        assert isinstance(asks.value, Need)
        need = structs.replace(asks.value, is_stuck=self.is_rest, again=self.again, tried=self.tried)
        return Fact(asks.ref, need)


def begin(
    wanted: Decision, before: Need | None, since: Wall, now: Now, name: str, *, is_granted: bool
) -> tuple[Decision, Turn]:
    """What a beginning wants to do, or its rest, and how it stands.

    Whoever has its place and waits for another repair does not try; who waits for a person keeps no place either.
    """
    is_tried = is_granted and (bool(wanted.actions) or any(reason.alert for reason in wanted.because))
    is_new = before is None or before.is_running  # who ran was not refused
    stands = turn(None if is_new else before, since, now, is_tried=is_tried)
    rests = Decision(because=(RepairStuck(name),), wake_at=stands.rests_until)
    found = rests if stands.is_rest else wanted
    return structs.replace(found, wake_at=soonest(found.wake_at, stands.due)), stands


def rested(
    wanted: Decision, asks: tuple[Fact, ...], before: Need | None, now: Now, *, has_place: bool
) -> tuple[Decision, tuple[Fact, ...]]:
    """The same where a need is stated at one place: the decision, and the need as it stands. What runs is let be."""
    stated = next((fact.value for fact in asks), None)
    if not isinstance(stated, Need) or stated.is_running:
        return wanted, asks
    found, stands = begin(wanted, before, stated.since, now, stated.target.name, is_granted=has_place)
    return found, (stands.upon(asks[0]),)


def kept(stated: Fact, before: Need | None) -> tuple[Fact, ...]:
    """The need of who rests, or asks once more, behind a gate that has closed before the budget; none of who does not.

    It takes no place and claims nothing. Were it forgotten, it would come back as if it waited for the first time.
    """
    if before is None or before.is_running or not (before.is_stuck or before.again is not None):
        return ()
    assert isinstance(stated.value, Need)
    tried = before.tried if before.is_stuck else None  # what was tried a moment ago has not led to nothing yet
    need = structs.replace(stated.value, is_stuck=True, again=before.again, tried=tried, is_claimant=False)
    return (Fact(stated.ref, need),)


def turn(before: Need | None, since: Wall, now: Now, *, is_tried: bool) -> Turn:
    """By what was stated at the last look, and whether it has its place and is tried; `since` is when it all began."""
    ended = given_back(before, now)
    if ended is not None and now.mono < (until := ended + rest(since, ended, now)):
        return Turn(ended, None, until)
    is_given_back = before is not None and before.is_stuck
    again = before.again if before is not None and before.again is not None else now.wall if is_given_back else None
    if is_given_back or not is_tried:
        return Turn(again=again)
    return Turn(before.tried if before is not None and before.tried is not None else now.mono, again)


def given_back(before: Need | None, now: Now) -> Mono | None:
    """When it gave its place back: now, if its time is just over; None if it has its time, or was not tried."""
    if before is None or before.tried is None or before.is_stuck:
        return before.tried if before is not None else None
    return now.mono if now.mono >= before.tried + GIVEN_UP_AFTER else None


def rest(since: Wall, ended: Mono, now: Now) -> Span:
    took = now.wall.since(since) - now.mono.since(ended)
    return Span(min(max(took.ms, REST_MIN.ms), REST_MAX.ms))
