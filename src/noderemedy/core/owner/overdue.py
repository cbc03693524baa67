"""A step that takes too long is told: on the Machine (OwnerRemediated, severity Error, the cause) and to people.

The step itself goes on meanwhile: nothing is given up, and nothing is forced.
"""

from __future__ import annotations

from msgspec.structs import replace

from noderemedy.core.conditions import write
from noderemedy.core.owner.view import View
from noderemedy.core.slots import soonest
from noderemedy.model.actions import WriteMachineConditions
from noderemedy.model.decision import Decision
from noderemedy.model.machineconditions import ERROR, OWNER_REMEDIATED, Graded
from noderemedy.model.reasons import DeletionOverdue, DrainOverdue, InstanceOverdue, Reason
from noderemedy.model.time import Now, Span

PATIENCE = Span.seconds(600)  # for each step, before a person is told
CONDITIONS = {DrainOverdue: "DrainFailed", DeletionOverdue: "DeletionFailed", InstanceOverdue: "InstanceNotGone"}


def told(view: View, wanted: Decision, overdue: DrainOverdue | DeletionOverdue | InstanceOverdue, now: Now) -> Decision:
    """As wanted; once the step is overdue, its condition is written first."""
    due = overdue.since + PATIENCE
    if now.wall < due:
        return replace(wanted, wake_at=soonest(wanted.wake_at, now.until(due)))
    because: tuple[Reason, ...] = (overdue, *wanted.because)
    says = Graded(OWNER_REMEDIATED, "False", CONDITIONS[type(overdue)], overdue.note(), severity=ERROR)
    saying = write(view.ref, view.entry, (says,), now)
    return Decision((saying,), because) if saying else replace(wanted, because=because)


def taken_back(view: View, now: Now) -> WriteMachineConditions | None:
    """Our own words on a Machine that is not replaced after all; those of others stay."""
    said = view.machine.told.find(OWNER_REMEDIATED)
    is_ours = said is not None and said.reason in CONDITIONS.values()
    return write(view.ref, view.entry, (), now, dropped=(OWNER_REMEDIATED,)) if is_ours else None
