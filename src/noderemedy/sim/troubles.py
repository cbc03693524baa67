"""What goes wrong in a simulated day: servers, BMCs, people and manager processes, drawn from the seed.

Every trouble ends, at the latest when the world is healed; then everything must come to rest in good order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial

from noderemedy.model.ids import HOST, NODE, REMEDIATION, Kind
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.baremetal import wants_power
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.server import Kernel, Server
from noderemedy.sim.touching import UNSEEN, Touching
from noderemedy.sim.weather import CALM
from noderemedy.wire import names

MINUTE_MS = 60_000
KEEPER = "example.com/keeps"
HOST_PAUSED = "baremetalhost.metal3.io/paused"
DIES_LISTING = "manager_dies_listing"
LISTING_MS, PAGING_MS = (5, 40), (5, 5_000)  # how long lists are on their way, in one piece or in pages


class Troubles:
    """Plans troubles on the agenda and remembers how to end them."""

    def __init__(self, cluster: Cluster, processes: list[Process], seed: int) -> None:
        self.cluster = cluster
        self.processes = processes
        self.chance = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.touched: dict[str, dict[str, int]] = {}  # by each trouble: which node, "" if nobody's, and when first
        self.touching: Touching | None = Touching(cluster, processes)
        self.is_over = False
        self.deaths: random.Random | None = None  # what says when it dies that lists; None: before anything came
        self._kinds: list[tuple[Callable[[], None], int]] = [
            (self.panic, 6),
            (self.hang, 6),
            (self.partition, 5),
            (self.network_plugin_fails, 4),
            (self.power_glitch, 3),
            (self.bmc_down, 3),
            (self.ignores_off, 2),
            (self.ignores_on, 2),
            (self.never_boots, 2),
            (self.person_marks, 3),
            (self.person_calls_off, 2),
            (self.person_cordons, 2),
            (self.person_remediates, 4),
            (self.person_recalls, 2),
            (self.board_dies, 2),
            (self.finalizer_removed, 1),
            (self.host_paused, 2),
            (self.consumer_changes, 2),
            (self.machine_deleted, 1),
            (self.host_name_garbled, 1),
            (self.hold_garbled, 1),
            (self.manager_dies, 5),
            (self.manager_pauses, 3),
            (self.two_leaders, 2),
            (self.clock_steps, 2),
            (self.rack_outage, 1),
            (self.rulers_hang, 1),
            (self.control_plane_outage, 1),
        ]

    def add(self, kinds: list[tuple[Callable[[], None], int]]) -> None:
        """Troubles that only some clusters know, with their weights."""
        self._kinds += kinds

    def plan(self, until_ms: int, every_ms: int) -> None:
        """One trouble every so often, on average."""
        delay = round(self.chance.expovariate(1 / every_ms)) + 1
        if self.cluster.agenda.now_ms + delay >= until_ms:
            return
        self.cluster.agenda.after(delay, lambda: self._strike(until_ms, every_ms))

    def _strike(self, until_ms: int, every_ms: int) -> None:
        kinds, weights = zip(*self._kinds, strict=True)
        trouble = self.chance.choices(kinds, weights)[0]
        before = self.touching.look() if self.touching else None
        trouble()
        nodes = self.touching.since(before) if self.touching and before else set()
        if nodes is not None or trouble.__name__ in UNSEEN:
            self.count(trouble.__name__, nodes)
        self.plan(until_ms, every_ms)

    def count(self, name: str, nodes: set[str] | None = None) -> None:
        """It did something, to these nodes or to nobody in particular."""
        self.seen[name] += 1
        for node in sorted(nodes or {""}):
            self.touched.setdefault(name, {}).setdefault(node, self.cluster.agenda.now_ms)

    def heal(self) -> None:
        """All faults end; what lies broken is picked up by the usual means."""
        self.is_over = True
        for process in self.processes:
            process.weather = CALM
            process.calm_watches()
            process.always_leads = False
            process.skew_ms = 0
        for name, server in self.cluster.servers.items():
            server.bmc.answers = server.bmc.obeys_off = server.bmc.obeys_on = True
            server.is_broken = False
            server.ail(False)
            if not server.is_linked:
                server.link(True)
            if server.has_power and server.kernel is Kernel.DOWN:
                server.booted()
            self._annotate(HOST, host_of(name), {HOST_PAUSED: None})
            self.cluster.baremetal.poke(NAMESPACE, host_of(name))

    # --- servers and their BMCs ------------------------------------------------------------------------------------

    def panic(self) -> None:
        self._server().panic()

    def hang(self) -> None:
        self._server().hang()

    def partition(self) -> None:
        server = self._server()
        server.link(False)
        self._later(self.chance.randint(1, 30), lambda: server.link(True))

    def network_plugin_fails(self) -> None:
        """Kubelet lives and says that its node is sick; pods write on. A reboot helps, and so does a while."""
        server = self._server()
        server.ail(True)
        self._later(self.chance.randint(1, 40), partial(server.ail, False))

    def power_glitch(self) -> None:
        """Power goes and comes back behind the operator's back: what the API says of it is old (races R35, R48)."""
        name = self._name()
        server = self.cluster.servers[name]
        if server.has_power:
            server.power_off()
            self.cluster.agenda.after(self.chance.randint(1_000, 90_000), lambda: self._power_back(name))

    def _power_back(self, name: str) -> None:
        host = self.cluster.api.get(HOST, host_of(name), NAMESPACE)
        server = self.cluster.servers[name]
        if not server.has_power and wants_power(host):
            server.power_on()
            self.cluster.agenda.after(self.cluster.durations.boot, partial(self.cluster.baremetal.boot, server))

    def bmc_down(self) -> None:
        bmc = self._server().bmc
        bmc.answers = False
        self._later(self.chance.randint(1, 20), lambda: setattr(bmc, "answers", True))

    def ignores_off(self) -> None:
        bmc = self._server().bmc
        bmc.obeys_off = False
        self._later(self.chance.randint(1, 20), lambda: setattr(bmc, "obeys_off", True))

    def ignores_on(self) -> None:
        bmc = self._server().bmc
        bmc.obeys_on = False
        self._later(self.chance.randint(1, 20), lambda: setattr(bmc, "obeys_on", True))

    def never_boots(self) -> None:
        server = self._server()
        server.is_broken = True
        server.panic()

    def rack_outage(self) -> None:
        """Fault 59: a whole rack is cut off for a while."""
        rack = self._server().rack
        self._cut_off([one for one in self.cluster.servers.values() if one.rack == rack], self.chance.randint(2, 15))

    def rulers_hang(self) -> None:
        """Two of the first three, which are the control plane: without them it would have no quorum."""
        for server in self.chance.sample(self._rulers(), 2):
            server.hang()

    def control_plane_outage(self) -> None:
        """Fault 59: nobody reaches the control plane for a while; to it, all nodes are silent."""
        self._cut_off(list(self.cluster.servers.values()), self.chance.randint(2, 6))

    def _cut_off(self, servers: list[Server], minutes: int) -> None:
        cut = [server for server in servers if server.is_linked]
        for server in cut:
            server.link(False)
        for server in cut:
            self._later(minutes, partial(server.link, True))

    # --- people and other controllers ------------------------------------------------------------------------------

    def person_marks(self) -> None:
        """Somebody wants a healthy node power cycled."""
        self.cluster.mark(self._name())

    def person_calls_off(self) -> None:
        """Somebody takes the request back, at whatever point the repair is: a check's, too."""
        self.cluster.unmark(self._marked())

    def person_remediates(self) -> None:
        """Somebody asks for a power cycle by a Metal3Remediation, of a healthy node or a sick one."""
        by = self.chance.choice(({}, {"freeBy": "taint"}, {"freeBy": "pods"}, {"freeBy": "pods"}, {"freeBy": "node"}))
        strategy = self.chance.choice(("reboot", "reboot", "escalate"))
        self.cluster.remediate(self.chance.choice((self._name, self._busy))(), strategy=strategy, **by)

    def board_dies(self) -> None:
        """A server that never boots again, and somebody who has it power cycled without much patience."""
        name = self._name()
        strategy = self.chance.choice(("reboot", "escalate"))
        self.cluster.servers[name].is_broken = True
        self.cluster.servers[name].panic()
        self.cluster.remediate(name, strategy=strategy, deleteAfterRetries=0, powerOnTimeoutSeconds=60)

    def person_recalls(self) -> None:
        """Somebody deletes a Metal3Remediation, at whatever point it is."""
        for remediation in self.cluster.api.list(REMEDIATION)[:1]:
            self.cluster.recall(remediation["metadata"]["name"].removeprefix(machine_of("")))

    def finalizer_removed(self) -> None:
        """Somebody takes the finalizer off by hand and deletes the request (fault 30): its hold is nobody's."""
        for remediation in self.cluster.api.list(REMEDIATION)[:1]:
            name = remediation["metadata"]["name"]
            self.cluster.api.patch(REMEDIATION, name, NAMESPACE, {"metadata": {"finalizers": []}}, "merge")
            self.cluster.recall(name.removeprefix(machine_of("")))

    def person_cordons(self) -> None:
        name = self._name()
        if self.cluster.api.find(NODE, name) is not None:
            self.cluster.cordon(name)

    def host_paused(self) -> None:
        name = host_of(self._name())
        self._annotate(HOST, name, {HOST_PAUSED: ""})
        self._later(self.chance.randint(1, 15), lambda: self._annotate(HOST, name, {HOST_PAUSED: None}))

    def consumer_changes(self) -> None:
        """A host is given to somebody else for a while (race R49)."""
        name = self._ailing()
        self._consumer(name, "somebody-else")
        self._later(self.chance.randint(1, 15), lambda: self._consumer(name, machine_of(name)))

    def machine_deleted(self) -> None:
        """The Machine is deleted and made again under the same name (fault 16): its repair is forgotten."""
        name = self.chance.choice((self._ailing, self._remediated))()
        machine = self.cluster.api.find(self.cluster.dialect.machine, machine_of(name), NAMESPACE)
        notes = (machine or {}).get("metadata", {}).get("annotations") or {}
        if machine is None or names.NODE_BACKUP in notes or "deletionTimestamp" in machine["metadata"]:
            return
        if self.chance.random() < 0.5:
            self._keep(name, [KEEPER])
            self._later(self.chance.randint(1, 5), partial(self._keep, name, []))
        self.cluster.delete_machine(name)
        self._later(self.chance.randint(6, 8), partial(self._make_again, name))

    def _make_again(self, node: str) -> None:
        """Once nobody keeps the old one any more."""
        if self.cluster.machines(node):
            self._later(1, partial(self._make_again, node))
        else:
            self.cluster.create_machine(node)

    def _keep(self, node: str, finalizers: list[str]) -> None:
        """Somebody's finalizer comes, and goes: the Machine is deleted only then."""
        if self.cluster.machines(node):
            body = {"metadata": {"finalizers": finalizers}}
            self.cluster.api.patch(self.cluster.dialect.machine, machine_of(node), NAMESPACE, body, "merge")

    def host_name_garbled(self) -> None:
        """Somebody's script writes nonsense into the Machine (fault 17), and mends it later."""
        name = self._ailing()
        machine, right = machine_of(name), f"{NAMESPACE}/{host_of(name)}"
        says = self.cluster.dialect.names_host
        self._annotate(says, machine, {names.MACHINE_HOST: "not/a/host"})
        minutes = self.chance.randint(1, 10)
        self._later(minutes, lambda: self._annotate(says, machine, {names.MACHINE_HOST: right}))

    def hold_garbled(self) -> None:
        """The record beside a hold is not readable any more; the hold itself is."""
        for host in self.cluster.api.list(HOST):
            notes = host["metadata"].get("annotations") or {}
            for key in [key for key in notes if key.startswith(names.HOLD)]:
                self._annotate(HOST, host["metadata"]["name"], {key: "{"})

    # --- managers --------------------------------------------------------------------------------------------------

    def manager_dies(self) -> None:
        process = self.chance.choice(self.processes)
        if process.is_alive:
            process.kill()
            self.cluster.agenda.after(self.chance.randint(500, 60_000), lambda: self._restart(process))

    def _restart(self, process: Process) -> None:
        """Start it again; now and then it dies once more while it still lists (fault 25)."""
        if process.is_alive:
            return
        process.start()
        if self.is_over or self.chance.random() >= 0.3:
            return
        if self.deaths is None:
            process.kill()
            self.cluster.agenda.after(5_000, lambda: self._restart(process))
        else:
            delay = self.deaths.randint(*PAGING_MS if process.pages else LISTING_MS)
            self.cluster.agenda.after(delay, partial(self._die_listing, process, process.alive_since()))

    def _die_listing(self, process: Process, is_same: Callable[[], bool]) -> None:
        """In the middle of its lists: some kinds are complete, or half complete, and some have not come."""
        if self.is_over or not is_same():
            return
        if process.is_listing:
            self.count(DIES_LISTING)
        process.kill()
        self.cluster.agenda.after(5_000, lambda: self._restart(process))

    def manager_pauses(self) -> None:
        process = self.chance.choice(self.processes)
        if process.is_alive and not process.is_paused:
            process.pause(self.chance.randint(5_000, 60_000))

    def two_leaders(self) -> None:
        for process in self.processes:
            process.always_leads = True
            self._later(1, partial(setattr, process, "always_leads", False))

    def clock_steps(self) -> None:
        process = self.chance.choice(self.processes)
        process.skew_ms = self.chance.randint(-300_000, 300_000)

    # --- small hands -----------------------------------------------------------------------------------------------

    def _name(self) -> str:
        return self.chance.choice(list(self.cluster.servers))

    def _ailing(self) -> str:
        """A node whose server is silent, if there is one: there is more to disturb."""
        silent = [name for name, server in self.cluster.servers.items() if not server.is_heard]
        return self.chance.choice(silent) if silent else self._name()

    def _remediated(self) -> str:
        """A node for whose Machine there is a Metal3Remediation, if there is one."""
        asked = [tree["metadata"]["name"].removeprefix(machine_of("")) for tree in self.cluster.api.list(REMEDIATION)]
        return self.chance.choice(asked) if asked else self._name()

    def _busy(self) -> str:
        """A node on which something runs, if there is one: there is more to free."""
        busy = [name for name, server in self.cluster.servers.items() if server.running]
        return self.chance.choice(busy) if busy else self._name()

    def _marked(self) -> str:
        """A node whose Machine is marked, if there is one: there is something to take back."""
        marked = [name for name in self.cluster.servers if any(map(is_marked, self.cluster.machines(name)))]
        return self.chance.choice(marked) if marked else self._name()

    def _server(self) -> Server:
        return self.cluster.servers[self._name()]

    def _rulers(self) -> list[Server]:
        """The nodes of the control plane."""
        return list(self.cluster.servers.values())[:3]

    def _later(self, minutes: int, do: Callable[[], None]) -> None:
        self.cluster.agenda.after(minutes * MINUTE_MS, do)

    def _annotate(self, kind: Kind, name: str, notes: dict[str, str | None]) -> None:
        if self.cluster.api.find(kind, name, NAMESPACE) is not None:
            self.cluster.api.patch(kind, name, NAMESPACE, {"metadata": {"annotations": notes}}, "merge")

    def _consumer(self, node: str, machine: str) -> None:
        body = {"spec": {"consumerRef": {"name": machine}}}
        self.cluster.api.patch(HOST, host_of(node), NAMESPACE, body, "merge")


def is_marked(machine: Tree) -> bool:
    return names.NEEDS_REMEDIATION in (machine["metadata"].get("annotations") or {})
