"""The truth about the simulated computers: power, kernel, boots, and which containers really run where.

Kubelets and the baremetal operator of the bench change it; tests judge by it. What the API says may be late or wrong,
this is what happened. Rule: only the bench's own thread writes here.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field


@dataclass
class Computer:
    """One physical machine. `alive` is its kernel: a hung one has power and runs on, but answers nobody."""

    name: str
    powered: bool = False
    alive: bool = False
    boot_id: str = ""
    boots: int = 0
    containers: dict[str, str] = field(default_factory=dict)  # pod uid → namespace/name


@dataclass(frozen=True)
class Entry:
    """One line of the journal. `at` orders what happened here, `wall` compares with what a server wrote down."""

    at: float
    wall: float
    computer: str
    what: str
    about: str = ""


@dataclass
class World:
    """All computers, and the journal of what happened to them."""

    computers: dict[str, Computer] = field(default_factory=dict)
    journal: list[Entry] = field(default_factory=list)
    overlaps: list[str] = field(default_factory=list)  # one identity running twice: what must never happen

    def add(self, name: str) -> Computer:
        return self.computers.setdefault(name, Computer(name))

    def power_on(self, name: str) -> None:
        computer = self.computers[name]
        if computer.powered:
            return
        computer.powered = computer.alive = True
        computer.boots += 1
        computer.boot_id = str(uuid.uuid4())
        self.note(name, "powered on", computer.boot_id)

    def power_off(self, name: str) -> None:
        """Everything on it ends at once, healthy or hung."""
        computer = self.computers[name]
        if not computer.powered:
            return
        computer.powered = computer.alive = False
        computer.containers.clear()
        self.note(name, "powered off")

    def hang(self, name: str) -> None:
        """The kubelet falls silent; containers go on writing to their volumes."""
        self.computers[name].alive = False
        self.note(name, "hung")

    def start_container(self, name: str, uid: str, identity: str) -> None:
        computer = self.computers[name]
        if uid in computer.containers:
            return
        for other in self.computers.values():
            if identity in other.containers.values():
                self.overlaps.append(f"{identity} started on {name} while it still ran on {other.name}")
        computer.containers[uid] = identity
        self.note(name, "container started", identity)

    def stop_container(self, name: str, uid: str) -> None:
        if identity := self.computers[name].containers.pop(uid, None):
            self.note(name, "container stopped", identity)

    def note(self, computer: str, what: str, about: str = "") -> None:
        self.journal.append(Entry(time.monotonic(), time.time(), computer, what, about))

    def when(self, what: str, computer: str = "", about: str = "") -> list[float]:
        """The times at which this happened, oldest first."""
        return [
            entry.at
            for entry in list(self.journal)
            if entry.what == what and computer in ("", entry.computer) and about in ("", entry.about)
        ]

    def was_on(self, computer: str, wall: float) -> bool:
        """Whether it had power at that moment, healthy or hung."""
        switched = [
            entry.what
            for entry in list(self.journal)
            if entry.computer == computer and entry.what.startswith("powered") and entry.wall <= wall
        ]
        return bool(switched) and switched[-1] == "powered on"

    def where(self, identity: str) -> list[str]:
        """The computers on which this pod really runs."""
        return sorted(name for name, computer in self.computers.items() if identity in computer.containers.values())
