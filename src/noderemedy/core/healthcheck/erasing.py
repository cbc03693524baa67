"""What the remediation room takes away, and what a record has to tell before that. Called once per decision.

A mark, a request and our own word to the owner are the only traces that a machine was to be repaired; the deletion of a
Machine leaves none at all. What stands there may set a repair off meanwhile: so it is not waited for long.
"""

from __future__ import annotations

from noderemedy.core import traces
from noderemedy.core.healthcheck import words
from noderemedy.core.healthcheck.remediationview import NAME, RemediationView
from noderemedy.core.traces import Erasing, Trace
from noderemedy.model.actions import (
    Action,
    DeleteMachine,
    DeleteRequest,
    RemoveRemediationAnnotation,
    WriteMachineConditions,
)
from noderemedy.model.decision import Decision
from noderemedy.model.machineconditions import OWNER_REMEDIATED, MachineConditions
from noderemedy.model.time import Now

DELETION = "deletion of the Machine"


def unrecorded(view: RemediationView, decision: Decision, now: Now) -> Decision | None:
    """Wait for the record; None: nothing goes, or the record tells of it."""
    if any(isinstance(action, DeleteMachine) for action in decision.actions):
        intent = Trace(traces.INTENT, DELETION)
        return traces.recorded(view.record, Erasing(view.at, NAME, DELETION), now, (intent,))
    going = tuple(trace for action in decision.actions for trace in traces_of(view, action))
    return traces.recorded(view.record, Erasing(view.at, NAME), now, going, traces.SHORTLY)


def traces_of(view: RemediationView, action: Action) -> tuple[Trace, ...]:
    if isinstance(action, RemoveRemediationAnnotation):
        return (Trace(traces.REQUEST, traces.MARKED),)
    if isinstance(action, DeleteRequest) and view.requests is not None:
        told = traces.requested((one.at, one.uid) for one in view.requests.standing)
        return (traces.trace(traces.EXTERNAL, told),) if told else ()
    if isinstance(action, WriteMachineConditions) and words.asked_by(view.machine.told):
        stays = words.asked_by(MachineConditions(action.current, action.older))
        return () if stays else (Trace(OWNER_REMEDIATED, "False"),)
    return ()
