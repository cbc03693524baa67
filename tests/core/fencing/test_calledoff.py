"""A FenceRemediation that is deleted: what keeps it from going, and what it must not touch meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NOW, unreadable
from tests.core.fencing.fences import FENCE_AT
from tests.core.fencing.test_escalation import REQUEST_AT, a_scene, acts, because

from noderemedy.core.fencing import request as room
from noderemedy.core.fencing.requestview import INDEXES, sees
from noderemedy.engine.cache import Cache
from noderemedy.model.fenceremediation import FINALIZER, FenceRemediation
from noderemedy.model.machine import Machine
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import ClusterPaused
from noderemedy.model.room import Absent, Unreadable

DELETED = {"deleting": True}
# what is the matter -> the acts, and why
CASES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "its fence is at work": ({}, ["DeleteNodeFence"], ["FenceCalledOff"]),
    "its fence is gone": ({"fence_entry": Absent()}, ["WriteFinalizers"], ["FenceCalledOff"]),
    "its fence cannot be read": ({"fence_entry": unreadable()}, [], ["WaitingForFence"]),
    "its machine or Cluster is paused": ({"left_alone": ClusterPaused()}, [], ["ClusterPaused"]),
    "the request itself is paused": ({"request": {**DELETED, "cluster_paused": True}}, [], ["ClusterPaused"]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_becomes_of_a_request_that_is_deleted(name: str) -> None:
    """Its fence goes first, also one that cannot be read just now; what is paused is left as it is (seed 7201)."""
    changes, expected, why = CASES[name]

    decision = room.decide(a_scene(**{"request": DELETED, **changes}), NOW)

    assert (expected, why) == (acts(decision), because(decision))


def test_a_machine_that_cannot_be_read_is_paused_as_it_was() -> None:
    """Nobody knows that its pause is over."""
    request = FenceRemediation("request-uid-1", finalizers=(FINALIZER,), deleting=True)
    cache = Cache(INDEXES)
    cache.put(Seen(REQUEST_AT, request.uid, "1", request), NOW.mono)
    cache.put(Seen(MACHINE_AT, "machine-uid-1", "2", replace(a_machine_of_today(), cluster_paused=True)), NOW.mono)
    cache.set_aside(MACHINE_AT, Unreadable("machine-uid-1", "3", "garbled"))
    cache.drop(FENCE_AT, confirmed_at=NOW.mono)

    view = sees(REQUEST_AT, cache)

    assert view is not None
    assert ([], ["ClusterPaused"]) == (acts(room.decide(view, NOW)), because(room.decide(view, NOW)))


def a_machine_of_today() -> Machine:
    scene = a_scene()
    assert scene.machine is not None
    return scene.machine
