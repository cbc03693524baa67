"""The budget held against the truth where devices are switched: S3 and S5 for fences. `fencerun.py` owns one.

S3: no device is told off for a node that the ledger has not named, and the nodes that are off by our word stay below
    the limit, over all leaders. One that was off for ten minutes waits for a person, and does not count.
S5: of the control plane one node at a time is switched off.
"""

from __future__ import annotations

from noderemedy.model.ids import NODE_FENCE
from noderemedy.model.run import Deed
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.granting import STUCK_MS, Granting
from noderemedy.sim.outlets import Sent
from noderemedy.sim.server import Server


class FenceBudget(Granting):
    """Watches devices, too."""

    def __init__(self, checkers: Checkers, *, rulers: int = 0) -> None:
        super().__init__(checkers, rulers=rulers)
        self._off: dict[str, int] = {}  # nodes whose devices were told off, since when
        self.cluster.outlets.on_sent.append(self._sent)
        self.cluster.outlets.on_done.append(self._done)
        self.cluster.outlets.on_refused.append(self._refused)
        self.cluster.provider.on_instance.append(self._follow)
        for server in self.cluster.servers.values():
            self._follow(server)

    def _follow(self, server: Server) -> None:
        server.on_change.append(self._changed)

    def _sent(self, sent: Sent) -> None:
        node = sent.order.node
        if sent.deed is not Deed.OFF or sent.order.fence.kind != NODE_FENCE:
            return
        self.checkers.ran["S3 in flight"] += 1
        if node not in self.reserved:
            self.checkers.complain("S3", f"{sent.outlet.place} is told off, and the ledger never named {node}")
        if node not in self._off:
            self._off[node] = self.now_ms
            self._begun(node)

    def _begun(self, node: str) -> None:
        recent = [one for one, since in self._off.items() if self.now_ms - since < STUCK_MS]
        moving = [one for one in recent if one == node or self._is_away(one)]
        if len(moving) > self.in_flight_max:
            self.checkers.complain("S3", f"{len(moving)} nodes are switched off at once: {' '.join(sorted(moving))}")
        if node in self.rulers:
            self.checkers.ran["S5 one ruler at a time"] += 1
            others = [one for one in moving if one in self.rulers and one != node]
            if others:
                self.checkers.complain("S5", f"{node} is switched off beside {' '.join(others)}")

    def _changed(self, server: Server) -> None:
        """Who is heard again is in flight no more: what silences it later is not our word."""
        if server.is_heard:
            self._off.pop(server.name, None)

    def _is_away(self, node: str) -> bool:
        """Whoever was plugged in elsewhere and reports is well, whatever its old outlet was told."""
        server = self.cluster.server_of(node)
        return server is not None and not server.is_heard

    def _done(self, sent: Sent) -> None:
        """What is on again, or never went off, is in flight no more."""
        if sent.deed is not Deed.STATUS and sent.outlet.is_on:
            self._off.pop(sent.order.node, None)

    def _refused(self, sent: Sent) -> None:
        """Whose devices heard nothing of it is not off by our word, unless one of them was off or is at it."""
        outlets = self.cluster.outlets.by_node.get(sent.order.node, ())
        if all(one.is_on and one.free_at <= self.now_ms for one in outlets):
            self._off.pop(sent.order.node, None)
