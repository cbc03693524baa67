"""The shared shelf: which BareMetalHost a Machine says that it has. Names are claims; `consumers.py` is the other end.

OpenShift's provider writes it to the Machine, that of Metal3 for Cluster API to the Metal3Machine which the Machine
owns. What the Machine says itself counts first: whoever writes it there means it.
"""

from __future__ import annotations

from noderemedy.core.consumers import owner_ref
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.ids import HOST, MACHINE, METAL3_MACHINE, Ref
from noderemedy.model.machine import HostName, Machine, Metal3Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, known

BY_HOST = "machines by host"
BETWEEN_BY_HOST = "metal3machines by host"
BY_OWNER = "metal3machines by machine"


def named(at: Ref, machine: Machine, reader: Reader) -> HostName | Malformed | None:
    """What is said of its host; by a Metal3Machine only if it is owned by this very Machine, by name and by uid."""
    if machine.host is not None or at.kind != MACHINE:
        return machine.host
    found = (reader.read(ref) for ref in reader.find(BY_OWNER, str(at)))
    middles = [one.obj for one in found if isinstance(one, Present) and one.obj.owner_uid == machine.uid]
    return next((one.host for one in middles if one.host is not None), None)


def host_at(at: Ref, machine: Machine, reader: Reader) -> Ref | None:
    """Where the host is that a Machine names; None if it names none."""
    return place(at, named(at, machine, reader))


def place(at: Ref, name: HostName | Malformed | None) -> Ref | None:
    """Where the host of that name is, for the Machine at this place."""
    return _ref(at, name) if isinstance(name, HostName) else None


def host(at: Ref, machine: Machine, reader: Reader) -> Entry:
    """What is known of the host that a Machine names; absent if it names none."""
    found = host_at(at, machine, reader)
    return reader.read(found) if found else Absent()


def naming(host: Ref, reader: Reader) -> tuple[Ref, ...]:
    """The Machines that may name a host, themselves or through a Metal3Machine, be it one that cannot be read now."""
    middles = ((ref, known(reader.read(ref))) for ref in reader.find(BETWEEN_BY_HOST, str(host)))
    owners = [owner_ref(ref, middle.owner_machine) for ref, middle in middles if middle and middle.owner_machine]
    return tuple(dict.fromkeys((*reader.find(BY_HOST, str(host)), *owners)))


def _ref(at: Ref, name: HostName) -> Ref:
    return Ref(at.cluster, HOST, name.namespace, name.name)


def _host(at: Ref, said: Machine | Metal3Machine) -> tuple[str, ...]:
    return (str(_ref(at, said.host)),) if isinstance(said.host, HostName) else ()


def _owner(at: Ref, middle: Metal3Machine) -> tuple[str, ...]:
    return (str(owner_ref(at, middle.owner_machine)),) if middle.owner_machine else ()


INDEXES: tuple[Index, ...] = (
    *(Index(BY_HOST, kind, _host) for kind in MACHINE_KINDS),
    Index(BETWEEN_BY_HOST, METAL3_MACHINE, _host),
    Index(BY_OWNER, METAL3_MACHINE, _owner),
)
