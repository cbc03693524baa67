"""Checkers of what a FenceRemediation asks of the owner of its Machine, outside the code, by what the API shows.

S3  who is asked to replace a Machine is asked by leave: the ledger has a place for it.
S14 owners are asked only for what was given up: by a request that says `escalate` and has said that it does, for a
    Machine whose fence has failed for good or that has no node to fence. The phases of a request follow a table, which
    is written down here once more, on purpose.
S18 a Machine of ours is deleted because somebody asked for that.
L2  when all is well, nobody is asked any more.
"""

from __future__ import annotations

from typing import Any

from noderemedy.model.fenceremediation import FencePhase
from noderemedy.model.ids import CONFIG_MAP, FENCE_REMEDIATION, MACHINE, NODE_FENCE
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.escalating import is_asked
from noderemedy.sim.fencetroubles import is_given_up
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.provider import is_ours
from noderemedy.wire import names
from noderemedy.wire.objects import convert

BY_FENCING = "fencing by a FenceRemediation did not help"
MAY_FOLLOW: dict[str, set[str]] = {
    "": {"fencing", "deleting-machine", "failed"},
    "fencing": {"recovered", "deleting-machine", "failed"},
    "deleting-machine": {"failed", "fencing", ""},
    "recovered": set(),
    "failed": set(),
}
ESCALATED = FencePhase.DELETING_MACHINE.value
STILL = -1


class EscalationCheckers:
    """Watches FenceRemediations, the fences that they made, and their Machines."""

    def __init__(self, checkers: Checkers) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self.asked = 0  # how often an owner was
        self._phases: dict[str, str] = {}
        self._escalated: dict[str, int] = {}  # uid of a request: when it last was, or STILL
        self._given_up: dict[str, int] = {}  # the same of a fence, by its name
        self._words: dict[str, bool] = {}  # uid of a Machine: whether its owner is asked
        self._going: set[str] = set()
        self.cluster.api.subscribe(FENCE_REMEDIATION, self._request)
        self.cluster.api.subscribe(NODE_FENCE, self._fence)
        self.cluster.api.subscribe(MACHINE, self._machine)

    def _ran(self, what: str) -> None:
        self.checkers.ran[what] += 1

    def _complain(self, rule: str, what: str) -> None:
        self.checkers.complain(rule, what)

    def _request(self, event: WatchEvent) -> None:
        uid, phase = event.tree["metadata"]["uid"], event.tree.get("status", {}).get("phase", "")
        before = self._phases.get(uid, "")
        self._phases[uid] = phase
        if phase == before:
            return
        self._note(self._escalated, uid, phase == ESCALATED)
        self._ran("S14 phases of a request")
        name = event.tree["metadata"]["name"]
        if phase not in MAY_FOLLOW[before]:
            self._complain("S14", f"{name}: {phase or 'new'} does not follow {before or 'nothing'}")
        if phase == ESCALATED and event.tree["spec"].get("strategy", "escalate") != "escalate":
            self._complain("S14", f"{name} escalates, and says that it does not")

    def _fence(self, event: WatchEvent) -> None:
        """Until when it was given up: once a person releases it, nobody asks an owner any more."""
        meta = event.tree["metadata"]
        is_so = event.type != "DELETED" and is_given_up(event.tree) and "deletionTimestamp" not in meta
        self._note(self._given_up, meta["name"], is_so)

    def _note(self, known: dict[str, int], key: str, is_so: bool) -> None:
        if is_so:
            known[key] = STILL
        elif known.get(key) == STILL:
            known[key] = self.cluster.agenda.now_ms

    def _was_just(self, known: dict[str, int], key: str) -> bool:
        """Whether it is so, or was when a manager may have looked last: two of them may lead for a while."""
        last = known.get(key)
        return last is not None and (last == STILL or self.cluster.agenda.now_ms - last < NEWS_MS)

    # --- Machines ------------------------------------------------------------------------------------------------

    def _machine(self, event: WatchEvent) -> None:
        uid = event.tree["metadata"]["uid"]
        if event.type == "DELETED":
            self._words.pop(uid, None)
            return
        is_told = is_asked(event.tree) and BY_FENCING in str(event.tree["status"]["conditions"])
        was_told = self._words.get(uid, False)
        self._words[uid] = is_told
        if is_told and not was_told:
            self._told(event.tree)
        if "deletionTimestamp" in event.tree["metadata"] and uid not in self._going:
            self._going.add(uid)
            self._goes(event.tree)

    def _told(self, machine: Tree) -> None:
        self.asked += 1
        self._ran("S14 asked for what was given up")
        name = machine["metadata"]["name"]
        requests = [one for one in self.cluster.api.list(FENCE_REMEDIATION) if one["metadata"]["name"] == name]
        escalated = [one for one in requests if self._was_just(self._escalated, one["metadata"]["uid"])]
        if not escalated:
            self._complain("S14", f"the owner of {name} is asked, and no request has escalated")
        elif not any(self._is_helpless(one.get("status", {}), machine) for one in escalated):
            self._complain("S14", f"the owner of {name} is asked, and its fence was not given up")
        self._ran("S3 owner asked by leave")
        if not self._has_leave(name):
            self._complain("S3", f"the owner of {name} is asked, and the ledger has no place for it")

    def _is_helpless(self, status: dict[str, Any], machine: Tree) -> bool:
        if not status.get("nodeFence"):
            return "nodeRef" not in machine.get("status", {})
        return self._was_just(self._given_up, status["nodeFence"])

    def _has_leave(self, machine: str) -> bool:
        tree = self.cluster.api.find(CONFIG_MAP, LEDGER_AT.name, LEDGER_AT.namespace)
        ledger = convert(CONFIG_MAP, tree).obj.ledger if tree is not None else None
        reserved = ledger.reservations if isinstance(ledger, BudgetLedger) else ()
        return any(one.target.name == machine for one in reserved)

    def _goes(self, machine: Tree) -> None:
        """Of the reference owner's; all others are deleted by their owners and by people."""
        if not is_ours(machine):
            return
        self._ran("S18 deleted because somebody asked")
        meta = machine["metadata"]
        if not is_asked(machine) and names.REMEDIATE not in (meta.get("annotations") or {}):
            self._complain("S18", f"Machine {meta['name']} is deleted, and nobody asked for that")

    # --- when all is over ----------------------------------------------------------------------------------------

    def at_rest(self) -> None:
        for machine in self.cluster.api.list(MACHINE, NAMESPACE):
            self._ran("L2 nobody is asked any more")
            if is_asked(machine):
                self._complain("L2", f"the owner of {machine['metadata']['name']} is still asked to replace it")
