"""The verdict room: one key per Machine, one verdict, stated as a fact. Seed 003.

A Node event re-judges one machine. Of several checks that select a machine the oldest governs (by creation, then by
name), the others are told so. The room writes nothing: a live read of a missing node is all it may ask for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from noderemedy.core import machines
from noderemedy.core.external import lifecycle
from noderemedy.core.healthcheck import criteria, inhand, invalid
from noderemedy.core.healthcheck.facts import SPECS, MemberFact, SpecFact, VerdictFact, member_ref, verdict_ref
from noderemedy.core.healthcheck.selector import is_target
from noderemedy.model.actions import Confirm
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.healthcheck import HealthCheck, Healthy, NeedsLook, Target, Unjudged, Verdict, Waiting
from noderemedy.model.ids import (
    CLUSTER,
    HEALTH_CHECK,
    MACHINE,
    NODE,
    OPENSHIFT_HEALTH_CHECK,
    OPENSHIFT_MACHINE,
    Kind,
    Ref,
)
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Index, Present, Reader, Room, Stage
from noderemedy.model.time import Mono, Now

# Whose specs judge whom. The specs, not the checks: what somebody writes into a status is no news for a machine.
CHECKED: dict[Kind, Kind] = {MACHINE: SPECS[HEALTH_CHECK], OPENSHIFT_MACHINE: SPECS[OPENSHIFT_HEALTH_CHECK]}
BY_NAMESPACE = "checks by namespace"


class TargetView(Struct, frozen=True):
    """A machine, and the checks that select it, the governing one first."""

    target: Target
    checks: tuple[tuple[Ref, HealthCheck], ...]


def decide(view: TargetView, now: Now) -> Decision:
    """Judge, and say so."""
    (at, check), *others = view.checks
    seen = criteria.sightings(view.target, check, now)
    target = structs.replace(view.target, sightings=seen)
    verdict = criteria.judge(target, check, now) if check.is_valid else invalid.unjudged(at, target, check, now)
    fact = VerdictFact(at, verdict, target.is_in_hand, seen, tuple(ref for ref, _ in others))
    return Decision(
        actions=(Confirm(verdict.ref),) if isinstance(verdict, NeedsLook) else (),
        because=() if isinstance(verdict, Healthy) else verdict.because,
        wake_at=next_look(verdict, now),
        facts=(Fact(verdict_ref(target.at), fact), Fact(member_ref(target.at), MemberFact(at))),
    )


def next_look(verdict: Verdict, now: Now) -> Mono | None:
    until = verdict.until if isinstance(verdict, Waiting | Unjudged) else None
    return now.until(until) if until is not None else None


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> TargetView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    machine: Machine = entry.obj
    checks = governing(key, machine, reader)
    if not checks:
        return None
    node_at = machines.node_at(key, machine, reader)
    node = reader.read(node_at) if node_at else Absent()
    known = reader.read(verdict_ref(key))
    remediation = inhand.remediation_of(key, machine, reader)
    target = Target(
        at=key,
        machine=machine,
        node_at=node_at,
        node=node,
        cluster=machines.owning_cluster(key, machine, reader),
        remote=machines.remote_of(key, machine, reader),
        sightings=known.obj.sightings if isinstance(known, Present) else (),
        is_in_hand=inhand.is_in_hand(key, machine, node, reader),
        power_cycled=remediation.progress.last_remediated if remediation else None,
    )
    return TargetView(target, checks)


def governing(key: Ref, machine: Machine, reader: Reader) -> tuple[tuple[Ref, HealthCheck], ...]:
    """The checks that select this machine, oldest first."""
    every = checks_beside(key, reader)
    return tuple((at, check) for at, check in every if not check.deleting and is_target(check, machine))


def checks_beside(key: Ref, reader: Reader) -> list[tuple[Ref, HealthCheck]]:
    """All checks of the namespace and group of this machine, whomever they mean, oldest first."""
    entries = (reader.read(ref) for ref in reader.find(BY_NAMESPACE, place(CHECKED[key.kind], key.namespace)))
    specs: list[SpecFact] = [entry.obj for entry in entries if isinstance(entry, Present)]
    return sorted(((one.at, one.check) for one in specs), key=age)


def age(one: tuple[Ref, HealthCheck]) -> tuple[int, str]:
    at, check = one
    return (check.created.ms if check.created else 0, at.name)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """A node concerns its machine; the spec of a check or a cluster concerns all of theirs, which is rare."""
    if ref.kind in CHECKED:
        return (ref,)
    if isinstance(obj, Node) or ref.kind == NODE:
        return machines.at_node(ref, reader)
    if ref.kind in (CLUSTER, REMOTE):
        return machines.of_cluster(ref, reader)
    if ref.kind not in CHECKED.values():
        return inhand.of_request(ref, CHECKED)
    kinds = [machine for machine, check in CHECKED.items() if check == ref.kind]
    return [one for kind in kinds for one in reader.find("machines by namespace", place(kind, ref.namespace))]


def place(kind: Kind, namespace: str) -> str:
    return f"{kind} {namespace}"


def _namespace(ref: Ref, obj: Any) -> tuple[str, ...]:
    return (place(ref.kind, ref.namespace),)


CHECK_INDEXES = tuple(Index(BY_NAMESPACE, kind, _namespace) for kind in CHECKED.values())
ROOM = Room(
    name="verdict",
    watches=(NODE, MACHINE, OPENSHIFT_MACHINE, *CHECKED.values(), CLUSTER, REMOTE, *lifecycle.ALWAYS_WATCHED),
    indexes=(
        *machines.INDEXES,
        *lifecycle.INDEXES,
        *(Index("machines by namespace", kind, _namespace) for kind in CHECKED),
        *CHECK_INDEXES,
    ),
    wakes=wakes,
    secondary=(NODE,),
    sees=sees,
    decide=decide,
    may=frozenset({Confirm}),
    stage=Stage.VERDICT,
    takes_requests=True,
)
