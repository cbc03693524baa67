"""The threshold room: one key per Node. Says which threshold of its document a node has reached, and since when.

Durations are measured as health checks measure them: by the condition's own time, never less than we have seen of it
(race R54), and a condition has lasted too long when it has lasted longer than its period. Of several documents that
select a node the oldest governs (by creation, then by name), and all of them are told so. It writes nothing.
What only an alarm names is a problem that is counted, and no trouble: no remedy follows, and the budget knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from noderemedy.core.healthcheck.signs import Age, Sign, age, of_node
from noderemedy.core.labels import matches
from noderemedy.core.remedy import facts
from noderemedy.core.remedy.facts import (
    ALL,
    ALL_DOCUMENTS,
    ALL_NODES,
    DOCUMENT,
    DocumentFact,
    Problem,
    Problems,
    Trouble,
    problems_ref,
    trouble_ref,
)
from noderemedy.model.configuration import Configuration, EventSign, Threshold
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.governing import MemberFact, member_ref
from noderemedy.model.healthcheck import Criterion, Sighting
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.node import Node
from noderemedy.model.nodeevents import NODE_EVENTS, NodeEvents, node_events_ref
from noderemedy.model.reasons import EventsRepeated, ProblemCounted, RepairNow
from noderemedy.model.remedy import RemedyRecord
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.time import SECOND, Now, Span, Wall

EVENTS = "events"  # where a condition has its status


class NodeView(Struct, frozen=True):
    """A Node, and the documents that select it, the governing one first."""

    at: Ref
    node: Node
    documents: tuple[DocumentFact, ...]
    sightings: tuple[Sighting, ...] = ()  # as they were stated at the last look
    events: NodeEvents | None = None  # None: nobody counted any


class Found(Struct, frozen=True):
    """A threshold whose condition is there, and for how long."""

    threshold: Threshold
    age: Age
    seen: Sighting
    value: str  # the status of its condition
    until: Wall | None = None  # when it is over by itself


def decide(view: NodeView, now: Now) -> Decision:
    governing, *others = view.documents
    read = governing.document.configuration
    found, counted = tuple(findings(view, read.thresholds, now)), tuple(findings(view, read.watched, now))
    member = MemberFact(governing.at, tuple(one.at for one in others), not view.node.is_ready)
    stated = [Fact(member_ref(view.at), member)]
    chosen = choose(view, found)
    is_hurried = chosen is not None and view.node.repair_now and not chosen.age.is_over
    if chosen is not None:
        stated.append(Fact(trouble_ref(view.at), trouble(governing, chosen, is_hurried)))
        found = (chosen, *(one for one in found if one is not chosen))
    problems = (*(problem(one, read) for one in found), *(only_counted(view, one) for one in counted))
    if not problems:
        return Decision(facts=tuple(stated))
    seen = tuple(dict.fromkeys(one.seen for one in (*found, *counted)))
    stated.append(Fact(problems_ref(view.at), Problems(governing.at, problems, seen)))
    told = tuple(reason for one in problems for reason in one.because)
    because = (*told, RepairNow()) if is_hurried else told
    pending = [one.until if one.age.is_over else one.age.next_look for one in found]
    looks = [now.until(one) for one in (*pending, *(one.until for one in counted)) if one is not None]
    return Decision(because=because, wake_at=min(looks, default=None), facts=tuple(stated))


def findings(view: NodeView, thresholds: tuple[Threshold, ...], now: Now) -> Iterator[Found]:
    """Those of them whose condition the node shows, in the document's order."""
    seen = {one.what: one for one in view.sightings}
    for threshold in thresholds:
        if threshold.event is not None:
            yield from of_events(view, threshold, threshold.event, now)
            continue
        for status in threshold.statuses:
            criterion = Criterion(threshold.condition, status, threshold.period)
            for sign in of_node(view.node, view.at.name, (criterion,)):
                known = seen.get(sign.what) or Sighting(sign.what, now.mono, now.wall)
                yield Found(threshold, age(sign, known, now), known, status)


def of_events(view: NodeView, threshold: Threshold, event: EventSign, now: Now) -> Iterator[Found]:
    """So many of them within the time: a sign that is over at once, and lasts until the first of them is too old.

    What happened before the node was repaired, or to another Node of its name, says nothing about it.
    """
    moments = view.events.of(event.reason) if view.events else ()
    begins = anew_since(view.node)
    recent = [one for one in moments if now.wall < one + event.within and begins <= one]
    if len(recent) < event.count:
        return
    since = min(recent[-event.count], Wall(now.wall.ms - 1))
    told = EventsRepeated(view.at.name, event.reason, event.count, event.within)
    what = f"event {event.reason}"
    sign = Sign(what, what, since, Span(0), told, told)
    sighting = Sighting(what, now.mono, now.wall)
    until = recent[-event.count] + event.within
    yield Found(threshold, age(sign, sighting, now), sighting, EVENTS, until)


def anew_since(node: Node) -> Wall:
    """From when on events count. Times of the API have whole seconds: that of the repair must be over."""
    repaired = [node.remedied_at + SECOND] if isinstance(node.remedied_at, Wall) else []
    return max([node.created or Wall(0), *repaired])


def choose(view: NodeView, found: tuple[Found, ...]) -> Found | None:
    """The one whose remedies run already; else the first that is over; else the one whose time is up first."""
    over = [one for one in found if one.age.is_over]
    recorded = view.node.remedy.threshold if isinstance(view.node.remedy, RemedyRecord) else ""
    running = [one for one in found if one.threshold.name == recorded]
    return next(iter([*running, *over, *sorted(found, key=left)]), None)


def left(one: Found) -> int:
    timeout = one.age.sign.timeout
    return (timeout.ms if timeout else 0) - one.age.lasted.ms


def trouble(governing: DocumentFact, chosen: Found, is_hurried: bool) -> Trouble:
    return Trouble(
        document=governing.at,
        threshold=chosen.threshold.name,
        since=chosen.age.began,
        is_over=chosen.age.is_over or is_hurried,
        because=chosen.age.reasons,
    )


def problem(one: Found, read: Configuration) -> Problem:
    """What records tell of a threshold that is met."""
    name = one.threshold.problem
    is_alarmed = any(alarm.problem == name for alarm in read.alarms)
    return Problem(name, one.value, one.age.began, one.age.reasons, is_alarmed)


def only_counted(view: NodeView, one: Found) -> Problem:
    """What records tell of something that only an alarm names."""
    told = ProblemCounted(view.at.name, one.threshold.problem, one.value, one.age.began)
    return Problem(one.threshold.problem, one.value, one.age.began, (told,), is_alarmed=True)


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> NodeView | None:
    entry = reader.read(key)
    if key.cluster or not isinstance(entry, Present):
        return None
    documents = governing(entry.obj, reader)
    if not documents:
        return None
    known = reader.read(problems_ref(key))
    events = reader.read(node_events_ref(key.name))
    return NodeView(
        at=key,
        node=entry.obj,
        documents=documents,
        sightings=known.obj.sightings if isinstance(known, Present) else (),
        events=events.obj if isinstance(events, Present) else None,
    )


def governing(node: Node, reader: Reader) -> tuple[DocumentFact, ...]:
    """The documents that select this node, oldest first."""
    entries = [reader.read(ref) for ref in reader.find(ALL_DOCUMENTS, ALL)]
    labels = dict(node.labels)
    found = [
        one.obj
        for one in entries
        if isinstance(one, Present) and matches(one.obj.document.configuration.selector, labels)
    ]
    return tuple(sorted(found, key=lambda one: (one.document.created.ms if one.document.created else 0, one.at.name)))


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """A node concerns itself where there is any document; a document concerns all nodes, which is rare."""
    if ref.kind == NODE:
        return (ref,) if not ref.cluster and reader.has(ALL_DOCUMENTS) else ()
    if ref.kind == NODE_EVENTS:
        return (facts.node_of(ref),)
    return reader.find(ALL_NODES, ALL)


ROOM = Room(
    name="threshold",
    watches=(NODE, DOCUMENT, NODE_EVENTS),
    indexes=facts.INDEXES,
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.VERDICT,
)
