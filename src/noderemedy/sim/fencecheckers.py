"""Checkers of fencing, incremental: every command to a device, every change of a NodeFence, every Job and its words.

S1 and P1 are those of `checkers.py`, which look at pods, volumes and Nodes whoever freed them. Here are the others:

S2  what switches a node off names the Node that is there; one device switches for one node at a time, and a node has
    one repair at a time (both `fencerepairs.py`).
S3  a flow that begins anew has a reservation in the budget's ledger, as one that begins.
S6  a fence that is over leaves nothing off that it switched off, unless it calls a person.
S7  a device is switched for the node that it powers; what registers a node with its disks runs on that very node.
S8  what is paused by Cluster API is left alone (`pausing.py`).
S9  what cannot be read is not acted on (`unread.py`).
S13 a storage fence is lifted only when no pod that was freed behind it can still write; a fence goes with nothing that
    the Node carried which it deleted.
S14 retries and restarts stay within what the NodeFence says; its states follow the table.
S16 what a Secret says is in no object and in nothing that people are told.
L8  what the last drill said of a node's devices is so.
F1  a drill only asks.
F2  a node that dumps its memory is not switched off before its time is over.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from noderemedy.core.fencing.automaton import TABLE, Event
from noderemedy.model.checkstatus import SUCCEEDED
from noderemedy.model.drill import FENCING_READY
from noderemedy.model.ids import CONFIG_MAP, FENCE_REMEDIATION, INCIDENT, JOB, MACHINE, NODE, NODE_FENCE, ref
from noderemedy.model.kdump import kdump_ref
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger
from noderemedy.model.nodefence import State, fence_ref
from noderemedy.model.reasons import RoomBroken
from noderemedy.model.room import Present
from noderemedy.model.run import Deed
from noderemedy.model.time import Mono, Span
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.dumps import SILENT_AFTER
from noderemedy.sim.fenced import DUMP_WITHIN, PASSWORD, Fenced
from noderemedy.sim.fencerepairs import FenceRepairs
from noderemedy.sim.kinds import POD
from noderemedy.sim.outlets import STORAGE, Fault, Outlet, Sent, Sort
from noderemedy.sim.pausing import Pausing
from noderemedy.sim.process import Process
from noderemedy.sim.unread import Unread
from noderemedy.wire import names
from noderemedy.wire.objects import convert

MAY_FOLLOW = {(before.value, move.state.value) for (before, _), move in TABLE.items()}
OPEN = (INCIDENT, JOB, CONFIG_MAP, FENCE_REMEDIATION, NODE)
ORDERED_WITHIN = Span(90_000)  # what was ordered so long ago at most may have been ordered before the dump


class FenceCheckers:
    """Watches devices and NodeFences from outside."""

    def __init__(self, checkers: Checkers, fenced: Fenced, processes: list[Process]) -> None:
        self.checkers = checkers
        self.fenced = fenced
        self.cluster = fenced.cluster
        self.processes = processes
        self.passed: Counter[str] = Counter()  # moves of fences, ends of runs, phases of requests and remedies
        self._ended: set[str] = set()
        self._phases: dict[str, str] = {}
        self._begun: set[str] = set()  # fences whose devices were told off before
        self._states: dict[str, str] = {}
        self._off: dict[str, Outlet] = {}  # by place: what our commands switched off
        self._made: dict[str, int] = {}  # when a fence was
        self._replaced: dict[str, int] = {}  # when the last Machine of a node went, or was going
        FenceRepairs(checkers, processes)
        Pausing(checkers, processes)
        Unread(checkers, processes)
        self.cluster.outlets.on_sent.append(self._sent)
        self.cluster.outlets.on_done.append(self._done)
        self.cluster.api.subscribe(NODE_FENCE, self._fence)
        self.cluster.api.subscribe(MACHINE, self._machine)
        for kind in OPEN:
            self.cluster.api.subscribe(kind, self._told)

    def _complain(self, rule: str, what: str) -> None:
        self.checkers.complain(rule, what)

    # --- commands ------------------------------------------------------------------------------------------------

    def _sent(self, sent: Sent) -> None:
        order, outlet = sent.order, sent.outlet
        self._ran("S7 its own device")
        is_asked_by_a_drill = order.fence.kind != NODE_FENCE and sent.deed is Deed.STATUS
        if outlet.server.name != order.node and not is_asked_by_a_drill:
            self._complain("S7", f"{outlet.place} of {outlet.server.name} is told {sent.deed.value} for {order.node}")
        if outlet.sort is Sort.DISKS and sent.deed is not Deed.STATUS:
            self._registers(sent)
        self._ran("F1 a drill only asks")
        if sent.deed is Deed.STATUS:
            return
        if order.fence.kind != NODE_FENCE:
            self._complain("F1", f"{outlet.place} is told {sent.deed.value} by a drill")
        if sent.deed is not Deed.OFF:
            return
        self._spares_dumps(sent)
        self._ran("S2 the node of now")
        node = self.cluster.api.find(NODE, order.node)
        if node is not None and node["metadata"]["uid"] != order.node_uid:
            self._complain("S2", f"{outlet.place} is told off for Node {order.node_uid}, and another one is there")

    def _registers(self, sent: Sent) -> None:
        """Disks let in whoever runs the agent, and are asked to send somebody away by one of their nodes."""
        self._ran("S7 on the node itself")
        own, is_on = sent.outlet.server.name, sent.deed is Deed.ON
        is_peer = any(one.sort is Sort.DISKS for one in self.cluster.outlets.by_node.get(sent.where, ()))
        if (sent.where == own) is not is_on or not is_peer:
            place = sent.where or "any node"
            self._complain("S7", f"{sent.outlet.place}: {sent.deed.value} at its disks runs on {place}")

    def _spares_dumps(self, sent: Sent) -> None:
        """The first power-off of a fence waits for a dump, if its manager has heard of it for a while."""
        order = sent.order
        is_first = order.fence_uid not in self._begun
        is_told = self.fenced.device(order.node) != "cloud"  # which has no document that could grant it time
        if sent.outlet.sort is not Sort.POWER or self.cluster.outlets.jobs is not None or not is_told:
            return
        self._begun.add(order.fence_uid)
        for process in [one for one in self.processes if one.is_alive and one.token == order.token]:
            entry = process.engine.cache.read(kdump_ref(ref(NODE, order.node)))
            if not is_first or not isinstance(entry, Present):
                continue
            self._ran("F2 a dump has its time")
            now = Mono(self.cluster.agenda.now_ms)
            is_news = now.since(entry.obj.first) <= ORDERED_WITHIN or now.since(entry.obj.last) > SILENT_AFTER
            if not is_news and now.since(entry.obj.first) < DUMP_WITHIN:
                self._complain("F2", f"{sent.outlet.place} is told off while {order.node} dumps its memory")

    def _done(self, sent: Sent) -> None:
        outlet = sent.outlet
        if Fault.ELSEWHERE in outlet.faults:
            return
        if sent.deed is not Deed.STATUS:
            self.passed[f"{outlet.sort.value}: {sent.deed.value}"] += 1
        if sent.deed is Deed.OFF and not outlet.is_on:
            self._off[outlet.place] = outlet
        if sent.deed is Deed.ON:
            self._off.pop(outlet.place, None)
            if outlet.sort in STORAGE:
                self.unfenced(outlet)

    def unfenced(self, outlet: Outlet) -> None:
        """A node reaches its volumes again."""
        self._ran("S13 storage given back")
        server = outlet.server
        kept = {pod["metadata"]["uid"] for pod in self.cluster.api.list(POD)}
        freed = [copy.identity for copy in server.running.values() if copy.volumes and copy.pod_uid not in kept]
        if freed and server.can_write and not server.is_heard:
            self._complain("S13", f"{server.name} reaches its volumes again, and {freed[0]} was freed behind the fence")

    # --- NodeFences ----------------------------------------------------------------------------------------------

    def _fence(self, event: WatchEvent) -> None:
        tree = event.tree
        name, status = tree["metadata"]["name"], tree.get("status", {})
        self._words(f"NodeFence {name}", tree)
        state = "" if event.type == "DELETED" else status.get("state", "")
        before = self._states.get(name, "")
        self._states[name] = state
        if event.type == "ADDED":
            self._made[name] = self.cluster.agenda.now_ms
        if state and before and state != before:
            self._moved(name, before, state, status)
        if event.type == "DELETED":
            self._gave_back(name, tree["spec"]["node"], status)
        if state == "final" or event.type == "DELETED":
            self._over(tree["spec"]["node"], status)
        if event.type != "DELETED":
            self._bounded(name, tree["spec"], status)
            self._count_runs(status)

    def _machine(self, event: WatchEvent) -> None:
        if event.type == "DELETED" or "deletionTimestamp" in event.tree["metadata"]:
            node = event.tree.get("status", {}).get("nodeRef", {}).get("name", "")
            self._replaced[node] = self.cluster.agenda.now_ms

    def _gave_back(self, fence: str, node: str, status: dict[str, Any]) -> None:
        """A fence that goes has given back what the Node carried that it deleted; one that was replaced is another."""
        self._ran("S13 what a Node carried")
        if self._replaced.get(node, -1) >= self._made.get(fence, 0):
            return
        backup = json.loads(status.get("evidence", {}).get("backup") or "{}")
        labels = (self.cluster.api.find(NODE, node) or {}).get("metadata", {}).get("labels", {})
        if not labels.keys() >= backup.get("labels", {}).keys():
            self._complain("S13", f"the fence of {node} went with all that its Node carried")

    def _moved(self, name: str, before: str, state: str, status: dict[str, Any]) -> None:
        self._ran("S14 by the table")
        self.passed[f"{before} -> {state}: {event_of(before, state, status)}"] += 1
        if (before, state) not in MAY_FOLLOW:
            self._complain("S14", f"{name} went from {before} to {state}")
        if (before, state) == ("error", "new") and "started" in status:
            self._granted(name)

    def _granted(self, fence: str) -> None:
        self._ran("S3 anew by leave")
        tree = self.cluster.api.find(CONFIG_MAP, LEDGER_AT.name, LEDGER_AT.namespace)
        ledger = convert(CONFIG_MAP, tree).obj.ledger if tree is not None else None
        reserved = ledger.reservations if isinstance(ledger, BudgetLedger) else ()
        if not any(one.node is not None and fence == fence_ref(one.node).name for one in reserved):
            self._complain("S3", f"{fence} begins anew, and the ledger has no place for it")

    def _bounded(self, name: str, spec: dict[str, Any], status: dict[str, Any]) -> None:
        self._ran("S14 bounded")
        retries, restarts = spec.get("stepRetries", 2), spec.get("maxRestarts", 3)
        if status.get("retries", 0) > retries or status.get("restarts", 0) > restarts:
            self._complain("S14", f"{name} is tried more often than it says: {status}")
        failed = Counter(
            (job.get("restart", 0), job["step"])
            for job in status.get("jobs", ())
            if (job["state"], job["action"]) == ("failed", "off")
        )
        if any(count > retries + 1 for count in failed.values()):
            self._complain("S14", f"{name}: a step failed {max(failed.values())} times, and may {retries + 1} times")

    def _count_runs(self, status: dict[str, Any]) -> None:
        for job in status.get("jobs", ()):
            if job["state"] != "running" and job["name"] not in self._ended:
                self._ended.add(job["name"])
                state = "lost" if job.get("lost") else job["state"]
                self.passed[f"{job['step']}: {job['action']} {state}"] += 1

    def _over(self, node: str, status: dict[str, Any]) -> None:
        """A fence that is over: whatever it switched off is on, or a person is called."""
        self._ran("S6 nothing left off")
        left = [one.place for one in self._off.values() if one.server.name == node and not one.is_on]
        if left and not self._is_called(node):
            self._complain("S6", f"the fence of {node} is over, and {', '.join(left)} is off")
        for place in left:
            del self._off[place]  # a person's business from now on, and no later fence's

    def _is_called(self, node: str) -> bool:
        alerts = ("PowerLeftOff", "LeftCutOff", "DeviceAstray", "StorageStaysFenced")
        for process in self.processes:
            told = [one.reason for one in process.notices if getattr(one.reason, "node", "") == node]
            if any(type(one).__name__ in alerts for one in told[-100:]):  # not those of the fence before
                return True
        return False

    # --- words ---------------------------------------------------------------------------------------------------

    def _told(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        self._words(f"{event.tree['kind']} {meta['name']}", event.tree)
        if phase := phase_of(event.tree):
            key = f"{event.tree['kind']} {meta['name']}"
            if self._phases.get(key) != phase:
                self._phases[key] = phase
                self.passed[phase] += 1

    def _words(self, where: str, what: object) -> None:
        self._ran("S16 no secret")
        if PASSWORD in str(what):
            self._complain("S16", f"{where} holds what a Secret says")

    def _ran(self, what: str) -> None:
        self.checkers.ran[what] += 1

    # --- when all is over ----------------------------------------------------------------------------------------

    def at_rest(self) -> None:
        for name, server in self.cluster.servers.items():
            self._well(name, server.is_heard, server.is_cut_off)
        self._ran("L2 every fence ends")
        for tree in self.cluster.api.list(NODE_FENCE):
            if tree.get("status", {}).get("state") != "final":
                self._complain("L2", f"{tree['metadata']['name']} has not ended: {tree.get('status', {})}")
        for tree in self.cluster.api.list(FENCE_REMEDIATION):
            self._complain("L2", f"FenceRemediation {tree['metadata']['name']} is left: {tree.get('status', {})}")
        for outlet in self.cluster.outlets.by_place.values():
            self._ran("S6 no outlet left off")
            if not outlet.is_on:
                self._complain("S6", f"{outlet.place} of {outlet.server.name} was left off")
        for process in self.processes:
            for notice in process.notices:
                self._words("what people are told", notice.reason)
                if isinstance(notice.reason, RoomBroken):
                    self._complain("E1", f"room {notice.room} broke over {notice.ref}: {notice.reason.problem}")

    def _drilled(self, name: str, node: dict[str, Any]) -> None:
        """L8: every device answers, and that is what the last drill said."""
        if self.processes[0].drills is None:
            return
        self._ran("L8 a drill tells the truth")
        told = [one["status"] for one in node["status"]["conditions"] if one["type"] == FENCING_READY]
        if told != ["True"]:
            self._complain("L8", f"Node {name} says FencingReady {told}, and all its devices answer")

    def _well(self, name: str, is_heard: bool, is_cut_off: bool) -> None:
        self._ran("L3 in service again")
        node = self.cluster.api.find(NODE, name)
        if node is None or not is_heard:
            self._complain("L3", f"node {name} did not come back")
            return
        self._drilled(name, node)
        if "device" not in node["metadata"].get("labels", {}):
            self._complain("S13", f"Node {name} lost its labels")
        if is_cut_off:
            self._complain("S13", f"node {name} is still cut off from its storage")
        is_cordoned = bool(node["spec"].get("unschedulable"))
        if is_cordoned != (name in self.cluster.cordoned) and name not in self.cluster.cordoned_before:
            self._complain("S13", f"the cordon of Node {name} is not a person's")
        foreign = [one["key"] for one in node["spec"].get("taints", ()) if "example.com" not in one["key"]]
        if foreign:
            self._complain("S13", f"Node {name} still has {foreign}")


def event_of(before: str, state: str, status: dict[str, Any]) -> str:
    """By which event a fence moved: where the table has more than one, its condition tells."""
    rows = [event for (of, event), row in TABLE.items() if (of, row.state) == (State(before), State(state))]
    said = next((one["message"] for one in status.get("conditions", ()) if one["type"] == SUCCEEDED), "")
    found = [event for event in rows if len(rows) == 1 or event.value in said]
    return (found or [Event.STEP_FAILED])[0].value


def phase_of(tree: dict[str, Any]) -> str:
    """How far a FenceRemediation is, or the remedies of a Node; "" for all others."""
    if tree["kind"] == FENCE_REMEDIATION.kind:
        return f"request: {tree.get('status', {}).get('phase', 'new')}"
    record = (tree["metadata"].get("annotations") or {}).get(names.REMEDY, "") if tree["kind"] == NODE.kind else ""
    return f"remedies: {json.loads(record)['phase']}" if record else ""
