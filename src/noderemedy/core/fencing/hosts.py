"""The BareMetalHost of a node that is fenced, for the method host-power. Names are claims: both ends must agree.

The node's Machine names its host (`core/hostnames.py`), and the host names that Machine back (`core/consumers.py`).
And the Machine that names the Node must be its own (invariant S7): the host of another server proves nothing about
this one.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core import consumers, hostnames, machines
from noderemedy.model.host import Host
from noderemedy.model.ids import Ref
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.room import Absent, Entry, Present, Reader, known


class HostSeen(Struct, frozen=True):
    """Where the host is, and whether it is the node's."""

    at: Ref | None = None
    entry: Entry = Absent()
    is_own: bool = False
    is_of_another: bool = False  # the Machine that names the Node is another server's by its providerID

    @property
    def host(self) -> Host | None:
        return self.entry.obj if isinstance(self.entry, Present) else None

    @property
    def last_known(self) -> Host | None:
        """Also one that cannot be read any more, as it was then: for whether we hold it, never for a proof."""
        host: Host | None = known(self.entry)
        return host


NO_HOST = HostSeen()


def see(node: Node | None, machine_at: Ref, machine: Machine, reader: Reader) -> HostSeen:
    """The host that a Machine names. One that is not the node's is seen all the same: what we hold is released."""
    at = hostnames.host_at(machine_at, machine, reader)
    if at is None:
        return NO_HOST
    entry = reader.read(at)
    is_named_back = isinstance(entry, Present) and consumers.is_consumed_by(entry.obj, at, machine, machine_at, reader)
    is_of_another = node is not None and not machines.is_own(node, machine)
    return HostSeen(at, entry, is_named_back and not is_of_another, is_of_another)
