"""What a NodeFence asks of the budget: a place in flight, and a grant whenever a flow begins, be it anew.

Called by the room for every look, and by `isolation.py` and `erring.py` where a flow would begin. A fence between two
starts keeps its place, and asks before the next one: a storm or a pause may have come since it was granted. One that
had to give it back (it was stuck, or was given up and lives again) asks as if it were new. Nothing of it is off then.
It states that it waits until the start is on record: a grant is withdrawn when nobody states the need it names. What
is granted and refused by the API for ten minutes rests (`core/resting.py`).
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing import hostpower, runs, words
from noderemedy.core.fencing.gates import BEFORE_THE_BUDGET, POLICIES, budget_allows
from noderemedy.core.fencing.planless import is_mended
from noderemedy.core.fencing.view import NAME, FenceView, what_is_waited_for
from noderemedy.core.gates import first
from noderemedy.core.resting import Turn, begin
from noderemedy.model.budget import need
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.host import Power
from noderemedy.model.nodefence import State
from noderemedy.model.time import Mono, Now, Wall


def needs(view: FenceView, now: Now, tried: Mono | None = None) -> tuple[Fact, ...]:
    """A repair that runs, or would begin if budget and claim let it; `tried`: since when its cordon is.

    One that its document does not let begin anew, maybe for hours, keeps nobody else waiting; nor does one that was
    given up and has not begun anew, unless a person's word lets it go on just now.
    """
    fence, is_revived = view.fence, words.revives(view)
    if fence.is_final or (fence.is_given_up and not is_mended(view, now) and not is_revived):
        return ()
    is_running = fence.is_begun
    is_to_begin = fence.status.state is State.NEW and not fence.deleting
    if not is_running and (not is_to_begin or first(BEFORE_THE_BUDGET, view, now)):
        return ()
    is_held_back = fence.status.state is State.ERROR and first(POLICIES, view, now) is not None
    asks = need(
        view.target,
        NAME,
        since(view, now),
        is_running=is_running,
        node=view.node_at,
        is_stuck=not is_revived and (is_held_back or fence.is_given_up),
        is_off_pending=is_running and is_off_pending(view),
        tried=tried,
    )
    return (asks,)


def is_off_pending(view: FenceView) -> bool:
    """Whether a power-off may still be carried out: a run is not over, or the node's host is held and not off."""
    host = view.host.last_known
    is_loaded = hostpower.is_held(view) and host is not None and host.power is not Power.OFF
    return is_loaded or any(job.is_open and runs.is_ending(job) for job in view.status.jobs)


def asking(wanted: Decision, view: FenceView, now: Now) -> Decision:
    """What a flow that would begin, or begin anew, wants to do, with its need: it asks, is tried, or rests."""
    is_granted = budget_allows(view, now) is None
    found, stands = begin(wanted, view.need, since(view, now), now, view.name, is_granted=is_granted)
    return structs.replace(found, facts=(waiting(view, stands, now), *found.facts))


def waiting(view: FenceView, stands: Turn, now: Now) -> Fact:
    begins = what_is_waited_for(view.fence) if view.fence.is_begun else ""
    return stands.upon(need(view.target, NAME, since(view, now), is_running=False, node=view.node_at, begins=begins))


def since(view: FenceView, now: Now) -> Wall:
    return view.need.since if view.need else view.status.started or view.fence.created or now.wall
