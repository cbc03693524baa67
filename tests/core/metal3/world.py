"""A very small world around one Machine: an interpreter of actions, a baremetal operator and a kubelet.

Pure and synchronous; used by the fixpoint tests. The API's objects are what rooms read; `is_running` is the truth
about the host, which the objects may lag behind. An action whose guard does not fit is a failed assertion.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import EVERYBODY, HOST_AT, MACHINE_AT, NODE_AT, NOW, PROVIDER_ID, later

from noderemedy.core.claim import BY_LEASE
from noderemedy.core.hostnames import BETWEEN_BY_HOST, BY_HOST, BY_OWNER
from noderemedy.model.actions import (
    Action,
    AddRebootAnnotation,
    BackUpNode,
    ClaimRepair,
    Confirm,
    CreateJob,
    CreateMachine,
    CreateNodeFence,
    CreateRequest,
    DeleteNode,
    DescribeAgent,
    DropBackup,
    Guard,
    ListPods,
    ListStorage,
    ListVolumes,
    OpenIncident,
    RecordSight,
    RemoveRebootAnnotation,
    RemoveRemediationAnnotation,
    RestoreNode,
)
from noderemedy.model.budget import ANSWER, Granted, Need
from noderemedy.model.decision import Decision
from noderemedy.model.host import Host, Power
from noderemedy.model.ids import Ref
from noderemedy.model.lease import Lease
from noderemedy.model.machine import Machine
from noderemedy.model.node import Condition, Node, Taint
from noderemedy.model.room import Absent, Entry, Present
from noderemedy.model.time import Mono, Now


def restored(node: Node, write: RestoreNode) -> Node:
    """The node after a restore was written: a merge patch of maps, and whole lists."""
    return replace(
        node,
        labels=tuple(sorted({**dict(node.labels), **dict(write.labels)}.items())),
        annotations=tuple(sorted({**dict(node.annotations), **dict(write.annotations)}.items())),
        taints=write.taints,
        unschedulable=node.unschedulable or write.unschedulable,
    )


class World:
    """The objects of one machine, who last read them live, and what is true."""

    def __init__(self, objects: dict[Ref, Any], *, is_running: bool) -> None:
        self.objects = {at: obj for at, obj in objects.items() if obj is not None}
        self.is_running = is_running
        self.now: Now = NOW
        self.deleted: list[DeleteNode] = []
        self._versions = dict.fromkeys(objects, 1)
        self._confirmed: dict[Ref, Mono] = {}
        self._changed: dict[Ref, Mono] = {}
        self._facts: dict[Ref, dict[Ref, Any]] = {}  # what each key states
        self._boots = 0

    # --- what rooms read -----------------------------------------------------------------------------------------

    def read(self, ref: Ref) -> Entry:
        if ref.kind == ANSWER:
            needs = [one for facts in self._facts.values() for one in facts.values() if isinstance(one, Need)]
            begins = tuple(one.begins for one in needs if one.begins)
            return Present(Granted(MACHINE_AT, NOW.wall, begins, EVERYBODY), "", NOW.mono)
        for facts in self._facts.values():
            if ref in facts:
                return Present(facts[ref], "", NOW.mono)
        confirmed_at = self._confirmed.get(ref)
        if ref not in self.objects:
            return Absent(confirmed_at)
        changed_at = self._changed.get(ref, Mono(0))
        return Present(self.objects[ref], str(self._versions[ref]), NOW.mono, confirmed_at, changed_at)

    def find(self, index: str, value: str) -> tuple[Ref, ...]:
        if index in (BY_LEASE, BY_HOST, BETWEEN_BY_HOST, BY_OWNER):
            return ()  # nobody else has a need, or names the host
        raise NotImplementedError("the tests of this world look at every key")

    def tally(self, index: str, value: str) -> int:
        return 0  # nobody else has a need

    def has(self, index: str) -> bool:
        raise NotImplementedError("the tests of this world look at every key")

    # --- what they ask for ---------------------------------------------------------------------------------------

    def apply(self, action: Action) -> None:
        if isinstance(action, Confirm | ListPods | ListVolumes | ListStorage):
            self._confirmed[action.ref] = self.now.mono
            return
        assert not isinstance(action, CreateRequest | CreateMachine | OpenIncident), "not done in this world"
        assert not isinstance(action, CreateNodeFence | DescribeAgent | CreateJob), "not done in this world"
        if action.guard is not None:
            self._demand(action.ref, action.guard)
        match action:
            case ClaimRepair(ref, guard, holder):
                assert (guard is None) == (ref not in self.objects)
                self.put(ref, Lease("lease-uid-1", holder, str(self.now.wall)))
            case AddRebootAnnotation(ref, _, hold):
                self.put(ref, replace(self.objects[ref], held=True, hold=hold))
            case RecordSight(ref, _, hold):
                self.put(ref, replace(self.objects[ref], hold=hold))
            case RemoveRebootAnnotation(ref):
                self.put(ref, replace(self.objects[ref], held=False, hold=None))
            case BackUpNode(ref, _, backup, deleted_at):
                self.put(ref, replace(self.objects[ref], backup=backup, node_deleted_at=deleted_at))
            case DropBackup(ref):
                self.put(ref, replace(self.objects[ref], backup=None, node_deleted_at=None))
            case RemoveRemediationAnnotation(ref):
                self.put(ref, replace(self.objects[ref], needs_remediation=False))
            case RestoreNode(ref):
                self.put(ref, restored(self.objects[ref], action))
            case DeleteNode(ref):
                assert not self.is_running, "a node was deleted while its host was running"
                self.deleted.append(action)
                del self.objects[ref]
            case _:
                raise NotImplementedError("there are no health checks, no requests and no pods in this world")
        self._confirmed[action.ref] = self.now.mono

    def state(self, key: Ref, decision: Decision) -> None:
        """Keep what a key states, as the engine does."""
        self._facts[key] = {fact.ref: fact.value for fact in decision.facts}

    def put(self, ref: Ref, obj: Any) -> None:
        self.objects[ref] = obj
        self._versions[ref] = self._versions.get(ref, 0) + 1
        self._changed[ref] = self.now.mono

    def _demand(self, ref: Ref, guard: Guard) -> None:
        assert self.objects[ref].uid == guard.uid, f"{ref} is another object"
        assert guard.resource_version in ("", str(self._versions[ref])), f"{ref} was decided on an old view"

    # --- everybody else ------------------------------------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        self.now = later(seconds, self.now)

    def switch(self) -> bool:
        """The baremetal operator makes the truth follow what is wanted; whether it had to."""
        host = self.objects.get(HOST_AT)
        if not isinstance(host, Host) or host.paused or host.detached:
            return False
        wanted = host.online and not host.held
        if self.is_running == wanted or (not wanted and host.power_off_disabled):
            return False
        self.is_running = wanted
        return True

    def report(self) -> bool:
        """The baremetal operator writes the truth into the host's status."""
        host = self.objects.get(HOST_AT)
        power = Power.ON if self.is_running else Power.OFF
        if not isinstance(host, Host) or host.paused or host.detached or host.power is power:
            return False
        self.put(HOST_AT, replace(host, power=power))
        return True

    def fall_silent(self) -> bool:
        """Kubernetes notices that nobody reports for the Node any more."""
        node = self.objects.get(NODE_AT)
        if self.is_running or not isinstance(node, Node) or not node.is_heard:
            return False
        self.put(NODE_AT, replace(node, conditions=(Condition("Ready", "Unknown", self.now.wall),)))
        return True

    def register(self) -> bool:
        """A kubelet on a running host makes its Node anew, with the labels that it knows itself."""
        machine = self.objects.get(MACHINE_AT)
        if NODE_AT in self.objects or not self.is_running or not isinstance(machine, Machine):
            return False
        self._boots += 1
        unreachable = (Taint("node.kubernetes.io/not-ready", "NoSchedule"),)
        fresh = Node(f"node-of-boot-{self._boots}", f"fresh-boot-{self._boots}", PROVIDER_ID, taints=unreachable)
        self.put(NODE_AT, replace(fresh, labels=(("kubernetes.io/hostname", NODE_AT.name),)))
        return True

    def finalize(self) -> bool:
        """Whoever owns the finalizers of a Node on its way out is done."""
        node = self.objects.get(NODE_AT)
        if isinstance(node, Node) and node.deleting:
            del self.objects[NODE_AT]
            return True
        return False
