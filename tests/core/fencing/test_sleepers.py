"""Machines that may be suspended: off to their agent, and on with their old memory when they are switched on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_node
from tests.core.fencing.fences import a_fence, a_plan, an_agent, done
from tests.core.fencing.story import Story
from tests.core.fencing.test_gates import a_view
from tests.core.fencing.test_story import attest

from noderemedy.core.fencing import devices
from noderemedy.core.fencing.devices import identity
from noderemedy.core.fencing.fence import decide
from noderemedy.core.fencing.runs import last_answer
from noderemedy.core.fencing.scopes import SLEEPERS
from noderemedy.model.actions import PublishFenceStatus
from noderemedy.model.fenceplan import Step
from noderemedy.model.nodefence import FenceJob, State
from noderemedy.model.run import Deed, Order, Power, Run, RunState
from noderemedy.model.workload import POD

AGENT = "fence_vmware_soap"
GUEST = an_agent("vc", agent=AGENT)
LOOK, OFF, ON = ("vc", "status"), ("vc", "off"), ("vc", "on")
WRITES = 21  # of one fence, at most


class Guest(Story):
    """A node on a virtual machine, which somebody may suspend. `resumed`: its old memory ran on."""

    def __init__(self, **spec: Any) -> None:
        super().__init__(a_plan(power_management=(GUEST,)), plugs=(AGENT,))
        self.is_asleep = False
        self.resumed = False
        self.devices[AGENT] = answers
        self.pods("db-0")
        self.hang()
        self.run(65)
        self.spec = spec

    def suspend(self) -> None:
        self.is_asleep, self._running = True, False

    def fenced(self, seconds: int = 2_400) -> Guest:
        self.ask(**self.spec)
        self.run(seconds)
        return self

    @property
    def is_on(self) -> bool:
        return super().is_on and not self.is_asleep

    def _is_safe(self, action: Any) -> bool:
        return not self.is_asleep and super()._is_safe(action)

    @property
    def left(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.api.list(POD)]


def answers(story: Story, order: Order) -> tuple[RunState, Power, str]:
    """As the agents have it: whoever sleeps is off already, so that nothing is sent; on wakes it."""
    assert isinstance(story, Guest)
    if order.deed is Deed.ON:
        story.resumed = story.resumed or story.is_asleep
        story.is_asleep = False
    if order.deed is not Deed.STATUS and not story.is_asleep:
        story.plugs[AGENT] = order.deed is Deed.ON
    power = Power.OFF if story.is_asleep or not story.plugs[AGENT] else Power.ON
    return RunState.DONE, power, f"node worker-0, method vc ({AGENT}): the device says {power.value}"


def test_a_machine_that_is_seen_on_is_switched_off_and_freed() -> None:
    """It is looked at before it is told anything, and what was seen is recorded."""
    story = Guest().fenced(300)

    assert [LOOK, OFF, LOOK, ON] == story.orders
    assert ("final", [], [], 2) == (story.state, story.freed_early, story.left, story.boots)
    assert [True, True, True] == [job.was_on for job in story.status.jobs if job.deed is not Deed.ON]


def test_a_machine_that_was_suspended_is_not_off() -> None:
    """Nothing is freed, and nobody wakes it: a person is told which machine, by which method, why, and what to do."""
    story = Guest(maxRestarts=0)
    story.suspend()
    story.fenced()

    assert (["db-0"], [], False) == (story.left, story.freed_early, story.resumed)
    assert {LOOK} == {*story.orders}
    assert ("error", True) == (story.state, "FenceStepFailed" in story.told)
    said = f"node worker-0, method vc ({AGENT}): the device says off, and nobody of this flow saw it on: it may be susp"
    assert said in story.status.jobs[-1].said
    assert "node-remedy attest worker-0" in story.status.jobs[-1].said


def test_a_person_may_give_their_word_for_it() -> None:
    """It is off for good, as its console shows: it is freed by that, and switched on."""
    story = Guest(maxRestarts=0)
    story.plugs[AGENT], story._running = False, False
    story.fenced()
    assert ["db-0"] == story.left

    story.is_attested_truly = True
    attest(story)
    story.run(900)

    assert ([], [], False) == (story.left, story.freed_early, story.resumed)


def test_a_power_off_that_took_too_long_counts_for_the_next_try() -> None:
    """Whatever came of it, the machine had been seen on: that it is off now is our doing."""
    story = Guest()

    def late(story: Story, order: Order) -> tuple[RunState, Power, str]:
        done = answers(story, order)
        story.devices[AGENT] = answers if order.deed is Deed.OFF else late
        return (RunState.FAILED, Power.UNKNOWN, "too long") if order.deed is Deed.OFF else done

    story.devices[AGENT] = late
    story.fenced(600)

    assert [LOOK, OFF, OFF, LOOK, ON] == story.orders
    assert ("final", [], []) == (story.state, story.freed_early, story.left)


@pytest.mark.parametrize("act", range(WRITES))
def test_a_manager_may_die_after_any_write_of_it(act: int) -> None:
    """Its successor knows from the record that the machine was on, or looks itself."""
    story = Guest()
    story.dies_after = len(story.acts) + act
    story.ask()
    story.run_until(story.is_final, 1_200)

    assert ([], [], False) == (story.freed_early, story.left, story.resumed)


@pytest.mark.parametrize("second", range(0, 75, 5))
def test_a_manager_may_die_at_any_moment_of_it(second: int) -> None:
    """Whenever it dies, the node is fenced on proof, and comes back."""
    story = Guest()
    story.ask()
    story.run(second)
    story.dies()
    story.run_until(story.is_final, 1_200)

    assert ([], 1) == (story.freed_early, story.orders.count(OFF))


def test_a_node_that_comes_back_while_it_is_looked_at_is_not_switched_off() -> None:
    """To have been looked at is not to have been touched: all that holds a power-off back holds still."""
    story = Guest()
    story.ask()
    story.run_until(lambda: LOOK in story.orders, 60)
    story.ready("True")
    story.run_until(story.is_final, 120)

    assert ([LOOK], 1) == (story.orders, story.boots)


def test_a_machine_that_was_suspended_after_it_came_on_is_not_off() -> None:
    """It was seen on before its first power-off, which says nothing of what it did since."""
    story = Guest(maxRestarts=1, nodeReadyTimeout="60s")
    story.is_dead = True
    story.ask()
    story.run_until(lambda: ON in story.orders, 300)
    story.run(20)
    story.suspend()
    story.run(2_400)

    assert ("error", [], False) == (story.state, story.freed_early, story.resumed)
    assert ([LOOK, OFF, LOOK, ON], {LOOK}) == (story.orders[:4], {*story.orders[4:]})


def test_a_machine_that_stays_off_is_known_in_the_next_flow() -> None:
    """It was seen on, went off, and did not come on again: whoever begins anew need not see it on once more."""
    story = Guest(maxRestarts=2, stepRetries=0)

    def dark(story: Story, order: Order) -> tuple[RunState, Power, str]:
        return (RunState.FAILED, Power.OFF, "no host has room") if order.deed is Deed.ON else answers(story, order)

    story.devices[AGENT] = dark
    story.ask()
    story.run_until(lambda: story.orders.count(ON) == 2, 1_200)
    assert [True] == [job.was_on for job in story.status.jobs if (job.deed, job.power) == (Deed.ON, Power.OFF)]
    story.devices[AGENT] = answers
    story.run_until(story.is_final, 1_200)

    assert ([], [], 1) == (story.freed_early, story.left, story.orders.count(OFF))


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ((), Deed.STATUS),
        ((done("vc", was_on=False),), Deed.STATUS),
        ((done("vc", Deed.STATUS, power=Power.ON, was_on=True),), Deed.OFF),
        ((done("vc", was_on=True),), Deed.STATUS),  # for the proof
        ((done("vc", was_on=True), done("vc", Deed.ON)), Deed.STATUS),
    ],
)
@pytest.mark.parametrize("agent", sorted(SLEEPERS))
def test_what_is_ordered_next(jobs: tuple[FenceJob, ...], expected: Deed, agent: str) -> None:
    """A look, until one has shown it on; a record of an older version shows nothing."""
    method = replace(GUEST, agent=agent)
    told = tuple(
        replace(job, id=f"fence-{number}", device=identity(method), attempt=number) for number, job in enumerate(jobs)
    )
    fence = a_fence(State.RUNNING, jobs=told)
    node = a_node(unschedulable=True, ready="Unknown")
    [write] = decide(a_view(fence=fence, plan=a_plan(power_management=(method,)), node=node), NOW).actions

    assert isinstance(write, PublishFenceStatus)
    assert expected is write.status.jobs[-1].deed


def test_an_answer_that_nobody_looked_before_is_none() -> None:
    """Also one that was taken for an "off" by an older version, or by the document as it was before."""
    jobs = (done("vc", device=identity(GUEST)), done("vc", Deed.STATUS, id="fence-2", device=identity(GUEST)))
    run = Run("fence-2", RunState.DONE, Power.OFF, begun=NOW.mono)
    plan = a_plan(power_management=(GUEST,))
    unseen = a_view(fence=a_fence(State.RUNNING, jobs=jobs), plan=plan, runs=(run,))
    seen = a_view(
        fence=a_fence(State.RUNNING, jobs=tuple(replace(job, was_on=True) for job in jobs)), plan=plan, runs=(run,)
    )

    assert (None, run) == tuple(last_answer(view, Step.POWER_MANAGEMENT, GUEST) for view in (unseen, seen))


@pytest.mark.parametrize("is_same_boot", [True, False])
def test_that_it_was_on_is_known_of_one_boot(is_same_boot: bool) -> None:
    """Another boot came on since, and may have been suspended."""
    jobs = (done("vc", device=identity(GUEST), was_on=True),)
    view = a_view(fence=a_fence(State.RUNNING, jobs=jobs), plan=a_plan(power_management=(GUEST,)))

    assert [is_same_boot] == [job.was_on for job in devices.remembered(view, is_same_boot=is_same_boot)]
