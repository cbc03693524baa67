"""Simulated Jobs: runs of fence agents where managers have them run as Jobs, and the remedies of thresholds.

Between a Job and its result there are a scheduler, an image, a kubelet and a pod: each lets one down now and then
(faults 67, 68). A fence run in a Job asks by itself whether it is still wanted, as `noderemedy.runner` does. One that
is bound to a node waits for it to come back, and nobody hears of it any more when that node goes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from typing import Any

from noderemedy.core.fencing import credentials, results, staleness
from noderemedy.model.ids import JOB, NODE
from noderemedy.model.run import Order, Result
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.candidate import NAME as LEASE_NAME
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.objects import SYSTEM
from noderemedy.sim.runs import Find, Sending, leading_token, secrets_of, stale
from noderemedy.wire.fenceanswer import read_order
from noderemedy.wire.fencejobs import CONTAINER, FENCING, MARGIN, ORDER_VARIABLE, RUN_LABEL

START_MS, LATE_MS, AGAIN_MS = (2_000, 10_000), (50_000, 200_000), 10_000
RESETS, RESET_MS = "registry.example/reset:1", 10_000  # the image that resets; how long that keeps the power off


class JobFate(Enum):
    """What becomes of the pod of a Job."""

    FINE = "fine"
    NO_IMAGE = "no image"  # 67: it never starts; the Job's deadline ends it
    LATE = "late"  # 67: it starts when nobody counts on it any more
    DIES = "dies"  # 67: it did its work and fails all the same
    ON_A_SICK_NODE = "on a sick node"  # 68: of another one; nobody hears of it again


UNLIKELY = tuple(fate for fate in JobFate if fate is not JobFate.FINE)


class Jobs:
    """Carries out the Jobs of one cluster."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self.agenda = cluster.agenda
        self.chance = random.Random(seed)
        self.odds = 0.0  # of anything unlikely
        self.met: list[str] = []
        self.first_ms: dict[str, int] = {}  # when each fate was met first
        self.results: dict[str, Result] = {}
        self._followers: dict[str, list[Callable[[Result], None]]] = {}
        cluster.api.subscribe(JOB, self._job)

    # --- fence runs ----------------------------------------------------------------------------------------------

    def follow(self, order: Order, then: Callable[[Result], None]) -> None:
        """Tell what comes of a run, or that all its time is over."""
        if order.id in self.results:
            then(self.results[order.id])
            return
        self._followers.setdefault(order.id, []).append(then)
        left = max(order.not_after.ms - self.agenda.wall().ms, 0) + order.patience.ms + 2 * MARGIN.ms
        self.agenda.after(left, lambda: self._tell(order.id, results.untold(order)))

    def _tell(self, id: str, result: Result) -> None:
        self.results.setdefault(id, result)
        for then in self._followers.pop(id, ()):
            then(self.results[id])

    def _bound(self, order: Order, fate: JobFate, node: str) -> None:
        """Its pod begins where the Job says; on the node itself not before somebody is there to run it."""
        if node and not self.cluster.servers[node].is_heard:
            if self._is_open(order.id):
                self.agenda.after(AGAIN_MS, lambda: self._bound(order, fate, node))
            return
        self._run(order, fate, node)

    def _run(self, order: Order, fate: JobFate, node: str) -> None:
        find = self.cluster.api.find
        try:
            secrets = secrets_of(order, find)
            why = unwanted(order, find) or staleness.too_late(order, self.agenda.wall())
        except credentials.SecretMissing as problem:
            why = str(problem)
        if why:
            self._ended(order, results.not_begun(order, why), fate)
            return
        boots = self.cluster.servers[node].boots if node else 0

        def then(result: Result) -> None:
            if not node or (self.cluster.servers[node].is_heard and self.cluster.servers[node].boots == boots):
                self._ended(order, result, fate)

        Sending(order, secrets, self.cluster.outlets, then, node)

    def _ended(self, order: Order, result: Result, fate: JobFate) -> None:
        if fate is JobFate.DIES:
            result = results.failed(order, "the container was ended: OOMKilled")
        self._close(order.id, "Complete" if result.state.value == "done" else "Failed")
        self._tell(order.id, result)

    # --- Jobs ----------------------------------------------------------------------------------------------------

    def _job(self, event: WatchEvent) -> None:
        if event.type != "ADDED":
            return
        fate = self.chance.choice(UNLIKELY) if self.chance.random() < self.odds else JobFate.FINE
        self.met.append(fate.value)
        self.first_ms.setdefault(f"job: {fate.value}", self.cluster.agenda.now_ms)
        tree = event.tree
        name, deadline_ms = tree["metadata"]["name"], tree["spec"]["activeDeadlineSeconds"] * 1000
        self.agenda.after(deadline_ms, lambda: self._close(name, "Failed", "DeadlineExceeded"))
        if fate in (JobFate.NO_IMAGE, JobFate.ON_A_SICK_NODE):
            return
        delay = self.chance.randint(*(LATE_MS if fate is JobFate.LATE else START_MS))
        if tree["metadata"].get("labels", {}).get(RUN_LABEL) == FENCING:
            order = read_order(variables(tree, CONTAINER)[ORDER_VARIABLE])
            self.agenda.after(delay, lambda: self._bound(order, fate, node_of(tree)))
        else:
            self.agenda.after(delay, lambda: self._remedy(name, tree, fate))

    def _remedy(self, name: str, tree: Tree, fate: JobFate) -> None:
        """A remedy of our chain: one resets the server, if it is still the boot that was in trouble."""
        told = remedy_told(tree)
        if not resets(tree):
            self._close(name, "Failed" if fate is JobFate.DIES else "Complete")
            return
        node = self.cluster.api.find(NODE, told["NODE_NAME"])
        server = self.cluster.servers[told["NODE_NAME"]]
        boot = (node or {}).get("status", {}).get("nodeInfo", {}).get("bootID")
        if boot != told["NODE_BOOT_ID"] or not server.has_power:
            self._close(name, "Failed", "the node has booted meanwhile, or is off")
            return
        server.power_off()
        self.agenda.after(RESET_MS, lambda: None if server.has_power else self.cluster.outlets.power_on(server))
        verdict = "Failed" if fate is JobFate.DIES else "Complete"
        self.agenda.after(RESET_MS, lambda: self._close(name, verdict))

    def _is_open(self, name: str) -> bool:
        job = self.cluster.api.find(JOB, name, SYSTEM)
        return job is not None and not job.get("status", {}).get("conditions")

    def _close(self, name: str, type: str, message: str = "") -> None:
        if not self._is_open(name):
            return
        now = str(self.agenda.wall())
        told = [{"type": type, "status": "True", "reason": message, "lastTransitionTime": now, "lastProbeTime": now}]
        self.cluster.api.patch(JOB, name, SYSTEM, {"status": status_of(type, told, now)}, "merge", subresource="status")


def unwanted(order: Order, find: Find) -> str:
    """Why the runner of a Job does nothing, by what it reads live; "" if it is wanted. A drill is everybody's."""
    if not staleness.belongs_to_a_fence(order):
        return ""
    return staleness.superseded(order, leading_token(find, LEASE_NAME)) or stale(order, find)


def status_of(type: str, conditions: list[dict[str, Any]], now: str) -> dict[str, Any]:
    """As the Job controller writes it; a Job that is complete says first that its pods succeeded."""
    if type == "Complete":
        met = {**conditions[0], "type": "SuccessCriteriaMet"}
        return {"conditions": [met, *conditions], "succeeded": 1, "startTime": now, "completionTime": now}
    target = {**conditions[0], "type": "FailureTarget"}
    return {"conditions": [target, *conditions], "failed": 1, "startTime": now}


def node_of(job: Tree) -> str:
    """The node that the pod of a Job must run on; "": it is enough that it is another one."""
    affinity = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (place,) = terms[0]["matchFields"]
    return str(place["values"][0]) if place["operator"] == "In" else ""


def resets(job: Tree) -> bool:
    """Whether a remedy does anything to its node."""
    return bool(container_of(job)["image"] == RESETS)


def remedy_told(job: Tree) -> dict[str, str]:
    return variables(job, container_of(job)["name"])


def container_of(job: Tree) -> dict[str, Any]:
    [container] = job["spec"]["template"]["spec"]["containers"]
    found: dict[str, Any] = container
    return found


def variables(job: Tree, container: str) -> dict[str, str]:
    """The environment of a container of a Job's pod."""
    found = [one for one in job["spec"]["template"]["spec"]["containers"] if one["name"] == container]
    return {one["name"]: one["value"] for one in found[0].get("env", ()) if "value" in one}
