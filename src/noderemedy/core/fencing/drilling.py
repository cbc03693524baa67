"""The drill room: one key per Node with a fence plan. Asks its devices now and then, and tells on the Node about it.

Every node has a moment of its own within the period, so that drills are spread and need no memory beyond a restart:
what was due while nobody looked is left to the next one. What was found wrong is looked at again soon. The condition
`FencingReady` is written when it changes, and a node that is being fenced is left alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core import hostnames, machines
from noderemedy.core.fencing import disks, documents, drills, hostdrill, staleness
from noderemedy.core.fencing.drills import Finding
from noderemedy.core.fencing.facts import INDEXES
from noderemedy.core.fencing.hosts import NO_HOST, HostSeen
from noderemedy.core.fencing.scopes import TRIES, only_shown
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.actions import Action, Guard, PublishNodeCondition, StartRun
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.drill import (
    DRILL,
    FENCING_READY,
    SCHEDULE,
    SCHEDULE_AT,
    WRONG_DEVICE,
    Drill,
    drill_ref,
    told_by_drills,
)
from noderemedy.model.fenceplan import FENCE_PLAN, FencePlan, plan_ref
from noderemedy.model.ids import HOST, METAL3_MACHINE, NODE, NODE_FENCE, Ref
from noderemedy.model.node import Condition, Node
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.observer import contact_since
from noderemedy.model.reasons import Drilling, FencingNotReady, FencingWasReady, Reason
from noderemedy.model.room import Index, Present, Reader, Room, Stage
from noderemedy.model.run import RUN, Power, Run, RunState, run_ref
from noderemedy.model.time import MINUTE, Mono, Now, Span, Wall

AGAIN = MINUTE * 15  # what is wrong, or was never asked
SETTLES = MINUTE  # Kubernetes takes most of it to call a node silent
MARGIN = Span.seconds(10)  # before the next drill
BY_RUN = "drills by run"
PLANS = "all fence plans"
ALL = "all"
HOSTS = (*MACHINE_KINDS, HOST, METAL3_MACHINE)  # what leads from a node to its host


class DrillView(Struct, frozen=True):
    """A node, how it would be fenced, and what is known of its drill."""

    at: Ref
    node: Node
    plan: FencePlan
    every: Span
    contact: Mono | None = None
    drill: Drill | None = None
    runs: tuple[tuple[str, Run], ...] = ()
    learned: Mono = Mono(0)  # when the last of them told something
    host: HostSeen = NO_HOST  # where the plan switches through it
    unshared: tuple[str, ...] = ()  # methods about disks that no other node has

    @property
    def told(self) -> Condition | None:
        return told_by_drills(self.node)


def decide(view: DrillView, now: Now) -> Decision:
    if view.plan.is_pending:
        return NOTHING
    if view.plan.problems:
        return found(view, (Finding("", "PlanInvalid", str(view.plan.problems[0])),), now, ())
    period = min(view.every, AGAIN) if view.told is None or view.told.status != "True" else view.every
    due = last_due(view.node.uid, period, now.wall)
    drill = view.drill
    # One drill ends before the next: where many devices are asked, questions that wait must not pile up.
    if (drill is None or (drill.is_over and drill.since < due)) and is_in_time(view, due, now):
        drill = Drill(due)
    again = now.until(due + period)
    if drill is None:
        return Decision(wake_at=again)
    return drilled(view, drill, now, again)


def last_due(uid: str, period: Span, now: Wall) -> Wall:
    """The last moment of this node: the same for everybody who asks."""
    phase = int.from_bytes(hashlib.sha256(uid.encode()).digest()[:8]) % period.ms
    return Wall(now.ms - (now.ms - phase) % period.ms)


def is_in_time(view: DrillView, due: Wall, now: Now) -> bool:
    """Whether it fell due while we looked: after a restart not all nodes are asked at once."""
    return view.contact is not None and now.until(due) >= view.contact


def drilled(view: DrillView, drill: Drill, now: Now, again: Mono) -> Decision:
    """One device after the other; when all have answered, what they said."""
    methods = drills.methods_of(view.plan, view.node)
    orders = [drills.order_for(one, view.at, view.node, drill.since, now.wall) for one in methods]
    # Of all devices, also of those that a silent node cannot be asked: when it reports again, its next moment asks.
    begun = Drill(drill.since, drills.names_of(view.plan, view.node, drill.since))
    facts, over = ((Fact(drill_ref(view.at), one),) for one in (begun, replace(begun, is_over=True)))
    known, recorded = dict(view.runs), view.drill.runs if view.drill else ()
    for method, order in zip(methods, orders, strict=True):
        run = known.get(order.id)
        because = (Drilling(method.name),)
        if run is None and drill.is_over and order.id in recorded:  # it was told, and is forgotten by now
            return Decision(wake_at=again, facts=over)
        if run is None or (run.state is RunState.RUNNING and not run.is_sure):
            start = StartRun(view.at, Guard(view.node.uid), order)
            return Decision((start,) if order.id in recorded else (), because, again, facts=facts)
        if run.state is RunState.RUNNING:
            return Decision(because=because, wake_at=again, facts=facts)
        if staleness.came_late(run.said):  # nobody was asked: the node keeps the condition that it has
            return Decision(because=because, wake_at=again, facts=over)
    findings = tuple(drills.judge(*one) for one in zipped(view, methods, orders, known))
    wrong = [known[order.id] for order, one in zip(orders, findings, strict=True) if one.word == WRONG_DEVICE]
    if (due := settled_at(wrong, view, again)) is not None and now.mono < due:
        return Decision(because=(Drilling(methods[-1].name),), wake_at=due, facts=facts)
    findings = (*findings, *of_host(view), *(drills.alone(view.at, name) for name in view.unshared))
    if drills.unasked_of(view.plan, view.node) and not any(one.word for one in findings):  # not all were asked: so, too
        return Decision(wake_at=again, facts=over)
    decision = found(view, findings, now, over)
    return Decision(decision.actions, decision.because, again, facts=over)


def settled_at(wrong: list[Run], view: DrillView, again: Mono) -> Mono | None:
    """When it is known that a node runs on whose device is off: one that has just gone off is still called heard.

    Counted from when we learned of it: a question may have waited for its turn, or for the device, much longer.
    """
    is_off = view.node.is_heard and any(run.power is Power.OFF for run in wrong)
    return min(view.learned + SETTLES, Mono(again.ms - MARGIN.ms)) if is_off else None


def zipped(view: DrillView, methods: Any, orders: Any, known: dict[str, Run]) -> list[tuple[Any, Ref, Node, Run]]:
    return [(one, view.at, view.node, known[order.id]) for one, order in zip(methods, orders, strict=True)]


def of_host(view: DrillView) -> tuple[Finding, ...]:
    """What the API shows of the node's host, if the plan switches through it: nobody is asked."""
    method = hostdrill.method_of(view.plan)
    return (hostdrill.judge(method, view.at, view.node, view.host),) if method else ()


def well(view: DrillView) -> tuple[str, str]:
    """The word and the sentence of a node of which nothing is wrong: only what was asked has answered."""
    asked, has_host = drills.methods_of(view.plan, view.node), hostdrill.method_of(view.plan) is not None
    parts = ["every device was asked and answered"] if asked else []
    parts += [hostdrill.by_the_api(view.host)] if has_host else []
    parts += [f"{one.name}: {only_shown(one.agent)}" for one in asked if one.agent in TRIES]
    return "DevicesAnswered" if asked else "HostReady", "; ".join(parts)


def found(view: DrillView, findings: tuple[Finding, ...], now: Now, facts: tuple[Fact, ...]) -> Decision:
    """The condition as it should be, and a write if it is not. Whose device it is comes before whether it answers."""
    problems = [one for one in (drills.remembering(one, view.at, view.node) for one in findings) if one.word]
    problems.sort(key=lambda one: one.word != WRONG_DEVICE)
    status = "False" if problems else "True"
    word, message = (problems[0].word, problems[0].problem) if problems else well(view)
    because: Reason = FencingNotReady(word, message) if problems else FencingWasReady(message)
    told, wrong = view.told, wrong_devices(view, problems)
    if told is not None and (told.status, told.reason, told.wrong) == (status, word, wrong):
        return Decision(because=(because,), facts=facts)
    since = told.since if told is not None and told.status == status else now.wall
    condition = Condition(FENCING_READY, status, since, word, wrong)
    write: tuple[Action, ...] = (PublishNodeCondition(view.at, Guard(view.node.uid), condition, message),)
    return Decision(write, (because,), facts=facts)


def wrong_devices(view: DrillView, problems: list[Finding]) -> tuple[str, ...]:
    """The devices that are not the node's. By a plan with problems none was asked: what was known of them stands."""
    if view.plan.problems:
        return view.told.wrong if view.told is not None else ()
    return tuple(sorted({one.device for one in problems if one.word == WRONG_DEVICE and one.device}))


# --- what it sees, and what wakes it ---------------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> DrillView | None:
    schedule, node, plan = reader.read(SCHEDULE_AT), reader.read(key), reader.read(plan_ref(key))
    if not (isinstance(schedule, Present) and isinstance(node, Present) and isinstance(plan, Present)):
        return None
    if documents.fence_of(key, reader) is not None:
        return None
    entry = reader.read(drill_ref(key))
    drill: Drill | None = entry.obj if isinstance(entry, Present) else None
    entries = [(id, reader.read(run_ref(id))) for id in (drill.runs if drill else ())]
    runs = [(id, entry) for id, entry in entries if isinstance(entry, Present)]
    return DrillView(
        at=key,
        node=node.obj,
        plan=plan.obj,
        every=schedule.obj.every,
        contact=contact_since(reader),
        drill=drill,
        runs=tuple((id, run.obj) for id, run in runs),
        learned=max((run.changed_at for _, run in runs), default=Mono(0)),
        host=hostdrill.see(key, plan.obj, reader),
        unshared=disks.unshared(plan.obj, reader),
    )


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind in HOSTS:
        return ()  # a host is looked at when its node is due
    if ref.kind == NODE:
        return (ref,) if isinstance(reader.read(SCHEDULE_AT), Present) else ()
    if ref.kind in (FENCE_PLAN, DRILL):
        return (node_of(ref),)
    if ref.kind == RUN:
        return [node_of(one) for one in reader.find(BY_RUN, ref.name)]
    if isinstance(obj, NodeFence):
        return (obj.spec.node_at,)
    return [node_of(one) for one in reader.find(PLANS, ALL)] if ref.kind == SCHEDULE else ()


def node_of(fact: Ref) -> Ref:
    return Ref(fact.cluster, NODE, "", fact.name)


ROOM = Room(
    name="drill",
    watches=(NODE, NODE_FENCE, FENCE_PLAN, DRILL, RUN, SCHEDULE, *HOSTS),
    indexes=(
        *INDEXES,
        *machines.INDEXES,
        *hostnames.INDEXES,
        *disks.INDEXES,
        Index(BY_RUN, DRILL, lambda ref, drill: drill.runs),
        Index(PLANS, FENCE_PLAN, lambda ref, plan: (ALL,)),
    ),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({StartRun, PublishNodeCondition}),
    stage=Stage.ACT,
)
