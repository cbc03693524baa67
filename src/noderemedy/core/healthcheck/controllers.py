"""Two controllers for one check: who else looks after it. Asked by the check room and by the status room.

The owner of the CRD may run a controller of its own. Whoever wrote the status of a check within the hour, or since we
look at it, governs it; we give verdicts and write nothing. `node-remedy.dev/govern` on the check overrides.
"""

from __future__ import annotations

from noderemedy.model.checkstatus import Writer
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.time import Mono, Now, Span

OTHERS_COUNT_FOR = Span.seconds(3_600)


def other_controller(check: HealthCheck, first_seen: Mono, now: Now) -> Writer | None:
    """Who else looks after this check: whoever wrote its status last, within the hour or since we look at it."""
    if check.governs:
        return None
    counting = [
        one
        for one in check.other_writers
        if now.wall < one.at + OTHERS_COUNT_FOR or is_since_we_look(one, first_seen, now)
    ]
    return max(counting, key=lambda one: (one.at, one.manager), default=None)


def is_since_we_look(writer: Writer, first_seen: Mono, now: Now) -> bool:
    return now.until(writer.at) > first_seen


def next_look(writer: Writer | None, first_seen: Mono, now: Now) -> Mono | None:
    """When it has been silent for long enough; None: not while we live, or nobody else is there."""
    if writer is None or is_since_we_look(writer, first_seen, now):
        return None
    return now.until(writer.at + OTHERS_COUNT_FOR)
