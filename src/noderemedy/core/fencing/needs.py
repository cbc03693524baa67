"""What a NodeFence asks of the budget: a place in flight, and a grant whenever a flow begins, be it anew.

Called by the room for every look, and by `erring.py` where a flow would begin anew. A fence between two starts keeps
its place; one that had to give it back (it was stuck, or was given up and lives again) asks as if it were new: hours
may have passed, and many of them may be about to begin at once (no storm). Nothing of it is off while it asks.
"""

from __future__ import annotations

from noderemedy.core.fencing import hostpower, runs
from noderemedy.core.fencing.gates import BEFORE_THE_BUDGET, POLICIES
from noderemedy.core.fencing.planless import is_mended
from noderemedy.core.fencing.view import NAME, FenceView
from noderemedy.core.gates import first
from noderemedy.model.budget import need
from noderemedy.model.decision import Fact
from noderemedy.model.host import Power
from noderemedy.model.nodefence import State
from noderemedy.model.time import Now, Wall


def needs(view: FenceView, now: Now) -> tuple[Fact, ...]:
    """A repair that runs, or would begin if budget and claim let it.

    One that its document does not let begin anew, maybe for hours, keeps nobody else waiting; nor does one that was
    given up and has not begun anew.
    """
    fence = view.fence
    if fence.is_final or (fence.is_given_up and not is_mended(view, now)):
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
        is_stuck=is_held_back or fence.is_given_up,
        is_off_pending=is_running and is_off_pending(view),
    )
    return (asks,)


def is_off_pending(view: FenceView) -> bool:
    """Whether a power-off may still be carried out: a run is not over, or the node's host is held and not off."""
    host = view.host.host
    is_loaded = hostpower.is_held(view) and host is not None and host.power is not Power.OFF
    return is_loaded or any(job.is_open and runs.is_ending(job) for job in view.status.jobs)


def asking(view: FenceView, now: Now) -> tuple[Fact, ...]:
    """The need of a flow that would begin anew now."""
    return (need(view.target, NAME, since(view, now), is_running=False, node=view.node_at),)


def since(view: FenceView, now: Now) -> Wall:
    return view.need.since if view.need else view.status.started or view.fence.created or now.wall
