"""What a room returns: actions in order, reasons for them, and when to look again."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.actions import Action
from noderemedy.model.facts import FactValue as FactValue  # everybody has it from here
from noderemedy.model.ids import Ref
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Mono


class Fact(Struct, frozen=True):
    """A derived value that the engine keeps, indexes and counts: rebuildable, never the truth."""

    ref: Ref  # of a kind in the group FACTS
    value: FactValue


class Decision(Struct, frozen=True):
    """What should happen to one key now, and why. Deciding again on the same view gives the same decision."""

    actions: tuple[Action, ...] = ()  # in order; the first that is not DONE drops the rest
    because: tuple[Reason, ...] = ()  # never empty when actions is not
    wake_at: Mono | None = None  # look again then, even if nothing changes
    episode: str = ""  # names this repair: events of one episode are not repeated after a restart
    facts: tuple[Fact, ...] = ()  # what this key states; what it states no longer is forgotten


NOTHING = Decision()
