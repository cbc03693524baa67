"""S2 where nodes are fenced: one device for one node, one repair for one node. `fencecheckers.py` owns one.

A device that was told to switch for a node is its fence's until that has lit it again or is gone: meanwhile nobody
tells it to switch for another one.

A node has one repair at a time. What begins one: a NodeFence that records its start, a chain of remedies that orders a
Job, the Job that resets a server, a BareMetalHost that is held, a Machine that a manager deletes. Each must find the
node free of all others. A fence of a health check's request, or of a chain, is that very repair and not a second one;
a fence that is final or was given up is none any more, also when it takes back what it did as its node is well again,
and a recovery is none yet.
"""

from __future__ import annotations

import json
from typing import Any

from noderemedy.core.fencing.view import NAME as OF_FENCE
from noderemedy.model.actions import DeleteMachine
from noderemedy.model.ids import HOST, JOB, MACHINE, NODE, NODE_FENCE
from noderemedy.model.nodefence import PREFIX
from noderemedy.model.run import Deed
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.budgeting import our_holds
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import host_of
from noderemedy.sim.fencetroubles import is_given_up
from noderemedy.sim.jobrunner import remedy_told, resets
from noderemedy.sim.outlets import Sent
from noderemedy.sim.process import Process
from noderemedy.wire import names
from noderemedy.wire.fencejobs import FENCING, RUN_LABEL
from noderemedy.wire.http import Request

FENCE, CHAIN, RESET, HOLD, DELETION = "a fence", "a chain of remedies", "a reset", "a hold", "a deletion"
ONE_REPAIR = {FENCE: {FENCE, HOLD}, CHAIN: {CHAIN, RESET}, RESET: {CHAIN}, HOLD: {FENCE}, DELETION: set()}
UNDER_WAY = ("running", "freeing")


class FenceRepairs:
    """Watches devices, NodeFences, Jobs, records, hosts and deletions from outside."""

    def __init__(self, checkers: Checkers, processes: list[Process]) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self._user: dict[str, str] = {}  # by place: the node that a device was told to switch for
        self._places: dict[str, set[str]] = {}  # the same by node
        self._repairs: dict[str, set[str]] = {}  # of each node, what is under way
        self._jobs: dict[str, set[str]] = {}  # of each node, the resets that have not ended
        self._records: dict[str, str] = {}
        self._held: dict[str, tuple[str, ...]] = {}
        self._node_of = {host_of(name): name for name in self.cluster.servers}
        self.cluster.outlets.on_sent.append(self._sent)
        self.cluster.outlets.on_done.append(self._done)
        for kind, look in ((NODE_FENCE, self._fence), (JOB, self._job), (NODE, self._node), (HOST, self._host)):
            self.cluster.api.subscribe(kind, look)
        self._asked = (-1, "")  # when a manager asked last for the deletion of which Machine
        self.cluster.api.subscribe(MACHINE, self._machine)
        for process in processes:
            process.on_request.append(self._requested)

    def _ran(self, what: str) -> None:
        self.checkers.ran[what] += 1

    # --- one device, one node ------------------------------------------------------------------------------------

    def _sent(self, sent: Sent) -> None:
        if sent.deed is Deed.STATUS:
            return
        place, node = sent.outlet.place, sent.order.node
        self._ran("S2 one node per device")
        user = self._user.setdefault(place, node)
        self._places.setdefault(user, set()).add(place)
        if user != node:
            self.checkers.complain(
                "S2", f"{place} is told {sent.deed.value} for {node}, and the fence of {user} has it"
            )

    def _done(self, sent: Sent) -> None:
        place = sent.outlet.place
        if sent.deed is Deed.ON and sent.outlet.is_on and self._user.get(place) == sent.order.node:
            self._places[self._user.pop(place)].discard(place)

    # --- one node, one repair ------------------------------------------------------------------------------------

    def _is(self, what: str, node: str, is_so: bool) -> None:
        """Something is under way on a node, or is not; what begins must find nothing else there."""
        repairs = self._repairs.setdefault(node, set())
        if is_so and what not in repairs:
            self._begins(what, node)
            repairs.add(what)
        elif not is_so:
            repairs.discard(what)

    def _begins(self, what: str, node: str) -> None:
        self._ran("S2 one repair per node")
        if others := sorted(self._repairs.get(node, set()) - ONE_REPAIR[what]):
            self.checkers.complain("S2", f"{what} begins on {node} beside {' and '.join(others)}")

    def _fence(self, event: WatchEvent) -> None:
        node = event.tree["spec"]["node"]
        is_there = event.type != "DELETED"
        is_known = FENCE in self._repairs.get(node, ())
        is_ending = event.tree.get("status", {}).get("step") == "recovery" and not is_known
        self._is(FENCE, node, is_there and is_under_way(event.tree) and not is_ending)
        if not is_there:
            for place in self._places.pop(node, ()):
                del self._user[place]

    def _job(self, event: WatchEvent) -> None:
        tree = event.tree
        if tree["metadata"].get("labels", {}).get(RUN_LABEL) == FENCING:
            return
        if not resets(tree):
            return
        node, name = remedy_told(tree)["NODE_NAME"], tree["metadata"]["name"]
        runs = self._jobs.setdefault(node, set())
        if event.type == "DELETED" or tree.get("status", {}).get("conditions"):
            runs.discard(name)
        else:
            runs.add(name)
        self._is(RESET, node, bool(runs))

    def _node(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        text = (meta.get("annotations") or {}).get(names.REMEDY, "") if event.type != "DELETED" else ""
        if text != self._records.get(meta["name"], ""):
            self._records[meta["name"]] = text
            self._is(CHAIN, meta["name"], is_by_job(json.loads(text)) if text else False)

    def _host(self, event: WatchEvent) -> None:
        host = event.tree["metadata"]["name"]
        held = () if event.type == "DELETED" else our_holds(event.tree)
        before, self._held[host] = self._held.get(host, ()), held
        if len(held) > 1 and held != before:
            self.checkers.complain("S2", f"{host} is held by {' and '.join(held)}")
        if node := self._node_of.get(host):
            self._is(HOLD, node, bool(held))

    def _requested(self, process: Process, request: Request) -> None:
        kind, _, name = request.path.rpartition("/")
        if request.method == "DELETE" and kind.endswith("/machines") and not is_of_fence(process, name):
            self._asked = (self.cluster.agenda.now_ms, name)

    def _machine(self, event: WatchEvent) -> None:
        """One that goes in the moment in which a manager asked for that: a request that is refused deletes nothing."""
        meta = event.tree["metadata"]
        is_going = event.type == "DELETED" or "deletionTimestamp" in meta
        if not is_going or self._asked != (self.cluster.agenda.now_ms, meta["name"]):
            return
        self._asked = (-1, "")
        if node := event.tree.get("status", {}).get("nodeRef", {}).get("name", ""):
            self._begins(DELETION, node)


def is_of_fence(process: Process, machine: str) -> bool:
    """Whether a fence ends its own node for good (`terminate`): that is the same repair."""
    effects = [one for one in process.engine.ledger.in_flight() if isinstance(one.action, DeleteMachine)]
    return any(one.key.room == OF_FENCE and one.action.ref.name == machine for one in effects)


def is_under_way(fence: Tree) -> bool:
    """Whether a fence repairs: it has begun, and neither ended nor given up."""
    status = fence.get("status", {})
    return "started" in status and status.get("state") != "final" and not is_given_up(fence)


def is_by_job(record: dict[str, Any]) -> bool:
    """Whether a chain has a Job at work, or frees what that made safe; a fence of a chain is a fence."""
    return record["phase"] in UNDER_WAY and not record.get("job", "").startswith(PREFIX)
