"""Fences whose record the API would forget: none begins, and one on its way brings power back and frees nothing."""

from __future__ import annotations

import pytest
from tests.core.fencing.fences import FENCE_AT
from tests.core.fencing.story import Story
from tests.core.fencing.test_request import asked, reasons, request, told
from tests.core.fencing.test_story import sick

from noderemedy.model.ids import FENCE_REMEDIATION, NODE_FENCE, Kind
from noderemedy.model.keeping import Unkept

LACKING, HIDDEN, UNREAD = Unkept(("status.jobs[].wasOn",)), Unkept(unread="forbidden"), Unkept()
WHYS = [(LACKING, "RecordNotKept"), (HIDDEN, "DefinitionHidden"), (UNREAD, "DefinitionUnread")]


def keeps(story: Story, kind: Kind, found: Unkept | None) -> None:
    story.engine.keeps(kind, found, story.now)


@pytest.mark.parametrize("found", [LACKING, HIDDEN, UNREAD], ids=["lacking", "hidden", "unread"])
def test_a_fence_waits_until_its_record_is_kept(found: Unkept) -> None:
    """No device is asked for anything; when the definition is renewed, or read, it begins by itself."""
    story = Story()
    keeps(story, NODE_FENCE, found)
    story.hang()
    story.run(65)
    story.ask()
    story.run(600)

    assert ([], []) == (story.orders, story.acts)
    keeps(story, NODE_FENCE, None)
    story.run_until(story.is_final, 300)
    assert ([], 2) == (story.freed_early, story.boots)


def test_one_on_its_way_brings_power_back_and_frees_nothing() -> None:
    """An older definition is applied when the node is off: it comes on again, and its pods stay."""
    story = sick(freeBy="pods")
    story.run_until(lambda: ("ipmi", "off") in story.orders)
    keeps(story, NODE_FENCE, LACKING)
    story.run(900)

    assert (True, [], []) == (story.is_on, story.freed_early, [one for one in story.acts if one == "DeletePod"])
    assert ("RecordNotKept", 2) == ("RecordNotKept" if "RecordNotKept" in story.told else "", story.boots)


@pytest.mark.parametrize("found", [HIDDEN, UNREAD], ids=["hidden", "unread"])
def test_power_does_not_wait_for_ever_for_a_definition(found: Unkept) -> None:
    """Nobody can tell any more, when the node is off, whether its record is kept: after a while it comes on again."""
    story = sick(freeBy="pods")
    story.run_until(lambda: ("ipmi", "off") in story.orders)
    keeps(story, NODE_FENCE, found)
    story.run(240)
    assert (False, 0) == (story.is_on, story.acts.count("DeletePod"))
    story.run(900)

    assert (True, 2, 0) == (story.is_on, story.boots, story.acts.count("DeletePod"))
    assert "PowerComesBack" in story.told


def test_a_definition_that_is_read_in_time_is_waited_for() -> None:
    """It was out of sight for some minutes: what ran on the node is freed by its proof."""
    story = sick(freeBy="pods")
    story.run_until(lambda: ("ipmi", "off") in story.orders)
    keeps(story, NODE_FENCE, HIDDEN)
    story.run(200)
    keeps(story, NODE_FENCE, None)
    story.run_until(story.is_final, 300)

    assert ([], 2, True) == (story.freed_early, story.boots, "DeletePod" in story.acts)


@pytest.mark.parametrize(("found", "why"), WHYS)
def test_a_request_waits_until_its_record_is_kept(found: Unkept, why: str) -> None:
    """No NodeFence is made for it, and nothing is written on it."""
    story = Story()
    story.machine()
    story.hang()
    story.run(65)
    keeps(story, FENCE_REMEDIATION, found)
    request(story)
    story.run(600)

    assert ([why], []) == (reasons(story), story.acts)
    keeps(story, FENCE_REMEDIATION, None)
    story.run_until(lambda: told(story).phase.value == "recovered", 300)


def test_a_request_on_its_way_writes_nothing_that_does_not_stay() -> None:
    """Its fence goes on by itself; what became of that is told when the definition is renewed."""
    story = asked()
    story.run_until(lambda: story.api.find(NODE_FENCE, FENCE_AT.name) is not None)
    keeps(story, FENCE_REMEDIATION, LACKING)
    before = len([one for one in story.acts if one == "PublishRequestStatus"])
    story.run_until(story.is_final, 300)
    story.run(60)

    assert before == len([one for one in story.acts if one == "PublishRequestStatus"])
    keeps(story, FENCE_REMEDIATION, None)
    story.run_until(lambda: told(story).phase.value == "recovered", 60)
