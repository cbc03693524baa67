"""What a room returns: actions in order, reasons for them, and when to look again."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.actions import Action
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Mono


class Decision(Struct, frozen=True):
    """What should happen to one key now, and why. Deciding again on the same view gives the same decision."""

    actions: tuple[Action, ...] = ()  # in order; the first that is not DONE drops the rest
    because: tuple[Reason, ...] = ()  # never empty when actions is not
    wake_at: Mono | None = None  # look again then, even if nothing changes
    episode: str = ""  # names this repair: events of one episode are not repeated after a restart


NOTHING = Decision()
