"""Checkers of Metal3Remediations: phases, attempts, deletions. Outside the code, by what the API shows (S14, L2, L7).

`Checkers` owns one and asks it at the end. The table of phases is written down here once more, on purpose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import REMEDIATION
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.obstacles import Obstacles
from noderemedy.wire import names

MAY_FOLLOW: dict[str, set[str]] = {
    "": {"power-off"},
    "power-off": {"freeing", "power-on"},
    "freeing": {"power-on"},
    "power-on": {"waiting", "freeing"},
    "waiting": {"power-off", "deleting-machine", "freeing"},
    "deleting-machine": {"failed", "freeing", "waiting"},
    "failed": {"freeing"},
}
LEAVES_WITHIN_MS = 600_000 + 600_000  # powerOnTimeoutSeconds, and as much for dead managers, lost answers and pauses


class RemediationCheckers:
    """Watches every Metal3Remediation from its creation to its end."""

    def __init__(
        self, cluster: Cluster, ran: Counter[str], complain: Callable[[str, str], None], obstacles: Obstacles
    ) -> None:
        self.cluster = cluster
        self.obstacles = obstacles
        self.ran = ran
        self.complain = complain
        self.phases: Counter[str] = Counter()  # how often each followed which
        self._known: dict[str, tuple[str, int]] = {}
        self._asked_to_go: dict[str, int] = {}
        cluster.api.subscribe(REMEDIATION, self._happened)

    def _happened(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        now_ms = self.cluster.agenda.now_ms
        if "deletionTimestamp" in meta:
            self._asked_to_go.setdefault(meta["uid"], now_ms)
        if event.type == "DELETED":
            self.ran["L7 finalizers go"] += 1
            since_ms = self._asked_to_go.pop(meta["uid"], now_ms)
            node = meta["name"].removeprefix(machine_of(""))
            took = now_ms - since_ms - self.obstacles.held_up(node, since_ms)
            if took > LEAVES_WITHIN_MS:
                self.complain("L7", f"the finalizer of {meta['name']} held it up for {took} ms")
            return
        self._advanced(meta["uid"], event.tree)

    def _advanced(self, uid: str, tree: dict[str, Any]) -> None:
        status, spec = tree.get("status", {}), tree["spec"]
        phase, attempts = status.get("phase", ""), status.get("retryCount", 0)
        before, earlier = self._known.get(uid, ("", 0))
        self._known[uid] = (phase, attempts)
        if phase == before:
            return
        self.ran["S14 bounded attempts"] += 1
        self.phases[f"{before or 'new'} -> {phase}"] += 1
        name = tree["metadata"]["name"]
        is_attested = names.ATTESTED_OFF in (tree["metadata"].get("annotations") or {})
        is_early = phase == "freeing" and before != "power-off" and not is_attested  # only a word leads back to it
        if phase not in MAY_FOLLOW[before] or is_early:
            self.complain("S14", f"{name}: {phase} does not follow {before or 'nothing'}")
        is_retry = (before, phase) == ("waiting", "power-off")
        if attempts != earlier + is_retry:
            self.complain("S14", f"{name}: attempt {attempts} after {earlier}")
        if spec["strategy"] == "escalate" and attempts > spec["deleteAfterRetries"]:
            self.complain("S14", f"{name}: {attempts} retries of {spec['deleteAfterRetries']}")

    def at_rest(self) -> None:
        """L2: recovered, escalated, failed, or without a machine; and nobody waits to be deleted."""
        for tree in self.cluster.api.list(REMEDIATION):
            self.ran["L2 remediations end"] += 1
            name, status = tree["metadata"]["name"], tree.get("status", {})
            if "deletionTimestamp" in tree["metadata"]:
                self.complain("L7", f"{name} still waits to be deleted")
            conditions = {one["type"]: one["status"] for one in status.get("conditions", ())}
            is_over = conditions.get("Succeeded") in ("True", "False")
            if not is_over and self._has_machine(tree):
                self.complain("L2", f"{name} has not ended: {status.get('phase')}")

    def _has_machine(self, tree: dict[str, Any]) -> bool:
        machine = self.cluster.api.find(self.cluster.dialect.machine, tree["metadata"]["name"], NAMESPACE)
        uid = tree.get("status", {}).get("evidence", {}).get("machineUid")
        return machine is not None and uid in (None, machine["metadata"]["uid"])
