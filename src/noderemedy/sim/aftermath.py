"""What follows a fault ("sometimes"): a success after each trouble, and a change of leaders in each step of a repair.

`run.py` and `fencerun.py` make one per history and ask it at the end. It only counts, and it counts only when a leader
takes over and when a history is over: it costs nothing and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from noderemedy.model.ids import HOST, MACHINE, NODE_FENCE, OPENSHIFT_MACHINE, REMEDIATION, Kind
from noderemedy.model.meta import Malformed
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.process import Process
from noderemedy.sim.touching import node_of
from noderemedy.sim.world import World
from noderemedy.wire import names
from noderemedy.wire.replacements import read_replacement


class Aftermath:
    """Looks at every repair that is under way when somebody begins to lead."""

    def __init__(self, cluster: World, processes: list[Process]) -> None:
        self.api = cluster.api
        self.processes = processes
        self.leaders: Counter[str] = Counter()  # steps in which one leader took over from another
        self._token = 0  # of whoever led last
        for process in processes:
            process.on_leading.append(self._takes_over)

    def _takes_over(self, process: Process) -> None:
        if process.token == self._token:
            return  # it led before: a renewal that came late
        self._token = process.token
        self.leaders.update(self.under_way())

    def under_way(self) -> list[str]:
        """The steps in which repairs are."""
        kinds = [kind for kind in STEPS if self.api.resources.find(kind) is not None]
        return [step for kind in kinds for tree in self.api.list(kind) for step in STEPS[kind](tree)]

    def outlived(self, touched: dict[str, dict[str, int]]) -> Counter[str]:
        """Every fault that a success followed: of the node that a trouble touched first then, of any if of nobody."""
        last_ms: dict[str, int] = {}
        for process in self.processes:
            for name, at_ms in process.succeeded.items():
                for node in ("", node_of(name)):
                    last_ms[node] = max(at_ms, last_ms.get(node, -1))
        found = Counter(
            name
            for name, nodes in touched.items()
            if any(first_ms < last_ms.get(node, -1) for node, first_ms in nodes.items())
        )
        for process in self.processes:
            found.update(process.outlived)
        return found


def of_remediation(tree: Tree) -> Iterator[str]:
    yield f"remediation: {tree.get('status', {}).get('phase', 'new')}"


def of_fence(tree: Tree) -> Iterator[str]:
    status = tree.get("status", {})
    yield f"fence: {status.get('step', 'isolation')} {status.get('state', 'new')}"


def of_host(tree: Tree) -> Iterator[str]:
    if names.REBOOT in (tree["metadata"].get("annotations") or {}):
        yield "power cycle: held"


def of_machine(tree: Tree) -> Iterator[str]:
    notes = tree["metadata"].get("annotations") or {}
    if names.NEEDS_REMEDIATION in notes:
        yield "power cycle: asked for"
    if names.NODE_DELETED_AT in notes:
        yield "power cycle: node deleted"
    if names.REPLACEMENT in notes:
        found = read_replacement(notes[names.REPLACEMENT])
        is_going = "deletionTimestamp" in tree["metadata"]
        yield f"replacement: {'deleted' if is_going else found if isinstance(found, Malformed) else found.step.value}"


STEPS: dict[Kind, Callable[[Tree], Iterator[str]]] = {
    REMEDIATION: of_remediation,
    NODE_FENCE: of_fence,
    HOST: of_host,
    MACHINE: of_machine,
    OPENSHIFT_MACHINE: of_machine,
}
