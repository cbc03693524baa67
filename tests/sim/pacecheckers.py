"""S3 for freed pods: within a minute managers free no more than `podsPerMinute`, or the pods of one single node.

Looks at what managers send: a Node that is deleted or tainted out-of-service counts with all pods that are bound to it,
a pod that is deleted without grace counts as one. A request that is sent again is the same one.
For calm stories with one manager: whoever takes over may spend one minute's worth once more (`core/budget/pods.py`).
"""

from __future__ import annotations

from collections import deque

from noderemedy.sim.checkers import Checkers
from noderemedy.sim.kinds import POD
from noderemedy.sim.process import Process
from noderemedy.wire import names
from noderemedy.wire.http import Request

MINUTE_MS = 60_000


class PaceCheckers:
    """Counts freed pods minute by minute."""

    def __init__(self, checkers: Checkers, processes: list[Process], per_minute: int) -> None:
        self.checkers = checkers
        self.per_minute = per_minute
        self._freed: deque[tuple[int, str, int]] = deque()  # when, by which request, how many
        for process in processes:
            process.on_request.append(self._requested)

    def _requested(self, process: Process, request: Request) -> None:
        pods = self._pods_of(request)
        now_ms = self.checkers.cluster.agenda.now_ms
        while self._freed and now_ms - self._freed[0][0] >= MINUTE_MS:
            self._freed.popleft()
        if not pods or any(path == request.path for _, path, _ in self._freed):
            return
        self._freed.append((now_ms, request.path, pods))
        self.checkers.ran["S3 pods per minute"] += 1
        found = sum(pods for _, _, pods in self._freed)
        if found > self.per_minute and len(self._freed) > 1:
            self.checkers.complain("S3", f"{found} pods were freed within a minute")

    def _pods_of(self, request: Request) -> int:
        """How many pods a request frees."""
        kind, _, name = request.path.rpartition("/")
        if kind.endswith("/nodes"):
            is_deleted = request.method == "DELETE"
            is_tainted = request.method == "PATCH" and f'"{names.OUT_OF_SERVICE_BY}":"'.encode() in request.body
            api = self.checkers.cluster.api
            return len(api.list(POD, fields=f"spec.nodeName={name}")) if is_deleted or is_tainted else 0
        return int(kind.endswith("/pods") and request.method == "DELETE" and b'"gracePeriodSeconds":0' in request.body)
