"""Checkers and troubles of the policies themselves: health checks that people edit, break, double and delete.

S17: exactly one policy governs a machine: no younger check marks what an older one selects, be that one invalid.
S18: an invalid policy changes nothing: it marks nobody.
L1: every sick node that policy allows is repaired, at the latest when the world has been healed for a while.
The checkers read specs by themselves, field by field: what the manager makes of them is what they watch over.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import NODE, REMEDIATION
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.garbling import is_garbled
from noderemedy.sim.objects import NAMESPACE
from noderemedy.wire import names

MINUTE_MS = 60_000
OLD_NEWS_MS = 5 * MINUTE_MS  # how late a manager may act on what it has seen: lagging watches, restarts, retries
BROKEN = "[5-3]"  # a range that the schema admits and nobody can keep
FIRST, YOUNGER = "all", "younger"


class PolicyCheckers:
    """Watches checks, and the marks and requests that name them."""

    def __init__(self, cluster: Cluster, ran: Counter[str], complain: Callable[[str, str], None]) -> None:
        self.cluster = cluster
        self.ran = ran
        self.complain = complain
        self._checks: dict[str, dict[str, Any]] = {}
        self._since: dict[str, int] = {}  # when a check became what it is
        self._marks: dict[str, str] = {}
        cluster.api.subscribe(cluster.dialect.check, self._check)
        cluster.api.subscribe(cluster.dialect.machine, self._machine)
        cluster.api.subscribe(REMEDIATION, self._request)

    def _check(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        if event.type == "DELETED":
            self._checks.pop(name, None)
        elif name not in self._checks or meaning(event.tree) != meaning(self._checks[name]):
            self._checks[name] = event.tree
            self._since[name] = self.cluster.agenda.now_ms

    def _machine(self, event: WatchEvent) -> None:
        machine = event.tree["metadata"]["name"]
        mark = (event.tree["metadata"].get("annotations") or {}).get(names.NEEDS_REMEDIATION, "")
        before, self._marks[machine] = self._marks.get(machine, ""), mark
        if mark == before or not mark.startswith(names.MARKED_BY):
            return
        author = mark.removeprefix(names.MARKED_BY)
        self._governs(author, event.tree)
        self._is_valid(author, machine)

    def _request(self, event: WatchEvent) -> None:
        """One that a check had made: its template has the name of the check."""
        meta = event.tree["metadata"]
        author, node = (meta.get("annotations") or {}).get(names.CLONED_FROM), meta["name"].removeprefix(machine_of(""))
        if event.type != "ADDED" or author is None:
            return
        for machine in self.cluster.machines(node):
            self._governs(author, machine)
        self._is_valid(author, meta["name"])

    def _governs(self, author: str, machine: dict[str, Any]) -> None:
        self.ran["S17 one policy"] += 1
        mine = self._checks.get(author)
        for name, other in self._checks.items():
            is_older = mine is not None and age_of(other) < age_of(mine)
            if is_older and self._is_old_news(name) and not is_garbled(other) and selects(other, machine):
                self.complain("S17", f"{author} marked {machine['metadata']['name']}, which {name} governs")

    def _is_valid(self, author: str, machine: str) -> None:
        self.ran["S18 valid policies"] += 1
        found = self._checks.get(author)
        if found is not None and is_broken(found) and self._is_old_news(author):
            self.complain("S18", f"{author} is invalid and marked {machine}")

    def at_rest(self) -> None:
        """L1: whatever was sick when the world was healed has been repaired: every node is ready."""
        for name in self.cluster.servers:
            self.ran["L1 repaired"] += 1
            node = self.cluster.api.find(NODE, name) or {}
            conditions = node.get("status", {}).get("conditions", ())
            if not any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
                self.complain("L1", f"node {name} is sick, and nobody has repaired it")

    def _is_old_news(self, name: str) -> bool:
        return self.cluster.agenda.now_ms - self._since[name] > OLD_NEWS_MS


def age_of(check: dict[str, Any]) -> tuple[str, str]:
    return (check["metadata"]["creationTimestamp"], check["metadata"]["name"])


def meaning(check: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """What a check says, and whether anybody can read it."""
    return check["spec"], is_garbled(check)


def is_broken(check: dict[str, Any]) -> bool:
    """Whether it is invalid, or cannot be read."""
    trigger = (check["spec"].get("remediation") or {}).get("triggerIf") or {}
    return is_garbled(check) or BROKEN in (check["spec"].get("unhealthyRange"), trigger.get("unhealthyInRange"))


def selects(check: dict[str, Any], machine: dict[str, Any]) -> bool:
    labels = machine["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in check["spec"]["selector"]["matchLabels"].items())


class PolicyTroubles:
    """What people do to checks in the middle of repairs (faults 28, 29), and how it ends."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self._kind = cluster.dialect.check
        self._first = cluster.check(FIRST, "40%")

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.check_edited, 2),
            (self.check_broken, 2),
            (self.check_doubled, 2),
            (self.check_deleted, 1),
            (self.check_paused, 1),
        ]

    def check_edited(self) -> None:
        """Another limit, another selector, or another way of repair, for a while."""
        other = {"matchLabels": {names.CLUSTER_NAME: "nobody"}}
        self._patch(self.chance.choice([{"maxUnhealthy": "0%"}, {"maxUnhealthy": 7}, {"selector": other}]))
        self._later(self.mend)

    def check_broken(self) -> None:
        self._patch({"unhealthyRange": BROKEN})
        self._later(self.mend)

    def check_doubled(self) -> None:
        """A second check over the same machines, in a hurry."""
        if self._is_served() and self.cluster.api.find(self._kind, YOUNGER, NAMESPACE) is None:
            self.cluster.api.create(self.cluster.dialect.say(self.cluster.check(YOUNGER, "100%")))
            self._later(self.mend)

    def check_deleted(self) -> None:
        if self._has_first():
            self.cluster.api.delete(self._kind, FIRST, NAMESPACE)
            self._later(self.mend)

    def check_paused(self) -> None:
        self._annotate("true")
        self._later(self.mend)

    def mend(self) -> None:
        """One check over all machines, as it was; where the whole kind is gone, with whoever brings it back."""
        if not self._is_served():
            self._later(self.mend)
            return
        if self.cluster.api.find(self._kind, YOUNGER, NAMESPACE) is not None:
            self.cluster.api.delete(self._kind, YOUNGER, NAMESPACE)
        if self.cluster.api.find(self._kind, FIRST, NAMESPACE) is None:
            self.cluster.api.create(self.cluster.dialect.say(self._first))
        self._annotate(None)
        self._patch({"unhealthyRange": None, **self._first["spec"]})

    def _patch(self, spec: dict[str, Any]) -> None:
        if self._has_first():
            body = {"spec": self.cluster.dialect.spec(spec)}
            self.cluster.api.patch(self._kind, FIRST, NAMESPACE, body, "merge")

    def _annotate(self, value: str | None) -> None:
        body = {"metadata": {"annotations": {names.PAUSED: value}}}
        if self._has_first():
            self.cluster.api.patch(self._kind, FIRST, NAMESPACE, body, "merge")

    def _has_first(self) -> bool:
        return self._is_served() and self.cluster.api.find(self._kind, FIRST, NAMESPACE) is not None

    def _is_served(self) -> bool:
        return self.cluster.api.resources.find(self._kind) is not None

    def _later(self, do: Callable[[], None]) -> None:
        self.cluster.agenda.after(self.chance.randint(6, 25) * MINUTE_MS, do)
