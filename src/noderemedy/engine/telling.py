"""What people are told: every reason once, when it is new for its key. Events, log lines and metrics follow from it.

Called by the loop after each decision and each failure. A standby keeps what it has to say: two who speak would say
everything twice. What calls a person is counted as well as long as it stands, for whoever asks later.

What was over and is told anew comes `again`, if this leader has seen it end. Whoever begins to lead may have to say
what the one before has said already: the first word of a leader is no return.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Effect, Failed, Key, Unknown
from noderemedy.model.reasons import (
    ActionFailed,
    ActionRefused,
    ConfirmFirst,
    ListingWorkload,
    Reason,
    RoomBroken,
    WaitingForBudget,
)

LOOKS = (ConfirmFirst, ListingWorkload, WaitingForBudget)
NOTICED_AFTER = 3  # failures in a row before a person is told: a conflict or two is daily business
OVER_MAX = 5_000  # what is over and may come back; the oldest is forgotten, and is said then as if for the first time


class Notice(Struct, frozen=True):
    """A reason that is new for a key: becomes an Event, a log line, a metric."""

    room: str
    ref: Ref
    uid: str
    reason: Reason
    episode: str
    again: bool = False  # it was over in between, before our eyes


class Telling:
    """Who was told what, and what is still to be told."""

    def __init__(self) -> None:
        self._told: dict[Key, tuple[Reason, ...]] = {}  # gists: a count that goes on changing is no news
        self._complaints: dict[Key, Reason] = {}
        self._over: dict[tuple[Key, Reason], bool] = {}  # gists of what ended since we lead, the oldest first
        self._notices: list[Notice] = []
        self.standing: Counter[tuple[str, str]] = Counter()  # keys by room and reason; none with zero

    def decided(self, key: Key, uid: str, reasons: tuple[Reason, ...], episode: str) -> None:
        """Tell what is new since the key's last decision. Who only asks first changes nothing."""
        if reasons and all(isinstance(reason, LOOKS) for reason in reasons):
            return
        known = self._told.get(key, ())
        gists = tuple(reason.gist() for reason in reasons)
        for reason, gist in zip(reasons, gists, strict=True):
            if gist not in known and not reason.quiet:
                self._notices.append(self.notice(key, uid, reason, episode))
        if not any(isinstance(reason, RoomBroken) for reason in reasons):  # it has not judged what stood
            self._end(key, known, gists)
        self._told[key] = gists
        self._recount(key, known, gists)

    def complain(self, effect: Effect, outcome: Failed | Unknown, times: int, uid: str, episode: str) -> None:
        """Tell once that an action does not succeed, if it will not go away by itself."""
        complaint = complaint_of(effect, outcome, times)
        key = effect.key
        if complaint is not None and (known := self._complaints.get(key)) != complaint:
            self._recount(key, (known,) if known else (), (complaint,))
            self._complaints[key] = complaint
            self._notices.append(self.notice(key, uid, complaint, episode))
            if known:
                self.ended(key, known)

    def no_complaint(self, key: Key) -> None:
        """It went well, or nothing is wanted any more: the next failure is told anew."""
        if known := self._complaints.pop(key, None):
            self._recount(key, (known,), ())
            self.ended(key, known)

    def forget(self, key: Key) -> None:
        """There is nothing to say about this key: what comes back later is news."""
        known = self._told.pop(key, ())
        self._recount(key, known, ())
        self._end(key, known)

    def lose_sight(self, key: Key) -> None:
        """Nobody can judge this key now: what stood is told anew when it is found again, but nobody has seen it end."""
        self._recount(key, self._told.pop(key, ()), ())

    def notice(self, key: Key, uid: str, reason: Reason, episode: str) -> Notice:
        """What is said about a key now, and whether it came back."""
        return Notice(key.room, key.ref, uid, reason, episode, self._over.pop((key, reason.gist()), False))

    def ended(self, key: Key, reason: Reason) -> None:
        """A reason is over: said once more, it came back."""
        self._end(key, (reason.gist(),))

    def begin_term(self) -> None:
        """What we saw end when we led before may have come back, and been told, under another leader."""
        self._over.clear()

    def _end(self, key: Key, before: tuple[Reason, ...], after: tuple[Reason, ...] = ()) -> None:
        """Remember what a key held and holds no more; of what is never told nobody has to know that it came back."""
        if before == after:
            return  # as after most looks
        for gist in before:
            if gist not in after and not gist.quiet:
                self._over[key, gist] = True
        while len(self._over) > OVER_MAX:
            del self._over[next(iter(self._over))]

    def _recount(self, key: Key, before: tuple[Reason, ...], after: tuple[Reason, ...]) -> None:
        """What a key held, and what it holds now."""
        if before == after:
            return  # as after most looks
        held, holds = calling(before), calling(after)
        self.standing.update((key.room, name) for name in holds - held)
        for name in held - holds:
            self.standing[key.room, name] -= 1
            if not self.standing[key.room, name]:
                del self.standing[key.room, name]

    def take(self) -> tuple[Notice, ...]:
        notices, self._notices = tuple(self._notices), []
        return notices


def calling(reasons: tuple[Reason, ...]) -> set[str]:
    """The names of those that call a person."""
    return {type(reason).__name__ for reason in reasons if reason.alert}


def complaint_of(effect: Effect, outcome: Failed | Unknown, times: int) -> Reason | None:
    """What to say about the n-th failure in a row; None as long as it may be daily business."""
    name = f"{type(effect.action).__name__} of {effect.action.ref}"
    if isinstance(outcome, Failed) and outcome.lasting:
        return ActionRefused(name, outcome.why)
    return ActionFailed(name, outcome.why) if times >= NOTICED_AFTER else None
