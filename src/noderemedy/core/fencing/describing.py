"""The fence-agent room: one key per fence agent that some plan needs. Has it described once, and states what it said.

An agent that is not there is asked for again after a while: somebody may install it. When no plan needs an agent any
more, what is known of it is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core.fencing.facts import INDEXES, PLANS_BY_AGENT, KnownAgent, known_ref
from noderemedy.model.actions import DescribeAgent
from noderemedy.model.agent import AGENT, agent_ref
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.fenceplan import FENCE_PLAN, FencePlan
from noderemedy.model.ids import Ref
from noderemedy.model.reasons import AgentDescribed, AskingAgent
from noderemedy.model.room import Absent, Entry, Present, Reader, Room, Stage
from noderemedy.model.time import MINUTE, Now

ASK_AGAIN = MINUTE * 10


class AgentView(Struct, frozen=True):
    """An agent, and what it said if it was asked."""

    at: Ref
    entry: Entry


def decide(view: AgentView, now: Now) -> Decision:
    name = view.at.name
    ask = (DescribeAgent(view.at),)
    if isinstance(view.entry, Present):
        fact = Fact(known_ref(name), KnownAgent(view.entry.obj))
        return Decision(because=(AgentDescribed(name, view.entry.obj.problem),), facts=(fact,))
    asked = view.entry.confirmed_at if isinstance(view.entry, Absent) else None
    if asked is None:
        return Decision(ask, (AskingAgent(name),))
    fact = Fact(known_ref(name), KnownAgent(None))
    again = asked + ASK_AGAIN
    if now.mono >= again:
        return Decision(ask, (AskingAgent(name),), facts=(fact,))
    return Decision(because=(AgentDescribed(name, "it is not installed"),), facts=(fact,), wake_at=again)


def sees(key: Ref, reader: Reader) -> AgentView | None:
    return AgentView(key, reader.read(key)) if reader.tally(PLANS_BY_AGENT, key.name) else None


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if isinstance(obj, FencePlan):
        return [agent_ref(name) for name in obj.agents]
    return (ref,)


ROOM = Room(
    name="fence-agent",
    watches=(FENCE_PLAN, AGENT),
    indexes=INDEXES,
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({DescribeAgent}),
    stage=Stage.SPEC,
)
