"""A fence that is released: nothing stays cut off without a word, and storage comes back before pods may."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_node
from tests.core.fencing.fences import a_fence, a_job, done
from tests.core.fencing.test_devices import CUT_OFF
from tests.core.fencing.test_erring import old
from tests.core.fencing.test_gates import a_view
from tests.core.fencing.test_told import reasons

from noderemedy.core.fencing.fence import decide
from noderemedy.model.fenceplan import Step
from noderemedy.model.nodefence import State
from noderemedy.model.run import Deed, RunState

IS_OFF = done("port-off", Deed.OFF, step=Step.ISOLATION, id="fence-off")
UNSURE = replace(IS_OFF, state=RunState.FAILED, said="timed out")
NOT_ON = a_job("port-on", Deed.ON, step=Step.RECOVERY, state=RunState.FAILED)
MARKED = a_node(boot_id="boot-2", unschedulable=True, annotations={"node-remedy.dev/cordoned": "node-remedy"})


@pytest.mark.parametrize("off", [IS_OFF, UNSURE])
@pytest.mark.parametrize("failed", [0, 3, 5])
def test_what_was_cut_off_is_let_in_again(off: object, failed: int) -> None:
    """Also if nobody knows whether it is, and after recovery has used up its own tries (seed 8)."""
    tries = [replace(NOT_ON, id=f"fence-{number}", attempt=number) for number in range(failed)]
    fence = a_fence(State.ERROR, deleting=True, jobs=(off, *tries))
    view = old(a_view(fence=fence, plan=CUT_OFF, node=MARKED), 3_600)

    assert ["RunOrdered"] == reasons(view)


def test_what_does_not_let_it_in_is_told() -> None:
    """When all tries failed the node is released all the same, and a person is called for the port."""
    tries = [replace(NOT_ON, id=f"fence-{number}", attempt=number) for number in range(6)]
    fence = a_fence(State.ERROR, deleting=True, jobs=(IS_OFF, *tries))
    view = old(a_view(fence=fence, plan=CUT_OFF, node=a_node(boot_id="boot-2")), 3_600)

    assert ["PowerLeftOff", "FenceReleased"] == reasons(view)
    assert ["WriteFinalizers"] == [type(action).__name__ for action in decide(view, NOW).actions]


@pytest.mark.parametrize(("jobs", "expected"), [((IS_OFF,), "RunOrdered"), ((), "UncordoningNode")])
def test_storage_comes_back_before_pods_may(jobs: tuple[object, ...], expected: str) -> None:
    """The cordon goes after the fence, in a release as in a recovery."""
    for fence in (a_fence(State.ERROR, deleting=True, jobs=jobs), a_fence(State.DONE, jobs=jobs)):
        plan = CUT_OFF if jobs else replace(CUT_OFF, recovery=CUT_OFF.recovery[1:])

        assert [expected] == reasons(old(a_view(fence=fence, plan=plan, node=MARKED), 3_600))
