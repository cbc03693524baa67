"""Events about nodes, as node-problem-detector and kubelet write them: counted by the program, judged by thresholds.

Watched only while some document asks for them. What is kept is bounded: a few moments per node and reason.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.room import Index
from noderemedy.model.time import Wall

CORE_EVENT = Kind("", "Event")
NODE_EVENTS = Kind(FACTS, "NodeEvents")
EVENTS_WANTED = Kind(FACTS, "EventsWanted")
ALL_WANTED = "events that are wanted"
KEPT = 50  # moments per node and reason; a document may not ask for more


class NodeEvent(Struct, frozen=True):
    """One Event of the API: it counts how often the same thing happened."""

    uid: str
    name: str  # namespace and name: what goes on after it has expired has the same
    node: str  # "": it is about something else
    reason: str
    count: int
    first: Wall | None  # None: nobody says when that was
    last: Wall


class NodeEvents(FactValue, frozen=True):
    """When events of each wanted reason happened to a node, at the earliest, in order. Entered by the program."""

    moments: tuple[tuple[str, tuple[Wall, ...]], ...]

    def of(self, reason: str) -> tuple[Wall, ...]:
        return next((found for name, found in self.moments if name == reason), ())


class EventsWanted(FactValue, frozen=True):
    """A document asks for events of these reasons."""

    reasons: tuple[str, ...]


def node_events_ref(node: str) -> Ref:
    return Ref("", NODE_EVENTS, "", node)


def events_wanted_ref(document: Ref) -> Ref:
    return Ref("", EVENTS_WANTED, document.namespace, document.name)


def _all(ref: Ref, wanted: EventsWanted) -> tuple[str, ...]:
    return ("all",)


INDEXES: tuple[Index, ...] = (Index(ALL_WANTED, EVENTS_WANTED, _all),)
