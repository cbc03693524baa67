"""Which device a run was about: a document that is pointed at another one in the middle of a flow forgets nothing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, later
from tests.core.fencing.fences import CORDON, FENCE_AT, IPMI, UNCORDON, a_fence, a_plan, an_agent, done
from tests.core.fencing.story import SWITCH, Story, obeys
from tests.core.fencing.test_gates import a_view
from tests.core.fencing.test_story import is_gone, sick
from tests.core.fencing.test_told import OPEN, SILENT, reasons, running, words

from noderemedy.core.fencing import devices, isolation
from noderemedy.core.fencing.fence import decide
from noderemedy.model.fenceplan import FencePlan, Scope
from noderemedy.model.ids import NODE_FENCE
from noderemedy.model.nodefence import FenceJob, State
from noderemedy.model.run import Deed, Order, Power, Run, RunState
from noderemedy.model.time import Mono

HERE, ELSEWHERE = devices.identity(IPMI), "0123456789"
BROKEN = a_plan(isolation=(CORDON,), power_management=(), recovery=(UNCORDON,), problems=("no such method",))
PORT_OFF = an_agent("port-off", Deed.OFF, agent=SWITCH, scope=Scope.STORAGE)
PORT_ON = an_agent("port-on", Deed.ON, agent=SWITCH, scope=Scope.STORAGE)
CUT_OFF = a_plan(isolation=(CORDON, PORT_OFF), recovery=(PORT_ON, UNCORDON))


def plan(number: str) -> FencePlan:
    """By it the node hangs on this outlet."""
    parameters = (("ip", "pdu.example"), ("plug", number))
    return a_plan(power_management=(an_agent("pdu", agent="fence_apc", parameters=parameters),))


def moved(*, freed: bool, **spec: Any) -> Story:
    """The node is off by outlet 3 when its document is pointed at outlet 4, which is another machine's."""
    story = sick(plan("3"), plugs=("3", "4"), **spec)
    story.elsewhere.add("4")
    if not freed:
        changes_when_off(story, plan("4"))
        return story
    story.api.subscribe(NODE_FENCE, lambda event: story.configure(plan("4")) if is_freed(event.tree) else None)
    story.run_until(lambda: story.plan == plan("4"))
    return story


def is_freed(fence: dict[str, Any]) -> bool:
    """For the first time: it is about to be switched on."""
    status = fence.get("status", {})
    return bool(status.get("evidence", {}).get("onSince")) and not any(job["action"] == "on" for job in status["jobs"])


def changes_when_off(story: Story, to: FencePlan) -> None:
    """The document is changed while the first power-off is under way."""
    configurations = [to]

    def acts(story: Story, order: Order) -> tuple[RunState, Power, str]:
        told = obeys(story, order)
        if configurations and order.deed is Deed.OFF:
            story.configure(configurations.pop())
        return told

    story.devices = dict.fromkeys(("fence_apc", "fence_ipmilan", SWITCH), acts)


# --- which device ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "is_same"),
    [
        ("username", "root", True),
        ("lanplus", "1", True),
        ("power_timeout", "60", True),
        ("login_timeout", "9", True),
        ("ssl_insecure", "1", True),
        ("delay", "5", True),
        ("ip", "192.0.2.8", False),
        ("ipport", "6230", False),
        ("plug", "4", False),
        ("zone", "europe-west1-b", False),
        ("anything_else", "1", False),
    ],
)
def test_what_tells_devices_apart(name: str, value: str, is_same: bool) -> None:
    """How to talk to a device does not; everything else may, and does."""
    changed = {**dict(IPMI.parameters), name: value}
    other = replace(IPMI, name="another-name", parameters=tuple(sorted(changed.items())))

    assert is_same == (devices.identity(IPMI) == devices.identity(other))
    assert devices.identity(IPMI) != devices.identity(replace(IPMI, agent="fence_redfish"))


def test_every_run_records_its_device() -> None:
    """Off, question and on of one plug bear the same digest."""
    story = sick()
    story.run_until(story.is_final, 300)

    assert [HERE] * 3 == [job.device for job in story.status.jobs]


def test_a_run_that_was_recorded_for_another_device_is_not_begun() -> None:
    """Between the record and the run the document was changed: nothing is sent to the new device."""
    view = running(replace(OPEN, device=ELSEWHERE))

    assert (["RunNoted"], ["PublishFenceStatus"]) == (
        reasons(view),
        [type(action).__name__ for action in decide(view, NOW).actions],
    )
    assert "another device" in words(view)[0]


@pytest.mark.parametrize(
    ("off", "status", "expected"),
    [
        (HERE, HERE, ["ProvenFenced"]),
        (HERE, ELSEWHERE, ["RunOrdered"]),  # asked once more: this answer is another device's
        (ELSEWHERE, ELSEWHERE, ["RunOrdered"]),  # told to go off first
    ],
)
def test_a_proof_is_of_one_device(off: str, status: str, expected: list[str]) -> None:
    """What was switched off and what said off must be the same."""
    asked = done("ipmi", Deed.STATUS, id="fence-status", device=status, state=RunState.DONE)
    answer = Run("fence-status", RunState.DONE, Power.OFF, begun=Mono(NOW.mono.ms - 5_000))
    view = running(done("ipmi", Deed.OFF, device=off), asked, runs=(answer,))

    assert expected == reasons(view)


CALLED_ON: dict[str, Any] = {"state": RunState.FAILED, "power": Power.ON}


@pytest.mark.parametrize(
    ("jobs", "left"),
    [
        ([done(deed=Deed.OFF)], Power.OFF),
        ([done(deed=Deed.OFF), done(deed=Deed.STATUS, **CALLED_ON)], Power.UNKNOWN),
        ([done(deed=Deed.OFF, **CALLED_ON)], Power.UNKNOWN),
        ([done(deed=Deed.OFF), done(deed=Deed.ON)], Power.ON),
        ([done(deed=Deed.OFF), done(deed=Deed.ON), done(deed=Deed.STATUS, **CALLED_ON)], Power.ON),
        ([done(deed=Deed.OFF), done(deed=Deed.ON), done(deed=Deed.OFF, **CALLED_ON)], Power.UNKNOWN),
        ([done(deed=Deed.STATUS, **CALLED_ON)], Power.ON),
    ],
)
def test_what_was_ordered_off_is_on_only_when_it_was_switched_on(jobs: list[FenceJob], left: Power) -> None:
    """A device whose answers change calls itself on while it is off: it is switched on all the same."""
    view = running(*jobs)

    assert (left, left is not Power.ON) == (devices.power_of(view, IPMI), bool(devices.unlit(view)))


# --- a document that is pointed at another device ----------------------------------------------------------------


def test_the_new_device_is_switched_off_itself_before_anything_is_freed() -> None:
    """That outlet 3 went off says nothing of outlet 4."""
    story = moved(freed=False)
    story.run_until(lambda: story.status.evidence.freed_at is not None, 120)

    assert ([("3", "off"), ("4", "off"), ("4", "status")], []) == (story.sent[:3], story.freed_early)


def test_what_was_switched_off_is_switched_on_when_its_document_is_back() -> None:
    """Nobody lights outlet 4 for it; a person is called, and the flow ends when outlet 3 can be switched on."""
    story = moved(freed=True)
    story.run(120)
    before = (story.state, story.plugs["3"], ("4", "on") in story.sent, "DeviceAstray" in story.told)
    story.configure(plan("3"))
    story.run_until(story.is_final, 120)

    assert ("done", False, False, True) == before
    assert story.plugs["3"]


def test_a_fence_does_not_succeed_while_a_device_is_astray() -> None:
    """The node came back by itself: it is not over, and what to do is told with node and method."""
    story = moved(freed=True)
    story.elsewhere.add("3")  # somebody plugged it in elsewhere
    story._power_follows()
    story.is_wired_right = False
    story._power_follows()
    story.run(900)
    [reason] = [one for one in decisions(story) if type(one).__name__ == "DeviceAstray"]

    assert ("done", 2) == (story.state, story.boots)
    assert {"worker-0", "pdu", "release"} <= set(reason.note().replace(":", " ").split())


def decisions(story: Story) -> list[Any]:
    found = [one for key, one in story.engine.decisions.items() if key.ref == FENCE_AT]
    return [reason for one in found for reason in one.because]


def test_whoever_releases_it_is_told_what_stays_off() -> None:
    """A person may let it go all the same."""
    story = moved(freed=True)
    story.run(20)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(20)

    assert (True, False, True) == (is_gone(story), story.plugs["3"], "DeviceAstray" in story.told)


def test_a_flow_that_begins_anew_remembers_what_is_astray() -> None:
    """Also if a question that failed came after it."""
    off = done("old", Deed.OFF, device=ELSEWHERE, id="fence-1")
    mute = replace(off, id="fence-2", deed=Deed.STATUS, state=RunState.FAILED, power=Power.UNKNOWN)
    view = a_view(fence=a_fence(State.ERROR, jobs=(off, mute)), node=SILENT)

    assert (replace(off, is_remembered=True),) == isolation.begun(view, later(60)).jobs


# --- a plan that cannot be used ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("whole", "left"), [(a_plan(), "fence_ipmilan"), (CUT_OFF, SWITCH)])
def test_recovery_waits_for_a_plan_that_can_be_used(whole: FencePlan, left: str) -> None:
    """What was switched off or cut off is not forgotten with its method: it is not over until it came back."""
    story = sick(whole, plugs=("fence_ipmilan", SWITCH))
    changes_when_off(story, BROKEN)
    story.run_until(lambda: not story.plugs[left])
    story.ready("True", "boot-7")
    story.run(900)
    held = (story.is_final(), story.plugs[left], type(decisions(story)[0]).__name__)
    story.configure(whole)
    story.run_until(story.is_final, 600)

    assert (False, False, "FencePlanBroken") == held
    assert story.plugs[left]


def test_a_port_that_is_cut_off_is_not_released_by_a_broken_plan() -> None:
    """Not in recovery either: it goes when the port is open again."""
    story = sick(CUT_OFF, plugs=("fence_ipmilan", SWITCH))
    story.run_until(lambda: story.state == "done", 300)
    story.configure(BROKEN)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(60)
    held = (is_gone(story), story.plugs[SWITCH])
    story.configure(CUT_OFF)
    story.run(60)

    assert ((False, False), (True, True)) == (held, (is_gone(story), story.plugs[SWITCH]))


def test_a_fence_that_is_over_goes_without_a_plan() -> None:
    """Its node may have gone for good, and its configuration with it."""
    off = done("ipmi", Deed.OFF, device=HERE)
    view = a_view(fence=a_fence(State.FINAL, jobs=(off,), deleting=True), plan=None)

    assert ["WriteFinalizers"] == [type(action).__name__ for action in decide(view, NOW).actions]
