"""The targets room: one key per MachineHealthCheck. Lists the names of its targets, for its status.

A list costs as much as it is long, so nobody may ask for it at every verdict: this room is woken only when a machine
becomes a target of a check or ceases to be one. The status room reads what it states.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core.healthcheck import facts
from noderemedy.core.healthcheck.facts import MemberFact, TargetsFact, targets_ref
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.ids import Ref
from noderemedy.model.room import Index, Reader, Room, Stage
from noderemedy.model.time import Now

NAMES_MAX = 10_000  # of the API; a list that is cut off would be a lie
BY_MEMBERSHIP = "members by check"


class TargetsView(Struct, frozen=True):
    """A check and its targets; None: too many to be listed."""

    at: Ref
    names: tuple[str, ...] | None


def decide(view: TargetsView, now: Now) -> Decision:
    if view.names is None:
        return NOTHING
    return Decision(facts=(Fact(targets_ref(view.at), TargetsFact(view.names)),))


def sees(key: Ref, reader: Reader) -> TargetsView:
    members = facts.total(key)
    if reader.tally(BY_MEMBERSHIP, members) > NAMES_MAX:
        return TargetsView(key, None)
    return TargetsView(key, tuple(sorted(ref.name for ref in reader.find(BY_MEMBERSHIP, members))))


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (obj.check,)


def _check(ref: Ref, member: MemberFact) -> tuple[str, ...]:
    return (facts.total(member.check),)


ROOM = Room(
    name="targets",
    watches=tuple(facts.MEMBERS.values()),
    indexes=tuple(Index(BY_MEMBERSHIP, kind, _check) for kind in facts.MEMBERS.values()),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.GATE,
)
