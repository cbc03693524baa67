"""What the remediation room sees of one Machine: its verdict, the check behind it, and what may stand in the way.

A machine that is nobody's target is seen only as long as something that a check once asked for is left on it. Whether
that check is really gone, or merely cannot be understood now, makes the difference: an invalid policy changes nothing.
A request that a check made is not taken back then, and is told as long as it stands: nobody else would look after it.
One that a check means all the same, which is paused, skipped or wrongly checked, is seen as well, for `explain` only.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core import approvals, claim, hostnames, leftalone, machines, traces
from noderemedy.core.approvals import Asked
from noderemedy.core.claim import Claim
from noderemedy.core.external import lifecycle
from noderemedy.core.external.instantiate import request_at
from noderemedy.core.external.lifecycle import RequestView, Standing
from noderemedy.core.healthcheck.aside import Aside, standing_aside
from noderemedy.core.healthcheck.facts import (
    GateFact,
    PermitFact,
    SpecFact,
    VerdictFact,
    gate_ref,
    permit_ref,
    spec_ref,
    verdict_ref,
)
from noderemedy.core.healthcheck.words import asked_by
from noderemedy.core.traces import Told
from noderemedy.model.budget import Granted, Need, Refused, answer, stated
from noderemedy.model.cluster import Cluster
from noderemedy.model.healthcheck import HealthCheck, TemplateRef
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, OPENSHIFT_HEALTH_CHECK, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.observer import contact_since
from noderemedy.model.remote import Sight
from noderemedy.model.room import Absent, Entry, Present, Reader, Unreadable
from noderemedy.model.time import Mono

NAME = "remediation"  # of the room that sees this


class Governing(Struct, frozen=True):
    """The check that speaks for a machine, what it found, and whether it may start repairs."""

    at: Ref
    check: HealthCheck
    found: VerdictFact
    permit: PermitFact | None = None
    counted: GateFact | None = None  # the numbers behind the permit, for people


class Unread(Struct, frozen=True):
    """A request, or a NodeFence, that is there and cannot be read: nobody knows how far it is."""

    at: Ref
    problem: str


class RemediationView(Struct, frozen=True):
    """One machine; without `governing` it is nobody's target."""

    at: Ref
    entry: Present
    machine: Machine
    governing: Governing | None = None
    cluster: Cluster | None = None
    node_at: Ref | None = None
    node: Entry = Absent()
    host: Entry = Absent()
    answer: Granted | Refused | None = None
    contact_since: Mono | None = None
    asked: Asked = Asked()  # means nothing where the check asks nobody
    requests: RequestView | None = None  # None: nobody asked for any
    claim: Claim | None = None  # None: there is nothing to claim
    need: Need | None = None  # that we stated at the last look
    others: tuple[Need, ...] = ()  # of the rooms that are about this machine
    unread: Unread | None = None  # by which somebody may be
    record: Told = Told()  # what its Incident tells
    is_left: bool = True  # nobody's target: what a check asked for on the Machine itself can go
    left: tuple[Standing, ...] = ()  # nobody's target: requests that a check made
    aside: tuple[Aside, ...] = ()  # nobody's target: checks that mean it all the same
    is_quiet: bool = False  # the machine leaves, or is paused with its cluster: nothing is said of what is left


def sees(key: Ref, reader: Reader) -> RemediationView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    machine: Machine = entry.obj
    found = reader.read(verdict_ref(key))
    if not isinstance(found, Present):
        return without_check(key, entry, machine, reader)
    governing = governing_check(found.obj, reader)
    if governing is None:
        return None
    node_at = machines.node_at(key, machine, reader)
    return RemediationView(
        at=key,
        entry=entry,
        machine=machine,
        governing=governing,
        cluster=machines.owning_cluster(key, machine, reader),
        node_at=node_at,
        node=reader.read(node_at) if node_at else Absent(),
        host=hostnames.host(key, machine, reader),
        answer=answer(key, reader),
        contact_since=in_sight_since(key, machine, reader),
        asked=approvals.asked(key, machine.uid, reader) if governing.check.needs_approval else Asked(),
        requests=lifecycle.sees(key, machine, template_of(governing.check), NAME, reader),
        claim=claim.see(NAME, key, node_at, reader),
        need=stated(key, NAME, reader),
        others=claim.others(NAME, key, node_at, reader),
        unread=unread(key, node_at, reader),
        record=traces.see(NAME, key, machine.uid, reader),
    )


def unread(key: Ref, node_at: Ref | None, reader: Reader) -> Unread | None:
    """All that our rooms repair by has the name of its machine, or of its node."""
    requests = [request_at(kind, key) for kind in lifecycle.ALWAYS_WATCHED]
    places = [*requests, fence_ref(node_at)] if node_at is not None else requests
    found = ((at, reader.read(at)) for at in places)
    return next((Unread(at, entry.problem) for at, entry in found if isinstance(entry, Unreadable)), None)


def in_sight_since(key: Ref, machine: Machine, reader: Reader) -> Mono | None:
    """Since when all that this machine is judged by is in sight: this cluster, and the one that has its node."""
    here, remote = contact_since(reader), machines.remote_of(key, machine, reader)
    if here is None or remote is None or remote.sight is Sight.HOME:
        return here
    return max(here, remote.since) if remote.sight is Sight.SEEN else None


def template_of(check: HealthCheck) -> TemplateRef | None:
    return check.template if isinstance(check.template, TemplateRef) else None


def governing_check(found: VerdictFact, reader: Reader) -> Governing | None:
    """The check of a verdict; None in the moment in which its spec has just gone."""
    spec, permit = reader.read(spec_ref(found.check)), reader.read(permit_ref(found.check))
    if not isinstance(spec, Present):
        return None
    counted = reader.read(gate_ref(found.check))
    return Governing(
        at=found.check,
        check=spec.obj.check,
        found=found,
        permit=permit.obj if isinstance(permit, Present) else None,
        counted=counted.obj if isinstance(counted, Present) else None,
    )


# --- machines that are nobody's target any more ------------------------------------------------------------------

CHECKS_OF: dict[Kind, Kind] = {MACHINE: HEALTH_CHECK}


def without_check(key: Ref, entry: Present, machine: Machine, reader: Reader) -> RemediationView | None:
    """What is left on a machine, and beside it, and which checks mean it; None for most."""
    can_go, requests = is_left(key, machine, reader), lifecycle.left(key, machine, reader)
    aside = standing_aside(key, machine, reader)
    if not can_go and not requests and not aside:
        return None
    return RemediationView(
        key,
        entry,
        machine,
        host=hostnames.host(key, machine, reader),
        record=traces.see(NAME, key, machine.uid, reader),
        is_left=can_go,
        left=requests,
        aside=aside,
        is_quiet=is_quiet(key, machine, reader),
    )


def is_quiet(key: Ref, machine: Machine, reader: Reader) -> bool:
    return machine.deleting or leftalone.pause_of(key, machine, reader) is not None


def is_left(key: Ref, machine: Machine, reader: Reader) -> bool:
    """Whether something of ours is on this machine, and no check that asked for it can still mean it."""
    authors = authors_of(machine)
    if not authors or is_quiet(key, machine, reader):
        return False
    kind = CHECKS_OF.get(key.kind, OPENSHIFT_HEALTH_CHECK)
    return all(is_over(Ref(key.cluster, kind, key.namespace, name), reader) for name in authors)


def authors_of(machine: Machine) -> tuple[str, ...]:
    """The checks whose requests this machine carries."""
    return tuple(sorted({name for name in (machine.marked_by, asked_by(machine.told)) if name}))


def is_over(check: Ref, reader: Reader) -> bool:
    """The check is gone, or is there, can be understood, and does not mean this machine."""
    entry, spec = reader.read(check), reader.read(spec_ref(check))
    if not isinstance(entry, Present):
        return isinstance(entry, Absent)
    fact: SpecFact | None = spec.obj if isinstance(spec, Present) else None
    return fact is not None and fact.check.is_valid
