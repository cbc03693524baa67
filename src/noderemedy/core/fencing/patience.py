"""How long something has lasted: by our own clock, from when we first knew of it (race R5).

Moments are recorded in the NodeFence; the clocks of two leaders differ, and a wall clock may be set. So each leader
waits the whole time on its monotonic clock. A takeover can only lengthen a wait, never cut it short: at its end a node
is powered off, or tried again. What we know is kept as a fact beside the NodeFence, and its loss only delays.
"""

from __future__ import annotations

from noderemedy.core.fencing.planless import planless_since
from noderemedy.core.fencing.view import FenceSight, FenceView, sight_ref
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.reasons import FenceDelayed
from noderemedy.model.time import Mono, Now, Span, Wall


def known(view: FenceView, recorded: Wall, now: Now) -> Mono:
    """When a recorded moment was on our clock: as we knew it, or not before we learned of it."""
    for wall, mono in view.sight.moments if view.sight is not None else ():
        if wall == recorded:
            return mono
    return min(now.mono, max(view.entry.changed_at, now.until(recorded)))


def due(view: FenceView, recorded: Wall, span: Span, now: Now) -> Mono:
    """When so much time has passed since then."""
    return known(view, recorded, now) + span


def is_over(view: FenceView, recorded: Wall | None, span: Span, now: Now) -> bool:
    """Whether so much time has passed; not where nothing was recorded."""
    return recorded is not None and now.mono >= due(view, recorded, span, now)


def pause(view: FenceView, recorded: Wall, span: Span, what: str, now: Now) -> Decision | None:
    """Nothing to do before so much time has passed; None when it has."""
    at = due(view, recorded, span, now)
    return Decision((), (FenceDelayed(what, recorded + span),), at) if now.mono < at else None


def memory(view: FenceView, now: Now) -> tuple[Fact, ...]:
    """What is stated so that the next look knows it."""
    status, evidence = view.status, view.status.evidence
    seen = (evidence.off_at, evidence.drained_since, evidence.freeing_since, evidence.heard_since)
    moments = sorted({one for one in (status.since, status.started, *seen) if one is not None})
    planless = planless_since(view, now)
    if (not moments and planless is None) or view.fence.is_final:
        return ()
    return (Fact(sight_ref(view.ref), FenceSight(tuple((one, known(view, one, now)) for one in moments), planless)),)
