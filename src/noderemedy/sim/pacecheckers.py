"""S3 for freed pods: within a minute a manager frees no more than `podsPerMinute`, or the pods of one single node.

Looks at what managers begin: a Node that is deleted or tainted out-of-service counts with all pods that are bound to
it but those of DaemonSets, a pod that is deleted on proof counts as one. What is tried again is the same. Each
leadership is counted by itself: whoever takes over may spend one minute's worth once more (`core/budget/pods.py`).
"""

from __future__ import annotations

import random
from collections import deque

from msgspec import Struct

from noderemedy.model.actions import Action, DeleteNode, DeletePod, TaintOutOfService
from noderemedy.model.ids import BUDGET, Ref
from noderemedy.model.outcome import Effect
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.attendants import is_of_its_node
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.kinds import POD
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.process import Process

MINUTE_MS, FOR_EVER_MS = 60_000, 10**12
ROUGH_MS = 35_000  # between leave and act there are live reads: in bad weather two acts are closer than their leaves
NAME, LIMIT, SHARE = "cluster", 1, 0.3  # of the budget; per minute; how many histories have such a limit


class Freeing(Struct, frozen=True):
    """Pods that one life of a manager lets go."""

    at_ms: int
    what: Ref
    pods: int


class PaceCheckers:
    """Counts freed pods minute by minute."""

    def __init__(
        self, checkers: Checkers, processes: list[Process], per_minute: int, within_ms: int = MINUTE_MS
    ) -> None:
        self.checkers = checkers
        self.within_ms = within_ms
        self.per_minute = per_minute
        self._freed: dict[tuple[str, int, int], deque[Freeing]] = {}  # by the life of a manager, and its leadership
        self._limited_at = 0  # when everybody knows of the limit: its kind may be deleted for a while
        checkers.cluster.api.subscribe(BUDGET, self._budget)
        for process in processes:
            process.on_boundary.append(self._begun)

    def _budget(self, event: WatchEvent) -> None:
        now_ms = self.checkers.cluster.agenda.now_ms
        if event.type == "DELETED":
            self._limited_at = now_ms + FOR_EVER_MS
        elif event.type == "ADDED" and self._limited_at:
            self._limited_at = now_ms + NEWS_MS

    def _begun(self, process: Process, where: str, effect: Effect) -> None:
        pods = self._pods_of(effect.action) if where == "begin" else 0
        if not pods:
            return
        now_ms = self.checkers.cluster.agenda.now_ms
        freed = self._freed.setdefault((process.name, process.lives, effect.token), deque())
        while freed and now_ms - freed[0].at_ms >= self.within_ms:
            freed.popleft()
        if any(one.what == effect.action.ref for one in freed):
            return
        freed.append(Freeing(now_ms, effect.action.ref, pods))
        if now_ms < self._limited_at:
            return
        self.checkers.ran["S3 pods per minute"] += 1
        found = sum(one.pods for one in freed)
        if found > self.per_minute and len(freed) > 1:
            self.checkers.complain("S3", f"{found} pods were freed within a minute")

    def _pods_of(self, action: Action) -> int:
        """How many pods an action frees."""
        if isinstance(action, DeletePod):
            return 1
        is_whole = isinstance(action, DeleteNode | TaintOutOfService)
        if not is_whole:
            return 0
        pods = self.checkers.cluster.api.list(POD, fields=f"spec.nodeName={action.ref.name}")
        return sum(not is_of_its_node(pod) for pod in pods)


def pace_of(seed: int, checkers: Checkers, processes: list[Process]) -> PaceCheckers | None:
    """The limit of this history, if it has one: it is written into the budget, and watched over."""
    if random.Random(f"{seed} pace").random() >= SHARE:
        return None
    api = checkers.cluster.api
    if api.find(BUDGET, NAME) is None:
        frame = {"apiVersion": f"{BUDGET.group}/v1alpha1", "kind": BUDGET.kind, "metadata": {"name": NAME}}
        api.create({**frame, "spec": {"maxInFlight": 6, "maxPerHour": 60}})  # or the others would never be in its way
    api.patch(BUDGET, NAME, "", {"spec": {"podsPerMinute": LIMIT}}, "merge")
    return PaceCheckers(checkers, processes, LIMIT, ROUGH_MS)
