"""What begins in a NodeFence, be it anew, asks the budget; what is refused to it keeps no place for ever."""

from __future__ import annotations

import pytest
from tests.builders import NODE_AT
from tests.core.fencing.story import ROOMS, refuses
from tests.core.metal3.test_beginnings import TROUBLES, Failing


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
