"""The budget held against the truth where hosts are powered: S3 and S5, and the person who is called for a storm.

S3: hosts that are held stay below the limit, over all leaders; and nothing is held without a reservation. A host that
    was held for ten minutes waits for a person, and does not count. But it may go off at any moment, and all of them at
    once: hosts that are held and on are twice as many at most, however long they are held. The rest of S3, and S4:
    `granting.py`.
S5: control-plane nodes are held one at a time.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from noderemedy.model.ids import HOST, REMEDIATION
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import host_of, machine_of
from noderemedy.sim.granting import MINUTE_MS, PERCENT, STUCK_MS, Granting
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.server import Kernel
from noderemedy.wire import names

CALLED_EVERY_MS = 20 * MINUTE_MS


def our_holds(host: Tree) -> tuple[str, ...]:
    """The keys by which managers hold a host, for a Machine, a Metal3Remediation or a NodeFence, in order."""
    notes = host["metadata"].get("annotations") or {}
    repairs = (names.REBOOT_FOR, names.FENCE_REBOOT_FOR)
    return tuple(sorted(key for key in notes if key == names.REBOOT or key.startswith(repairs)))


class Budgeting(Granting):
    """Watches hosts, too."""

    def __init__(self, checkers: Checkers, *, rulers: int = 0) -> None:
        super().__init__(checkers, rulers=rulers)
        self.node_of = {host_of(name): name for name in self.cluster.servers}
        self._held: dict[str, int] = {}  # since when
        self.cluster.api.subscribe(HOST, self._host)
        self.cluster.agenda.after(CALLED_EVERY_MS, self._look_again)

    # --- S3, S5: what is held ------------------------------------------------------------------------------------

    def _host(self, event: WatchEvent) -> None:
        host = event.tree["metadata"]["name"]
        is_held = event.type != "DELETED" and bool(our_holds(event.tree))
        if is_held and host not in self._held and host in self.node_of:
            self._held[host] = self.now_ms
            self._hold(host)
        elif not is_held:
            self._held.pop(host, None)

    def _hold(self, host: str) -> None:
        self.checkers.ran["S3 in flight"] += 1
        ours = [one for one in self._held if self._is_named(one)]
        moving = [one for one in ours if self.now_ms - self._held[one] < STUCK_MS and not self._is_on_a_word(one)]
        if len(moving) > self.in_flight_max:
            self.checkers.complain("S3", f"{len(moving)} hosts are held at once")
        self.checkers.ran["S3 held and on"] += 1
        loaded = [one for one in ours if self.cluster.servers[self.node_of[one]].has_power]
        if len(loaded) > 2 * self.in_flight_max:
            self.checkers.complain("S3", f"{len(loaded)} hosts are held and still on")
        if machine_of(self.node_of[host]) not in self.reserved:
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
        named_by = self.cluster.api.find(self.cluster.dialect.names_host, machine_of(self.node_of[host]), NAMESPACE)
        notes = (named_by or {}).get("metadata", {}).get("annotations") or {}
        return bool(
            consumer.get("name") == machine_of(self.node_of[host])
            and notes.get(names.MACHINE_HOST) == f"{NAMESPACE}/{host}"
        )

    def _is_on_a_word(self, host: str) -> bool:
        """Whether a person said that it is off: what is freed then is held as well, and nobody is asked for that."""
        found = self.cluster.api.find(REMEDIATION, machine_of(self.node_of[host]), NAMESPACE)
        return found is not None and names.ATTESTED_OFF in (found["metadata"].get("annotations") or {})

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
