"""Metal3Remediation: power off, free, power on, wait; again, or let the owner replace the machine (seeds 003, 004).

Called by the engine for every Metal3Remediation, and for every host that carries a relic of one. The phases and their
deadlines are data (`phases.py`); here is what is done in each.

Rule 1: record, act, observe. A phase is published before anything is done in it; what was done is seen on the object.
Rule 2: nothing is freed without a proof from `core/safety.py`, made in that very decision.
Rule 3: machine, host and node must name each other at every step. If they do not, our hold goes and that is all.
Rule 4: whoever deletes the request gets a stated power state within a bound, never a free-for-all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from msgspec import structs

from noderemedy.core import foredated, traces
from noderemedy.core.gates import first
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.metal3 import contradiction, escalation, leaving, patience, phases, relics, words
from noderemedy.core.metal3.emptying import begin_emptying, emptying, heeded, seen_off
from noderemedy.core.metal3.patience import rests_between_attempts
from noderemedy.core.metal3.remediationgates import (
    ALONE,
    ATTENDED,
    BEFORE_AN_ATTEMPT,
    BEFORE_ANYTHING,
    BEFORE_POWER_OFF,
    BEFORE_THE_BUDGET,
    BEFORE_THE_OWNER,
    LINKED,
    SHARED,
    UNHINDERED,
    explain,
    has_place,
    is_asked,
    is_next_attempt,
    is_owners_turn,
    record_is_kept,
)
from noderemedy.core.metal3.remediationview import (
    INDEXES,
    NAME,
    RelicView,
    RemediationView,
    concerned,
    sees,
    stated_as,
    waits_as,
    what_is_waited_for,
)
from noderemedy.core.metal3.steps import hold, is_back, is_held, publish, release, untaint, wait
from noderemedy.core.resting import rested
from noderemedy.core.slots import settled, soonest
from noderemedy.model.actions import (
    Action,
    BackUpNode,
    ClaimRepair,
    Confirm,
    DeleteMachine,
    DeleteNode,
    DeletePod,
    DetachVolume,
    HoldHost,
    ListPods,
    ListVolumes,
    MarkHostUnhealthy,
    PublishRemediationStatus,
    ReleaseHost,
    TaintOutOfService,
    UnmarkHost,
    UntaintOutOfService,
    WriteFinalizers,
    WriteMachineConditions,
)
from noderemedy.model.budget import ANSWER, need
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.host import Power
from noderemedy.model.ids import CLUSTER, HOST, INCIDENT, LEASE, METAL3_MACHINE, NODE, REMEDIATION
from noderemedy.model.keeping import UNKEPT
from noderemedy.model.machineconditions import OWNER_REMEDIATED
from noderemedy.model.pace import LEAVE
from noderemedy.model.proof import is_word
from noderemedy.model.reasons import (
    HostOffOnPurpose,
    NextAttemptAt,
    PhaseBegins,
    PowerOffOverdue,
    PowerOnOverdue,
    RemediationFailed,
    RemediationSucceeded,
    RestoringNode,
    WaitingForPowerOff,
    WaitingForPowerOn,
    WaitingForReady,
)
from noderemedy.model.refusal import Refusal
from noderemedy.model.remediation import FINALIZER, Evidence, Phase
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Room
from noderemedy.model.time import Now, Wall

OWNER_ASKED = traces.Trace(OWNER_REMEDIATED, "False")
# A hold has the time of its phase, the word to an owner its half hour. What begins asks the budget.
HARMLESS = {one.__name__ for one in (PublishRemediationStatus, WriteFinalizers, ReleaseHost, UntaintOutOfService)}


def decide(view: RemediationView | RelicView, now: Now) -> Decision:
    if isinstance(view, RelicView):
        return relics.decide(view, now)
    void = words.void(view, now)
    record = words.record(view, void, now)
    view = words.without(view, void)
    wanted, asks = rested(told(view, now), needs(view, now), view.need, now, has_place=has_place(view, now))
    decision, void = foredated.first_of_all(record, void, wanted, view.entry, now)
    decision = unrecorded(view, decision, now) or decision
    because = (*decision.because, *words.complaint(view, now))
    remembered = (*patience.memory(view, now), *foredated.memory(view.ref, void), *leaving.memory(view, now))
    facts = (*asks, *remembered, *decision.facts)
    wake_at = soonest(decision.wake_at, patience.turn(view, now))
    whole = structs.replace(decision, because=because, episode=episode(view), facts=facts, wake_at=wake_at)
    return settled(whole, view.need, now, harmless(view))


def harmless(view: RemediationView) -> Refusal | None:
    """What is refused, if no host goes off by it: such a repair may wait without a place, and go on without asking.

    While a host is held, or not on, it keeps its place: others who took it would leave theirs off, too, one by one.
    """
    host, refused = view.machine.host if view.machine is not None else None, view.refusal
    is_lit = not view.held and (host is None or host.power is Power.ON)
    return refused if is_lit and refused is not None and refused.action in HARMLESS else None


def unrecorded(view: RemediationView, decision: Decision, now: Now) -> Decision | None:
    """Wait for the record before the last trace of something goes: a hold without a proof, or the request itself."""
    if view.machine is None:
        return None
    going = tuple(trace for action in decision.actions for trace in traces_of(view, action))
    within = traces.SHORTLY if OWNER_ASKED in going else None  # that one may set a replacement off meanwhile
    erasing = traces.Erasing(view.machine.ref, waits_as(view.ref))
    return traces.recorded(view.machine.record, erasing, now, going, within)


def traces_of(view: RemediationView, action: Action) -> tuple[traces.Trace, ...]:
    progress = view.remediation.progress
    if isinstance(action, ReleaseHost):
        held = ", ".join(traces.held(record) for _, entry in view.held[:1] for _, record in entry.obj.held_for)
        proof = progress.evidence.proof  # that the host is off tells of the hold; a word was given without one
        return (traces.trace(traces.HOLD_FOR, held),) if held and (not proof or is_word(proof)) else ()
    if isinstance(action, WriteMachineConditions) and view.remediation.deleting:
        return (OWNER_ASKED,)
    is_next = isinstance(action, PublishRemediationStatus) and action.progress.retry_count > progress.retry_count
    if is_next:  # the evidence of this attempt gives way to that of the next one
        return (traces.trace(traces.REMEDIATION, traces.phase(progress)),)
    is_leaving = isinstance(action, WriteFinalizers) and FINALIZER not in action.finalizers
    if is_leaving and progress.phase is not Phase.NEW:
        return (traces.trace(traces.REMEDIATION, traces.phase(progress)),)
    return ()


def told(view: RemediationView, now: Now) -> Decision:
    """What is to be done, gate after gate; then what the phase says."""
    if blocked := first(BEFORE_ANYTHING, view, now):
        return blocked.decision(now)
    if view.remediation.deleting:
        return leaving.decide(view, now)
    if blocked := first(LINKED, view, now):
        return release(view, blocked.reason) or blocked.decision(now)
    if view.remediation.progress.is_recovered:
        return release(view) or Decision(because=(RemediationSucceeded(view.node_name),))
    if blocked := record_is_kept(view, now):  # what is seen now would be forgotten: our hold goes, and that is all
        return release(view, blocked.reason) or blocked.decision(now)
    if heard := heeded(view, now):
        return heard
    phase = view.remediation.progress.phase
    taint_goes = phase not in leaving.BEFORE_POWER_ON and is_back(view)
    return (taint_goes and untaint(view)) or PHASES[phase](view, now)


# --- what is done in each phase ----------------------------------------------------------------------------------


def new(view: RemediationView, now: Now) -> Decision:
    """Nothing has begun: all gates must pass, then the finalizer comes first."""
    if blocked := first((*BEFORE_AN_ATTEMPT, *SHARED), view, now):
        return blocked.decision(now)
    if not view.remediation.is_finalized_by_us:
        write = WriteFinalizers(view.ref, view.guard, (*view.remediation.finalizers, FINALIZER))
        return Decision((write,), (PhaseBegins("adding our finalizer", 1),))
    return begin(view, now)


def begin(view: RemediationView, now: Now) -> Decision:
    """An attempt: what node and host are like now is the evidence that it starts with."""
    assert view.machine is not None
    node = view.node
    evidence = Evidence(
        machine_uid=view.machine.machine.uid,
        node_uid=node.uid if node else "",
        boot_id=node.boot_id if node else "",
        host_uid=view.host.uid,
        tainted_at=view.remediation.progress.evidence.tainted_at,  # of an earlier attempt, and still ours
    )
    return publish(view, phases.enter(view.remediation, Phase.POWER_OFF, now, evidence))


def power_off(view: RemediationView, now: Now) -> Decision:
    """Hold the host off and wait until it is; off already is off."""
    remediation, host = view.remediation, view.host
    records = host.holds_of(remediation.uid)
    if patience.is_overdue(view, now):
        overdue = PowerOffOverdue(view.host_name, remediation.progress.since, host.error)
        return publish(view, phases.enter(remediation, Phase.POWER_ON, now), overdue)
    if blocked := first(ATTENDED, view, now):
        return wait(view, now, blocked.reason)
    if not records and (blocked := first((*BEFORE_POWER_OFF, *ALONE), view, now)):
        return structs.replace(wait(view, now, blocked.reason), actions=blocked.actions)
    if not is_held(view):
        return hold(view, now)
    if host.power is not Power.OFF:
        return wait(view, now, WaitingForPowerOff(view.host_name))
    return begin_emptying(view, seen_off(view, now), now)


def power_on(view: RemediationView, now: Now) -> Decision:
    """Release the host, and wait until it is on."""
    remediation, host = view.remediation, view.host
    if released := release(view):
        return released
    if host.power is Power.ON:
        return publish(view, phases.enter(remediation, Phase.WAITING, now))
    if patience.is_overdue(view, now):
        assert remediation.progress.since is not None
        overdue = PowerOnOverdue(view.host_name, remediation.progress.since, host.error)
        return publish(view, phases.enter(remediation, Phase.WAITING, now), overdue)
    reason = WaitingForPowerOn(view.host_name) if host.online else HostOffOnPurpose(view.host_name)
    return wait(view, now, reason)


def waiting(view: RemediationView, now: Now) -> Decision:
    """Until the node is ready and whole; else the next attempt, or the owner's turn."""
    remediation = view.remediation
    if released := release(view):
        return released
    if is_back(view):
        assert view.machine is not None
        machine = view.machine.machine
        if machine.node_deleted_at is not None and not machine.needs_remediation:
            return wait(view, now, RestoringNode(view.node_name))  # by whoever finds the backup on the Machine
        # Somebody wants it power cycled once more, and gives back what the backup holds afterwards: that waits for us.
        return publish(view, phases.recovered(remediation, now), RemediationSucceeded(view.node_name))
    if contradicted := contradiction.stays(view, now):
        return contradicted
    if patience.lasted(view, now) < remediation.on_within:
        waits = wait(view, now, WaitingForReady(view.node_name))
        return structs.replace(waits, wake_at=patience.sight(view, now).since + remediation.on_within)
    if phases.is_last_attempt(remediation):
        if blocked := first(BEFORE_THE_OWNER, view, now):
            return blocked.decision(now)
        return publish(view, phases.enter(remediation, Phase.DELETING_MACHINE, now))
    if not patience.is_overdue(view, now):
        due = patience.due_on_the_wall(view, now)
        assert due is not None
        return wait(view, now, NextAttemptAt(remediation.progress.retry_count + 2, due))
    if blocked := first((*BEFORE_AN_ATTEMPT, *SHARED), view, now):
        return blocked.decision(now)
    return begin(view, now)


def failed(view: RemediationView, now: Now) -> Decision:
    why = escalation.irreplaceable(view) or RemediationFailed("power cycling and the owner did not help")
    return release(view) or Decision(because=(why,))


PHASES: dict[Phase, Callable[[RemediationView, Now], Decision]] = {
    Phase.NEW: new,
    Phase.POWER_OFF: power_off,
    Phase.FREEING: emptying,
    Phase.POWER_ON: power_on,
    Phase.WAITING: waiting,
    Phase.DELETING_MACHINE: escalation.deleting_machine,
    Phase.FAILED: failed,
}


# --- what it states ----------------------------------------------------------------------------------------------


def needs(view: RemediationView, now: Now) -> tuple[Fact, ...]:
    """A repair that runs, or would begin if budget and claim let it; where the owner was asked, the owner's."""
    remediation = view.remediation
    if view.unread is not None:
        return unread_need(view)
    is_attested = words.is_news(view, now)  # then it goes on without asking, also what was given up
    if view.machine is None or view.rival or (remediation.is_ended and not is_attested):
        return ()
    if is_given_to_a_person(view) and not is_attested:  # nobody else shall switch that host, and nobody waits for it
        return asking(view, NAME, is_running=True, is_stuck=True)
    if (is_owners_turn(view, now) or is_unasked(view, now)) and not is_attested:
        return owners_turn(view, now)
    rests = rests_between_attempts(view, now)
    is_at_work = remediation.progress.phase in phases.RUNNING and not is_next_attempt(view, now)
    is_running = is_at_work or is_attested
    if not is_running and (remediation.deleting or first(BEFORE_THE_BUDGET, view, now)):
        return ()
    room = NAME if is_attested else stated_as(remediation)  # what is freed by a word is freed under our claim
    return asking(view, room, is_running=is_running, is_stuck=rests and is_running)


def unread_need(view: RemediationView) -> tuple[Fact, ...]:
    """What has begun goes on without asking once its machine can be read again: until then it keeps its place."""
    remediation = view.remediation
    if view.rival or remediation.is_ended or remediation.progress.phase not in phases.RUNNING:
        return ()
    assert view.unread is not None
    since = remediation.created or remediation.progress.since or Wall(0)
    is_pending = any(entry.obj.power is not Power.OFF for _, entry in view.held)
    return (need(view.unread, stated_as(remediation), since, is_running=True, is_off_pending=is_pending),)


def is_given_to_a_person(view: RemediationView) -> bool:
    """Whether nothing follows by itself, since its host is another machine's."""
    return view.remediation.progress.phase is Phase.WAITING and contradiction.is_known(view)


def owners_turn(view: RemediationView, now: Now) -> tuple[Fact, ...]:
    """It waits for the budget until the owner was asked, in the place that it has; one without a place asks for one.

    Whoever paused it, maybe for days, keeps nobody else waiting. What else holds it back is a repair that runs.
    """
    is_hindered = first(UNHINDERED, view, now) is not None
    is_held_back = is_hindered or bool(view.held) or first((*BEFORE_ANYTHING, *LINKED), view, now) is not None
    return asking(view, stated_as(view.remediation), is_running=is_held_back, is_stuck=is_hindered)


def is_unasked(view: RemediationView, now: Now) -> bool:
    """Whether the owner's turn is on record, and nobody was asked yet."""
    remediation, of = view.remediation, view.machine
    is_escalated = remediation.progress.phase is Phase.DELETING_MACHINE and not remediation.deleting
    return is_escalated and of is not None and not is_asked(of, now)


def asking(view: RemediationView, room: str, *, is_running: bool, is_stuck: bool) -> tuple[Fact, ...]:
    remediation, of = view.remediation, view.machine
    assert of is not None
    since = remediation.created or remediation.progress.since or Wall(0)
    asks = need(
        of.ref,
        room,
        since,
        is_running=is_running,
        node=of.node_at,
        is_stuck=is_stuck,
        is_off_pending=is_running and is_off_pending(view),
        begins="" if is_running or remediation.progress.phase is Phase.NEW else what_is_waited_for(remediation),
    )
    return (asks,)


def is_off_pending(view: RemediationView) -> bool:
    """Whether the host is held for this request and was not seen off: it may go off at any moment."""
    host = view.machine.host if view.machine else None
    return host is not None and bool(host.holds_of(view.remediation.uid)) and host.power is not Power.OFF


def episode(view: RemediationView) -> str:
    """Names this attempt; the same after a restart."""
    remediation = view.remediation
    text = f"{remediation.uid} {remediation.progress.retry_count}"
    return hashlib.sha256(text.encode()).hexdigest()[:10]


ROOM = Room(
    name=NAME,
    watches=(
        *(REMEDIATION, NODE, REMOTE, *MACHINE_KINDS, HOST, METAL3_MACHINE, CLUSTER),
        *(ANSWER, LEASE, INCIDENT, LEAVE, UNKEPT),
    ),
    indexes=INDEXES,
    wakes=concerned,
    sees=sees,
    decide=decide,
    may=frozenset(
        {
            Confirm,
            DeleteMachine,
            ClaimRepair,
            ListPods,
            ListVolumes,
            HoldHost,
            ReleaseHost,
            MarkHostUnhealthy,
            UnmarkHost,
            BackUpNode,
            DeleteNode,
            TaintOutOfService,
            UntaintOutOfService,
            DeletePod,
            DetachVolume,
            WriteFinalizers,
            WriteMachineConditions,
            PublishRemediationStatus,
        }
    ),
    explains=explain,
)
