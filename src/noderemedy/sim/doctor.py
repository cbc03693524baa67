"""An external remediation controller as seed 004 imagines one: acts on a request until it is deleted, in its own way.

It puts a finalizer on the request before it does anything, resets the server after a while, tries again if that did not
help, and takes its finalizer off some time after the request was deleted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import HOST
from noderemedy.sim.apiserver import ApiError, WatchEvent
from noderemedy.sim.baremetal import wants_power
from noderemedy.sim.cluster import host_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.ward import DOCTOR, Ward

FINALIZER = "example.com/doctor"


class Doctor:
    """Treats the servers of a ward whose machines have a request."""

    def __init__(self, ward: Ward, seed: int) -> None:
        self.cluster = ward.cluster
        self.chance = random.Random(seed)
        self.treated = 0
        self.patience_ms = (1_000, 60_000)  # to clean up after a request was deleted
        self._node_of = {f"machine-{node}": node for node in ward.nodes}
        self.cluster.api.subscribe(DOCTOR, self._request)

    def _request(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        name, uid = meta["name"], meta["uid"]
        if event.type == "ADDED":
            self._after(self.cluster.durations.controller, lambda: self._begin(name, uid))
        elif event.type == "MODIFIED" and "deletionTimestamp" in meta:
            self._after(self.chance.randint(*self.patience_ms), lambda: self._let_go(name, uid))

    def _begin(self, name: str, uid: str) -> None:
        """The finalizer first: whoever cancels has to wait until we have cleaned up."""
        if self._is_asked(name, uid):
            self._finalizers(name, [FINALIZER])
            self._after(self.chance.randint(10_000, 240_000), lambda: self._treat(name, uid))

    def _treat(self, name: str, uid: str) -> None:
        """Reset a server that is silent, and look again later: one dose may not be enough."""
        node = self._node_of.get(name)
        if node is None or not self._is_asked(name, uid):
            return
        if not self.cluster.servers[node].is_heard:
            self.treated += 1
            self._reset(node)
        self._after(self.chance.randint(300_000, 600_000), lambda: self._treat(name, uid))

    def _reset(self, node: str) -> None:
        server = self.cluster.servers[node]
        if not server.has_power or not wants_power(self.cluster.api.get(HOST, host_of(node), NAMESPACE)):
            return  # somebody else holds it off
        server.power_off()
        self._after(self.cluster.durations.power_on, lambda: self._power_on(node))

    def _power_on(self, node: str) -> None:
        server = self.cluster.servers[node]
        if not server.has_power and wants_power(self.cluster.api.get(HOST, host_of(node), NAMESPACE)):
            server.power_on()
            self._after(self.cluster.durations.boot, lambda: self.cluster.baremetal.boot(server))

    def _let_go(self, name: str, uid: str) -> None:
        found = self._find(name)
        if found is not None and found["metadata"]["uid"] == uid and found["metadata"].get("finalizers"):
            self._finalizers(name, None)

    def _is_asked(self, name: str, uid: str) -> bool:
        """Whether this very request still stands."""
        found = self._find(name)
        return found is not None and found["metadata"]["uid"] == uid and "deletionTimestamp" not in found["metadata"]

    def _find(self, name: str) -> dict[str, Any] | None:
        return self.cluster.api.find(DOCTOR, name, NAMESPACE)

    def _finalizers(self, name: str, wanted: list[str] | None) -> None:
        try:
            self.cluster.api.patch(DOCTOR, name, NAMESPACE, {"metadata": {"finalizers": wanted}}, "merge")
        except ApiError:
            return  # gone meanwhile

    def _after(self, delay_ms: int, do: Callable[[], None]) -> None:
        self.cluster.agenda.after(delay_ms, do)
