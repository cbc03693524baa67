"""Crash plans of Jobs, of documents and of drills: the manager dies with every move of a Job, too, and at every write.

A Job is made, its pod is at work, it succeeds, fails, comes late or is never heard of again: of an agent that switches
a node off or on, and of a remedy. Called like the stories of `fencecrash.py`, in the same world.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from noderemedy.model.ids import CONFIG_MAP, JOB, SYSTEM
from noderemedy.model.time import MINUTE
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.crash import Scene, Story, deleted
from noderemedy.sim.fencecrash import ask, hangs, mend, spoil, stage
from noderemedy.sim.fenced import CREDENTIALS, LOGIN, described
from noderemedy.sim.jobrunner import JobFate, Jobs
from noderemedy.sim.outlets import Fault
from noderemedy.sim.troubles import MINUTE_MS


class Fated(random.Random):
    """What is unlikely is this."""

    def __init__(self, fate: JobFate) -> None:
        super().__init__(1)
        self._fate = fate

    def choice(self, seq: Any) -> Any:
        return self._fate


class Unlucky:
    """One Job of a world meets this fate: the first, or another one."""

    def __init__(self, jobs: Jobs, fate: JobFate, number: int) -> None:
        jobs.chance = Fated(fate)
        jobs.odds = 1.0 if number == 1 else 0.0
        self._jobs = jobs
        self._left = number
        jobs.cluster.api.subscribe(JOB, self._job)

    def _job(self, event: WatchEvent) -> None:
        """Called after the Jobs have drawn for this one: what is set here is for the next."""
        self._left -= event.type == "ADDED"
        self._jobs.odds = 1.0 if self._left == 1 else 0.0


def unlucky(story: Story, fate: JobFate, number: int = 1) -> Story:
    """The same, and a Job has no luck."""

    def told(cluster: Cluster) -> None:
        jobs = cluster.outlets.jobs
        assert isinstance(jobs, Jobs)
        Unlucky(jobs, fate, number)
        story(cluster)

    return told


# --- stories ---------------------------------------------------------------------------------------------------------


def switched_by_jobs(cluster: Cluster) -> None:
    """A node hangs, and is fenced by an agent in a Job."""
    hangs(cluster, "worker-1", freeBy="taint")


def job_deleted(cluster: Cluster) -> None:
    """The same, and somebody deletes the first of its Jobs, whose pod has not started: nobody hears of it any more."""
    switched_by_jobs(cluster)
    unheard: list[str] = []

    def made(event: WatchEvent) -> None:
        if event.type == "ADDED" and not unheard:
            unheard.append(event.tree["metadata"]["name"])
            cluster.agenda.after(10_000, partial(deleted, cluster, JOB, unheard[0], SYSTEM))

    cluster.api.subscribe(JOB, made)


def hang(cluster: Cluster) -> None:
    """A node hangs, and a Configuration says what is done about it."""
    cluster.servers["worker-1"].hang()


def fenced_before(cluster: Cluster) -> None:
    """A person has had a node power cycled, and its NodeFence stands; then it hangs, and that one makes room."""
    ask(cluster, evenIfReady=True, ttlAfterFinal="60m")
    cluster.agenda.after(10 * MINUTE_MS, lambda: hang(cluster))


def document_broken(cluster: Cluster) -> None:
    """Somebody edits a Configuration, then breaks it: what was good last is kept, and has a node fenced."""
    text: str = cluster.api.get(CONFIG_MAP, "fences", SYSTEM)["data"]["config.yaml"]
    write(cluster, "fences", "config.yaml", text.replace("60%", "80%"))
    cluster.agenda.after(MINUTE_MS, lambda: write(cluster, "fences", "config.yaml", "thresholdConfigs: 7\n"))
    cluster.agenda.after(2 * MINUTE_MS, lambda: hang(cluster))
    cluster.agenda.after(20 * MINUTE_MS, lambda: write(cluster, "fences", "config.yaml", text))


def agent_changed(cluster: Cluster) -> None:
    """BMCs are asked by another agent from now on: it has to describe itself before anything is fenced by it."""
    cluster.outlets.agents["fence_redfish"] = described("fence_redfish", "ip", *CREDENTIALS)
    name = "fence-method-template-ipmi"
    write(cluster, name, "template.properties", f"agent=fence_redfish\n{LOGIN}")
    hangs(cluster, "worker-1")


def drilled(cluster: Cluster) -> None:
    """A device does not answer for a while, which its Node tells; then another node hangs and is fenced."""
    spoil(cluster, "worker-2", Fault.UNREACHABLE)
    cluster.agenda.after(8 * MINUTE_MS, lambda: mend(cluster, "worker-2"))
    cluster.agenda.after(12 * MINUTE_MS, lambda: hangs(cluster, "worker-1"))


def write(cluster: Cluster, name: str, key: str, text: str) -> None:
    cluster.api.patch(CONFIG_MAP, name, SYSTEM, {"data": {key: text}}, "merge")


by_jobs = partial(stage, "person", is_by_jobs=True)
chain = partial(stage, "chain", is_by_jobs=True)
STORIES: dict[str, Scene] = {
    "switched_by_jobs": (switched_by_jobs, by_jobs),
    "off_fails": (unlucky(switched_by_jobs, JobFate.DIES), by_jobs),
    "off_never_starts": (unlucky(switched_by_jobs, JobFate.NO_IMAGE), by_jobs),
    "off_is_deleted": (unlucky(job_deleted, JobFate.NO_IMAGE), by_jobs),
    "off_starts_late": (unlucky(switched_by_jobs, JobFate.LATE), by_jobs),
    "on_is_lost": (unlucky(switched_by_jobs, JobFate.ON_A_SICK_NODE, 2), by_jobs),
    "remedy_fails": (unlucky(hang, JobFate.DIES), chain),
    "remedy_never_starts": (unlucky(hang, JobFate.NO_IMAGE), chain),
    "remedy_starts_late": (unlucky(hang, JobFate.LATE), chain),
    "reset_and_freed_by_pods": (hang, partial(stage, "chain", is_strict=True)),
    "fenced_before": (fenced_before, partial(stage, "threshold")),
    "document_broken": (document_broken, partial(stage, "threshold")),
    "agent_changed": (agent_changed, partial(stage, "person")),
    "drilled": (drilled, partial(stage, "person", drills=MINUTE * 5)),
}
