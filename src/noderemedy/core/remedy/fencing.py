"""`nodeFence: {}`: a remedy that is a fence flow. It asks for one, and reads how that ended; it fences nothing itself.

A NodeFence has its node's name. One that is final and older than our order is of another episode: it goes first. One
that somebody else asked for and that is under way is as good as ours.
"""

from __future__ import annotations

from msgspec.structs import replace

from noderemedy.core.gates import first
from noderemedy.core.remedy import gates
from noderemedy.core.remedy.running import ORDERED_FOR, Ended, Running
from noderemedy.core.remedy.view import RemedyView, run_by
from noderemedy.core.safety import is_confirmed
from noderemedy.model.actions import Confirm, CreateNodeFence, DeleteNodeFence, Guard
from noderemedy.model.configuration import FenceRemedy
from noderemedy.model.decision import Decision
from noderemedy.model.ids import SYSTEM
from noderemedy.model.nodefence import FenceSpec, NodeFence
from noderemedy.model.reasons import ConfirmFirst, RemedyRuns
from noderemedy.model.remedy import Outcome, RemedyRecord
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import Now


def running_fence(view: RemedyView, record: RemedyRecord, now: Now) -> Running | Ended:
    """How the fence flow of the record stands."""
    entry = view.job
    if isinstance(entry, Present):
        return standing(view, record, entry.obj)
    if not isinstance(entry, Absent):
        return Running(Decision(because=(RemedyRuns(record.job),)))
    if not view.can_fence:
        return Ended(Outcome.FAILED, "NodeFence is not installed in this cluster; kubectl apply -f deploy/crds")
    if view.known is not None and view.known.job_seen == record.job:
        return Ended(Outcome.FAILED, "its NodeFence is gone")
    if now.wall >= record.at + ORDERED_FOR:
        return Ended(Outcome.FAILED, "it was ordered, and its NodeFence was never seen")
    if blocked := first(gates.GOING_ON, view, now):
        return Running(blocked.decision(now))
    if not is_confirmed(entry, now):
        return Running(Decision((Confirm(run_by(record)),), (ConfirmFirst(str(run_by(record))),)))
    return Running(Decision((asked(view, record),), (RemedyRuns(record.job),)))


def standing(view: RemedyView, record: RemedyRecord, fence: NodeFence) -> Running | Ended:
    if is_former(fence, record):
        guard = Guard(fence.uid)
        goes = () if fence.deleting else (DeleteNodeFence(run_by(record), guard),)
        return Running(Decision(goes, (RemedyRuns(record.job),)))
    if fence.is_final:
        return Ended(Outcome.SUCCEEDED)
    if fence.is_given_up:
        return Ended(Outcome.FAILED, "the fence flow has given up")
    return Running(Decision(because=(RemedyRuns(record.job),)))


def is_former(fence: NodeFence, record: RemedyRecord) -> bool:
    """Whether it is over, and was there before our order."""
    return fence.is_final and fence.created is not None and fence.created < record.at


def asked(view: RemedyView, record: RemedyRecord) -> CreateNodeFence:
    """A node that is Ready and has another trouble is fenced all the same: its threshold says so."""
    spec = replace(
        written(view, record),
        node=view.at.name,
        free_by=view.document.document.configuration.free_by if view.document else None,
        even_if_ready=is_about_more(view),
    )
    return CreateNodeFence(run_by(record), spec, f"ConfigMap/{SYSTEM}/{record.document}")


def is_about_more(view: RemedyView) -> bool:
    """Whether its threshold is about something else than Ready."""
    return view.threshold is not None and view.threshold.condition != "Ready"


def written(view: RemedyView, record: RemedyRecord) -> FenceSpec:
    """The delays and tries that the document wants; the usual ones where the remedy is defined no more."""
    read = view.document.document.configuration if view.document else None
    definition = read.definition(record.remedy) if read else None
    how = definition.how if definition else None
    return how.spec if isinstance(how, FenceRemedy) else FenceSpec()
