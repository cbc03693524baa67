"""What people set and take back: pauses, modes, approvals, windows, wrong names. Each closes a gate of some room.

One table; a trouble draws a row. Rows about one machine prefer a machine whose node is silent, for a gate shows only
where somebody wants to pass. All is taken back after a while, and at the latest when the world is healed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from noderemedy.model.ids import BUDGET, CONFIG_MAP, HEALTH_CHECK, HOST, INCIDENT, MACHINE, Kind
from noderemedy.model.ledger import LEDGER_AT
from noderemedy.model.time import Span
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE, SYSTEM
from noderemedy.sim.policies import FIRST
from noderemedy.wire import names

MINUTE_MS = 60_000
Body = dict[str, Any]


class Switch(Struct, frozen=True):
    """Somebody writes `on` and, later, `off`."""

    kind: Kind
    on: Body
    off: Callable[[str], Body]  # of the node's name, where it is about one


def note(key: str, value: str | None) -> Body:
    return {"metadata": {"annotations": {key: value}}}


def switch(kind: Kind, key: str, value: str) -> Switch:
    """An annotation that comes and goes."""
    return Switch(kind, note(key, value), lambda node: note(key, None))


def spec(kind: Kind, **fields: Any) -> Switch:
    """Fields that are usually not there."""
    return Switch(kind, {"spec": fields}, lambda node: {"spec": dict.fromkeys(fields)})


def right_host(node: str) -> Body:
    return note(names.MACHINE_HOST, f"{NAMESPACE}/{host_of(node)}")


ASKS = "check that asks first"
TABLE: dict[str, Switch] = {
    "machine paused until nobody knows": switch(MACHINE, names.PAUSED, "for some time"),
    "machine without its host": Switch(MACHINE, note(names.MACHINE_HOST, None), right_host),
    "machine with a host that is nowhere": Switch(
        MACHINE, note(names.MACHINE_HOST, f"{NAMESPACE}/nowhere"), right_host
    ),
    "machine of another instance": Switch(
        MACHINE, {"spec": {"providerID": "metal3://another"}}, lambda node: {"spec": {"providerID": f"metal3://{node}"}}
    ),
    "host switched off": Switch(HOST, {"spec": {"online": False}}, lambda node: {"spec": {"online": True}}),
    "host that must stay on": spec(HOST, disablePowerOff=True),
    "check paused by Cluster API": switch(HEALTH_CHECK, names.CLUSTER_PAUSED, "true"),
    "check that only observes": switch(HEALTH_CHECK, names.MODE, "observe"),
    ASKS: switch(HEALTH_CHECK, names.APPROVAL, "required"),
    "budget paused": switch(BUDGET, names.PAUSED, "true"),
    "budget paused until nobody knows": switch(BUDGET, names.PAUSED, "for some time"),
    "budget with a window at night": spec(BUDGET, windows=[{"from": "02:00", "to": "02:01"}]),
    "budget with bounds per domain": spec(BUDGET, perDomain={"maxUnhealthy": 1}),
}
SNOOZE = Span(5 * MINUTE_MS)
ANSWERS = ("snooze", "deny", "approve")  # in this order, if somebody takes care of it


class Switches:
    """Draws a row, and takes it back later."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self._ledger: Body | None = None  # what was in it before somebody broke it

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [(self.person_switches, 24), (self.check_asks, 2), (self.ledger_garbled, 1)]

    def person_switches(self) -> None:
        self._throw(TABLE[self.chance.choice(list(TABLE))])

    def check_asks(self) -> None:
        """Approval is required for a while, and somebody answers every open question, each time in another way."""
        self._throw(TABLE[ASKS])
        for minutes, answer in enumerate(ANSWERS, start=2):
            self.cluster.agenda.after(minutes * MINUTE_MS, partial(self._answer, answer))

    def _throw(self, chosen: Switch) -> None:
        node = self._node()
        self._patch(chosen.kind, name_of(chosen.kind, node), chosen.on)
        self._later(lambda: self._take_back(chosen, node))

    def _take_back(self, chosen: Switch, node: str) -> None:
        self._patch(chosen.kind, name_of(chosen.kind, node), chosen.off(node))

    def _answer(self, answer: str) -> None:
        approval = {"decision": answer, "by": "somebody", "until": str(self.cluster.agenda.wall() + SNOOZE)}
        for incident in self.cluster.api.list(INCIDENT, SYSTEM):
            if not incident.get("status", {}).get("closed"):
                self._patch(INCIDENT, incident["metadata"]["name"], {"spec": {"approval": approval}})

    def ledger_garbled(self) -> None:
        """Somebody edits the ledger and breaks it; whoever notices puts back what was in it."""
        found = self.cluster.api.find(CONFIG_MAP, LEDGER_AT.name, SYSTEM)
        if found is not None and self._ledger is None:
            self._ledger = found["data"]
            self._patch(CONFIG_MAP, LEDGER_AT.name, {"data": {"ledger.json": "{"}})
            self._later(self._mend_ledger)

    def _mend_ledger(self) -> None:
        if self._ledger is not None:
            self._patch(CONFIG_MAP, LEDGER_AT.name, {"data": self._ledger})
            self._ledger = None

    def heal(self) -> None:
        """Everything is taken back, on whatever object it may have been left."""
        self._mend_ledger()
        for chosen in TABLE.values():
            for node in self.cluster.servers if chosen.kind in (MACHINE, HOST) else ("",):
                self._take_back(chosen, node)
        for incident in self.cluster.api.list(INCIDENT, SYSTEM):
            self._patch(INCIDENT, incident["metadata"]["name"], {"spec": {"approval": None}})

    def _node(self) -> str:
        silent = [name for name, server in self.cluster.servers.items() if not server.is_heard]
        return self.chance.choice(silent or list(self.cluster.servers))

    def _later(self, do: Callable[[], None]) -> None:
        self.cluster.agenda.after(self.chance.randint(3, 15) * MINUTE_MS, do)

    def _patch(self, kind: Kind, name: str, body: Body) -> None:
        api, kind = self.cluster.api, self.cluster.dialect.kind(kind)
        namespace = {BUDGET: "", INCIDENT: SYSTEM, CONFIG_MAP: SYSTEM}.get(kind, NAMESPACE)
        if api.resources.find(kind) is not None and api.find(kind, name, namespace) is not None:
            api.patch(kind, name, namespace, body, "merge")


def name_of(kind: Kind, node: str) -> str:
    """The object of this kind that is about a node; the only one, where there is one."""
    return {MACHINE: machine_of(node), HOST: host_of(node), HEALTH_CHECK: FIRST}.get(kind, "cluster")
