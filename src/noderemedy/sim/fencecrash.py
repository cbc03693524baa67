"""Crash plans of fencing: the manager dies at every boundary of a fence, of a remedy, of a fence that is stopped.

What was sent to a device is not called back by a death, and its successor must find out what became of it (race R34).
Called like the stories of `crash.py`, with a world of devices and documents of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from noderemedy.engine.loop import Engine
from noderemedy.model.ids import NODE_FENCE
from noderemedy.model.time import Span
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.crash import Ending, Stage, Story, play
from noderemedy.sim.fencecheckers import FenceCheckers
from noderemedy.sim.fenced import VOLUMES, Fenced, fenced_cluster
from noderemedy.sim.fencetroubles import node_fence
from noderemedy.sim.jobrunner import Jobs
from noderemedy.sim.process import Process
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM

NODES = 5  # one of each sort


class FencedCheckers(Checkers):
    """What must hold at the end where nodes are fenced: hosts are only some of the devices."""

    of_fences: FenceCheckers

    def at_rest(self, engine: Engine | None) -> None:
        self.of_fences.at_rest()
        self.workload_runs()


def stage(
    trigger: str,
    seed: int,
    nodes: int,
    drills: Span | None = None,
    *,
    disks: int | None = None,
    is_by_jobs: bool = False,
) -> Stage:
    """A quiet cluster with one manager, whose nodes are fenced for this reason."""
    cluster = fenced_cluster(nodes, seed, VOLUMES[: 1 if disks is None else 2])
    checkers = FencedCheckers(cluster)
    fenced = Fenced(cluster, (trigger,), disks=disks)
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


def ask(cluster: Cluster) -> None:
    cluster.api.create(node_fence("worker-1", powerManagementDelay="0s", ttlAfterFinal="60s"))


def stop(cluster: Cluster, *, is_stopped: bool) -> None:
    if cluster.api.find(NODE_FENCE, "node-fence-worker-1") is not None:
        cluster.api.patch(NODE_FENCE, "node-fence-worker-1", "", {"spec": {"stopped": is_stopped}}, "merge")


STORIES: dict[str, tuple[Story, Callable[[int, int], Stage]]] = {
    "fenced_by_check": (fenced_by_check, partial(stage, "check")),
    "cut_off_by_threshold": (cut_off_by_threshold, partial(stage, "threshold")),
    "cut_off_from_disks": (cut_off_from_disks, partial(stage, "threshold", disks=0, is_by_jobs=True)),
    "reset_by_remedy": (reset_by_remedy, partial(stage, "chain")),
    "stopped_midway": (stopped_midway, partial(stage, "person")),
}


def play_fence(name: str, **how: object) -> Ending:
    """The story of this name, as `play` plays it."""
    story, world = STORIES[name]
    return play(story, nodes=NODES, stage=world, **how)  # type: ignore[arg-type]
