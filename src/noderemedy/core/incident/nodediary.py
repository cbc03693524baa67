"""The node diary: one key per Node that no Machine stands behind. Notes what changes about it, and writes nothing.

The same as the diary of a Machine, for clusters without Machines: what is judged are the thresholds of Configuration
documents (seed 002), what is done are remedies and fence flows. The incident room writes both down.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core import approvals, machines, traces
from noderemedy.core.episodes import episode
from noderemedy.core.incident import deciders, facts, remedies
from noderemedy.core.incident.diary import SPARE, appended, keep, seconds, short, step
from noderemedy.core.incident.ending import is_blink, was_something_done
from noderemedy.core.incident.facts import Diary, incident_ref
from noderemedy.core.incident.observed import Decider, Observed, version
from noderemedy.core.incident.remedies import Care
from noderemedy.core.incident.view import is_spent
from noderemedy.core.remedy.facts import PROBLEMS, TROUBLE, node_of
from noderemedy.core.traces import diary_ref
from noderemedy.model import budget
from noderemedy.model.budget import ANSWER
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import INCIDENT, NODE, NODE_FENCE, Ref
from noderemedy.model.incident import (
    QUIET,
    SIGNS_MAX,
    STEPS_MAX,
    TEXT_MAX,
    Approval,
    Detection,
    Ending,
    Incident,
    Record,
    Step,
)
from noderemedy.model.node import Node
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Entry, Present, Reader, Room, Stage
from noderemedy.model.time import Mono, Now, Wall


class NodeTargetView(Struct, frozen=True):
    """A Node without a Machine, and all that is told about it."""

    at: Ref
    entry: Entry
    care: Care
    answer: budget.Granted | budget.Refused | None = None
    incident: tuple[Ref, Present] | None = None
    diary: Diary | None = None
    begun: Mono | None = None  # since when there is this diary
    taken: tuple[Ref, ...] = ()
    needs_approval: bool = False
    budget: Decider | None = None  # of now
    has_watched: bool = False  # this is not the first look: what is new came a moment ago

    @property
    def node(self) -> Node | None:
        return self.entry.obj if isinstance(self.entry, Present) else None

    @property
    def stored(self) -> Incident | None:
        return self.incident[1].obj if self.incident else None


def decide(view: NodeTargetView, now: Now) -> Decision:
    """Note what is new, and say when the record may be closed."""
    if not isinstance(view.entry, Present | Absent):
        return keep(view.diary) if view.diary else NOTHING
    found = detection(view, now)
    record = noted(view, found, now)
    over = ending(view, found, record)
    if over is None:
        return keep(diary(view, found, record))
    if not view.incident and is_blink(view.begun, record, now):
        return NOTHING
    last = record.steps[-1].at if record.steps else found.detected
    due = now.wall if over in (Ending.GONE, Ending.CONTINUED) else last + QUIET
    if now.wall < due:
        return replace(keep(diary(view, found, record)), wake_at=now.until(due))
    closed = seconds(now.wall) if over in (Ending.GONE, Ending.CONTINUED) else last
    return keep(diary(view, found, replace(record, ending=over, closed=closed)))


def diary(view: NodeTargetView, found: Detection, record: Record) -> Diary:
    name = view.incident[0] if view.incident else incident_ref(found)
    return Diary(name, found, record, view.at, is_urgent=view.needs_approval)


def ending(view: NodeTargetView, found: Detection, record: Record) -> Ending | None:
    """How it would end if it ended now; None: it goes on."""
    if view.node is None or view.node.uid != found.target_uid:
        return Ending.GONE
    if len(record.steps) >= STEPS_MAX:
        return Ending.CONTINUED
    if view.care.is_in_hand or view.care.is_sick:
        return None
    return Ending.RECOVERED if was_something_done(record) else Ending.SELF_RECOVERED


def detection(view: NodeTargetView, now: Now) -> Detection:
    """As it is stored, or as it was found at the first look; else the first sign of now."""
    uid = view.node.uid if view.node else ""
    if view.stored:
        return view.stored.found
    if view.diary and view.diary.found.target_uid == uid:
        return view.diary.found
    first = found_at(view, first_sign(view, now))
    return first if incident_ref(first) not in view.taken else found_at(view, now.wall)


def first_sign(view: NodeTargetView, now: Now) -> Wall:
    told = [one.since for one in (view.care.record, view.care.trouble or view.care.problems) if one is not None]
    return min([*told, now.wall])


def found_at(view: NodeTargetView, at: Wall) -> Detection:
    node, problems, first = view.node, view.care.problems, seconds(at)
    uid, boot_id = (node.uid, node.boot_id) if node else ("", "")
    return Detection(
        target=view.at,
        target_uid=uid,
        episode=episode(uid, boot_id, first),
        detected=first,
        node=view.at.name,
        node_uid=uid,
        boot_id=boot_id,
        check=str(problems.document) if problems else "",
        signs=tuple(one.note()[:TEXT_MAX] for one in problems.because[:SIGNS_MAX]) if problems else (),
        conditions=remedies.conditions_of((), view.care),
    )


def noted(view: NodeTargetView, found: Detection, now: Now) -> Record:
    """What is stored or was noted before, and the steps that this look adds."""
    stored = view.stored.record if view.stored else Record()
    before = appended(stored, view.diary.record) if view.diary else stored
    if view.node is None or view.node.uid != found.target_uid:
        return before
    known = {one.what: one.value for one in before.steps}
    fresh: list[Step] = []
    for observed in aspects(view, view.node, found, known):
        if known.get(observed.what, "") != short(observed.value):
            known[observed.what] = short(observed.value)
            fresh.append(step(observed, now))
    return replace(before, steps=(*before.steps, *fresh)[: STEPS_MAX + SPARE]) if fresh else before


def aspects(view: NodeTargetView, node: Node, found: Detection, known: dict[str, str]) -> tuple[Observed, ...]:
    """In the order in which a repair goes."""
    versions = version(view.at, view.entry)
    is_other = (node.uid, node.boot_id) != (found.node_uid, found.boot_id) or "node" in known
    boot = Observed("node", "node", f"{node.uid} boot {node.boot_id or 'unknown'}" if is_other else "", "", versions)
    told = (*remedies.problems(view.care, known), *remedies.judged(view.care, known, found))
    return (*told, approval(view), grant(view), *remedies.observed(view.care, view.has_watched), boot)


def approval(view: NodeTargetView) -> Observed:
    answer = view.stored.approval if view.stored else None
    if not isinstance(answer, Approval):
        return Observed("approval", "approval")
    until = f" until {answer.until}" if answer.until else ""
    return Observed("approval", "approval", f"{answer.answer.value}{until}", f"by {answer.by}" if answer.by else "")


def grant(view: NodeTargetView) -> Observed:
    match view.answer:
        case budget.Granted(_, at):
            then = deciders.of_trace(view.budget, view.has_watched)
            return Observed("budget", "budget", f"granted at {at}", by=then)
        case budget.Refused(_, reason):
            return Observed("budget", "budget", type(reason).__name__, reason.note(), by=view.budget)
        case None:
            return Observed("budget", "budget")


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> NodeTargetView | None:
    """A node whose Machine is known is that Machine's story; so is one of which that is not known yet."""
    entry = reader.read(key)
    known, incident = reader.read(diary_ref(key)), approvals.open_incident(key, reader)
    taken = reader.find(approvals.BY_TARGET, approvals.place(key))
    care = remedies.care_of(key, reader)
    told: Diary | None = known.obj if isinstance(known, Present) else None
    is_mine = not machines.at_node(key, reader) and machines.unplaced(key, reader) is None
    going_on = None if told and is_spent(told, incident, taken) else told
    if not (incident or going_on or (is_mine and (care.is_in_hand or care.is_sick))):
        return None
    return NodeTargetView(
        at=key,
        entry=entry,
        care=care,
        answer=budget.answer(key, reader),
        incident=incident,
        diary=going_on,
        begun=known.first_seen if going_on and isinstance(known, Present) else None,
        taken=taken,
        needs_approval=remedies.needs_approval(key, reader),
        budget=deciders.budget(reader),
        has_watched=going_on is not None and deciders.has_watched(known, reader),
    )


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == NODE:
        return (ref,)
    if ref.kind in (TROUBLE, PROBLEMS):
        return (node_of(ref),)
    if ref.kind == NODE_FENCE:
        return (obj.spec.node_at,) if obj is not None else ()
    if ref.kind == REMOTE:
        return machines.named_here(ref, reader)
    target = obj.found.target if ref.kind == INCIDENT and obj is not None else getattr(obj, "target", None)
    return (target,) if target is not None and target.kind == NODE else ()


ROOM = Room(
    name="node-diary",
    watches=(NODE, REMOTE, NODE_FENCE, INCIDENT, TROUBLE, PROBLEMS, ANSWER, traces.ERASING),
    indexes=(*machines.INDEXES, *traces.INDEXES, *facts.INDEXES),
    wakes=wakes,
    secondary=(REMOTE,),
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.NOTE,  # as the diary of Machines
)
