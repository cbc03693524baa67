"""The arithmetic of `podsPerMinute`: who may free how many pods now. Pure; called by the budget room at each look.

Two limits are asked, and the stricter wins: the budget's, for all pods of a cluster, and that of the Configuration
which governs the node, for all pods of its nodes. What was let go within the last minute counts, by our own clock: from
the leave, and once more from when it is wished no longer, since that is when it went. Who could not make use of a leave
for a minute asks anew. All this is kept in memory only: who takes over knows nothing of it, so that a takeover may
spend one minute once more, and not more.
"""

from __future__ import annotations

from msgspec import Struct, structs

from noderemedy.core.budget.facts import Freed
from noderemedy.model.ids import Ref
from noderemedy.model.pace import Leave, Wish
from noderemedy.model.time import MINUTE, Mono, Now, Wall


class Paced(Struct, frozen=True):
    """What follows from one look at the wishes."""

    leaves: tuple[Leave, ...] = ()
    freed: tuple[Freed, ...] = ()
    until: Mono | None = None  # when time alone lets somebody go on


def pace(wishes: tuple[Wish, ...], limit: int | None, before: tuple[Freed, ...], now: Now) -> Paced:
    """Answer every wish, in the order of their nodes. The same batch is counted once."""
    freed = of_last_minute(before, {identity(wish) for wish in wishes}, now)
    leaves = []
    for wish in sorted(wishes, key=lambda one: (one.node, one.room, one.asker)):
        known = next((one for one in freed if (one.room, one.asker, one.what) == identity(wish)), None)
        pods = known.pods if known is not None else allowed(wish, limit, freed)
        if pods and known is None:
            freed.append(Freed(*identity(wish), wish.node.cluster, now.mono, pods, document=wish.document))
        leaves.append(Leave(*identity(wish), pods, None if pods else opens(wish, freed, now)))
    waits = any(not one.pods for one in leaves)
    until = min((one.at + MINUTE for one in freed), default=None) if waits else None
    return Paced(tuple(leaves), tuple(freed), until)


def of_last_minute(before: tuple[Freed, ...], wished: set[tuple[str, Ref, str]], now: Now) -> list[Freed]:
    found = []
    for one in before:
        is_wished = (one.room, one.asker, one.what) in wished
        at = now.mono if one.is_wished and not is_wished else one.at
        if now.mono.since(at) < MINUTE:
            found.append(structs.replace(one, at=at, is_wished=is_wished))
    return found


def identity(wish: Wish) -> tuple[str, Ref, str]:
    return wish.room, wish.asker, wish.what


def allowed(wish: Wish, limit: int | None, freed: list[Freed]) -> int:
    """Of the budget's limit, and of the document's."""
    of_cluster = sum(one.pods for one in freed if one.cluster == wish.node.cluster)
    of_document = sum(one.pods for one in freed if one.document == wish.document)
    return min(within(wish, limit, of_cluster), within(wish, wish.limit, of_document))


def within(wish: Wish, limit: int | None, spent: int) -> int:
    """A node whose pods alone are more than the limit may go when nobody else did: or it would never."""
    if limit is None:
        return wish.pods
    left = max(0, limit - spent)
    if not wish.is_whole:
        return min(wish.pods, left)
    return wish.pods if wish.pods <= left or not spent else 0


def opens(wish: Wish, freed: list[Freed], now: Now) -> Wall | None:
    """When the first of what stands in its way is a minute old."""
    ends = [one.at + MINUTE for one in freed if one.cluster == wish.node.cluster]
    return Wall(now.wall.ms + min(ends).since(now.mono).ms) if ends else None
