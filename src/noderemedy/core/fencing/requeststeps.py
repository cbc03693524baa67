"""What a FenceRemediation tells of itself: its phase, since when, and the condition Succeeded.

Used by `request.py` and `escalation.py`.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import conditions
from noderemedy.core.fencing.requestview import RequestView
from noderemedy.model.actions import PublishRequestStatus
from noderemedy.model.checkstatus import SUCCEEDED, Told
from noderemedy.model.decision import Decision
from noderemedy.model.fenceremediation import FencePhase, RequestStatus
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Now

# What the condition Succeeded says in each phase.
WORDS: dict[FencePhase, tuple[str, str]] = {
    FencePhase.NEW: ("Unknown", "Waiting"),
    FencePhase.FENCING: ("Unknown", "InProgress"),
    FencePhase.RECOVERED: ("True", "NodeReady"),
    FencePhase.DELETING_MACHINE: ("False", "Escalated"),
    FencePhase.FAILED: ("False", "Failed"),
}


def enter(
    view: RequestView, phase: FencePhase, now: Now, reason: Reason, *, fence: str | None = None, why: str = ""
) -> Decision:
    old = view.request.status
    status = structs.replace(
        old,
        phase=phase,
        since=now.wall,
        machine_uid=view.machine.uid if view.machine else old.machine_uid,
        fence=old.fence if fence is None else fence,
    )
    return publish(view, status, now, reason, why=why)


def publish(view: RequestView, status: RequestStatus, now: Now, reason: Reason, *, why: str = "") -> Decision:
    said, word = WORDS[status.phase]
    told = Told(SUCCEEDED, said, word, why or f"{status.phase.value} {status.state}".strip())
    written = structs.replace(
        status,
        generation=view.request.generation,
        conditions=conditions.merged(status.conditions, (told,), str(now.wall)),
    )
    return Decision((PublishRequestStatus(view.ref, view.guard, written),), (reason,))
