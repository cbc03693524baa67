"""S8: of a Machine that is paused by Cluster API nothing is written but status, and no device is switched.

By `cluster.x-k8s.io/paused` on the Machine, or with its whole Cluster. Neither the Machine, its host, its Node with
pods and volumes, nor its requests and its fence. A manager may learn of a pause late, by minutes; and of a Machine that
cannot be read nobody knows whose it is. `conduct.py` and `fencecheckers.py` own one each.
"""

from __future__ import annotations

from noderemedy.model.ids import CLUSTER, NODE, REMEDIATION, ref
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.run import Deed
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.clusterpauses import has_cluster, is_paused
from noderemedy.sim.freshness import node_given_up
from noderemedy.sim.garbling import is_garbled
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.outlets import Sent
from noderemedy.sim.process import Process
from noderemedy.wire import names
from noderemedy.wire.http import Request


class Pausing:
    """Watches Machines, requests of managers and commands to devices from outside."""

    def __init__(self, checkers: Checkers, processes: list[Process]) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self._machine_of = {name: machine_of(node) for node in self.cluster.servers for name in names_of(node)}
        self._paused: dict[str, int] = {}  # Machines, since when
        self._clusters: dict[str, int] = {}  # and Clusters
        self._cluster_of: dict[str, str] = {}  # of each Machine
        api, machine = self.cluster.api, self.cluster.dialect.machine
        for tree in api.list(machine):
            self._machine(WatchEvent("ADDED", tree))
        api.subscribe(machine, self._machine)
        if has_cluster(self.cluster):
            api.subscribe(CLUSTER, self._whole_cluster)
        self.cluster.outlets.on_sent.append(self._sent)
        for process in processes:
            process.on_request.append(self._requested)

    def _machine(self, event: WatchEvent) -> None:
        name, notes = event.tree["metadata"]["name"], event.tree["metadata"].get("annotations") or {}
        is_known = event.type != "DELETED" and not is_garbled(event.tree)
        if not is_known:
            self._cluster_of.pop(name, None)
        elif name not in self._cluster_of:
            self._cluster_of[name] = event.tree["spec"].get("clusterName", "")
        self._note(self._paused, name, is_known and names.CLUSTER_PAUSED in notes)

    def _whole_cluster(self, event: WatchEvent) -> None:
        self._note(self._clusters, event.tree["metadata"]["name"], event.type != "DELETED" and is_paused(event.tree))

    def _note(self, paused: dict[str, int], name: str, is_so: bool) -> None:
        if is_so:
            paused.setdefault(name, self.cluster.agenda.now_ms)
        else:
            paused.pop(name, None)

    def _is_left_alone(self, machine: str) -> bool:
        """Whether it has been paused for so long that everybody knows."""
        self.checkers.ran["S8 paused"] += 1
        sinces = (self._paused.get(machine), self._clusters.get(self._cluster_of.get(machine, "")))
        return any(since is not None and self.cluster.agenda.now_ms - since > NEWS_MS for since in sinces)

    def _requested(self, process: Process, request: Request) -> None:
        if not (self._paused or self._clusters) or request.method == "GET" or request.path.endswith("/status"):
            return
        machine = self._concerned(request)
        if self._is_left_alone(machine) and not self._is_of_a_former(machine, request):
            self.checkers.complain("S8", f"{request.method} {request.path}, and {machine} or its Cluster is paused")

    def _sent(self, sent: Sent) -> None:
        node = sent.order.node
        if (self._paused or self._clusters) and sent.deed is not Deed.STATUS and self._is_left_alone(machine_of(node)):
            self.checkers.complain("S8", f"{node} is switched {sent.deed.value}, and its Machine or Cluster is paused")

    def _concerned(self, request: Request) -> str:
        """The Machine whose something it is; "": nobody's."""
        name = node_given_up(self.cluster, request) or request.path.rpartition("/")[2]
        return name if name in self._cluster_of else self._machine_of.get(name, "")

    def _is_of_a_former(self, machine: str, request: Request) -> bool:
        """Nobody paused that one. What is gone is written by nobody: the API refuses it to a second leader."""
        if "/metal3remediations/" not in request.path:
            return False
        is_gone = self.cluster.api.find(REMEDIATION, machine, NAMESPACE) is None
        return is_gone or is_of_a_former(machine, self.cluster)


def is_of_a_former(machine: str, cluster: Cluster) -> bool:
    """Whether a Metal3Remediation was begun for a Machine of that name which is no more, and another one is there."""
    request, present = (cluster.api.find(kind, machine, NAMESPACE) for kind in (REMEDIATION, cluster.dialect.machine))
    begun_for = ((request or {}).get("status") or {}).get("evidence", {}).get("machineUid")
    return present is not None and begun_for not in (None, present["metadata"]["uid"])


def names_of(node: str) -> tuple[str, ...]:
    """Under which names something of a node is written to."""
    return node, machine_of(node), host_of(node), fence_ref(ref(NODE, node)).name
