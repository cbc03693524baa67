"""What begins in a NodeFence, be it anew, asks the budget; what is refused to it keeps no place for ever."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, ago
from tests.core.fencing.fences import a_fence, a_plan
from tests.core.fencing.story import ROOMS, refuses
from tests.core.fencing.test_gates import a_view
from tests.core.metal3.test_beginnings import TROUBLES, Failing

from noderemedy.core.fencing.fence import decide
from noderemedy.model.budget import NEED, Need
from noderemedy.model.fenceplan import plan_ref
from noderemedy.model.ids import NODE, ref
from noderemedy.model.nodefence import State, fence_ref
from noderemedy.model.outcome import Failed, Outcome, Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Mono

MINUTES = 60
OTHERS = ("other-1", "other-2")


class Fencing(Failing):
    """Twenty nodes; the flow of one of them, which was granted, has failed, and rests before its next start."""

    rooms = ROOMS

    def failed(self) -> None:
        self.devices["fence_ipmilan"] = refuses
        self.hang()
        self.run(65)
        self.ask(stepRetries=0)
        self.run_until(lambda: self.state == "error", 120)
        self.orders.clear()

    @property
    def starts(self) -> int:
        return int(self.status.restarts)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_no_flow_begins_anew_while_the_budget_lets_nothing_begin(trouble: str) -> None:
    """Its place is of before: it waits in it for two hours, orders nothing, and goes on by itself afterwards."""
    comes, ends, _ = TROUBLES[trouble]
    story = Fencing()
    story.failed()
    comes(story)
    story.run(7_200)
    held_back = (story.starts, story.state, story.orders[:])
    writes = story.acts.count("PublishFenceStatus")
    ends(story)
    story.devices.clear()
    story.run(400)

    assert (0, "error", []) == held_back
    assert (1, True) == (story.starts, story.acts.count("PublishFenceStatus") > writes)
    assert [("ipmi", "off"), ("ipmi", "on")] == [one for one in story.orders if one[1] != "status"]


def test_a_successor_begins_no_flow_anew_in_a_storm() -> None:
    """Its budget has not looked yet when it looks for the first time; after the cooldown the flow goes on."""
    story = Fencing()
    story.failed()
    story.storm()
    story.unattended(600)
    story.run(1_200)
    in_the_storm = story.starts
    story.calm()
    story.run(290)
    in_the_cooldown = story.starts
    story.run(60)

    assert (0, 0, 1) == (in_the_storm, in_the_cooldown, story.starts)


class Refusing(Fencing):
    """Two nodes whose fences some webhook lets nobody write, or nobody cordon, hold the two places that there are."""

    refused: tuple[str, ...] = ()
    about: tuple[str, ...] = OTHERS

    def _carry_out(self, effect: Any) -> Outcome:
        action = effect.action
        if type(action).__name__ in self.refused and any(name in action.ref.name for name in self.about):
            return Failed("admission webhook denied the request", lasting=True)
        return super()._carry_out(effect)

    def fenced(self, *refused: str) -> None:
        """All three are silent; the two are fenced at once, the third later."""
        self.refused = refused
        for name in OTHERS:
            at = ref(NODE, name)
            self.engine.seen(Seen(plan_ref(at), "", "", replace(a_plan(), node=at)), self.now)
            condition = {"type": "Ready", "status": "Unknown", "lastTransitionTime": str(self.now.wall)}
            self.api.patch(NODE, name, "", {"status": {"conditions": [condition]}}, "merge", subresource="status")
        self.hang()
        self.run(65)
        for name in OTHERS:
            body = {"node": name, "powerManagementDelay": "0s"}
            meta = {"name": fence_ref(ref(NODE, name)).name}
            self.api.create({"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": meta, "spec": body})
        self.run(60)
        self.ask()

    def why(self, name: str) -> list[str]:
        at = fence_ref(ref(NODE, name))
        found = self.engine.decisions.items()
        return [type(one).__name__ for key, told in found if key.ref == at for one in told.because]


def test_a_start_anew_that_is_refused_leaves_its_place() -> None:
    """It rests, and a person is told; when it can be recorded, the flow goes on after the rest."""
    story = Refusing()
    story.failed()
    story.run(30)
    story.refused, story.about = ("PublishFenceStatus",), (NODE_AT.name,)
    story.run(15 * MINUTES)
    rests = (story.why(NODE_AT.name), story.starts)
    story.refused = ()
    story.run(30 * MINUTES)

    assert (["RepairStuck"], 0) == rests
    assert story.starts > 0


@pytest.mark.parametrize("write", ["WriteFinalizers", "PublishFenceStatus", "ClaimRepair"])
def test_a_start_that_is_refused_leaves_its_place_to_others(write: str) -> None:
    """Two places, two fences whose first write is refused for good: they rest, and a third one is fenced."""
    story = Refusing()
    story.fenced(write)
    story.run(5 * MINUTES)
    early = story.fence.is_begun
    story.run(15 * MINUTES)

    assert (False, True) == (early, story.fence.is_begun)
    assert [["RepairStuck"]] * 2 == [story.why(name) for name in OTHERS]


def test_a_node_that_cannot_be_cordoned_leaves_its_place_to_others() -> None:
    """The step has failed, and is tried again, within its bounds: then a person is called, and nothing was off."""
    story = Refusing()
    story.fenced("CordonNode")
    story.run(5 * MINUTES)
    early = story.fence.is_begun
    story.run(55 * MINUTES)

    assert (False, True) == (early, story.is_final())
    assert [["FenceGivenUp"]] * 2 == [story.why(name) for name in OTHERS]
    assert ["off", "on"] == [deed for _, deed in story.orders if deed != "status"], "of the third one alone"


@pytest.mark.parametrize("fence", [a_fence(), a_fence(State.ERROR, since=ago(900))], ids=["a start", "a start anew"])
@pytest.mark.parametrize(
    ("minutes", "is_stuck", "reason", "is_resting"),
    [
        (9, False, "FenceMoves", False),
        (10, False, "RepairStuck", True),
        (9, True, "RepairStuck", True),
        (70, True, "WaitingForBudget", False),
    ],
)
def test_what_was_granted_has_ten_minutes(
    fence: Any, minutes: int, is_stuck: bool, reason: str, is_resting: bool
) -> None:
    """Then it rests, and asks again, whatever it was granted before."""
    tried = Mono(NOW.mono.ms - minutes * 60_000)
    view = a_view(fence=fence, need=Need(NODE_AT, "node-fence", ago(900), False, NODE_AT, None, is_stuck, tried=tried))
    decision = decide(replace(view, entry=replace(view.entry, changed_at=Mono(0))), NOW)
    [stated] = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert [reason] == [type(one).__name__ for one in decision.because]
    assert (False, is_resting) == (stated.is_running, stated.is_stuck)
    assert (NOW.wall if reason == "WaitingForBudget" else None) == stated.again
    assert (reason == "FenceMoves") == bool(decision.actions)


@pytest.mark.parametrize("minutes", [9, 10])
def test_a_node_on_which_the_manager_runs_keeps_no_place(minutes: int) -> None:
    """It stands aside for what was granted; while nobody takes over, which may be for ever, others are repaired."""
    tried = Mono(NOW.mono.ms - minutes * 60_000)
    view = a_view(need=Need(NODE_AT, "node-fence", ago(900), False, NODE_AT, tried=tried))
    decision = decide(replace(view, claim=replace(view.claim, is_own=True)), NOW)
    [stated] = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert ["OwnNode" if minutes < 10 else "RepairStuck"] == [type(one).__name__ for one in decision.because]
    assert (minutes >= 10) == stated.is_stuck


# --- what is refused in the middle -------------------------------------------------------------------------------


class RefusedMidway(Refusing):
    """The only fence there is."""

    about = (NODE_AT.name,)

    def begun(self, **spec: Any) -> None:
        self.hang()
        self.run(65)
        self.ask(**spec)

    @property
    def stuck(self) -> list[bool]:
        entries = map(self.engine.cache.read, self.engine.cache.refs_of(NEED))
        return [one.obj.is_stuck for one in entries if isinstance(one, Present)]


@pytest.mark.parametrize("write", ["PublishFenceStatus", "UncordonNode"])
def test_a_fence_whose_end_is_refused_keeps_no_place(write: str) -> None:
    """The node is back: a person is told, others begin; when the webhook is mended the fence ends by itself."""
    story = RefusedMidway()
    story.begun()
    story.run_until(lambda: story.state == "done", 300)
    story.refused = (write,)
    story.run(1_800)
    held_up = (story.state, story.stuck, "RepairStuck" in story.told)
    story.refused = ()
    story.run(90)

    assert (("done", [True], True), ("final", [])) == (held_up, (story.state, story.stuck))


def test_a_fence_whose_power_off_is_not_recorded_keeps_its_place() -> None:
    """Many of those would go off at once when the webhook is mended."""
    story = RefusedMidway()
    story.begun(powerManagementDelay="60s")
    story.run_until(lambda: bool(story.node()["spec"].get("unschedulable")), 120)
    story.refused = ("PublishFenceStatus",)
    story.run(1_800)

    assert ([], [False]) == (story.orders, story.stuck)
