"""The storm-policy room: one key per document. Says whether it may begin repairs, and whose turn it is. Seed 002.

What the seed wants to be skipped: all repairs while a share of the document's nodes is unresponsive (that is no matter
of nodes), and all but one where one node at a time is wanted. The RemediationBudget is asked as well: the stricter
wins. It also tells authors what is probably not meant: a document without nodes, or one that shares nodes with another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core.remedy import facts
from noderemedy.core.remedy.facts import (
    BY_DOCUMENT,
    DOCUMENT,
    REPAIR,
    DocumentFact,
    RepairFact,
    config_map_of,
    document_ref,
)
from noderemedy.core.remedy.view import FLOW
from noderemedy.model.budget import NEED, Need
from noderemedy.model.configuration import Policy
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.governing import MEMBER, PermitFact, governor, permit_ref
from noderemedy.model.ids import Ref
from noderemedy.model.reasons import DocumentOverlaps, DocumentWithoutNodes, Reason, SkippedUnresponsive
from noderemedy.model.room import Index, Present, Reader, Room, Stage
from noderemedy.model.time import Now

LEAST = 2  # one single unresponsive node is never held back by a share
NAMED = 3
BY_ROOM = "needs by room"


class PolicyView(Struct, frozen=True):
    """A document, its nodes counted, and those that wait for their turn or are being repaired."""

    at: Ref
    found: DocumentFact
    total: int
    unresponsive: int
    rivals: tuple[str, ...] = ()  # the documents with which it shares nodes
    repairs: tuple[tuple[Ref, RepairFact], ...] = ()


def decide(view: PolicyView, now: Now) -> Decision:
    policy = view.found.document.configuration.policy
    closed = storm(view, policy)
    turn = turn_of(view) if policy.one_at_a_time else None
    because: list[Reason] = [closed] if closed else []
    if view.rivals:
        because.append(DocumentOverlaps(", ".join(view.rivals[:NAMED])))
    if not view.total and not view.rivals:
        because.append(DocumentWithoutNodes())
    permit = PermitFact(view.at, closed, policy.one_at_a_time, turn, policy.skip_conditions, policy.pods_per_minute)
    return Decision(because=tuple(because), facts=(Fact(permit_ref(view.at), permit),))


def storm(view: PolicyView, policy: Policy) -> Reason | None:
    """At this share and above nothing begins."""
    percent = policy.unresponsive_percent
    if percent is None or view.unresponsive < LEAST or view.unresponsive * 100 < percent * view.total:
        return None
    return SkippedUnresponsive(view.at.name, percent)


def turn_of(view: PolicyView) -> Ref | None:
    """The one that is being repaired; else the one that has waited longest; one that is stuck after all others."""
    order = sorted(view.repairs, key=lambda one: (one[1].is_stuck, not one[1].is_running, one[1].since, one[0]))
    return order[0][0] if order else None


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> PolicyView | None:
    entry = reader.read(document_ref(key))
    if not isinstance(entry, Present):
        return None
    at = entry.obj.at
    wanted = entry.obj.document.configuration.policy.one_at_a_time
    return PolicyView(
        at=at,
        found=entry.obj,
        total=reader.tally(BY_DOCUMENT, facts.members(at)),
        unresponsive=reader.tally(BY_DOCUMENT, facts.unresponsive(at)),
        rivals=rivals_of(at, reader),
        repairs=(*repairs_of(at, reader), *fences_of(at, reader)) if wanted else (),
    )


def rivals_of(at: Ref, reader: Reader) -> tuple[str, ...]:
    """Whoever shares the first contested node: one example is enough to look for the mistake."""
    first = reader.find(BY_DOCUMENT, facts.contested(at))[:1]
    entries = [reader.read(ref) for ref in first]
    shared = [(one.obj.document, *one.obj.others) for one in entries if isinstance(one, Present)]
    return tuple(sorted({one.name for group in shared for one in group if one != at}))


def repairs_of(at: Ref, reader: Reader) -> Iterable[tuple[Ref, RepairFact]]:
    for ref in reader.find(BY_DOCUMENT, facts.repairs(at)):
        entry = reader.read(ref)
        if isinstance(entry, Present):
            yield facts.node_of(ref), entry.obj


def fences_of(at: Ref, reader: Reader) -> Iterable[tuple[Ref, RepairFact]]:
    """Fence flows of its nodes, whoever asked for them: each is a repair of one node, too."""
    for ref in reader.find(BY_ROOM, FLOW):
        entry = reader.read(ref)
        if isinstance(entry, Present) and entry.obj.node and governor(entry.obj.node, reader) == at:
            need: Need = entry.obj
            yield entry.obj.node, RepairFact(at, need.since, need.is_running, is_stuck=need.is_stuck)


def _room(ref: Ref, need: Need) -> tuple[str, ...]:
    return (need.room,)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == DOCUMENT:
        return (config_map_of(ref),)
    if ref.kind == NEED:
        is_flow = obj is not None and obj.room == FLOW and obj.node is not None
        document = governor(obj.node, reader) if is_flow else None
        return (document,) if document is not None else ()
    return (obj.document, *obj.others) if ref.kind == MEMBER else (obj.document,)


ROOM = Room(
    name="storm-policy",
    watches=(DOCUMENT, MEMBER, REPAIR, NEED),
    indexes=(*facts.INDEXES, Index(BY_ROOM, NEED, _room)),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.GATE,
)
