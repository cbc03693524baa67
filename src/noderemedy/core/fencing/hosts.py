"""The BareMetalHost of a node that is fenced, for the method host-power. Names are claims: both ends must agree.

The node's Machine names its host, the host names its consumer: that Machine, or the Metal3Machine that it owns. And the
Machine that names the Node must be its own (invariant S7): the host of another server proves nothing about this one.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core import machines
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.host import Consumer, Host
from noderemedy.model.ids import HOST, METAL3_MACHINE, Ref
from noderemedy.model.machine import HostName, Machine
from noderemedy.model.node import Node
from noderemedy.model.room import Absent, Entry, Index, Present, Reader

BY_HOST = "machines by host, for fencing"


class HostSeen(Struct, frozen=True):
    """Where the host is, and whether it is the node's."""

    at: Ref | None = None
    entry: Entry = Absent()
    is_own: bool = False
    is_of_another: bool = False  # the Machine that names the Node is another server's by its providerID

    @property
    def host(self) -> Host | None:
        return self.entry.obj if isinstance(self.entry, Present) else None


NO_HOST = HostSeen()


def see(node: Node | None, machine_at: Ref, machine: Machine, reader: Reader) -> HostSeen:
    """The host that a Machine names. One that is not the node's is seen all the same: what we hold is released."""
    if not isinstance(machine.host, HostName):
        return NO_HOST
    at = Ref(machine_at.cluster, HOST, machine.host.namespace, machine.host.name)
    entry = reader.read(at)
    consumer = entry.obj.consumer if isinstance(entry, Present) else None
    is_named_back = consumer is not None and is_consumer(at, consumer, machine_at, machine, reader)
    is_of_another = node is not None and not machines.is_own(node, machine)
    return HostSeen(at, entry, is_named_back and not is_of_another, is_of_another)


def is_consumer(host: Ref, consumer: Consumer, machine_at: Ref, machine: Machine, reader: Reader) -> bool:
    """Whether the host says that it serves this very Machine."""
    namespace = consumer.namespace or host.namespace
    if consumer.kind == "Machine":
        is_its_group = consumer.group in ("", machine_at.kind.group)
        return is_its_group and (namespace, consumer.name) == (machine_at.namespace, machine_at.name)
    if consumer.kind != "Metal3Machine":
        return False
    middle = reader.read(Ref(host.cluster, METAL3_MACHINE, namespace, consumer.name))
    return isinstance(middle, Present) and middle.obj.owner_uid == machine.uid


def _host(ref: Ref, machine: Machine) -> tuple[str, ...]:
    return (f"{machine.host.namespace}/{machine.host.name}",) if isinstance(machine.host, HostName) else ()


INDEXES: tuple[Index, ...] = tuple(Index(BY_HOST, kind, _host) for kind in MACHINE_KINDS)
