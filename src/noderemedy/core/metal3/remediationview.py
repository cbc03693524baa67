"""What the room of Metal3Remediations may judge by, which objects lead to which, and whom an event concerns.

A key is a Metal3Remediation with its Machine, host and Node; or a host that still carries something of one: a hold that
no remediation answers for any more, or our mark that it is unhealthy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import (
    claim,
    consumers,
    foredated,
    freeing,
    hostnames,
    leftalone,
    machines,
    pacing,
    takingback,
    traces,
)
from noderemedy.core.claim import Claim
from noderemedy.core.foredated import ForedatedWord
from noderemedy.core.machines import MACHINE_KINDS, machine_refs
from noderemedy.core.metal3 import links
from noderemedy.core.metal3.view import MachineView, see_machine
from noderemedy.model.actions import Guard
from noderemedy.model.budget import Granted, Need, Refused, answer, stated
from noderemedy.model.facts import FactValue
from noderemedy.model.host import Hold, Host, MarkName
from noderemedy.model.ids import CLUSTER, FACTS, HOST, INCIDENT, REMEDIATION, Kind, Ref
from noderemedy.model.keeping import UNKEPT, Unkept, unkept
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node
from noderemedy.model.pace import LEAVE
from noderemedy.model.refusal import Refusal, refusal
from noderemedy.model.remediation import Metal3Remediation, Phase
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, Unreadable, known
from noderemedy.model.time import Mono, Wall

NAME = "metal3-remediation"
ESCALATED = f"{NAME}-owner"  # states our need while the owner is asked: the claim is whoever's replaces the machine
BY_MACHINE = "remediations by machine"
BY_UID = "remediations by uid"
BY_NAMESPACE = "remediations by namespace"
ALL = "all remediations"
HELD_FOR = "hosts by remediation"
RELICS = "hosts with something of a remediation"
SIGHT = Kind(FACTS, "PhaseSight")
MARK = "node-remedy"  # how our own mark on a host begins


class PhaseSight(FactValue, frozen=True):
    """Since when we ourselves have known that a phase lasts: on the clock that nobody sets, and for people."""

    what: str
    since: Mono
    wall: Wall


class RemediationView(Struct, frozen=True):
    """A Metal3Remediation and all that it is about."""

    ref: Ref
    entry: Present
    remediation: Metal3Remediation
    machine: MachineView | None = None  # None: there is no such machine
    unread: Ref | None = None  # the machine that is there and cannot be read
    held: tuple[tuple[Ref, Present], ...] = ()  # hosts that carry a hold for this one
    work: freeing.Workload | None = None  # None: there is no Node
    rival: str = ""  # another remediation of the same machine, which goes first
    answer: Granted | Refused | None = None  # the budget's
    claim: Claim | None = None
    sight: PhaseSight | None = None  # what we knew at the last look
    need: Need | None = None  # that we stated then
    foredated: ForedatedWord | None = None  # a word on it that was of the future then
    refusal: Refusal | None = None  # what the API does not let us do
    taking_back: Mono | None = None  # since when its word to the owner is to be taken back
    unkept: Unkept | None = None  # what the API would forget of its record

    @property
    def guard(self) -> Guard:
        return Guard(self.remediation.uid, self.entry.resource_version)

    @property
    def host(self) -> Host:
        """The host, once the gates have seen that there is one."""
        assert self.machine is not None
        assert self.machine.host is not None
        return self.machine.host

    @property
    def host_name(self) -> str:
        assert self.machine is not None
        assert self.machine.host_at is not None
        return f"{self.machine.host_at.namespace}/{self.machine.host_at.name}"

    @property
    def node(self) -> Node | None:
        return self.machine.node if self.machine else None

    @property
    def node_name(self) -> str:
        return (self.machine.machine.node_name or "") if self.machine else ""


class RelicView(Struct, frozen=True):
    """A host with a hold for, or a mark by, a remediation."""

    ref: Ref
    entry: Present
    host: Host
    orphans: tuple[tuple[str, Ref | None, Entry], ...] = ()  # uid, and who it may be, of holds without a remediation
    marks: tuple[MarkName, ...] = ()  # by which names we have marked it as unhealthy
    runs_a_node: bool = False
    left_alone: leftalone.Pause | None = None  # of the Machine that it belongs to
    target: Ref | None = None  # the Machine that a hold without a remediation was for; None: it is not known
    need: Need | None = None  # that we stated for it, or for the host, at the last look


# --- indexes -----------------------------------------------------------------------------------------------------


def _machines(ref: Ref, remediation: Metal3Remediation) -> tuple[str, ...]:
    return tuple(machines.in_index(machine) for machine in machine_refs(ref, remediation))


def _uid(ref: Ref, remediation: Metal3Remediation) -> tuple[str, ...]:
    return (remediation.uid,)


def _namespace(ref: Ref, remediation: Metal3Remediation) -> tuple[str, ...]:
    return (ref.namespace,)


def _all(ref: Ref, remediation: Metal3Remediation) -> tuple[str, ...]:
    return (ALL,)


def _relics(ref: Ref, host: Host) -> tuple[str, ...]:
    return (RELICS,) if has_relics(host) else ()


def _held_for(ref: Ref, host: Host) -> tuple[str, ...]:
    return tuple(uid for uid, _ in host.held_for)


INDEXES: tuple[Index, ...] = (
    *links.INDEXES,
    *traces.INDEXES,
    Index(BY_MACHINE, REMEDIATION, _machines),
    Index(BY_UID, REMEDIATION, _uid),
    Index(BY_NAMESPACE, REMEDIATION, _namespace),
    Index(ALL, REMEDIATION, _all),
    Index(HELD_FOR, HOST, _held_for),
    Index(RELICS, HOST, _relics),
)


def of_machines(found: Iterable[Ref], reader: Reader) -> tuple[Ref, ...]:
    """The remediations of these machines."""
    return tuple(one for machine in found for one in reader.find(BY_MACHINE, machines.in_index(machine)))


# --- sees --------------------------------------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> RemediationView | RelicView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    return see_relics(key, entry, reader) if key.kind == HOST else see_remediation(key, entry, reader)


def see_remediation(key: Ref, entry: Present, reader: Reader) -> RemediationView:
    remediation: Metal3Remediation = entry.obj
    machine = its_machine(key, remediation, reader)
    unread = its_unread_machine(key, remediation, reader) if machine is None else None
    target = machine.ref if machine else unread
    hosts = ((at, reader.read(at)) for at in reader.find(HELD_FOR, remediation.uid))
    node = machine.node_entry if machine else None
    return RemediationView(
        ref=key,
        entry=entry,
        remediation=remediation,
        machine=machine,
        unread=unread,
        held=tuple((at, found) for at, found in hosts if isinstance(found, Present)),
        work=freeing.sees(machine.node_at, node, reader, pacing.sees(NAME, key, reader))
        if machine and machine.node_at and isinstance(node, Present)
        else None,
        rival=rival_of(key, remediation, target, reader),
        answer=answer(machine.ref, reader) if machine else None,
        claim=claim.see(NAME, machine.ref, machine.node_at, reader) if machine else None,
        need=stated(target, stated_as(remediation), reader) if target else None,
        sight=seen.obj if isinstance(seen := reader.read(sight_ref(key)), Present) else None,
        foredated=foredated.sees(key, reader),
        refusal=refusal(NAME, key, reader),
        taking_back=takingback.since(key, reader),
        unkept=unkept(REMEDIATION, reader),
    )


def sight_ref(key: Ref) -> Ref:
    return Ref(key.cluster, SIGHT, key.namespace, key.name)


def what_is_waited_for(remediation: Metal3Remediation) -> str:
    """One stay in one phase, told apart from every other."""
    progress = remediation.progress
    return f"{remediation.uid} {progress.phase.value} {progress.retry_count} {progress.since}"


def stated_as(remediation: Metal3Remediation) -> str:
    """By what name the need of this phase is stated."""
    return ESCALATED if remediation.progress.phase is Phase.DELETING_MACHINE else NAME


def waits_as(key: Ref) -> str:
    """Who waits for the record of a machine: of two remediations of one machine each for itself."""
    return f"{NAME} {key.namespace}/{key.name}"


def its_machine(key: Ref, remediation: Metal3Remediation, reader: Reader) -> MachineView | None:
    """The Machine as it is now; None if it is gone, or another one has its name by now."""
    uids = uids_of(remediation)
    for at in machine_refs(key, remediation):
        entry = reader.read(at)
        if isinstance(entry, Present) and uids <= {entry.obj.uid}:
            return see_machine(at, entry, reader, waits_as(key))
    return None


def its_unread_machine(key: Ref, remediation: Metal3Remediation, reader: Reader) -> Ref | None:
    """The Machine that is there, for all we know the very one, and cannot be read."""
    uids = uids_of(remediation)
    entries = ((at, reader.read(at)) for at in machine_refs(key, remediation))
    return next((at for at, entry in entries if isinstance(entry, Unreadable) and uids <= {entry.uid}), None)


def uids_of(remediation: Metal3Remediation) -> set[str]:
    """Of the Machine that it is for, as far as it is known."""
    return {uid for uid in (remediation.owner_uid, remediation.progress.evidence.machine_uid) if uid}


def rival_of(key: Ref, remediation: Metal3Remediation, machine: Ref | None, reader: Reader) -> str:
    """Another remediation of this machine that goes first: one that has begun, else the older one."""
    if machine is None:
        return ""
    found = [(at, reader.read(at)) for at in reader.find(BY_MACHINE, machines.in_index(machine)) if at != key]
    others = [(at, other) for at, entry in found if (other := known(entry)) is not None]
    mine = precedence(key, remediation)
    ahead = [at for at, other in others if not other.is_ended and precedence(at, other) < mine]
    return str(min(ahead)) if ahead else ""


def precedence(ref: Ref, remediation: Metal3Remediation) -> tuple[bool, int, str]:
    created = remediation.created.ms if remediation.created else 0
    return remediation.progress.phase is Phase.NEW, created, ref.name


def see_relics(key: Ref, entry: Present, reader: Reader) -> RelicView | None:
    host: Host = entry.obj
    marks = our_marks(host)
    lost = [(uid, record) for uid, record in host.held_for if is_ours(record) and not reader.find(BY_UID, uid)]
    if not lost and not marks:
        return None
    orphans = tuple((uid, *suspect(key, record, reader)) for uid, record in lost)
    runs = bool(marks) and runs_a_node(key, host, reader)
    target = held_for(key, host, [record for _, record in lost], reader)
    need = stated(target or key, waits_as(key), reader)
    left_alone = leftalone.pause_of_host(key, host, reader)
    return RelicView(key, entry, host, orphans, marks, runs, left_alone, target, need)


def held_for(key: Ref, host: Host, records: list[Hold | Malformed | None], reader: Reader) -> Ref | None:
    """The Machine that one of these holds was for, if it is known: the host's consumer, or who names the host."""
    uids = {record.machine_uid for record in records if isinstance(record, Hold)}
    serves = consumers.machine_of_consumer(key, host.consumer, reader) if host.consumer else ()
    found = ((at, reader.read(at)) for at in (*serves, *hostnames.naming(key, reader)))
    return next((at for at, entry in found if uid_of(entry) in uids), None)


def uid_of(entry: Entry) -> str | None:
    if isinstance(entry, Unreadable):
        return entry.uid
    return entry.obj.uid if isinstance(entry, Present) else None


def our_marks(host: Host) -> tuple[MarkName, ...]:
    """By which names: managers of before wrote one of them. A mark of somebody else beside ours is none of ours."""
    return tuple(name for name, who in host.unhealthy if who.startswith(MARK))


def is_ours(record: Hold | Malformed | None) -> bool:
    """A hold of ours comes with its record, in one patch; without one it is of the provider's own controller."""
    return record is not None


def suspect(key: Ref, record: Any, reader: Reader) -> tuple[Ref | None, Entry]:
    """The remediation that a hold was made for, by the name in its record."""
    namespace, _, name = record.owner.partition("/") if isinstance(record, Hold) else ("", "", "")
    at = Ref(key.cluster, REMEDIATION, namespace, name) if name else None
    return at, reader.read(at) if at else Absent()


def runs_a_node(key: Ref, host: Host, reader: Reader) -> bool:
    """Whether the Machine that this host serves has a node that is ready."""
    if host.consumer is None:
        return False
    for at in consumers.machine_of_consumer(key, host.consumer, reader):
        entry = reader.read(at)
        if isinstance(entry, Present) and isinstance(entry.obj, Machine):
            node_at = machines.node_at(at, entry.obj, reader)
            node = reader.read(node_at) if node_at else Absent()
            if isinstance(node, Present) and node.obj.is_ready and not node.obj.deleting:
                return True
    return False


# --- wakes -------------------------------------------------------------------------------------------------------


def concerned(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """The keys that an event of this object concerns."""
    if ref.kind == REMEDIATION:
        rivals = of_machines(machine_refs(ref, obj), reader) if obj is not None else ()
        uid = obj.uid if obj is not None else uid_of(reader.read(ref))  # also of one that cannot be read
        return (ref, *rivals, *(reader.find(HELD_FOR, uid) if uid else ()))
    if ref.kind == INCIDENT:
        return of_machines((obj.found.target,), reader) if obj is not None else ()
    if ref.kind == CLUSTER:
        return reader.find(BY_NAMESPACE, ref.namespace)
    if ref.kind == UNKEPT:
        return reader.find(ALL, ALL)
    if ref.kind == LEAVE:
        return (obj.asker,) if obj.room == NAME else ()
    if ref.kind == HOST:
        held = [one for uid, _ in obj.held_for for one in reader.find(BY_UID, uid)] if isinstance(obj, Host) else []
        own = (ref,) if obj is None or has_relics(obj) else ()
        found = links.concerned(ref, obj, reader) if reader.has(BY_MACHINE) else ()
        return (*own, *held, *of_machines(found, reader))
    if not reader.has(BY_MACHINE) and not reader.has(RELICS):
        return ()  # events of nodes are many, remediations are few
    found = links.concerned(ref, obj, reader)
    return (*of_machines(found, reader), *(host for host in hosts_of(found, reader) if is_relic(host, reader)))


def hosts_of(found: Iterable[Ref], reader: Reader) -> tuple[Ref, ...]:
    """The hosts that these machines name."""
    entries = [(at, reader.read(at)) for at in found if at.kind in MACHINE_KINDS]
    hosts = (hostnames.host_at(at, entry.obj, reader) for at, entry in entries if isinstance(entry, Present))
    return tuple(host for host in hosts if host)


def has_relics(host: Host) -> bool:
    """Whether there can be anything to decide about this host."""
    return bool(host.unhealthy or host.held_for)


def is_relic(host: Ref, reader: Reader) -> bool:
    entry = reader.read(host)
    return isinstance(entry, Present) and has_relics(entry.obj)
