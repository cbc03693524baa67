"""What the room of FenceRemediations may judge by: the request, its Machine, the NodeFence of the machine's node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import claim, hostnames, leftalone, machines, takingback
from noderemedy.core.claim import Claim
from noderemedy.core.machines import MACHINE_KINDS, machine_refs
from noderemedy.model.actions import Guard
from noderemedy.model.budget import ANSWER, Granted, Need, Refused, answer, stated
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.ids import CLUSTER, FENCE_REMEDIATION, LEASE, NODE, NODE_FENCE, OPENSHIFT_MACHINE, Kind, Ref
from noderemedy.model.keeping import UNKEPT, Unkept, unkept
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.nodefence import NodeFence, fence_ref
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, known
from noderemedy.model.time import Mono

NAME = "fence-remediation"
BY_MACHINE = "fence remediations by machine"
BY_FENCE = "fence remediations by fence"
ALL = "all fence remediations"
WATCHES: tuple[Kind, ...] = (
    *(FENCE_REMEDIATION, NODE_FENCE, NODE, REMOTE, *MACHINE_KINDS, CLUSTER),
    *(ANSWER, LEASE, UNKEPT),
)


class RequestView(Struct, frozen=True):
    """A FenceRemediation and all that it is about."""

    ref: Ref
    entry: Present
    request: FenceRemediation
    machine_at: Ref | None = None
    machine_entry: Entry = Absent()
    node_at: Ref | None = None
    node_entry: Entry = Absent()
    fence_entry: Entry = Absent()
    left_alone: leftalone.Pause | None = None  # the machine, or its Cluster
    rival: str = ""  # another request for the same machine, which goes first
    answer: Granted | Refused | None = None  # the budget's
    claim: Claim | None = None  # None: there is no machine
    need: Need | None = None  # that we stated at the last look
    taking_back: Mono | None = None  # since when its word to the owner is to be taken back
    host: Entry = Absent()  # of a Machine of OpenShift, which we would have to delete ourselves
    unkept: Unkept | None = None  # what the API would forget of its record

    @property
    def guard(self) -> Guard:
        return Guard(self.request.uid, self.entry.resource_version)

    @property
    def machine(self) -> Machine | None:
        """The Machine as it is now; None if it is gone, or another one has its name by now."""
        found = self.machine_entry.obj if isinstance(self.machine_entry, Present) else None
        uids = {uid for uid in (self.request.owner_uid, self.request.status.machine_uid) if uid}
        return found if found is not None and uids <= {found.uid} else None

    @property
    def node(self) -> Node | None:
        return self.node_entry.obj if isinstance(self.node_entry, Present) else None

    @property
    def fence_at(self) -> Ref:
        """By the name that was recorded: the machine may name another node by now."""
        if self.request.status.fence:
            return Ref("", NODE_FENCE, "", self.request.status.fence)
        assert self.node_at is not None
        return fence_ref(self.node_at)

    @property
    def fence(self) -> NodeFence | None:
        return self.fence_entry.obj if isinstance(self.fence_entry, Present) else None

    @property
    def is_ours(self) -> bool:
        return self.fence is not None and self.fence.requested_by == self.signature

    @property
    def signature(self) -> str:
        """As it stands on the NodeFence: the next request of this name is another one."""
        return f"{self.ref} {self.request.uid}"

    @property
    def is_of_a_predecessor(self) -> bool:
        """Whether a former request of this name asked for the fence."""
        return self.fence is not None and self.fence.requested_by.startswith(f"{self.ref} ")


def _machines(ref: Ref, request: FenceRemediation) -> tuple[str, ...]:
    return tuple(machines.in_index(machine) for machine in machine_refs(ref, request))


def _fence(ref: Ref, request: FenceRemediation) -> tuple[str, ...]:
    return (request.status.fence,) if request.status.fence else ()


def _all(ref: Ref, request: FenceRemediation) -> tuple[str, ...]:
    return (ALL,)


INDEXES: tuple[Index, ...] = (
    *machines.INDEXES,
    *claim.INDEXES,
    Index(BY_MACHINE, FENCE_REMEDIATION, _machines),
    Index(BY_FENCE, FENCE_REMEDIATION, _fence),
    Index(ALL, FENCE_REMEDIATION, _all),
)


def sees(key: Ref, reader: Reader) -> RequestView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    request: FenceRemediation = entry.obj
    candidates = machine_refs(key, request)
    found = [(at, reader.read(at)) for at in candidates]
    machine_at, machine_entry = next((one for one in found if known(one[1]) is not None), found[0])
    machine = machine_entry.obj if isinstance(machine_entry, Present) else None
    node_at = machines.node_at(machine_at, machine, reader) if machine is not None else None
    name = request.status.fence or (fence_ref(node_at).name if node_at else "")
    return RequestView(
        ref=key,
        entry=entry,
        request=request,
        machine_at=machine_at,
        machine_entry=machine_entry,
        node_at=node_at,
        node_entry=reader.read(node_at) if node_at else Absent(),
        fence_entry=reader.read(Ref("", NODE_FENCE, "", name)) if name else Absent(),
        left_alone=pause_of(machine_at, known(machine_entry), reader),
        rival=rival_of(key, request, machine_at, reader),
        answer=answer(machine_at, reader),
        claim=claim.see(NAME, machine_at, node_at, reader) if machine is not None else None,
        need=stated(machine_at, NAME, reader),
        taking_back=takingback.since(key, reader),
        host=host_of(machine_at, machine, reader),
        unkept=unkept(FENCE_REMEDIATION, reader),
    )


def pause_of(machine_at: Ref, machine: Machine | None, reader: Reader) -> leftalone.Pause | None:
    return leftalone.pause_of(machine_at, machine, reader) if machine is not None else None


def host_of(machine_at: Ref, machine: Machine | None, reader: Reader) -> Entry:
    if machine is None or machine_at.kind != OPENSHIFT_MACHINE:
        return Absent()
    return hostnames.host(machine_at, machine, reader)


def what_is_waited_for(request: FenceRemediation) -> str:
    """One stay in one phase, told apart from every other."""
    return f"{request.uid} {request.status.phase.value} {request.status.since}"


def rival_of(key: Ref, request: FenceRemediation, machine_at: Ref, reader: Reader) -> str:
    """Another request for this machine that goes first, the oldest: one machine has one need of ours."""
    found = ((at, reader.read(at)) for at in of_machines((machine_at,), reader) if at != key)
    others = [(at, other) for at, entry in found if (other := known(entry)) is not None]
    mine = precedence(key, request)
    ahead = [at for at, one in others if not one.is_ended and not one.deleting and precedence(at, one) < mine]
    return str(min(ahead)) if ahead else ""


def precedence(ref: Ref, request: FenceRemediation) -> tuple[int, str]:
    return request.created.ms if request.created else 0, ref.name


def of_machines(found: Iterable[Ref], reader: Reader) -> tuple[Ref, ...]:
    """The requests for these machines."""
    return tuple(one for machine in found for one in reader.find(BY_MACHINE, machines.in_index(machine)))


def concerned(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """The requests that an event of this object concerns."""
    if ref.kind == FENCE_REMEDIATION:
        return (ref, *(of_machines(machine_refs(ref, obj), reader) if obj is not None else ()))
    if ref.kind == NODE_FENCE:
        return reader.find(BY_FENCE, ref.name)
    if ref.kind == UNKEPT:
        return reader.find(ALL, ALL)
    return of_machines(machines_of(ref, obj, reader), reader) if reader.has(BY_MACHINE) else ()


def machines_of(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """The machines that an event of something else concerns: nodes are many and report often, requests are few."""
    if ref.kind in (CLUSTER, REMOTE):
        return machines.of_cluster(ref, reader)
    if ref.kind == NODE:
        return machines.at_node(ref, reader)
    if ref.kind == ANSWER:
        return (obj.target,) if obj is not None else ()
    if ref.kind == LEASE:
        needs = (reader.read(one) for one in reader.find(claim.BY_LEASE, ref.name))
        return [one.obj.target for one in needs if isinstance(one, Present) and one.obj.room == NAME]
    return (ref,)
