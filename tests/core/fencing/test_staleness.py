"""A run that comes late does nothing: every reason, one by one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW
from tests.core.fencing.orders import JOB, ORDER, a_fence, an_order

from noderemedy.core.fencing import staleness
from noderemedy.model.node import Node
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.run import Deed, RunState
from noderemedy.model.time import Span


@pytest.mark.parametrize(("seconds", "is_late"), [(-60, False), (0, False), (30, False), (30.001, True), (3600, True)])
def test_it_begins_in_time_or_never(seconds: float, is_late: bool) -> None:
    """The last moment is part of the time."""
    assert is_late == bool(staleness.too_late(ORDER, NOW.wall + Span.seconds(seconds)))


@pytest.mark.parametrize(("token", "is_old"), [(3, False), (2, True), (4, True), (-1, True)])
def test_it_belongs_to_one_leadership(token: int, is_old: bool) -> None:
    """What an earlier leader ordered is ordered anew, or not at all."""
    assert is_old == bool(staleness.superseded(ORDER, token))


@pytest.mark.parametrize(
    ("deed", "changes", "why"),
    [
        (Deed.OFF, {}, ""),
        (Deed.OFF, {"uid": "fence-uid-2"}, "another one"),
        (Deed.OFF, {"jobs": ()}, "lists no open run"),
        (Deed.OFF, {"jobs": (replace(JOB, id="fence-9876543210"),)}, "lists no open run"),
        (Deed.OFF, {"jobs": (replace(JOB, state=RunState.FAILED),)}, "lists no open run"),
        (Deed.OFF, {"node_uid": "node-uid-2"}, "another boot"),
        (Deed.OFF, {"boot_id": "boot-2"}, "another boot"),
        (Deed.OFF, {"deleting": True}, "being deleted"),
        (Deed.OFF, {"stopped": True}, "stopped"),
        (Deed.ON, {"deleting": True}, ""),
        (Deed.ON, {"stopped": True}, ""),
        (Deed.ON, {"jobs": ()}, "lists no open run"),
        (Deed.STATUS, {"stopped": True}, ""),
    ],
)
def test_its_fence_has_to_want_it(deed: Deed, changes: dict[str, Any], why: str) -> None:
    """A fence that was stopped or deleted still wants its node on again, and to know how it stands."""
    found = staleness.unwanted(an_order(deed), a_fence(**changes))

    assert (why in found, bool(why)) == (True, bool(found))


def test_a_fence_that_is_gone_wants_nothing() -> None:
    """There is nobody who would know what became of it."""
    assert "stale: NodeFence//node-fence-worker-0 is gone" == staleness.unwanted(ORDER, None)


@pytest.mark.parametrize(
    ("deed", "node", "why"),
    [
        (Deed.OFF, Node("node-uid-1", "boot-1"), ""),
        (Deed.OFF, Node("node-uid-1", "boot-2"), "booted again"),
        (Deed.OFF, Node("node-uid-2", "boot-1"), "another one"),
        (Deed.OFF, Node("node-uid-1", ""), ""),
        (Deed.OFF, None, ""),
        (Deed.ON, Node("node-uid-2", "boot-2"), ""),
    ],
)
def test_a_node_that_came_back_is_not_switched_off(deed: Deed, node: Node | None, why: str) -> None:
    """The boot that was to be ended is over: the next one is somebody else's."""
    found = staleness.another_boot(an_order(deed), node)

    assert (why in found, bool(why)) == (True, bool(found))


@pytest.mark.parametrize(("deed", "expected"), [(Deed.STATUS, False), (Deed.OFF, True), (Deed.ON, True)])
def test_only_a_question_needs_no_fence(deed: Deed, expected: bool) -> None:
    """A drill of a node asks; whoever switches needs a NodeFence that wants it."""
    assert expected == staleness.belongs_to_a_fence(an_order(deed, fence=NODE_AT))


def test_an_empty_record_wants_nothing() -> None:
    """A NodeFence without a status lists no open runs."""
    assert "" != staleness.unwanted(ORDER, NodeFence(ORDER.fence_uid))
