"""How managers behave, held against what they send: checkers of S2, S7, S8, S9 and L8. `run.py` owns one.

S2: every change names the uid that it was decided on, a host that we hold is held by one repair only, and no check
    begins what would run beside another repair (`onerepair.py`).
S7: a host is held for the Machine that it belongs to, and for the Node of that very server.
S8: what a person paused is not begun; what is paused by Cluster API is not written to (`pausing.py`).
S9: what cannot be undone follows live reads by the same process within seconds (`freshness.py`); what cannot be read
    is not acted on (`unread.py`).
L8: when all is well, the status of checks and budget says so.
"""

from __future__ import annotations

import json
from typing import Any

from noderemedy.model.ids import BUDGET, HOST, NODE, REMEDIATION
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.budgeting import our_holds
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import host_of, machine_of
from noderemedy.sim.freshness import Freshness
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.onerepair import OneRepair
from noderemedy.sim.pausing import Pausing
from noderemedy.sim.process import Process
from noderemedy.sim.successors import is_ready
from noderemedy.sim.unread import Unread
from noderemedy.wire import names
from noderemedy.wire.http import Request


class Conduct:
    """Watches requests of managers, hosts and Machines from outside."""

    def __init__(self, checkers: Checkers, processes: list[Process]) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self._node_of = {host_of(name): name for name in self.cluster.servers}
        self._machine_of = {host: machine_of(node) for host, node in self._node_of.items()}
        self._spared: dict[str, int] = {}  # Machines that a person paused
        self._marks: dict[str, str] = {}
        self._held: dict[str, tuple[str, ...]] = {}
        self._freshness = Freshness(checkers)
        Pausing(checkers, processes)
        OneRepair(checkers, processes)
        Unread(checkers, processes)
        self.cluster.api.subscribe(HOST, self._host)
        self.cluster.api.subscribe(self.cluster.dialect.machine, self._machine)
        for process in processes:
            process.on_request.append(self._requested)

    @property
    def now_ms(self) -> int:
        return self.cluster.agenda.now_ms

    def _is_old(self, since: int | None) -> bool:
        return since is not None and self.now_ms - since > NEWS_MS

    # --- what is sent --------------------------------------------------------------------------------------------

    def _requested(self, process: Process, request: Request) -> None:
        self._freshness.requested(process, request)
        if request.method in ("GET", "POST"):
            return
        self.checkers.ran["S2 names a uid"] += 1
        if b'"uid":"' not in request.body:
            self.checkers.complain("S2", f"{request.method} {request.path} names no uid")

    # --- what is held and marked -----------------------------------------------------------------------------------

    def _host(self, event: WatchEvent) -> None:
        host = event.tree["metadata"]["name"]
        if event.type == "DELETED" or host not in self._node_of:
            return
        held = our_holds(event.tree)
        before = self._held.get(host, ())
        self._held[host] = held
        for key in held:
            if key not in before:
                self._taken(host, key, event.tree, before)

    def _taken(self, host: str, key: str, tree: Tree, before: tuple[str, ...]) -> None:
        self.checkers.ran["S2 one repair"] += 1
        if before:
            self.checkers.complain("S2", f"{host} is held by {key} beside {' and '.join(before)}")
        machine = self._machine_of[host]
        if self._is_old(self._spared.get(machine)):
            self.checkers.complain("S8", f"{host} is held, and a person paused {machine}")
        uid = key.removeprefix(names.REBOOT_FOR)
        text = tree["metadata"]["annotations"].get(names.HOLD if key == names.REBOOT else names.HOLD_FOR + uid, "")
        if '"machineUid"' in text:
            self._belongs(host, json.loads(text), tree)

    def _belongs(self, host: str, hold: dict[str, Any], tree: Tree) -> None:
        self.checkers.ran["S7 its own host"] += 1
        consumer = tree["spec"].get("consumerRef", {}).get("name", "")
        machine = self.cluster.api.find(self.cluster.dialect.machine, consumer, NAMESPACE)
        if machine is None or machine["metadata"]["uid"] != hold["machineUid"]:
            self.checkers.complain("S7", f"{host} of {consumer} is held for Machine {hold['machineUid']}")
        node = self.cluster.api.find(NODE, self._node_of[host])
        if node is not None and hold.get("nodeUid") not in (None, "", node["metadata"]["uid"]):
            self.checkers.complain("S7", f"{host} is held for Node {hold['nodeUid']}, which does not run there")

    def _machine(self, event: WatchEvent) -> None:
        name, notes = event.tree["metadata"]["name"], event.tree["metadata"].get("annotations") or {}
        if event.type != "DELETED" and names.PAUSED in notes:
            self._spared.setdefault(name, self.now_ms)
        else:
            self._spared.pop(name, None)
        mark = notes.get(names.NEEDS_REMEDIATION, "")
        before, self._marks[name] = self._marks.get(name, ""), mark
        if mark != before and mark.startswith(names.MARKED_BY) and self._is_old(self._spared.get(name)):
            self.checkers.complain("S8", f"{name} is marked, and a person paused it")

    # --- what is shown -------------------------------------------------------------------------------------------

    def at_rest(self) -> None:
        """L8: the counts of every check and of the budget are those of the healed world."""
        for check in self.cluster.api.list(self.cluster.dialect.check):
            self.checkers.ran["L8 status is true"] += 1
            selected = self._selected(check["spec"]["selector"])
            healthy = [one for one in selected if self._is_well(one)]
            status = check.get("status", {})
            told = (status.get("expectedMachines"), status.get("currentHealthy"))
            if told != (len(selected), len(healthy)):
                self.checkers.complain("L8", f"check {check['metadata']['name']} says {told} of {len(selected)}")
        handed_over = len(self.cluster.api.list(REMEDIATION))  # one that waits for an owner is in flight until it goes
        for budget in self.cluster.api.list(BUDGET):
            self.checkers.ran["L8 status is true"] += 1
            status = budget.get("status", {})
            if status.get("inFlight", 0) > handed_over or status.get("unhealthy", 0):
                self.checkers.complain("L8", f"the budget says {status}, and all is well")

    def _selected(self, selector: dict[str, Any]) -> list[Tree]:
        labels = [f"{key}={value}" for key, value in selector.get("matchLabels", {}).items()]
        labels += [f"!{one['key']}" for one in selector.get("matchExpressions", ())]
        return self.cluster.api.list(self.cluster.dialect.machine, NAMESPACE, labels=",".join(labels))

    def _is_well(self, machine: Tree) -> bool:
        node = self.cluster.api.find(NODE, machine.get("status", {}).get("nodeRef", {}).get("name", ""))
        return node is not None and is_ready(node)
