"""What else runs where nodes are fenced: an agent on every node (a DaemonSet), and a front anywhere (a Deployment).

Half of the histories have them; `fencerun.py` owns one. Neither has a volume. A pod of the front may be evicted, and
deleted on proof: its ReplicaSet makes another one as soon as it is asked to go. On a node that is only cut off from its
storage it still writes: S1 of `checkers.py` looks at it as at all pods. What must hold beside that:

S1 the agent belongs to its node and stays: no manager deletes or evicts it.
L1 when all is well, every node has its agent, and the front is whole.
"""

from __future__ import annotations

from typing import Any

from noderemedy.model.ids import NODE
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.kinds import POD
from noderemedy.sim.objects import WORKLOAD
from noderemedy.sim.process import Process
from noderemedy.wire.http import Request

AGENT, FRONT = "agent", "front"
OWNERS = {AGENT: "DaemonSet", FRONT: "ReplicaSet"}
REPLICAS = 6
TURNS = 5  # so many histories have them, and so many do not


class Attendants:
    """The controllers of both, as far as they matter here, and who watches over their pods."""

    def __init__(self, checkers: Checkers, processes: list[Process]) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self.api = self.cluster.api
        self._made = 0
        self._uids = {what: self.api.create(owner_of(what))["metadata"]["uid"] for what in OWNERS}
        self.api.subscribe(NODE, self._node)
        self.api.subscribe(POD, self._pod)
        for tree in self.api.list(NODE):
            self._soon(AGENT, tree["metadata"]["name"])
        self._soon(FRONT)
        for process in processes:
            process.on_request.append(self._requested)

    # --- controllers ---------------------------------------------------------------------------------------------

    def _node(self, event: WatchEvent) -> None:
        if event.type == "ADDED":
            self._soon(AGENT, event.tree["metadata"]["name"])

    def _pod(self, event: WatchEvent) -> None:
        is_going = event.type == "DELETED" or "deletionTimestamp" in event.tree["metadata"]
        if is_going and (what := event.tree["metadata"].get("labels", {}).get("app")) in OWNERS:
            self._soon(what, event.tree["spec"].get("nodeName", ""))

    def _soon(self, what: str, node: str = "") -> None:
        do = (lambda: self._attend(node)) if what == AGENT else self._fill
        self.cluster.agenda.after(self.cluster.durations.controller, do)

    def _attend(self, node: str) -> None:
        """A DaemonSet waits until the pod before is gone."""
        if self.api.find(NODE, node) is not None and self.api.find(POD, f"{AGENT}-{node}", WORKLOAD) is None:
            self._create(AGENT, f"{AGENT}-{node}", nodeName=node, tolerations=[{"operator": "Exists"}])

    def _fill(self) -> None:
        """A ReplicaSet does not: what is asked to go is replaced at once."""
        for _ in range(REPLICAS - len(self._front())):
            self._made += 1
            self._create(FRONT, f"{FRONT}-{self._made}")

    def _create(self, what: str, name: str, **spec: Any) -> None:
        owner = {"apiVersion": "apps/v1", "kind": OWNERS[what], "name": what, "uid": self._uids[what]}
        meta: dict[str, Any] = {"name": name, "namespace": WORKLOAD, "labels": {"app": what}}
        meta["ownerReferences"] = [{**owner, "controller": True}]
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**containers(what), **spec}})

    def _front(self) -> list[Tree]:
        pods = self.api.list(POD, WORKLOAD, labels=f"app={FRONT}")
        return [one for one in pods if "deletionTimestamp" not in one["metadata"]]

    # --- what must hold ------------------------------------------------------------------------------------------

    def _ran(self, what: str) -> None:
        self.checkers.ran[what] += 1

    def _requested(self, process: Process, request: Request) -> None:
        if request.method not in ("DELETE", "POST") or "/pods/" not in request.path:
            return
        self._ran("S1 an agent stays")
        name = request.path.partition("/pods/")[2].partition("/")[0]
        if name.startswith(f"{AGENT}-"):
            self.checkers.complain("S1", f"{request.method} {request.path}: it belongs to its node")

    def at_rest(self) -> None:
        self._ran("L1 attended")
        nodes = [tree["metadata"]["name"] for tree in self.api.list(NODE)]
        alone = [one for one in nodes if self.api.find(POD, f"{AGENT}-{one}", WORKLOAD) is None]
        if alone or len(self._front()) != REPLICAS:
            self.checkers.complain("L1", f"{len(self._front())} pods of the front, no agent on {alone}")


def attendants_of(seed: int, checkers: Checkers, processes: list[Process]) -> Attendants | None:
    return Attendants(checkers, processes) if seed // TURNS % 2 else None


def owner_of(what: str) -> Tree:
    """The DaemonSet, or the ReplicaSet of the Deployment."""
    labels = {"app": what}
    template = {"metadata": {"labels": labels}, "spec": containers(what)}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": what, "namespace": WORKLOAD}
    return {"apiVersion": "apps/v1", "kind": OWNERS[what], "metadata": metadata, "spec": spec}


def containers(what: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": f"registry.example/{what}:1"}]}


def is_of_its_node(pod: Tree) -> bool:
    """Whether a DaemonSet made it for this very node."""
    return any(owner["kind"] == OWNERS[AGENT] for owner in pod["metadata"].get("ownerReferences", ()))
