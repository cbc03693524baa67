"""What the reference owner may judge by: one Machine, its Node with the pods on it, and its successor.

A Machine concerns this room if it waits for an owner (OwnerRemediated=False) and has no controller, or if it carries a
record of ours. All others are nobody's business here.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from noderemedy.core import claim, machines, pacing, traces
from noderemedy.core.claim import Claim
from noderemedy.core.pacing import UNLIMITED, Pace
from noderemedy.core.traces import Told
from noderemedy.model.budget import ANSWER, Granted, Need, Refused, answer, stated
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import CLUSTER, INCIDENT, LEASE, MACHINE, NODE, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.machineconditions import HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED
from noderemedy.model.node import Node
from noderemedy.model.pace import LEAVE
from noderemedy.model.refusal import Refusal, refusal
from noderemedy.model.remote import REMOTE
from noderemedy.model.replacement import Replacement, Step, successor_name
from noderemedy.model.room import Absent, Entry, Index, Present, Reader
from noderemedy.model.time import Wall
from noderemedy.model.workload import PodsOfNode, kept_at, pods_at

NAME = "owner"
OURS, FINALIZER = "node-remedy", "node-remedy.dev/owner"
BY_SUCCESSOR = "machines by successor"
WATCHES = (MACHINE, NODE, REMOTE, CLUSTER, LEASE, ANSWER, INCIDENT, LEAVE)


class View(Struct, frozen=True):
    """A Machine that is to be replaced, or is being so."""

    ref: Ref
    entry: Present
    machine: Machine
    successor_at: Ref
    successor: Entry
    claim: Claim
    node_at: Ref | None = None
    node_entry: Entry = Absent()
    pods_entry: Entry = Absent()
    cluster: Cluster | None = None
    answer: Granted | Refused | None = None
    need: Need | None = None  # that we stated at the last look
    told: Told = Told()  # what its Incident tells
    pace: Pace = UNLIMITED
    refusal: Refusal | None = None  # what the API will not let us do
    kept: tuple[
        tuple[Ref, str], ...
    ] = ()  # pods that their disruption budgets kept when they were asked to go, and why

    @property
    def node(self) -> Node | None:
        """The machine's own Node: one that carries its name and is another machine's is none of ours."""
        entry = self.node_entry
        if not isinstance(entry, Present) or not machines.is_own(entry.obj, self.machine):
            return None
        node: Node = entry.obj
        return node

    @property
    def pods(self) -> PodsOfNode | None:
        return self.pods_entry.obj if isinstance(self.pods_entry, Present) else None

    @property
    def record(self) -> Replacement | None:
        return self.machine.replacement if isinstance(self.machine.replacement, Replacement) else None

    @property
    def begins(self) -> str:
        """The deletion that is ahead, told apart from every other one; "" before its turn."""
        record = self.record
        return f"{self.machine.uid} {record.begun}" if record is not None and record.step is Step.DELETE else ""

    @property
    def is_asked(self) -> bool:
        """Whether somebody says that its owner has to act, and no health check says that it is well again."""
        asked, health = (self.machine.told.find(one) for one in (OWNER_REMEDIATED, HEALTH_CHECK_SUCCEEDED))
        is_well = health is not None and health.status == "True"
        return asked is not None and asked.status == "False" and not is_well

    @property
    def is_ours(self) -> bool:
        """Whether we are the one to act: named, and nobody else replaces it."""
        return self.machine.owner == OURS and self.machine.controller is None

    @property
    def asked_since(self) -> Wall:
        told = (*self.machine.conditions, *self.machine.older_conditions)
        since = [one.since for one in told if one.type == OWNER_REMEDIATED and one.since]
        return min(since) if since else self.machine.created or Wall(0)

    @property
    def keepers(self) -> tuple[str, ...]:
        """Whoever else keeps the Machine from going."""
        return tuple(one for one in self.machine.finalizers if one != FINALIZER)


def sees(key: Ref, reader: Reader) -> View | None:
    """Everything about this Machine that the room may judge by; None where there is nothing to judge."""
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    machine: Machine = entry.obj
    if not is_of_interest(machine):
        return None
    node_at = machines.node_at(key, machine, reader)
    next_at = successor_at(key, machine)
    pods_entry = reader.read(pods_at(node_at)) if node_at else Absent()
    return View(
        ref=key,
        entry=entry,
        machine=machine,
        successor_at=next_at,
        successor=reader.read(next_at),
        claim=claim.see(NAME, key, node_at, reader),
        node_at=node_at,
        node_entry=reader.read(node_at) if node_at else Absent(),
        pods_entry=pods_entry,
        cluster=machines.owning_cluster(key, machine, reader),
        answer=answer(key, reader),
        need=stated(key, NAME, reader),
        told=traces.see(NAME, key, machine.uid, reader),
        pace=pacing.sees(NAME, key, reader),
        refusal=refusal(NAME, key, reader),
        kept=kept_of(pods_entry, reader),
    )


def kept_of(pods: Entry, reader: Reader) -> tuple[tuple[Ref, str], ...]:
    """What the API said of the pods of a list when they were last asked to go."""
    listed = pods.obj.pods if isinstance(pods, Present) else ()
    asked = ((at, reader.read(kept_at(at))) for at, pod in listed if not pod.deleting)
    return tuple((at, entry.obj.why) for at, entry in asked if isinstance(entry, Present))


def is_of_interest(machine: Machine) -> bool:
    """Whether it is being replaced, or somebody asks its owner to, and the owner may be us."""
    is_begun = machine.replacement is not None or FINALIZER in machine.finalizers
    return is_begun or (machine.controller is None and machine.told.find(OWNER_REMEDIATED) is not None)


def successor_at(key: Ref, machine: Machine) -> Ref:
    """Where the successor is, or will be: as recorded, else by the only name that it can have."""
    record = machine.replacement
    name = record.name if isinstance(record, Replacement) else ""
    name = name or successor_name(key.name, machine.uid, bool(machine.replaces))
    return Ref(key.cluster, MACHINE, key.namespace, name)


# --- whom an event concerns --------------------------------------------------------------------------------------


def wakes(ref: Ref, obj: Any, reader: Reader) -> tuple[Ref, ...]:
    """A Machine concerns itself and the one that it follows; a Node, a cluster, a claim, an answer their machines."""
    if ref.kind == MACHINE:
        own = (ref,) if obj is None or is_of_interest(obj) else ()
        return (*own, *(reader.find(BY_SUCCESSOR, f"{ref.namespace}/{ref.name}") if reader.has(BY_SUCCESSOR) else ()))
    if ref.kind == NODE:
        return tuple(one for one in machines.at_node(ref, reader) if is_in_our_hands(one, reader))
    if ref.kind in (CLUSTER, REMOTE):
        return machines.of_cluster(ref, reader)
    if ref.kind == LEASE:
        return claimants(ref, reader)
    if ref.kind == INCIDENT:
        return traces.waiting(NAME, obj, reader)
    if ref.kind == LEAVE and obj is not None and obj.room == NAME:
        return (obj.asker,)
    if ref.kind == ANSWER and obj is not None and obj.target.kind == MACHINE:
        return (obj.target,)
    return ()


def is_in_our_hands(at: Ref, reader: Reader) -> bool:
    entry = reader.read(at) if at.kind == MACHINE else None
    return isinstance(entry, Present) and is_of_interest(entry.obj)


def claimants(lease: Ref, reader: Reader) -> tuple[Ref, ...]:
    """The machines whose repair a Lease is about."""
    needs = [reader.read(need) for need in reader.find(claim.BY_LEASE, lease.name)]
    targets = [entry.obj.target for entry in needs if isinstance(entry, Present)]
    return tuple(target for target in targets if target.kind == MACHINE)


def _successor(ref: Ref, machine: Machine) -> tuple[str, ...]:
    record = machine.replacement
    return (f"{ref.namespace}/{record.name}",) if isinstance(record, Replacement) else ()


INDEXES: tuple[Index, ...] = (
    *machines.INDEXES,
    *claim.INDEXES,
    *traces.INDEXES,
    Index(BY_SUCCESSOR, MACHINE, _successor),
)
