"""Simulated fence devices: BMCs, outlets of PDUs, ports of a switch, shared disks, instances of a cloud; their faults.

`runs.py` sends commands here, in place of an agent. A device carries out one command after the other; what was sent is
not called back, whoever has died meanwhile. Numbers are those of the fault list.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from typing import Protocol

from msgspec import Struct

from noderemedy.core.fencing.results import Ended, Trouble
from noderemedy.model.agent import AgentDescription
from noderemedy.model.run import Deed, Order, Power, Result
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.server import Kernel, Server

EXIT_CODES = {Power.ON: 0, Power.OFF: 2, Power.UNKNOWN: 1}
PLACES = ("ip", "plug")
DEED_MS, STATUS_MS, SLOW_MS = (3_000, 15_000), (200, 1_500), (60_000, 150_000)


class JobRunner(Protocol):
    """Who carries out orders that were written as Jobs, and tells what came of them."""

    def follow(self, order: Order, then: Callable[[Result], None]) -> None: ...


class Fault(Enum):
    """How a device lets one down."""

    UNREACHABLE = "unreachable"  # 47
    LOCKED = "locked"  # 48: the credentials are wrong
    IDLE_OFF = "accepts off and does nothing"  # 49
    LYING = "says off while it is on"  # 50: only about a node that is heard; about another one no word could be trusted
    IDLE_ON = "accepts on and does nothing"  # 52, 58
    FLAPPING = "its answers change"  # 53: now and then on, or nothing; off only of a node that is heard, as with 50
    SLOW = "slow"  # 54: by two minutes, whatever it is asked
    ELSEWHERE = "switches another machine"  # 55
    BUSY = "no session is left"  # 57


class Sort(Enum):
    """What a device switches."""

    POWER = "power"
    FABRIC = "fabric"  # the way to the volumes
    DISKS = "disks"  # the registration of a node with shared disks: it is made on the node itself, ended from elsewhere


STORAGE = (Sort.FABRIC, Sort.DISKS)


class Outlet:
    """One thing that can be switched, and the server behind it."""

    def __init__(self, place: str, server: Server, sort: Sort, *, is_own_state: bool) -> None:
        self.place = place
        self.server = server
        self.sort = sort
        self.faults: set[Fault] = set()
        self.was_sent = False  # by anybody who fences: an outlet that nobody touched is nobody's fault
        self.is_misleading = False  # said that it was on when it was off: nobody knows, until a drill asks again
        self.free_at = 0
        self._is_on = True
        self.is_own_state = is_own_state  # an outlet of a PDU; a BMC and a cloud say what the server's power is
        self.elsewhere_is_on = True

    @property
    def is_on(self) -> bool:
        return self._is_on if self.is_own_state else self.server.has_power

    @is_on.setter
    def is_on(self, value: bool) -> None:
        self._is_on = value

    def says(self, chance: random.Random) -> Power:
        """What it answers when it is asked."""
        if Fault.ELSEWHERE in self.faults:
            return Power.ON if self.elsewhere_is_on else Power.OFF
        if Fault.LYING in self.faults and self.server.is_heard:
            return Power.OFF
        if Fault.FLAPPING in self.faults and chance.random() < 0.5:
            said = chance.choice(tuple(Power) if self.server.is_heard else (Power.ON, Power.UNKNOWN))
            self.is_misleading |= said is Power.ON and not self.is_on
            return said
        return Power.ON if self.is_on else Power.OFF


class Sent(Struct, frozen=True):
    """One command, for whoever checks."""

    order: Order
    deed: Deed
    outlet: Outlet
    where: str = ""  # the node on which the agent runs; "": on another than that which it is about


class Outlets:
    """All devices of a simulated world."""

    def __init__(self, agenda: Agenda, boot_ms: int, seed: int = 0) -> None:
        self.by_place: dict[str, Outlet] = {}
        self.by_node: dict[str, list[Outlet]] = {}
        self.agents: dict[str, AgentDescription] = {}  # what is installed where managers run
        self.jobs: JobRunner | None = None  # None: agents run beside the manager
        self.password = ""
        self.on_sent: list[Callable[[Sent], None]] = []
        self.on_done: list[Callable[[Sent], None]] = []
        self.on_refused: list[Callable[[Sent], None]] = []
        self.agenda = agenda
        self._boot_ms = boot_ms
        self._chance = random.Random(seed)

    def add(self, server: Server, sort: Sort, *, is_own_state: bool = True, **places: str) -> Outlet:
        outlet = Outlet(place_of(places), server, sort, is_own_state=is_own_state)
        self.by_place[outlet.place] = outlet
        self.by_node.setdefault(server.name, []).append(outlet)
        return outlet

    # --- what agents do ------------------------------------------------------------------------------------------

    def ask(
        self,
        order: Order,
        deed: Deed,
        secrets: dict[str, str],
        then: Callable[[Ended], None],
        where: str = "",
        left_ms: int | None = None,
    ) -> None:
        """One process of an agent: what it does to its device is done, whoever waits for it, and for how long."""
        outlet = self.by_place.get(place_of(dict(order.parameters)))
        if outlet is None:
            self.agenda.after(STATUS_MS[0], lambda: then(Ended(1, "Failed: there is no such plug")))
            return
        sent = Sent(order, deed, outlet, where)
        for listener in self.on_sent:
            listener(sent)
        if refusal := self._refusal(outlet, secrets):
            for listener in self.on_refused:
                listener(sent)
            self.agenda.after(self._chance.randint(*STATUS_MS), lambda: then(refusal))
            return
        usual = STATUS_MS if deed is Deed.STATUS else DEED_MS
        span = SLOW_MS if Fault.SLOW in outlet.faults else usual
        left = order.patience.ms if left_ms is None else left_ms
        took = max(0, outlet.free_at - self.agenda.now_ms) + self._chance.randint(*span)
        outlet.free_at = self.agenda.now_ms + took
        ended = self.agenda.after(left, lambda: then(Ended(trouble=Trouble.TOO_LONG)))

        def done() -> None:
            found = self._carry_out(sent)
            if took < left:
                ended.cancel()
                then(found)

        self.agenda.after(took, done)

    def has_key(self, order: Order) -> bool:
        """Whether a disk knows the key of an order before anything is done."""
        outlet = self.by_place.get(place_of(dict(order.parameters)))
        return outlet is not None and outlet.sort is Sort.DISKS and outlet.is_on

    def _refusal(self, outlet: Outlet, secrets: dict[str, str]) -> Ended | None:
        if Fault.UNREACHABLE in outlet.faults:
            return Ended(1, "Connection timed out")
        if Fault.BUSY in outlet.faults:
            return Ended(1, "Failed: no more sessions are available")
        is_open = outlet.sort is Sort.DISKS  # whoever sees a disk may ask it
        if Fault.LOCKED in outlet.faults or (self.password not in secrets.values() and not is_open):
            return Ended(1, f"Unable to login with password '{next(iter(secrets.values()), '')}'")
        return None

    def _carry_out(self, sent: Sent) -> Ended:
        outlet, deed = sent.outlet, sent.deed
        if deed is Deed.STATUS:
            return Ended(EXIT_CODES[outlet.says(self._chance)])
        wanted = deed is Deed.ON
        if outlet.sort is Sort.DISKS and wanted and sent.where != outlet.server.name:
            return Ended(1, "Failed: another machine was registered")
        if outlet.sort is Sort.DISKS and not wanted and not self._is_registered(sent):
            return Ended(1, "Failed: whoever asks has no key of its own")
        if Fault.ELSEWHERE in outlet.faults:
            outlet.elsewhere_is_on = wanted
        elif (Fault.IDLE_ON if wanted else Fault.IDLE_OFF) not in outlet.faults and not self._is_lie(outlet):
            outlet.was_sent = True
            self.switch(outlet, wanted)
        for listener in self.on_done:
            listener(sent)
        return Ended(0)

    def _is_registered(self, sent: Sent) -> bool:
        """Whether the node that an agent runs on is let in at the disks, and the agent was told a key of its own."""
        disks = [one for one in self.by_node.get(sent.where, ()) if one.sort is Sort.DISKS]
        return bool(sent.order.own_key) and any(one.is_on for one in disks)

    def _is_lie(self, outlet: Outlet) -> bool:
        return Fault.LYING in outlet.faults and outlet.server.is_heard

    # --- what happens to servers ---------------------------------------------------------------------------------

    def switch(self, outlet: Outlet, is_on: bool) -> None:
        outlet.is_on = is_on
        server = outlet.server
        if outlet not in self.by_node.get(server.name, ()):
            return  # nothing hangs on it any more
        if outlet.sort in STORAGE:
            server.is_cut_off = not is_on
            return
        sources = [one for one in self.by_node[server.name] if one.sort is Sort.POWER and one.server is server]
        is_powered = is_on or any(one.is_on for one in sources if one is not outlet)
        if server.has_power and not is_powered:
            server.power_off()
        elif is_powered and not server.has_power:
            self.power_on(server)

    def replug(self, server: Server, ip: str, plug: str) -> None:
        """Somebody moves the cable that a server has at this PDU to an outlet that nobody used."""
        kept = [one for one in self.by_node[server.name] if ip not in one.place]
        self.by_node[server.name] = kept
        outlet = self.add(server, Sort.POWER, ip=ip, plug=plug)
        self.switch(outlet, is_on=True)

    def power_on(self, server: Server) -> None:
        server.power_on()
        boots = server.boots
        self.agenda.after(self._boot_ms, lambda: self._boot(server, boots))

    def _boot(self, server: Server, boots: int) -> None:
        is_due = server.has_power and server.kernel is Kernel.DOWN and server.boots == boots
        if is_due and not server.is_broken:
            server.booted()


def place_of(parameters: dict[str, str]) -> str:
    return " ".join(parameters[key] for key in PLACES if parameters.get(key))
