"""Is a node back? What counts as the moment for which it has to stay well."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_node, ago
from tests.core.fencing.fences import a_fence
from tests.core.fencing.test_gates import a_view

from noderemedy.core.fencing.wellness import is_well
from noderemedy.model.node import Condition
from noderemedy.model.nodefence import FenceEvidence, State
from noderemedy.model.time import Mono


@pytest.mark.parametrize(
    ("ready_for", "known_for", "expected"),
    [
        (60, 0, True),  # our own uncordon changed it just now
        (5, 5, False),
        (5, 11, True),  # its clock is behind ours
        (-60, 11, True),  # its clock is ahead of ours
        (-60, 5, False),
    ],
)
def test_the_moment_begins_with_ready(ready_for: int, known_for: int, expected: bool) -> None:
    """A node that changes all the time, or that we change ourselves, is back all the same."""
    node = replace(a_node(boot_id="boot-2"), conditions=(Condition("Ready", "True", ago(ready_for)),))
    view = a_view(fence=a_fence(State.DONE), node=node)
    entry = replace(view.node_entry, changed_at=Mono(NOW.mono.ms - known_for * 1_000))

    assert expected is is_well(replace(view, node_entry=entry), NOW)


@pytest.mark.parametrize(
    ("uid", "boot", "expected"),
    [
        ("node-uid-1", "boot-1", False),
        ("node-uid-2", "boot-1", False),
        ("node-uid-2", "", False),
        ("node-uid-1", "boot-2", True),
        ("node-uid-2", "boot-2", True),
    ],
)
def test_behind_a_storage_fence_only_another_boot_is_well(uid: str, boot: str, expected: bool) -> None:
    """A kubelet that makes its Node anew is the same boot, whatever its uid, and one that names none may be."""
    freed = FenceEvidence(storage_freed_at=ago(100))
    view = a_view(fence=a_fence(State.DONE, evidence=freed), node=a_node(uid, boot_id=boot))

    assert expected is is_well(view, NOW)
