"""What the budget's ledger grants, held against the truth: checkers of S3 and S4 that every world has.

S3: no more repairs start within an hour, and no more have a place at once, than the budget allows, over all leaders.
S4: nobody starts a repair while the limit of unhealthy nodes has been reached for longer than news takes to arrive.

`budgeting.py` adds what is held where BareMetalHosts are powered, `fencebudget.py` where devices are switched;
`bearing.py` holds what is begun against what was granted.
"""

from __future__ import annotations

import json
from collections import Counter, deque

from noderemedy.model.ids import BUDGET, CONFIG_MAP, NODE
from noderemedy.model.ledger import LEDGER_AT
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.limits import Limits
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.successors import is_ready

MINUTE_MS = 60_000
HOUR_MS = 50 * MINUTE_MS  # leaders' clocks may differ by ten minutes
STUCK_MS = 10 * MINUTE_MS
VERDICT_MS = 11 * MINUTE_MS  # how long a verdict may outlive the sickness, or be there without one: marked by a person
PERCENT = 40
ROLE = "node-role.kubernetes.io/control-plane"


def a_budget(nodes: int) -> Tree:
    """Enough for a bad day: the default would make the healed phase longer than the trouble."""
    spec = {"maxInFlight": max(2, nodes // 5), "maxPerHour": max(30, 2 * nodes)}
    return {
        "apiVersion": "node-remedy.dev/v1alpha1",
        "kind": BUDGET.kind,
        "metadata": {"name": "cluster"},
        "spec": spec,
    }


class Granting:
    """Watches ledger and nodes from outside. Writes the budget, and which nodes are of the control plane."""

    def __init__(self, checkers: Checkers, *, rulers: int = 0) -> None:
        self.checkers = checkers
        self.cluster: Cluster = checkers.cluster
        self.rulers = list(self.cluster.servers)[:rulers]
        budget = a_budget(len(self.cluster.servers))
        self.in_flight_max = budget["spec"]["maxInFlight"]
        self.storms = 0
        self.reserved: set[str] = set()  # Machines and Nodes that the ledger has named
        self._reserved_now: set[str] = set()  # those whose reservation is in the ledger now
        self._places: dict[str, int] = {}  # and until when it was, of all others
        self._sick: dict[str, int] = {}  # nodes that are not ready or gone, since when
        self._gone: set[str] = set()  # those of them that have no Node
        self._well_since: dict[str, int] = dict.fromkeys(self.cluster.servers, 0)
        self._was_well: dict[str, int] = {}  # for how long, before they fell sick
        self._guests: set[str] = set()  # nodes of the cloud
        self._over_since: int | None = None
        self.bearable_since: int | None = 0  # when the last storm ended; None while there is one
        self._starts: Counter[str] = Counter()
        self._started_at: deque[int] = deque()
        api = self.cluster.api
        api.create(budget)
        self.limits = Limits(self.cluster)
        self._machines = {name: self._uids(name) for name in self.rulers}
        for name in self.rulers:
            self._label(name)
        api.subscribe(CONFIG_MAP, self._ledger)
        api.subscribe(NODE, self._node)
        api.subscribe(self.cluster.dialect.machine, lambda _: self._reckon())

    def _uids(self, node: str) -> list[str]:
        return [tree["metadata"]["uid"] for tree in self.cluster.machines(node)]

    def _label(self, node: str) -> None:
        if self.cluster.api.find(NODE, node) is not None:
            self.cluster.api.patch(NODE, node, "", {"metadata": {"labels": {ROLE: ""}}}, "merge")

    def _joins(self, node: str) -> None:
        """A new machine in the place of one of the control plane joins it, and is labelled by whoever set it up. What
        the same machine carried, managers give back.
        """
        if node in self.rulers and (uids := self._uids(node)) != self._machines[node]:
            self._machines[node] = uids
            self.cluster.agenda.after(1, lambda: self._label(node))

    @property
    def now_ms(self) -> int:
        return self.cluster.agenda.now_ms

    def _ledger(self, event: WatchEvent) -> None:
        if event.tree["metadata"]["name"] != LEDGER_AT.name or event.type == "DELETED":
            return
        try:
            found = json.loads(event.tree["data"]["ledger.json"])
        except ValueError:
            return  # somebody broke it: nothing may be granted until it is mended
        for one in found["reservations"]:
            self.reserved |= {one[what]["name"] for what in ("target", "node") if what in one}
        self._reserve({one["target"]["name"] for one in found["reservations"]})
        starts = Counter(json.dumps(one) for one in found["starts"])
        for _ in (starts - self._starts).elements():
            self._started(len(found["reservations"]))
        self._starts = starts

    def _reserve(self, named: set[str]) -> None:
        for machine in self._reserved_now - named:
            self._places[machine] = self.now_ms
        self._reserved_now = named

    def has_place(self, machine: str) -> bool:
        """Whether a manager may take its reservation for one that stands."""
        left = self._places.get(machine)
        return machine in self._reserved_now or (left is not None and self.now_ms - left <= NEWS_MS)

    def _started(self, places: int) -> None:
        self.checkers.ran["S3 per hour"] += 1
        self._started_at.append(self.now_ms)
        while self.now_ms - self._started_at[0] > HOUR_MS:
            self._started_at.popleft()
        if len(self._started_at) > self.limits.per_hour_max(self._total):
            self.checkers.complain("S3", f"{len(self._started_at)} repairs were started within an hour")
        self.checkers.ran["S3 places"] += 1
        if places > self.limits.in_flight_max(self._total):
            self.checkers.complain("S3", f"{places} repairs have a place at once")
        self.checkers.ran["S4 no start in a storm"] += 1
        if self.is_stormy:
            self.checkers.complain("S4", f"a repair starts while {len(self._sick)} nodes are unhealthy")

    def _node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        is_gone = event.type == "DELETED"
        if event.type == "ADDED":
            self._joins(name)
        if name not in self.cluster.servers:  # an instance of the cloud, which counts as long as its Node is there
            (self._guests.discard if is_gone else self._guests.add)(name)
        is_lost = is_gone and name in self.cluster.servers
        (self._gone.add if is_lost else self._gone.discard)(name)
        if is_lost or (not is_gone and not is_ready(event.tree)):
            if name not in self._sick:
                self._sick[name] = self.now_ms
                self._was_well[name] = self.now_ms - self._well_since.pop(name, self.now_ms)
        else:
            self._sick.pop(name, None)
            self._well_since.setdefault(name, self.now_ms)
        self._reckon()

    def _reckon(self) -> None:
        sick = len(self._sick) - sum(not self._is_missed(name) for name in self._gone)
        is_over = sick >= 2 and sick * 100 >= PERCENT * self._total
        if is_over and self._over_since is None:
            self._over_since, self.bearable_since = self.now_ms, None
        elif not is_over and self._over_since is not None:
            self._over_since, self.bearable_since = None, self.now_ms
            self.storms += 1
            self.checkers.ran["L4 a storm ended"] += 1

    def _is_missed(self, name: str) -> bool:
        """Nobody misses a Node that went with its Machine, until a new one names it."""
        refs = [(one.get("status") or {}).get("nodeRef") or {} for one in self.cluster.machines(name)]
        return any(one.get("name") == name for one in refs)

    @property
    def is_stormy(self) -> bool:
        """Whether everybody has heard of too many sick nodes."""
        return self._over_since is not None and self.now_ms - self._over_since > NEWS_MS

    def long_sick(self) -> list[str]:
        """Nodes of whose sickness everybody has heard."""
        return [name for name, since in self._sick.items() if self.now_ms - since > NEWS_MS]

    def was_well_long(self, node: str) -> bool:
        """Whether nobody can have called it sick before its Node did."""
        return self._was_well.get(node, 0) > VERDICT_MS

    @property
    def _total(self) -> int:
        return len(self.cluster.servers) + len(self._guests)
