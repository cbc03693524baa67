"""The claims' end: one key per Lease `repair-NODE`. A claim stays for the next repair, and goes with its target.

Called by the engine for every Lease in our namespace. While the Machine that a claim was made for exists, the next
repair takes the claim over without a write: so an idle cluster costs none. When the Machine is gone and nobody states a
need, the Lease would stay for ever, one for every node that an autoscaler ever made: it is deleted, as the very version
that we know. Whoever claims at the same moment makes that a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import claim
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.actions import DropClaim, Guard
from noderemedy.model.budget import NEED
from noderemedy.model.decision import Decision
from noderemedy.model.ids import LEASE, SYSTEM, Ref
from noderemedy.model.lease import Lease
from noderemedy.model.reasons import ClaimNeedless
from noderemedy.model.room import Absent, Index, Present, Reader, Room
from noderemedy.model.time import Now

BY_TARGET = "claims by target"


class ClaimView(Struct, frozen=True):
    """A claim whose target is gone, and that nobody needs."""

    ref: Ref
    uid: str
    version: str
    target: Ref


def decide(view: ClaimView, now: Now) -> Decision:
    return Decision((DropClaim(view.ref, Guard(view.uid, view.version)),), (ClaimNeedless(str(view.target)),))


def sees(key: Ref, reader: Reader) -> ClaimView | None:
    """Only what is there, names its target, has lost it, and is not asked for."""
    entry = reader.read(key)
    target = claim.target_of(entry.obj.holder) if isinstance(entry, Present) else None
    if not isinstance(entry, Present) or target is None or target.kind not in MACHINE_KINDS:
        return None
    is_needed = reader.tally(claim.BY_LEASE, key.name) or reader.tally(claim.BY_HOLDER, entry.obj.holder)
    if is_needed or not isinstance(reader.read(target), Absent):
        return None
    return ClaimView(key, entry.obj.uid, entry.resource_version, target)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == LEASE:
        return (ref,) if ref.namespace == SYSTEM and ref.name.startswith(claim.PREFIX) else ()
    held = reader.find(BY_TARGET, _place(obj.target if ref.kind == NEED else ref)) if reader.has(BY_TARGET) else ()
    if ref.kind == NEED:  # its node may be another one by now than when its target made the claim
        return (claim.lease_of(obj.node or obj.target), *held)
    return held


def _target(ref: Ref, lease: Lease) -> tuple[str, ...]:
    target = claim.target_of(lease.holder) if ref.name.startswith(claim.PREFIX) else None
    return (_place(target),) if target is not None else ()


def _place(ref: Ref) -> str:
    return f"{ref.cluster} {ref.kind} {ref.namespace}/{ref.name}"


ROOM = Room(
    name="claim-shelf",
    watches=(LEASE, NEED, *MACHINE_KINDS),
    indexes=(*claim.INDEXES, Index(BY_TARGET, LEASE, _target)),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({DropClaim}),
)
