"""What a drill found to be another machine's device: the fence neither switches it nor believes it (race R32)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node
from tests.core.fencing.fences import CORDON, FENCE_AT, IPMI, a_fence, a_job, a_plan, an_agent
from tests.core.fencing.story import SWITCH, Story
from tests.core.fencing.test_hostpower import HOST_POWER
from tests.core.fencing.test_rules import seen
from tests.core.fencing.test_story import attest

from noderemedy.core.fencing import devices
from noderemedy.core.fencing.fence import decide
from noderemedy.model.actions import PublishFenceStatus, StartRun
from noderemedy.model.drill import FENCING_READY, is_found_wrong
from noderemedy.model.fenceplan import FencePlan, Scope, plan_ref
from noderemedy.model.ids import NODE
from noderemedy.model.node import Condition
from noderemedy.model.nodefence import State
from noderemedy.model.run import Deed, Order, Power, RunState
from noderemedy.wire.nodes import naming

OTHER = an_agent(parameters=(("ip", "192.0.2.8"), ("username", "admin")))
WHY = "node worker-0, method ipmi: the device says off, and the node reports: this is not its plug"


class Drilled(Story):
    """A node with a drill's word on it, whatever else is said of it."""

    def __init__(self, plan: FencePlan | None = None, *wrong: str, word: str = "WrongDevice", **more: Any) -> None:
        self.word = {"type": FENCING_READY, "status": "False", "reason": word, "message": naming(WHY, wrong)}
        super().__init__(plan, **more)

    def ready(self, status: str, boot: str | None = None) -> None:
        super().ready(status, boot)
        if (node := self.api.find(NODE, NODE_AT.name)) is not None:
            told = [one for one in node["status"]["conditions"] if one["type"] != FENCING_READY]
            body = {"status": {"conditions": [*told, self.word]}}
            self.api.patch(NODE, NODE_AT.name, "", body, "merge", subresource="status")


def feeds_nobody(story: Story, order: Order) -> tuple[RunState, Power, str]:
    """An outlet that is off, whoever asks."""
    return RunState.DONE, Power.OFF, ""


def fenced(story: Drilled, seconds: int = 900) -> Drilled:
    """Its network is cut, it runs and writes on, and is fenced."""
    story.run(120)
    story.hang()
    story.pods("database-0")
    story.ask()
    story.run(seconds)
    return story


@pytest.mark.parametrize("wrong", [(), (devices.identity(IPMI),)], ids=["of an older version", "names the device"])
def test_a_device_that_a_drill_found_wrong_proves_nothing(wrong: tuple[str, ...]) -> None:
    """It is somebody else's machine: it is told neither off nor on, nothing is freed, and people are told."""
    story = Drilled(None, *wrong)
    story.is_wired_right = False
    story.devices["fence_ipmilan"] = feeds_nobody
    fenced(story)

    assert ([], []) == (story.freed_early, story.orders)
    assert "DeviceMistaken" in story.told
    assert "PlugContradicted" not in story.told


def test_a_corrected_mapping_is_not_held_up_by_the_old_word() -> None:
    """The word is about the device that was asked, and the plan names another one by now."""
    story = fenced(Drilled(None, devices.identity(OTHER)))

    assert ([], True) == (story.freed_early, "TaintOutOfService" in story.acts)
    assert "DeviceMistaken" not in story.told


def test_another_finding_is_no_word_against_a_device() -> None:
    """A device that did not answer in a drill may answer now."""
    story = fenced(Drilled(None, word="DeviceFailed"))

    assert ([], True) == (story.freed_early, "TaintOutOfService" in story.acts)


def test_a_run_that_was_ordered_before_the_word_was_read_is_not_begun() -> None:
    """The Node is read live before anything is switched, and says by then whose device it is."""
    told = Condition(FENCING_READY, "False", NOW.wall, "WrongDevice", (devices.identity(IPMI),))
    node = a_node()
    fence = a_fence(State.RUNNING, jobs=(a_job(device=devices.identity(IPMI)),))
    objects = {FENCE_AT: fence, plan_ref(NODE_AT): a_plan()}
    begins = decide(seen({**objects, NODE_AT: node}), NOW)
    refuses = decide(seen({**objects, NODE_AT: replace(node, conditions=(*node.conditions, told))}), NOW)

    assert [StartRun] == [type(one) for one in begins.actions]
    (record,) = refuses.actions
    assert isinstance(record, PublishFenceStatus)
    assert record.status.jobs[0].said.startswith("not begun: a drill found")


def test_what_is_right_beside_it_is_switched_and_proves_nothing_alone() -> None:
    """Two supplies, and one of the plugs is another node's: the node may run on."""
    first, second = (an_agent(name, parameters=(("plug", name),)) for name in ("a", "b"))
    plan = a_plan(power_management=(first, second))
    story = Drilled(plan, devices.identity(second), plugs=("a", "b", "c"))
    fenced(story)

    assert ([], {("a", "off"), ("a", "on")}) == (story.freed_early, set(story.sent))
    assert {"a": True, "b": True, "c": True} == story.plugs
    assert "TaintOutOfService" not in story.acts


def test_a_switch_that_is_another_nodes_frees_nothing() -> None:
    """Storage counts as cut off by a device of the node's own only."""
    port = an_agent("port", Deed.OFF, agent=SWITCH, scope=Scope.STORAGE, covers=("storageClass/san",))
    plan = a_plan(isolation=(CORDON, port))
    story = fenced(Drilled(plan, devices.identity(port), plugs=("fence_ipmilan", SWITCH)))

    assert (SWITCH, "off") not in story.sent
    assert "DeviceMistaken" in story.told
    assert [] == story.freed_early
    assert "TaintOutOfService" in story.acts  # by its power


def test_a_persons_word_counts_where_devices_do_not() -> None:
    """Who has looked may say that it is off."""
    story = Drilled(None, devices.identity(IPMI))
    fenced(story, 60)
    story.is_attested_truly = True
    attest(story)
    story.run(300)

    assert "TaintOutOfService" in story.acts


def test_a_host_that_a_drill_found_wrong_is_not_held() -> None:
    """Nor is what its operator says of it a proof."""
    story = Drilled(a_plan(power_management=(HOST_POWER,)), plugs=("host",))
    story.bare_metal()
    fenced(story)

    assert "HoldHost" not in story.acts
    assert "TaintOutOfService" not in story.acts
    assert "DeviceMistaken" in story.told


WORDS = [
    ("no drill", None, False),
    ("all is well", Condition(FENCING_READY, "True", reason="DevicesAnswered"), False),
    ("this one", Condition(FENCING_READY, "False", reason="WrongDevice", wrong=("a", "b")), True),
    ("another one", Condition(FENCING_READY, "False", reason="WrongDevice", wrong=("b",)), False),
    ("any", Condition(FENCING_READY, "False", reason="WrongDevice"), True),
    ("this one, behind a broken plan", Condition(FENCING_READY, "False", reason="PlanInvalid", wrong=("a",)), True),
    ("no answer", Condition(FENCING_READY, "False", reason="DeviceFailed"), False),
    ("another condition", Condition("Ready", "False", reason="WrongDevice"), False),
]


@pytest.mark.parametrize(("told", "is_wrong"), [row[1:] for row in WORDS], ids=[row[0] for row in WORDS])
def test_whom_the_word_is_about(told: Condition | None, is_wrong: bool) -> None:
    """The device that it names; any, if it names none."""
    node = replace(a_node(), conditions=(told,) if told else ())

    assert is_wrong == is_found_wrong(node, "a")
