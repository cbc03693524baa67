"""A step that fails is told on the Machine: OwnerRemediated, severity Error, the cause in the API's or our own words.

What the API refuses is told at the next look; what merely takes long after ten minutes, and to people, too. The step
itself goes on meanwhile: nothing is given up, nothing is forced, and words that cannot be written hold nothing up.
"""

from __future__ import annotations

from msgspec.structs import replace

from noderemedy.core.conditions import write
from noderemedy.core.owner.drain import is_past
from noderemedy.core.owner.view import View
from noderemedy.core.slots import soonest
from noderemedy.model.actions import (
    Action,
    CordonNode,
    CreateMachine,
    DeleteMachine,
    DeleteNode,
    EvictPod,
    ListPods,
    WriteMachineConditions,
)
from noderemedy.model.decision import Decision
from noderemedy.model.machineconditions import ERROR, OWNER_REMEDIATED, WARNING, Graded
from noderemedy.model.reasons import DeletionOverdue, DrainOverdue, InstanceOverdue
from noderemedy.model.time import Now, Span, Wall

Overdue = DrainOverdue | DeletionOverdue | InstanceOverdue

PATIENCE = Span.seconds(600)  # for each step, before a person is told
MESSAGE_MAX = 4_000
CAUSE = "-"  # stands for any
CONDITIONS = {DrainOverdue: "DrainFailed", DeletionOverdue: "DeletionFailed", InstanceOverdue: "InstanceNotGone"}
REFUSED: dict[type[Action], str] = {
    CordonNode: "DrainFailed",
    ListPods: "DrainFailed",
    EvictPod: "DrainFailed",
    DeleteMachine: "DeletionFailed",
    DeleteNode: "NodeDeletionFailed",
    CreateMachine: "ReplacementFailed",
}
BY_NAME = {action.__name__: condition for action, condition in REFUSED.items()}
GOES_ON = Graded(
    OWNER_REMEDIATED, "False", "RemediationInProgress", "node-remedy replaces the Machine", severity=WARNING
)
OURS = frozenset((*CONDITIONS.values(), *REFUSED.values(), GOES_ON.reason))


def told(view: View, wanted: Decision, overdue: Overdue, now: Now, *, tried: Wall | None = None) -> Decision:
    """As wanted; but first the condition of a step that is refused, is overdue, or is the next one after such a step.

    As long as one step lasts its words stay: a manager that starts anew has not been refused anything yet. What had to
    wait before it was tried is overdue by when it was.
    """
    due = max(overdue.since, tried or overdue.since) + PATIENCE
    if now.wall >= due:
        late = replace(overdue, cause=cause_of(view) or overdue.cause)
        known = replace(wanted, because=(late, *wanted.because))
        return saying(view, known, failed(CONDITIONS[type(overdue)], late.note()), now)
    in_time = replace(wanted, wake_at=soonest(wanted.wake_at, now.until(due)))
    if cause_of(view):
        return told_if_refused(view, in_time, now)
    said = view.machine.told.find(OWNER_REMEDIATED)
    is_over = said is not None and said.reason in OURS - {CONDITIONS[type(overdue)]}
    return saying(view, in_time, GOES_ON, now) if is_over else in_time


def held(wanted: Decision, overdue: Overdue, now: Now) -> Decision:
    """As wanted by a step that may not be tried now. Its words on the Machine stay: nothing new was said against it."""
    due = overdue.since + PATIENCE
    if now.wall >= due:
        return replace(wanted, because=(overdue, *wanted.because))
    return replace(wanted, wake_at=soonest(wanted.wake_at, now.until(due)))


def deletion(view: View) -> DeletionOverdue:
    """What is said of a deletion that takes long, with what the API said against it when it was tried last.

    That stands on the Machine also while nothing is tried, and after a change of leaders.
    """
    assert view.record is not None
    overdue, said = DeletionOverdue(view.record.begun), view.machine.told.find(OWNER_REMEDIATED)
    if said is None or not is_said_to_fail(view):
        return overdue
    before = replace(overdue, cause=CAUSE).note().removesuffix(CAUSE)
    return replace(overdue, cause=said.message.removeprefix(before))


def is_said_to_fail(view: View) -> bool:
    """Whether the Machine says that its deletion does not succeed."""
    said = view.machine.told.find(OWNER_REMEDIATED)
    return said is not None and said.reason == CONDITIONS[DeletionOverdue]


def told_if_refused(view: View, wanted: Decision, now: Now) -> Decision:
    """As wanted; but first the words with which the API refuses it."""
    cause = cause_of(view)
    return saying(view, wanted, failed(BY_NAME[view.refusal.action], cause), now) if view.refusal and cause else wanted


def cause_of(view: View) -> str:
    """What the API says against the step that is on; "" if it says nothing."""
    refused = view.refusal
    if refused is None or refused.action not in BY_NAME or is_past(view, refused):
        return ""
    return f"{refused.action} of {refused.at} is refused: {refused.why}"


def failed(reason: str, message: str) -> Graded:
    return Graded(OWNER_REMEDIATED, "False", reason, message[:MESSAGE_MAX], severity=ERROR)


def saying(view: View, wanted: Decision, says: Graded, now: Now) -> Decision:
    """The words alone, since they change the version that everything else is guarded by; nothing if they stand there.

    Where they are refused themselves, the step is more important.
    """
    is_mute = view.refusal is not None and view.refusal.action == WriteMachineConditions.__name__
    action = None if is_mute else write(view.ref, view.entry, (says,), now)
    return Decision((action,), wanted.because) if action else wanted


def taken_back(view: View, now: Now) -> WriteMachineConditions | None:
    """Our own words on a Machine that is not replaced after all; those of others stay."""
    said = view.machine.told.find(OWNER_REMEDIATED)
    is_ours = said is not None and said.reason in OURS
    return write(view.ref, view.entry, (), now, dropped=(OWNER_REMEDIATED,)) if is_ours else None
