"""Builders for health checks: say what matters, the rest is a worker in good health and a check of seed 003."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, a_machine, a_node, ago, an_entry

from noderemedy.core.healthcheck.criteria import judge, sightings
from noderemedy.model.cluster import Cluster
from noderemedy.model.healthcheck import Criterion, Dialect, HealthCheck, Target, Verdict
from noderemedy.model.node import Condition, Node
from noderemedy.model.room import Entry
from noderemedy.model.selector import Selector
from noderemedy.model.time import Now, Span, Wall

FIVE_MINUTES = Span.seconds(300)
UNKNOWN = Criterion("Ready", "Unknown", FIVE_MINUTES)
FALSE = Criterion("Ready", "False", FIVE_MINUTES)
WORKERS = Selector(match_labels=(("role", "worker"),))


def a_check(dialect: Dialect = Dialect.SEED, **more: Any) -> HealthCheck:
    """Seed 003's example: Ready Unknown or False for five minutes."""
    usual = {"uid": "check-uid-1", "selector": WORKERS, "node_criteria": (UNKNOWN, FALSE), "generation": 1}
    return HealthCheck(dialect=dialect, **{**usual, **more})


def a_sick_node(status: str, seconds: float | None, kind: str = "Ready", **more: Any) -> Node:
    """A node whose condition has had this status for so long; None: the API does not say since when."""
    since = ago(seconds) if seconds is not None else None
    return replace(a_node(**more), conditions=(Condition(kind, status, since),))


def a_target(node: Node | Entry | None = None, *, cluster: Cluster | None = None, **machine: Any) -> Target:
    """A machine with this node, None for one that was read live and is not there. `node_name=None`: it names none."""
    built = replace(a_machine(), **{"labels": (("role", "worker"),), **machine})
    at = NODE_AT if built.node_name else None
    return Target(MACHINE_AT, built, at, an_entry(node, confirmed=True, version="103"), cluster)


def verdict(target: Target, check: HealthCheck | None = None, now: Now = NOW) -> Verdict:
    """The verdict at a first look."""
    check = check or a_check()
    return judge(replace(target, sightings=sightings(target, check, now)), check, now)


def a_cluster(initialized: Wall | None = None, infrastructure: Wall | None = None) -> Cluster:
    """A Cluster with these conditions True since then; None: False."""
    wanted = {"ControlPlaneInitialized": initialized, "InfrastructureReady": infrastructure}
    return Cluster(
        "cluster-uid", conditions=tuple(Condition(k, "True" if s else "False", s) for k, s in wanted.items())
    )
