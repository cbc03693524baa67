"""Maintenance windows: may a repair begin at this minute, and if not, when? UTC, whole minutes."""

from __future__ import annotations

from noderemedy.model.remediationbudget import Opening
from noderemedy.model.time import Wall

MINUTE_MS = 60_000
DAY = 24 * 60
THURSDAY = 3  # 1970-01-01


def opens_at(openings: tuple[Opening, ...], wall: Wall) -> Wall | None:
    """None if repairs may begin now; else the next moment at which they may."""
    if not openings:
        return None
    minute = wall.ms // MINUTE_MS
    if any(is_open(one, minute) for one in openings):
        return None
    return Wall(min(next_begin(one, minute) for one in openings) * MINUTE_MS)


def closes_at(openings: tuple[Opening, ...], wall: Wall) -> Wall | None:
    """When repairs may begin no more, if they may now and that changes within a week."""
    minute = wall.ms // MINUTE_MS
    last = minute + 8 * DAY
    while minute < last and (ends := [end for one in openings for end in ends_of(one, minute)]):
        minute = max(ends)
    return Wall(minute * MINUTE_MS) if wall.ms // MINUTE_MS < minute < last else None


def ends_of(opening: Opening, minute: int) -> list[int]:
    """When this window, if it is open, closes."""
    return [
        begin + opening.minutes for begin in begins_of(opening, minute) if begin <= minute < begin + opening.minutes
    ]


def begins_of(opening: Opening, minute: int) -> list[int]:
    """A window that passes midnight belongs to the day on which it began."""
    today = minute // DAY
    return [day * DAY + opening.begins for day in (today, today - 1) if weekday(day) in opening.days]


def is_open(opening: Opening, minute: int) -> bool:
    return bool(ends_of(opening, minute))


def next_begin(opening: Opening, minute: int) -> int:
    today = minute // DAY
    begins = (day * DAY + opening.begins for day in range(today, today + 8) if weekday(day) in opening.days)
    return min(begin for begin in begins if begin > minute)


def weekday(day: int) -> int:
    """Monday is 0."""
    return (day + THURSDAY) % 7
