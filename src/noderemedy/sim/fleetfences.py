"""Nodes of workload clusters that are fenced: the last one of each cluster has a BMC of its own instead of a host.

NodeFences, fence configuration and agents are in the management cluster; the nodes, whose names are the same in every
cluster, are not. Used by `fleetrun.py`: whoever mixes two clusters up switches the wrong machine off, and is seen.
"""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from typing import TYPE_CHECKING

from noderemedy.model.ids import HEALTH_CHECK, HOST, MACHINE, NODE, NODE_FENCE, Ref
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.run import Deed
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import is_unsafe
from noderemedy.sim.fenced import AGENTS, CORDON, PASSWORD, STEPS, TEMPLATES, UNCORDON, USER
from noderemedy.sim.fleet import Fleet, WorkloadCluster, host_of, machine_of
from noderemedy.sim.lifecycle import is_out_of_service
from noderemedy.sim.outlets import Sent, Sort
from noderemedy.wire import names

if TYPE_CHECKING:
    from noderemedy.sim.fleetrun import FleetCheckers

FREE_BY: tuple[dict[str, str], ...] = ({}, {"freeBy": "node"})  # of the clusters in turns


class FleetFences:
    """The devices and documents of a fleet, and the checkers of its fences."""

    def __init__(self, fleet: Fleet, checkers: FleetCheckers) -> None:
        self.fleet = fleet
        self.checkers = checkers
        self._out: set[tuple[str, str]] = set()
        self.nodes = {name: list(workload.servers)[-1] for name, workload in fleet.workloads.items()}
        fleet.outlets.password = PASSWORD
        fleet.outlets.agents = {one.name: one for one in AGENTS}
        fleet.outlets.on_sent.append(self._sent)
        self._write("ConfigMap", "fence-method-template-ipmi", {"template.properties": TEMPLATES["ipmi"]})
        values = {"username": USER, "password": PASSWORD}
        self._write("Secret", "devices", {key: b64encode(value.encode()).decode() for key, value in values.items()})
        for workload in fleet.workloads.values():
            self._place(workload)
            workload.api.subscribe(NODE, partial(self._node, workload))

    def _place(self, workload: WorkloadCluster) -> None:
        """No host, no health check, but a BMC that a document of the management cluster names."""
        cluster, node, api = workload.name, self.nodes[workload.name], self.fleet.api
        api.delete(HOST, host_of(cluster, node), objects.NAMESPACE)
        metadata = {"labels": {"fenced": "yes"}, "annotations": {names.MACHINE_HOST: None}}
        api.patch(MACHINE, machine_of(cluster, node), objects.NAMESPACE, {"metadata": metadata}, "merge")
        others = [{"key": "fenced", "operator": "DoesNotExist"}]
        body = {"spec": {"selector": {"matchExpressions": others}}}
        api.patch(HEALTH_CHECK, cluster, objects.NAMESPACE, body, "merge")
        address = f"{cluster}.bmc.example"
        self.fleet.outlets.add(workload.servers[node], Sort.POWER, is_own_state=False, ip=address)
        first = f"node_name={node}\ncluster={objects.NAMESPACE}/{cluster}\n"
        method = f"template=fence-method-template-ipmi\nip={address}\n"
        data = {"config.properties": first + STEPS.format(CORDON, "ipmi", UNCORDON), "fence-method-ipmi": method}
        self._write("ConfigMap", f"fence-config-{cluster}", data)

    def _write(self, kind: str, name: str, data: dict[str, str]) -> None:
        metadata = {"name": name, "namespace": objects.SYSTEM}
        self.fleet.api.create({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data})

    # --- what people do ------------------------------------------------------------------------------------------

    def is_fenced(self, cluster: str, node: str) -> bool:
        return self.nodes[cluster] == node

    def find(self, cluster: str) -> Tree | None:
        return self.fleet.api.find(NODE_FENCE, self._name(cluster))

    def ask(self, cluster: str) -> None:
        """A person has the node of a cluster fenced."""
        if self.find(cluster) is None:
            free_by = FREE_BY[list(self.nodes).index(cluster) % len(FREE_BY)]
            spec = {"node": self.nodes[cluster], "cluster": f"{objects.NAMESPACE}/{cluster}", **free_by}
            more = {"powerManagementDelay": "0s", "ttlAfterFinal": "60s", "maxRestarts": 20}
            tree = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": self._name(cluster)}}
            self.fleet.api.create({**tree, "spec": {**spec, **more}})

    def _name(self, cluster: str) -> str:
        return fence_ref(Ref(f"{objects.NAMESPACE}/{cluster}", NODE, "", self.nodes[cluster])).name

    # --- what must hold ------------------------------------------------------------------------------------------

    def _sent(self, sent: Sent) -> None:
        """S7: a fence of a cluster switches the machine of that cluster, and none that nobody can see."""
        if sent.order.fence.kind != NODE_FENCE:
            return
        self.checkers.ran["S7 device of a cluster"] += 1
        fence = self.fleet.api.find(NODE_FENCE, sent.order.fence.name)
        cluster = fence["spec"]["cluster"].rpartition("/")[2] if fence is not None else ""
        if cluster and sent.outlet.server is not self.fleet.workloads[cluster].servers[sent.order.node]:
            self.checkers.complain("S7", f"{sent.outlet.place} is told {sent.deed.value} for {cluster}")
        if sent.deed is Deed.OFF and cluster and self.checkers.is_blind(cluster):
            self.checkers.complain("blind", f"{sent.outlet.place} is switched off while nobody can see {cluster}")

    def _node(self, workload: WorkloadCluster, event: WatchEvent) -> None:
        """S1: what is called out of service cannot write."""
        at = (workload.name, event.tree["metadata"]["name"])
        was_out, is_out = at in self._out, event.type != "DELETED" and is_out_of_service(event.tree)
        (self._out.add if is_out else self._out.discard)(at)
        if was_out or not is_out:
            return
        self.checkers.ran["S1 taint of a cluster"] += 1
        name, boot = event.tree["metadata"]["name"], event.tree.get("status", {}).get("nodeInfo", {}).get("bootID", "")
        if is_unsafe(workload.servers[name], boot):
            self.checkers.complain(
                "S1", f"Node {name} of {workload.name} is out of service while boot {boot} can write"
            )

    def at_rest(self) -> None:
        """Every fence has ended, and nothing of it is left on its node."""
        for cluster, node in self.nodes.items():
            self.checkers.ran["L2 fence of a cluster"] += 1
            fence, workload = self.find(cluster), self.fleet.workloads[cluster]
            if fence is not None and fence.get("status", {}).get("state") != "final":
                self.checkers.complain("L2", f"the fence of {cluster} has not ended: {fence.get('status', {})}")
            tree = workload.api.find(NODE, node)
            is_open = tree is not None and not tree["spec"].get("unschedulable") and not tree["spec"].get("taints")
            if not workload.servers[node].is_heard or not is_open:
                self.checkers.complain("L3", f"{node} of {cluster} is not in service")
