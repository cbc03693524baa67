"""The state new: all gates, the delay of the seed, the finalizer, then the methods of the step isolation, in order.

Cutting a node off from its storage is part of it; what was freed by that is in `storage.py`. Methods that clean pods or
detach volumes have nothing to do before there is a proof: whoever makes one frees by it.
"""

from __future__ import annotations

import hashlib

from msgspec import structs

from noderemedy.core.fencing import attempts, devices
from noderemedy.core.fencing.automaton import Event
from noderemedy.core.fencing.gates import (
    BEFORE_POWER_OFF,
    BEFORE_THE_BUDGET,
    BEFORE_THE_PLAN,
    budget_allows,
    its_turn,
    one_repair_per_node,
)
from noderemedy.core.fencing.moves import fail, move, publish
from noderemedy.core.fencing.needs import asking, needs
from noderemedy.core.fencing.patience import pause
from noderemedy.core.fencing.planless import unusable
from noderemedy.core.fencing.storage import free_covered, storing, unswitched, why_not
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.fencing.wellness import is_well
from noderemedy.core.gates import first
from noderemedy.model.actions import CordonNode, WriteFinalizers
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Builtin, Step
from noderemedy.model.nodefence import FINALIZER, FenceEvidence, FenceStatus
from noderemedy.model.reasons import (
    CordoningNode,
    DeviceMistaken,
    DisksProveNothing,
    FencedNodeReplaced,
    FenceMoves,
    Reason,
)
from noderemedy.model.run import Deed
from noderemedy.model.time import MINUTE, Now, Wall

STEP = Step.ISOLATION
CORDON_WITHIN = MINUTE * 2  # one try of the step
NOT_CORDONED = "mark-unschedulable: the node could not be cordoned"


def new(view: FenceView, now: Now) -> Decision:
    if not view.fence.is_begun:
        return start(view, now)
    if is_well(view, now) and not devices.of_this_flow(view.status):
        return move(view, Event.NODE_READY, now)
    if waits := unusable(view, now):
        return waits
    if blocked := first(BEFORE_POWER_OFF, view, now):
        return blocked.decision(now)
    if not view.is_same_boot:
        return move(view, Event.STEP_FAILED, now, FencedNodeReplaced(view.name), why="the node is another one by now")
    return isolate(view, now) or free_covered(view, now) or move(view, Event.STEP_DONE, now, *left_out(view))


def start(view: FenceView, now: Now) -> Decision:
    """Nothing has begun: all gates must pass."""
    created = view.fence.created or now.wall
    if waits := pause(view, created, view.fence.spec.new_delay, STEP.value, now):
        return waits
    if blocked := first(BEFORE_THE_PLAN, view, now):
        return blocked.decision(now)
    if waits := unusable(view, now):
        return waits
    if blocked := first(BEFORE_THE_BUDGET, view, now):
        return blocked.decision(now)
    return asking(begins(view, now), view, now)


def begins(view: FenceView, now: Now) -> Decision:
    """Its turn, budget and claim, the finalizer, then the start is recorded."""
    if blocked := first((its_turn, budget_allows, one_repair_per_node), view, now):
        return blocked.decision(now)
    if not view.fence.is_finalized_by_us:
        write = WriteFinalizers(view.ref, view.guard, (*view.fence.finalizers, FINALIZER))
        return Decision((write,), (FenceMoves(view.name, "new", "adding our finalizer"),))
    return publish(view, begun(view, now), FenceMoves(view.name, "new", "the flow begins"))


def begun(view: FenceView, now: Now) -> FenceStatus:
    """The flow as it starts, or starts anew, for the boot of now: what was seen of another one is no evidence."""
    node = view.node
    assert node is not None
    status = view.status
    is_same = (node.uid, node.boot_id) == (status.node_uid, status.boot_id)
    old = status.evidence
    storage = old.storage_freed_at if not view.has_booted else None  # the same boot, also if its Node was made anew
    kept = old if is_same else FenceEvidence(backup=old.backup, storage_freed_at=storage)
    fresh = structs.replace(
        kept,
        was_ready=node.is_ready,
        provider_id=node.provider_id,
        machine=view.target.name if view.machine is not None else old.machine,
        drained_since=None,
        freeing_since=None,
        on_since=None,
        heard_since=None,
    )
    started = status.started or now.wall
    return structs.replace(
        status,
        since=now.wall,
        started=started,
        episode=status.episode or episode(view, started),
        node_uid=node.uid,
        boot_id=node.boot_id or status.boot_id,
        jobs=devices.remembered(view, is_same_boot=is_same),
        evidence=fresh,
    )


def episode(view: FenceView, started: Wall) -> str:
    """As Incidents name it: the node, its boot, and the second of the first sign."""
    node = view.node
    assert node is not None
    sick = [one.since for one in node.conditions if one.type == "Ready" and one.status != "True" and one.since]
    first_sign = sick[0] if sick else view.fence.created or started
    return hashlib.sha256(f"{node.uid} {node.boot_id} {first_sign.ms // 1000}".encode()).hexdigest()[:10]


def isolate(view: FenceView, now: Now) -> Decision | None:
    """The next method that is not done; None if all are."""
    for method in view.methods(STEP):
        if isinstance(method, AgentMethod):
            is_wanted = Deed.OFF in method.deeds and not unswitched(view, method)
            if is_wanted and not attempts.is_done(view, STEP, method, Deed.OFF):
                return attempts.attempt(view, STEP, method, Deed.OFF, now)
        elif method.builtin is Builtin.MARK_UNSCHEDULABLE and view.node is not None and not view.node.unschedulable:
            return cordon(view, now)
    return None


def left_out(view: FenceView) -> tuple[Reason, ...]:
    """What was not switched, because it is another machine's; and what proves nothing, though it may have been."""
    wrong = devices.mistaken(view, STEP)
    is_freed = view.status.evidence.storage_freed_at is not None
    idle = [(one.name, why_not(view, one)) for one in storing(view) if one.name not in wrong and not is_freed]
    return (
        *((DeviceMistaken(view.name, ", ".join(wrong)),) if wrong else ()),
        *(DisksProveNothing(view.name, name, why) for name, why in idle if why),
    )


def cordon(view: FenceView, now: Now) -> Decision:
    """Somebody may refuse it for good: then the step has failed, as with a device, and keeps no place for ever."""
    before = view.need
    tried = before.tried if before is not None and before.is_running and before.tried is not None else now.mono
    if now.mono >= tried + CORDON_WITHIN:
        return fail(view, NOT_CORDONED, now)
    write = CordonNode(view.node_at, view.node_guard)
    return Decision((write,), (CordoningNode(view.name),), tried + CORDON_WITHIN, facts=needs(view, now, tried))
