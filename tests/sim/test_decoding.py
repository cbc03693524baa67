"""What the simulator decodes once is what decoding it anew would give."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sim.apiserver.support import a_node

from noderemedy.model.ids import NODE
from noderemedy.sim.decoding import Decoding
from noderemedy.wire.objects import convert


def node(version: int, beat: str, **changes: Any) -> dict[str, Any]:
    """A Node at some version, with the time of its last heartbeat."""
    tree = a_node("one", **changes.pop("spec", {}))
    tree["metadata"] |= {"uid": "u1", "resourceVersion": str(version), **changes.pop("metadata", {})}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}
    conditions = [{**ready, "lastHeartbeatTime": beat, **changes.pop("condition", {})}]
    return {**tree, "status": {"conditions": conditions, "nodeInfo": {"bootID": "b1"}, **changes}}


def test_a_heartbeat_means_what_was_known() -> None:
    """A Node that has only beaten its heart is the very object that was decoded before, at its new version."""
    decoding = Decoding()
    before = decoding.read(NODE, node(1, "2030-01-01T00:00:00Z"))
    beaten = node(2, "2030-01-01T00:05:00Z")
    after = decoding.read(NODE, beaten)
    assert (convert(NODE, beaten), True) == (after, after.obj is before.obj)


@pytest.mark.parametrize(
    "changes",
    [
        {"condition": {"status": "Unknown"}},
        {"condition": {"lastTransitionTime": "2030-01-01T00:04:00Z"}},
        {"nodeInfo": {"bootID": "b2"}},
        {"spec": {"unschedulable": True}},
        {"metadata": {"labels": {"rack": "r1"}}},
        {"conditions": []},
    ],
    ids=str,
)
def test_what_is_more_than_a_heartbeat_is_decoded_anew(changes: dict[str, Any]) -> None:
    """Whatever else changes with a heartbeat is seen."""
    decoding = Decoding()
    before = decoding.read(NODE, node(1, "2030-01-01T00:00:00Z"))
    changed = node(2, "2030-01-01T00:05:00Z", **changes)
    after = decoding.read(NODE, changed)
    assert (convert(NODE, changed), False) == (after, after.obj == before.obj)
