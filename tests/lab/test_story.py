"""The observer of repairs, in virtual time: steps in the order of the truth, and an end."""

from __future__ import annotations

import pytest

from noderemedy.lab.faults import strike
from noderemedy.lab.story import OF_POWER_CYCLE, Repair, Step, Story
from noderemedy.model.ids import MACHINE, NODE
from noderemedy.sim import objects
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.durations import Durations
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.wire import names

MINUTE_MS = 60_000


class Stage:
    """A simulated cluster with a manager, and the story that is told of it."""

    def __init__(self, durations: Durations | None = None) -> None:
        self.cluster = Cluster(nodes=4, replicas=4, durations=durations)
        self.story = Story(self.cluster)
        self.cluster.api.create(objects.marking_check("workers", None, self.cluster.durations))
        Process("manager", self.cluster).start()
        self.told: list[tuple[str, Step]] = []
        self.story.on_step.append(lambda repair, step: self.told.append((repair.node, step)))
        self.pass_minutes(2)

    def pass_minutes(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def fault(self, fault: str, node: str) -> None:
        strike(self.cluster, fault, node)
        self.story.struck(node, fault)

    def only(self) -> Repair:
        (repair,) = self.story.repairs
        return repair


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_healthy_cluster_has_no_story(stage: Stage) -> None:
    """Heartbeats, scheduling and the manager's lease are no trouble."""
    stage.pass_minutes(30)

    assert ([], []) == (stage.story.repairs, stage.told)


@pytest.mark.parametrize("fault", ["crash", "hang"])
def test_a_repair_is_told_step_by_step(stage: Stage, fault: str) -> None:
    """All steps come, in the order of the list, once each, and then the story is over."""
    stage.fault(fault, "worker-1")
    stage.pass_minutes(10)
    repair = stage.only()

    assert [("worker-1", step) for step in OF_POWER_CYCLE] == stage.told
    assert (True, True, None) == (repair.is_recovered, repair.is_over, stage.story.current("worker-1"))
    assert list(repair.at.values()) == sorted(repair.at.values())
    assert repair.recovered_s == repair.seconds(Step.BACK)
    assert ["database-0"] == list(repair.moved)


def test_a_dead_bmc_stops_the_story_before_it_is_safe(stage: Stage) -> None:
    """Held, and nothing more: the repair stays open, with no moment of safety."""
    stage.fault("bmc-down", "worker-1")
    assert [] == stage.story.repairs, "a BMC alone silences nobody"
    stage.fault("hang", "worker-1")
    stage.pass_minutes(30)
    repair = stage.only()

    assert [Step.BEGUN, Step.NOT_READY, Step.MARKED, Step.HELD] == list(repair.at)
    assert (False, None, None) == (repair.is_over, repair.seconds(Step.OFF), repair.recovered_s)


def test_a_node_that_is_heard_again_in_time_needs_no_repair(stage: Stage) -> None:
    """A short partition ends without a mark, and the story says that it is over."""
    stage.fault("partition", "worker-2")
    stage.pass_minutes(1.2)
    stage.fault("heal", "worker-2")
    stage.pass_minutes(5)
    repair = stage.only()

    assert [Step.BEGUN, Step.NOT_READY] == list(repair.at)
    assert (True, False) == (repair.is_over, repair.is_recovered)


def test_a_request_that_is_taken_back_ends_the_story() -> None:
    """A person marks a healthy node and thinks again before it is freed: it boots, comes back, and that is all."""
    stage = Stage(Durations(boot=20_000))  # back before anybody misses it
    stage.cluster.mark("worker-3")
    stage.pass_minutes(0.05)
    notes = {"metadata": {"annotations": {names.NEEDS_REMEDIATION: None}}}
    stage.cluster.api.patch(MACHINE, machine_of("worker-3"), NAMESPACE, notes, "merge")
    stage.pass_minutes(20)
    repair = stage.only()

    assert "somebody marked its Machine" == repair.cause
    assert Step.FREED not in repair.at
    assert repair.is_over


def test_a_node_deleted_by_hand_is_told_as_it_was(stage: Stage) -> None:
    """Freed with the power on: the story shows that step before the power cycle that its health check asks for."""
    stage.cluster.api.delete(NODE, "worker-4")
    stage.pass_minutes(20)
    repair = stage.only()

    assert "the Node was deleted" == repair.cause
    assert repair.at[Step.FREED] < repair.at[Step.MARKED] < repair.at[Step.OFF]
    assert repair.is_over


def test_the_story_believes_servers_not_the_manager(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sabotaged BMC that says off and stays on: the Node is freed, and the story has no moment of safety."""
    server = stage.cluster.servers["worker-1"]
    monkeypatch.setattr(server, "power_off", lambda: None)
    stage.fault("hang", "worker-1")
    stage.pass_minutes(10)

    assert Step.OFF not in stage.only().at
