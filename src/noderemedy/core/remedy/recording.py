"""The one write of the remedy room to a Node: its record, guarded by the version that was judged."""

from __future__ import annotations

from noderemedy.core.remedy.view import RemedyView
from noderemedy.model.actions import Guard, WriteRemedyRecord
from noderemedy.model.decision import Decision
from noderemedy.model.reasons import Reason
from noderemedy.model.remedy import RemedyRecord


def write(view: RemedyView, record: RemedyRecord | None, *because: Reason) -> Decision:
    """Say on the Node how far its remedies are; None: they are over, and nothing is left of them."""
    guard = Guard(view.node.uid, view.entry.resource_version)
    return Decision((WriteRemedyRecord(view.at, guard, record),), because)
