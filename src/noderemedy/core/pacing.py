"""The shared shelf: `podsPerMinute`. Whoever is about to free pods asks here how many may go now.

Called by every room that frees, in whichever way, right before it does. Pods that go one by one are counted one by one.
A Node that is deleted or tainted takes all its pods at once, so there the nodes wait for each other: the next one goes
when the pods of the last minute leave room for its own; one alone always may. Without a limit nothing is asked.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.decision import Fact
from noderemedy.model.ids import Ref
from noderemedy.model.pace import PODS_LIMIT_AT, Leave, Wish, leave_ref, wish_ref
from noderemedy.model.reasons import FreeingPaced, Reason, WaitingForBudget
from noderemedy.model.room import Present, Reader


class Pace(Struct, frozen=True):
    """The limit, who asks, and what it was told last; without a limit there is nothing to ask."""

    room: str = ""
    asker: Ref | None = None
    limit: int | None = None
    leave: Leave | None = None


class Permit(Struct, frozen=True):
    """How many pods may go now; what is stated meanwhile, and why none may."""

    pods: int
    facts: tuple[Fact, ...] = ()
    because: tuple[Reason, ...] = ()


UNLIMITED = Pace()


def sees(room: str, asker: Ref, reader: Reader) -> Pace:
    limit = reader.read(PODS_LIMIT_AT)
    if not isinstance(limit, Present):
        return UNLIMITED
    leave = reader.read(leave_ref(room, asker))
    return Pace(room, asker, limit.obj.per_minute, leave.obj if isinstance(leave, Present) else None)


def permit(pace: Pace, node: Ref, what: str, pods: int, *, is_whole: bool) -> Permit:
    """Whether these pods may go: all, some, or none of them yet."""
    if pace.limit is None or pace.asker is None or pods == 0:
        return Permit(pods)
    wish = Fact(wish_ref(pace.room, pace.asker), Wish(pace.room, pace.asker, node, what, pods, is_whole))
    told = pace.leave if pace.leave is not None and pace.leave.what == what else None
    if told is not None and told.pods:
        return Permit(pods if is_whole else min(pods, told.pods), (wish,))
    waits = FreeingPaced(node.name, pods, pace.limit) if told is not None else WaitingForBudget()
    return Permit(0, (wish,), (waits,))
