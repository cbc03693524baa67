"""A story of one node that is fenced: the real rooms and engine, the simulated API, plugs that may lie, virtual time.

The truth is kept here: which plugs are on, which boot runs. Every act that frees is held against it at once (S1).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, RESOURCES, later
from tests.core.fencing.fences import FENCE_AT, a_plan

from noderemedy import crds
from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.budget import spec as budget_spec
from noderemedy.core.fencing import fence, request
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import DeleteNode, DeletePod, DetachVolume, StartRun, TaintOutOfService
from noderemedy.model.fenceplan import FencePlan, plan_ref
from noderemedy.model.ids import HOST, MACHINE, NODE, NODE_FENCE, SYSTEM, Kind, Ref
from noderemedy.model.kdump import KdumpSeen, kdump_ref
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.outcome import Done, Outcome, Seen
from noderemedy.model.proof import StorageFenced
from noderemedy.model.room import Present, Room
from noderemedy.model.run import Deed, Order, Power, Result, Run, RunState, run_ref
from noderemedy.model.time import Mono, Now, Span
from noderemedy.model.workload import POD
from noderemedy.rooms import watched
from noderemedy.sim.apiserver import ADMIN, ApiServer
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.garbling import GARBLED, NO_TEXT
from noderemedy.wire.answers import outcome
from noderemedy.wire.names import MACHINE_HOST
from noderemedy.wire.objects import Undecodable, convert
from noderemedy.wire.requests import render

ROOMS = (fence.ROOM, request.ROOM, health.ROOM, budget.ROOM, budget_spec.ROOM)
FREEING = (DeletePod, DetachVolume, TaintOutOfService, DeleteNode)
SILENT_AFTER, BOOT_TAKES = 40, 30
SWITCH = "fence_brocade"  # a switch of the storage network: the node runs on without it
Behaviour = Callable[["Story", Order], tuple[RunState, Power, str]]


def plug_of(order: Order) -> str:
    """What an order is about: the plug that it names, or all that its agent has."""
    return dict(order.parameters).get("plug", order.agent)


def obeys(story: Story, order: Order) -> tuple[RunState, Power, str]:
    """A device that does what it is told, and tells what is."""
    plug = plug_of(order)
    if order.deed is not Deed.STATUS:
        story.plugs[plug] = order.deed is Deed.ON
    power = Power.ON if story.plugs[plug] else Power.OFF
    return RunState.DONE, power, ""


def refuses(story: Story, order: Order) -> tuple[RunState, Power, str]:
    return RunState.FAILED, Power.UNKNOWN, "credentials refused"


def a_tree(name: str, ready: str, boot: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": str(NOW.wall)}
    info = {"bootID": boot, "kubeletVersion": "v1.31.0"}
    metadata = {"name": name, "labels": {"rack": "1"}}
    return {"metadata": metadata, "status": {"conditions": [condition], "nodeInfo": info}}


def is_served(api: ApiServer, kind: Kind) -> bool:
    """Whether the simulated API knows this kind."""
    try:
        return api.resources.of(kind) is not None
    except ApiError:
        return False


class Story:
    """One node, its plugs, and a manager that may die."""

    rooms: tuple[Room, ...] = ROOMS

    def __init__(self, plan: FencePlan | None = None, *, plugs: tuple[str, ...] = ("fence_ipmilan",)) -> None:
        self.now: Now = NOW
        self.token = 7
        self.plan = plan or a_plan()
        self.plugs = dict.fromkeys(plugs, True)
        self.devices: dict[str, Behaviour] = {}
        self.takes = 5  # seconds that a device needs
        self.waits = 0  # seconds before a device is asked: a lane, the image of a Job
        self.is_wired_right = True  # the plugs of the configuration are those of the node
        self.elsewhere = {SWITCH}  # the node runs on without these
        self.is_hung = True  # runs, and does not report
        self.is_dead = False  # it has power, and does not boot
        self.boots = 1
        self.orders: list[tuple[str, str]] = []
        self.sent: list[tuple[str, str]] = []  # the same by the plugs that were meant
        self.acts: list[str] = []
        self.told: list[str] = []
        self.freed_early: list[str] = []
        self.is_attested_truly = False
        self.has_host = False
        self.has_manager = True
        self.dies_after: int | None = None  # so many writes and orders
        self._pending: list[tuple[int, Order, int]] = []
        self._took: dict[str, Span] = {}
        self._changes: list[tuple[int, Callable[[], None]]] = []
        self._running = True
        self.api = ApiServer(wall=lambda: self.now.wall, chance=random.Random(1))
        for tree in crds.every():
            self.api.create(tree)
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "metal"}})
        self._register("True", "boot-1")
        self._others()
        self.start()

    def _others(self) -> None:
        """Nodes that are well: one sick node is no storm."""
        for number in (1, 2, 3):
            self._created(a_tree(f"other-{number}", "True", "boot-1"))

    def _created(self, tree: dict[str, Any]) -> None:
        self.api.create({"apiVersion": "v1", "kind": "Node", **tree})
        self.api.patch(NODE, tree["metadata"]["name"], "", {"status": tree["status"]}, "merge", subresource="status")

    # --- the manager ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """A manager starts: it knows what the API says, and nothing else."""
        self.engine = Engine(self.rooms)
        for kind in watched(self.rooms):
            if not is_served(self.api, kind):
                self.engine.unserved(kind, self.now)
                continue
            self.engine.listing(kind, self.now)
            for tree in self.api.list(kind):
                self._seen(self.engine, kind, tree)
            self.api.subscribe(kind, self._watch(kind, self.engine))
            self.engine.listed(kind, self.now)
        self.configure(self.plan)

    def _watch(self, kind: Any, engine: Engine) -> Callable[[Any], None]:
        def event(found: Any) -> None:
            if found.type in ("ADDED", "MODIFIED"):
                self._seen(engine, kind, found.tree)
            elif found.type == "DELETED":
                meta = found.tree["metadata"]
                at = Ref("", kind, meta.get("namespace", ""), meta["name"])
                engine.gone(Seen(at, meta["uid"], meta["resourceVersion"], None), self.now)

        return event

    def _seen(self, engine: Engine, kind: Kind, tree: dict[str, Any]) -> None:
        try:
            engine.seen(convert(kind, tree), self.now)
        except Undecodable as problem:
            meta = tree["metadata"]
            at = Ref("", kind, meta.get("namespace", ""), meta["name"])
            engine.unreadable(at, meta["uid"], meta["resourceVersion"], str(problem), self.now)

    def configure(self, plan: FencePlan) -> None:
        self.plan = plan
        self.engine.seen(Seen(plan_ref(NODE_AT), "", "", plan), self.now)

    def dies(self) -> None:
        """Another manager leads; what this one had begun goes on by itself, and nobody tells of it."""
        self.token += 1
        self.start()

    def unattended(self, seconds: int) -> None:
        """No manager for so long, then another one; the world goes on."""
        self.has_manager = False
        self.run(seconds)
        self.has_manager = True
        self.dies()

    # --- what people do ------------------------------------------------------------------------------------------

    def ask(self, **spec: Any) -> None:
        body = {"node": NODE_AT.name, "powerManagementDelay": "0s", **spec}
        self.api.create(
            {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": FENCE_AT.name}, "spec": body}
        )

    def patch(self, at: Ref, body: Any) -> None:
        self.api.patch(at.kind, at.name, at.namespace, body, "merge")

    def hang(self) -> None:
        """The node runs and is not heard any more."""
        self.ready("Unknown")

    def dumps(self, first: Mono) -> None:
        """A kdump message of the node comes in."""
        seen = KdumpSeen(NODE_AT, first, self.now.mono)
        self.engine.seen(Seen(kdump_ref(NODE_AT), "", "", seen), self.now)

    def pods(self, *names: str, **spec: Any) -> None:
        for name in names:
            self.api.create(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": name, "namespace": "default"},
                    "spec": {"nodeName": NODE_AT.name, "containers": [{"name": "c", "image": "i"}], **spec},
                }
            )

    # --- the truth -----------------------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        return any(on for plug, on in self.plugs.items() if plug not in self.elsewhere) or not self.is_wired_right

    def _register(self, ready: str, boot: str) -> None:
        self._created(a_tree(NODE_AT.name, ready, boot))

    def ready(self, status: str, boot: str | None = None) -> None:
        if self.api.find(NODE, NODE_AT.name) is None:
            if status != "Unknown":  # only a kubelet makes its Node; Unknown is said of one that is there
                self._register(status, boot or f"boot-{self.boots}")
            return
        condition = {"type": "Ready", "status": status, "lastTransitionTime": str(self.now.wall)}
        info = {"nodeInfo": {"bootID": boot}} if boot else {}
        body = {"status": {"conditions": [condition], **info}}
        self.api.patch(NODE, NODE_AT.name, "", body, "merge", subresource="status")

    def _power_follows(self) -> None:
        if self._running and not self.is_on:
            self._running = False
            self.after(SILENT_AFTER, lambda: self.ready("Unknown") if not self._running else None)
        elif not self._running and self.is_on:
            self._running = True
            self.after(BOOT_TAKES, self.boot)

    def boot(self) -> None:
        if self._running and not self.is_dead:
            self.boots += 1
            self.ready("True", f"boot-{self.boots}")

    def after(self, seconds: int, what: Callable[[], None]) -> None:
        self._changes.append((self.now.mono.ms + seconds * 1000, what))

    def garble(self, at: Ref) -> None:
        """An object that no client can decode, past the API server, until `mend`."""
        tree = self.api.get(at.kind, at.name, at.namespace)
        notes = {**(tree["metadata"].get("annotations") or {}), GARBLED: NO_TEXT}
        self.api.store_unjudged({**tree, "metadata": {**tree["metadata"], "annotations": notes}})

    def mend(self, at: Ref) -> None:
        self.patch(at, {"metadata": {"annotations": {GARBLED: None}}})

    # --- time ----------------------------------------------------------------------------------------------------

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now = later(1, self.now)
            self._devices_act()
            due = [one for one in self._changes if one[0] <= self.now.mono.ms]
            self._changes = [one for one in self._changes if one[0] > self.now.mono.ms]
            for _, change in due:
                change()
            self._gone_pods()
            if self.has_host:
                self._operate()
            if self.has_manager:
                self._step()

    def is_final(self) -> bool:
        return self.state == "final"

    def run_until(self, is_so: Callable[[], bool], seconds: int = 3_600) -> None:
        for _ in range(seconds):
            if is_so():
                return
            self.run(1)
        raise AssertionError(f"not so after {seconds} s: {self.status.state} {self.told[-5:]}")

    def _step(self) -> None:
        for _ in range(40):
            output = self.engine.step(self.now, self.token)
            self.told += [type(notice.reason).__name__ for notice in output.notices]
            if not output.effects:
                return
            for effect in output.effects:
                more: Any = effect
                while more is not None:
                    told = self._carry_out(more)
                    if self.dies_after is not None and len(self.acts) + len(self.orders) > self.dies_after:
                        self.dies_after = None
                        self.dies()  # it was done, and nobody learns of it
                        return
                    more = self.engine.ended(more, told, self.now)

    def _carry_out(self, effect: Any) -> Outcome:
        action = effect.action
        if isinstance(action, StartRun):
            return self._start(replace(action.order, token=effect.token))
        if isinstance(action, FREEING) and not self._is_safe(action):
            self.freed_early.append(type(action).__name__)
        sent = render(action, effect.token, RESOURCES)
        if sent.method != "GET":
            self.acts.append(type(action).__name__)
        return outcome(effect, self.api.handle(sent, ADMIN), self.now.mono)

    def _is_safe(self, action: Any) -> bool:
        """Whether this may go: the node is off, or the switch keeps it from what the proof covers (S1)."""
        if isinstance(action.proof, StorageFenced):
            return not self.plugs[SWITCH]
        return self.is_attested_truly or not (self.is_on and self._running)

    def _start(self, order: Order) -> Outcome:
        self.orders.append((order.method, order.deed.value))
        self.sent.append((plug_of(order), order.deed.value))
        self._pending.append((self.now.mono.ms + (self.waits + self.takes) * 1000, order, self.token))
        self._took[order.id] = Span.seconds(self.takes)
        run = Run(order.id, RunState.RUNNING, begun=self.now.mono)
        self.engine.seen(Seen(run_ref(order.id), "", "", run), self.now)
        return Done(self.now.mono)

    def _devices_act(self) -> None:
        due = [one for one in self._pending if one[0] <= self.now.mono.ms]
        self._pending = [one for one in self._pending if one[0] > self.now.mono.ms]
        for _, order, token in due:
            state, power, said = self.devices.get(order.agent, obeys)(self, order)
            self._power_follows()
            entry = self.engine.cache.read(run_ref(order.id))
            if token == self.token:
                assert isinstance(entry, Present)
                run = entry.obj.ended(Result(state, power, said, took=self._took[order.id]), self.now.mono)
                self.engine.seen(Seen(run_ref(order.id), "", "", run), self.now)

    def _gone_pods(self) -> None:
        """Kubernetes removes the pods of a node that is out of service."""
        node = self.api.find(NODE, NODE_AT.name)
        taints = (node or {}).get("spec", {}).get("taints", [])
        if any(taint["key"] == "node.kubernetes.io/out-of-service" for taint in taints):
            for pod in self.api.list(POD):
                self.api.delete(POD, pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)

    # --- what is there -------------------------------------------------------------------------------------------

    @property
    def fence(self) -> NodeFence:
        found = convert(NODE_FENCE, self.api.get(NODE_FENCE, FENCE_AT.name)).obj
        assert isinstance(found, NodeFence)
        return found

    @property
    def status(self) -> Any:
        return self.fence.status

    @property
    def state(self) -> str:
        return str(self.status.state.value)

    def node(self) -> dict[str, Any]:
        return self.api.get(NODE, NODE_AT.name)

    def machine(self, name: str = "worker-0", provider_id: str = "") -> None:
        """The Machine of the node, of Cluster API; both know which instance it is, if there is one."""
        tree: dict[str, Any] = {
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "metadata": {"name": name, "namespace": "metal"},
            "spec": {"clusterName": "prod", "bootstrap": {"dataSecretName": "x"}, "infrastructureRef": {}},
        }
        if provider_id:
            tree["spec"]["providerID"] = provider_id
            self.patch(NODE_AT, {"spec": {"providerID": provider_id}})
        self.api.create(tree)
        body = {"status": {"nodeRef": {"name": NODE_AT.name}}}
        self.api.patch(MACHINE, name, "metal", body, "merge", subresource="status")

    def bare_metal(self, **host: Any) -> None:
        """The Machine has a BareMetalHost, and an operator that powers it by its holds."""
        self.machine()
        self.has_host = True
        consumer = {
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "name": "worker-0",
            "namespace": "metal",
        }
        self.api.create(
            {
                "apiVersion": "metal3.io/v1alpha1",
                "kind": "BareMetalHost",
                "metadata": {"name": "rack-1", "namespace": "metal"},
                "spec": {"online": True, "consumerRef": consumer, **host},
            }
        )
        self._powered(True)
        self.patch(Ref("", MACHINE, "metal", "worker-0"), {"metadata": {"annotations": {MACHINE_HOST: "metal/rack-1"}}})

    def goes_off_by_itself(self) -> None:
        """The host loses its power, and its operator says so."""
        self.plugs["host"] = False
        self._powered(False)
        self._power_follows()
        self.has_host = False

    def comes_on_by_itself(self, plug: str) -> None:
        """Somebody presses a button."""
        self.plugs[plug] = True
        self._power_follows()

    def _powered(self, is_on: bool) -> None:
        status = {"poweredOn": is_on, "provisioning": {"state": "provisioned"}}
        self.api.patch(HOST, "rack-1", "metal", {"status": status}, "merge", subresource="status")

    def _operate(self) -> None:
        """The baremetal operator: held is off, else on; it takes a while to notice."""
        host = self.api.get(HOST, "rack-1", "metal")
        notes = host["metadata"].get("annotations", {})
        is_held = any(key.startswith("reboot.metal3.io/") for key in notes)
        if host["status"]["poweredOn"] == is_held and self.now.mono.ms % 20_000 == 0:
            self.plugs["host"] = not is_held
            self._powered(not is_held)
            self._power_follows()
