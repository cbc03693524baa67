"""The shelf: one key for all Incidents. There is room for so many; the oldest that are over go.

Open ones are never dropped: there is at most one per target. How many one target may have is the incident room's.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from msgspec import Struct

from noderemedy.model.actions import DropIncident, Guard
from noderemedy.model.decision import Decision
from noderemedy.model.ids import FACTS, INCIDENT, Kind, Ref
from noderemedy.model.incident import Incident
from noderemedy.model.reasons import IncidentsOverflow
from noderemedy.model.room import Index, Present, Reader, Room
from noderemedy.model.time import Now

IN_ALL = 1_000
AT_ONCE = 20  # how many are dropped before looking again
SHELF = Ref("", Kind(FACTS, "Shelf"), "", "incidents")
KEPT = "incidents kept"


class ShelfView(Struct, frozen=True):
    """The Incidents that are over, and how many are too many."""

    closed: tuple[tuple[Ref, Present], ...]
    surplus: int
    limit: int


def decide(view: ShelfView, now: Now) -> Decision:
    oldest = sorted(view.closed, key=lambda one: (one[1].obj.found.detected, one[0].name))
    going = oldest[: min(view.surplus, AT_ONCE)]
    drops = tuple(DropIncident(ref, Guard(entry.obj.uid)) for ref, entry in going)
    return Decision(drops, (IncidentsOverflow(view.limit),))


def sees(key: Ref, reader: Reader, limit: int) -> ShelfView | None:
    surplus = reader.tally(KEPT, "all") - limit
    if surplus <= 0:
        return None
    entries = [(ref, reader.read(ref)) for ref in reader.find(KEPT, "closed")]
    return ShelfView(tuple((ref, one) for ref, one in entries if isinstance(one, Present)), surplus, limit)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (SHELF,)


def _kept(ref: Ref, incident: Incident) -> tuple[str, ...]:
    return ("all",) if incident.is_open else ("all", "closed")


def keeping(limit: int) -> Room:
    """The room for so many. Simulated histories are short, and have to meet a full shelf, too."""
    return Room(
        name="incident-shelf",
        watches=(INCIDENT,),
        indexes=(Index(KEPT, INCIDENT, _kept),),
        wakes=wakes,
        sees=partial(sees, limit=limit),
        decide=decide,
        may=frozenset({DropIncident}),
    )


ROOM = keeping(IN_ALL)
