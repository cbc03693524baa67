"""What the room of FenceRemediations may judge by: the request, its Machine, the NodeFence of the machine's node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import machines
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.actions import Guard
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.ids import CLUSTER, FENCE_REMEDIATION, NODE_FENCE, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.nodefence import NodeFence, fence_ref
from noderemedy.model.remote import REMOTE
from noderemedy.model.room import Absent, Entry, Index, Present, Reader

NAME = "fence-remediation"
BY_MACHINE = "fence remediations by machine"
BY_FENCE = "fence remediations by fence"
WATCHES: tuple[Kind, ...] = (FENCE_REMEDIATION, NODE_FENCE, *MACHINE_KINDS, CLUSTER, REMOTE)


class RequestView(Struct, frozen=True):
    """A FenceRemediation and all that it is about."""

    ref: Ref
    entry: Present
    request: FenceRemediation
    machine_at: Ref | None = None
    machine_entry: Entry = Absent()
    node_at: Ref | None = None
    fence_entry: Entry = Absent()
    is_cluster_paused: bool = False

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


def machine_refs(ref: Ref, request: FenceRemediation) -> tuple[Ref, ...]:
    """The Machines that it may be for: its owner, or whoever bears its name."""
    owner = request.owner
    group = owner.api_version.partition("/")[0] if owner else ""
    kinds = [kind for kind in MACHINE_KINDS if group in ("", kind.group)]
    return tuple(Ref(ref.cluster, kind, ref.namespace, owner.name if owner else ref.name) for kind in kinds)


def _machines(ref: Ref, request: FenceRemediation) -> tuple[str, ...]:
    return tuple(f"{machine.kind} {machine}" for machine in machine_refs(ref, request))


def _fence(ref: Ref, request: FenceRemediation) -> tuple[str, ...]:
    return (request.status.fence,) if request.status.fence else ()


INDEXES: tuple[Index, ...] = (
    *machines.INDEXES,
    Index(BY_MACHINE, FENCE_REMEDIATION, _machines),
    Index(BY_FENCE, FENCE_REMEDIATION, _fence),
)


def sees(key: Ref, reader: Reader) -> RequestView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    request: FenceRemediation = entry.obj
    candidates = machine_refs(key, request)
    found = [(at, reader.read(at)) for at in candidates]
    machine_at, machine_entry = next((one for one in found if isinstance(one[1], Present)), found[0])
    machine = machine_entry.obj if isinstance(machine_entry, Present) else None
    node_at = machines.node_at(machine_at, machine, reader) if machine is not None else None
    name = request.status.fence or (fence_ref(node_at).name if node_at else "")
    cluster = reader.read(Ref(key.cluster, CLUSTER, key.namespace, machine.cluster_name)) if machine else Absent()
    return RequestView(
        ref=key,
        entry=entry,
        request=request,
        machine_at=machine_at,
        machine_entry=machine_entry,
        node_at=node_at,
        fence_entry=reader.read(Ref("", NODE_FENCE, "", name)) if name else Absent(),
        is_cluster_paused=isinstance(cluster, Present) and cluster.obj.paused,
    )


def concerned(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """The requests that an event of this object concerns."""
    if ref.kind == FENCE_REMEDIATION:
        return (ref,)
    if ref.kind == NODE_FENCE:
        return reader.find(BY_FENCE, ref.name)
    if not reader.has(BY_MACHINE):
        return ()
    found = machines.of_cluster(ref, reader) if ref.kind in (CLUSTER, REMOTE) else (ref,)
    return [one for machine in found for one in reader.find(BY_MACHINE, f"{machine.kind} {machine}")]
