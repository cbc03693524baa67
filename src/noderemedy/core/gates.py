"""The shared shelf: gates as values. A room that acts is an ordered list of them, and `explain` lists them all.

A gate is a small pure question: None if it passes, else why it does not, when to ask again, and what would open it (a
live read, a claim). `first` is for deciding, `passages` for people: there is no second implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct, structs

from noderemedy.model.actions import Action
from noderemedy.model.budget import Granted, Need, Refused
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.ids import Ref
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.reasons import (
    CannotSeeNode,
    ClusterObjectPaused,
    ClusterPaused,
    NodeUnreadable,
    PausedByPerson,
    PauseUnreadable,
    Reason,
    RepairStuck,
    WaitingForBudget,
)
from noderemedy.model.room import Entry, Passage, Unreadable, Unseen
from noderemedy.model.time import Now, Wall

View = TypeVar("View")


class Blocked(Struct, frozen=True):
    """This gate is closed: why, until when if that is known, and what to do about it."""

    reason: Reason
    until: Wall | None = None
    actions: tuple[Action, ...] = ()
    besides: tuple[Reason, ...] = ()  # what else a person has to know

    def decision(self, now: Now, facts: tuple[Fact, ...] = ()) -> Decision:
        """The whole decision of a key that stands before this gate."""
        wake_at = now.until(self.until) if self.until is not None else None
        return Decision(self.actions, (self.reason, *self.besides), wake_at, facts=facts)


def first(gates: Sequence[Callable[[View, Now], Blocked | None]], view: View, now: Now) -> Blocked | None:
    """The first gate that blocks; None if all pass."""
    return next((blocked for gate in gates if (blocked := gate(view, now))), None)


def passages(gates: Sequence[Callable[[View, Now], Blocked | None]], view: View, now: Now) -> tuple[Passage, ...]:
    """All gates in order, as `explain` shows them: one that blocks hides none behind it."""
    asked = ((gate.__name__.replace("_", " "), gate(view, now)) for gate in gates)
    return tuple(
        Passage(name, found.reason if found else None, found.until if found else None) for name, found in asked
    )


def nobody_paused(now: Now, *carriers: tuple[Ref | None, Paused | Malformed | None]) -> Blocked | None:
    """`node-remedy.dev/paused` on any of the objects of a repair: nothing new starts. Who ends it must know which."""
    for at, pause in carriers:
        name = at.in_words if at is not None else ""
        if isinstance(pause, Malformed):
            return Blocked(PauseUnreadable(pause.problem, name))
        if pause is not None and pause.holds(now.wall):
            return Blocked(PausedByPerson(pause.until, name), pause.until)
    return None


def nobody_left_it(*pauses: ClusterPaused | ClusterObjectPaused | None) -> Blocked | None:
    """`cluster.x-k8s.io/paused` on one of the objects of a repair, or a paused Cluster: not a single write."""
    found = next((pause for pause in pauses if pause is not None), None)
    return Blocked(found) if found is not None else None


def node_in_sight(name: str, entry: Entry) -> Blocked | None:
    """A Node that cannot be read, or seen, may be well: that is neither health nor sickness."""
    if isinstance(entry, Unreadable):
        return Blocked(NodeUnreadable(name, entry.problem))
    return Blocked(CannotSeeNode(name)) if isinstance(entry, Unseen) else None


def budgeted(told: Granted | Refused | None) -> Blocked | None:
    """The budget's gate, by what `answer` gave: a new repair waits until it is granted."""
    if isinstance(told, Granted):
        return None
    if told is None:
        return Blocked(WaitingForBudget())
    stuck = (RepairStuck(told.target.name),) if told.is_given_back else ()
    return Blocked(told.reason, told.until, besides=stuck)


def budgeted_anew(told: Granted | Refused | None, before: Need | None, room: str, now: Now) -> Blocked | None:
    """The same for a repair that would begin: the answer must be one to its own question. That one wakes us.

    What was granted to a repair that runs, be it another room's, tells of no storm and no pause; so does what was told
    to one of this room that ran until now, and nobody wakes us where the next answer is the same.
    """
    if isinstance(told, Granted) and room not in told.asked:
        return given_back(before, now) or Blocked(WaitingForBudget())
    has_run = before is not None and before.is_running and isinstance(told, Granted)
    return given_back(before, now) or (Blocked(WaitingForBudget(), now.wall) if has_run else budgeted(told))


def budgeted_to_begin(told: Granted | Refused | None, before: Need | None, begins: str, now: Now) -> Blocked | None:
    """The same in the middle of a repair, which has been granted: the budget must have been asked for that beginning.

    The right answer wakes us.
    """
    is_of_before = isinstance(told, Granted) and begins not in told.begins
    return given_back(before, now) or (Blocked(WaitingForBudget()) if is_of_before else budgeted(told))


def given_back(before: Need | None, now: Now) -> Blocked | None:
    """Whoever had to give its place back asks anew, whatever it was told before."""
    return Blocked(WaitingForBudget(), now.wall) if before is not None and before.is_stuck else None


def meanwhile(blocked: Blocked, reads: Sequence[Action]) -> Blocked:
    """While the budget makes up its mind, what has to be read live before the act is read: the act follows the grant.

    A refusal reads nothing: it may last for hours.
    """
    is_waiting = isinstance(blocked.reason, WaitingForBudget) and not blocked.actions
    return structs.replace(blocked, actions=tuple(reads)) if is_waiting else blocked
