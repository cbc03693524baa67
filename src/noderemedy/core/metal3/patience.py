"""How long a phase of a Metal3Remediation has lasted: by our own clock, from when we first knew of it (race R5).

Start and duration are recorded in the request; the clocks of two leaders differ, and a wall clock may be set. So each
leader waits the whole duration on its monotonic clock. A takeover or a restart can only lengthen a wait, never cut it
short: at its end a host is powered off once more, or a machine is given up. What we know is kept as a fact of the
request, and its loss only delays.
"""

from __future__ import annotations

from noderemedy.core import freeing
from noderemedy.core.metal3 import phases
from noderemedy.core.metal3.remediationview import PhaseSight, RemediationView, sight_ref, what_is_waited_for
from noderemedy.model.decision import Fact
from noderemedy.model.remediation import Phase
from noderemedy.model.time import Mono, Now, Span, Wall


def sight(view: RemediationView, now: Now) -> PhaseSight:
    """Since when we know that the present phase lasts, on both clocks.

    Known already, or at the first look: since the request came to be as it is; but not longer than it says itself.
    """
    what = what_is_waited_for(view.remediation)
    if view.sight is not None and view.sight.what == what:
        return view.sight
    recorded = view.remediation.progress.since or now.wall
    since = min(now.mono, max(view.entry.changed_at, now.until(recorded)))
    return PhaseSight(what, since, Wall(now.wall.ms - now.mono.since(since).ms))


def lasted(view: RemediationView, now: Now) -> Span:
    return now.mono.since(sight(view, now).since)


def due(view: RemediationView, now: Now) -> Mono | None:
    """When the present phase is over; None where it may last. Pods that go one by one may take longer."""
    limit, since = phases.limit(view.remediation), sight(view, now).since
    if limit is None:
        return None
    if view.remediation.progress.phase is not Phase.FREEING:
        return since + limit
    by = view.remediation.progress.evidence.free_by
    return freeing.until(view.work, by, since + limit, since + freeing.PACED_WITHIN, limit)


def due_on_the_wall(view: RemediationView, now: Now) -> Wall | None:
    """The same for people."""
    limit = phases.limit(view.remediation)
    return sight(view, now).wall + limit if limit is not None else None


def is_overdue(view: RemediationView, now: Now) -> bool:
    at = due(view, now)
    return at is not None and now.mono >= at


def rests_between_attempts(view: RemediationView, now: Now) -> bool:
    """Whether an attempt has failed and there is a pause before the next one: nothing runs, and nobody knows for how
    often. Such a request gives its place in the budget back, and asks anew; so does one that was contradicted.
    """
    remediation = view.remediation
    is_waiting = remediation.progress.phase is Phase.WAITING and not remediation.progress.is_recovered
    is_given_back = phases.pause(remediation) > Span(0) or remediation.progress.evidence.contradicted_at is not None
    return is_waiting and is_given_back and lasted(view, now) >= remediation.on_within


def turn(view: RemediationView, now: Now) -> Mono | None:
    """When what is stated about an attempt that waits changes by itself: it rests, or the next one may begin."""
    remediation = view.remediation
    if remediation.progress.phase is not Phase.WAITING or remediation.progress.is_recovered:
        return None
    since, limit = sight(view, now).since, phases.limit(remediation)
    turns = [since + span for span in (remediation.on_within, limit) if span is not None]
    return min((at for at in turns if at > now.mono), default=None)


def memory(view: RemediationView, now: Now) -> tuple[Fact, ...]:
    """What is stated so that the next look knows it."""
    if phases.limit(view.remediation) is None or view.remediation.is_ended:
        return ()
    return (Fact(sight_ref(view.ref), sight(view, now)),)
