"""What the room of NodeFences may judge by: one NodeFence, its Node with its Machine, its plan, and what its runs told.

Whom an event concerns follows from names: a node has one NodeFence (`fence_ref`), and a run belongs to the one that
lists it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core import claim, consumers, foredated, freeing, hostnames, leftalone, machines, pacing
from noderemedy.core.claim import Claim
from noderemedy.core.fencing import disks, hosts
from noderemedy.core.fencing.disks import Peer
from noderemedy.core.fencing.hosts import NO_HOST, HostSeen
from noderemedy.core.foredated import ForedatedWord
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model import observer
from noderemedy.model.actions import Guard
from noderemedy.model.budget import ANSWER, Granted, Need, Refused, answer, stated
from noderemedy.model.facts import FactValue
from noderemedy.model.fenceplan import FENCE_PLAN, AgentMethod, FencePlan, Method, Step, plan_ref
from noderemedy.model.governing import (
    MEMBER,
    PERMIT,
    REPEATS,
    PermitFact,
    RepeatsFact,
    governor,
    parked_of,
    permit_for,
)
from noderemedy.model.host import Host
from noderemedy.model.ids import (
    CLUSTER,
    FACTS,
    FENCE_REMEDIATION,
    HOST,
    LEASE,
    METAL3_MACHINE,
    NODE,
    NODE_FENCE,
    Kind,
    Ref,
)
from noderemedy.model.kdump import KDUMP, KdumpSeen, kdump_ref
from noderemedy.model.keeping import UNKEPT, Unkept, unkept
from noderemedy.model.machine import Machine, Metal3Machine
from noderemedy.model.node import Node
from noderemedy.model.nodefence import FenceJob, FenceStatus, NodeFence, State, fence_ref
from noderemedy.model.observer import OBSERVER
from noderemedy.model.pace import LEAVE
from noderemedy.model.reasons import CannotSeeCluster
from noderemedy.model.refusal import Refusal, refusal
from noderemedy.model.remote import REMOTE, Sight, remote_ref
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, Unreadable, known
from noderemedy.model.run import RUN, Run, run_ref
from noderemedy.model.term import Term, term
from noderemedy.model.time import Mono, Wall
from noderemedy.model.workload import storage_at

NAME = "node-fence"
BY_RUN = "fences by run"
BY_CLUSTER = "fences by cluster"
BY_UID = "fences by uid"
TO_BEGIN = "fences that have not begun, or may begin anew"
HELD_FOR = "hosts by fence"
BEHIND = "fences by machine"
ALL = "all fences"
WATCHES = (
    *(NODE_FENCE, NODE, REMOTE, CLUSTER, *MACHINE_KINDS, HOST, METAL3_MACHINE, FENCE_PLAN, KDUMP, RUN),
    *(MEMBER, PERMIT, REPEATS, ANSWER, LEASE, LEAVE, OBSERVER, UNKEPT),
)


class FenceSight(FactValue, frozen=True):
    """Recorded moments, and when they were on our own clock: `patience.py`."""

    moments: tuple[tuple[Wall, Mono], ...]
    planless: Mono | None = None  # since when its plan cannot be used: `planless.py`


SIGHT = Kind(FACTS, "FenceSight")


def sight_ref(fence: Ref) -> Ref:
    return Ref(fence.cluster, SIGHT, fence.namespace, fence.name)


class FenceView(Struct, frozen=True):
    """A NodeFence and all that it is about."""

    ref: Ref
    entry: Present
    fence: NodeFence
    node_at: Ref
    node_entry: Entry
    target: Ref  # what is repaired: the node's Machine, or the Node where there is none
    claim: Claim
    machine: Machine | None = None
    machine_entry: Entry = Absent()
    has_unread_machine: bool = False  # the one that it is about is there, and nobody here knows whose it is
    unplaced: CannotSeeCluster | None = None  # a machine may be that of the node
    left_alone: leftalone.Pause | None = None  # a machine of it, or its Cluster: its owner wants it left as it is
    plan: FencePlan | None = None
    runs: tuple[Run, ...] = ()  # of the runs that its status lists
    peers: tuple[Peer, ...] = ()  # who could cut it off from its disks
    work: freeing.Workload | None = None  # None: there is no Node
    host: HostSeen = NO_HOST  # its BareMetalHost, where its Machine names one
    storage: Entry = Absent()  # the volumes of the cluster, if somebody asked
    sight: FenceSight | None = None
    kdump: KdumpSeen | None = None  # it says that it dumps its memory
    term: Term | None = None  # None: nobody leads here
    contact_since: Mono | None = None
    is_governed: bool = False  # a Configuration document speaks for the node
    permit: PermitFact | None = None  # of that document
    parked: RepeatsFact | None = None  # by that document
    need: Need | None = None  # that we stated at the last look
    answer: Granted | Refused | None = None  # the budget's
    is_in_sight: bool = True  # the cluster that has the node can be seen
    refusal: Refusal | None = None  # what the API does not let us do
    foredated: ForedatedWord | None = None  # a word on it that was of the future at the last look
    unkept: Unkept | None = None  # what the API would forget of its record

    @property
    def guard(self) -> Guard:
        return Guard(self.fence.uid, self.entry.resource_version)

    @property
    def status(self) -> FenceStatus:
        return self.fence.status

    @property
    def node(self) -> Node | None:
        return self.node_entry.obj if isinstance(self.node_entry, Present) else None

    @property
    def node_guard(self) -> Guard:
        assert isinstance(self.node_entry, Present)
        return Guard(self.node_entry.obj.uid, self.node_entry.resource_version)

    @property
    def name(self) -> str:
        return self.fence.spec.node

    @property
    def is_same_node(self) -> bool:
        """Whether the Node that is there is the one that the flow began with."""
        return self.node is not None and self.node.uid == self.status.node_uid

    @property
    def is_same_boot(self) -> bool:
        return self.is_same_node and self.node is not None and self.node.boot_id == self.status.boot_id

    @property
    def has_booted(self) -> bool:
        """Whether the Node that is there, whatever its uid, shows another boot than the one that the flow is about.

        No Node, or one that names no boot, shows nothing: that boot may still run.
        """
        return self.node is not None and self.node.boot_id not in ("", self.status.boot_id)

    def run(self, job: FenceJob) -> Run | None:
        return next((one for one in self.runs if one.id == job.id), None)

    def methods(self, step: Step) -> tuple[Method, ...]:
        return self.plan.methods(step) if self.plan is not None else ()

    def agent(self, name: str) -> AgentMethod | None:
        """The method of this name, whichever step it is in."""
        found = self.plan.agent_methods if self.plan is not None else ()
        return next((one for one in found if one.name == name), None)


def what_is_waited_for(fence: NodeFence) -> str:
    """One stay in one state, told apart from every other."""
    return f"{fence.uid} {fence.status.state.value} {fence.status.since}"


# --- indexes -----------------------------------------------------------------------------------------------------


def _runs(ref: Ref, fence: NodeFence) -> tuple[str, ...]:
    return tuple(job.id for job in fence.status.jobs)


def _cluster(ref: Ref, fence: NodeFence) -> tuple[str, ...]:
    return (fence.spec.cluster,) if fence.spec.cluster else ()


def _uid(ref: Ref, fence: NodeFence) -> tuple[str, ...]:
    return (fence.uid,)


def _behind(ref: Ref, fence: NodeFence) -> tuple[str, ...]:
    return tuple(machines.in_index(at) for at in machines_behind(fence))


def _all(ref: Ref, fence: NodeFence) -> tuple[str, ...]:
    return (ALL,)


def _to_begin(ref: Ref, fence: NodeFence) -> tuple[str, ...]:
    return (TO_BEGIN,) if not fence.is_begun or fence.status.state is State.ERROR else ()


def _held_for(ref: Ref, host: Host) -> tuple[str, ...]:
    return tuple(uid for uid, _ in host.fenced_for)


INDEXES: tuple[Index, ...] = (
    *machines.INDEXES,
    *claim.INDEXES,
    *hostnames.INDEXES,
    *disks.INDEXES,
    Index(BY_RUN, NODE_FENCE, _runs),
    Index(BY_CLUSTER, NODE_FENCE, _cluster),
    Index(BY_UID, NODE_FENCE, _uid),
    Index(TO_BEGIN, NODE_FENCE, _to_begin),
    Index(HELD_FOR, HOST, _held_for),
    Index(BEHIND, NODE_FENCE, _behind),
    Index(ALL, NODE_FENCE, _all),
)


# --- sees --------------------------------------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> FenceView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    fence: NodeFence = entry.obj
    node_at = fence.spec.node_at
    node = reader.read(node_at)
    target, found = target_of(node_at, reader)
    machine, named = known(found), host_of(node_at, reader)
    plan, kdump = reader.read(plan_ref(node_at)), reader.read(kdump_ref(node_at))
    runs = [reader.read(run_ref(job.id)) for job in fence.status.jobs]
    sight = reader.read(sight_ref(key))
    document = governor(node_at, reader)
    permit = permit_for(document, reader)
    pace = pacing.sees(NAME, key, reader, permit)
    return FenceView(
        ref=key,
        entry=entry,
        fence=fence,
        node_at=node_at,
        node_entry=node,
        target=target,
        claim=claim.see(NAME, target, node_at, reader),
        machine=machine,
        machine_entry=found,
        has_unread_machine=any(isinstance(reader.read(at), Unreadable) for at in machines_behind(fence)),
        unplaced=machines.unplaced(node_at, reader),
        left_alone=leftalone.pause_of_node(node_at, known(node), reader),
        plan=plan.obj if isinstance(plan, Present) else None,
        runs=tuple(found.obj for found in runs if isinstance(found, Present)),
        peers=disks.peers_of(plan.obj, reader) if isinstance(plan, Present) else (),
        work=freeing.sees(node_at, node, reader, pace) if isinstance(node, Present) else None,
        host=held_host(fence, named, reader) or named,
        storage=reader.read(storage_at(node_at)),
        sight=sight.obj if isinstance(sight, Present) else None,
        kdump=kdump.obj if isinstance(kdump, Present) else None,
        term=term(reader),
        contact_since=observer.contact_since(reader),
        is_governed=document is not None,
        permit=permit,
        parked=parked_of(node_at, reader),
        need=stated(target, NAME, reader),
        answer=answer(target, reader),
        is_in_sight=is_in_sight(fence, reader),
        refusal=refusal(NAME, key, reader),
        foredated=foredated.sees(key, reader),
        unkept=unkept(NODE_FENCE, reader),
    )


def named_by(node_at: Ref, reader: Reader) -> tuple[Ref, Entry]:
    """The Machine that names a node; the Node itself where none, or more than one, does."""
    found = machines.at_node(node_at, reader)
    entry = reader.read(found[0]) if len(found) == 1 else Absent()
    return (found[0], entry) if isinstance(entry, Present | Unreadable) else (node_at, Absent())


def target_of(node_at: Ref, reader: Reader) -> tuple[Ref, Entry]:
    """The Machine of a node, as health checks name it; the Node itself where the one that names it is another's."""
    node, (at, entry) = reader.read(node_at), named_by(node_at, reader)
    machine = known(entry)
    if isinstance(node, Present) and machine is not None and not machines.is_own(node.obj, machine):
        return node_at, Absent()
    return at, entry


def machines_behind(fence: NodeFence) -> tuple[Ref, ...]:
    """The Machine that was asked about, by what is on record: whatever has become of it, in whichever kind it was."""
    sort, _, at = fence.requested_by.partition("/")
    name = fence.status.evidence.machine
    if sort != FENCE_REMEDIATION.kind or not name:
        return ()
    return tuple(Ref("", kind, at.partition("/")[0], name) for kind in MACHINE_KINDS)


def held_host(fence: NodeFence, named: HostSeen, reader: Reader) -> HostSeen | None:
    """The host that is held for this fence, where the node's Machine cannot be read, or names another one by now."""
    found = reader.find(HELD_FOR, fence.uid)
    return None if not found or named.at in found else HostSeen(found[0], reader.read(found[0]))


def host_of(node_at: Ref, reader: Reader) -> HostSeen:
    """The host of the Machine that names a node, also where that is another's: a hold of ours may be on it."""
    node, (at, entry) = reader.read(node_at), named_by(node_at, reader)
    if not isinstance(entry, Present):
        return NO_HOST
    return hosts.see(node.obj if isinstance(node, Present) else None, at, entry.obj, reader)


def is_in_sight(fence: NodeFence, reader: Reader) -> bool:
    """A node of this cluster always is; one of another while there is a connection."""
    namespace, _, name = fence.spec.cluster.partition("/")
    if not fence.spec.cluster:
        return True
    entry = reader.read(remote_ref(namespace, name))
    return isinstance(entry, Present) and entry.obj.sight is Sight.SEEN


# --- wakes -------------------------------------------------------------------------------------------------------


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """The NodeFences that an event of this object concerns."""
    if ref.kind == NODE_FENCE:
        return (ref, *(reader.find(HELD_FOR, obj.uid) if obj is not None else ()))
    if ref.kind == RUN:
        return reader.find(BY_RUN, ref.name)
    if ref.kind == UNKEPT:
        return reader.find(ALL, ALL)
    if ref.kind in (PERMIT, OBSERVER):
        return reader.find(TO_BEGIN, TO_BEGIN)
    if ref.kind in (NODE, FENCE_PLAN, KDUMP, MEMBER, REPEATS):
        return of_node(ref, reader)
    if ref.kind in (CLUSTER, REMOTE):
        found = machines.of_cluster(ref, reader) if reader.has(BY_UID) else ()
        there = reader.find(BY_CLUSTER, f"{ref.namespace}/{ref.name}") if ref.kind == REMOTE else ()
        return [*there, *(one for machine in found for one in of_target(machine, reader))]
    if ref.kind == LEASE:
        needs = [reader.read(one) for one in reader.find(claim.BY_LEASE, ref.name)]
        return [one for need in needs if isinstance(need, Present) for one in of_target(need.obj.target, reader)]
    if ref.kind == ANSWER:
        return of_target(obj.target, reader) if obj is not None else ()
    if ref.kind == HOST:
        return of_host(ref, obj, reader)
    if ref.kind == METAL3_MACHINE:
        is_owned = isinstance(obj, Metal3Machine) and obj.owner_machine and reader.has(BY_UID)
        return of_target(consumers.owner_ref(ref, obj.owner_machine), reader) if is_owned else ()
    if ref.kind == LEAVE:
        return (obj.asker,) if obj is not None and obj.room == NAME else ()
    return of_target(ref, reader)


def of_host(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """The node's that its Machine names, and those that hold it; the host itself, where one of these is gone."""
    held_for = [uid for uid, _ in obj.fenced_for] if isinstance(obj, Host) else []
    named = hostnames.naming(ref, reader) if reader.has(BY_UID) else ()
    fences = [one for machine in named for one in of_target(machine, reader)]
    holders = [one for uid in held_for for one in reader.find(BY_UID, uid)]
    return dict.fromkeys([*([ref] if held_for else []), *fences, *holders])


def of_node(ref: Ref, reader: Reader) -> tuple[Ref, ...]:
    """Nodes are many and report often; fences are few."""
    if not reader.has(BY_UID):
        return ()
    at = fence_ref(Ref(ref.cluster, NODE, "", ref.name))
    return (at,) if isinstance(reader.read(at), Present) else ()


def of_target(target: Ref, reader: Reader) -> tuple[Ref, ...]:
    """The NodeFence of a Node, or of the node that a Machine names."""
    if target.kind == NODE:
        return of_node(target, reader)
    if not reader.has(BY_UID):
        return ()
    entry = reader.read(target)
    if not isinstance(entry, Present):
        return tuple(reader.find(BEHIND, machines.in_index(target)))
    node_at = machines.node_at(target, entry.obj, reader)
    return of_node(node_at, reader) if node_at else ()
