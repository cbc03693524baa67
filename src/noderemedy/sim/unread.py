"""S9 and S18 of what cannot be read (`garbling.py`): nobody acts on what it has seen of it before.

S9:  an object that cannot be read is not written to; nothing is begun for a Machine that cannot be read, or whose Node
     cannot; and nothing of a Node that cannot be read is freed or switched off.
S18: a check or a budget that cannot be read has nothing begun: `permitting.py`, `policies.py`, `limits.py`.

A manager may learn of it late, by minutes. `conduct.py` and `fencecheckers.py` own one each.
"""

from __future__ import annotations

from noderemedy.model.ids import BUDGET, CONFIG_MAP, HOST, NODE, NODE_FENCE, REMEDIATION, Kind
from noderemedy.model.outcome import Effect
from noderemedy.model.run import Deed
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.beginnings import begun
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.freshness import node_given_up
from noderemedy.sim.garbling import is_garbled
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.outlets import Sent
from noderemedy.sim.process import Process
from noderemedy.wire.http import Request

Object = tuple[str, str]  # kind and name


class Unread:
    """Watches objects, requests of managers, what they begin, and commands to devices."""

    def __init__(self, checkers: Checkers, processes: list[Process]) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self._since: dict[Object, int] = {}  # what cannot be read, and since when
        self._kinds: dict[str, str] = {}  # by plural
        dialect = self.cluster.dialect
        kinds = (NODE, dialect.machine, dialect.names_host, HOST, dialect.check, REMEDIATION, BUDGET, NODE_FENCE)
        for kind in dict.fromkeys((*kinds, CONFIG_MAP)):
            self._follow(kind)
        self.cluster.outlets.on_sent.append(self._sent)
        for process in processes:
            process.on_request.append(self._requested)
            process.on_boundary.append(self._set_out)

    def _follow(self, kind: Kind) -> None:
        found = self.cluster.api.resources.find(kind)
        if found is not None:
            self._kinds[found.plural] = kind.kind
            self.cluster.api.subscribe(kind, self._changed)

    def _changed(self, event: WatchEvent) -> None:
        what = (event.tree["kind"], event.tree["metadata"]["name"])
        if event.type != "DELETED" and is_garbled(event.tree):
            self._since.setdefault(what, self.cluster.agenda.now_ms)
        elif self._since:
            self._since.pop(what, None)

    def _is_unread(self, *what: Object) -> bool:
        """Whether one of these could not be read for so long that everybody knows."""
        self.checkers.ran["S9 unreadable"] += 1
        now_ms = self.cluster.agenda.now_ms
        return any(now_ms - self._since.get(one, now_ms) > NEWS_MS for one in what)

    def _requested(self, process: Process, request: Request) -> None:
        if not self._since or request.method == "GET":
            return
        kind, _, name = request.path.removesuffix("/status").removesuffix("/eviction").rpartition("/")
        written = (self._kinds.get(kind.rpartition("/")[2], ""), name)
        if self._is_unread(written, (NODE.kind, node_given_up(self.cluster, request))):
            self.checkers.complain("S9", f"{request.method} {request.path}, and that or its Node cannot be read")

    def _set_out(self, process: Process, where: str, effect: Effect) -> None:
        if not self._since or where != "begin":
            return
        if name := begun(effect.action, self.cluster):
            node = name.removeprefix(machine_of(""))
            if self._is_unread((self.cluster.dialect.machine.kind, name), (NODE.kind, node)):
                action = type(effect.action).__name__
                self.checkers.complain("S9", f"{action} for {name}, which cannot be read, or its Node")

    def _sent(self, sent: Sent) -> None:
        node = sent.order.node
        if self._since and sent.deed is Deed.OFF and self._is_unread((NODE.kind, node)):
            self.checkers.complain("S9", f"{node} is switched off, and its Node cannot be read")
