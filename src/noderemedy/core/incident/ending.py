"""How an episode ends, and when its record may be closed. Called by the diary at every look."""

from __future__ import annotations

from noderemedy.core import traces
from noderemedy.core.incident import remedies
from noderemedy.core.incident.aspects import EFFECTS
from noderemedy.core.incident.view import TargetView
from noderemedy.model.healthcheck import Healthy
from noderemedy.model.incident import QUIET, STEPS_MAX, Detection, Ending, Record
from noderemedy.model.machineconditions import OWNER_REMEDIATED
from noderemedy.model.remediation import Phase
from noderemedy.model.time import MINUTE, SECOND, Mono, Now, Span, Wall

AT_ONCE = (Ending.GONE, Ending.REPLACED, Ending.ESCALATED, Ending.CONTINUED)
BLINK = SECOND * 2  # a sign that is over sooner leaves no record
PATIENCE = MINUTE * 10  # for a node that nobody judges


def ending(view: TargetView, found: Detection, record: Record) -> Ending | None:
    """How it would end if it ended now; None: it goes on."""
    if view.machine is None or view.machine.uid != found.target_uid:
        return departed(record)
    if len(record.steps) >= STEPS_MAX:
        return Ending.CONTINUED
    if view.is_in_hand or view.is_sick:
        return None
    if view.verdict is not None:
        is_well = isinstance(view.verdict.verdict, Healthy)
        return (Ending.RECOVERED if was_something_done(record) else Ending.SELF_RECOVERED) if is_well else None
    if not was_something_done(record):
        return Ending.SELF_RECOVERED if remedies.is_by_document(found) else Ending.UNWATCHED
    return Ending.RECOVERED if view.node and view.node.is_ready else Ending.FAILED


def departed(record: Record) -> Ending:
    """The machine is gone: because its owner was asked to replace it, or for a reason of somebody else's."""
    told = {step.what for step in record.steps if step.value}
    if any(
        step.what == traces.REMEDIATION and step.value.startswith(Phase.DELETING_MACHINE.value) for step in record.steps
    ):
        return Ending.ESCALATED
    return Ending.REPLACED if told & {OWNER_REMEDIATED, traces.REPLACEMENT, traces.INTENT} else Ending.GONE


def was_something_done(record: Record) -> bool:
    return any(step.what in EFFECTS and step.value for step in record.steps)


def is_blink(begun: Mono | None, record: Record, now: Now) -> bool:
    """Whether it was over as soon as it had begun, and nothing was done: nobody would read of it.

    `begun` is when the diary began, which is not when the record is opened: that is by lot, and says nothing.
    """
    return not was_something_done(record) and (begun is None or now.mono < begun + BLINK)


def since(how: Ending, found: Detection, record: Record, now: Now) -> Wall:
    """When it ended: with the last thing that changed; where nothing was noted, nothing has changed since the start."""
    last = record.steps[-1].at if record.steps else found.detected
    return Wall((now.wall if how in AT_ONCE else last).ms // 1000 * 1000)


def due(how: Ending, found: Detection, record: Record, now: Now) -> Wall:
    """When the record may be closed."""
    waits = Span(0) if how in AT_ONCE else PATIENCE if how is Ending.FAILED else QUIET
    return since(how, found, record, now) + waits
