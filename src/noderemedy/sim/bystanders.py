"""Others who act at the same time: people, other remediators, an autoscaler, and an API server that has had enough.

Troubles for `Troubles.add`, numbered as in the fault list; each ends by itself, and at the latest with `heal`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from msgspec import structs

from noderemedy.model.ids import BUDGET, HOST, MACHINE, NODE, Kind
from noderemedy.sim import objects
from noderemedy.sim.apiserver import ApiError, Tree, User
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.definitions import bare
from noderemedy.sim.objects import NAMESPACE, SYSTEM
from noderemedy.sim.process import MANAGER, Process
from noderemedy.sim.skies import Skies
from noderemedy.sim.weather import CALM, Fate
from noderemedy.wire import names

MINUTE_MS = 60_000
OTHERS_HOLD = "reboot.metal3.io/somebody-else"
REFUSALS = (Fate.CONFLICT, Fate.TOO_MANY, Fate.BROKEN, Fate.DENIED, Fate.FORBIDDEN, Fate.UNAUTHORIZED, Fate.READ_ONLY)
CUT_OFF = structs.replace(CALM, requests=((Fate.NEVER_ARRIVED, 1.0),), is_cut=True)


class Bystanders:
    """Draws who else does something, and takes it back later."""

    def __init__(self, cluster: Cluster, processes: list[Process], chance: random.Random) -> None:
        self.cluster = cluster
        self.processes = processes
        self.chance = chance
        self.skies = Skies(cluster.agenda, chance)
        self.is_terminating = False
        self.budget = bare(cluster.api.get(BUDGET, "cluster")) if self._has_budget() else None
        cluster.api.hooks.append(self._refuse)

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.api_outage, 1),
            (self.api_refuses, 2),
            (self.namespace_terminates, 1),
            (self.budget_edited, 1),
            (self.budget_deleted, 1),
            (self.autoscaler_removes, 1),
            (self.another_remediator, 2),
            (self.person_reboots, 2),
            (self.person_uncordons, 1),
            (self.machine_paused, 2),
            (self.host_swapped, 1),
        ]

    # --- the API server ------------------------------------------------------------------------------------------

    def api_outage(self) -> None:
        """Faults 11, 60: no request of any manager arrives, no watch says anything, no list is answered."""
        for process in self.processes:
            self.skies.change(process, CUT_OFF)

    def api_refuses(self) -> None:
        """Faults 1, 10 to 14, 19: one manager gets the same refusal for whatever it asks."""
        fate = self.chance.choice(REFUSALS)
        self.skies.change(self.chance.choice(self.processes), structs.replace(CALM, requests=((fate, 1.0),)))

    def namespace_terminates(self) -> None:
        """Fault 20: nothing new can be made in our own namespace: no claim, no Incident, no ledger."""
        self.is_terminating = True
        self._later(lambda: setattr(self, "is_terminating", False), 1, 6)

    def _refuse(self, verb: str, resource: Any, old: Any, new: Any, user: User) -> None:
        if not self.is_terminating or verb != "create" or user != MANAGER:
            return
        if new["metadata"].get("namespace") == SYSTEM:
            raise ApiError(403, "Forbidden", f"namespace {SYSTEM} is being terminated")

    # --- what people write -----------------------------------------------------------------------------------------

    def budget_edited(self) -> None:
        """Fault 28: fewer repairs at once or within an hour, in the middle of them."""
        self._patch(BUDGET, "cluster", "", {"spec": self.chance.choice(({"maxInFlight": 1}, {"maxPerHour": 2}))})
        self._later(self._mend_budget, 2, 15)

    def budget_deleted(self) -> None:
        """Fault 29: the defaults hold until it is made again."""
        if self._has_budget():
            self.cluster.api.delete(BUDGET, "cluster")
            self._later(self._mend_budget, 2, 15)

    def _mend_budget(self) -> None:
        """The budget as it was; where the whole kind is gone, once it is there again."""
        if self.budget is None:
            return
        if not self._is_served(BUDGET):
            self._later(self._mend_budget, 1, 1)
        elif self._has_budget():
            self._patch(BUDGET, "cluster", "", {"spec": self.budget["spec"]})
        else:
            self.cluster.api.create(self.budget)

    def machine_paused(self) -> None:
        """Somebody pauses a Machine, by Cluster API's annotation or by ours."""
        name = machine_of(self._name())
        key = self.chance.choice((names.CLUSTER_PAUSED, names.PAUSED))
        self._annotate(MACHINE, name, {key: "true"})
        self._later(lambda: self._annotate(MACHINE, name, {key: None}), 5, 25)

    def host_swapped(self) -> None:
        """Fault 55: a Machine names the host of another one for a while."""
        mine, other = self._name(), self._name()
        says, right = self.cluster.dialect.names_host, f"{NAMESPACE}/{host_of(mine)}"
        self._annotate(says, machine_of(mine), {names.MACHINE_HOST: f"{NAMESPACE}/{host_of(other)}"})
        self._later(lambda: self._annotate(says, machine_of(mine), {names.MACHINE_HOST: right}), 1, 15)

    # --- others who repair -----------------------------------------------------------------------------------------

    def autoscaler_removes(self) -> None:
        """Fault 61: a Machine of the pool is deleted by somebody else, sick or not; later there is another one."""
        idle = [one["metadata"]["name"] for one in self.cluster.provider.machines() if not is_in_hand(one)]
        if idle:
            name = self.chance.choice(idle)
            self.cluster.api.delete(MACHINE, name, NAMESPACE)
            self._later(lambda: self._scale_up(name), 5, 5)

    def _scale_up(self, name: str) -> None:
        """The cloud takes away the Node of an instance that has ended; then the pool gets its size again."""
        provider = self.cluster.provider
        found = provider.machines()
        if self.cluster.api.find(MACHINE, name, NAMESPACE) or any(is_in_hand(one) for one in found):
            self._later(lambda: self._scale_up(name), 5, 5)
            return
        if self.cluster.api.find(NODE, name) is not None:
            self.cluster.api.delete(NODE, name)
        if len(found) < provider.pool:
            self.cluster.api.create(objects.instance_machine(f"{name}-again"))

    def another_remediator(self) -> None:
        """Fault 62: somebody else power cycles a host, with a key of its own."""
        host = host_of(self._name())
        self._annotate(HOST, host, {OTHERS_HOLD: ""})
        self._later(lambda: self._annotate(HOST, host, {OTHERS_HOLD: None}), 1, 4)

    def person_reboots(self) -> None:
        """Fault 63: a new boot that nobody asked us for, of a node that is well or not."""
        server = self.cluster.servers[self._name()]
        if server.has_power and not server.is_broken:
            server.booted()

    def person_uncordons(self) -> None:
        """Fault 63: a cordon is taken back while nothing is being repaired there."""
        for name in sorted(self.cluster.cordoned)[:1]:
            notes = [one["metadata"].get("annotations") or {} for one in self.cluster.machines(name)]
            if self.cluster.api.find(NODE, name) is not None and names.NODE_BACKUP not in (*notes, {})[0]:
                self.cluster.cordoned.discard(name)
                self._patch(NODE, name, "", {"spec": {"unschedulable": None}})

    def heal(self) -> None:
        """Everybody takes back what is still there; the weather is the business of `Troubles`."""
        self.skies.heal()
        self.is_terminating = False
        self._mend_budget()
        for name in self.cluster.servers:
            self._annotate(MACHINE, machine_of(name), {names.CLUSTER_PAUSED: None, names.PAUSED: None})
            self._annotate(HOST, host_of(name), {OTHERS_HOLD: None})

    # --- small hands ---------------------------------------------------------------------------------------------

    def _name(self) -> str:
        return self.chance.choice(list(self.cluster.servers))

    def _later(self, do: Callable[[], None], least: int, most: int) -> None:
        self.cluster.agenda.after(self.chance.randint(least, most) * MINUTE_MS, do)

    def _annotate(self, kind: Kind, name: str, notes: dict[str, str | None]) -> None:
        self._patch(self.cluster.dialect.kind(kind), name, NAMESPACE, {"metadata": {"annotations": notes}})

    def _has_budget(self) -> bool:
        return self._is_served(BUDGET) and self.cluster.api.find(BUDGET, "cluster") is not None

    def _is_served(self, kind: Kind) -> bool:
        return self.cluster.api.resources.find(kind) is not None

    def _patch(self, kind: Kind, name: str, namespace: str, body: dict[str, Any]) -> None:
        if self._is_served(kind) and self.cluster.api.find(kind, name, namespace) is not None:
            self.cluster.api.patch(kind, name, namespace, body, "merge")


def is_in_hand(machine: Tree) -> bool:
    """Whether a Machine is going, or the reference owner is at work on it."""
    notes = machine["metadata"].get("annotations") or {}
    return "deletionTimestamp" in machine["metadata"] or names.REPLACEMENT in notes
