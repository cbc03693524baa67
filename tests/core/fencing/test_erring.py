"""The state error: power comes back before anything else, with pauses, and what begins anew forgets nothing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node, ago, later
from tests.core.fencing.fences import IPMI, a_fence, a_job, a_plan, an_agent, done
from tests.core.fencing.story import Story, obeys, refuses
from tests.core.fencing.test_devices import CUT_OFF
from tests.core.fencing.test_gates import SICK, a_view, stated
from tests.core.fencing.test_story import FIRST, SECOND, TWO_PLUGS, sick
from tests.core.fencing.test_told import reasons

from noderemedy.core.fencing import devices, runs
from noderemedy.core.fencing.fence import decide
from noderemedy.core.fencing.planless import UNUSABLE
from noderemedy.model.actions import PublishFenceStatus
from noderemedy.model.attestation import Attestation
from noderemedy.model.budget import Refused
from noderemedy.model.checkstatus import SUCCEEDED, Told
from noderemedy.model.fenceplan import Step
from noderemedy.model.nodefence import State
from noderemedy.model.reasons import QuorumAtRisk
from noderemedy.model.run import Deed, Order, Power, RunState
from noderemedy.model.time import Mono

IS_OFF = done("ipmi", Deed.OFF, id="fence-1")
WORD = Attestation("ann", ago(60), "node-uid-1", "boot-1")
NOT_ON = a_job("ipmi", Deed.ON, id="fence-2", state=RunState.FAILED)


def old(view: Any, seconds: int) -> Any:
    """The NodeFence was written so long ago."""
    return replace(view, entry=replace(view.entry, changed_at=Mono(NOW.mono.ms - seconds * 1_000)))


def only_goes_off(story: Story, order: Order) -> tuple[RunState, Power, str]:
    """A device that refuses to switch on."""
    return refuses(story, order) if order.deed is Deed.ON else obeys(story, order)


@pytest.mark.parametrize(
    ("failed", "seconds", "is_ordered"), [(0, 0, True), (1, 9, False), (1, 10, True), (2, 19, False)]
)
def test_a_device_that_does_not_come_on_is_given_a_moment(failed: int, seconds: int, is_ordered: bool) -> None:
    """Longer with every time; it is not hammered, and it is not forgotten."""
    tries = [replace(NOT_ON, id=f"fence-{number}", attempt=number) for number in range(failed)]
    view = old(a_view(fence=a_fence(State.ERROR, jobs=(IS_OFF, *tries)), node=SICK), seconds)

    assert ["RunOrdered" if is_ordered else "FenceDelayed"] == reasons(view)


def test_a_flow_that_begins_anew_remembers_what_does_not_come_on() -> None:
    """The plug that refused comes on when it can, although the flow that switched it off is over."""
    story = sick(a_plan(power_management=(FIRST, SECOND)), plugs=TWO_PLUGS, stepRetries=0, maxRestarts=1)
    story.devices = {"fence_one": only_goes_off, "fence_two": refuses}
    story.run_until(lambda: story.status.restarts == 1, 600)
    remembered = [(job.method, job.deed) for job in story.status.jobs if job.restart == 0]
    story.devices = {}
    story.run_until(story.is_final, 900)

    assert [("first", Deed.ON), ("second", Deed.ON)] == remembered
    assert {"fence_one": True, "fence_two": True} == story.plugs


def test_a_flow_that_begins_anew_asks_before_it_switches_off() -> None:
    """What is remembered from the last one is no reason to skip the delay and the gates of power management."""
    remembered = replace(NOT_ON, restart=0)
    fence = a_fence(
        State.RUNNING, restarts=1, jobs=(remembered,), started=ago(5), power_management_delay=NOW.wall.since(ago(60))
    )

    assert ["FenceDelayed"] == reasons(a_view(fence=fence, node=SICK))


def test_a_flow_that_lives_again_has_tried_nothing_yet() -> None:
    """It was given up in its last start, for want of a plan, and has the same number: what is remembered is no try."""
    told = Told(SUCCEEDED, "False", UNUSABLE, "error: its plan could not be used for too long")
    jobs = tuple(replace(NOT_ON, id=f"fence-{number}", restart=3) for number in range(3))
    fence = a_fence(State.ERROR, restarts=3, since=ago(900), conditions=(told,), jobs=jobs)
    [action] = decide(old(a_view(fence=fence, node=SICK), 900), NOW).actions

    assert isinstance(action, PublishFenceStatus)
    status = action.status
    assert (State.NEW, 3, ["fence-2"]) == (status.state, status.restarts, [job.id for job in status.jobs])
    assert () == devices.of_this_flow(status)


def test_a_node_that_is_back_when_its_flow_begins_anew_is_recovered() -> None:
    """Although something is remembered that does not come on."""
    fence = a_fence(State.NEW, restarts=1, boot_id="boot-0", jobs=(NOT_ON,))
    [action] = decide(a_view(fence=fence, node=a_node()), NOW).actions

    assert isinstance(action, PublishFenceStatus)
    assert State.DONE is action.status.state


def test_a_node_that_never_comes_back_is_given_up() -> None:
    """Its Node was deleted to free it: no start is left for nothing, and if it comes back after all, that ends it."""
    story = sick(maxRestarts=3, freeBy="node", nodeReadyTimeout="60s")
    story.is_dead = True
    story.run_until(lambda: story.fence.is_given_up, 1_800)
    told = story.status.told(SUCCEEDED)
    story.is_dead = False
    story.boot()
    story.run_until(story.is_final, 900)

    assert told is not None
    assert "its Node did not come back" in told.message


def test_a_word_about_a_boot_that_is_history_solves_nothing() -> None:
    """The node has booted since: back to freeing, nothing could be proven, and the error would come again for ever."""
    fence = replace(a_fence(State.ERROR, since=ago(900), restarts=3), attested=WORD)
    same, booted = (replace(SICK, boot_id=boot) for boot in ("boot-1", "boot-2"))

    assert ["FenceMoves"] == reasons(old(a_view(fence=fence, node=same), 900))
    assert ["FenceGivenUp"] == [one for one in reasons(old(a_view(fence=fence, node=booted), 900)) if "Fence" in one]


def test_who_lives_again_by_a_word_is_a_repair_that_runs() -> None:
    """It was given up and kept nobody waiting; between that and the word's next step a chain began (seed 7369)."""
    fence = a_fence(State.ERROR, since=ago(900), restarts=3)

    assert [] == stated(old(a_view(fence=fence), 900))
    assert [(True, False)] == stated(old(a_view(fence=replace(fence, attested=WORD)), 900))


def test_what_an_earlier_flow_learnt_answers_for_no_other() -> None:
    """The last start may be made twice: a run of each has a name of its own, or nobody would ask the device again."""
    view = a_view(fence=a_fence(State.ERROR, restarts=3), node=SICK)
    names = {runs.name_of(view, Step.POWER_MANAGEMENT, "ipmi", Deed.ON, 0, now) for now in (NOW, later(600))}

    assert 2 == len(names)


def test_a_failed_recovery_is_tried_again_on_another_node_of_that_name() -> None:
    """It is well, and only its recovery failed: that is no reason to leave it for ever."""
    failed = a_job("port-on", Deed.ON, step=Step.RECOVERY, state=RunState.FAILED)
    fence = a_fence(State.ERROR, since=ago(900), node_uid="another", jobs=(failed,))
    back, gone = (a_view(fence=fence, plan=CUT_OFF, node=node) for node in (a_node(), SICK))

    assert ["FenceMoves"] == reasons(old(back, 900))
    assert ["FencedNodeReplaced"] == reasons(old(gone, 900))


def test_a_failed_recovery_of_a_node_that_is_well_asks_for_no_place() -> None:
    """Nothing goes off by it. In a control plane it had waited for a fellow that waited for it (seed 84)."""
    failed = a_job("port-on", Deed.ON, step=Step.RECOVERY, state=RunState.FAILED)
    fence = a_fence(State.ERROR, since=ago(900), boot_id="boot-0", jobs=(failed,))
    refused = Refused(NODE_AT, QuorumAtRisk(1, 2, 3))
    back, gone = (a_view(fence=fence, plan=CUT_OFF, node=node, answer=refused) for node in (a_node(), SICK))

    assert ["QuorumAtRisk"] == [one for one in reasons(old(gone, 900)) if "Quorum" in one]
    [action] = decide(old(back, 900), NOW).actions
    assert isinstance(action, PublishFenceStatus)
    assert (State.DONE, Step.RECOVERY, 1) == (action.status.state, action.status.step, action.status.restarts)


def test_off_means_all_plugs() -> None:
    """The node runs on by its second supply: that the first one is off ends no boot."""
    both = a_plan(power_management=(IPMI, an_agent("pdu", agent="fence_apc")))
    story = sick(both, plugs=("fence_ipmilan", "fence_apc"))
    story.run_until(lambda: story.status.evidence.off_at is not None, 60)

    assert {"fence_ipmilan": False, "fence_apc": False} == story.plugs


@pytest.mark.parametrize("is_broken", [True, False])
def test_a_run_that_was_recorded_by_a_broken_plan_is_not_begun(is_broken: bool) -> None:
    """The plug may be another node's by now (seed 84): nothing is sent, neither off nor on."""
    plan = a_plan(problems=("two nodes on one plug",) if is_broken else ())
    for deed in (Deed.OFF, Deed.ON):
        fence = a_fence(State.RUNNING, jobs=(a_job("ipmi", deed),))
        acts = [type(action).__name__ for action in decide(a_view(fence=fence, plan=plan), NOW).actions]

        assert ["PublishFenceStatus" if is_broken else "StartRun"] == acts


def test_by_a_broken_plan_nothing_is_switched_on() -> None:
    """Neither in an error nor in a release; what was off comes on when the plan is mended."""
    plan = a_plan(problems=("two nodes on one plug",))
    for more in ({}, {"deleting": True}):
        for broken in (plan, None):
            decision = decide(a_view(fence=a_fence(State.ERROR, jobs=(IS_OFF,), **more), plan=broken, node=SICK), NOW)

            assert () == decision.actions
            assert type(decision.because[0]).__name__ in ("FencePlanBroken", "FencePlanMissing")
        mended = decide(a_view(fence=a_fence(State.ERROR, jobs=(IS_OFF,), **more), node=SICK), NOW)

        assert ["PublishFenceStatus"] == [type(action).__name__ for action in mended.actions]


def test_a_node_that_comes_back_by_itself_gets_its_plugs_back() -> None:
    """Somebody lit it by another supply while this one was off: it comes on before anything is called over."""
    for jobs, expected in (((IS_OFF,), ["RunOrdered"]), ((), ["FenceSucceeded", "FenceStepEnded", "FenceMoves"])):
        view = a_view(fence=a_fence(State.DONE, jobs=jobs), node=a_node(boot_id="boot-2"))

        assert expected == reasons(view)
