"""What the annotation room may judge by: one Machine with its host and node, or one held host without a Machine."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from noderemedy.core import claim, consumers, freeing, hostnames, leftalone, machines, pacing, traces
from noderemedy.core.claim import Claim
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.metal3 import links
from noderemedy.core.traces import Told
from noderemedy.model.budget import Granted, Need, Refused, answer, stated
from noderemedy.model.cluster import Cluster
from noderemedy.model.host import Hold, Host
from noderemedy.model.ids import HOST, Ref
from noderemedy.model.machine import HostName, Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node
from noderemedy.model.remote import Remote
from noderemedy.model.room import Absent, Entry, Present, Reader, Unreadable

ROOM_NAME = "annotation"


class MachineView(Struct, frozen=True):
    """A Machine, the host that it names, and the Node that it names. Absent where it names none."""

    ref: Ref
    entry: Present
    machine: Machine
    host_named: HostName | Malformed | None = None
    host_at: Ref | None = None
    host_entry: Entry = Absent()
    is_consumer: bool = False
    between: tuple[tuple[Ref, Entry], ...] = ()  # the Metal3Machine through which the host names its Machine
    node_at: Ref | None = None
    node_entry: Entry = Absent()
    remote: Remote | None = None  # what is known of the cluster that has the Node; None: it is this one
    need: Need | None = None  # that we stated at the last look
    told: Granted | Refused | None = None  # the budget's answer
    claim: Claim | None = None  # None: nothing is asked of this Machine
    cluster: Cluster | None = None  # the Cluster that it belongs to, where there is one
    record: Told = Told()  # what its Incident tells
    work: freeing.Workload | None = None  # what goes with its Node; None: there is none

    @property
    def host(self) -> Host | None:
        return self.host_entry.obj if isinstance(self.host_entry, Present) else None

    @property
    def node(self) -> Node | None:
        return self.node_entry.obj if isinstance(self.node_entry, Present) else None

    @property
    def holds(self) -> bool:
        """Whether this Machine's own host is held off by us."""
        return self.is_consumer and self.host is not None and self.host.held

    @property
    def is_held_for_others(self) -> bool:
        """Whether a Metal3Remediation holds the host: its Node is that room's business until the hold goes."""
        return self.host is not None and self.host.is_held_besides("")

    @property
    def is_in_hand(self) -> bool:
        """Whether there is anything to do or to finish for this Machine."""
        machine = self.machine
        return (
            machine.needs_remediation or machine.backup is not None or machine.node_deleted_at is not None or self.holds
        )


class HostView(Struct, frozen=True):
    """A host that carries our hold, and what its consumerRef leads to."""

    ref: Ref
    entry: Present
    host: Host
    is_named_back: bool
    suspects: tuple[tuple[Ref, Entry], ...] = ()  # whose absence must be read live before the hold is an orphan
    held_for: Ref | None = None  # the machine that the hold was for
    record: traces.Told = traces.Told()  # of that machine
    left_alone: leftalone.Pause | None = None  # of the Machine that it belongs to
    need: Need | None = None  # that we stated at the last look

    @property
    def target(self) -> Ref:
        """Whose place in the budget a hold has: that of the Machine which it was for, or may be for; else its own."""
        unread = (at for at, entry in self.suspects if at.kind in MACHINE_KINDS and isinstance(entry, Unreadable))
        return self.held_for or next(unread, self.ref)


def sees(key: Ref, reader: Reader) -> MachineView | HostView | None:
    """Everything about this key that the room may judge by; None where there is nothing to judge."""
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    return see_host(key, entry, reader) if key.kind == HOST else see_machine(key, entry, reader)


def see_machine(key: Ref, entry: Present, reader: Reader, room: str = ROOM_NAME) -> MachineView:
    """`room` is who looks: its own waiting for the record is part of the view."""
    machine = entry.obj
    host_named = hostnames.named(key, machine, reader)
    host_at = hostnames.place(key, host_named)
    node_at = machines.node_at(key, machine, reader)
    host_entry = reader.read(host_at) if host_at else Absent()
    host = host_entry.obj if isinstance(host_entry, Present) else None
    node_entry = reader.read(node_at) if node_at else Absent()
    return MachineView(
        ref=key,
        entry=entry,
        machine=machine,
        host_named=host_named,
        host_at=host_at,
        host_entry=host_entry,
        is_consumer=bool(host and host_at and consumers.is_consumed_by(host, host_at, machine, key, reader)),
        between=links.between(host_at, host, reader) if host and host_at else (),
        node_at=node_at,
        node_entry=node_entry,
        remote=machines.remote_of(key, machine, reader),
        need=stated(key, ROOM_NAME, reader),
        told=answer(key, reader),
        claim=claim.see(ROOM_NAME, key, node_at, reader) if machine.needs_remediation else None,
        cluster=machines.owning_cluster(key, machine, reader),
        record=traces.see(room, key, machine.uid, reader),
        work=freeing.sees(node_at, node_entry, reader, pacing.sees(room, key, reader))
        if node_at and isinstance(node_entry, Present)
        else None,
    )


def see_host(key: Ref, entry: Present, reader: Reader) -> HostView | None:
    host = entry.obj
    if not host.held:
        return None
    left_alone = leftalone.pause_of_host(key, host, reader)
    if host.consumer is None:
        return of_whom(HostView(key, entry, host, is_named_back=False, left_alone=left_alone), reader)
    machines = consumers.machine_of_consumer(key, host.consumer, reader)
    suspects = tuple((ref, reader.read(ref)) for ref in machines or consumers.consumer_refs(key, host.consumer))
    named_back = any(
        isinstance(found, Present)
        and isinstance(found.obj, Machine)
        and hostnames.host_at(ref, found.obj, reader) == key
        and consumers.is_consumed_by(host, key, found.obj, ref, reader)
        for ref, found in suspects
    )
    return of_whom(HostView(key, entry, host, named_back, suspects, left_alone=left_alone), reader)


def of_whom(view: HostView, reader: Reader) -> HostView:
    """With the machine that the hold was for, if it is known by either side: the host's consumer, or who names it."""
    hold = view.host.hold
    for ref, found in linked(view, reader):
        if isinstance(found, Present) and isinstance(hold, Hold) and found.obj.uid == hold.machine_uid:
            told = traces.see(waits_as(view.ref), ref, found.obj.uid, reader)
            return as_stated(structs.replace(view, held_for=ref, record=told), reader)
    return as_stated(view, reader)


def as_stated(view: HostView, reader: Reader) -> HostView:
    return structs.replace(view, need=stated(view.target, waits_as(view.ref), reader))


def linked(view: HostView, reader: Reader) -> Iterator[tuple[Ref, Entry]]:
    yield from view.suspects
    for ref in hostnames.naming(view.ref, reader):
        yield ref, reader.read(ref)


def waits_as(host: Ref) -> str:
    """Who waits for the record of a machine that does not name this host any more, and counts it in its stead."""
    return f"{ROOM_NAME} {host.namespace}/{host.name}"
