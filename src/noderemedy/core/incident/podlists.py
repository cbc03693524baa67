"""The room of pods: one key per Machine. Lists what runs on the node of an Incident, once, before it moves.

What ran there explains what the repair cost. A room of its own, beside that which writes: where pods cannot be listed,
what was done is written down all the same, and when somebody waits for it.
Pods are not asked for in a cluster that is out of sight: it would keep us waiting for an answer that does not come.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import traces
from noderemedy.core.incident import facts
from noderemedy.core.incident.recordview import RecordView, behind, first_of, is_news, lot, sees, wakes
from noderemedy.core.traces import DIARY
from noderemedy.model.actions import ListPods
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import INCIDENT
from noderemedy.model.incident import PODS_MAX, PodSeen, Record
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Present, Room
from noderemedy.model.serving import UNSERVED
from noderemedy.model.time import SECOND, Mono, Now
from noderemedy.model.workload import PodsOfNode

SETTLES = SECOND * 2  # what follows a step within this time is told with it
SPREAD_DONE = 3_000  # milliseconds over which the beginnings of many records are spread


def decide(view: RecordView, now: Now) -> Decision:
    """A list is kept for as long as this room wants something: until it is written down."""
    stored = view.going_on.record if view.going_on else Record()
    if view.diary.node_at is None or (isinstance(view.stored, Present) and not view.going_on):
        return NOTHING
    wanted, lists = with_pods(view, stored), list_at(view, stored, now)
    if lists is None:
        return Decision((), (behind(view, wanted),)) if wanted.pods_in_all != stored.pods_in_all else NOTHING
    if now.mono < lists:
        return Decision(wake_at=lists)
    return Decision((ListPods(view.diary.node_at),), (behind(view, wanted),))


def list_at(view: RecordView, stored: Record, now: Now) -> Mono | None:
    """When the pods are listed, once per record. None: they are, or need not be.

    As soon as something was done or decided, before they move: they are part of what was found.
    """
    record = view.diary.record
    if not view.diary.found.node_uid or view.diary.node_at is None or not view.is_in_sight:
        return None
    if stored.pods_in_all is not None or listed(view) is not None:
        return None
    news = first_of(record, is_news)
    return Mono((now.until(news.at) + SETTLES).ms + lot(view, SPREAD_DONE)) if news is not None else None


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


ROOM = Room(
    name="incident-pods",
    watches=(INCIDENT, DIARY, UNSERVED, REMOTE),
    indexes=(*traces.INDEXES, *facts.INDEXES),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({ListPods}),
)
