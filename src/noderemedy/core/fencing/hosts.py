"""The BareMetalHost of a node that is fenced, for the method host-power. Names are claims: both ends must agree.

The node's Machine names its host, and the host names that Machine back (`core/consumers.py`). And the
Machine that names the Node must be its own (invariant S7): the host of another server proves nothing about this one.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core import consumers, machines
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.host import Host
from noderemedy.model.ids import HOST, Ref
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
    is_named_back = isinstance(entry, Present) and consumers.is_consumed_by(entry.obj, at, machine, machine_at, reader)
    is_of_another = node is not None and not machines.is_own(node, machine)
    return HostSeen(at, entry, is_named_back and not is_of_another, is_of_another)


def _host(ref: Ref, machine: Machine) -> tuple[str, ...]:
    return (f"{machine.host.namespace}/{machine.host.name}",) if isinstance(machine.host, HostName) else ()


INDEXES: tuple[Index, ...] = tuple(Index(BY_HOST, kind, _host) for kind in MACHINE_KINDS)
