"""Checkers for requests: made only for machines that were sick, one per machine, and gone when their machine is well.

For those of a ward (`ward.py`), and for Metal3Remediations that a check had made (`requested.py`).

E1: a request is made for a machine whose node is, or was within the last minutes, not ready or not there.
E2: the request of a machine whose node is well goes within a bound, and none is left when the world has come to rest.
E3: a request belongs to the Machine of its name, that lives or was there a moment ago.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.model.ids import NODE, REMEDIATION, Kind
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.successors import is_ready

MINUTE_MS = 60_000
OLD_NEWS_MS = 10 * MINUTE_MS  # how late a manager may act on what it has seen: lagging watches, restarts, retries
GOES_WITHIN_MS = 20 * MINUTE_MS


class WardCheckers:
    """Watches requests of a kind for some nodes and their machines from outside."""

    def __init__(
        self,
        checkers: Checkers,
        nodes: tuple[str, ...],
        kind: Kind,
        is_judged: Callable[[str], bool] = lambda node: True,
    ) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self.kind = kind
        self.is_judged = is_judged  # whether anybody judges the machine of a node: else nothing of it changes
        self.made = self.gone = 0
        self._node_of = {machine_of(node): node for node in nodes}
        self._nodes = frozenset(nodes)
        self._well_since: dict[str, int] = dict.fromkeys(nodes, 0)
        self._owners: dict[str, str] = {tree["metadata"]["uid"]: tree["metadata"]["name"] for tree in self._machines()}
        self.cluster.api.subscribe(NODE, self._node)
        self.cluster.api.subscribe(self.cluster.dialect.machine, self._machine)
        self.cluster.api.subscribe(kind, self._request)

    def _machines(self) -> list[Tree]:
        return self.cluster.api.list(self.cluster.dialect.machine)

    def _machine(self, event: WatchEvent) -> None:
        self._owners[event.tree["metadata"]["uid"]] = event.tree["metadata"]["name"]

    def _node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        if name not in self._nodes:
            return
        if event.type == "DELETED" or not is_ready(event.tree):
            self._well_since.pop(name, None)
        elif name not in self._well_since:
            self._well_since[name] = since = self.cluster.agenda.now_ms
            self.cluster.agenda.after(GOES_WITHIN_MS, lambda: self._is_gone(name, since))

    def _request(self, event: WatchEvent) -> None:
        if not is_meant(event.tree):
            return
        self.gone += event.type == "DELETED"
        if event.type != "ADDED":
            return
        self.made += 1
        self.checkers.ran["E1 only the sick"] += 1
        meta, now = event.tree["metadata"], self.cluster.agenda.now_ms
        node = self._node_of.get(meta["name"])
        well_since = self._well_since.get(node or "")
        if node is None or (well_since is not None and now - well_since > OLD_NEWS_MS):
            self.checkers.complain("E1", f"a request for {meta['name']}, which is well since {well_since} ms")
        owners = [self._owners.get(owner["uid"]) for owner in meta.get("ownerReferences", ())]
        if self.kind != REMEDIATION:  # of which the record has the phases, and their holds
            for owner in meta.get("ownerReferences", ()):
                self.checkers.records.note(owner["uid"], "external request", f"{self.kind.kind} {meta['uid']}")
        if owners != [meta["name"]]:
            self.checkers.complain("E3", f"the request for {meta['name']} belongs to {owners}")

    def _is_gone(self, node: str, since: int) -> None:
        """The node is well for long: no request for its machine may stand, unless nobody may or can judge it."""
        if self._well_since.get(node) != since:
            return
        now_ms = self.cluster.agenda.now_ms
        held_up = self.checkers.obstacles.held_up(node, now_ms - GOES_WITHIN_MS)
        if held_up or not self.is_judged(node):
            self.cluster.agenda.after(held_up or GOES_WITHIN_MS, lambda: self._is_gone(node, since))
            return
        self.checkers.ran["E2 requests go"] += 1
        found = self.cluster.api.find(self.kind, machine_of(node), NAMESPACE)
        if found is not None and is_meant(found) and "deletionTimestamp" not in found["metadata"]:
            self.checkers.complain(
                "E2", f"the request for {machine_of(node)} stands {GOES_WITHIN_MS} ms after recovery"
            )

    def at_rest(self) -> None:
        """All are well, and nobody asks for anything."""
        self.checkers.ran["E2 none left"] += 1
        for left in filter(is_meant, self.cluster.api.list(self.kind)):
            self.checkers.complain("E2", f"the request for {left['metadata']['name']} was left behind")


def is_meant(request: Tree) -> bool:
    """Whether a check had it made: a Metal3Remediation that a person wrote has no owner."""
    return request["kind"] != REMEDIATION.kind or bool(request["metadata"].get("ownerReferences"))
