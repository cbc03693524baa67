"""What happens to nodes, seen from outside: each repair as a list of steps, each with its moment.

The lab's observer. It looks at the API and at the servers themselves, never at the manager: what it tells is true
even if the manager is wrong. The view and the plain lines show it, `lab/once.py` judges by it.

Rule 1: a step is noted once, at its first moment, in the order in which things really happened.
Rule 2: a repair begins with whatever comes first: a fault, a silent node or a mark. It ends when the node is back,
        has what people had put on it, and the pods that it ran are running.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from noderemedy.model.ids import HOST, MACHINE, NODE
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.kinds import POD
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.server import Kernel, Server
from noderemedy.wire import names


class Step(Enum):
    """The steps of a repair, in the order in which they should happen, in words for a newcomer."""

    BEGUN = "something is wrong"
    NOT_READY = "the Node is not ready any more"
    MARKED = "its Machine is marked for repair"
    HELD = "its host is held off"
    OFF = "power is off: nothing can write"
    BACKED_UP = "labels, annotations, taints are stored"
    FREED = "the Node is deleted: workload is free"
    RELEASED = "the hold on the host is released"
    ON = "power is on, the server boots"
    MOVED = "the workload runs again"
    BACK = "the Node is back and ready"
    RESTORED = "it has its labels and taints again"
    # A machine without a host is not power cycled, but replaced.
    ASKED = "its Machine waits for its owner"
    DELETED = "its Machine is deleted"
    REPLACED = "its successor has joined and is ready"


OF_REPLACEMENT = (
    *(Step.BEGUN, Step.NOT_READY, Step.ASKED, Step.DELETED),
    *(Step.OFF, Step.FREED, Step.MOVED, Step.REPLACED),
)
OF_POWER_CYCLE = tuple(step for step in Step if step not in (Step.ASKED, Step.DELETED, Step.REPLACED))


class Repair:
    """The story of one node, from the first sign of trouble to the end."""

    def __init__(
        self, node: str, begun_ms: int, cause: str, pods: dict[str, str], steps: tuple[Step, ...] = OF_POWER_CYCLE
    ) -> None:
        self.steps = steps
        self.node = node
        self.cause = cause
        self.begun_ms = begun_ms
        self.at: dict[Step, int] = {Step.BEGUN: begun_ms}
        self.pods = pods  # what ran there: name and uid
        self.moved: dict[str, str] = {}  # where that runs now: name and node
        self.calmed_ms: int | None = None  # the node was ready again before anything was done

    def seconds(self, step: Step) -> float | None:
        """When a step came, in seconds after the beginning."""
        return round((self.at[step] - self.begun_ms) / 1000, 3) if step in self.at else None

    @property
    def is_over(self) -> bool:
        return self.is_recovered or self.calmed_ms is not None

    @property
    def is_recovered(self) -> bool:
        last = (Step.BACK, Step.MOVED, Step.RESTORED, Step.REPLACED)
        return all(step in self.at for step in last if step in self.steps)

    @property
    def recovered_s(self) -> float | None:
        """Fault to node ready again, with its workload running."""
        end = Step.BACK if Step.BACK in self.steps else Step.REPLACED
        moments = [self.seconds(end), self.seconds(Step.MOVED)]
        found = [moment for moment in moments if moment is not None]
        return max(found) if len(found) == len(moments) else None


Listener = Callable[[Repair, Step], None]


class Story:
    """Watches a cluster and its servers."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.repairs: list[Repair] = []
        self.on_step: list[Listener] = []
        self._open: dict[str, Repair] = {}
        self._machines = {machine_of(node): node for node in cluster.servers}
        self._hosts = {host_of(node): node for node in cluster.servers}
        cluster.api.subscribe(NODE, self._node)
        cluster.api.subscribe(MACHINE, self._machine)
        cluster.api.subscribe(HOST, self._host)
        cluster.api.subscribe(POD, self._pod)
        self._uids: dict[str, str] = {}  # of Machines of the cloud, and the nodes that they stand for
        self._joined: set[str] = set()
        self._follows: dict[str, str] = {}  # the node of a successor: that of its predecessor
        cluster.provider.on_instance.append(lambda server: server.on_change.append(self._server))
        for server in cluster.servers.values():
            server.on_change.append(self._server)

    def current(self, node: str) -> Repair | None:
        """The repair of a node that is not over."""
        return self._open.get(node)

    def struck(self, node: str, fault: str) -> None:
        """A fault silenced a node, or came on top of another."""
        repair = self._open.get(node)
        if repair is not None:
            repair.cause = f"{repair.cause}, {fault}"
        elif not self._is_heard(node):
            self._begin(node, fault)

    def _begin(self, node: str, cause: str) -> Repair:
        pods = self.cluster.api.list(POD, fields=f"spec.nodeName={node}")
        known = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}
        steps = OF_POWER_CYCLE if node in self.cluster.servers else OF_REPLACEMENT
        repair = Repair(node, self.cluster.agenda.now_ms, cause, known, steps)
        self.repairs.append(repair)
        self._open[node] = repair
        self._tell(repair, Step.BEGUN)
        return repair

    def _note(self, repair: Repair, step: Step) -> None:
        if step not in repair.at:
            repair.at[step] = self.cluster.agenda.now_ms
            self._tell(repair, step)
        if repair.is_over:
            self._open.pop(repair.node, None)

    def _tell(self, repair: Repair, step: Step) -> None:
        for listener in self.on_step:
            listener(repair, step)

    # --- what the API says ------------------------------------------------------------------------------------

    def _node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        if self.cluster.server_of(name) is None:
            return
        if name not in self.cluster.servers and not self._has_joined(event.tree):
            return
        before = self._open.get(self._follows.get(name, ""))
        if before is not None and is_ready(event.tree):
            self._note(before, Step.REPLACED)
        repair = self._open.get(name)
        if event.type == "DELETED":
            repair = repair or self._begin(name, "the Node was deleted")
            self._note(repair, Step.FREED)
            if not repair.pods:
                self._note(repair, Step.MOVED)
        elif not is_ready(event.tree):
            if "status" in event.tree and (repair is None or Step.FREED not in repair.at):
                self._note(repair or self._begin(name, "the Node fell silent"), Step.NOT_READY)
        elif repair is not None and Step.FREED in repair.at:
            self._note(repair, Step.BACK)
            if Step.BACKED_UP not in repair.at:  # deleted by hand: there is nothing to restore
                self._note(repair, Step.RESTORED)
        elif repair is not None:
            self._calm(repair)

    def _calm(self, repair: Repair) -> None:
        """A node that is well again without having been freed, and that nobody wants repaired, needs no repair."""
        api = self.cluster.api
        node = api.find(NODE, repair.node)
        machine = api.find(MACHINE, machine_of(repair.node), NAMESPACE) or {}
        host = api.find(HOST, host_of(repair.node), NAMESPACE) or {}
        is_wanted = names.NEEDS_REMEDIATION in notes_of(machine) or names.REBOOT in notes_of(host)
        has_begun = Step.NOT_READY in repair.at or Step.MARKED in repair.at
        is_well = self._is_heard(repair.node) and node is not None and is_ready(node)
        if has_begun and is_well and not is_wanted and Step.FREED not in repair.at:
            repair.calmed_ms = self.cluster.agenda.now_ms
            self._open.pop(repair.node, None)

    def _machine(self, event: WatchEvent) -> None:
        node = self._machines.get(event.tree["metadata"]["name"])
        if node is None:
            self._instance(event.tree)
            return
        notes = notes_of(event.tree)
        repair = self._open.get(node)
        if names.NEEDS_REMEDIATION in notes:
            self._note(repair or self._begin(node, "somebody marked its Machine"), Step.MARKED)
        if repair is None:
            return
        if names.NODE_BACKUP in notes:
            self._note(repair, Step.BACKED_UP)
        elif Step.BACK in repair.at:
            self._note(repair, Step.RESTORED)
        else:
            self._calm(repair)

    def _instance(self, machine: Tree) -> None:
        """A Machine of the cloud has the name of its node."""
        meta = machine["metadata"]
        self._uids[meta["uid"]] = meta["name"]
        if old := self._uids.get(notes_of(machine).get(names.REPLACES, "")):
            self._follows[meta["name"]] = old
        repair = self._open.get(meta["name"])
        told = machine.get("status", {}).get("conditions", ())
        if repair is not None and any((one["type"], one["status"]) == ("OwnerRemediated", "False") for one in told):
            self._note(repair, Step.ASKED)
        if repair is not None and "deletionTimestamp" in meta:
            self._note(repair, Step.DELETED)

    def _has_joined(self, node: Tree) -> bool:
        """Whether an instance was ready once: one that is still joining needs no repair."""
        if is_ready(node):
            self._joined.add(node["metadata"]["name"])
        return node["metadata"]["name"] in self._joined

    def _is_heard(self, node: str) -> bool:
        server = self.cluster.server_of(node)
        return server is not None and server.is_heard

    def _host(self, event: WatchEvent) -> None:
        repair = self._open.get(self._hosts.get(event.tree["metadata"]["name"], ""))
        if repair is None:
            return
        notes = notes_of(event.tree)
        if names.REBOOT in notes:
            self._note(repair, Step.HELD)
        elif Step.HELD in repair.at:
            self._note(repair, Step.RELEASED)
            self._calm(repair)

    def _pod(self, event: WatchEvent) -> None:
        """The workload has moved when other pods of the same names run."""
        for repair in [item for item in self._open.values() if event.tree["metadata"]["name"] in item.pods]:
            if Step.FREED in repair.at and Step.MOVED not in repair.at:
                repair.moved = self._anew(repair.pods)
                if len(repair.moved) == len(repair.pods):
                    self._note(repair, Step.MOVED)

    def _anew(self, old_uids: dict[str, str]) -> dict[str, str]:
        """Which of these pods run again, as other objects, and where."""
        found = [pod for name in old_uids for pod in self.cluster.api.list(POD, fields=f"metadata.name={name}")]
        anew = [pod for pod in found if is_running(pod) and pod["metadata"]["uid"] not in old_uids.values()]
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in anew}

    # --- what is true -------------------------------------------------------------------------------------------

    def _server(self, server: Server) -> None:
        repair = self._open.get(server.name)
        if repair is None:
            return
        if not server.has_power:
            self._note(repair, Step.OFF)
        elif Step.OFF in repair.at and server.kernel is Kernel.DOWN:
            self._note(repair, Step.ON)


def notes_of(tree: Tree) -> dict[str, str]:
    return tree.get("metadata", {}).get("annotations") or {}


def is_ready(node: Tree) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def is_running(pod: Tree) -> bool:
    return bool(pod.get("status", {}).get("phase") == "Running")
