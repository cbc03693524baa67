"""The gate of the budget, which all rooms share: a repair begins on an answer to its own question only.

What was granted to another room, whose repair of the same target runs, was judged before it: a storm, a pause or the
end of a window may have come since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests import builders
from tests.builders import MACHINE_AT, NODE_AT, NOW, ago
from tests.core.fencing.test_gates import a_view as a_fence_view
from tests.core.metal3.remediations import a_remediation
from tests.core.metal3.test_resting import requested
from tests.core.owner.scene import a_scene
from tests.core.remedy.scene import Scene

from noderemedy.core.fencing import fence
from noderemedy.core.gates import budgeted_anew, budgeted_to_begin
from noderemedy.core.metal3 import annotation
from noderemedy.core.owner import replacing
from noderemedy.core.remedy import remedy
from noderemedy.model.actions import READS
from noderemedy.model.budget import Granted, Need, Refused
from noderemedy.model.decision import Decision
from noderemedy.model.ids import NODE, ref
from noderemedy.model.reasons import BudgetPaused, WaitingForBudget
from noderemedy.model.time import Now

ASKS = Need(MACHINE_AT, "annotation", ago(60), is_running=False, node=NODE_AT)
RUNS, RESTS = replace(ASKS, is_running=True), replace(ASKS, is_stuck=True)
GRANTED, NO = Granted(MACHINE_AT, ago(1), ("a deletion",)), Refused(MACHINE_AT, BudgetPaused(None))
WAITS = "WaitingForBudget"


@pytest.mark.parametrize(
    ("told", "before", "of_a_whole", "of_a_part"),
    [
        (GRANTED, ASKS, "", ""),
        (GRANTED, None, WAITS, ""),
        (GRANTED, RUNS, WAITS, ""),
        (GRANTED, RESTS, WAITS, WAITS),
        (replace(GRANTED, begins=()), ASKS, "", WAITS),
        (NO, ASKS, "BudgetPaused", "BudgetPaused"),
        (NO, None, "BudgetPaused", "BudgetPaused"),
        (NO, RESTS, WAITS, WAITS),
        (None, ASKS, WAITS, WAITS),
        (None, None, WAITS, WAITS),
    ],
)
def test_what_lets_a_repair_begin(
    told: Granted | Refused | None, before: Need | None, of_a_whole: str, of_a_part: str
) -> None:
    """A whole one needs a grant after its own question; what begins in the middle of one, a grant that names it."""
    for wanted, found in (
        (of_a_whole, budgeted_anew(told, before, NOW)),
        (of_a_part, budgeted_to_begin(told, before, "a deletion", NOW)),
    ):
        assert wanted == (type(found.reason).__name__ if found else "")


def of_a_remedy(before: Need | None) -> Decision:
    """A node that is sick for long enough; the budget has granted its repair to somebody."""
    scene = Scene()
    scene.falls_sick()
    scene.wait(55)
    now: Now = builders.later(70, scene.now)
    view: Any = remedy.ROOM.sees(ref(NODE, "n0"), scene.engine.cache)
    view = replace(view, trouble=replace(view.trouble, is_over=True), need=before)
    return remedy.decide(replace(view, answer=Granted(view.target, ago(1))), now)


ROOMS: dict[str, Callable[[Need | None], Decision]] = {
    "annotation": lambda before: annotation.decide(builders.a_view(need=before), NOW),
    "fence": lambda before: fence.decide(a_fence_view(need=before), NOW),
    "metal3": lambda before: requested(before, a_remediation(created=ago(60))),
    "owner": lambda before: replacing.decide(replace(a_scene(), need=before), NOW),
    "remedy": of_a_remedy,
}


@pytest.mark.parametrize("name", ROOMS)
@pytest.mark.parametrize("before", [None, RUNS], ids=["nothing", "that it runs"])
def test_a_room_asks_before_it_begins(name: str, before: Need | None) -> None:
    """A grant is there to which it has not asked: it asks, looks again at once, and begins on the answer to that."""
    first = ROOMS[name](before)
    [asks] = [fact.value for fact in first.facts if isinstance(fact.value, Need)]
    then = ROOMS[name](asks)

    assert WaitingForBudget() in first.because
    assert all(isinstance(action, READS) for action in first.actions)
    assert (False, False) == (asks.is_running, asks.is_stuck)
    assert first.wake_at is not None
    assert WaitingForBudget() not in then.because
    assert then.actions
