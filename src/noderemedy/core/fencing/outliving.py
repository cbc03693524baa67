"""Whether a node was heard long after this flow had switched it off: then it hangs on other plugs (race R32).

Called by `power.py`, which ends the flow then, and by the proofs of `emptying.py`. It needs no manager that looked
meanwhile: Kubernetes writes down when a node falls silent. Rule: it is counted from the last power-off of this flow, at
the latest that it can have been. What an earlier flow switched off may have been lit in between.
"""

from __future__ import annotations

from noderemedy.core import safety
from noderemedy.core.fencing import devices, hostpower, runs
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.host import Hold
from noderemedy.model.nodefence import FenceJob
from noderemedy.model.run import Deed
from noderemedy.model.time import Now, Wall


def has_outlived(view: FenceView, now: Now) -> bool:
    """Whether the boot that was switched off fell silent so late that this was not by its plugs."""
    off_at = off_by(view)
    if view.node is None or not view.is_same_boot or off_at is None:
        return False
    return safety.has_outlived(view.node, off_at, now)


def off_by(view: FenceView) -> Wall | None:
    """By when everything was off that this flow switched off; None if it has not switched anything off."""
    offs, hold = power_offs(view), hold_of(view)
    held = [hold.since] if hold is not None else []
    begun = [*(job.since for job in offs), *held]
    ended = [*map(runs.over_by, offs), *(since + hostpower.OFF_WITHIN for since in held)]
    last = max(ended, default=None)
    heard = view.status.evidence.heard_since  # noted when all was off
    if heard is None or any(since > heard for since in begun):
        return last
    return min(last, heard) if last is not None else heard


def power_offs(view: FenceView) -> list[FenceJob]:
    """The runs of this flow by which something may have gone off, however they ended."""
    mine = [job for job in devices.of_this_flow(view.status) if devices.is_power(job) and devices.is_sent(job)]
    return [job for job in mine if job.deed is Deed.OFF]


def hold_of(view: FenceView) -> Hold | None:
    """Since when we hold its host: it may have been another's for long after the power-off was ordered."""
    records = view.host.host.holds_of(view.fence.uid) if view.host.host is not None else ()
    return next((one for one in records if isinstance(one, Hold)), None)
