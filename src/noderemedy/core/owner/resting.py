"""A deletion that is refused for long gives its place in the budget back, rests, and asks once more: how long, and how.

Called by `replacing.py`. Without a rest a few refused Machines would take all places and all starts of the hour, one
try after the other, and nobody else would be repaired. A rest is as long as it all took so far, ten minutes at least
and an hour at most; after it, whoever waits for the first time goes first.
"""

from __future__ import annotations

from noderemedy.core.owner.overdue import is_said_to_fail
from noderemedy.core.owner.view import View
from noderemedy.core.slots import GIVEN_UP_AFTER
from noderemedy.model.time import MINUTE, Mono, Now, Span, Wall

REST_MIN, REST_MAX = GIVEN_UP_AFTER, MINUTE * 60


def rests_until(view: View, now: Now) -> Mono | None:
    """When a deletion that has given its place back asks again; None if it has its place, or has rested."""
    if view.record is None or view.need is None or view.need.begun is None or not view.need.is_stuck:
        return None
    given_back = view.need.begun + GIVEN_UP_AFTER
    took = now.wall.since(view.record.begun) - now.mono.since(given_back)
    until = given_back + Span(min(max(took.ms, REST_MIN.ms), REST_MAX.ms))
    return until if now.mono < until else None


def asks_again(view: View, now: Now) -> Wall | None:
    """Since when it asks once more; None: for the first time. A successor knows it by the words on the Machine."""
    if view.need is not None and view.need.again is not None:
        return view.need.again
    is_given_back = view.need is not None and view.need.is_stuck
    return now.wall if is_given_back or is_said_to_fail(view) else None
