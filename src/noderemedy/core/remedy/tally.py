"""When did that happen? Moments are counted from Events, as far as these tell them. Called by the program. Seed 002.

An Event says how often the same thing happened, when first and when last; of the moments between it tells nothing.

Rule 1: a moment that is not told is the earliest that it can have been. So it never counts for a threshold for which
the true one would not: a manager that has just come may count too few, and never too many.
Rule 2: what was counted is not counted again. A list shows the same Events once more, a server that lags shows how
they were, and recorders go on counting in a new object where the old one has expired.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.nodeevents import KEPT, NodeEvent
from noderemedy.model.time import Wall


class Tally(Struct, frozen=True):
    """What is known of the events of one reason about one node. Bounded, whatever the node writes."""

    moments: tuple[Wall, ...] = ()  # the newest last
    known: tuple[NodeEvent, ...] = ()  # each as it was seen last; what was told lately stands last
    forgotten: Wall | None = None  # the last moment of those that are not known any more


def count(tally: Tally, event: NodeEvent, now: Wall) -> Tally:
    """The tally after this Event was seen. What a node's clock dates into the future has happened by now."""
    before = next((one for one in tally.known if one.name == event.name), None)
    if before is not None and is_behind(event, before):
        return tally
    fresh = [min(one, now) for one in happened(event, before, tally.forgotten)]
    known = [*(one for one in tally.known if one.name != event.name), event]
    return Tally(
        moments=tuple(sorted([*tally.moments, *fresh])[-KEPT:]),
        known=tuple(known[-KEPT:]),
        forgotten=forget(tally, known[:-KEPT]),
    )


def forget(tally: Tally, gone: list[NodeEvent]) -> Wall | None:
    """Of Events that are not kept only this is: up to when they are counted."""
    told = [tally.forgotten, *(one.last for one in gone)]
    return max((one for one in told if one is not None), default=None)


def is_behind(event: NodeEvent, before: NodeEvent) -> bool:
    """Whether it tells no more than we know. A count that falls tells nothing by itself; a later moment does."""
    return event.last < before.last or (event.last == before.last and event.count <= before.count)


def happened(event: NodeEvent, before: NodeEvent | None, forgotten: Wall | None) -> list[Wall]:
    """The moments that this Event tells of, and that were not told before."""
    if before is not None and goes_on(event, before):
        return spread(event.count - before.count, before.last, event.last)
    if forgotten is None or (event.first is not None and event.first > forgotten):
        return spread(event.count, event.first, event.last)
    return [event.last] if event.last > forgotten else []  # the rest of it may have been counted


def goes_on(event: NodeEvent, before: NodeEvent) -> bool:
    """Whether it counts on from there, in the same object or in the next one: it began no later than that ended."""
    return event.uid == before.uid if event.first is None else event.first <= before.last


def spread(times: int, earliest: Wall | None, last: Wall) -> list[Wall]:
    """So many moments, of which the last is told. Without an earliest nobody knows when the others were."""
    others = [min(earliest, last)] * (min(times, KEPT) - 1) if earliest is not None else []
    return [*others, last]
