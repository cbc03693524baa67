"""Simulated node lifecycle controller and pod garbage collector of the control plane.

Silence beyond the grace period makes a Node Unknown and tainted; its pods are asked to go later, and stay as they are
because nobody answers for them. A Node that was deleted takes its pods with it: that is why deleting it frees them. A
node that is out of service and not ready loses its pods at once: that is why the taint frees them.
"""

from __future__ import annotations

from typing import Any

from noderemedy.model.ids import NODE
from noderemedy.sim.agenda import Agenda, Appointment
from noderemedy.sim.apiserver import ApiServer, WatchEvent
from noderemedy.sim.durations import Durations
from noderemedy.sim.kinds import POD
from noderemedy.sim.server import Server

UNREACHABLE = "node.kubernetes.io/unreachable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
OF_SILENCE = (UNREACHABLE, "node.kubernetes.io/not-ready")


class Lifecycle:
    """Judges nodes by the silence of their kubelets."""

    def __init__(self, servers: dict[str, Server], api: ApiServer, agenda: Agenda, durations: Durations) -> None:
        self.servers = servers
        self.api = api
        self.agenda = agenda
        self.durations = durations
        self._plans: dict[str, list[Appointment]] = {}
        self._heard = dict.fromkeys(servers, True)
        for server in servers.values():
            server.on_change.append(self._changed)
        api.subscribe(NODE, self._node)

    def follow(self, server: Server) -> None:
        """One more server, which has not been heard of yet."""
        self._heard[server.name] = server.is_heard
        server.on_change.append(self._changed)

    def _changed(self, server: Server) -> None:
        if self._heard[server.name] == server.is_heard:
            return
        self._heard[server.name] = server.is_heard
        for plan in self._plans.pop(server.name, ()):
            plan.cancel()
        if not server.is_heard:
            name = server.name
            self._plans[name] = [
                self.agenda.after(self.durations.grace, lambda: self._unknown(name)),
                self.agenda.after(self.durations.grace + self.durations.eviction, lambda: self._evict(name)),
            ]

    def _node(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        if event.type == "DELETED":
            self.agenda.after(self.durations.orphaned_pods, lambda: self._collect(name))
            return
        if is_out_of_service(event.tree):
            self.agenda.after(self.durations.controller, lambda: self._evict(name))
            self.agenda.after(self.durations.out_of_service, lambda: self._remove(name))
        if self._heard.get(name) and _is_tainted(event.tree):
            self.agenda.after(self.durations.controller, lambda: self._untaint(name))

    def _unknown(self, name: str) -> None:
        node = self.api.find(NODE, name)
        if node is None:
            return
        condition = {
            "type": "Ready",
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": str(self.agenda.wall()),
        }
        others = [one for one in node.get("status", {}).get("conditions", ()) if one["type"] != "Ready"]
        body = {"status": {"conditions": [condition, *others]}}
        self.api.patch(NODE, name, "", body, "merge", subresource="status")
        kept = [taint for taint in node["spec"].get("taints", ()) if taint["key"] != UNREACHABLE]
        taints = [*kept, *({"key": UNREACHABLE, "effect": effect} for effect in ("NoSchedule", "NoExecute"))]
        self.api.patch(NODE, name, "", {"spec": {"taints": taints}}, "merge")

    def _untaint(self, name: str) -> None:
        node = self.api.find(NODE, name)
        if node is None or not self._heard[name] or not _is_tainted(node):
            return
        kept = [taint for taint in node["spec"]["taints"] if taint["key"] not in OF_SILENCE]
        self.api.patch(NODE, name, "", {"spec": {"taints": kept or None}}, "merge")

    def _evict(self, name: str) -> None:
        """Ask the pods of an unreachable node to go. They stay: kubelet is not there to end them."""
        for pod in self.api.list(POD, fields=f"spec.nodeName={name}"):
            if "deletionTimestamp" not in pod["metadata"] and not tolerates_all(pod):
                self.api.delete(POD, pod["metadata"]["name"], pod["metadata"]["namespace"])

    def _remove(self, name: str) -> None:
        """Remove the pods of a node that somebody says is out of service, if nobody hears of it."""
        node = self.api.find(NODE, name)
        if node is None or not is_out_of_service(node) or _is_ready(node):
            return
        for pod in self.api.list(POD, fields=f"spec.nodeName={name}"):
            if "deletionTimestamp" in pod["metadata"]:
                self.api.delete(POD, pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)

    def _collect(self, name: str) -> None:
        """Remove the pods of a Node that does not exist."""
        if self.api.find(NODE, name) is not None:
            return
        for pod in self.api.list(POD, fields=f"spec.nodeName={name}"):
            self.api.delete(POD, pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)


def tolerates_all(pod: dict[str, Any]) -> bool:
    """As the agents of nodes do: no taint drives them away."""
    return any(one == {"operator": "Exists"} for one in pod["spec"].get("tolerations", ()))


def is_out_of_service(node: dict[str, Any]) -> bool:
    return any(taint["key"] == OUT_OF_SERVICE for taint in node["spec"].get("taints", ()) or ())


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def _is_tainted(node: dict[str, Any]) -> bool:
    return any(taint["key"] in OF_SILENCE for taint in node["spec"].get("taints", ()) or ())
