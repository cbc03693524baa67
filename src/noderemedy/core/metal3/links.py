"""Who belongs to whom: Machine, BareMetalHost, Metal3Machine, Node. Names are claims; both ends must agree.

A Machine or its Metal3Machine names the host in an annotation, the host names its consumer in `spec.consumerRef`; the
link holds only if each names the other, and it is looked at again at every step (race R49: a host given to somebody
else meanwhile). What both say is read by `core/hostnames.py` and `core/consumers.py`, for all rooms.
"""

from __future__ import annotations

from typing import Any

from noderemedy.core import claim, hostnames, machines
from noderemedy.core.consumers import consumer_refs, owner_ref
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.budget import Granted, Refused
from noderemedy.model.cluster import Cluster
from noderemedy.model.host import Consumer, Hold, Host
from noderemedy.model.ids import (
    CLUSTER,
    HOST,
    LEASE,
    METAL3_MACHINE,
    NODE,
    Ref,
)
from noderemedy.model.machine import Machine, Metal3Machine
from noderemedy.model.node import Node
from noderemedy.model.pace import Leave
from noderemedy.model.remote import Remote
from noderemedy.model.room import Entry, Index, Present, Reader


def _consumers_named(ref: Ref, host: Host) -> tuple[str, ...]:
    return tuple(str(consumer) for consumer in consumer_refs(ref, host.consumer)) if host.consumer else ()


def _held_for(ref: Ref, host: Host) -> tuple[str, ...]:
    holds = (host.hold, *(record for _, record in host.held_for))
    return tuple(sorted({hold.machine_uid for hold in holds if isinstance(hold, Hold)}))


HELD_FOR = "hosts by the machine that they are held for"  # whatever names and references say by now
INDEXES: tuple[Index, ...] = (
    Index(HELD_FOR, HOST, _held_for),
    *hostnames.INDEXES,
    *machines.INDEXES,
    *claim.INDEXES,
    Index("hosts by consumer", HOST, _consumers_named),
)


def consumer_text(consumer: Consumer | None) -> str:
    return f"{consumer.kind}/{consumer.namespace}/{consumer.name}" if consumer else ""


def between(host_at: Ref, host: Host, reader: Reader) -> tuple[tuple[Ref, Entry], ...]:
    """The Metal3Machine through which a host names its Machine, if it does."""
    if host.consumer is None or host.consumer.kind != "Metal3Machine":
        return ()
    return tuple((ref, reader.read(ref)) for ref in consumer_refs(host_at, host.consumer))


def concerned(ref: Ref, obj: Any, reader: Reader) -> tuple[Ref, ...]:
    """The keys that an event of this object concerns: Machines, and hosts that carry our hold."""
    if ref.kind == LEASE:
        return claimants(ref, reader)
    if obj is None:
        return concerned_by_unreadable(ref, reader)
    if isinstance(obj, Granted | Refused):
        return (obj.target,) if obj.target.kind in MACHINE_KINDS else ()
    if isinstance(obj, Leave):
        return (obj.asker,) if obj.asker.kind in MACHINE_KINDS else ()
    if isinstance(obj, Machine):
        host = hostnames.host_at(ref, obj, reader)
        return (ref, host) if host else (ref,)
    if isinstance(obj, Host):
        return (*hostnames.naming(ref, reader), ref)
    if isinstance(obj, Node):
        return machines.at_node(ref, reader)
    if isinstance(obj, Remote | Cluster):
        return machines.of_cluster(ref, reader)
    if isinstance(obj, Metal3Machine):
        owner = (owner_ref(ref, obj.owner_machine),) if obj.owner_machine else ()
        return (*reader.find("hosts by consumer", str(ref)), *owner)
    return ()


def claimants(lease: Ref, reader: Reader) -> tuple[Ref, ...]:
    """The machines whose repair a Lease is about."""
    found = reader.find(claim.BY_LEASE, lease.name)
    entries = [reader.read(need) for need in found]
    targets = [entry.obj.target for entry in entries if isinstance(entry, Present)]
    return tuple(target for target in targets if target.kind in MACHINE_KINDS)


def concerned_by_unreadable(ref: Ref, reader: Reader) -> tuple[Ref, ...]:
    """The same where the object itself says nothing: whoever names it."""
    if ref.kind == CLUSTER:
        return machines.of_cluster(ref, reader)
    if ref.kind == NODE:
        return machines.at_node(ref, reader)
    if ref.kind == HOST:
        return (*hostnames.naming(ref, reader), ref)
    if ref.kind == METAL3_MACHINE:
        hosts = reader.find("hosts by consumer", str(ref))
        return (*hosts, *(machine for host in hosts for machine in hostnames.naming(host, reader)))
    between = reader.find(hostnames.BY_OWNER, str(ref))
    return (ref, *(host for one in (ref, *between) for host in reader.find("hosts by consumer", str(one))))


def present(entry: Entry, kind: type) -> Any:
    """The object of an entry, if it is there and of that kind."""
    return entry.obj if isinstance(entry, Present) and isinstance(entry.obj, kind) else None
