"""Disruption budgets: what the disruption controller of a real cluster writes into their status.

Incremental: a change of a pod or a budget makes its namespace due, and only where there is a budget at all.
"""

from __future__ import annotations

import math
from typing import Any

from noderemedy.sim.apiserver import kinds
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.resources import Resources
from noderemedy.sim.apiserver.selectors import matches_selector
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.types import Change, Tree
from noderemedy.sim.apiserver.writes import Writes

STATUS = Options(manager="kube-controller-manager", subresource="status", verb="patch")


class Budgets:
    """Counts healthy pods and says how many may go."""

    def __init__(self, store: Store, resources: Resources, writes: Writes) -> None:
        self.store = store
        self.resources = resources
        self.writes = writes
        self.due: dict[str, None] = {}
        store.observers.append(self.observe)

    def observe(self, change: Change) -> None:
        """A pod or a budget changed: count its namespace again at the next refresh."""
        if change.kind == kinds.BUDGET or (change.kind == kinds.POD and self.store.collection(kinds.BUDGET).objects):
            self.due[change.key[0]] = None

    def refresh(self) -> None:
        """Bring the status of every budget in a namespace that is due up to date."""
        collection = self.store.collection(kinds.BUDGET)
        namespaces, self.due = self.due, {}
        for key in list(collection.sorted_keys()):
            if key[0] in namespaces:
                budget = collection.objects[key]
                status = budget_status(budget, self.pods_of(budget))
                if status != budget.get("status"):
                    self.write_status(budget, status)
        self.due = {}

    def pods_of(self, budget: Tree) -> list[Tree]:
        namespace, selector = budget["metadata"]["namespace"], budget["spec"].get("selector")
        pods = self.store.collection(kinds.POD)
        found = [pods.objects[key] for key in pods.sorted_keys() if key[0] == namespace]
        return [pod for pod in found if matches_selector(selector, pod["metadata"].get("labels") or {})]

    def write_status(self, budget: Tree, status: Tree) -> None:
        self.writes.change(self.resources.of(kinds.BUDGET), budget, {**budget, "status": status}, STATUS)


def is_ready(pod: Tree) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def budget_status(budget: Tree, pods: list[Tree]) -> Tree:
    """The status of a budget over these pods; expected is their number (owners' scales are not followed)."""
    spec, expected = budget["spec"], len(pods)
    staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    names = {pod["metadata"]["name"] for pod in staying}
    disrupted = (budget.get("status") or {}).get("disruptedPods") or {}
    kept = {name: when for name, when in disrupted.items() if name in names}
    healthy = sum(1 for pod in staying if is_ready(pod) and pod["metadata"]["name"] not in kept)
    if "maxUnavailable" in spec:
        desired = max(0, expected - _amount(spec["maxUnavailable"], expected))
    else:
        desired = _amount(spec.get("minAvailable", 1), expected)
    status = {
        "observedGeneration": budget["metadata"].get("generation", 0),
        "disruptionsAllowed": max(0, healthy - desired),
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
    }
    old = budget.get("status") or {}
    others = {key: value for key, value in old.items() if key not in status and key != "disruptedPods"}
    return {**others, **status, "disruptedPods": kept} if kept else {**others, **status}


def _amount(value: Any, whole: int) -> int:
    """A number, or a percentage of the whole rounded up."""
    if isinstance(value, str):
        return math.ceil(int(value.rstrip("%")) * whole / 100)
    return int(value)
