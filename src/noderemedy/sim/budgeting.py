"""The budget held against the truth: checkers of S3, S4 and S5, and the person who is called when a storm stays.

S3: hosts that are held, and repairs started within an hour, stay below their limits, over all leaders; and nothing is
    held without a reservation. A host that was held for ten minutes waits for a person, and does not count.
S4: nobody starts a repair while the limit of unhealthy nodes has been reached for longer than news takes to arrive.
S5: control-plane nodes are held one at a time.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from typing import Any

from noderemedy.model.ids import BUDGET, CONFIG_MAP, HOST, MACHINE, NODE
from noderemedy.model.ledger import LEDGER_AT
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.server import Kernel
from noderemedy.wire import names

MINUTE_MS = 60_000
NEWS_MS = 4 * MINUTE_MS  # how late a manager may learn of a node: silent watches, lag, a pause of its own
HOUR_MS = 50 * MINUTE_MS  # leaders' clocks may differ by ten minutes
CALLED_EVERY_MS = 20 * MINUTE_MS
STUCK_MS = 10 * MINUTE_MS
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


class Budgeting:
    """Watches ledger, hosts and nodes from outside."""

    def __init__(self, checkers: Checkers, *, rulers: int = 0) -> None:
        self.checkers = checkers
        self.cluster: Cluster = checkers.cluster
        self.node_of = {host_of(name): name for name in self.cluster.servers}
        self.rulers = list(self.cluster.servers)[:rulers]
        spec = a_budget(len(self.node_of))["spec"]
        self.in_flight_max, self.per_hour_max = spec["maxInFlight"], spec["maxPerHour"]
        self.storms = 0
        self._held: dict[str, int] = {}  # since when
        self._sick: set[str] = set()
        self._guests: set[str] = set()  # nodes of the cloud
        self._over_since: int | None = None
        self.bearable_since: int | None = 0  # when the last storm ended; None while there is one
        self._starts: Counter[str] = Counter()
        self._started_at: deque[int] = deque()
        self._reserved: dict[str, int] = {}  # machine -> when it was last seen in the ledger
        api = self.cluster.api
        api.create(a_budget(len(self.node_of)))
        for name in self.rulers:
            api.patch(NODE, name, "", {"metadata": {"labels": {ROLE: ""}}}, "merge")
        api.subscribe(CONFIG_MAP, self._ledger)
        api.subscribe(HOST, self._host)
        api.subscribe(NODE, self._node)
        self.cluster.agenda.after(CALLED_EVERY_MS, self._look_again)

    @property
    def _total(self) -> int:
        return len(self.node_of) + len(self._guests)

    @property
    def now_ms(self) -> int:
        return self.cluster.agenda.now_ms

    # --- S3, S4: what is granted ---------------------------------------------------------------------------------

    def _ledger(self, event: WatchEvent) -> None:
        if event.tree["metadata"]["name"] != LEDGER_AT.name or event.type == "DELETED":
            return
        try:
            found = json.loads(event.tree["data"]["ledger.json"])
        except ValueError:
            return  # somebody broke it: nothing may be granted until it is mended
        for one in found["reservations"]:
            self._reserved[one["target"]["name"]] = self.now_ms
        starts = Counter(json.dumps(one) for one in found["starts"])
        for _ in (starts - self._starts).elements():
            self._started()
        self._starts = starts

    def _started(self) -> None:
        self.checkers.ran["S3 per hour"] += 1
        self._started_at.append(self.now_ms)
        while self.now_ms - self._started_at[0] > HOUR_MS:
            self._started_at.popleft()
        if len(self._started_at) > self.per_hour_max:
            self.checkers.complain("S3", f"{len(self._started_at)} repairs were started within an hour")
        self.checkers.ran["S4 no start in a storm"] += 1
        if self._over_since is not None and self.now_ms - self._over_since > NEWS_MS:
            self.checkers.complain("S4", f"a repair starts while {len(self._sick)} nodes are unhealthy")

    def _node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        is_gone = event.type == "DELETED"
        if name not in self.cluster.servers:  # an instance of the cloud, which counts as long as its Node is there
            (self._guests.discard if is_gone else self._guests.add)(name)
        if (is_gone and name in self.cluster.servers) or (not is_gone and not is_ready(event.tree)):
            self._sick.add(name)
        else:
            self._sick.discard(name)
        is_over = len(self._sick) >= 2 and len(self._sick) * 100 >= PERCENT * self._total
        if is_over and self._over_since is None:
            self._over_since, self.bearable_since = self.now_ms, None
        elif not is_over and self._over_since is not None:
            self._over_since, self.bearable_since = None, self.now_ms
            self.storms += 1
            self.checkers.ran["L4 a storm ended"] += 1

    # --- S3, S5: what is held ------------------------------------------------------------------------------------

    def _host(self, event: WatchEvent) -> None:
        host = event.tree["metadata"]["name"]
        is_held = event.type != "DELETED" and names.REBOOT in (event.tree["metadata"].get("annotations") or {})
        if is_held and host not in self._held and host in self.node_of:
            self._held[host] = self.now_ms
            self._hold(host)
        elif not is_held:
            self._held.pop(host, None)

    def _hold(self, host: str) -> None:
        self.checkers.ran["S3 in flight"] += 1
        ours = [one for one in self._held if self._is_named(one)]
        moving = [one for one in ours if self.now_ms - self._held[one] < STUCK_MS]
        if len(moving) > self.in_flight_max:
            self.checkers.complain("S3", f"{len(moving)} hosts are held at once")
        seen = self._reserved.get(machine_of(self.node_of[host]))
        if seen is None:
            self.checkers.complain("S3", f"{host} is held without a reservation")
        rulers = [one for one in ours if self.node_of[one] in self.rulers]
        if self.node_of[host] in self.rulers:
            self.checkers.ran["S5 one ruler at a time"] += 1
            if len(rulers) > 1:
                self.checkers.complain("S5", f"{' and '.join(sorted(rulers))} are held at once")

    def _is_named(self, host: str) -> bool:
        """Whether host and Machine name each other: a hold that nobody answers for is only released."""
        found = self.cluster.api.find(HOST, host, NAMESPACE) or {}
        consumer = found.get("spec", {}).get("consumerRef") or {}
        machine = self.cluster.api.find(MACHINE, machine_of(self.node_of[host]), NAMESPACE)
        notes = (machine or {}).get("metadata", {}).get("annotations") or {}
        return bool(
            consumer.get("name") == machine_of(self.node_of[host])
            and notes.get(names.MACHINE_HOST) == f"{NAMESPACE}/{host}"
        )

    # --- who is called when a storm stays ------------------------------------------------------------------------

    def _look_again(self) -> None:
        self.call()
        self.cluster.agenda.after(CALLED_EVERY_MS, self._look_again)

    def call(self) -> None:
        """Somebody resets by hand what hangs and what the budget rightly leaves alone: a storm, a rack, a quorum."""
        down = [name for name, one in self.cluster.servers.items() if one.kernel in (Kernel.HUNG, Kernel.PANICKED)]
        racks = Counter(self.cluster.servers[name].rack for name in down)
        is_storm = len(down) >= 2 and len(down) * 100 >= PERCENT * len(self.node_of) // 2
        rulers = [name for name in down if name in self.rulers]
        for name in down:
            server = self.cluster.servers[name]
            if is_storm or racks[server.rack] >= 3 or (name in rulers and len(rulers) > 1):
                self._reset(name)

    def _reset(self, name: str) -> None:
        host: dict[str, Any] = self.cluster.api.get(HOST, host_of(name), NAMESPACE)
        server = self.cluster.servers[name]
        if (
            server.has_power
            and not server.is_broken
            and names.REBOOT not in (host["metadata"].get("annotations") or {})
        ):
            server.booted()


def is_ready(node: Tree) -> bool:
    conditions = node.get("status", {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
