"""Crash plans of fencing: the manager dies at every boundary of a fence, whoever asked for it and however it goes on.

What was sent to a device is not called back by a death, and its successor must find out what became of it (race R34).
Called like the stories of `crash.py`, with a world of devices and documents of its own.
"""

from __future__ import annotations

import random
from functools import partial

from noderemedy.engine.loop import Engine
from noderemedy.model.attestation import Attestation
from noderemedy.model.ids import CONFIG_MAP, MACHINE, NODE, NODE_FENCE, SYSTEM
from noderemedy.model.time import Span
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.crash import Scene, Stage
from noderemedy.sim.escalating import Installer
from noderemedy.sim.escalationcheckers import EscalationCheckers
from noderemedy.sim.fencecheckers import FenceCheckers
from noderemedy.sim.fenced import CORDON, STEPS, UNCORDON, VOLUMES, Fenced, fenced_cluster
from noderemedy.sim.fencetroubles import node_fence
from noderemedy.sim.jobrunner import Jobs
from noderemedy.sim.lifecycle import is_out_of_service
from noderemedy.sim.outlets import Fault, Sort
from noderemedy.sim.process import Process
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM
from noderemedy.wire import names
from noderemedy.wire.attestations import attestation_text

NODES = 5  # one of each sort
DILIGENT = 2  # a seed of an owner that does what it is asked for


class FencedCheckers(Checkers):
    """What must hold at the end where nodes are fenced: hosts are only some of the devices."""

    of_fences: FenceCheckers
    of_owners: EscalationCheckers | None = None

    def at_rest(self, engine: Engine | None) -> None:
        self.of_fences.at_rest()
        if self.of_owners is not None:
            self.of_owners.at_rest()
        self.workload_runs()


def stage(
    trigger: str,
    seed: int,
    nodes: int,
    drills: Span | None = None,
    *,
    disks: int | None = None,
    is_by_jobs: bool = False,
    is_strict: bool = False,
    has_owners: bool = False,
) -> Stage:
    """A quiet cluster with one manager, whose nodes are fenced for this reason."""
    cluster = fenced_cluster(nodes, seed, VOLUMES[: 1 if disks is None else 2])
    checkers = FencedCheckers(cluster)
    strategy = "escalate" if has_owners else "alert"
    fenced = Fenced(cluster, (trigger,), disks=disks, is_strict=is_strict, strategy=strategy)
    if has_owners:
        checkers.of_owners = EscalationCheckers(checkers)
        Installer(fenced, random.Random(DILIGENT))
    jobs = Jobs(cluster, seed)
    cluster.outlets.jobs = jobs if is_by_jobs else None
    process = Process("manager-1", cluster, weather=CALM, seed=seed)
    checkers.of_fences = FenceCheckers(checkers, fenced, [process])
    process.drills = drills
    process.start()
    cluster.agenda.run_until(2 * MINUTE_MS)
    return cluster, checkers, process


def fenced_by_check(cluster: Cluster) -> None:
    """A node hangs; its check has it fenced: off, verified, freed, on, recovered."""
    cluster.servers["worker-1"].hang()


def cut_off_by_threshold(cluster: Cluster) -> None:
    """A node on two plugs and behind a fabric switch hangs; a threshold has it fenced."""
    cluster.servers["worker-3"].hang()


def cut_off_from_disks(cluster: Cluster) -> None:
    """The same with shared disks, by Jobs: one on the node itself lets it in again."""
    cluster.servers["worker-3"].hang()


def reset_by_remedy(cluster: Cluster) -> None:
    """A node hangs; the Job of a remedy resets it, and its success frees what ran there."""
    cluster.servers["worker-1"].hang()


def stopped_midway(cluster: Cluster) -> None:
    """A person has a node fenced, stops that while it is being switched off, and goes on later."""
    cluster.servers["worker-1"].hang()
    cluster.agenda.after(MINUTE_MS, lambda: ask(cluster))
    cluster.agenda.after(MINUTE_MS + 4_000, lambda: stop(cluster, is_stopped=True))
    cluster.agenda.after(8 * MINUTE_MS, lambda: stop(cluster, is_stopped=False))


def freed_by_pods(cluster: Cluster) -> None:
    """A node hangs, and a person has it fenced; freed pod by pod."""
    hangs(cluster, "worker-1", freeBy="pods")


def freed_by_node(cluster: Cluster) -> None:
    """The same, freed by deleting the Node, which gets back what it carried."""
    hangs(cluster, "worker-1", freeBy="node")


def powered_by_host(cluster: Cluster) -> None:
    """A node hangs whose device is its BareMetalHost; something runs there."""
    cluster.api.patch(NODE, "worker-5", "", {"spec": {"taints": []}}, "merge")
    cluster.move("database-0")
    cluster.agenda.after(MINUTE_MS, lambda: hangs(cluster, "worker-5"))


def drained_first(cluster: Cluster) -> None:
    """A person has a node power cycled that is well: its pods are evicted before."""
    cluster.agenda.after(MINUTE_MS, lambda: ask(cluster, "worker-2", evenIfReady=True))


def released_midway(cluster: Cluster) -> None:
    """A person releases a node while it is being switched off. Whether it was off by then is chance: it is reset."""
    hangs(cluster, "worker-1")
    cluster.agenda.after(MINUTE_MS + 4_000, lambda: release(cluster, "worker-1"))
    cluster.agenda.after(12 * MINUTE_MS, lambda: reset(cluster, "worker-1"))


def released_when_freed(cluster: Cluster) -> None:
    """A person releases a node as soon as it is out of service: power and schedulability come back all the same."""
    hangs(cluster, "worker-1", freeBy="taint")
    cluster.api.subscribe(NODE, lambda event: released_if_tainted(cluster, event))


def released_if_tainted(cluster: Cluster, event: WatchEvent) -> None:
    if event.type == "MODIFIED" and is_out_of_service(event.tree):
        cluster.agenda.after(1_000, lambda: release(cluster, event.tree["metadata"]["name"]))


def attested(cluster: Cluster) -> None:
    """Its BMC does not answer: a person pulls the plug of the node, says so, and puts it in again later."""
    spoil(cluster, "worker-1", Fault.UNREACHABLE)
    hangs(cluster, "worker-1", freeBy="taint")
    cluster.agenda.after(4 * MINUTE_MS, lambda: pull(cluster, "worker-1"))
    cluster.agenda.after(9 * MINUTE_MS, lambda: mend(cluster, "worker-1"))


def begun_anew(cluster: Cluster) -> None:
    """Its BMC does not answer for a while: the flow fails, rests, begins anew and succeeds."""
    spoil(cluster, "worker-1", Fault.UNREACHABLE)
    hangs(cluster, "worker-1", stepRetries=0)
    cluster.agenda.after(4 * MINUTE_MS, lambda: mend(cluster, "worker-1"))


def terminated(cluster: Cluster) -> None:
    """An instance of a cloud is ended for good: its Machine is deleted, and somebody makes another one."""
    methods = {"config.properties": f"node_name=worker-4\n{STEPS.format(CORDON, 'terminate', UNCORDON)}"}
    metadata = {"name": "fence-config-worker-4", "namespace": SYSTEM}
    cluster.api.create({"apiVersion": "v1", "kind": CONFIG_MAP.kind, "metadata": metadata, "data": methods})
    cluster.servers["worker-4"].labels = cluster.api.get(NODE, "worker-4")["metadata"]["labels"]
    cluster.api.subscribe(MACHINE, lambda event: another(cluster, event))
    hangs(cluster, "worker-4")


def another(cluster: Cluster, event: WatchEvent) -> None:
    """Another instance under the same name, as whoever owned the Machine that went makes it."""
    if event.type == "DELETED":
        server, number = cluster.servers["worker-4"], "i-another"
        server.provider_id = f"aws:///eu-west-1a/{number}"
        for outlet in cluster.outlets.by_node.pop(server.name):
            cluster.outlets.by_place.pop(outlet.place)
        cluster.outlets.add(server, Sort.POWER, is_own_state=False, plug=number)
        cluster.outlets.power_on(server)


def owner_replaces(cluster: Cluster) -> None:
    """A server never boots again: fencing does not help, its owner is asked, and installs it anew."""
    cluster.servers["worker-1"].is_broken = True
    cluster.servers["worker-1"].hang()


# --- what people do --------------------------------------------------------------------------------------------------


def hangs(cluster: Cluster, node: str, **spec: object) -> None:
    """A node hangs while its workload writes on, and a person has it fenced."""
    cluster.servers[node].hang()
    cluster.agenda.after(MINUTE_MS, lambda: ask(cluster, node, **spec))


def ask(cluster: Cluster, node: str = "worker-1", **spec: object) -> None:
    times = {"powerManagementDelay": "0s", "ttlAfterFinal": "60s"}
    cluster.api.create(node_fence(node, **(times | spec)))


def stop(cluster: Cluster, *, is_stopped: bool) -> None:
    if cluster.api.find(NODE_FENCE, "node-fence-worker-1") is not None:
        cluster.api.patch(NODE_FENCE, "node-fence-worker-1", "", {"spec": {"stopped": is_stopped}}, "merge")


def release(cluster: Cluster, node: str) -> None:
    if cluster.api.find(NODE_FENCE, f"node-fence-{node}") is not None:
        cluster.api.delete(NODE_FENCE, f"node-fence-{node}")


def reset(cluster: Cluster, node: str) -> None:
    """By hand, at the front of the server."""
    if not cluster.servers[node].is_heard:
        cluster.servers[node].power_off()
        cluster.outlets.power_on(cluster.servers[node])


def spoil(cluster: Cluster, node: str, fault: Fault) -> None:
    for outlet in cluster.outlets.by_node[node]:
        outlet.faults.add(fault)


def mend(cluster: Cluster, node: str) -> None:
    for outlet in cluster.outlets.by_node[node]:
        outlet.faults.clear()


def pull(cluster: Cluster, node: str) -> None:
    """Pull the plug, and say so on the fence."""
    cluster.servers[node].power_off()
    status = cluster.api.get(NODE_FENCE, f"node-fence-{node}")["status"]
    word = Attestation("alice", cluster.agenda.wall(), status["nodeUID"], status["bootID"])
    body = {"metadata": {"annotations": {names.ATTESTED_OFF: attestation_text(word)}}}
    cluster.api.patch(NODE_FENCE, f"node-fence-{node}", "", body, "merge")


by_person = partial(stage, "person")
STORIES: dict[str, Scene] = {
    "fenced_by_check": (fenced_by_check, partial(stage, "check")),
    "cut_off_by_threshold": (cut_off_by_threshold, partial(stage, "threshold")),
    "cut_off_from_disks": (cut_off_from_disks, partial(stage, "threshold", disks=0, is_by_jobs=True)),
    "reset_by_remedy": (reset_by_remedy, partial(stage, "chain")),
    "owner_replaces": (owner_replaces, partial(stage, "check", has_owners=True)),
    **{
        story.__name__: (story, by_person)
        for story in (
            stopped_midway,
            freed_by_pods,
            freed_by_node,
            powered_by_host,
            drained_first,
            released_midway,
            released_when_freed,
            attested,
            begun_anew,
            terminated,
        )
    },
}
