"""What the engine finds worth saying, said: a log line, a figure, and an Event on the object itself.

Called by the program for every notice and every outcome. An Event's name is made of what it says (key, uid of the
object, gist of the reason, episode), so that a restart, or a second leader, says nothing twice. What this leader has
seen end, and says again, is counted in the Event of that name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from noderemedy.drivers.kube.events import Note
from noderemedy.drivers.logs import Log
from noderemedy.drivers.metrics import Metrics
from noderemedy.engine.loop import Engine
from noderemedy.engine.telling import Notice
from noderemedy.manager import plain
from noderemedy.model.actions import (
    READS,
    Action,
    CordonNode,
    DeletePod,
    DetachVolume,
    OpenIncident,
    TaintOutOfService,
    UncordonNode,
)
from noderemedy.model.fenceplan import Builtin
from noderemedy.model.ids import Kind
from noderemedy.model.outcome import Done, Effect, Failed, Key, Outcome
from noderemedy.model.reasons import FenceStepEnded, NodeTerminated, ObjectUnreadable, RemedyEnded, RunEnded
from noderemedy.model.run import Deed, RunState
from noderemedy.model.time import Span, Wall
from noderemedy.wire.http import Resource

Publish = Callable[[Note], None]
ASKED = "none"  # the condition of an Incident without one: a node that is missing, or a repair that somebody asked for
# Methods of fences that have no agent: they are requests to the API, and are counted where those end.
FENCES, BUILTIN = "node-fence", "builtin"
METHODS: dict[type[Action], Builtin] = {
    CordonNode: Builtin.MARK_UNSCHEDULABLE,
    UncordonNode: Builtin.MARK_SCHEDULABLE,
    TaintOutOfService: Builtin.CLEAN_PODS,
    DeletePod: Builtin.CLEAN_PODS,
    DetachVolume: Builtin.DETACH_VOLUMES,
}


class Reporter:
    """Log, figures and Events of one manager. `publish` is None in a dry run."""

    def __init__(self, log: Log, metrics: Metrics, publish: Publish | None) -> None:
        self._log = log
        self._metrics = metrics
        self._publish = publish

    def notice(self, notice: Notice, resources: Mapping[Kind, Resource], at: Wall) -> None:
        """A reason that is new for a key."""
        reason = notice.reason
        name = type(reason).__name__
        self._metrics.decisions.labels(notice.room, name).inc()
        self._count(notice, at)
        facts = {"room": notice.room, "key": str(notice.ref), "reason": name, "note": reason.note()}
        say = self._log.warning if reason.alert else self._log.info
        say("decided", **facts, episode=notice.episode)
        if reason.logged:
            return
        if self._publish and notice.ref.name and not notice.ref.cluster:  # what is elsewhere has no events here
            self._publish(event(notice, resources, at))

    def measure(self, standing: Mapping[tuple[str, str], int], unreadable: Mapping[Kind, int]) -> None:
        """What stands now: an alert that only counts beginnings would end while its trouble goes on."""
        self._metrics.standing.clear()
        for (room, reason), count in standing.items():
            self._metrics.standing.labels(room, reason).set(count)
        self._metrics.unreadable.clear()
        for kind, count in unreadable.items():
            self._metrics.unreadable.labels(str(kind)).set(count)

    def _count(self, notice: Notice, at: Wall) -> None:
        """What has figures of its own."""
        match notice.reason:
            case ObjectUnreadable():
                self._metrics.quarantined.labels(str(notice.ref.kind)).inc()
            case RemedyEnded(remedy=remedy, outcome=outcome, took=took):
                self._metrics.remedies.labels(remedy, outcome).inc()
                if took is not None:
                    self._metrics.remedy_seconds.labels(remedy).observe(took.ms / 1000)
            case FenceStepEnded(step=step, outcome=outcome, since=since):
                self._metrics.fence_steps.labels(step, outcome).inc()
                if since is not None:
                    self._metrics.fence_step_seconds.labels(step, outcome).observe((at.ms - since.ms) / 1000)
            case RunEnded(method=Builtin.HOST_POWER.value, deed=deed, state=state, since=since):
                took = Span(at.ms - since.ms) if since is not None else None
                self._count_builtin(Builtin.HOST_POWER, deed, state, took)
            case NodeTerminated():
                self._count_builtin(Builtin.TERMINATE_INSTANCE, Deed.OFF.value, RunState.DONE.value, None)

    def _count_builtin(self, method: Builtin, deed: str, outcome: str, took: Span | None) -> None:
        """A method without an agent. Those with one are counted by the book of their runs."""
        took_s = took.ms / 1000 if took is not None else None
        self._metrics.count_run(method.value, BUILTIN, deed, outcome, took_s)

    def ended(self, effect: Effect, outcome: Outcome, took: Span) -> None:
        action, how = type(effect.action).__name__, type(outcome).__name__
        self._metrics.effects.labels(action, how).inc()
        self._metrics.effect_seconds.labels(action).observe(took.ms / 1000)
        if effect.key.room == FENCES and (method := METHODS.get(type(effect.action))):
            self._count_builtin(method, action, how.lower(), took)
        if isinstance(effect.action, OpenIncident) and isinstance(outcome, Done):
            for condition in effect.action.found.conditions or (ASKED,):
                self._metrics.problems.labels(condition).inc()
        facts = {"key": str(effect.key.ref), "action": action, "ref": str(effect.action.ref), "outcome": how}
        if isinstance(effect.action, READS) and isinstance(outcome, Done):
            self._log.debug("effect ended", **facts, took_ms=took.ms)
            return
        why = {} if isinstance(outcome, Done) else {"why": outcome.why}
        is_trouble = not isinstance(outcome, Done) and not (isinstance(outcome, Failed) and outcome.conflict)
        say = self._log.warning if is_trouble else self._log.info
        say("effect ended", **facts, took_ms=took.ms, fencing_token=effect.token, **why)


class Wishes:
    """For a dry run: says once what would be done for a key, until that changes."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._said: dict[Key, tuple[str, ...]] = {}

    def look(self, notices: tuple[Notice, ...], engine: Engine) -> None:
        for key in dict.fromkeys(Key(notice.room, notice.ref) for notice in notices):
            decision = engine.decisions.get(key)
            actions = [action for action in decision.actions if not isinstance(action, READS)] if decision else []
            names = tuple(f"{type(action).__name__} {action.ref}" for action in actions)
            if names and self._said.get(key) != names:
                self._log.info("would do", key=str(key.ref), actions=list(names))
            self._said[key] = names


def event(notice: Notice, resources: Mapping[Kind, Resource], at: Wall) -> Note:
    """The Event that says it on the object."""
    resource = resources.get(notice.ref.kind)
    return Note(
        name=event_name(notice),
        regarding=notice.ref,
        uid=notice.uid,
        api_version=resource.api_version if resource else "",
        reason=type(notice.reason).__name__,
        note=notice.reason.note(),
        action=notice.room,
        at=at,
        warning=notice.reason.alert,
        again=notice.again,
    )


def event_name(notice: Notice) -> str:
    """The same for the same thing said again of the same object, by whomever."""
    about = f"{notice.ref.kind} {notice.ref} {notice.uid}"
    said = f"{notice.room} {about} {plain.reason(notice.reason.gist())} {notice.episode}"
    return f"node-remedy-{hashlib.sha256(said.encode()).hexdigest()[:20]}"
