"""The shared shelf: `podsPerMinute`. Whoever is about to free pods asks here how many may go now.

Called by every room that frees, in whichever way, right before it does. Pods that go one by one are counted one by one.
The limit is that of the RemediationBudget, and that of the Configuration which governs the node, where a room says
which one does. A Node that is deleted or tainted takes all its pods at once, so there the nodes wait for each other:
the next one goes when the pods of the last minute leave room for its own; one alone always may. So who may choose frees
such a node pod by pod (`core/freeing.py`, `way`). Without a limit nothing is asked.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.decision import Fact
from noderemedy.model.governing import PermitFact
from noderemedy.model.ids import Ref
from noderemedy.model.pace import PODS_LIMIT_AT, Leave, Wish, leave_ref, wish_ref
from noderemedy.model.reasons import FreeingPaced, Reason, WaitingForBudget
from noderemedy.model.room import Present, Reader

NO_LIMIT = 1 << 31


class Pace(Struct, frozen=True):
    """The limits, who asks, and what it was told last; without a limit there is nothing to ask."""

    room: str = ""
    asker: Ref | None = None
    limit: int | None = None  # the budget's
    leave: Leave | None = None
    document: Ref | None = None  # that governs the node
    of_document: int | None = None  # its limit

    @property
    def is_limited(self) -> bool:
        return self.limit is not None or self.of_document is not None

    @property
    def strictest(self) -> int:
        """The limit that counts."""
        return min(one for one in (self.limit, self.of_document, NO_LIMIT) if one is not None)

    @property
    def whose(self) -> str:
        """Which one that is."""
        is_documents = self.of_document is not None and self.of_document == self.strictest
        return f"ConfigMap {self.document.name}" if self.document is not None and is_documents else "the budget"

    @property
    def is_told_to_wait(self) -> bool:
        return self.leave is not None and not self.leave.pods


class Permit(Struct, frozen=True):
    """How many pods may go now; what is stated meanwhile, and why none may."""

    pods: int
    facts: tuple[Fact, ...] = ()
    because: tuple[Reason, ...] = ()


UNLIMITED = Pace()


def sees(room: str, asker: Ref, reader: Reader, permit: PermitFact | None = None) -> Pace:
    """`permit` is that of the document which governs the node."""
    found, of_document = reader.read(PODS_LIMIT_AT), permit.pods_per_minute if permit else None
    limit: int | None = found.obj.per_minute if isinstance(found, Present) else None
    if limit is None and of_document is None:
        return UNLIMITED
    leave = reader.read(leave_ref(room, asker))
    told = leave.obj if isinstance(leave, Present) else None
    return Pace(room, asker, limit, told, permit.at if permit else None, of_document)


def permit(pace: Pace, node: Ref, what: str, pods: int, *, is_whole: bool) -> Permit:
    """Whether these pods may go: all, some, or none of them yet."""
    if not pace.is_limited or pace.asker is None or pods == 0:
        return Permit(pods)
    asked = Wish(pace.room, pace.asker, node, what, pods, is_whole, pace.document, pace.of_document)
    wish = Fact(wish_ref(pace.room, pace.asker), asked)
    told = pace.leave if pace.leave is not None and pace.leave.what == what else None
    if told is not None and told.pods:
        return Permit(pods if is_whole else min(pods, told.pods), (wish,))
    paced = FreeingPaced(node.name, pods, pace.strictest, pace.whose)
    return Permit(0, (wish,), (paced if told is not None else WaitingForBudget(),))
