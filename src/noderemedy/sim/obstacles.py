"""For how long nobody could or might go on with a node: bounds of liveness count from when that is over.

What is paused by Cluster API stays as it is, and what cannot be read is waited for. `checkers.py` owns one; whoever
holds something against a bound takes off what it says (`remediationcheckers.py`, `wardcheckers.py`).
"""

from __future__ import annotations

from noderemedy.model.ids import CLUSTER, HOST, NODE, REMEDIATION
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.clusterpauses import is_paused
from noderemedy.sim.garbling import is_garbled
from noderemedy.sim.othercontrollers import is_anothers
from noderemedy.wire import names

EVERYBODY = ""
PREFIXES = (machine_of(""), host_of(""))


class Obstacles:
    """Watches what is left alone, and what cannot be read."""

    def __init__(self, cluster: Cluster) -> None:
        self._agenda = cluster.agenda
        self._since: dict[tuple[str, str], int] = {}  # whose, and which object: what is in the way now
        self._former: dict[str, list[tuple[int, int]]] = {}  # whose: from when to when something was
        api, dialect = cluster.api, cluster.dialect
        for kind in {NODE, dialect.machine, dialect.names_host, HOST, REMEDIATION}:
            api.subscribe(kind, self._of_a_node)
        for kind in (dialect.check, CLUSTER):
            if api.resources.find(kind) is not None:
                api.subscribe(kind, self._of_all)

    def held_up(self, node: str, since_ms: int) -> int:
        """For how much of the time since then, at most."""
        now_ms = self._agenda.now_ms
        spans = [span for whose in (node, EVERYBODY) for span in self._former.get(whose, ())]
        spans += [(begun, now_ms) for (whose, _), begun in self._since.items() if whose in (node, EVERYBODY)]
        return sum(end - max(begun, since_ms) for begun, end in spans if end > since_ms)

    def _of_a_node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        for prefix in PREFIXES:
            name = name.removeprefix(prefix)
        is_left = names.CLUSTER_PAUSED in (event.tree["metadata"].get("annotations") or ())
        self._note(name, event, is_left or is_garbled(event.tree))

    def _of_all(self, event: WatchEvent) -> None:
        is_cluster = event.tree["kind"] == CLUSTER.kind
        self._note(EVERYBODY, event, is_paused(event.tree) if is_cluster else is_silent(event.tree))

    def _note(self, whose: str, event: WatchEvent, is_in_the_way: bool) -> None:
        key = (whose, f"{event.tree['kind']} {event.tree['metadata']['name']}")
        if is_in_the_way and event.type != "DELETED":
            self._since.setdefault(key, self._agenda.now_ms)
        elif (begun := self._since.pop(key, None)) is not None:
            self._former.setdefault(whose, []).append((begun, self._agenda.now_ms))


def is_silent(check: Tree) -> bool:
    """Whether it takes nothing back: one that nobody can read, or that somebody else looks after."""
    return is_garbled(check) or is_anothers(check)
