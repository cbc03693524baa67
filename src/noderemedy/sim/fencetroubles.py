"""What goes wrong where nodes are fenced: devices, documents, secrets, workload, people. Numbers: the fault list.

Drawn from the seed like all troubles, and in the healed world people put right what they are called for. A device that
lies about a node which nobody hears is not among them: its word is the proof, and no proof can know better.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from noderemedy.model.attestation import Attestation
from noderemedy.model.ids import CONFIG_MAP, NODE, NODE_FENCE, Kind
from noderemedy.model.reasons import DeviceAstray, FencedNodeReplaced, LeftCutOff, PowerLeftOff
from noderemedy.model.run import Deed
from noderemedy.model.time import Wall
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.dumps import Dumps
from noderemedy.sim.fenced import PLUGGED, SECRET, Fenced
from noderemedy.sim.fenceswitches import FenceSwitches
from noderemedy.sim.jobrunner import Jobs
from noderemedy.sim.kinds import ATTACHMENT, POD
from noderemedy.sim.outlets import STORAGE, Fault, Outlet, Sent
from noderemedy.sim.process import Process
from noderemedy.sim.server import Kernel, Server
from noderemedy.sim.troubles import MINUTE_MS, Troubles
from noderemedy.sim.weather import CALM
from noderemedy.wire import names
from noderemedy.wire.attestations import attestation_text

KEEPER = "example.com/keeps"
BUDGETS = Kind("policy", "PodDisruptionBudget")
STORM_PERCENT = 40  # the budget lets no repair begin then
DEVICE_FAULTS = (
    *(Fault.UNREACHABLE, Fault.LOCKED, Fault.IDLE_OFF, Fault.LYING, Fault.IDLE_ON),
    *(Fault.FLAPPING, Fault.SLOW, Fault.BUSY),
)


class FenceTroubles(Troubles):
    """The troubles of servers and managers that every world has, and those of fencing."""

    def __init__(self, fenced: Fenced, jobs: Jobs, processes: list[Process], seed: int) -> None:
        super().__init__(fenced.cluster, processes, seed)
        self.touching = None  # devices, documents and secrets are not looked at: all that is drawn counts
        self.fenced = fenced
        self.jobs = jobs
        self.spared: set[str] = set()  # whose silence would prove what nobody can know
        self.pulled: set[str] = set()  # whose plugs a person pulled, and puts in again when all is over
        self.mixed_up: set[str] = set()  # whose outlet two documents name: a second mistake there shows to nobody
        self.edits = 0  # mistakes in documents so far
        self.to_move = 0  # how many nodes are to be plugged in elsewhere as soon as they are off
        fenced.cluster.outlets.on_done.append(self._switched)
        self._kinds = [
            (self.panic, 5),
            (self.hang, 8),
            (self.partition, 6),
            (self.network_plugin_fails, 5),
            (self.never_boots, 2),
            (self.power_glitch, 3),
            (self.kernel_dumps, 4),
            (self.dump_forged, 3),
            (self.device_fails, 16),
            (self.device_fails_when_needed, 8),
            (self.wrong_cable, 2),
            (self.plug_shared, 2),
            (self.plugs_moved, 4),
            (self.config_edited, 3),
            (self.config_deleted, 2),
            (self.secret_missing, 2),
            (self.secret_changed, 2),
            (self.jobs_fail, 3),
            (self.person_fences, 8),
            (self.person_stops, 4),
            (self.person_releases, 4),
            (self.person_attests, 4),
            (self.person_cordons, 2),
            (self.disruption_forbidden, 2),
            (self.pod_kept, 3),
            (self.volume_kept, 3),
            (self.manager_dies, 6),
            (self.manager_pauses, 3),
            (self.two_leaders, 2),
            (self.clock_steps, 2),
        ]
        self.dumps = Dumps(fenced.cluster.agenda, processes)
        self.switches = FenceSwitches(fenced, self.chance, self.spared)
        self.add(self.switches.troubles())

    def _name(self) -> str:
        return self.chance.choice([name for name in self.cluster.servers if name not in self.spared])

    def _server(self) -> Server:
        """One on which something runs, more often than not: there is more to lose."""
        return self.cluster.servers[self.chance.choice((self._name, self._busy))()]

    def _busy(self) -> str:
        busy = [name for name, server in self.cluster.servers.items() if server.is_busy and name not in self.spared]
        return self.chance.choice(busy) if busy else self._name()

    # --- kernels -------------------------------------------------------------------------------------------------

    def kernel_dumps(self) -> None:
        """Fault 46: a kernel panics and dumps its memory, now and then for longer than anybody waits."""
        self.dumps.dump(self._server(), self.chance.randint(1, 8) * MINUTE_MS)

    def dump_forged(self) -> None:
        """Race R39: a server hangs while its workload writes on, and somebody says that it dumps."""
        server = self._server()
        server.hang()
        self.dumps.forge(server.name, self.cluster.agenda.now_ms + self.chance.randint(1, 15) * MINUTE_MS)

    # --- devices -------------------------------------------------------------------------------------------------

    def device_fails(self) -> None:
        """Faults 47 to 50, 52 to 54, 57 and 58."""
        self._fail(self.chance.choice(list(self.cluster.outlets.by_place.values())))

    def device_fails_when_needed(self) -> None:
        """The same with a device of a node that is being fenced."""
        outlets = [one for tree in self._fences() for one in self.fenced.outlets(tree["spec"]["node"])]
        if outlets:
            self._fail(self.chance.choice(outlets))

    def _fail(self, outlet: Outlet) -> None:
        fault = self.chance.choice(DEVICE_FAULTS)
        self.count(f"fault: {fault.value}")
        outlet.faults.add(fault)
        self._later(self.chance.randint(1, 20), partial(outlet.faults.discard, fault))

    def power_glitch(self) -> None:
        """Fault 51: what is off comes on by itself; or power goes, and comes back."""
        off = [one for one in self.cluster.servers.values() if not one.has_power]
        if off:
            self._light(self.chance.choice(off))
            return
        server = self._server()
        if server.has_power and not server.is_broken:
            server.power_off()
            delay = self.chance.randint(1_000, 90_000)
            self.cluster.agenda.after(delay, lambda: None if server.has_power else self._light(server))

    def _light(self, server: Server) -> None:
        """By a hand at its front: whatever switches it is on. An instance that was ended has no front any more."""
        if server.name not in self.cluster.servers and not self.fenced.outlets(server.name):
            return
        for outlet in self.fenced.outlets(server.name):
            outlet.is_on = True if outlet.sort.value == "power" else outlet.is_on
        if not server.has_power:
            self.cluster.outlets.power_on(server)

    def wrong_cable(self) -> None:
        """Fault 55: the device of a node that reports is another machine's, and somebody has the node power cycled."""
        name = self._name()
        outlets = self.fenced.outlets(name)
        server = self.cluster.servers[name]
        is_free = self.cluster.api.find(NODE_FENCE, f"node-fence-{name}") is None
        if not outlets or not server.is_heard or not is_free or self._is_behind_storage(name):
            return
        self.spared.add(name)
        for outlet in outlets:
            outlet.faults.add(Fault.ELSEWHERE)
        server.ail(self.chance.random() < 0.5)
        self._fence(name, evenIfReady=True, powerManagementDelay="0s")
        self._later(15, partial(self._recable, name))

    def _is_behind_storage(self, name: str) -> bool:
        return any(outlet.sort in STORAGE for outlet in self.fenced.outlets(name))

    def _recable(self, name: str) -> None:
        self.release(name)
        self._later(10, partial(self._recabled, name))

    def _recabled(self, name: str) -> None:
        for outlet in self.fenced.outlets(name):
            outlet.faults.discard(Fault.ELSEWHERE)
        self.spared.discard(name)

    # --- documents and secrets -----------------------------------------------------------------------------------

    def plug_shared(self) -> None:
        """Fault 56: by its document a node hangs on the outlet of another one; neither may be fenced."""
        plugged = [one for one in self.fenced.nodes if self.fenced.device(one) in PLUGGED and self._has_config(one)]
        if self.mixed_up or len(plugged) < 2:
            return
        name = self.chance.choice(plugged)
        others = [one for one in plugged if one != name]
        alike = [one for one in others if self.fenced.device(one) == self.fenced.device(name)]
        other = (alike or others)[0]
        self.mixed_up = {name, other}
        self.fenced.write_config(name, self.fenced.numbers[other])
        self._later(self.chance.randint(1, 10), partial(self._set_right, name))

    def _set_right(self, name: str) -> None:
        self.mixed_up.clear()
        self.fenced.write_config(name)

    def plugs_moved(self) -> None:
        """Fault 28: the next node of the PDUs that a fence switches off is plugged in elsewhere, for good."""
        self.to_move += 1

    def _switched(self, sent: Sent) -> None:
        """One that is off, so that no word of a device is about a machine which runs on by other outlets."""
        name = sent.outlet.server.name
        is_off = sent.deed is Deed.OFF and not sent.outlet.server.has_power
        if is_off and self.to_move and self.fenced.device(name) == "pdu" and not self.is_over:
            self.to_move -= 1
            self.cluster.agenda.after(self.chance.randint(0, 30_000), partial(self._move, name))

    def _move(self, name: str) -> None:
        if not self.cluster.servers[name].has_power and self._is_right(name) and not self.is_over:
            self.seen["plugs moved while off"] += 1
            self.fenced.move(name)

    def config_edited(self) -> None:
        """Fault 28: a mistake is written into the document of a node, and mended later; every second one is that
        something is switched off and never on again.
        """
        name = self.chance.choice([one for one in self.fenced.nodes if self._has_config(one)])
        self.edits += 1
        if self.edits % 2 and self.fenced.device(name) in PLUGGED:
            self.fenced.leave_out(name)
        else:
            body = {"data": {"config.properties": f"node_name={name}\npower_management=no-such-method\n"}}
            self.cluster.api.patch(CONFIG_MAP, f"fence-config-{name}", objects.SYSTEM, body, "merge")
        self._later(self.chance.randint(1, 10), partial(self.fenced.write_config, name))

    def config_deleted(self) -> None:
        """Of a node that is being fenced, if there is one: there is more to disturb."""
        written = [one for one in self.fenced.nodes if self._is_right(one)]
        fenced = {tree["spec"]["node"] for tree in self._fences()}
        name = self.chance.choice([one for one in written if one in fenced] or written)
        self.cluster.api.delete(CONFIG_MAP, f"fence-config-{name}", objects.SYSTEM)
        self._later(self.chance.randint(1, 10), partial(self.fenced.write_config, name))

    def _is_right(self, name: str) -> bool:
        """Whether a mistake in its document would be the only one."""
        return self._has_config(name) and name not in self.mixed_up

    def _has_config(self, name: str) -> bool:
        return self.cluster.api.find(CONFIG_MAP, f"fence-config-{name}", objects.SYSTEM) is not None

    def secret_missing(self) -> None:
        if self.cluster.api.find(SECRET, "devices", objects.SYSTEM) is not None:
            self.cluster.api.delete(SECRET, "devices", objects.SYSTEM)
            self._later(self.chance.randint(1, 5), self.fenced.write_secret)

    def secret_changed(self) -> None:
        """Fault 48 for all devices at once."""
        self.fenced.write_secret("wrong-horse-battery-staple")
        self._later(self.chance.randint(1, 5), self.fenced.write_secret)

    def jobs_fail(self) -> None:
        """Faults 67 and 68."""
        self.jobs.odds = 0.7
        self._later(self.chance.randint(2, 20), partial(setattr, self.jobs, "odds", 0.0))

    # --- people --------------------------------------------------------------------------------------------------

    def person_fences(self) -> None:
        """A node that is sick, or one that is well and to be power cycled; with a way to free, now and then."""
        by = self.chance.choice(({}, {"freeBy": "taint"}, {"freeBy": "pods"}, {"freeBy": "node"}))
        name = self.chance.choice((self._ailing, self._busy, self._name))()
        is_sick = not self.cluster.servers[name].is_heard
        times = {"powerManagementDelay": self.chance.choice(("0s", "60s")), "ttlAfterFinal": "120s"}
        self._fence(name, **by, **times, maxRestarts=self.chance.randint(0, 2), evenIfReady=not is_sick)

    def _fence(self, node: str, **spec: Any) -> None:
        if self.cluster.api.find(NODE_FENCE, f"node-fence-{node}") is None:
            self.cluster.api.create(node_fence(node, **spec))

    def _ailing(self) -> str:
        silent = [name for name, one in self.cluster.servers.items() if not one.is_heard and name not in self.spared]
        return self.chance.choice(silent) if silent else self._name()

    def person_cordons(self) -> None:
        """A node that can be used: a second cordon on top of ours leaves no trace that anybody could respect."""
        name = self._name()
        node = self.cluster.api.find(NODE, name)
        if node is not None and not node["spec"].get("unschedulable"):
            self.cluster.cordon(name)

    def person_stops(self) -> None:
        """And goes on later."""
        if tree := self._some_fence():
            name = tree["metadata"]["name"]
            self._stop(name, is_stopped=True)
            self._later(self.chance.randint(2, 15), lambda: self._stop(name, is_stopped=False))

    def _stop(self, name: str, *, is_stopped: bool) -> None:
        if self.cluster.api.find(NODE_FENCE, name) is not None:
            self.cluster.api.patch(NODE_FENCE, name, "", {"spec": {"stopped": is_stopped}}, "merge")

    def person_releases(self) -> None:
        """Deletes the NodeFence, at whatever point it is."""
        if tree := self._some_fence():
            self.release(tree["spec"]["node"])

    def release(self, node: str) -> None:
        if self.cluster.api.find(NODE_FENCE, f"node-fence-{node}") is not None:
            self.cluster.api.delete(NODE_FENCE, f"node-fence-{node}")

    def person_attests(self) -> None:
        """Somebody pulls the plugs of a node that is being fenced, and says so."""
        begun = [one for one in self._fences() if one.get("status", {}).get("nodeUID")]
        silent = [one for one in begun if not self._is_heard(one["spec"]["node"])]
        if not silent:
            return
        tree = self.chance.choice(silent)
        server = self._server_of(tree)
        if tree["status"]["bootID"] == server.boot_id and server.has_power:
            for outlet in self.fenced.outlets(server.name):
                outlet.is_on = False if outlet.sort.value == "power" else outlet.is_on
            server.power_off()
            self.pulled.add(server.name)
        self._attest(tree)  # of a boot that was over before, the word is as true

    def _attest(self, tree: Tree) -> None:
        status = tree["status"]
        word = Attestation("alice", Wall(self.cluster.agenda.wall().ms), status["nodeUID"], status["bootID"])
        body = {"metadata": {"annotations": {names.ATTESTED_OFF: attestation_text(word)}}}
        self.cluster.api.patch(NODE_FENCE, tree["metadata"]["name"], "", body, "merge")

    # --- workload ------------------------------------------------------------------------------------------------

    def disruption_forbidden(self) -> None:
        """Fault 64, for a while that is longer than anybody waits."""
        api = self.cluster.api
        if api.find(BUDGETS, "database", objects.WORKLOAD) is None:
            api.create(objects.disruption_budget("database"))
            self._later(self.chance.randint(5, 20), self._allow)

    def _allow(self) -> None:
        if self.cluster.api.find(BUDGETS, "database", objects.WORKLOAD) is not None:
            self.cluster.api.delete(BUDGETS, "database", objects.WORKLOAD)

    def pod_kept(self) -> None:
        """Fault 65: somebody's finalizer keeps a pod."""
        if pods := self.cluster.api.list(POD):
            self._cling(POD, self.chance.choice(pods))

    def volume_kept(self) -> None:
        """Fault 66: a volume does not detach."""
        if volumes := self.cluster.api.list(ATTACHMENT):
            self._cling(ATTACHMENT, self.chance.choice(volumes))

    def _cling(self, kind: Any, tree: Tree) -> None:
        meta = tree["metadata"]
        at = (kind, meta["name"], meta.get("namespace", ""))
        if "deletionTimestamp" not in meta:
            self._finalizers(at, [KEEPER])
            self._later(self.chance.randint(2, 20), lambda: self._finalizers(at, []))

    def _finalizers(self, at: tuple[Any, str, str], value: list[str]) -> None:
        if self.cluster.api.find(*at) is not None:
            self.cluster.api.patch(*at, {"metadata": {"finalizers": value}}, "merge")

    # --- the healed world ----------------------------------------------------------------------------------------

    def heal(self) -> None:
        """All faults end. What is broken is left to the usual means, and to people where they are called."""
        self.is_over = True
        for process in self.processes:
            process.weather = CALM
            process.calm_watches()
            process.always_leads = False
            process.skew_ms = 0
        self.dumps.is_over = True
        self.switches.heal()
        self.jobs.odds = 0.0
        for outlet in self.cluster.outlets.by_place.values():
            outlet.faults.clear()
        for server in self.cluster.servers.values():
            server.is_broken = False
            server.ail(False)
            if not server.is_linked:
                server.link(True)
            if server.has_power and server.kernel is Kernel.DOWN:
                server.booted()
        for kind in (POD, ATTACHMENT):
            for tree in self.cluster.api.list(kind):
                if KEEPER in tree["metadata"].get("finalizers", ()):
                    meta = tree["metadata"]
                    self._finalizers((kind, meta["name"], meta.get("namespace", "")), [])
        self._allow()
        self.fenced.write_secret()
        for name in self.fenced.nodes:
            self.fenced.write_config(name)
        for tree in self._fences():
            self._stop(tree["metadata"]["name"], is_stopped=False)

    def call_people(self) -> None:
        """Alerts are answered: what was given up is mended by hand and released."""
        self._end_storm()
        misleading = [one for one in self.cluster.outlets.by_place.values() if one.is_misleading]
        told = [one for name in sorted(self._dark() | self.pulled) for one in self._all_outlets(name)]
        for outlet in (*told, *misleading):
            self.cluster.outlets.switch(outlet, is_on=True)
        for name in sorted(self.pulled):
            self._light(self._named(name))
        for name, server in self.cluster.servers.items():
            if not server.is_heard and self._is_called(name):
                self._light(server)
                if server.has_power and server.kernel is not Kernel.DOWN:
                    server.booted()
        for tree in self._fences():
            if "deletionTimestamp" in tree["metadata"]:  # its storage stays cut off until it has booted
                self._reset(self._server_of(tree))
            elif is_given_up(tree) or self._is_astray(tree) or self._is_another(tree):
                self.release(tree["spec"]["node"])

    def _end_storm(self) -> None:
        """Where so many are silent that nothing new may begin, people look for the cause: all but one boot."""
        silent = [server for server in self.cluster.servers.values() if not server.is_heard]
        rulers = [server for server in self._rulers() if not server.is_heard]
        if len(silent) * 100 >= STORM_PERCENT * len(self.cluster.servers):
            self._reset_all_but_one(silent)
        elif len(rulers) > 1:  # of a control plane without quorum no node is repaired
            self._reset_all_but_one(rulers)

    def _reset_all_but_one(self, silent: list[Server]) -> None:
        for server in silent[1:]:
            self._reset(server)

    def _reset(self, server: Server) -> None:
        if server.has_power:
            server.power_off()
        self._light(server)

    def _dark(self) -> set[str]:
        """Nodes of which people were told that something stays off."""
        told = [notice.reason for process in self.processes for notice in process.notices]
        return {reason.node for reason in told if isinstance(reason, PowerLeftOff | LeftCutOff | DeviceAstray)}

    def _all_outlets(self, name: str) -> list[Outlet]:
        """Those, too, that nothing hangs on any more."""
        return [one for one in self.cluster.outlets.by_place.values() if one.server.name == name]

    def _is_astray(self, tree: Tree) -> bool:
        """Whether it waits for a person to light what its document does not name any more."""
        told = [notice.reason for process in self.processes for notice in process.notices]
        nodes = {reason.node for reason in told if isinstance(reason, DeviceAstray)}
        return tree["spec"]["node"] in nodes and tree.get("status", {}).get("state") == "done"

    def _is_called(self, node: str) -> bool:
        """Whether a person was called for this node: it was given up, or nothing repairs it but a person."""
        tree = self.cluster.api.find(NODE_FENCE, f"node-fence-{node}")
        return tree is None or is_given_up(tree) or self._is_another(tree)

    def _is_another(self, fence: Tree) -> bool:
        """Whether people were told that the node of a fence which failed is another one by now."""
        told = [notice.reason for process in self.processes for notice in process.notices]
        nodes = {reason.node for reason in told if isinstance(reason, FencedNodeReplaced)}
        return fence.get("status", {}).get("state") == "error" and fence["spec"]["node"] in nodes

    # --- small hands ---------------------------------------------------------------------------------------------

    def _server_of(self, fence: Tree) -> Server:
        return self._named(fence["spec"]["node"])

    def _named(self, node: str) -> Server:
        found = self.cluster.server_of(node)
        assert found is not None
        return found

    def _fences(self) -> list[Tree]:
        return self.cluster.api.list(NODE_FENCE)

    def _some_fence(self) -> Tree | None:
        found = [one for one in self._fences() if one["spec"]["node"] not in self.spared]
        return self.chance.choice(found) if found else None

    def _is_heard(self, node: str) -> bool:
        tree = self.cluster.api.find(NODE, node)
        told = (tree or {}).get("status", {}).get("conditions", ())
        return any(one["type"] == "Ready" and one["status"] != "Unknown" for one in told)


def is_given_up(fence: Tree) -> bool:
    status = fence.get("status", {})
    return bool(status.get("state") == "error" and status.get("restarts", 0) >= fence["spec"].get("maxRestarts", 3))


def node_fence(node: str, **spec: Any) -> Tree:
    """As a person writes it."""
    metadata = {"name": f"node-fence-{node}"}
    return {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": metadata, "spec": {"node": node, **spec}}
