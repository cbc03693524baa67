"""Owners of Machines where nodes are fenced: what fencing does not help is theirs to replace (`strategy: escalate`).

A share of the fencing worlds has them (`escalating_of`, of a chance of its own: all others are as without it). Two
sorts: a pool in a cloud, which the reference owner replaces, each instance with a BMC to fence it by; and whoever owns
the Machines of the servers, somebody else's controller, which lets a server be installed anew under the same names or
does nothing. `escalationcheckers.py` holds against the truth what they are asked for.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from noderemedy.model.ids import MACHINE, NODE, NODE_FENCE
from noderemedy.model.machineconditions import OWNER_REMEDIATED
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.clouds import Cloud
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.fenced import Fenced
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.outlets import Sort
from noderemedy.sim.provider import is_ours
from noderemedy.sim.server import Server

MINUTE_MS = 60_000
SHARE, IDLE_SHARE = 0.25, 0.25  # of the worlds; of the requests that the owner of servers does nothing about
KEEPER = "owner.sim.example/server"
LABELS = {"device": "bmc", "trigger": "check"}  # of the pool: its check and its document are those of such nodes
Trouble = tuple[Callable[[], None], int]


class Pool(Cloud):
    """Machines of the reference owner, each with a BMC. Their check has them fenced, which is not always enough."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        cluster.provider.labels = LABELS
        cluster.provider.on_instance.append(self._wire)
        cluster.provider.on_end.append(self._unwire)
        super().__init__(cluster, seed, has_check=False)

    def _wire(self, server: Server) -> None:
        server.labels = LABELS
        self.cluster.outlets.add(server, Sort.POWER, is_own_state=False, ip=f"{server.name}.bmc.example")

    def _unwire(self, server: Server) -> None:
        """What was an instance answers nobody any more."""
        for outlet in self.cluster.outlets.by_node.pop(server.name, ()):
            self.cluster.outlets.by_place.pop(outlet.place, None)

    def troubles(self) -> list[Trouble]:
        return [
            (self.instance_hangs, 4),
            (self.instance_dies, 8),
            (self.instance_cut_off, 2),
            (self.deletions_fail, 2),
            (self.instances_linger, 2),
            (self.cloud_exhausted, 2),
            (self.person_wants_replaced, 2),
            (self.person_spares, 2),
        ]

    def instance_dies(self) -> None:
        """It never boots again: no fence brings it back."""
        if server := self._instance():
            server.is_broken = True
            self.chance.choice((server.panic, server.hang))()

    def heal(self) -> None:
        for server in self.provider.instances.values():
            server.is_broken = False
        self.person_spares()  # a mark that stays would have it fenced again and again
        super().heal()

    def call(self) -> None:
        """People look after instances that nobody fences or replaces."""
        for machine in self.provider.machines():
            name, meta = machine["metadata"]["name"], machine["metadata"]
            server = self.provider.instances.get(name)
            is_left = self.cluster.api.find(NODE_FENCE, f"node-fence-{name}") is None
            if server is None or server.is_heard or not is_left or "deletionTimestamp" in meta:
                continue
            if server.has_power:
                server.booted()
            else:
                self.cluster.outlets.power_on(server)


class Installer:
    """Somebody else's owner of the Machines of servers: ends one that it is asked to replace, and makes it again."""

    def __init__(self, fenced: Fenced, chance: random.Random) -> None:
        self.fenced = fenced
        self.cluster = fenced.cluster
        self.chance = chance
        self.replaced: list[str] = []  # nodes
        self._asked: set[str] = set()  # uids
        self._node_of = {machine_of(node): node for node in fenced.nodes}
        self.cluster.api.subscribe(MACHINE, self._machine)

    def _machine(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        if event.type == "DELETED" or meta["uid"] in self._asked or is_ours(event.tree) or not is_asked(event.tree):
            return
        self._asked.add(meta["uid"])
        if self.chance.random() >= IDLE_SHARE:
            delay = self.chance.randint(1, 5 * MINUTE_MS)
            self.cluster.agenda.after(delay, partial(self._replace, meta["name"], meta["uid"]))

    def _found(self, name: str, uid: str) -> Tree | None:
        found = self.cluster.api.find(MACHINE, name, NAMESPACE)
        return found if found is not None and found["metadata"]["uid"] == uid else None

    def _replace(self, name: str, uid: str) -> None:
        """It goes once its server is off, if its owner is still asked to."""
        found = self._found(name, uid)
        if found is None or not is_asked(found) or "deletionTimestamp" in found["metadata"]:
            return
        self.replaced.append(self._node_of[name])
        body = {"metadata": {"finalizers": [*(found["metadata"].get("finalizers") or ()), KEEPER]}}
        self.cluster.api.patch(MACHINE, name, NAMESPACE, body, "merge")
        self.cluster.api.delete(MACHINE, name, NAMESPACE)
        self.cluster.agenda.after(self.cluster.durations.deprovision, partial(self._end, name, uid))

    def _end(self, name: str, uid: str) -> None:
        """The server is off, then its Node goes, then the Machine."""
        node, found = self._node_of[name], self._found(name, uid)
        server = self.cluster.servers[node]
        if server.has_power:
            server.power_off()
        tree = self.cluster.api.find(NODE, node)
        server.labels = self.fenced.labels_of(node)  # whoever installs it knows them, also where a fence has freed it
        if tree is not None:
            server.labels |= tree["metadata"].get("labels", {})
            self.cluster.api.delete(NODE, node)
        if node in self.cluster.cordoned:
            self.cluster.cordoned.remove(node)  # what a person did to the one that is gone
            self.cluster.cordoned_before.add(node)
        if found is not None:
            kept = [one for one in found["metadata"]["finalizers"] if one != KEEPER]
            self.cluster.api.patch(MACHINE, name, NAMESPACE, {"metadata": {"finalizers": kept}}, "merge")
        self._again(node)

    def _again(self, node: str) -> None:
        """Once nobody keeps the old one: a new Machine, and the server is installed anew as soon as it has power."""
        if self.cluster.machines(node):
            self.cluster.agenda.after(MINUTE_MS, partial(self._again, node))
            return
        self.cluster.create_machine(node)
        self.fenced.label_machine(node)
        self.cluster.servers[node].is_broken = False
        self._install(node)

    def _install(self, node: str) -> None:
        server = self.cluster.servers[node]
        if server.has_power:
            return
        if self.fenced.has_current(node):
            self.cluster.outlets.power_on(server)
        else:
            self.cluster.agenda.after(MINUTE_MS, partial(self._install, node))


class Escalating:
    """Both sorts of owners."""

    def __init__(self, fenced: Fenced, seed: int, chance: random.Random) -> None:
        self.pool = Pool(fenced.cluster, seed)
        self.installer = Installer(fenced, chance)


def is_asked(machine: Tree) -> bool:
    told = machine.get("status", {}).get("conditions", ())
    return any((one["type"], one["status"]) == (OWNER_REMEDIATED, "False") for one in told)


def chance_of(seed: int) -> random.Random | None:
    """What the owners of this seed's world draw from, if it has any."""
    chance = random.Random(f"escalation {seed}")
    return chance if chance.random() < SHARE else None
