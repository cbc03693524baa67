"""The incident room: one key per Machine. Brings the Incident in the API up to date with the diary, in few writes.

A write waits a little, so that what happens together is written together; how long differs from target to target, so
that a whole rack does not write at once. Who waits for the Incident (a person who is to answer in it, a room that is
about to take a trace away) does not wait for that. An Incident is opened with all that was noted by then: most repairs
are two writes, one before the first trace goes and one at the end.
Pods are listed by another room (`podlists.py`): where they cannot be listed, the Incident does without them.
Without the definition of Incidents nothing is written, and nothing else is disturbed.
"""

from __future__ import annotations

from noderemedy.core import traces
from noderemedy.core.incident import facts
from noderemedy.core.incident.podlists import SETTLES, SPREAD_DONE, list_at, with_pods
from noderemedy.core.incident.recordview import PER_TARGET, RecordView, behind, first_of, is_news, lot, sees, wakes
from noderemedy.core.traces import DIARY
from noderemedy.model.actions import DropIncident, Guard, OpenIncident, WriteIncident
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import INCIDENT, Ref
from noderemedy.model.incident import Ending, Incident, Record, Step
from noderemedy.model.reasons import IncidentBegins, IncidentsOverflow
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Present, Room
from noderemedy.model.serving import UNSERVED
from noderemedy.model.time import MINUTE, SECOND, Mono, Now
from noderemedy.model.workload import PODS_OF_NODE

UNTOUCHED = (Ending.SELF_RECOVERED, Ending.UNWATCHED)  # ends of those others
APART = MINUTE * 2  # two writes of one record, unless somebody waits for it
BARELY = SECOND * 30  # where nothing but our memory tells of what was done
LAZILY = MINUTE * 10  # where nothing but observations came
LISTED = SECOND  # the pods are listed before the record is opened, so that it is opened with them
SPREAD_SIGNS = 30_000  # milliseconds over which the beginnings of many records are spread, where nothing was done yet


def decide(view: RecordView, now: Now) -> Decision:
    if not isinstance(view.stored, Present):
        return begin(view, now)
    if (incident := view.going_on) is None:
        return NOTHING  # another leader wrote: the diary is about to see that
    wanted = with_pods(view, incident.record)
    due = write_at(view, incident, now, list_at(view, incident.record, now))
    if wanted != incident.record and now.mono >= due:
        guard = Guard(incident.uid, view.stored.resource_version)
        return Decision((WriteIncident(view.diary.name, guard, wanted),), (behind(view, wanted),))
    if surplus := one_too_many(view.closed):
        ref, entry = surplus
        return Decision((DropIncident(ref, Guard(entry.obj.uid)),), (IncidentsOverflow(PER_TARGET),))
    return Decision(wake_at=due) if wanted != incident.record else NOTHING


def one_too_many(closed: tuple[tuple[Ref, Present], ...]) -> tuple[Ref, Present] | None:
    """The oldest of a sort that is full, beside the one that is open.

    Repairs are counted by their records: a node that comes and goes by itself must not push those out.
    """
    others = tuple(one for one in closed if one[1].obj.record.ending in UNTOUCHED)
    repairs = tuple(one for one in closed if one[1].obj.record.ending not in UNTOUCHED)
    full = next((sort for sort in (others, repairs) if len(sort) >= PER_TARGET), ())
    return min(full, key=lambda one: (one[1].obj.found.detected, one[0].name), default=None)


# --- when --------------------------------------------------------------------------------------------------------


def begin(view: RecordView, now: Now) -> Decision:
    """Open it with what was noted so far. Pods that could not be listed in time are listed afterwards."""
    due = begin_at(view, list_at(view, Record(), now))
    if now.mono < due:
        return Decision(wake_at=due)
    reason = IncidentBegins(view.diary.name.name, view.diary.found.detected)
    return Decision((OpenIncident(view.diary.name, view.diary.found, with_pods(view, Record())),), (reason,))


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


ROOM = Room(
    name="incident",
    watches=(INCIDENT, DIARY, UNSERVED, REMOTE, traces.ERASING, PODS_OF_NODE),
    indexes=(*traces.INDEXES, *facts.INDEXES),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({OpenIncident, WriteIncident, DropIncident}),
)
