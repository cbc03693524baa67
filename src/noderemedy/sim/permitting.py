"""What managers begin, held against what checks, Machines and Clusters permit: S4 and S8.

S4: no check has a repair begun while more of its targets are sick than its own limit bears.
S8: nothing is begun by a check that only observes, is paused, or is another controller's, nor for a Machine that a
    person paused, nor in a paused Cluster; and by no check for a Machine that is not to be remediated.
S18: nothing is begun by a check that cannot be read.

By what a manager could know: of all that was said within the last minutes something must permit it. A mark names its
check; of other beginnings some check that selects the Machine must permit them.
"""

from __future__ import annotations

import re
from typing import TypeVar

from msgspec import Struct

from noderemedy.core.healthcheck.remediationview import NAME as BY_CHECK
from noderemedy.model.actions import MarkMachine
from noderemedy.model.ids import CLUSTER
from noderemedy.model.outcome import Effect
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.beginnings import begun
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.clusterpauses import is_paused
from noderemedy.sim.dialects import OPENSHIFT
from noderemedy.sim.garbling import is_garbled
from noderemedy.sim.limits import is_pause, parts
from noderemedy.sim.news import News
from noderemedy.sim.othercontrollers import is_anothers
from noderemedy.sim.process import Process
from noderemedy.wire import names

RANGE = re.compile(r"\[(\d+)-(\d+)\]")
Labels = tuple[tuple[str, str], ...]
T = TypeVar("T")


class Check(Struct, frozen=True):
    """One version of a health check."""

    labels: Labels
    without: tuple[str, ...]  # labels that a target must not have
    stopped: str = ""  # why it may not begin anything
    limit: tuple[int, int] | None = None  # so many, or such a percentage
    is_exact: bool = True  # the limit itself is too much
    most: int | None = None  # the upper end of a range

    def selects(self, labels: dict[str, str]) -> bool:
        is_without = not any(key in labels for key in self.without)
        return is_without and all(labels.get(key) == value for key, value in self.labels)

    def bears(self, sick: int, total: int) -> bool:
        if self.most is not None:
            return sick <= self.most
        if self.limit is None:
            return True
        number, percent = self.limit
        if not percent:
            return sick < number or (sick == number and not self.is_exact)
        return sick * 100 < percent * total or (sick <= percent * total // 100 and not self.is_exact)


class Machine(Struct, frozen=True):
    """What is said on a Machine."""

    labels: Labels
    cluster: str
    is_paused: bool
    is_skipped: bool


class Permitting:
    """Watches checks, Machines and Clusters, and looks at every beginning."""

    def __init__(self, budgeting: Budgeting, processes: list[Process]) -> None:
        self.budgeting = budgeting
        self.checkers = budgeting.checkers
        self.cluster = budgeting.cluster
        self._checks: dict[str, News[Check | None]] = {}
        self._machines: dict[str, News[Machine]] = {}
        self._clusters: dict[str, News[bool]] = {}  # whether they are paused
        self._changes = 0  # of who has which labels
        self._counted: dict[Check, tuple[int, int]] = {}  # after how many changes: so many targets
        self._follow()
        for process in processes:
            process.on_boundary.append(self._set_out)

    def _follow(self) -> None:
        api, dialect = self.cluster.api, self.cluster.dialect
        for kind, listener in ((dialect.machine, self._machine), (dialect.check, self._check), (CLUSTER, self._paused)):
            if api.resources.find(kind) is not None:
                for tree in api.list(kind):
                    listener(WatchEvent("ADDED", tree))
                api.subscribe(kind, listener)

    # --- what is said --------------------------------------------------------------------------------------------

    def _check(self, event: WatchEvent) -> None:
        is_exact = self.cluster.dialect is not OPENSHIFT
        said = None if event.type == "DELETED" else check(event.tree, is_exact=is_exact)
        self._tell(self._checks, event.tree["metadata"]["name"], said, None)

    def _machine(self, event: WatchEvent) -> None:
        name = event.tree["metadata"]["name"]
        before = self._machines.get(name)
        if event.type == "DELETED":
            self._machines.pop(name, None)
            self._changes += 1
            return
        said = machine(event.tree)
        self._changes += before is None or before.heard()[0].labels != said.labels
        self._tell(self._machines, name, said, said)

    def _paused(self, event: WatchEvent) -> None:
        said = event.type != "DELETED" and is_paused(event.tree)
        self._tell(self._clusters, event.tree["metadata"]["name"], said, said)

    def _tell(self, told: dict[str, News[T]], name: str, said: T, before: T) -> None:
        if name not in told:
            told[name] = News(self.cluster.agenda, before)
        told[name].say(said)

    # --- what is begun -------------------------------------------------------------------------------------------

    def _set_out(self, process: Process, where: str, effect: Effect) -> None:
        name = begun(effect.action, self.cluster) if where == "begin" else ""
        if name and name in self._machines:
            what = f"{type(effect.action).__name__} for {name}"
            self._is_let(name, what)
            if effect.key.room == BY_CHECK:
                self._is_asked_for(name, what, effect.action.check if isinstance(effect.action, MarkMachine) else "")

    def _is_let(self, name: str, what: str) -> None:
        heard, complain = self._machines[name].heard(), self.checkers.complain
        self.checkers.ran["S8 Machine paused"] += 1
        if all(one.is_paused for one in heard):
            complain("S8", f"{what}, and a person paused it")
        self.checkers.ran["S8 Cluster paused"] += 1
        paused = self._clusters.get(heard[0].cluster)
        if paused is not None and all(paused.heard()):
            complain("S8", f"{what}, and its Cluster is paused")

    def _is_asked_for(self, name: str, what: str, author: str) -> None:
        complain, heard = self.checkers.complain, self._machines[name].heard()
        self.checkers.ran["S8 Machine skipped"] += 1
        if all(one.is_skipped for one in heard):
            complain("S8", f"{what}, which is not to be remediated")
        sayings = [self._checks[author]] if author in self._checks else [] if author else list(self._checks.values())
        checks = [one for news in sayings for one in news.heard() if one is not None]
        asking = [one for one in checks if author or any(one.selects(dict(said.labels)) for said in heard)]
        stopped = sorted({one.stopped for one in asking})
        self.checkers.ran["S8 checks"] += 1
        if stopped and all(stopped):
            complain("S8", f"{what}, and its check {' or '.join(stopped)}")
        self.checkers.ran["S4 limit of a check"] += 1
        if asking and not any(self._bears(one) for one in asking):
            complain("S4", f"{what}, and too many targets of its check are sick")

    def _bears(self, one: Check) -> bool:
        if one.limit is None and one.most is None:
            return True
        named = (self._name(node) for node in self.budgeting.long_sick())
        sick = sum(name in self._machines and self._is_target(one, name) for name in named)
        return one.bears(sick, self._targets(one))

    def _name(self, node: str) -> str:
        return machine_of(node) if node in self.cluster.servers else node

    def _is_target(self, one: Check, name: str) -> bool:
        """Whether it was one all the time."""
        return all(one.selects(dict(said.labels)) and not said.is_skipped for said in self._machines[name].heard())

    def _targets(self, one: Check) -> int:
        """How many there are at most; counted again when a Machine came, went or was labelled."""
        changes, count = self._counted.get(one, (-1, 0))
        if changes != self._changes:
            count = sum(one.selects(dict(news.heard()[0].labels)) for news in self._machines.values())
            self._counted[one] = (self._changes, count)
        return count


def check(tree: Tree, *, is_exact: bool) -> Check:
    spec = tree["spec"]
    limit, window = spec.get("maxUnhealthy"), RANGE.fullmatch(spec.get("unhealthyRange") or "")
    expressions = spec["selector"].get("matchExpressions", ())
    return Check(
        labels=tuple(sorted(spec["selector"].get("matchLabels", {}).items())),
        without=tuple(one["key"] for one in expressions),
        stopped=stopped(tree),
        limit=None if limit is None else parts(limit),
        is_exact=is_exact,
        most=int(window[2]) if window else None,
    )


def stopped(check: Tree) -> str:
    notes = check["metadata"].get("annotations") or {}
    if is_garbled(check):
        return "cannot be read"
    if is_anothers(check):
        return "is looked after by another controller"
    if notes.get(names.MODE) == "observe":
        return "only observes"
    return "is paused" if is_pause(notes.get(names.PAUSED)) or names.CLUSTER_PAUSED in notes else ""


def machine(tree: Tree) -> Machine:
    notes, labels = tree["metadata"].get("annotations") or {}, tree["metadata"].get("labels") or {}
    return Machine(
        labels=tuple(sorted(labels.items())),
        cluster=tree["spec"].get("clusterName", ""),
        is_paused=is_pause(notes.get(names.PAUSED)),
        is_skipped=names.SKIP_REMEDIATION in notes or names.CLUSTER_PAUSED in notes,
    )
