"""Which Configuration document governs a node, whether it lets anything begin there, and who is parked. Facts.

Stated by the rooms of `core/remedy`, asked by every room that may begin a repair of such a node for somebody else: a
document's storm policies hold for its nodes, whoever asks. Documents speak for the nodes of the cluster they are in.
"""

from __future__ import annotations

from noderemedy.model.configuration import SkipCondition
from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.node import Node
from noderemedy.model.reasons import OneAtATime, Reason, SkippedByNodeCondition
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import Wall

MEMBER, PERMIT, REPEATS = Kind(FACTS, "RemedyMember"), Kind(FACTS, "RemedyPermit"), Kind(FACTS, "Repeats")


class MemberFact(FactValue, frozen=True):
    """A node that a document speaks for, and the younger ones that select it, too. Changes rarely."""

    document: Ref
    others: tuple[Ref, ...] = ()
    is_unresponsive: bool = False  # not Ready


class PermitFact(FactValue, frozen=True):
    """Whether a document may begin repairs; and whose turn it is where it wants one at a time."""

    at: Ref
    closed: Reason | None = None
    is_one_at_a_time: bool = False
    turn: Ref | None = None
    skips: tuple[SkipCondition, ...] = ()
    pods_per_minute: int | None = None

    def forbids(self, node: Node) -> Reason | None:
        """`skipWhenNodeCondition`: what the node lost is elsewhere, and no repair of the node brings it back."""
        shown = {(one.type, one.status) for one in node.conditions}
        found = next((one for one in self.skips if (one.type, one.status) in shown), None)
        return SkippedByNodeCondition(found.type, found.status) if found else None

    def waits(self, node: Ref) -> Reason | None:
        """`oneAtATime`: None where it is this node's turn, or everybody's."""
        if not self.is_one_at_a_time or self.turn == node:
            return None
        return OneAtATime(self.turn.name if self.turn else "")


class RepeatsFact(FactValue, frozen=True):
    """A node that was repaired too often is left to a person until then."""

    parked: Reason
    until: Wall


def member_ref(node: Ref) -> Ref:
    return Ref("", MEMBER, "", node.name)


def permit_ref(config_map: Ref) -> Ref:
    return Ref("", PERMIT, config_map.namespace, config_map.name)


def repeats_ref(node: Ref) -> Ref:
    return Ref("", REPEATS, "", node.name)


def governor(node: Ref, reader: Reader) -> Ref | None:
    """The document that governs a node, if any does."""
    entry = reader.read(member_ref(node))
    document: Ref | None = entry.obj.document if isinstance(entry, Present) and not node.cluster else None
    return document


def permit_for(document: Ref | None, reader: Reader) -> PermitFact | None:
    entry = reader.read(permit_ref(document)) if document is not None else None
    return entry.obj if isinstance(entry, Present) else None


def parked_of(node: Ref, reader: Reader) -> RepeatsFact | None:
    """That the node is a person's business, if it is."""
    entry = reader.read(repeats_ref(node)) if not node.cluster else None
    return entry.obj if isinstance(entry, Present) else None
