"""Plays one scenario in a lab, waits for its end, and says whether that was the right one.

Called by `node-remedy lab` for the story at the start and for `--once`. The report is what `--once --json` prints.

Rule 1: the room's own limits (120 s until a power-off is overdue, 600 s until a node is) run by the real clock and
        are never shortened. A scenario that ends in an alert is judged by what is visible before it: what must not
        happen has not happened while the world had time enough for it. `until_alert` waits for the alert itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from noderemedy.lab.lab import LOOK_S, Lab
from noderemedy.lab.scenarios import FIRST_POD, INSTANCE, SCENARIOS, End, Scenario, find, targets
from noderemedy.lab.story import Repair, Step, is_ready, is_running, notes_of
from noderemedy.model.ids import MACHINE, NODE
from noderemedy.model.reasons import (
    DomainBurst,
    NodeOverdue,
    PowerOffOverdue,
    Reason,
    WaitingForNode,
    WaitingForPowerOff,
)
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.kinds import POD
from noderemedy.sim.objects import NAMESPACE, WORKLOAD
from noderemedy.wire import names

OVERHEAD_MS = 40_000  # real requests and a busy machine
LINGER_MS = 3_000
ALERT_MS = {End.NOTHING_FREED: 120_000, End.BACKUP_KEPT: 600_000}
# What a repair has to wait for in the world, from the fault to the end.
ON_THE_WAY = (
    *("grace", "mark_after", "power_off", "power_poll", "orphaned_pods"),
    *("schedule", "attach", "pod_start", "power_on", "boot", "provision", "deprovision"),
)
WAITS: dict[End, type[Reason]] = {
    End.RACK_HELD: DomainBurst,
    End.NOTHING_FREED: WaitingForPowerOff,
    End.BACKUP_KEPT: WaitingForNode,
}
OVERDUE: dict[End, type[Reason]] = {End.NOTHING_FREED: PowerOffOverdue, End.BACKUP_KEPT: NodeOverdue}


class NodeReport(Struct, frozen=True, rename="camel"):
    """One node of the scenario. Seconds count from the fault; None: did not happen."""

    name: str
    recovered: bool
    seconds_to_safe: float | None
    seconds_to_recover: float | None


class ActionReport(Struct, frozen=True, rename="camel"):
    """One thing that the manager did, and when."""

    do: str
    object: str
    second: float


class Report(Struct, frozen=True, rename="camel"):
    """How a scenario went."""

    scenario: str
    ok: bool
    seconds: float
    nodes: tuple[NodeReport, ...]
    freed_before_safe: int
    actions: tuple[ActionReport, ...]


class Play:
    """One scenario on its way. `until_alert` waits for the manager's alert where the right end has one."""

    def __init__(self, lab: Lab, name: str, until_alert: bool = False) -> None:
        self.lab = lab
        self.name = name
        self.scenario: Scenario = find(name)
        self.until_alert = until_alert
        self.repairs: list[Repair] = []
        self.begun_ms = 0
        lab.story.on_step.append(self._mend)

    async def run(self) -> Report:
        """Let it happen and wait for its end."""
        if self.scenario.in_cloud:
            await self._join()
        self.begin()
        is_right = RIGHT[self.scenario.end]
        while not (is_right(self) and not self.lab.diary.in_flight) and not self._is_hopeless():
            self.lab.complain_if_dead()
            await asyncio.sleep(LOOK_S)
        return self.report(is_right(self))

    async def _join(self) -> None:
        """A machine of the cloud joins, with a health check, and gets something to run."""
        cluster = self.lab.cluster
        self.lab.agenda.catch_up()
        cluster.api.create(objects.pool_check())
        cluster.provider.grow(1)
        await self._until(lambda: (node := cluster.api.find(NODE, INSTANCE)) is not None and is_ready(node))
        cluster.move(FIRST_POD)
        await self._until(lambda: is_running_on(cluster.api.find(POD, FIRST_POD, WORKLOAD), INSTANCE))

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so() and not self._is_hopeless():
            self.lab.complain_if_dead()
            await asyncio.sleep(LOOK_S)

    def begin(self) -> None:
        lab = self.lab
        lab.agenda.catch_up()
        self.begun_ms = lab.agenda.now_ms
        for node in targets(self.scenario, lab.cluster):
            for fault in self.scenario.faults:
                lab.inject(fault, node)
            repair = lab.story.current(node)
            assert repair is not None, "every scenario silences its nodes"
            self.repairs.append(repair)

    def _mend(self, repair: Repair, step: Step) -> None:
        """Somebody repairs what the scenario broke, at the right moment of the story."""
        scenario = self.scenario
        if scenario.mend and step is scenario.mend_after and repair in self.repairs:
            delay_ms = scenario.mend_polls * self.lab.cluster.durations.power_poll
            self.lab.agenda.after(delay_ms, lambda: self.lab.inject(scenario.mend, repair.node))

    @property
    def elapsed_ms(self) -> int:
        return self.lab.agenda.elapsed_ms() - self.begun_ms

    def _is_hopeless(self) -> bool:
        """Too late, or a rule was broken."""
        world_ms = sum(getattr(self.lab.cluster.durations, name) for name in ON_THE_WAY)
        alert_ms = ALERT_MS.get(self.scenario.end, 0) if self.until_alert else 0
        return bool(self.lab.wrongs()) or self.elapsed_ms > 3 * world_ms + alert_ms + OVERHEAD_MS

    def said(self, wanted: dict[End, type[Reason]]) -> bool:
        """Whether the manager gave the reason that this end asks for, for every node of the scenario."""
        reason = wanted[self.scenario.end]
        told = {said.ref.name for said in self.lab.diary.said if isinstance(said.reason, reason)}
        return all(machine_of(repair.node) in told for repair in self.repairs)

    def has_lingered(self, step: Step) -> bool:
        """Whether the world had time enough, since a step, to do what it must not do now."""
        durations = self.lab.cluster.durations
        linger_ms = LINGER_MS + 2 * (durations.power_off + durations.power_poll + durations.power_on + durations.boot)
        now_ms = self.lab.agenda.elapsed_ms()
        return all(step in repair.at and now_ms - repair.at[step] > linger_ms for repair in self.repairs)

    def report(self, is_right: bool) -> Report:
        lab = self.lab
        nodes = [
            NodeReport(repair.node, repair.is_recovered, repair.seconds(Step.OFF), repair.recovered_s)
            for repair in self.repairs
        ]
        actions = [
            ActionReport(act.do, object_name(act.ref.kind.kind, act.ref.namespace, act.ref.name), second)
            for act in lab.diary.acts
            if (second := round((act.at_ms - self.begun_ms) / 1000, 3)) >= 0
        ]
        is_ok = is_right and not lab.wrongs() and not lab.freed_before_safe
        seconds = round(self.elapsed_ms / 1000, 3)
        return Report(self.name, is_ok, seconds, tuple(nodes), lab.freed_before_safe, tuple(actions))


def object_name(kind: str, namespace: str, name: str) -> str:
    """As kubectl would name it: kind, namespace, name."""
    return "/".join(part for part in (kind, namespace, name) if part)


# --- the right ends ------------------------------------------------------------------------------------------


def is_back(play: Play) -> bool:
    return all(repair.is_recovered for repair in play.repairs)


def is_nothing_freed(play: Play) -> bool:
    """Held and waiting; the node, its pods and their power are as they were."""
    if not play.said(OVERDUE if play.until_alert else WAITS) or not play.has_lingered(Step.HELD):
        return False
    return not any(step in repair.at for repair in play.repairs for step in (Step.OFF, Step.FREED, Step.MOVED))


def is_backup_kept(play: Play) -> bool:
    """The workload runs elsewhere, the node is awaited, and what it carried is still stored."""
    if not play.said(OVERDUE if play.until_alert else WAITS) or not play.has_lingered(Step.ON):
        return False
    api = play.lab.cluster.api
    machines = [api.get(MACHINE, machine_of(repair.node), NAMESPACE) for repair in play.repairs]
    is_kept = all(names.NODE_BACKUP in notes_of(machine) for machine in machines)
    is_gone = all(api.find(NODE, repair.node) is None for repair in play.repairs)
    return is_kept and is_gone and all(Step.MOVED in repair.at for repair in play.repairs)


def is_running_on(pod: Tree | None, node: str) -> bool:
    return pod is not None and pod["spec"].get("nodeName") == node and is_running(pod)


def is_rack_held(play: Play) -> bool:
    """Every node of the rack waits for a person, and none of them was touched."""
    if not play.said(WAITS) or not play.has_lingered(Step.NOT_READY):
        return False
    return not any(Step.MARKED in repair.at or Step.HELD in repair.at for repair in play.repairs)


def is_quiet(play: Play) -> bool:
    return not play.lab.story.repairs


RIGHT: dict[End, Callable[[Play], bool]] = {
    End.BACK: is_back,
    End.REPLACED: is_back,
    End.QUIET: is_quiet,
    End.RACK_HELD: is_rack_held,
    End.NOTHING_FREED: is_nothing_freed,
    End.BACKUP_KEPT: is_backup_kept,
}
assert set(RIGHT) == {scenario.end for scenario in SCENARIOS.values()}
