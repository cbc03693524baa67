"""Simulated baremetal operator: the reboot annotation interface over simulated BMCs.

A host is held off while any `reboot.metal3.io/KEY` is on it; it is powered on again when the last one goes, if
`spec.online`. `status.poweredOn` lags behind the truth. Like the real operator it works on a version of the host and
its status write is refused when the host changed meanwhile: a state read before a hold was placed is never reported
after it.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from noderemedy.model.ids import HOST
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.apiserver import ApiError, ApiServer, WatchEvent
from noderemedy.sim.durations import Durations
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.server import Server

HOLD_PREFIX = "reboot.metal3.io/"
UNATTENDED = ("baremetalhost.metal3.io/paused", "baremetalhost.metal3.io/detached")


class BaremetalOperator:
    """Drives the power of servers to what their host objects want."""

    def __init__(
        self, servers: dict[str, Server], api: ApiServer, agenda: Agenda, durations: Durations, chance: random.Random
    ) -> None:
        self.servers = servers  # by the host's name; behind the address that it has now
        self._own = dict(servers)
        self.api = api
        self.agenda = agenda
        self.durations = durations
        self.chance = chance
        self._busy: dict[str, None] = {}
        self._wrong: dict[str, Server] = {}  # hosts whose address is another's, and the server behind it
        api.subscribe(HOST, self._host)
        for name, server in servers.items():
            server.on_change.append(partial(self._power_changed, name))

    def _host(self, event: WatchEvent) -> None:
        if event.type != "DELETED":
            name, namespace = event.tree["metadata"]["name"], event.tree["metadata"]["namespace"]
            self.agenda.after(self.durations.controller, lambda: self._reconcile(namespace, name))

    def _power_changed(self, name: str, server: Server) -> None:
        self._look_later(name)
        for host in [host for host, wired in self._wrong.items() if wired is server]:
            self._look_later(host)

    def connect(self, name: str, server: Server) -> None:
        """From now on the address of this host is that of this server, be it right or wrong."""
        self.servers[name] = server
        self._wrong.pop(name, None)
        if server is not self._own[name]:
            self._wrong[name] = server

    def poke(self, namespace: str, name: str) -> None:
        """Look at a host again now: something about its BMC changed."""
        self._reconcile(namespace, name)
        self._report(namespace, name)

    def _look_later(self, name: str) -> None:
        """Power changed: the status follows at the next poll, up to a minute later."""
        delay = self.chance.randrange(self.durations.power_poll)
        self.agenda.after(delay, lambda: self._report(NAMESPACE, name))

    def _reconcile(self, namespace: str, name: str) -> None:
        host = self.api.find(HOST, name, namespace)
        server = self.servers.get(name)
        if host is None or server is None or name in self._busy or is_unattended(host):
            return
        if wants_power(host) == server.has_power:
            return
        if not server.bmc.answers:
            self._complain(host)
            self.agenda.after(self.durations.power_poll, lambda: self._reconcile(namespace, name))
            return
        self._busy[name] = None
        delay = self.durations.power_on if wants_power(host) else self.durations.power_off
        self.agenda.after(delay, lambda: self._switch(namespace, name))

    def _switch(self, namespace: str, name: str) -> None:
        """Carry out what the host wants now, which may not be what it wanted when we began."""
        self._busy.pop(name, None)
        host = self.api.find(HOST, name, namespace)
        server = self.servers[name]
        if host is None or is_unattended(host) or not server.bmc.answers:
            self.agenda.after(self.durations.power_poll, lambda: self._reconcile(namespace, name))
            return
        is_on = wants_power(host)
        if is_on and not server.has_power and server.bmc.obeys_on:
            server.power_on()
            self.agenda.after(self.durations.boot, lambda: self.boot(server))
        elif not is_on and server.has_power and server.bmc.obeys_off:
            server.power_off()
        if wants_power(host) != server.has_power:
            self._complain(host)
            self.agenda.after(self.durations.power_poll, lambda: self._reconcile(namespace, name))

    def boot(self, server: Server) -> None:
        if server.has_power and server.kernel.value == "down" and not server.is_broken:
            server.booted()

    def _report(self, namespace: str, name: str) -> None:
        """Write what the BMC says into the status, on the very version of the host that was read with it."""
        host = self.api.find(HOST, name, namespace)
        server = self.servers[name]
        if host is None or is_unattended(host):
            return
        if not server.bmc.answers:
            self.agenda.after(self.durations.power_poll, lambda: self._report(namespace, name))
            return
        is_on, version = server.has_power, host["metadata"]["resourceVersion"]
        if host.get("status", {}).get("poweredOn") == is_on:
            return
        self.agenda.after(self.durations.controller, lambda: self._write(namespace, name, is_on, version))

    def _write(self, namespace: str, name: str, is_on: bool, version: str) -> None:
        status = {"poweredOn": is_on, "operationalStatus": "OK", "errorType": None, "errorMessage": None}
        body = {"metadata": {"resourceVersion": version}, "status": status}
        try:
            self.api.patch(HOST, name, namespace, body, "merge", subresource="status")
        except ApiError:
            self._report(namespace, name)
            return
        if self.servers[name].has_power != is_on:
            self._look_later(name)

    def _complain(self, host: dict[str, Any]) -> None:
        status = {
            "operationalStatus": "error",
            "errorType": "power management error",
            "errorMessage": "the BMC does not do what it is told",
        }
        if host.get("status", {}).get("operationalStatus") == "error":
            return
        meta = host["metadata"]
        self.api.patch(HOST, meta["name"], meta["namespace"], {"status": status}, "merge", subresource="status")


def wants_power(host: dict[str, Any]) -> bool:
    """Whether the host should be on: asked for, and held off by nobody."""
    notes = host["metadata"].get("annotations") or {}
    is_held = any(key.startswith(HOLD_PREFIX) for key in notes)
    return bool(host.get("spec", {}).get("online")) and not is_held


def is_unattended(host: dict[str, Any]) -> bool:
    notes = host["metadata"].get("annotations") or {}
    return any(key in notes for key in UNATTENDED)
