"""What checks with a Metal3RemediationTemplate ask for in simulated days: counted, checked, and seen by a person.

Part of the worlds of `requesting.py`. No owner replaces a Machine there: a request that waits for one, or has given
up, is what people are called for. They reset its server by hand, and the check has to take the request back. A request
that somebody wrote and left is in the way of the check's own, which people are told: they delete it.
"""

from __future__ import annotations

from noderemedy.model.ids import HOST, REMEDIATION
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import host_of, machine_of
from noderemedy.sim.dialects import Dialect
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.policies import FIRST, is_broken, selects
from noderemedy.sim.wardcheckers import WardCheckers, is_meant
from noderemedy.wire import names

CALLED_EVERY_MS = 20 * 60_000
CALLED_FOR = ("deleting-machine", "failed")
MADE, ESCALATED, WITHDRAWN = "asked: made", "asked: deleting-machine", "asked: withdrawn"


class Requested:
    """Follows every Metal3Remediation that a check had made."""

    def __init__(self, checkers: Checkers) -> None:
        self.cluster = checkers.cluster
        self.checkers = WardCheckers(checkers, tuple(self.cluster.servers), REMEDIATION, self._is_judged)
        self.counted = checkers.remediations.phases
        self._phases: dict[str, str] = {}
        self.cluster.api.subscribe(REMEDIATION, self._happened)
        self.cluster.agenda.after(CALLED_EVERY_MS, self._look_again)

    def _is_judged(self, node: str) -> bool:
        """While a check is invalid (S18), paused, or means others, nothing changes that it has asked for."""
        kind = self.cluster.dialect.check
        found = self.cluster.api.find(kind, FIRST, NAMESPACE) if self.cluster.api.resources.find(kind) else None
        if found is None or is_broken(found):
            return False
        is_paused = not {names.PAUSED, names.CLUSTER_PAUSED}.isdisjoint(found["metadata"].get("annotations") or ())
        return not is_paused and any(selects(found, machine) for machine in self.cluster.machines(node))

    def _happened(self, event: WatchEvent) -> None:
        meta, phase = event.tree["metadata"], event.tree.get("status", {}).get("phase", "")
        if not is_meant(event.tree):
            return
        before = self._phases.get(meta["uid"])
        self._phases[meta["uid"]] = phase
        if event.type == "ADDED":
            self.counted.update((MADE, f"{MADE} in the words of {words_of(self.cluster.dialect)}"))
        elif event.type == "DELETED":
            server = self.cluster.servers[meta["name"].removeprefix(machine_of(""))]
            self.counted[WITHDRAWN] += server.is_heard and bool(phase)  # it had begun, and the node is back
        elif phase != before:
            self.counted[f"asked: {phase}"] += 1

    def _look_again(self) -> None:
        self.heal()
        self.cluster.agenda.after(CALLED_EVERY_MS, self._look_again)

    def heal(self) -> None:
        """Somebody comes for what an owner should have replaced, and takes away what is over and in the way."""
        for tree in self.cluster.api.list(REMEDIATION):
            node = tree["metadata"]["name"].removeprefix(machine_of(""))
            if not is_meant(tree) and is_over(tree) and not self.cluster.servers[node].is_heard:
                self.cluster.recall(node)
            elif is_meant(tree) and tree.get("status", {}).get("phase") in CALLED_FOR:
                self._reset(node)

    def _reset(self, node: str) -> None:
        """A board that works, and a new boot; nobody touches what is held off, or has no power."""
        server, host = self.cluster.servers[node], self.cluster.api.get(HOST, host_of(node), NAMESPACE)
        notes = host["metadata"].get("annotations") or {}
        if server.has_power and not server.is_heard and not any(key.startswith(names.ANY_REBOOT) for key in notes):
            server.is_broken = False
            server.booted()


def is_over(request: Tree) -> bool:
    told = request.get("status", {}).get("conditions", ())
    return any(one["type"] == "Succeeded" and one["status"] != "Unknown" for one in told)


def words_of(dialect: Dialect) -> str:
    return dialect.checks or dialect.version or "v1alpha3"


def requested_of(checkers: Checkers) -> Requested | None:
    """Where the check over all machines has a template."""
    return None if checkers.cluster.requesting is None else Requested(checkers)
