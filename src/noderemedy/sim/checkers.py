"""Checkers: observers outside the code that hold the API's story against the truth of the servers.

Each is incremental: it looks at what one event changed. Each counts its own executions, since a checker that never ran
has checked nothing. Names are those of the invariant list (S1, S6, …, L6, L9).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from noderemedy.engine.loop import Engine
from noderemedy.model.ids import HOST, NODE
from noderemedy.model.room import Present
from noderemedy.rooms import NARROWED, ROOMS, watched
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.cluster import RACK_LABEL, RESERVED, TEAM_NOTE, Cluster, host_of
from noderemedy.sim.kinds import ATTACHMENT, POD, STATEFUL_SET
from noderemedy.sim.lifecycle import is_out_of_service
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.obstacles import Obstacles
from noderemedy.sim.process import Process
from noderemedy.sim.recordcheckers import RecordCheckers
from noderemedy.sim.remediationcheckers import RemediationCheckers
from noderemedy.sim.server import Process as Workload
from noderemedy.sim.server import Server
from noderemedy.sim.successors import Successors
from noderemedy.wire import names
from noderemedy.wire.objects import Undecodable, convert


class Checkers:
    """Watches API and servers from outside; `violations` stays empty, or the run has failed."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.ran: Counter[str] = Counter()
        self.violations: list[str] = []
        self.freed_before_safe = 0
        self.safe_at: dict[str, int] = {}
        self.freed_at: dict[str, int] = {}
        self._copies: dict[str, dict[str, Server]] = {}
        self._out_of_service: set[str] = set()
        self.bare: set[str] = set()  # nodes whose backup went with their Machine, or that were installed anew
        self.obstacles = Obstacles(cluster)
        self.remediations = RemediationCheckers(cluster, self.ran, self.complain, self.obstacles)
        cluster.api.subscribe(NODE, self._node)
        cluster.api.subscribe(cluster.dialect.machine, self._machine)
        cluster.api.subscribe(POD, self._pod)
        cluster.api.subscribe(ATTACHMENT, self._attachment)
        self.successors = Successors(cluster, self.complain, self.ran)
        self.records = RecordCheckers(cluster, self.complain, self.ran)
        cluster.provider.on_instance.append(self._follow)
        for server in cluster.servers.values():
            self._follow(server)

    def _follow(self, server: Server) -> None:
        server.on_start = self._started

    def complain(self, rule: str, what: str) -> None:
        self.violations.append(f"{self.cluster.agenda.now_ms} ms: {rule}: {what}")

    # --- S1: nothing is freed while it may still write -----------------------------------------------------------

    def _node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        if event.type != "DELETED":
            self._tainted(name, event.tree)
            return
        self._out_of_service.discard(name)
        self.ran["S1 node"] += 1
        server = self.cluster.server_of(name)
        if server is None:
            return  # a Node that somebody made by hand, with nothing behind it
        self.freed_at[name] = self.cluster.agenda.now_ms
        boot = event.tree.get("status", {}).get("nodeInfo", {}).get("bootID", "")
        if is_unsafe(server, boot):
            self.freed_before_safe += 1
            self.complain("S1", f"Node {name} was deleted while boot {boot} can write")

    def _machine(self, event: WatchEvent) -> None:
        """Whoever deletes a Machine while its node is gone has no more use for what that node carried."""
        if event.type == "DELETED" and names.NODE_BACKUP in (event.tree["metadata"].get("annotations") or {}):
            self.bare.add(event.tree.get("status", {}).get("nodeRef", {}).get("name", ""))

    def _tainted(self, name: str, node: dict[str, Any]) -> None:
        """A node that is called out of service loses its pods and volumes: that frees them like a deletion."""
        if not is_out_of_service(node):
            self._out_of_service.discard(name)
            return
        if name in self._out_of_service or name not in self.cluster.servers:
            return
        self._out_of_service.add(name)
        self.ran["S1 taint"] += 1
        boot = node.get("status", {}).get("nodeInfo", {}).get("bootID", "")
        if is_unsafe(self.cluster.servers[name], boot):
            self.freed_before_safe += 1
            self.complain("S1", f"Node {name} was called out of service while boot {boot} can write")

    def _pod(self, event: WatchEvent) -> None:
        if event.type != "DELETED":
            return
        self.ran["S1 pod"] += 1
        server = self.cluster.server_of(event.tree.get("spec", {}).get("nodeName", ""))
        if server is None or server.is_heard or not server.can_write:  # a kubelet that is there ends its processes
            return
        copy = server.running.get(event.tree["metadata"]["uid"])
        if copy is not None and server.is_cut_off:
            self.ran["S1 behind a storage fence"] += 1
        if copy is not None and server.can_write_as(copy):
            self.freed_before_safe += 1
            self.complain("S1", f"Pod {event.tree['metadata']['name']} was removed while it can write")

    def _attachment(self, event: WatchEvent) -> None:
        if event.type != "DELETED":
            return
        self.ran["S1 volume"] += 1
        spec = event.tree["spec"]
        server = self.cluster.server_of(spec["nodeName"])
        volume = spec["source"].get("persistentVolumeName", "")
        copies = [copy for copy in server.running.values() if volume in copy.volumes] if server else []
        if server and any(server.can_write_as(copy) for copy in copies):
            self.complain("S1", f"volume {volume} was detached from {server.name}, which writes to it")

    def _started(self, server: Server, copy: Workload) -> None:
        """P1, at most one: two running copies of one identity are what all this exists to prevent."""
        self.ran["P1 at most one"] += 1
        ran_on = self._copies.setdefault(copy.identity, {})
        for other in ran_on.values():
            copies = [item for item in other.running.values() if item.identity == copy.identity]
            if other is not server and any(other.can_write_as(item) for item in copies):
                self.complain("P1", f"{copy.identity} runs on {server.name} and on {other.name}")
        ran_on[server.name] = server

    # --- S10: only the leader acts ---------------------------------------------------------------------------------

    def watch(self, processes: list[Process]) -> None:
        """Look at who may act whenever anybody does."""
        for process in processes:
            process.on_boundary.append(lambda acting, where, _: self._acted(acting, where, processes))
            process.on_boundary.append(self.records.acted)

    def _acted(self, acting: Process, where: str, processes: list[Process]) -> None:
        if where != "begin" or acting.always_leads:
            return
        self.ran["S10 one leader"] += 1
        leaders = [process.name for process in processes if process.is_alive and process.may_act()]
        if len(leaders) > 1:
            self.complain("S10", f"{' and '.join(leaders)} may act at once")

    # --- at the end, after the world was healed -------------------------------------------------------------------

    def at_rest(self, engine: Engine | None) -> None:
        """What must hold when all faults are over and time enough has passed."""
        for name, server in self.cluster.servers.items():
            self._no_host_left_off(name, server)
            self._restored(name)
            self._nothing_left_behind(name)
        self.successors.at_rest()
        self.remediations.at_rest()
        self.records.at_rest()
        self.workload_runs()
        if engine is not None:
            self._converged(engine)

    def _no_host_left_off(self, name: str, server: Server) -> None:
        self.ran["S6 no host left off"] += 1
        host = self.cluster.api.get(HOST, host_of(name), NAMESPACE)
        notes = host["metadata"].get("annotations") or {}
        if names.REBOOT in notes or any(key.startswith((names.HOLD, names.REBOOT_FOR)) for key in notes):
            self.complain("S6", f"host of {name} is still held by us")
        if host["spec"]["online"] and not server.has_power:
            self.complain("S6", f"host of {name} was left off")

    def _restored(self, name: str) -> None:
        """L3: the node is back, and takes pods again. S13: what people put on it is there again."""
        self.ran["L3 node is back"] += 1
        self.ran["S13 restored"] += 1
        node = self.cluster.api.find(NODE, name)
        if node is None:
            self.complain("L3", f"Node {name} did not come back")
            return
        notes = node["metadata"].get("annotations", {})
        if name not in self.bare:
            self._has_its_own(name, node)
        if is_out_of_service(node):
            self.complain("S13", f"Node {name} is still out of service")
        if names.OUT_OF_SERVICE_BY in notes:
            self.complain("S13", f"Node {name} is still marked as taken out of service by us")
        if bool(node["spec"].get("unschedulable")) != (name in self.cluster.cordoned):
            self.complain("S13", f"the cordon of Node {name} is not a person's")

    def _has_its_own(self, name: str, node: dict[str, Any]) -> None:
        index = list(self.cluster.servers).index(name)
        labels, notes = node["metadata"].get("labels", {}), node["metadata"].get("annotations", {})
        if labels.get(RACK_LABEL) != self.cluster.servers[name].rack:
            self.complain("S13", f"Node {name} lost its rack label")
        if notes.get(TEAM_NOTE) != f"team-{index % 4}":
            self.complain("S13", f"Node {name} lost its team annotation")
        keys = [taint["key"] for taint in node["spec"].get("taints", ())]
        if (index % 5 == 4) != (RESERVED["key"] in keys):
            self.complain("S13", f"Node {name} has the wrong taints: {keys}")

    def _nothing_left_behind(self, name: str) -> None:
        self.ran["L2 every repair ends"] += 1
        for machine in self.cluster.machines(name):
            notes = machine["metadata"].get("annotations") or {}
            for key in (names.NEEDS_REMEDIATION, names.NODE_BACKUP, names.NODE_DELETED_AT):
                if key in notes:
                    self.complain("L2", f"Machine {machine['metadata']['name']} still carries {key}")

    def workload_runs(self) -> None:
        self.ran["L1 workload runs"] += 1
        wanted = sum(found["spec"]["replicas"] for found in self.cluster.api.list(STATEFUL_SET))
        pods = self.cluster.api.list(POD)
        found = [one for one in pods if any(by["kind"] == STATEFUL_SET.kind for by in owners_of(one))]
        if wanted != len(found):
            self.complain("L1", f"{len(found)} pods of {wanted}")
        for pod in pods:
            if pod.get("status", {}).get("phase") != "Running":
                self.complain("L1", f"pod {pod['metadata']['name']} does not run")

    def _converged(self, engine: Engine) -> None:
        """L6: what the engine remembers is what the API says."""
        self.ran["L6 converged"] += 1
        kinds = [kind for kind in watched(ROOMS) if self.cluster.api.resources.find(kind)]
        for kind in kinds:
            for tree in self.cluster.api.list(kind, NARROWED.get(kind, "")):
                self._same(engine, kind, tree)
        remembered = sum(ref.kind in kinds for ref in engine.cache.refs())
        existing = sum(len(self.cluster.api.list(kind, NARROWED.get(kind, ""))) for kind in kinds)
        if remembered > existing:
            self.complain("L6", f"the cache remembers {remembered} objects of {existing}")

    def _same(self, engine: Engine, kind: Any, tree: dict[str, Any]) -> None:
        try:
            seen = convert(kind, tree)
        except Undecodable:
            return
        entry = engine.cache.read(seen.ref)
        if not isinstance(entry, Present) or entry.obj != seen.obj:
            self.complain("L6", f"the cache is wrong about {seen.ref}")


def owners_of(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return list(tree["metadata"].get("ownerReferences", ()))


def is_unsafe(server: Server, boot_id: str) -> bool:
    """Whether that boot of the server may still write."""
    return server.can_write and server.boot_id == boot_id
