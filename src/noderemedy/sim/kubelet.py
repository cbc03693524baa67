"""Simulated kubelets: register the Node, post its status, run the pods bound to it.

A kubelet that is not heard does nothing that the API could notice, and its pods run on: that is the whole danger.
Leases are modelled lazily: silence begins when `Server.is_heard` ends (see `lifecycle.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noderemedy.model.ids import NODE
from noderemedy.sim.agenda import Agenda, Appointment
from noderemedy.sim.apiserver import ApiServer, WatchEvent
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.durations import Durations
from noderemedy.sim.kinds import ATTACHMENT, POD
from noderemedy.sim.server import Process, Server

POSTS = Options(manager="sim", subresource="status", verb="patch")
KUBELET_READY = {"status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}
NOT_READY = {"status": "False", "reason": "KubeletNotReady", "message": "container runtime network not ready"}
RESOURCES = {"cpu": "16", "memory": "64Gi", "pods": "110"}


class Kubelet:
    """The kubelet of one server."""

    def __init__(self, server: Server, api: ApiServer, agenda: Agenda, durations: Durations, phase_ms: int) -> None:
        self.server = server
        self.api = api
        self.agenda = agenda
        self.durations = durations
        self._boot = ""
        self._beat: Appointment | None = None
        self._phase_ms = phase_ms
        server.on_change.append(lambda _: self._changed())

    def start(self) -> None:
        self._changed()

    def _changed(self) -> None:
        """The server booted, was cut off or was reached again."""
        if self._beat:
            self._beat.cancel()
            self._beat = None
        if self.server.is_heard:
            self.post_status()
            self._beat = self.agenda.after(self._phase_ms, self._heartbeat)
            self.sync_pods()

    def _heartbeat(self) -> None:
        self.post_status()
        self._beat = self.agenda.after(self.durations.heartbeat, self._heartbeat)

    def post_status(self) -> None:
        """Register if there is no Node, then say how it is."""
        node = self.api.find(NODE, self.server.name) or self.api.create(self._registration())
        if (renewed := self._renewed(node)) is not None:
            self.api.renew(NODE, node, "status", renewed, POSTS)
            return
        body = {"status": self._status(node)}
        self.api.patch(NODE, self.server.name, "", body, "merge", subresource="status")

    def _renewed(self, node: dict[str, Any]) -> dict[str, Any] | None:
        """The status of a Node that says all already, with the time of this heartbeat; None if there is more to say."""
        status = node.get("status", {})
        if status.get("nodeInfo", {}).get("bootID") != self.server.boot_id:
            return None
        ready, others = split(status.get("conditions", ()))
        if ready is None or any(ready.get(key) != value for key, value in self._words().items()):
            return None
        return {**status, "conditions": [{**ready, "lastHeartbeatTime": str(self.agenda.wall())}, *others]}

    def _registration(self) -> dict[str, Any]:
        labels = {"kubernetes.io/hostname": self.server.name, "kubernetes.io/os": "linux", **self.server.labels}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.server.name, "labels": labels},
            "spec": {"providerID": self.server.provider_id},
        }

    def _status(self, node: dict[str, Any]) -> dict[str, Any]:
        """The heartbeat; and what kubelet knows about its machine, where the Node does not say it yet."""
        now = str(self.agenda.wall())
        status = node.get("status", {})
        ready, others = split(status.get("conditions", ()))
        words = self._words()
        since = ready.get("lastTransitionTime", now) if ready and ready.get("status") == words["status"] else now
        condition = {"type": "Ready", **words, "lastHeartbeatTime": now, "lastTransitionTime": since}
        if status.get("nodeInfo", {}).get("bootID") == self.server.boot_id:
            return {"conditions": [condition, *others]}
        info = {"bootID": self.server.boot_id, "kubeletVersion": "v1.36.3", "systemUUID": self.server.name}
        return {"conditions": [condition, *others], "nodeInfo": info, "capacity": RESOURCES, "allocatable": RESOURCES}

    def _words(self) -> dict[str, str]:
        return NOT_READY if self.server.is_unwell else KUBELET_READY

    # --- pods ---------------------------------------------------------------------------------------------------

    def sync_pods(self) -> None:
        """After silence: stop what the API no longer knows, start what is bound to us."""
        pods = self.api.list(POD, fields=f"spec.nodeName={self.server.name}")
        known = {pod["metadata"]["uid"] for pod in pods}
        for uid in [uid for uid in self.server.running if uid not in known]:
            self.server.stop(uid)
        for pod in pods:
            self.pod_changed(pod)

    def pod_changed(self, pod: dict[str, Any]) -> None:
        """A pod bound to this node was added or changed."""
        if not self.server.is_heard:
            return
        meta = pod["metadata"]
        uid, boot = meta["uid"], self.server.boot_id
        if "deletionTimestamp" in meta:
            self.agenda.after(self.durations.pod_stop, lambda: self._stop(pod, boot))
        elif uid not in self.server.running:
            self.agenda.after(self.durations.pod_start, lambda: self._start(meta["namespace"], meta["name"], uid, boot))

    def pod_gone(self, uid: str) -> None:
        """The pod object was removed: kill its process, if we are there to hear of it."""
        if self.server.is_heard:
            self.server.stop(uid)

    def _start(self, namespace: str, name: str, uid: str, boot: str) -> None:
        if not self.server.is_heard or self.server.boot_id != boot or uid in self.server.running:
            return
        pod = self.api.find(POD, name, namespace)
        if pod is None or pod["metadata"]["uid"] != uid or "deletionTimestamp" in pod["metadata"]:
            return
        volumes = volumes_of(pod)
        if not all(self._is_attached(volume) for volume in volumes):
            self.agenda.after(self.durations.pod_start, lambda: self._start(namespace, name, uid, boot))
            return
        self.server.start(Process(uid, f"{namespace}/{name}", volumes))
        self.api.patch(POD, name, namespace, {"status": self._running(pod)}, "merge", subresource="status")

    def _running(self, pod: dict[str, Any]) -> dict[str, Any]:
        """The status of a pod all of whose containers run."""
        started = {"running": {"startedAt": str(self.agenda.wall())}}
        containers = [
            {
                "name": item["name"],
                "image": item["image"],
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "state": started,
            }
            for item in pod["spec"]["containers"]
        ]
        ready = [{"type": "Ready", "status": "True"}]
        return {"phase": "Running", "conditions": ready, "containerStatuses": containers}

    def _stop(self, pod: dict[str, Any], boot: str) -> None:
        if not self.server.is_heard or self.server.boot_id != boot:
            return
        meta = pod["metadata"]
        self.server.stop(meta["uid"])
        found = self.api.find(POD, meta["name"], meta["namespace"])
        if found is not None and found["metadata"]["uid"] == meta["uid"]:
            self.api.delete(POD, meta["name"], meta["namespace"], uid=meta["uid"], grace=0)

    def _is_attached(self, volume: str) -> bool:
        """What is being detached is no place to write to, also where it was attached to this very node."""
        attachment = self.api.find(ATTACHMENT, f"attach-{volume}")
        if attachment is None or "deletionTimestamp" in attachment["metadata"]:
            return False
        return bool(attachment["spec"]["nodeName"] == self.server.name)


class Kubelets:
    """All kubelets, with one watch of pods between them."""

    def __init__(self, kubelets: dict[str, Kubelet], api: ApiServer) -> None:
        self.by_node = kubelets
        api.subscribe(POD, self._pod)

    def _pod(self, event: WatchEvent) -> None:
        kubelet = self.by_node.get(event.tree.get("spec", {}).get("nodeName", ""))
        if kubelet is None:
            return
        if event.type == "DELETED":
            kubelet.pod_gone(event.tree["metadata"]["uid"])
        else:
            kubelet.pod_changed(event.tree)


def split(conditions: Sequence[dict[str, Any]]) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The condition that kubelet writes, and those of others, which it leaves as they are."""
    ready = next((one for one in conditions if one["type"] == "Ready"), None)
    return ready, [one for one in conditions if one is not ready]


def volumes_of(pod: dict[str, Any]) -> tuple[str, ...]:
    """The claims that a pod mounts; each is one volume here."""
    volumes = pod["spec"].get("volumes", ())
    return tuple(item["persistentVolumeClaim"]["claimName"] for item in volumes if "persistentVolumeClaim" in item)
