"""S15, continued: a step of a record that is due to an object names it, and a generation that it really had.

Called by `recordcheckers.py` with the steps that an Incident gets. Objects may be edited, or be gone, when a step is
written: what counts are the generations that any object of that name has had by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from noderemedy.model.ids import (
    BUDGET,
    FENCE_REMEDIATION,
    HEALTH_CHECK,
    NODE_FENCE,
    OPENSHIFT_HEALTH_CHECK,
    REMEDIATION,
)
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.cluster import Cluster

RULE = "S15"
DECIDING = (HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, BUDGET, REMEDIATION, NODE_FENCE, FENCE_REMEDIATION)
JUDGED = ("verdict", "unhealthy")  # by a health check: no target is called sick without one


class DeciderCheckers:
    """Follows the generations of all that decides."""

    def __init__(self, cluster: Cluster, complain: Callable[[str, str], None], ran: Counter[str]) -> None:
        self._cluster = cluster
        self._complain = complain
        self._ran = ran
        self._generations: dict[str, int] = {}  # the latest that an object of this name has had
        self._unfollowed = set(DECIDING)
        self._follow()

    def _follow(self) -> None:
        """Kinds may be installed later."""
        api = self._cluster.api
        for kind in sorted(one for one in self._unfollowed if api.resources.find(one)):
            self._unfollowed.discard(kind)
            api.subscribe(kind, self._seen)
            for tree in api.list(kind):
                self._note(tree)

    def _seen(self, event: WatchEvent) -> None:
        self._note(event.tree)

    def _note(self, tree: Tree) -> None:
        name, generation = name_of(tree), tree["metadata"].get("generation", 0)
        self._generations[name] = max(generation, self._generations.get(name, 0))

    def look(self, incident: str, steps: list[Tree]) -> None:
        """At steps that are new."""
        if steps and self._unfollowed:
            self._follow()
        for step in steps:
            by, generation = step.get("by", ""), step.get("generation")
            told = f"step {step['what']} {step.get('value', '')} of Incident {incident}"
            if (step["room"], step.get("value")) == JUDGED and not (by and generation):
                self._complain(RULE, f"{told} names no check with its generation")
            if generation is None:
                continue
            self._ran["S15 generations"] += 1
            if not 1 <= generation <= self._generations.get(by, 0):
                self._complain(RULE, f"{told} names generation {generation} of {by}, which never had it")


def name_of(tree: Tree) -> str:
    """As a record names it."""
    meta = tree["metadata"]
    return f"{tree['kind']}/{meta.get('namespace', '')}/{meta['name']}"
