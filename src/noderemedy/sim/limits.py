"""What the RemediationBudget says, read once more and on purpose not by the code that it is meant for.

`granting.py` owns one: what is granted, and what is begun, is held against all that a manager may take for the latest.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from noderemedy.model.ids import BUDGET
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.garbling import is_garbled
from noderemedy.sim.news import News
from noderemedy.wire import names

MINUTE_MS, DAY_MINUTES = 60_000, 24 * 60
SKEW_MINUTES = 5  # what a manager's clock may be wrong by
DEFAULTS = {"maxInFlight": (2, 10), "maxPerHour": (10, 20)}  # the greater of a number and a percentage


class Said(Struct, frozen=True):
    """One version of the budget."""

    in_flight: tuple[int, int] = DEFAULTS["maxInFlight"]
    per_hour: tuple[int, int] = DEFAULTS["maxPerHour"]
    per_domain: tuple[int, int] | None = None  # so many, or such a percentage, are too many
    windows: tuple[tuple[int, int], ...] = ()  # minutes of the day; none: always
    is_paused: bool = False  # or it cannot be read, which is as good: nothing may begin

    def is_open(self, minute: int) -> bool:
        """Whether repairs may begin then; a window may pass midnight."""
        return not self.windows or any((minute - begin) % DAY_MINUTES < length for begin, length in self.windows)


class Limits:
    """The budget and its last versions; the defaults where there is none."""

    def __init__(self, cluster: Cluster) -> None:
        self._agenda = cluster.agenda
        found = cluster.api.find(BUDGET, "cluster")
        self._news = News(cluster.agenda, said(found) if found is not None else Said())
        cluster.api.subscribe(BUDGET, self._budget)

    def _budget(self, event: WatchEvent) -> None:
        self._news.say(Said() if event.type == "DELETED" else said(event.tree))

    def in_flight_max(self, nodes: int) -> int:
        return max(allowed(one.in_flight, nodes) for one in self._news.heard())

    def per_hour_max(self, nodes: int) -> int:
        return max(allowed(one.per_hour, nodes) for one in self._news.heard())

    @property
    def is_paused(self) -> bool:
        return all(one.is_paused for one in self._news.heard())

    @property
    def is_closed(self) -> bool:
        """Whether it is outside of all windows by whatever clock a manager may have."""
        minute = self._agenda.wall().ms // MINUTE_MS
        about = range(minute - SKEW_MINUTES, minute + SKEW_MINUTES + 1)
        return not any(one.is_open(at % DAY_MINUTES) for one in self._news.heard() for at in about)

    def is_too_sick(self, sick: int, nodes: int) -> bool:
        """Whether a failure domain with so many sick nodes is left alone."""
        return all(is_reached(one.per_domain, sick, nodes) for one in self._news.heard())


def said(budget: Tree) -> Said:
    spec, notes = budget["spec"], budget["metadata"].get("annotations") or {}
    per_domain = (spec.get("perDomain") or {}).get("maxUnhealthy")
    windows = spec.get("windows") or ()
    return Said(
        in_flight=allowance(spec, "maxInFlight"),
        per_hour=allowance(spec, "maxPerHour"),
        per_domain=None if per_domain is None else parts(per_domain),
        windows=() if any("days" in one for one in windows) else tuple(map(window, windows)),
        is_paused=is_pause(notes.get(names.PAUSED)) or is_garbled(budget),
    )


def is_pause(note: str | None) -> bool:
    """Whether it holds for as long as it is there: also one that nobody can read, but not one that names a time."""
    return note is not None and note != "false" and not note[:1].isdigit()


def allowance(spec: Tree, field: str) -> tuple[int, int]:
    return DEFAULTS[field] if spec.get(field) is None else parts(spec[field])


def parts(value: Any) -> tuple[int, int]:
    """A number, be it written as text, or a percentage."""
    text = str(value)
    return (0, int(text[:-1])) if text.endswith("%") else (int(text), 0)


def allowed(limit: tuple[int, int], nodes: int) -> int:
    number, percent = limit
    return max(number, min(percent, 1), percent * nodes // 100)


def is_reached(limit: tuple[int, int] | None, sick: int, nodes: int) -> bool:
    if limit is None:
        return False
    number, percent = limit
    return sick >= 2 and sick * 100 >= percent * nodes if percent else sick >= number


def window(item: Tree) -> tuple[int, int]:
    """When it begins, and how long it is."""
    begin, end = (int(item[key][:2]) * 60 + int(item[key][3:]) for key in ("from", "to"))
    return begin, (end - begin - 1) % DAY_MINUTES + 1
