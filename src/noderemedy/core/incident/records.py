"""The incident room: one key per Machine. Brings the Incident in the API up to date with the diary, in few writes.

A write waits a little, so that what happens together is written together; how long differs from target to target, so
that a whole rack does not write at once. Who waits for the Incident (a person who is to answer in it, a room that is
about to take a trace away) does not wait for that. An Incident is opened with all that was noted by then: most repairs
are two writes, one before the first trace goes and one at the end.
Pods are not asked for in a cluster that is out of sight: it would keep us waiting for an answer that does not come.
Without the definition of Incidents nothing is written, and nothing else is disturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, structs

from noderemedy.core import approvals, traces
from noderemedy.core.incident import facts
from noderemedy.core.incident.aspects import EFFECTS
from noderemedy.core.incident.facts import ALL_DIARIES, Diary
from noderemedy.core.traces import DIARY, diary_ref
from noderemedy.model.actions import DropIncident, Guard, ListPods, OpenIncident, WriteIncident
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import INCIDENT, Ref
from noderemedy.model.incident import PODS_MAX, Ending, Incident, PodSeen, Record, Step
from noderemedy.model.reasons import IncidentBegins, IncidentBehind, IncidentsOverflow
from noderemedy.model.remote import REMOTE, cluster_name
from noderemedy.model.room import Absent, Entry, Present, Reader, Room, Unseen
from noderemedy.model.serving import UNSERVED, is_served
from noderemedy.model.time import MINUTE, SECOND, Mono, Now
from noderemedy.model.workload import PodsOfNode, pods_at

PER_TARGET = 10  # in which something was done, and as many others; the open one takes a place of either
UNTOUCHED = (Ending.SELF_RECOVERED, Ending.UNWATCHED)  # ends of those others
SETTLES = SECOND * 2  # what follows a step within this time is written with it
APART = MINUTE * 2  # two writes of one record, unless somebody waits for it
BARELY = SECOND * 30  # where nothing but our memory tells of what was done
LAZILY = MINUTE * 10  # where nothing but observations came
LISTED = SECOND  # the pods are listed before the record is opened, so that it is opened with them
SPREAD_DONE, SPREAD_SIGNS = 3_000, 30_000  # milliseconds over which the beginnings of many records are spread


class RecordView(Struct, frozen=True):
    """The diary of a target, its Incident as it is stored, the pods of its node, and older Incidents."""

    diary: Diary
    begun: Mono  # since when there is this diary
    stored: Entry
    pods: Entry
    closed: tuple[tuple[Ref, Present], ...] = ()  # of this target; read only where they may be too many
    is_awaited: bool = False  # a room holds a trace back until it is written
    is_in_sight: bool = True  # the cluster of its node; it would not answer


def decide(view: RecordView, now: Now) -> Decision:
    if not isinstance(view.stored, Present):
        return begin(view, now)
    incident: Incident = view.stored.obj
    if not incident.is_open or incident.deleting or not goes_on(view.diary.record, incident.record):
        return NOTHING  # another leader wrote: the diary is about to see that
    wanted = with_pods(view, incident.record)
    lists = list_at(view, incident.record, now)
    due = write_at(view, incident, now, lists)
    if wanted != incident.record and now.mono >= due:
        guard = Guard(incident.uid, view.stored.resource_version)
        return Decision((WriteIncident(view.diary.name, guard, wanted),), (behind(view, wanted),))
    if lists is not None and now.mono >= lists:
        return list_pods(view, wanted, due)
    if surplus := one_too_many(view.closed):
        ref, entry = surplus
        return Decision((DropIncident(ref, Guard(entry.obj.uid)),), (IncidentsOverflow(PER_TARGET),))
    return next_look(due if wanted != incident.record else None, lists)


def next_look(*moments: Mono | None) -> Decision:
    known = [moment for moment in moments if moment is not None]
    return Decision(wake_at=min(known)) if known else NOTHING


def one_too_many(closed: tuple[tuple[Ref, Present], ...]) -> tuple[Ref, Present] | None:
    """The oldest of a sort that is full, beside the one that is open.

    Repairs are counted by their records: a node that comes and goes by itself must not push those out.
    """
    others = tuple(one for one in closed if one[1].obj.record.ending in UNTOUCHED)
    repairs = tuple(one for one in closed if one[1].obj.record.ending not in UNTOUCHED)
    full = next((sort for sort in (others, repairs) if len(sort) >= PER_TARGET), ())
    return min(full, key=lambda one: (one[1].obj.found.detected, one[0].name), default=None)


def goes_on(wanted: Record, stored: Record) -> bool:
    """Whether what is wanted only appends to what is stored."""
    return wanted.steps[: len(stored.steps)] == stored.steps


def behind(view: RecordView, wanted: Record) -> IncidentBehind:
    last = wanted.steps[-1].what if wanted.steps else ""
    return IncidentBehind(view.diary.name.name, len(wanted.steps), last)


# --- when --------------------------------------------------------------------------------------------------------


def begin(view: RecordView, now: Now) -> Decision:
    """Open it with what was noted so far. Pods that could not be listed in time are listed afterwards."""
    lists = list_at(view, Record(), now)
    due = begin_at(view, lists)
    wanted = with_pods(view, Record())
    if now.mono >= due:
        reason = IncidentBegins(view.diary.name.name, view.diary.found.detected)
        return Decision((OpenIncident(view.diary.name, view.diary.found, wanted),), (reason,))
    if lists is not None and now.mono >= lists:
        return list_pods(view, wanted, due)
    return next_look(due, lists)


def begin_at(view: RecordView, lists: Mono | None) -> Mono:
    """At once where somebody waits; soon after something was done or decided; after half a minute where it is a sign.

    A little later for one target than for the next, so that a whole rack does not write at once. That says when a
    record is opened, not whether: what is over by then is opened, and closed at once or when it was quiet for long.
    """
    record = view.diary.record
    is_over, news = record.ending is not None, first_of(record, is_news)
    if view.diary.is_urgent or view.is_awaited or (is_over and news is not None):
        return view.begun
    if news is None:
        return Mono((view.begun + SETTLES).ms + lot(view, SPREAD_SIGNS))
    return lists + LISTED if lists is not None else Mono((view.begun + SETTLES).ms + lot(view, SPREAD_DONE))


def lot(view: RecordView, spread: int) -> int:
    """So many milliseconds later than others, by chance and always the same."""
    return int(view.diary.found.episode[:6], 16) % spread


def first_of(record: Record, is_such: Callable[[Step], bool]) -> Step | None:
    return next((step for step in record.steps if is_such(step)), None)


def write_at(view: RecordView, incident: Incident, now: Now, lists: Mono | None) -> Mono:
    record = view.diary.record
    assert isinstance(view.stored, Present)
    if record.ending is not None or view.is_awaited:
        return now.mono
    fresh = record.steps[len(incident.record.steps) :]
    pause = APART if any(is_news(step) for step in fresh) else LAZILY
    if not fresh:
        return view.stored.changed_at + pause
    first = now.until(fresh[0].at)
    if is_ours_alone(fresh):
        return min(view.stored.changed_at, first) + BARELY
    apart = min(view.stored.changed_at, first) + pause  # a person who writes in it delays nothing
    return max(apart, first + SETTLES if lists is None else lists + LISTED)


def is_ours_alone(fresh: tuple[Step, ...]) -> bool:
    """Whether something was done that nothing but our memory tells of: its trace went before it could be written."""
    gone: set[str] = set()
    for step in reversed(fresh):
        if step.what in gone and is_news(step):
            return True
        if not step.value:
            gone.add(step.what)
    return False


def is_news(step: Step) -> bool:
    """Something was done, decided or answered; what is over, or was merely seen, goes along with the next write."""
    is_done = step.what in EFFECTS or step.what == "approval"
    return (is_done and bool(step.value)) or (step.what, step.value) == ("verdict", "unhealthy")


# --- pods --------------------------------------------------------------------------------------------------------


def list_at(view: RecordView, stored: Record, now: Now) -> Mono | None:
    """When the pods are listed, once per record: what ran there explains what it cost. None: they are, or need not be.

    As soon as something was done or decided, before they move: they are part of what was found.
    """
    record = view.diary.record
    if not view.diary.found.node_uid or view.diary.node_at is None or not view.is_in_sight:
        return None
    if stored.pods_in_all is not None or listed(view) is not None:
        return None
    news = first_of(record, is_news)
    return Mono((now.until(news.at) + SETTLES).ms + lot(view, SPREAD_DONE)) if news is not None else None


def list_pods(view: RecordView, wanted: Record, due: Mono) -> Decision:
    assert view.diary.node_at is not None
    return Decision((ListPods(view.diary.node_at),), (behind(view, wanted),), wake_at=due)


def listed(view: RecordView) -> PodsOfNode | None:
    """The pods of the node, if they were read live since the record began."""
    entry = view.pods
    if isinstance(entry, Present) and entry.confirmed_at is not None and entry.confirmed_at >= view.begun:
        pods: PodsOfNode = entry.obj
        return pods
    return None


def with_pods(view: RecordView, stored: Record) -> Record:
    """The record as it should be; pods are listed once, and stay."""
    wanted = structs.replace(view.diary.record, pods=stored.pods, pods_in_all=stored.pods_in_all)
    found = listed(view)
    if stored.pods_in_all is not None or found is None:
        return wanted
    shown = [pod for pod in found.pods if not pod[1].is_finished]
    seen = tuple(PodSeen(ref.namespace, ref.name, pod.uid, pod.owner) for ref, pod in shown[:PODS_MAX])
    return structs.replace(wanted, pods=seen, pods_in_all=len(shown))


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> RecordView | None:
    entry = reader.read(diary_ref(key))
    if not isinstance(entry, Present) or not is_served(INCIDENT, reader):
        return None
    diary: Diary = entry.obj
    others = reader.find(approvals.BY_TARGET, approvals.place(key))
    entries = [(ref, reader.read(ref)) for ref in others] if len(others) > PER_TARGET else []
    return RecordView(
        diary=diary,
        begun=entry.first_seen,
        stored=reader.read(diary.name),
        pods=reader.read(pods_at(diary.node_at)) if diary.node_at else Absent(),
        closed=tuple((ref, one) for ref, one in entries if isinstance(one, Present) and not one.obj.is_open),
        is_awaited=bool(reader.tally(traces.BY_TARGET, approvals.place(key))),
        is_in_sight=is_in_sight(diary.node_at, reader),
    )


def is_in_sight(node_at: Ref | None, reader: Reader) -> bool:
    return node_at is None or not node_at.cluster or not isinstance(reader.read(node_at), Unseen)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == UNSERVED:
        return [one.found.target for one in diaries(reader)] if obj.kind == INCIDENT else ()
    if ref.kind == REMOTE:
        cluster = cluster_name(ref.namespace, ref.name)
        return [one.found.target for one in diaries(reader) if one.node_at and one.node_at.cluster == cluster]
    if ref.kind == traces.ERASING:
        return (obj.target,)
    return (obj.found.target,) if obj is not None else ()


def diaries(reader: Reader) -> list[Diary]:
    """Of all that is under way."""
    found = [reader.read(one) for one in reader.find(ALL_DIARIES, "all")]
    return [entry.obj for entry in found if isinstance(entry, Present)]


ROOM = Room(
    name="incident",
    watches=(INCIDENT, DIARY, UNSERVED, REMOTE, traces.ERASING),
    indexes=(*traces.INDEXES, *facts.INDEXES),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({OpenIncident, WriteIncident, DropIncident, ListPods}),
)
