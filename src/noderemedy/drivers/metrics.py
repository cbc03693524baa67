"""The figures that node-remedy publishes, with the prefix `node_remedy_`.

The manager sets them, `health.py` serves them. One registry per program, never the global one: tests and the lab run
several managers in one process.
"""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, generate_latest

from noderemedy import __version__

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
EFFECT_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
REMEDY_SECONDS = (1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600)
STEP_SECONDS = (1, 5, 10, 20, 30, 60, 120, 300, 600, 1_800)
RUN_SECONDS = (0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300)


class Metrics:
    """Every figure by name."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.objects = Gauge("node_remedy_objects", "Objects in the cache", ["kind"], registry=registry)
        self.queue_depth = Gauge("node_remedy_queue_depth", "Keys that wait to be decided", registry=registry)
        self.decisions = Counter(
            "node_remedy_decisions", "Decisions by room and reason", ["room", "reason"], registry=registry
        )
        self.standing = Gauge(
            "node_remedy_reasons_standing",
            "Objects for which a reason that calls a person stands now, as the leader sees it",
            ["room", "reason"],
            registry=registry,
        )
        self.effects = Counter(
            "node_remedy_effects", "Effects by action and outcome", ["action", "outcome"], registry=registry
        )
        self.effect_seconds = Histogram(
            "node_remedy_effect_duration_seconds",
            "From asking for an effect to its outcome",
            ["action"],
            buckets=EFFECT_SECONDS,
            registry=registry,
        )
        self.watch_age = Gauge(
            "node_remedy_watch_age_seconds", "Age of the newest byte of a watch", ["kind"], registry=registry
        )
        self.workload_clusters = Gauge(
            "node_remedy_workload_clusters", "Clusters of a management cluster by state", ["state"], registry=registry
        )
        self.workload_cluster_up = Gauge(
            "node_remedy_workload_cluster_up",
            "1 while all Nodes of a cluster are known",
            ["cluster"],
            registry=registry,
        )
        self.quarantined = Counter(
            "node_remedy_quarantined", "Objects that could not be read", ["kind"], registry=registry
        )
        self.unreadable = Gauge(
            "node_remedy_unreadable_objects", "Objects that cannot be read now", ["kind"], registry=registry
        )
        self.leader = Gauge("node_remedy_leader", "1 while this process may act", registry=registry)
        self.loop_lag = Gauge(
            "node_remedy_loop_lag_seconds", "How late the event loop runs its timers", registry=registry
        )
        self.build = Info("node_remedy_build", "Which node-remedy this is", registry=registry)
        self.build.info({"version": __version__})
        self._count_repairs(registry)

    def _count_repairs(self, registry: CollectorRegistry) -> None:
        """What was done for nodes."""
        self.fence_steps = Counter(
            "node_remedy_fence_steps", "Tries of the steps of fences that ended", ["step", "outcome"], registry=registry
        )
        self.fence_step_seconds = Histogram(
            "node_remedy_fence_step_duration_seconds",
            "From the beginning of a try of a step to its end",
            ["step", "outcome"],
            buckets=STEP_SECONDS,
            registry=registry,
        )
        self.fence_runs = Counter(
            "node_remedy_fence_runs", "Runs of fence methods", ["method", "agent", "deed", "outcome"], registry=registry
        )
        self.fence_run_seconds = Histogram(
            "node_remedy_fence_run_duration_seconds",
            "From ordering a run of a fence method to its result",
            ["agent", "deed", "outcome"],
            buckets=RUN_SECONDS,
            registry=registry,
        )
        # A method's name may be one node's: one series each, and not one for every bucket.
        self.fence_method_seconds = Counter(
            "node_remedy_fence_method_seconds",
            "Time that runs of fence methods took",
            ["method", "agent", "deed", "outcome"],
            registry=registry,
        )
        self.problems = Counter(
            "node_remedy_problems", "Incidents that were opened, by condition", ["condition"], registry=registry
        )
        self.remedies = Counter("node_remedy_remedies", "Remedies that ended", ["remedy", "outcome"], registry=registry)
        self.remedy_seconds = Histogram(
            "node_remedy_remedy_duration_seconds",
            "From ordering a remedy to the end of its Job",
            ["remedy"],
            buckets=REMEDY_SECONDS,
            registry=registry,
        )

    def count_run(self, method: str, agent: str, deed: str, outcome: str, took_s: float | None) -> None:
        """A run of a fence method; None: nobody knows when it began, and it is not timed."""
        self.fence_runs.labels(method, agent, deed, outcome).inc()
        if took_s is not None:
            self.fence_run_seconds.labels(agent, deed, outcome).observe(took_s)
            self.fence_method_seconds.labels(method, agent, deed, outcome).inc(took_s)

    def text(self) -> bytes:
        """All figures in the exposition format."""
        return generate_latest(self.registry)


async def measure_lag(metrics: Metrics, period_s: float = 1.0) -> None:
    """Keep the loop lag figure up to date until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + period_s
        await asyncio.sleep(period_s)
        metrics.loop_lag.set(max(0.0, loop.time() - due))
