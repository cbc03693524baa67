"""Devices that are slow, and answers that come too late: a slow one is survived, and nobody waits in silence."""

from __future__ import annotations

import pytest
from tests.core.fencing.fences import a_plan
from tests.core.fencing.story import Story
from tests.core.fencing.test_storage import cut_off
from tests.core.fencing.test_story import FIRST, OFF, ON, SECOND, STATUS, TWO_PLUGS, sick

from noderemedy.model.run import Order, Power, RunState
from noderemedy.model.workload import POD

TWO = a_plan(power_management=(FIRST, SECOND))


def lasting(story: Story, seconds: int) -> list[str]:
    """The pods that are left after so long."""
    story.run(seconds)
    return sorted(pod["metadata"]["name"] for pod in story.api.list(POD))


@pytest.mark.parametrize("seconds", [62, 125])
def test_a_bmc_that_is_slow_by_two_minutes_is_survived(seconds: int) -> None:
    """Whatever it needs for an answer: it is asked once, the pod is freed, and the node comes back."""
    story = sick()
    story.takes = seconds
    story.run_until(story.is_final, 1_200)

    assert [OFF, STATUS, ON] == story.orders
    assert ([], [], 2) == (story.freed_early, story.api.list(POD), story.boots)


@pytest.mark.parametrize("seconds", [32, 62, 125])
def test_two_slow_plugs_are_survived(seconds: int) -> None:
    """They are asked one after the other: while the second one is asked, the word of the first one holds."""
    story = sick(TWO, plugs=TWO_PLUGS)
    story.takes = seconds
    story.run_until(story.is_final, 2_000)

    assert [("first", "status"), ("second", "status")] == [one for one in story.orders if one[1] == "status"]
    assert ([], [], 2) == (story.freed_early, story.api.list(POD), story.boots)


def test_a_slow_switch_in_front_of_storage_is_survived() -> None:
    """What it cut off is freed on its own word, the rest when the power is off; each is asked once for each."""
    story = cut_off()
    story.takes = 125
    story.run_until(lambda: story.status.evidence.storage_freed_at is not None, 1_200)
    assert {"both", "files", "web"} == {*lasting(story, 30)}
    story.run_until(story.is_final, 2_000)

    assert [] == story.freed_early
    assert [] == lasting(story, 1)


def said_off(story: Story, order: Order) -> tuple[RunState, Power, str]:
    """What was so when it was asked."""
    return RunState.DONE, Power.OFF, ""


def test_a_slow_plug_that_comes_on_while_it_is_asked_frees_nothing() -> None:
    """Its word is two minutes old when it comes; the boot that began meanwhile, and fell silent again, shows itself."""
    story = sick()
    story.takes = 125
    story.run_until(lambda: STATUS in story.orders, 600)
    story.devices["fence_ipmilan"] = said_off
    story.comes_on_by_itself("fence_ipmilan")
    story.after(60, story.hang)
    story.run(200)

    assert (2, [], ["db-0"]) == (story.boots, story.freed_early, lasting(story, 1))
    assert "ProvenFenced" not in story.told


# --- answers that come too late ----------------------------------------------------------------------------------


def late(story: Story) -> Story:
    """It is being switched off; from now on every question waits for more than a minute before its device is asked."""
    story.run_until(lambda: OFF in story.orders, 600)
    story.waits = 70
    return story


def test_answers_that_come_too_late_fail_the_step_and_power_comes_back() -> None:
    """Nothing is freed by them. Three in vain are a failed try, and after the retries it is an error like any other."""
    story = late(sick(stepRetries=1, maxRestarts=0))
    story.run_until(lambda: story.state == "error", 1_200)
    asked = [one for one in story.orders if one == STATUS]
    story.waits = 0
    story.run_until(lambda: story.is_on, 120)

    assert 6 == len(asked)
    assert ([], ["db-0"]) == (story.freed_early, lasting(story, 1))
    assert "FenceStepFailed" in story.told


def test_who_waits_in_vain_is_told_for_how_long() -> None:
    """Which method, how often it was asked, and how much of the time the device itself needed."""
    story = late(sick(stepRetries=0, maxRestarts=0))
    story.run_until(lambda: story.state == "error", 600)
    told = next(one.message for one in story.status.conditions if one.type == "Succeeded")

    assert told.startswith("error: ipmi: status: asked 3 times, and every answer was too old to prove anything")
    assert "the device itself took 5 s" in told


def test_one_late_answer_is_asked_for_again() -> None:
    """It is no failure yet: the next one comes in time."""
    story = late(sick())
    story.run_until(lambda: STATUS in story.orders, 60)
    story.waits = 0
    story.run_until(story.is_final, 600)

    assert [OFF, STATUS, STATUS, ON] == story.orders
    assert ([], False) == (story.freed_early, "FenceStepFailed" in story.told)


def test_a_late_word_of_storage_fails_its_step_too() -> None:
    """The switch is asked three times in vain, and nothing is freed behind it."""
    story = cut_off(stepRetries=0, maxRestarts=0)
    story.run_until(lambda: ("fc-off", "off") in story.orders, 120)
    story.waits = 70
    story.run_until(lambda: story.state == "error", 1_200)

    assert 3 == story.orders.count(("fc-off", "status"))
    assert ([], ["both", "db", "files", "web"]) == (story.freed_early, lasting(story, 1))
