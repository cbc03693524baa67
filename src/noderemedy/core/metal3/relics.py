"""What Metal3Remediations leave on hosts when they are gone: a hold that nobody answers for, a mark that is outlived.

A finalizer that somebody took off by hand must not leave a host off for ever (invariant S6); a host whose new node is
ready must not stay unhealthy for ever. Frees nothing.
"""

from __future__ import annotations

from noderemedy.core.metal3.gates import host_unattended
from noderemedy.core.metal3.remediationview import RelicView
from noderemedy.core.metal3.steps import is_confirmed
from noderemedy.model.actions import Confirm, Guard, ReleaseHost, UnmarkHost
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.reasons import ConfirmFirst, HoldOrphaned, HostUnmarked
from noderemedy.model.room import Absent
from noderemedy.model.time import Now


def decide(view: RelicView, now: Now) -> Decision:
    guard = Guard(view.host.uid, view.entry.resource_version)
    name = f"{view.ref.namespace}/{view.ref.name}"
    for uid, at, entry in view.orphans:
        if reason := host_unattended(view.ref, view.host):
            return Decision(because=(reason,))
        if at is not None and isinstance(entry, Absent) and not is_confirmed(entry, now):
            return Decision((Confirm(at),), (ConfirmFirst(str(at)),))
        return Decision((ReleaseHost(view.ref, guard, uid),), (HoldOrphaned(name),))
    if view.is_marked and view.runs_a_node:
        return Decision((UnmarkHost(view.ref, guard),), (HostUnmarked(name),))
    return NOTHING
