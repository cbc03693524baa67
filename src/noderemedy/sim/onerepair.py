"""What a health check begins while somebody else repairs the same machine: S2. `conduct.py` and `fencerun.py` own one.

S2: no check marks or deletes a Machine, asks its owner or makes a request while a Metal3Remediation, a NodeFence or a
    chain of remedies is about that machine.

By what a manager could know: that repair must have been at work for longer than news takes to arrive. A
Metal3Remediation is not at work between two attempts: the next one may be forbidden for hours, and then it is in
nobody's way.
"""

from __future__ import annotations

import json
from functools import partial

from noderemedy.core.healthcheck.remediationview import NAME as BY_CHECK
from noderemedy.model.checkstatus import SUCCEEDED
from noderemedy.model.ids import NODE, NODE_FENCE, REMEDIATION, Kind
from noderemedy.model.outcome import Effect
from noderemedy.model.remediation import Phase
from noderemedy.model.remedy import Phase as Chain
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.beginnings import begun
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.fencerepairs import is_under_way
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.pausing import is_of_a_former
from noderemedy.sim.process import Process
from noderemedy.wire import names

PHASES = (Phase.POWER_OFF, Phase.FREEING, Phase.POWER_ON, Phase.WAITING)  # in the owner's turn the owner is asked
ON_WITHIN_S = 600  # as the kind says
AT_WORK, EXHAUSTED = tuple(one.value for one in PHASES), Chain.EXHAUSTED.value


class OneRepair:
    """Watches those who repair, and looks at every beginning of a check."""

    def __init__(self, checkers: Checkers, processes: list[Process], late_ms: int = NEWS_MS) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self.late_ms = late_ms
        self._since: dict[tuple[str, Kind], int] = {}  # the Machine, and by what it is being repaired
        self._until: dict[str, int] = {}  # Machines whose nodes were power cycled: until when an attempt waits for them
        for kind in (REMEDIATION, NODE_FENCE, NODE):
            self.cluster.api.subscribe(kind, partial(self._seen, kind))
        for process in processes:
            process.on_boundary.append(self._set_out)

    def _seen(self, kind: Kind, event: WatchEvent) -> None:
        at = (self._machine(kind, event.tree), kind)
        if event.type != "DELETED" and is_at_work(kind, event.tree):
            self._since.setdefault(at, self.cluster.agenda.now_ms)
        else:
            self._since.pop(at, None)
        if kind == REMEDIATION:
            self._await(at[0], event.tree)

    def _await(self, name: str, request: Tree) -> None:
        if (request.get("status") or {}).get("phase") != Phase.WAITING.value:
            self._until.pop(name, None)
        else:
            within_ms = request["spec"].get("powerOnTimeoutSeconds", ON_WITHIN_S) * 1000
            self._until.setdefault(name, self.cluster.agenda.now_ms + within_ms)

    def _machine(self, kind: Kind, tree: Tree) -> str:
        name: str = tree["spec"].get("node", "") if kind == NODE_FENCE else tree["metadata"]["name"]
        return machine_of(name) if kind != REMEDIATION and name in self.cluster.servers else name

    def _set_out(self, process: Process, where: str, effect: Effect) -> None:
        if where != "begin" or effect.key.room != BY_CHECK:
            return
        name = begun(effect.action, self.cluster)
        if name:
            self.checkers.ran["S2 one repair at a time"] += 1
            for kind in (REMEDIATION, NODE_FENCE, NODE):
                if self._is_known(name, kind):
                    by = "its remedies" if kind == NODE else f"a {kind.kind}"
                    self.checkers.complain("S2", f"{type(effect.action).__name__} for {name}, which {by} repairs")

    def _is_known(self, name: str, kind: Kind) -> bool:
        since = self._since.get((name, kind))
        now_ms = self.cluster.agenda.now_ms
        is_old = since is not None and now_ms - since > self.late_ms
        is_over = kind == REMEDIATION and (now_ms > self._until.get(name, now_ms) or is_of_a_former(name, self.cluster))
        return is_old and not is_over


def is_at_work(kind: Kind, tree: Tree) -> bool:
    """Whether this request, or what stands on this Node, is a repair that has begun and is not over."""
    if kind == NODE_FENCE:
        return is_under_way(tree)
    if kind == NODE:
        record = (tree["metadata"].get("annotations") or {}).get(names.REMEDY, "")
        return bool(record) and json.loads(record)["phase"] != EXHAUSTED
    status = tree.get("status") or {}
    has_succeeded = any((one["type"], one["status"]) == (SUCCEEDED, "True") for one in status.get("conditions", ()))
    return status.get("phase") in AT_WORK and not has_succeeded
