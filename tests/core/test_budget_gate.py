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
from tests.builders import MACHINE_AT, NODE_AT, NOW, REMEDIATION_AT, ago
from tests.core.fencing.test_gates import a_view as a_fence_view
from tests.core.metal3.remediations import a_reader, a_remediation, a_world
from tests.core.metal3.test_escalation import UNASKED
from tests.core.owner.scene import a_scene
from tests.core.remedy.scene import Scene

from noderemedy.core.fencing import fence
from noderemedy.core.gates import budgeted_anew, budgeted_to_begin
from noderemedy.core.metal3 import annotation
from noderemedy.core.metal3 import remediation as metal3
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
GRANTED = Granted(MACHINE_AT, ago(1), ("a deletion",), ("annotation",))
OTHERS = replace(GRANTED, asked=("remediation",))
NO = Refused(MACHINE_AT, BudgetPaused(None))
WAITS = "WaitingForBudget"


@pytest.mark.parametrize(
    ("told", "before", "of_a_whole", "of_a_part"),
    [
        (GRANTED, ASKS, "", ""),
        (GRANTED, None, "", ""),
        (OTHERS, ASKS, WAITS, ""),
        (OTHERS, None, WAITS, ""),
        (OTHERS, RESTS, WAITS, WAITS),
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
        (of_a_whole, budgeted_anew(told, before, "annotation", NOW)),
        (of_a_part, budgeted_to_begin(told, before, "a deletion", NOW)),
    ):
        assert wanted == (type(found.reason).__name__ if found else "")


def answered(view: Any, room: str, field: str = "answer") -> Any:
    """The same after a grant that answers the question of one room only."""
    return replace(view, **{field: replace(getattr(view, field), asked=(room,))})


def of_a_remedy(before: Need | None, room: str) -> Decision:
    """A node that is sick for long enough; the budget has granted its repair."""
    scene = Scene()
    scene.falls_sick()
    scene.wait(55)
    now: Now = builders.later(70, scene.now)
    view: Any = remedy.ROOM.sees(ref(NODE, "n0"), scene.engine.cache)
    view = replace(view, trouble=replace(view.trouble, is_over=True), need=before, answer=Granted(view.target, ago(1)))
    return remedy.decide(answered(view, room), now)


def of_a_request(before: Need | None, room: str) -> Decision:
    view: Any = metal3.ROOM.sees(REMEDIATION_AT, a_reader(a_world(a_remediation(created=ago(60)), machine=UNASKED)))
    return metal3.decide(answered(replace(view, need=before), room), NOW)


# Besides health checks: `healthcheck/test_remediation.py`.
ROOMS: dict[str, Callable[[Need | None, str], Decision]] = {
    "annotation": lambda before, room: annotation.decide(answered(builders.a_view(need=before), room, "told"), NOW),
    "metal3-remediation": of_a_request,
    "node-fence": lambda before, room: fence.decide(answered(a_fence_view(need=before), room), NOW),
    "owner": lambda before, room: replacing.decide(answered(replace(a_scene(), need=before), room), NOW),
    "remedy": of_a_remedy,
}


@pytest.mark.parametrize("name", ROOMS)
@pytest.mark.parametrize("before", [None, ASKS], ids=["new", "waiting"])
def test_a_room_begins_on_the_answer_to_its_own_question(name: str, before: Need | None) -> None:
    """What was granted to another one lets it only read and ask; the answer to that lets it begin."""
    first = ROOMS[name](before, "another room")
    [asks] = [fact.value for fact in first.facts if isinstance(fact.value, Need)]
    then = ROOMS[name](asks, name)

    assert WaitingForBudget() in first.because
    assert all(isinstance(action, READS) for action in first.actions)
    assert (name, False, False) == (asks.room, asks.is_running, asks.is_stuck)
    assert WaitingForBudget() not in then.because
    assert any(not isinstance(action, READS) for action in then.actions)
