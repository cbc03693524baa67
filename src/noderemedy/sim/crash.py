"""Crash plans: kill the manager at every boundary of its ledger, restart it, and compare how the story ends.

The boundaries come from a recorded run, never from a list written by hand: before an effect is sent (`begin`), after
the API applied it but before anybody knows (`applied`), and after its answer was taken in (`ended`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from noderemedy.core.healthcheck.templates import REASONS
from noderemedy.model.ids import HOST, JOB, MACHINE, NODE, NODE_FENCE, REMEDIATION, Kind
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.doctor import Doctor
from noderemedy.sim.kinds import POD
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.outlets import Sent
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.ward import DOCTOR, Ward
from noderemedy.wire import names

Story = Callable[[Cluster], None]
Stage = tuple[Cluster, Checkers, Process]
Scene = tuple[Story, Callable[[int, int], Stage]]  # what happens, and where: from a seed and a number of nodes
STORY_MS = 40 * MINUTE_MS
SETTLES_MS = 3 * MINUTE_MS  # what a repair may take longer because its manager was away
ENDS = {"Complete": "succeeded", "Failed": "failed"}  # conditions of Jobs
READS = ("Confirm", "ListPods", "ListVolumes")


class Point(Struct, frozen=True):
    """One place at which a process can die: an action that a room asked for, or a Job that somebody else moves on."""

    where: str
    action: str
    room: str = ""


class Ending(Struct, frozen=True):
    """How a story ended: the state of the world that a person would compare, and what the checkers said."""

    points: tuple[Point, ...]
    state: tuple[str, ...]
    violations: tuple[str, ...]
    busy_ms: int = 0  # when its manager did something for the last time

    @property
    def telling(self) -> list[int]:
        """The points that differ: a manager that dies about a read it has made before leaves nothing else behind."""
        found: list[int] = []
        seen = set[Point]()
        for index, point in enumerate(self.points):
            if point.action not in READS or point not in seen:
                found.append(index)
            seen.add(point)
        return found


class Moves:
    """Tells of what becomes of Jobs, as it becomes visible: made, a pod is at work, it ended, it is gone.

    Nothing of that is an action of the manager, which may be dead by then, or dies with it.
    """

    def __init__(self, cluster: Cluster, reached: Callable[[Point], None]) -> None:
        self._reached = reached
        self._cluster = cluster
        self._at: dict[str, str] = {}
        cluster.api.subscribe(JOB, self._job)
        cluster.outlets.on_sent.append(self._sent)

    def _job(self, event: WatchEvent) -> None:
        ended = {one["type"] for one in event.tree.get("status", {}).get("conditions", ())} & ENDS.keys()
        where = "gone" if event.type == "DELETED" else ENDS[ended.pop()] if ended else "made"
        self._move(event.tree["metadata"]["name"], where)

    def _sent(self, sent: Sent) -> None:
        if self._cluster.outlets.jobs is not None:
            self._move(sent.order.id, "running")

    def _move(self, job: str, where: str) -> None:
        if self._at.get(job) != where:
            self._at[job] = where
            self._reached(Point(where, JOB.kind))


def play(
    story: Story,
    *,
    nodes: int = 3,
    seed: int = 1,
    die_at: int | None = None,
    away_ms: int = 3_000,
    like: Ending | None = None,
    stage: Callable[[int, int], Stage] = calm,
) -> Ending:
    """Run a story with one manager; if asked, kill it at its n-th boundary and start it again later.

    With `like`, it is over as soon as the world is in good order and as it was in the end of that one; a new leader
    waits every deadline out anew, so that may take longer.
    """
    cluster, checkers, process = stage(seed, nodes)
    begun_ms, busy_ms = cluster.agenda.now_ms, 0
    points: list[Point] = []

    def reached(point: Point) -> None:
        nonlocal busy_ms
        busy_ms = cluster.agenda.now_ms - begun_ms
        points.append(point)
        if len(points) - 1 == die_at:
            process.kill()
            cluster.agenda.after(away_ms, process.start)

    process.on_boundary.append(
        lambda _, where, effect: reached(Point(where, type(effect.action).__name__, effect.key.room))
    )
    Moves(cluster, reached)
    story(cluster)
    end_ms = begun_ms + STORY_MS * (1 if like is None else 2)
    if like is not None:
        cluster.agenda.run_until(begun_ms + like.busy_ms + away_ms + SETTLES_MS)
    while not (like and is_over(cluster, checkers, process, like)) and cluster.agenda.now_ms < end_ms:
        cluster.agenda.run_until(min(cluster.agenda.now_ms + SETTLES_MS, end_ms))
    checkers.at_rest(process.engine)
    return Ending(tuple(points), state_of(cluster, checkers), tuple(checkers.violations), busy_ms)


def sample(points: list[int], count: int) -> list[int]:
    """About so many of them, evenly. Boundaries come in threes (before, applied, after): all three sorts are met."""
    stride = max(1, len(points) // count)
    return points[:: stride + (stride % 3 == 0)]


def is_over(cluster: Cluster, checkers: Checkers, process: Process, like: Ending) -> bool:
    """Whether nothing is left to wait for. What a checker says before the end is not held against anybody."""
    if not process.is_alive or state_of(cluster, checkers) != like.state:
        return False
    before = len(checkers.violations)
    checkers.at_rest(process.engine)
    is_well = len(checkers.violations) == before
    del checkers.violations[before:]
    return is_well


def state_of(cluster: Cluster, checkers: Checkers) -> tuple[str, ...]:
    """What must not depend on a crash: all but versions, uids, times, boot counts and where pods landed."""
    lines = [f"{name} power {server.has_power} {server.kernel.value}" for name, server in cluster.servers.items()]
    for node in cluster.api.list(NODE):
        meta, spec = node["metadata"], node["spec"]
        lines.append(f"{meta['name']} {sorted(meta.get('labels', {}).items())} {notes_of(node)}")
        lines.append(f"{meta['name']} {spec.get('taints', [])} {spec.get('unschedulable', False)}")
    for kind in (cluster.dialect.machine, HOST):
        lines += [f"{tree['metadata']['name']} {notes_of(tree)}" for tree in cluster.api.list(kind)]
    lines += [f"{tree['metadata']['name']} {told_on(tree)}" for tree in cluster.api.list(cluster.dialect.machine)]
    lines += [check_line(tree) for tree in cluster.api.list(cluster.dialect.check)]
    if cluster.api.resources.find(DOCTOR):
        lines += [f"request for {tree['metadata']['name']}" for tree in cluster.api.list(DOCTOR)]
    lines += [remediation_line(tree) for tree in cluster.api.list(REMEDIATION)]
    lines += [
        f"{tree['metadata']['name']} {tree.get('status', {}).get('state')}" for tree in cluster.api.list(NODE_FENCE)
    ]
    lines += [f"{pod['metadata']['name']} {pod.get('status', {}).get('phase')}" for pod in cluster.api.list(POD)]
    return (*lines, f"freed before safe {checkers.freed_before_safe}")


def remediation_line(tree: dict[str, Any]) -> str:
    status = tree.get("status", {})
    return f"{tree['metadata']['name']} {status.get('phase')} {status.get('retryCount')} {told_on(tree)}"


def check_line(tree: dict[str, Any]) -> str:
    """Without what came of its template: that tells of the last machine that was sick, or of nobody's."""
    status = tree.get("status", {})
    counts = [status.get(name) for name in ("expectedMachines", "currentHealthy", "remediationsAllowed")]
    return f"{tree['metadata']['name']} {counts} {[one for one in told_on(tree) if one[0] not in REASONS]}"


def told_on(tree: dict[str, Any]) -> list[tuple[str, str, str]]:
    told = tree.get("status", {}).get("conditions", ())
    return [(one["type"], one["status"], one.get("reason", "")) for one in told]


def notes_of(tree: dict[str, Any]) -> list[tuple[str, str]]:
    found: dict[str, str] = tree["metadata"].get("annotations") or {}
    return sorted((key, "" if key == names.ASKED_AT else value) for key, value in found.items())


# --- stories ---------------------------------------------------------------------------------------------------------


def hung_node(cluster: Cluster) -> None:
    """A node hangs while its workload writes on, and somebody marks its Machine."""
    cluster.servers["worker-1"].hang()
    cluster.agenda.after(2 * MINUTE_MS, lambda: cluster.mark("worker-1"))


def cordoned_node(cluster: Cluster) -> None:
    """A node that a person had cordoned panics."""
    cluster.cordon("worker-2")
    cluster.servers["worker-2"].panic()
    cluster.agenda.after(2 * MINUTE_MS, lambda: cluster.mark("worker-2"))


def node_without_ref(cluster: Cluster) -> None:
    """A Machine that never had a Node is power cycled."""
    body = {"status": {"nodeRef": None}}
    cluster.api.patch(MACHINE, machine_of("worker-3"), NAMESPACE, body, "merge", subresource="status")
    cluster.mark("worker-3")


def called_off(cluster: Cluster) -> None:
    """Somebody takes the request back while the host is going down, and makes it again later."""
    cluster.servers["worker-1"].hang()
    cluster.mark("worker-1")
    cluster.agenda.after(10 * MINUTE_MS, lambda: cluster.mark("worker-1"))
    cluster.agenda.after(4_000, lambda: cluster.unmark("worker-1"))


def treated_by_a_doctor(cluster: Cluster) -> None:
    """A machine is left to the controller of an invented kind, through a request made from a template."""
    ward = Ward(cluster, 1)
    Doctor(ward, seed=1)
    cluster.servers[ward.nodes[0]].panic()


def machine_vanishes(cluster: Cluster) -> None:
    """The Machine is deleted while its host is held off: the host must not stay off."""
    cluster.mark("worker-1")
    cluster.agenda.after(3_000, lambda: cluster.delete_machine("worker-1"))


def replaced_machine(cluster: Cluster) -> None:
    """An instance of the cloud hangs while its workload writes on, and its Machine waits for an owner."""
    cluster.provider.grow(2)
    cluster.agenda.after(4 * MINUTE_MS, lambda: cluster.move("database-0"))
    cluster.agenda.after(5 * MINUTE_MS, lambda: cluster.provider.instances["pool-1"].hang())
    cluster.agenda.after(7 * MINUTE_MS, lambda: cluster.ask_owner("pool-1"))


def drained_machine(cluster: Cluster) -> None:
    """A machine whose node still works waits for its owner: its pods are evicted before it goes."""
    cluster.provider.grow(1)
    cluster.provider.removes_nodes = True
    cluster.agenda.after(4 * MINUTE_MS, lambda: cluster.move("database-0"))
    cluster.agenda.after(5 * MINUTE_MS, lambda: cluster.ask_owner("pool-1"))


def remediated_by_taint(cluster: Cluster) -> None:
    """A node hangs while its workload writes on, and a Metal3Remediation is made for its Machine."""
    remediated(cluster, "taint")


def remediated_by_pods(cluster: Cluster) -> None:
    """The same, freed pod by pod."""
    remediated(cluster, "pods")


def remediated_by_node(cluster: Cluster) -> None:
    """The same, freed by deleting the Node."""
    remediated(cluster, "node")


def remediated(cluster: Cluster, by: str) -> None:
    cluster.servers["worker-1"].hang()
    cluster.agenda.after(2 * MINUTE_MS, lambda: cluster.remediate("worker-1", strategy="reboot", freeBy=by))


def recalled(cluster: Cluster) -> None:
    """The Metal3Remediation is deleted while the host goes down: the host must come on, and nothing is freed.

    Late enough for the record of it to be written. Whether the server was off for a moment depends on who was dead how
    long; so in the end somebody resets it.
    """
    cluster.servers["worker-1"].hang()
    cluster.remediate("worker-1", freeBy="taint")
    cluster.agenda.after(20_000, lambda: cluster.recall("worker-1"))
    cluster.agenda.after(STORY_MS - 15 * MINUTE_MS, lambda: repaired(cluster, "worker-1"))


def given_up(cluster: Cluster) -> None:
    """A server that never boots again: after the retries its owner is asked, and nobody answers."""
    cluster.servers["worker-2"].is_broken = True
    cluster.remediate("worker-2", deleteAfterRetries=1, powerOnTimeoutSeconds=120)
    cluster.agenda.after(STORY_MS - 8 * MINUTE_MS, lambda: repaired(cluster, "worker-2"))


def deleted(cluster: Cluster, kind: Kind, name: str, namespace: str = "") -> None:
    """Somebody deletes an object by hand."""
    cluster.api.delete(kind, name, namespace)


def repaired(cluster: Cluster, node: str) -> None:
    """Somebody repairs a server by hand."""
    cluster.servers[node].is_broken = False
    cluster.servers[node].booted()


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        hung_node,
        cordoned_node,
        node_without_ref,
        called_off,
        machine_vanishes,
        replaced_machine,
        drained_machine,
        remediated_by_taint,
        remediated_by_pods,
        remediated_by_node,
        recalled,
        given_up,
        treated_by_a_doctor,
    )
}
