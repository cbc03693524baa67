"""The gates before a Machine is replaced: each a small question, passed (None) or blocked with a reason.

`BEFORE_ASKING` come before the budget is asked at all; `BEFORE_ACTING` hold a replacement that has begun, up to the
moment in which the Machine is deleted. That is a beginning of its own, for which the budget is asked once more: a
storm, a pause or a window that came since holds it back. After that everything goes on, whatever anybody wants.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.core import claim, leftalone
from noderemedy.core.gates import (
    Blocked,
    budgeted_anew,
    budgeted_to_begin,
    nobody_left_it,
    nobody_paused,
    node_in_sight,
)
from noderemedy.core.owner.view import NAME, View
from noderemedy.model.reasons import (
    NoOwner,
    SpecNotReusable,
)
from noderemedy.model.time import Now

Gate = Callable[[View, Now], Blocked | None]


def owner_named(view: View, now: Now) -> Blocked | None:
    """Nobody is replaced who did not ask for it: a Machine names us, or nothing happens to it."""
    return None if view.is_ours else Blocked(NoOwner(view.machine.owner))


def cluster_paused(view: View, now: Now) -> Blocked | None:
    return nobody_left_it(leftalone.pause(view.ref, view.machine, view.cluster))


def paused_by_person(view: View, now: Now) -> Blocked | None:
    """On the Machine, or on its Node."""
    of_node = view.node.paused if view.node else None
    return nobody_paused(now, (view.ref, view.machine.paused), (view.node_at, of_node))


def spec_reusable(view: View, now: Now) -> Blocked | None:
    """What belongs to the old machine goes with it: a successor that names it would never come up."""
    parts = view.machine.own_parts
    return Blocked(SpecNotReusable(", ".join(parts))) if parts else None


def node_seen(view: View, now: Now) -> Blocked | None:
    """Without a look at the node nobody knows what runs there."""
    return node_in_sight(view.node_at.name, view.node_entry) if view.node_at is not None else None


def budget(view: View, now: Now) -> Blocked | None:
    """For the whole replacement before it begins; then, once the node is empty, for the deletion."""
    if view.begins and not view.machine.deleting:
        return budgeted_to_begin(view.answer, view.need, view.begins, now)
    return budgeted_anew(view.answer, view.need, NAME, now)


def one_repair_per_node(view: View, now: Now) -> Blocked | None:
    return claim.claimed(view.claim, now)


BEFORE_ASKING: tuple[Gate, ...] = (owner_named, cluster_paused, paused_by_person, spec_reusable, node_seen)
BEFORE_BEGINNING: tuple[Gate, ...] = (budget, one_repair_per_node)
BEFORE_ACTING: tuple[Gate, ...] = (cluster_paused, paused_by_person, node_seen, one_repair_per_node)
GATES: tuple[Gate, ...] = (*BEFORE_ASKING, *BEFORE_BEGINNING)
