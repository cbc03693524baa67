"""A fence without a plan that can be used: it waits for one, but not for ever; when there is one, it lives again.

Asked wherever a flow goes on. After `nodeReadyTimeout`, by our own clock since we saw it, the step has failed, so that
whoever asked for the fence can try something else. What has not begun holds no grant of the budget and gives up at
once; what has begun follows the table, and gives up where it would begin anew. Nothing is freed by any of this. What
gave up so, and for no other reason, begins anew by itself when its plan can be used.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing.automaton import Event
from noderemedy.core.fencing.gates import USABLE
from noderemedy.core.fencing.moves import move, moved, publish, saying
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.fencing.words import word_of
from noderemedy.core.gates import first
from noderemedy.model.checkstatus import SUCCEEDED
from noderemedy.model.decision import Decision
from noderemedy.model.nodefence import State
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Mono, Now

WHY = "its plan could not be used for too long"
SPENT = f"{WHY}; mend the configuration, and it begins anew"
UNUSABLE = "PlanUnusable"  # the condition's reason: by it a successor knows why it was given up


def unusable(view: FenceView, now: Now) -> Decision | None:
    """What to do about a plan that cannot be used; None where it can."""
    blocked = first(USABLE, view, now)
    if blocked is None:
        return None
    if view.fence.is_given_up or word_of(view) is not None:
        return blocked.decision(now)  # a person's business already; by a word an error would only lead back here
    due = (planless_since(view, now) or now.mono) + view.fence.spec.node_ready_timeout
    if now.mono < due:
        return Decision((), (blocked.reason,), due)
    if view.fence.is_begun and view.status.state is not State.ERROR:
        return move(view, Event.STEP_FAILED, now, blocked.reason, why=WHY)
    return spend(view, SPENT, blocked.reason, now, UNUSABLE)


def spend(view: FenceView, why: str, reason: Reason, now: Now, word: str = "") -> Decision:
    """Give up: in error, with no start left."""
    spent = structs.replace(view.status, state=State.ERROR, since=now.wall, restarts=view.fence.spec.max_restarts)
    told = saying(spent, Event.STEP_FAILED, why, now, word)
    return publish(view, told, reason, moved(view, told, Event.STEP_FAILED, why))


def is_mended(view: FenceView, now: Now) -> bool:
    """Whether it was given up for want of a plan only, and has one now."""
    told = view.status.told(SUCCEEDED)
    is_unusable = view.status.state is State.ERROR and told is not None and told.reason == UNUSABLE
    return is_unusable and first(USABLE, view, now) is None


def planless_since(view: FenceView, now: Now) -> Mono | None:
    """Since when we have seen that there is no such plan; None where there is one."""
    if first(USABLE, view, now) is None:
        return None
    known = view.sight.planless if view.sight is not None else None
    return known if known is not None else now.mono
