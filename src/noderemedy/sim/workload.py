"""Simulated StatefulSet controller, scheduler and volume attacher: what makes a freed workload start elsewhere."""

from __future__ import annotations

from typing import Any

from noderemedy.model.ids import NODE
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.apiserver import ApiServer, WatchEvent
from noderemedy.sim.durations import Durations
from noderemedy.sim.kinds import ATTACHMENT, POD, STATEFUL_SET
from noderemedy.sim.kubelet import volumes_of


class StatefulSets:
    """Keeps one pod per ordinal: a new one is made when, and only when, the old object is gone."""

    def __init__(self, api: ApiServer, agenda: Agenda, durations: Durations) -> None:
        self.api = api
        self.agenda = agenda
        self.durations = durations
        api.subscribe(POD, self._pod)
        api.subscribe(STATEFUL_SET, self._set)

    def _pod(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            owners = event.tree["metadata"].get("ownerReferences", ())
            for owner in [item for item in owners if item["kind"] == "StatefulSet"]:
                self._soon(event.tree["metadata"]["namespace"], owner["name"])

    def _set(self, event: WatchEvent) -> None:
        if event.type != "DELETED":
            self._soon(event.tree["metadata"]["namespace"], event.tree["metadata"]["name"])

    def _soon(self, namespace: str, name: str) -> None:
        self.agenda.after(self.durations.controller, lambda: self._reconcile(namespace, name))

    def _reconcile(self, namespace: str, name: str) -> None:
        found = self.api.find(STATEFUL_SET, name, namespace)
        if found is None or "deletionTimestamp" in found["metadata"]:
            return
        wanted = found["spec"].get("replicas", 1)
        for ordinal in range(wanted):
            if self.api.find(POD, f"{name}-{ordinal}", namespace) is None:
                self.api.create(pod_of(found, ordinal))
        extra = wanted
        while self.api.find(POD, f"{name}-{extra}", namespace) is not None:
            self.api.delete(POD, f"{name}-{extra}", namespace)
            extra += 1


def pod_of(found: dict[str, Any], ordinal: int) -> dict[str, Any]:
    """The pod with this ordinal, with its own claims."""
    meta = found["metadata"]
    name = f"{meta['name']}-{ordinal}"
    owner = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }
    template = found["spec"]["template"]
    stems = [one["metadata"]["name"] for one in found["spec"].get("volumeClaimTemplates", ())] or ["data"]
    claims = [{"name": stem, "persistentVolumeClaim": {"claimName": f"{stem}-{name}"}} for stem in stems]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": dict(template["metadata"].get("labels", {})),
            "ownerReferences": [owner],
        },
        "spec": {**template["spec"], "volumes": claims, "hostname": name},
    }


class Scheduler:
    """Binds pods to nodes that are ready, schedulable and untainted; the emptiest first."""

    def __init__(self, api: ApiServer, agenda: Agenda, durations: Durations) -> None:
        self.api = api
        self.agenda = agenda
        self.durations = durations
        self._pending: dict[tuple[str, str], None] = {}
        self._load: dict[str, int] = {}
        self._bound: dict[str, str] = {}
        self._is_planned = False
        api.subscribe(POD, self._pod)
        api.subscribe(NODE, self._node)

    def _pod(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        key = (meta["namespace"], meta["name"])
        node = event.tree.get("spec", {}).get("nodeName", "")
        if event.type == "DELETED":
            self._pending.pop(key, None)
            self._count(meta["uid"], "")
        elif node:
            self._pending.pop(key, None)
            self._count(meta["uid"], node)
        else:
            self._pending[key] = None
            self._soon()

    def _count(self, uid: str, node: str) -> None:
        before = self._bound.pop(uid, "")
        if before:
            self._load[before] -= 1
        if node:
            self._bound[uid] = node
            self._load[node] = self._load.get(node, 0) + 1

    def _node(self, event: WatchEvent) -> None:
        if self._pending:
            self._soon()

    def _soon(self) -> None:
        if not self._is_planned:
            self._is_planned = True
            self.agenda.after(self.durations.schedule, self._run)

    def _run(self) -> None:
        self._is_planned = False
        nodes = [node["metadata"]["name"] for node in self.api.list(NODE) if takes_pods(node)]
        for namespace, name in list(self._pending) if nodes else []:
            chosen = min(nodes, key=lambda node: (self._load.get(node, 0), node))
            self.api.bind(name, namespace, chosen)
            self._pending.pop((namespace, name), None)


def takes_pods(node: dict[str, Any]) -> bool:
    """Whether the scheduler may use this node."""
    spec = node.get("spec", {})
    conditions = node.get("status", {}).get("conditions", ())
    is_ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return is_ready and not spec.get("unschedulable") and not spec.get("taints")


class Attacher:
    """Attaches a volume to the node of the pod that mounts it, once no pod elsewhere holds it.

    Whoever detaches it by hand may have done so under a pod that is bound there already: then it is attached anew.
    """

    def __init__(self, api: ApiServer, agenda: Agenda, durations: Durations) -> None:
        self.api = api
        self.agenda = agenda
        self.durations = durations
        self._namespaces: dict[str, str] = {}  # of the pods that mount a volume
        api.subscribe(POD, self._pod)
        api.subscribe(ATTACHMENT, self._attachment)

    def _pod(self, event: WatchEvent) -> None:
        if event.tree.get("spec", {}).get("nodeName"):
            for volume in volumes_of(event.tree):
                self._namespaces[volume] = event.tree["metadata"]["namespace"]
                self._soon(event.tree["metadata"]["namespace"], volume)

    def _attachment(self, event: WatchEvent) -> None:
        volume = event.tree["spec"]["source"].get("persistentVolumeName", "")
        if event.type == "DELETED" and volume in self._namespaces:
            self._soon(self._namespaces[volume], volume)

    def _soon(self, namespace: str, volume: str) -> None:
        self.agenda.after(self.durations.attach, lambda: self._reconcile(namespace, volume))

    def _reconcile(self, namespace: str, volume: str) -> None:
        users = [pod for pod in self.api.list(POD, namespace) if volume in volumes_of(pod)]
        nodes = [pod["spec"]["nodeName"] for pod in users if pod["spec"].get("nodeName")]
        name = f"attach-{volume}"
        attachment = self.api.find(ATTACHMENT, name)
        if attachment is not None and attachment["spec"]["nodeName"] not in nodes:
            self.api.delete(ATTACHMENT, name)
            attachment = self.api.find(ATTACHMENT, name)  # somebody's finalizer may keep it
            if attachment is not None:
                self._soon(namespace, volume)
        if attachment is None and nodes:
            self.api.create(attachment_of(name, volume, nodes[0]))


def attachment_of(name: str, volume: str, node: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {"attacher": "sim", "nodeName": node, "source": {"persistentVolumeName": volume}},
    }
