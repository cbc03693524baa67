"""A simulated baremetal operator: acts on BareMetalHost objects of a real API server and on the bench's computers.

While an annotation `reboot.metal3.io` or `reboot.metal3.io/<key>` is on a host, or its `spec.online` is false, its
computer is held off; otherwise it is switched on. `status.poweredOn` follows after a lag. Paused and detached hosts
are left alone, their status too. Faults are switches: a BMC that answers nobody, power that does not come on.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from tests.e2e.api import Json
from tests.e2e.background import AsyncApi, Gone
from tests.e2e.kubelets import Kubelets, now
from tests.e2e.world import World

HOSTS = "/apis/metal3.io/v1alpha1/baremetalhosts"
REBOOT = "reboot.metal3.io"
HANDS_OFF = ("baremetalhost.metal3.io/paused", "baremetalhost.metal3.io/detached")
POWER_ERROR = "power management error"
RETRY_S = 0.5


@dataclass
class Switches:
    """Timings and faults; sets hold names of hosts. Change them at any time."""

    power_s: float = 0.3
    lag_s: float = 0.3
    bmc_dead: set[str] = field(default_factory=set)
    power_on_fails: set[str] = field(default_factory=set)


class BaremetalOperator:
    """Watches all hosts; a host and its computer have the same name unless `computers` says otherwise."""

    def __init__(self, api: AsyncApi, world: World, kubelets: Kubelets) -> None:
        self.switches = Switches()
        self.computers: dict[str, str] = {}
        self._api = api
        self._world = world
        self._kubelets = kubelets
        self._hosts: dict[str, Json] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        async for change, host in self._api.follow(HOSTS):
            name = host["metadata"]["name"]
            if change == "DELETED":
                self._hosts.pop(name, None)
                continue
            self._remember(host)
            if name not in self._tasks and self.computers.get(name, name) in self._world.computers:
                self._tasks[name] = asyncio.create_task(self._operate(name))

    def _remember(self, host: Json) -> None:
        """Keeps the newer one: the answer to a write may arrive after the event of a later change."""
        known = self._hosts.get(host["metadata"]["name"])
        if known is None or version_of(known) <= version_of(host):
            self._hosts[host["metadata"]["name"]] = host

    async def _operate(self, name: str) -> None:
        """Looks at one host again and again, as the real one does."""
        while True:
            if (host := self._hosts.get(name)) and not is_left_alone(host):
                with contextlib.suppress(Gone):
                    await self._reconcile(name, host)
            await asyncio.sleep(0.1)

    async def _reconcile(self, name: str, host: Json) -> None:
        computer = self._world.computers[self.computers.get(name, name)]
        switches = self.switches
        if name in switches.bmc_dead:
            await self._complain(host, "the BMC does not answer")
            return
        wanted = is_wanted_on(host)
        if wanted and not computer.powered and name in switches.power_on_fails:
            await self._tell(host, computer.powered, "power on was refused by the BMC")
            return
        if wanted != computer.powered:
            await asyncio.sleep(switches.power_s)
            if name not in switches.bmc_dead:
                self._kubelets.power(computer.name, on=wanted)
        if host.get("status", {}).get("poweredOn") != computer.powered or host["status"].get("errorType"):
            await asyncio.sleep(switches.lag_s)
            await self._tell(host, computer.powered)
        elif REBOOT in host["metadata"].get("annotations", {}) and not computer.powered:
            path = path_of(host)  # the plain annotation is the operator's own to remove, once the host is off
            self._remember(await self._api.merge(path, {"metadata": {"annotations": {REBOOT: None}}}))

    async def _complain(self, host: Json, why: str) -> None:
        """The power state is not known, so the last one stays; only the error is new."""
        count = host.get("status", {}).get("errorCount", 0) + 1
        await self._write(host, {**failure(why), "errorCount": count})

    async def _tell(self, host: Json, powered: bool, why: str = "") -> None:
        count = host.get("status", {}).get("errorCount", 0) + 1 if why else 0
        trouble = failure(why) if why else {"operationalStatus": "OK", "errorType": "", "errorMessage": ""}
        await self._write(host, {**trouble, "errorCount": count, "poweredOn": powered})

    async def _write(self, host: Json, status: Json) -> None:
        written = {**status, "provisioning": {"state": "provisioned"}, "lastUpdated": now()}
        self._remember(await self._api.merge(f"{path_of(host)}/status", {"status": written}))
        await asyncio.sleep(RETRY_S if status["errorType"] else 0)


def path_of(host: Json) -> str:
    meta = host["metadata"]
    return f"/apis/metal3.io/v1alpha1/namespaces/{meta['namespace']}/baremetalhosts/{meta['name']}"


def version_of(host: Json) -> int:
    return int(host["metadata"]["resourceVersion"])


def failure(why: str) -> Json:
    return {"operationalStatus": "error", "errorType": POWER_ERROR, "errorMessage": why}


def is_left_alone(host: Json) -> bool:
    annotations = host["metadata"].get("annotations", {})
    return any(key in annotations for key in HANDS_OFF)


def is_wanted_on(host: Json) -> bool:
    held = any(key == REBOOT or key.startswith(f"{REBOOT}/") for key in host["metadata"].get("annotations", {}))
    return bool(host["spec"]["online"]) and not held
