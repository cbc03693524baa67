"""The diary: one key per Machine, which notes what changes about a target that is not well. It writes nothing.

The incident room brings the API up to date with it. They are two because a key with a write in flight is not looked at
meanwhile, and what comes and goes in that time would be missing in the record.

Rule 1: a diary begins when a target leaves Healthy, or a repair of it is in hand; a machine that starts is in order.
Rule 2: steps are appended, never changed. What is stored and no longer true is followed by what is true now.
Rule 3: it ends when the target was well, and nothing was in hand, for a minute.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from noderemedy.core import machines, traces
from noderemedy.core.episodes import episode
from noderemedy.core.external import lifecycle
from noderemedy.core.healthcheck import facts as health
from noderemedy.core.incident import ending, facts, remedies
from noderemedy.core.incident.aspects import ASPECTS
from noderemedy.core.incident.facts import Diary, incident_ref
from noderemedy.core.incident.observed import Observed
from noderemedy.core.incident.view import TargetView, sees
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.metal3 import links
from noderemedy.core.remedy import facts as remedy_facts
from noderemedy.core.remedy.facts import PROBLEMS, TROUBLE
from noderemedy.core.traces import diary_ref
from noderemedy.model.budget import ANSWER
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.healthcheck import Unhealthy, Waiting
from noderemedy.model.ids import HOST, INCIDENT, METAL3_MACHINE, NODE, NODE_FENCE, Kind, Ref
from noderemedy.model.incident import SIGNS_MAX, STEPS_MAX, TEXT_MAX, VALUE_MAX, Detection, Record, Step
from noderemedy.model.node import NodeBackup
from noderemedy.model.reasons import Reason
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Present, Reader, Room, Stage
from noderemedy.model.time import SECOND, Now, Wall

SEEN_BY_LINKS = (NODE, REMOTE, *MACHINE_KINDS, HOST, METAL3_MACHINE)
MACHINE_OF: dict[Kind, Kind] = {fact: kind for kind, fact in health.VERDICTS.items()}


def decide(view: TargetView, now: Now) -> Decision:
    """Note what is new, and say when the record may be closed."""
    if not isinstance(view.entry, Present | Absent):
        return keep(view.diary) if view.diary else NOTHING  # it cannot be seen: nothing is known to have changed
    found = detection(view, now)
    stored = view.stored.record if view.stored else Record()
    record = noted(view, found, stored, now)
    over = ending.ending(view, found, record)
    if over is None:
        return keep(diary(view, found, record))
    if not view.incident and ending.is_blink(view.begun, record, now):
        return NOTHING
    due = ending.due(over, found, record, now)
    if now.wall >= due:
        closed = structs.replace(record, ending=over, closed=ending.since(over, found, record, now))
        return keep(diary(view, found, closed))
    return structs.replace(keep(diary(view, found, record)), wake_at=now.until(due))


def keep(found: Diary) -> Decision:
    return Decision(facts=(Fact(diary_ref(found.found.target), found),))


def diary(view: TargetView, found: Detection, record: Record) -> Diary:
    name = view.incident[0] if view.incident else incident_ref(found)
    return Diary(name, found, record, view.node_at, is_urgent=view.needs_approval)


# --- what was found ----------------------------------------------------------------------------------------------


def detection(view: TargetView, now: Now) -> Detection:
    """As it is stored, or as it was found at the first look; else the first sign of now.

    What was noted of a former Machine of that name, and is not written down yet, is told to its end first.
    """
    if view.stored:
        return view.stored.found
    if view.diary and (view.diary.found.target_uid == uid_of(view) or not is_nothing(view, view.diary, now)):
        return view.diary.found
    moments = (first_sign(view, now), *(now.wall + SECOND * late for late in range(len(view.taken) + 1)))
    return next(found for at in moments if incident_ref(found := found_at(view, at)) not in view.taken)


def is_nothing(view: TargetView, noted: Diary, now: Now) -> bool:
    """Whether its Machine went before there was anything to tell."""
    return ending.is_blink(view.begun, noted.record, now)


def found_at(view: TargetView, at: Wall) -> Detection:
    """All that can be said about an episode that began then."""
    node_uid, boot_id = node_of(view)
    first = seconds(at)
    return Detection(
        target=view.at,
        target_uid=uid_of(view),
        episode=episode(node_uid or uid_of(view), boot_id, first),
        detected=first,
        node=view.node_at.name if view.node_at else "",
        node_uid=node_uid,
        boot_id=boot_id,
        check=governing(view),
        signs=signs(view),
        conditions=remedies.conditions_of(because(view), view.care),
    )


def governing(view: TargetView) -> str:
    """The check by which it was found, else the document."""
    if view.verdict:
        return str(view.verdict.check)
    return str(view.care.problems.document) if view.care.problems else ""


def uid_of(view: TargetView) -> str:
    return view.machine.uid if view.machine else ""


def node_of(view: TargetView) -> tuple[str, str]:
    """The Node object and its boot; of one that is gone what its backup says."""
    if view.node is not None:
        return view.node.uid, view.node.boot_id
    stored = view.machine.backup if view.machine else None
    return (stored.node_uid, "") if isinstance(stored, NodeBackup) else ("", "")


def first_sign(view: TargetView, now: Now) -> Wall:
    """The oldest moment that verdict or threshold tell; of a repair that somebody asked for, now."""
    found = view.care.trouble or view.care.problems
    if found is not None and not isinstance(view.verdict and view.verdict.verdict, Unhealthy | Waiting):
        return min(found.since, now.wall)
    match view.verdict.verdict if view.verdict else None:
        case Unhealthy(since):
            return min(since, now.wall)
        case Waiting(_, because):
            told = [getattr(reason, "since", None) for reason in because]
            return min((one for one in told if isinstance(one, Wall) and one < now.wall), default=now.wall)
        case _:
            return now.wall


def signs(view: TargetView) -> tuple[str, ...]:
    return tuple(reason.note()[:TEXT_MAX] for reason in because(view)[:SIGNS_MAX])


def because(view: TargetView) -> tuple[Reason, ...]:
    """What is wrong: by the health check, else by the document."""
    verdict = view.verdict.verdict if view.verdict else None
    told = verdict.because if isinstance(verdict, Unhealthy | Waiting) and view.is_sick else ()
    return told or (view.care.problems.because if view.care.problems else ())


# --- what happened -----------------------------------------------------------------------------------------------


def noted(view: TargetView, found: Detection, stored: Record, now: Now) -> Record:
    """What is stored or was noted before, and the steps that this look adds."""
    before = appended(stored, view.diary.record) if view.diary else stored
    if view.machine is None or view.machine.uid != found.target_uid:
        return before
    known = {step.what: step.value for step in before.steps}
    fresh: list[Step] = []
    for aspect in ASPECTS:
        for observed in aspect(view, known, found):
            if known.get(observed.what, "") != short(observed.value):
                known[observed.what] = short(observed.value)
                fresh.append(step(observed, now))
    return structs.replace(before, steps=(*before.steps, *fresh)[: STEPS_MAX + SPARE]) if fresh else before


def appended(stored: Record, noted: Record) -> Record:
    """What is stored, word for word, and what was noted since; what another leader stored is all there is.

    An older definition keeps no deciders: then steps are stored without, and stay so.
    """
    tail = noted.steps[len(stored.steps) :]
    is_same = all(same(one, other) for one, other in zip(stored.steps, noted.steps, strict=False))
    return structs.replace(stored, steps=(*stored.steps, *tail)) if is_same else stored


def same(stored: Step, noted: Step) -> bool:
    return stored == noted or stored == structs.replace(noted, by="", generation=0)


SPARE = 20  # a full record is closed with what came meanwhile


def step(observed: Observed, now: Now) -> Step:
    by = observed.by
    versions = observed.versions or (by.version if by else "")
    told = (observed.room, observed.what, short(observed.value), observed.evidence[:TEXT_MAX], versions[:TEXT_MAX])
    who, generation = (str(by.at)[:TEXT_MAX], by.generation) if by else ("", 0)
    return Step(seconds(now.wall), *told, by=who, generation=generation)


def short(value: str) -> str:
    return value[:VALUE_MAX]


def seconds(at: Wall) -> Wall:
    """As the API keeps it."""
    return Wall(at.ms // 1000 * 1000)


# --- what wakes it -----------------------------------------------------------------------------------------------


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind in MACHINE_OF:
        return (Ref(ref.cluster, MACHINE_OF[ref.kind], ref.namespace, ref.name),)
    if ref.kind in (INCIDENT, ANSWER, traces.ERASING):
        target = obj.found.target if ref.kind == INCIDENT and obj is not None else getattr(obj, "target", None)
        return (target,) if target is not None and target.kind in MACHINE_KINDS else ()  # Nodes have one of their own
    if ref.kind in (TROUBLE, PROBLEMS):
        return machines.at_node(remedy_facts.node_of(ref), reader)
    if ref.kind == NODE_FENCE:
        return machines.at_node(obj.spec.node_at, reader) if obj is not None else ()
    if ref.kind not in SEEN_BY_LINKS:  # a request: it has the name of its machine
        return tuple(Ref(ref.cluster, kind, ref.namespace, ref.name) for kind in MACHINE_KINDS)
    return tuple(key for key in links.concerned(ref, obj, reader) if key.kind in MACHINE_KINDS)


ROOM = Room(
    name="diary",
    watches=(
        *(*SEEN_BY_LINKS, *lifecycle.ALWAYS_WATCHED, *MACHINE_OF),
        *(INCIDENT, NODE_FENCE, TROUBLE, PROBLEMS, ANSWER, traces.ERASING),
    ),
    indexes=(*links.INDEXES, *machines.INDEXES, *traces.INDEXES, *facts.INDEXES, *lifecycle.INDEXES),
    wakes=wakes,
    secondary=(NODE, HOST),
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.NOTE,  # it states facts; who is about to take a trace away must know whether there is a record
    takes_requests=True,
)
