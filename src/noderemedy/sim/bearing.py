"""What managers begin, in whichever room, held against the budget and the state of the cluster: S3, S4, S5 and S8.

S3: whose repair begins has a place in the ledger; no repair begins outside of the windows, nor in a failure domain that
    has more sick nodes than the budget bears, or of which half fell sick at once.
S4: no repair begins while too many nodes are sick, whenever it was granted.
S5: no repair of a member of the control plane begins that would leave less than a majority of them.
S8: no repair begins while the budget is paused.

By what a manager could know: all of that must have been so for longer than news takes to arrive. A cooldown after a
storm is not held against anybody here: a leader that dies takes the memory of a storm with it.
"""

from __future__ import annotations

from noderemedy.model.ids import NODE
from noderemedy.model.outcome import Effect
from noderemedy.model.time import Wall
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.beginnings import begun
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.cluster import RACK_LABEL, machine_of
from noderemedy.sim.granting import MINUTE_MS, ROLE
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.process import Process
from noderemedy.wire import names
from noderemedy.wire.scalars import read_wall

BURST_MS, BURST_LEAST = 2 * MINUTE_MS, 3
NODE_PREFIX = machine_of("")


class Bearing:
    """Looks at every beginning, and at the sick nodes of that moment."""

    def __init__(self, budgeting: Budgeting, processes: list[Process]) -> None:
        self.budgeting = budgeting
        self.checkers = budgeting.checkers
        self.cluster = budgeting.cluster
        for process in processes:
            process.on_boundary.append(self._set_out)

    def _set_out(self, process: Process, where: str, effect: Effect) -> None:
        machine = begun(effect.action, self.cluster) if where == "begin" else ""
        if machine:
            self._begins(machine, f"{type(effect.action).__name__} for {machine}")

    def _begins(self, machine: str, what: str) -> None:
        ran, complain, budgeting = self.checkers.ran, self.checkers.complain, self.budgeting
        ran["S3 has a place"] += 1
        if not budgeting.has_place(machine):
            complain("S3", f"{what}, which has no place in the ledger")
        ran["S3 windows"] += 1
        if budgeting.limits.is_closed:
            complain("S3", f"{what} outside of all windows")
        ran["S4 nothing begins in a storm"] += 1
        if budgeting.is_stormy:
            complain("S4", f"{what} in a storm")
        ran["S8 budget paused"] += 1
        if budgeting.limits.is_paused:
            complain("S8", f"{what}, and the budget is paused")
        node = machine.removeprefix(NODE_PREFIX)
        if node in self.cluster.servers:
            self._where(node, what)

    def _where(self, node: str, what: str) -> None:
        """What else is sick there, of which everybody has heard."""
        rack = self.cluster.servers[node].rack
        if self._carries(node, RACK_LABEL):
            near = [one for one in self.budgeting.long_sick() if self._is_in(one, rack)]
            self._in_domain(rack, near, what)
        if node in self.budgeting.rulers and self._carries(node, ROLE):
            self.checkers.ran["S5 quorum"] += 1
            well = [one for one in self.budgeting.rulers if one != node and not self._is_down(one)]
            if len(well) <= len(self.budgeting.rulers) // 2:
                self.checkers.complain("S5", f"{what}, and only {len(well)} other members are well")

    def _in_domain(self, rack: str, near: list[str], what: str) -> None:
        total = sum(one.rack == rack for one in self.cluster.servers.values())
        self.checkers.ran["S3 per domain"] += 1
        if self.budgeting.limits.is_too_sick(len(near), total):
            self.checkers.complain("S3", f"{what} in {rack}, of which {len(near)} nodes are sick")
        self.checkers.ran["S3 bursts"] += 1
        signs = sorted(sign for one in near if (sign := self._sign(one)) is not None)
        least = max(BURST_LEAST, -(-total // 2))
        if any(signs[last] - signs[last - least + 1] <= BURST_MS for last in range(least - 1, len(signs))):
            self.checkers.complain("S3", f"{what} in {rack}, where {len(signs)} nodes fell sick at once")

    def _is_in(self, node: str, rack: str) -> bool:
        server = self.cluster.servers.get(node)
        return server is not None and server.rack == rack and self._carries(node, RACK_LABEL)

    def _is_down(self, ruler: str) -> bool:
        return ruler in self.budgeting.long_sick() and self._carries(ruler, ROLE)

    def _carries(self, node: str, label: str) -> bool:
        """Whether anybody can know that label: from the Node, or from the backup of one that we deleted."""
        tree = self.cluster.api.find(NODE, node)
        if tree is not None and label in tree["metadata"].get("labels", {}):
            return True
        return any(f'"{label}"' in note(one, names.NODE_BACKUP) for one in self.cluster.machines(node))

    def _sign(self, node: str) -> int | None:
        """Since when it is sick by what its Node says; None where something else may have said so before."""
        tree = self.cluster.api.find(NODE, node)
        if tree is None or not self.budgeting.was_well_long(node):
            return None
        if any(is_marked_by_a_person(one) for one in self.cluster.machines(node)):
            return None
        conditions = tree.get("status", {}).get("conditions", ())
        since = next((one.get("lastTransitionTime") for one in conditions if one["type"] == "Ready"), None)
        at = read_wall(since or "")
        return at.ms if isinstance(at, Wall) and self.cluster.agenda.wall().ms - at.ms > NEWS_MS else None


def is_marked_by_a_person(machine: Tree) -> bool:
    notes = machine["metadata"].get("annotations") or {}
    return names.NEEDS_REMEDIATION in notes and not notes[names.NEEDS_REMEDIATION].startswith(names.MARKED_BY)


def note(machine: Tree, key: str) -> str:
    text: str = (machine["metadata"].get("annotations") or {}).get(key, "")
    return text
