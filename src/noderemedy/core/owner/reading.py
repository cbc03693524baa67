"""Live reads before what cannot be undone."""

from __future__ import annotations

from noderemedy.core import safety
from noderemedy.model.actions import Confirm
from noderemedy.model.decision import Decision
from noderemedy.model.ids import Ref
from noderemedy.model.reasons import ConfirmFirst
from noderemedy.model.room import Absent, Entry, Present
from noderemedy.model.time import Now


def confirm_first(now: Now, *entries: tuple[Ref, Entry]) -> Decision | None:
    """Ask for a live read of everything that was not read live just now; None if all was."""
    stale = [ref for ref, entry in entries if not is_sure(entry, now)]
    if not stale:
        return None
    return Decision(tuple(Confirm(ref) for ref in stale), tuple(ConfirmFirst(str(ref)) for ref in stale))


def is_sure(entry: Entry, now: Now) -> bool:
    return isinstance(entry, Present | Absent) and safety.is_confirmed(entry, now)
