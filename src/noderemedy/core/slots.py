"""The shared shelf: when a repair that runs gives its slot back, although it is not over.

Called by every room that repairs, with its whole decision. A repair that had its time, does nothing any more and raises
an alert waits for a person, or for somebody else's act, maybe for ever; so does one that somebody has paused, or whose
cluster is out of sight, or whose next write the API refuses. A few of those must not keep all other nodes from being
repaired: such a need is stuck. It keeps its claim, its node counts as sick, its start counts for the hour; but it is
not in flight. When it goes on it is in flight again, without asking: what runs is never stopped halfway. What would
begin once more (an attempt, a flow of a fence) or in the middle (a deletion) is another matter: it asks
(`core/resting.py`). A power-off that was pending and is carried out is such a going on, also where nothing is to be
done yet: a host has just gone off. One that is refused is none: many would go on at once when the refusal ends, so a
room says which refusals count.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.model.actions import BOOKKEEPING, READS
from noderemedy.model.budget import Need
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.reasons import (
    CannotSeeCluster,
    CannotSeeNode,
    ClusterObjectPaused,
    ClusterPaused,
    HostPaused,
    PausedByPerson,
    RepairStuck,
)
from noderemedy.model.refusal import Refusal
from noderemedy.model.time import MINUTE, Mono, Now

GIVEN_UP_AFTER = MINUTE * 10  # by our own clock, from when we, leading, knew of it: a takeover only lengthens it

HALTS = (ClusterPaused, ClusterObjectPaused, HostPaused, PausedByPerson, CannotSeeCluster, CannotSeeNode)


def settled(decision: Decision, before: Need | None, now: Now, refused: Refusal | None = None) -> Decision:
    """The same decision; the need of a repair that runs says since when, and whether it is stuck.

    `refused` is what the API does not let this repair do, where nothing goes down by it.
    """
    at = next((at for at, fact in enumerate(decision.facts) if is_running(fact)), None)
    if at is None:
        return decision
    found = decision.facts[at].value
    assert isinstance(found, Need)
    begun = now.mono if has_gone_off(before, found) else begun_at(before, now)
    is_held_up = waits_for_others(decision, before) or is_refused(decision, refused)
    waits = not found.is_stuck and is_held_up  # what its room calls stuck needs no more words
    is_over = now.mono >= begun + GIVEN_UP_AFTER
    need = structs.replace(found, begun=begun, is_stuck=found.is_stuck or (waits and is_over))
    return structs.replace(
        decision,
        because=(*decision.because, RepairStuck(found.target.name)) if waits and is_over else decision.because,
        wake_at=soonest(decision.wake_at, begun + GIVEN_UP_AFTER) if waits and not is_over else decision.wake_at,
        facts=(*decision.facts[:at], Fact(decision.facts[at].ref, need), *decision.facts[at + 1 :]),
    )


def waits_for_others(decision: Decision, before: Need | None) -> bool:
    """Nothing is done, and somebody was told, or has halted it: now, or when it got stuck."""
    is_idle = all(isinstance(action, (*READS, *BOOKKEEPING)) for action in decision.actions)
    was_stuck = before is not None and before.is_stuck
    return is_idle and (was_stuck or any(reason.alert or isinstance(reason, HALTS) for reason in decision.because))


def is_refused(decision: Decision, refused: Refusal | None) -> bool:
    """Whether the next thing to do is what the API has refused: a person was told."""
    wanted = next(((type(action).__name__, action.ref) for action in decision.actions), None)
    return refused is not None and wanted == (refused.action, refused.at)


def has_gone_off(before: Need | None, found: Need) -> bool:
    """Whether the power-off that it was stuck with is pending no more: it has its whole time anew."""
    return before is not None and before.is_stuck and before.is_off_pending and not found.is_off_pending


def begun_at(before: Need | None, now: Now) -> Mono:
    """Since when we have known the repair to run."""
    return before.begun if before is not None and before.begun is not None and before.is_running else now.mono


def is_running(fact: Fact) -> bool:
    return isinstance(fact.value, Need) and fact.value.is_running


def soonest(one: Mono | None, other: Mono | None) -> Mono | None:
    return min((at for at in (one, other) if at is not None), default=None)
