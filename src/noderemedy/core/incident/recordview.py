"""What both rooms of Incidents judge by: the diary of a target, its Incident as it is stored, the pods of its node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import approvals, traces
from noderemedy.core.incident.aspects import EFFECTS
from noderemedy.core.incident.facts import ALL_DIARIES, BY_NODE, Diary
from noderemedy.core.traces import diary_ref
from noderemedy.model.ids import INCIDENT, NODE, Ref
from noderemedy.model.incident import Incident, Record, Step
from noderemedy.model.reasons import IncidentBehind
from noderemedy.model.remote import REMOTE, cluster_name
from noderemedy.model.room import Absent, Entry, Present, Reader, Unseen
from noderemedy.model.serving import UNSERVED, is_served
from noderemedy.model.time import Mono
from noderemedy.model.workload import PODS_OF_NODE, pods_at

PER_TARGET = 10  # in which something was done, and as many others; the open one takes a place of either


class RecordView(Struct, frozen=True):
    """The diary of a target, its Incident as it is stored, the pods of its node, and older Incidents."""

    diary: Diary
    begun: Mono  # since when there is this diary
    stored: Entry
    pods: Entry
    closed: tuple[tuple[Ref, Present], ...] = ()  # of this target; read only where they may be too many
    is_awaited: bool = False  # a room holds a trace back until it is written
    is_in_sight: bool = True  # the cluster of its node; it would not answer

    @property
    def going_on(self) -> Incident | None:
        """The one that the diary tells of, if it can go on in it; another leader may have written or closed it."""
        incident: Incident | None = self.stored.obj if isinstance(self.stored, Present) else None
        if incident is None or not incident.is_open or incident.deleting:
            return None
        return incident if goes_on(self.diary.record, incident.record) else None


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
    if ref.kind == PODS_OF_NODE:
        return [one.found.target for one in diaries(reader, BY_NODE, str(Ref(ref.cluster, NODE, "", ref.name)))]
    if ref.kind == traces.ERASING:
        return (obj.target,)
    return (obj.found.target,) if obj is not None else ()


def diaries(reader: Reader, index: str = ALL_DIARIES, of: str = "all") -> list[Diary]:
    """Of all that is under way, or of one node."""
    found = [reader.read(one) for one in reader.find(index, of)]
    return [entry.obj for entry in found if isinstance(entry, Present)]


# --- what of it is new -------------------------------------------------------------------------------------------


def goes_on(wanted: Record, stored: Record) -> bool:
    """Whether what is wanted only appends to what is stored."""
    return wanted.steps[: len(stored.steps)] == stored.steps


def behind(view: RecordView, wanted: Record) -> IncidentBehind:
    last = wanted.steps[-1].what if wanted.steps else ""
    return IncidentBehind(view.diary.name.name, len(wanted.steps), last)


def first_of(record: Record, is_such: Callable[[Step], bool]) -> Step | None:
    return next((step for step in record.steps if is_such(step)), None)


def is_news(step: Step) -> bool:
    """Something was done, decided or answered; what is over, or was merely seen, goes along with the next write."""
    is_done = step.what in EFFECTS or step.what == "approval"
    return (is_done and bool(step.value)) or (step.what, step.value) == ("verdict", "unhealthy")


def lot(view: RecordView, spread: int) -> int:
    """So many milliseconds later than others, by chance and always the same."""
    return int(view.diary.found.episode[:6], 16) % spread
