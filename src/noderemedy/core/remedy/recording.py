"""The one write of the remedy room to a Node: its record, guarded by the version that was judged."""

from __future__ import annotations

from noderemedy.core import traces
from noderemedy.core.remedy.jobs import told
from noderemedy.core.remedy.view import NAME, RemedyView
from noderemedy.model.actions import Guard, WriteRemedyRecord
from noderemedy.model.decision import Decision
from noderemedy.model.reasons import Reason
from noderemedy.model.remedy import RemedyRecord
from noderemedy.model.time import Now, Wall

REMEDY = "remedy"  # the aspect of a record of history that tells of it
FENCE = "fence"  # the one that tells of fence flows
WHAT_MAX = 63  # letters, by the schema of Incidents


def problem_aspect(name: str) -> str:
    """The one that tells of a problem that alarms count."""
    return f"problem {name}"[:WHAT_MAX]


def write(view: RemedyView, record: RemedyRecord | None, *because: Reason, remedied_at: Wall | None = None) -> Decision:
    """Say on the Node how far its remedies are; None: they are over, and nothing is left of them."""
    guard = Guard(view.node.uid, view.entry.resource_version)
    return Decision((WriteRemedyRecord(view.at, guard, record, remedied_at),), because)


def forget(view: RemedyView, record: RemedyRecord, now: Now, *because: Reason) -> Decision:
    """Take the record off the Node, once its Incident tells of the last of it: nothing else does."""
    last = traces.trace(REMEDY, told(record))
    return traces.recorded(view.told, traces.Erasing(view.target, NAME), now, (last,)) or write(view, None, *because)
