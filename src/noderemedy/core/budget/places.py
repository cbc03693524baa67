"""Who keeps its place while it is held back, and who loses it: what waits while others may begin, after ten minutes.

Called by `grants.py` at each look. What was granted and is refused later (it has not begun, or would begin in the
middle) keeps its place while nobody else may begin either: in a pause, outside the windows, in a storm of its cluster.
What is held for its failure domain, or for the quorum of its control plane, would keep all others waiting, maybe for
days. It loses its place, a person is told, and it asks anew, behind those who wait for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import structs

from noderemedy.core.budget.facts import Held, Memory
from noderemedy.core.budget.view import Ask, BudgetView
from noderemedy.core.slots import GIVEN_UP_AFTER
from noderemedy.model.budget import Granted, Refused
from noderemedy.model.ids import Ref
from noderemedy.model.time import Now, Wall


def is_over(held: Held, now: Now) -> bool:
    return now.mono >= held.since + GIVEN_UP_AFTER


def ending(memory: Memory, now: Now) -> frozenset[Ref]:
    """Those whose reservation ends at this look."""
    return frozenset(one.target for one in memory.held if one.given_back is None and is_over(one, now))


def without_place(memory: Memory, now: Now) -> frozenset[Ref]:
    """Those who had to give their place back, now or before, and have no new one."""
    return frozenset(one.target for one in memory.held if one.given_back is not None or is_over(one, now))


def held_of(
    view: BudgetView,
    reserved: Collection[Ref],
    answers: tuple[Granted | Refused, ...],
    others_may_begin: Callable[[Ask], bool],
    now: Now,
) -> tuple[Held, ...]:
    """Who is held in its place while others may begin, and since when; and who asks anew, until it is granted."""
    known = {one.target: one for one in view.memory.held}
    told = {one.target: one for one in answers}
    found = []
    for ask in view.asks:
        if is_at_work(ask):
            continue
        before, answer = known.get(ask.target), told.get(ask.target)
        is_in_place = ask.target in reserved and isinstance(answer, Refused)
        if is_in_place and others_may_begin(ask):
            found.append(before if before and before.given_back is None else Held(ask.target, now.mono))
        elif before and ask.is_waiting and not is_in_place and not isinstance(answer, Granted):
            found.append(structs.replace(before, given_back=before.given_back or now.wall))
    return tuple(found)


def is_at_work(ask: Ask) -> bool:
    """Whether somebody repairs it, whoever else asks and is held: the place is that of the repair that runs."""
    return ask.is_at_work


def given_back_at(held: tuple[Held, ...], now: Now) -> list[Wall]:
    """When the next of them loses its place."""
    waits = (one.since + GIVEN_UP_AFTER for one in held if one.given_back is None)
    return [Wall(now.wall.ms + one.since(now.mono).ms) for one in waits]
