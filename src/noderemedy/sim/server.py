"""A physical server: the truth that the API only talks about. Who can write, right now?

Only the checkers and the simulated devices look here. Rooms never do: they see what the API says.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct


class Kernel(Enum):
    """What runs on the server."""

    DOWN = "down"  # no power, or still booting
    UP = "up"
    PANICKED = "panicked"  # nothing runs, but the power is on
    HUNG = "hung"  # kubelet is stuck, workloads still write to their disks


class Process(Struct, frozen=True):
    """A running copy of a workload: it writes to its volumes as long as it is in `Server.running`."""

    pod_uid: str
    identity: str  # namespace/name: at most one copy may run in the whole world
    volumes: tuple[str, ...] = ()


class Bmc(Struct):
    """The server's management controller, and the ways in which it lets one down."""

    answers: bool = True  # fault 47
    obeys_off: bool = True  # fault 49
    obeys_on: bool = True  # faults 52, 58


class Server:
    """Power, kernel, kubelet, network link and running workloads of one machine."""

    def __init__(self, name: str, rack: str, provider_id: str = "") -> None:
        self.name = name
        self.provider_id = provider_id or f"metal3://{name}"
        self.rack = rack
        self.has_power = True
        self.kernel = Kernel.UP
        self.boots = 1
        self.is_linked = True
        self.is_unwell = False  # its kubelet says Ready=False: pods run on, and nobody gets a new one
        self.is_broken = False  # never boots again
        self.is_spared = False  # nothing silences it while it runs: its host tells of another server
        self.is_cut_off = False  # from its volumes, by a fabric switch or for want of a reservation
        self.out_of_reach: frozenset[str] = frozenset()  # volumes that no fence of this server keeps it from
        self.labels: dict[str, str] = {}  # that its kubelet registers with, beside its own
        self.running: dict[str, Process] = {}
        self.bmc = Bmc()
        self.on_change: list[Callable[[Server], None]] = []
        self.on_start: Callable[[Server, Process], None] | None = None  # for whoever checks

    @property
    def boot_id(self) -> str:
        return f"{self.name}-boot-{self.boots}"

    @property
    def can_write(self) -> bool:
        """Whether anything on this server can still write to a disk."""
        return self.has_power and self.kernel in (Kernel.UP, Kernel.HUNG)

    @property
    def is_heard(self) -> bool:
        """Whether kubelet lives and reaches the API."""
        return self.has_power and self.kernel is Kernel.UP and self.is_linked

    @property
    def is_busy(self) -> bool:
        """Whether something runs here that has volumes."""
        return any(copy.volumes for copy in self.running.values())

    def can_write_as(self, process: Process) -> bool:
        """Whether this copy of a workload can still change anything that others could read."""
        return self.can_write and not (self.is_cut_off and self.is_fenced(process.volumes))

    def is_fenced(self, volumes: tuple[str, ...]) -> bool:
        """Whether whoever has these volumes, and nothing else, writes nowhere once the server is cut off."""
        return bool(volumes) and not self.out_of_reach & set(volumes)

    def start(self, process: Process) -> None:
        self.running[process.pod_uid] = process
        if self.on_start:
            self.on_start(self, process)

    def stop(self, pod_uid: str) -> None:
        self.running.pop(pod_uid, None)

    def power_off(self) -> None:
        self.has_power = False
        self.kernel = Kernel.DOWN
        self.running.clear()
        self._changed()

    def power_on(self) -> None:
        self.has_power = True
        self._changed()

    def booted(self) -> None:
        """The kernel is up: a new boot, and nothing of the old one runs."""
        self.boots += 1
        self.kernel = Kernel.UP
        self.is_unwell = False
        self.running.clear()
        self._changed()

    def panic(self) -> None:
        if self.kernel in (Kernel.UP, Kernel.HUNG):
            self.kernel = Kernel.PANICKED
            self.running.clear()
            self._changed()

    def hang(self) -> None:
        if self.is_spared:
            self.panic()
        elif self.kernel is Kernel.UP:
            self.kernel = Kernel.HUNG
            self._changed()

    def link(self, is_linked: bool) -> None:
        self.is_linked = is_linked or self.is_spared
        self._changed()

    def ail(self, is_unwell: bool) -> None:
        self.is_unwell = is_unwell
        self._changed()

    def _changed(self) -> None:
        for listener in self.on_change:
            listener(self)
