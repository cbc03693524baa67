"""Whether a check would act for a sick machine, as far as it is up to the check: told as its condition `Acting`.

Called by the status room. What a person steers a check with is on the check itself (a pause, `observe`, `approval`),
and whoever looks at it has to see that it is meant to do nothing. It says nothing of the limit, which has a condition
of its own, nor of what holds one machine back: that is what `explain` is for. The questions are those of the gates.
"""

from __future__ import annotations

from collections.abc import Iterator

from noderemedy.core.gates import nobody_paused
from noderemedy.model.checkstatus import ACTING, Told
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.ids import Ref
from noderemedy.model.meta import Paused
from noderemedy.model.reasons import CheckInvalid, ObserveOnly
from noderemedy.model.time import Mono, Now

MESSAGE_MAX = 4_000
APPROVAL_REQUIRED = "ApprovalRequired"
ASKS = (
    "this check asks for approval (node-remedy.dev/approval: required): no repair starts before somebody has answered "
    "in spec.approval of the Incident of its machine"
)


def told(at: Ref, check: HealthCheck, now: Now) -> Told:
    """By the first thing that holds it, in the order of the gates; the message names all of them."""
    held = tuple(holding(at, check, now))
    if not held:
        return Told(ACTING, "True", ACTING)
    return Told(ACTING, "False", held[0][0], "; ".join(note for _, note in held)[:MESSAGE_MAX])


def holding(at: Ref, check: HealthCheck, now: Now) -> Iterator[tuple[str, str]]:
    """The reasons for which it does nothing by itself now, each with its words."""
    if not check.is_valid:
        yield CheckInvalid.__name__, CheckInvalid(check.trouble).note()
    if (paused := nobody_paused(now, (at, check.paused))) is not None:
        yield type(paused.reason).__name__, paused.reason.note()
    if check.observes_only:
        yield ObserveOnly.__name__, ObserveOnly(at.name).note()
    if check.needs_approval:
        yield APPROVAL_REQUIRED, ASKS


def next_look(check: HealthCheck, now: Now) -> Mono | None:
    """When a pause ends by itself: no event tells that."""
    pause = check.paused
    if not isinstance(pause, Paused) or pause.until is None or not pause.holds(now.wall):
        return None
    return now.until(pause.until)
