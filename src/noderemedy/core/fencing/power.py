"""The step power-management: off, verify, free, on (seed 002). Never a cycle: whether it happened could not be told.

Rule 1: everything that powers the node is switched off and verified before anything is freed.
Rule 2: from `onSince` on nothing is switched off and nothing is freed any more in this flow.
Rule 3: a node that reports although its plugs are off hangs on other plugs, also if it has fallen silent by now:
nothing is freed, and a person is called.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing import attempts, devices, emptying, hostpower, outliving, patience
from noderemedy.core.fencing.automaton import Event
from noderemedy.core.fencing.draining import drain
from noderemedy.core.fencing.gates import BEFORE_POWER_OFF
from noderemedy.core.fencing.moves import confirm, move, noted, publish, saying
from noderemedy.core.fencing.patience import pause
from noderemedy.core.fencing.planless import unusable
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.fencing.wellness import is_well, may_be_well, well_at
from noderemedy.core.fencing.words import word_of
from noderemedy.core.gates import first
from noderemedy.core.safety import SILENT_WITHIN
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import Step
from noderemedy.model.nodefence import State
from noderemedy.model.reasons import (
    FencedNodeReplaced,
    KdumpUnderWay,
    NodeStillHeard,
    PlugContradicted,
    WaitingForReady,
)
from noderemedy.model.run import Deed, Power
from noderemedy.model.time import MINUTE, Now

KDUMP_SILENCE = MINUTE  # messages come every few seconds: who is silent for so long dumps no more
STEP = Step.POWER_MANAGEMENT


def power_management(view: FenceView, now: Now) -> Decision:
    evidence, word = view.status.evidence, word_of(view)
    if evidence.on_since is not None:
        return power_on(view, now)
    if is_well(view, now):
        return move(view, Event.NODE_READY, now)
    if waits := unusable(view, now):
        return waits
    if not view.is_same_boot and evidence.backup is None and word is None:
        return move(view, Event.STEP_FAILED, now, FencedNodeReplaced(view.name), why="the node is another one by now")
    if not devices.is_touched(view) and (waits := before_power_off(view, now)):
        return waits
    if word is not None:
        return emptying.emptying(view, now)
    if not devices.is_any_off(view) and (waits := dumping(view, now)):
        return waits  # what was ordered did not go through
    return drain(view, now) or switch_off(view, now) or still_heard(view, now) or emptying.emptying(view, now)


def before_power_off(view: FenceView, now: Now) -> Decision | None:
    """Nothing was sent yet: gates, the delay of the seed, and a node that has just come back."""
    if blocked := first(BEFORE_POWER_OFF, view, now):
        return blocked.decision(now)
    if may_be_well(view, now):
        return Decision((), (WaitingForReady(view.name),), well_at(view, now))
    assert view.status.started is not None
    delay = pause(view, view.status.started, view.fence.spec.power_management_delay, STEP.value, now)
    return delay or dumping(view, now)


def dumping(view: FenceView, now: Now) -> Decision | None:
    """A node that dumps its memory is given the time that its configuration grants, as long as it goes on saying so."""
    within = view.plan.kdump_within if view.plan is not None else None
    if within is None or view.kdump is None:
        return None
    due = min(view.kdump.first + within, view.kdump.last + KDUMP_SILENCE)
    return Decision((), (KdumpUnderWay(view.name),), due) if now.mono < due else None


def switch_off(view: FenceView, now: Now) -> Decision | None:
    """The next method whose device is not off; None if all are. Another machine's is left alone."""
    for method in devices.with_deed(view, STEP, Deed.OFF):
        if devices.power_of(view, method) is not Power.OFF and not devices.is_mistaken(view, method):
            return attempts.attempt(view, STEP, method, Deed.OFF, now)
    return hostpower.switch_off(view, now)


def still_heard(view: FenceView, now: Now) -> Decision | None:
    """Everything is off, so nobody may hear the node: Kubernetes needs a moment to notice."""
    is_powered = bool(devices.powering(view)) or hostpower.method(view) is not None
    if view.node is None or not is_powered or emptying.mistaken(view):
        return None
    if not view.node.is_heard:
        return contradicted(view, now) if outliving.has_outlived(view, now) else None
    evidence = view.status.evidence
    if evidence.heard_since is None:
        return noted(view, structs.replace(evidence, heard_since=now.wall), NodeStillHeard(view.name))
    due = patience.due(view, evidence.heard_since, SILENT_WITHIN, now)
    if now.mono < due:
        return Decision((), (NodeStillHeard(view.name),), due)
    return contradicted(view, now)


def contradicted(view: FenceView, now: Now) -> Decision:
    """Not once more: the next restart would switch the same wrong host off. It sticks, so it is read live first."""
    if asked := confirm(now, (view.node_at, view.node_entry)):
        return asked
    host = hostpower.method(view)
    methods = ", ".join([*(one.name for one in devices.powering(view)), *([host.name] if host else [])])
    why = f"{methods} said off, and node {view.name} reported on"
    status = structs.replace(view.status, state=State.ERROR, since=now.wall, restarts=view.fence.spec.max_restarts)
    return publish(view, saying(status, Event.STEP_FAILED, why, now), PlugContradicted(view.name, methods))


def power_on(view: FenceView, now: Now) -> Decision:
    """Whatever the configuration switches on; then it is the node's turn to come back."""
    if released := hostpower.release(view):
        return released
    for method in devices.with_deed(view, STEP, Deed.ON):
        if devices.power_of(view, method) is not Power.ON and not devices.is_not_ours(view, method):
            return attempts.attempt(view, STEP, method, Deed.ON, now)
    return move(view, Event.STEP_DONE, now)
