"""Whatever was told off, and was not seen on again, is told at every end: by what was done, whatever the plan has.

Plans that leave something off are refused (`test_pairing.py`); a flow may be under way by one from before, and one that
ends an instance has nothing that would light it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.core.fencing.fences import CORDON, FENCE_AT, UNCORDON, a_plan, an_agent
from tests.core.fencing.story import SWITCH, Story, obeys, refuses
from tests.core.fencing.test_storage import FC_OFF, cut_off
from tests.core.fencing.test_story import ENDED, is_gone, sick

from noderemedy.model.fenceplan import FencePlan
from noderemedy.model.ids import NODE_FENCE
from noderemedy.model.run import Deed, Order, Power, RunState

OFF_ONLY = a_plan(power_management=(an_agent("bmc", Deed.OFF),))
ONE_DIGIT = a_plan(
    power_management=(
        an_agent("eaton-off", Deed.OFF, parameters=(("ip", "pdu"), ("plug", "1"))),
        an_agent("eaton-on", Deed.ON, parameters=(("ip", "pdu"), ("plug", "7"))),
    )
)
NEVER_LET_IN = a_plan(isolation=(CORDON, FC_OFF), recovery=(UNCORDON,))


def release(story: Story) -> None:
    story.api.delete(NODE_FENCE, FENCE_AT.name)


def stop(story: Story) -> None:
    story.patch(FENCE_AT, {"spec": {"stopped": True}})


def leave_alone(story: Story) -> None:
    """Nobody does anything."""


def off_and_then_silent(story: Story, order: Order) -> tuple[RunState, Power, str]:
    """A device that switches, and does not answer when it is asked: nothing is proven."""
    return refuses(story, order) if order.deed is Deed.STATUS else obeys(story, order)


@pytest.mark.parametrize("end", [release, stop, leave_alone])
@pytest.mark.parametrize("plan", [OFF_ONLY, ONE_DIGIT, ENDED], ids=["off only", "one digit", "to be ended"])
def test_a_node_that_nobody_lights_is_told(plan: FencePlan, end: Callable[[Story], None]) -> None:
    """Released, stopped or given up: the node is dark, and a person is called."""
    story = sick(plan, plugs=("fence_ipmilan", "1", "7"))
    story.elsewhere = {*story.plugs} - {"1" if plan is ONE_DIGIT else "fence_ipmilan"}
    story.patch(FENCE_AT, {"spec": {"maxRestarts": 1}})
    story.devices["fence_ipmilan"] = off_and_then_silent
    story.run_until(lambda: not story.is_on, 60)
    end(story)
    story.run(3_600)

    assert (False, True) == (story.is_on, "PowerLeftOff" in story.told)
    assert (end is release) == is_gone(story)


def test_a_node_that_stays_cut_off_is_told_at_the_end() -> None:
    """The flow succeeds by its plan, and the port of the switch is closed: a person is called for it."""
    story = cut_off(NEVER_LET_IN)
    story.run_until(story.is_final, 900)

    assert (False, True) == (story.plugs[SWITCH], "LeftCutOff" in story.told)


@pytest.mark.parametrize("end", [release, stop])
def test_a_node_that_nobody_lets_in_is_told(end: Callable[[Story], None]) -> None:
    """The same if somebody ends it on the way."""
    story = cut_off(NEVER_LET_IN, powerManagementDelay="30m")
    story.run_until(lambda: not story.plugs[SWITCH], 60)
    end(story)
    story.boots += 1
    story.ready("True", "boot-2")
    story.run(600)

    assert (False, True) == (story.plugs[SWITCH], "LeftCutOff" in story.told)


def test_what_is_let_in_again_calls_nobody() -> None:
    """A fence that is stopped keeps its isolation, as the guide says: a release, or the node's return, undoes it."""
    story = cut_off(powerManagementDelay="30m")
    story.run_until(lambda: not story.plugs[SWITCH], 60)
    stop(story)
    story.run(600)

    assert (False, False) == (story.plugs[SWITCH], "LeftCutOff" in story.told)


def test_what_was_ended_for_good_calls_nobody() -> None:
    """It is off as it should be, also when its object goes at the end of its time, and with it its plan."""
    story = sick(ENDED, ttlAfterFinal="60s")
    story.run_until(story.is_final, 300)
    story.run(120)

    assert (True, False) == (is_gone(story), "PowerLeftOff" in story.told)


def test_what_is_to_be_ended_calls_nobody_before_it_is_given_up() -> None:
    """Off is what it shall be: the next start goes on with that."""
    story = sick(ENDED, maxRestarts=1)
    story.devices["fence_ipmilan"] = off_and_then_silent
    story.run_until(lambda: story.state == "error", 300)
    story.run(10)
    assert "PowerLeftOff" not in story.told
    story.run(3_600)

    assert {"FenceGivenUp", "PowerLeftOff"} <= set(story.told)
